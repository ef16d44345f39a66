"""`LeafOracle`: what a task shows of itself when a leaf's best action is known to an oracle only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.data.dataset import Test
from milp_trees.data.ranked import MaybeRanked
from milp_trees.tasks.exact import INEXACT_TOLERANCE

if TYPE_CHECKING:
    from milp_trees.decisions.base import DecisionSet
    from milp_trees.models.tree import Tree


@dataclass(frozen=True, eq=False)
class LeafOracle(MaybeRanked):
    r"""Cost vectors of rows and the set of decisions that leaves choose from.

    The loss of a leaf with rows I that decides w is :math:`w^\top\sum_{i\in I}v_i-\sum_{i\in I}b_i`, never negative; at best it is
    :math:`z^*(\sum_{i\in I}v_i)-\sum_{i\in I}b_i`. The objective is the sum over leaves, plus `leaf_cost` per leaf and `split_costs` per split.
    Because :math:`z^*` is concave and positively homogeneous it is superadditive: splitting a leaf never raises the sum.

    Parameters
    ----------
    X : uint8 array of shape (n, F)
        Candidate tests; given as `RankedTests`, it is kept as `ranked` and made when someone asks for it.
    tests : tuple of Test, length F
    vectors : float array of shape (n, d)
        Cost vectors times row weights.
    base : float array of shape (n,)
        z*(v_i): what a row costs at least.
    decisions : DecisionSet
    counts : int64 array of shape (n,)
        Rows that a row stands for (minimum leaf sizes count these).
    mass : float array of shape (n,)
        Row weights.
    leaf_cost : float
    split_costs : float array of shape (F,)
    norm : Fraction
        Natural value = objective / norm.
    """

    X: np.ndarray
    tests: tuple[Test, ...]
    vectors: np.ndarray
    base: np.ndarray
    decisions: DecisionSet
    counts: np.ndarray
    mass: np.ndarray
    leaf_cost: float
    split_costs: np.ndarray
    norm: Fraction

    def __post_init__(self) -> None:
        self._keep_ranked()

    @property
    def n_rows(self) -> int:
        return int(self.stored.shape[0])

    @property
    def n_tests(self) -> int:
        return int(self.stored.shape[1])

    @property
    def exact(self) -> bool:
        """Costs are measured numbers: values are compared with a tolerance."""
        return False

    @property
    def scale(self) -> Fraction:
        """Natural value per unit: a unit is a step of the tolerance's size, so that whole units mean something."""
        return self.step / self.norm

    @cached_property
    def step(self) -> Fraction:
        """Objective per unit: the tolerance in which two objectives are the same."""
        return Fraction(max(INEXACT_TOLERANCE * self.spread, 1e-12))

    @cached_property
    def spread(self) -> float:
        """Loss of a single leaf: no best tree loses more, except for its penalties."""
        return float(self.decisions.value(self.vectors.sum(axis=0)[None, :])[0] - self.base.sum()) + self.leaf_cost

    @property
    def tolerance(self) -> int:
        return 1

    @property
    def absolute_gap(self) -> float:
        return 1.0

    def to_value(self, objective: float) -> Fraction:
        """Natural value of a number of units."""
        return Fraction(objective) * self.scale

    def from_value(self, value: Fraction | float) -> Fraction:
        """A natural value in units."""
        return Fraction(value) / self.scale

    def natural(self, loss: float) -> float:
        """Natural value of an objective in the costs' own unit."""
        return float(Fraction(loss) / self.norm)

    @cached_property
    def index(self) -> dict[Test, int]:
        return {t: f for f, t in enumerate(self.tests)}

    def loss(self, tree: Tree) -> float:
        """Objective of a tree, its leaves' decisions as they are, in the costs' own unit."""
        routes = tree.routes(self)
        W = np.array([self.decisions.vector(str(a)) for a in tree.actions])
        total = float((self.vectors * W[routes.action]).sum() - self.base.sum())
        return total + self.leaf_cost * routes.n_leaves + sum(float(self.split_costs[self.index[t]]) for t in routes.splits)

    @cached_property
    def memo(self) -> dict[str, Any]:
        """What a method derived from this view and may need again; never part of the view itself."""
        return {}
