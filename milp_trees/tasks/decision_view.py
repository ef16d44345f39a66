"""`LeafOracle`: what a task shows of itself when a leaf's best action is known to an oracle only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature
from milp_trees.data.ranked import MaybeRanked
from milp_trees.exact import INEXACT_TOLERANCE, integers
from milp_trees.tasks.grouping import by_column, equal_rows, packed, sums_by_group

if TYPE_CHECKING:
    from milp_trees.decisions.base import DecisionSet
    from milp_trees.models.tree import Tree

#: Losses below this share of what the rows cost at least are not told apart.
LEAST_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class LeafOracle(MaybeRanked):
    r"""Cost vectors of rows and the set of decisions that leaves choose from.

    The loss of a leaf with rows I that decides w is :math:`w^\top\sum_{i\in I}v_i-\sum_{i\in
    I}b_i`, never negative; at best it is :math:`z^*(\sum_{i\in I}v_i)-\sum_{i\in I}b_i`. The
    objective is the sum over leaves, plus `leaf_cost` per leaf and `split_costs` per split. Because
    :math:`z^*` is concave and positively homogeneous it is superadditive: splitting a leaf never
    raises the sum.

    Parameters
    ----------
    X : uint8 array of shape (n, F)
        Candidate tests; given as `RankedTests`, it is kept as `ranked` and made when someone asks
        for it.
    tests : tuple of Test, length F
    vectors : float array of shape (n, d)
        Cost vectors times row weights.
    base : float array of shape (n,)
        z*(v_i): what a row costs at least; where rows are merged, the sum of theirs.
    decisions : DecisionSet
    counts : int64 array of shape (n,)
        Rows that a row stands for (minimum leaf sizes count these).
    mass : float array of shape (n,)
        Row weights.
    leaf_cost : float
    split_costs : float array of shape (F,)
    norm : Fraction
        Natural value = objective / norm.
    vertices : float array of shape (K, d) or None
        The decisions, where the task lists them; trees then have all of them as their actions, in
        this order.
    """

    X: np.ndarray
    features: tuple[BinaryFeature, ...]
    vectors: np.ndarray
    base: np.ndarray
    decisions: DecisionSet
    counts: np.ndarray
    row_weight: np.ndarray
    leaf_cost: float
    split_costs: np.ndarray
    norm: Fraction
    vertices: np.ndarray | None = None

    def __post_init__(self) -> None:
        self._keep_ranked()

    @property
    def exact(self) -> bool:
        """Costs are measured numbers: values are compared with a tolerance."""
        return False

    @property
    def scale(self) -> Fraction:
        """Natural value per unit: a unit is a step of the tolerance's size, so that whole units
        mean something.
        """
        return self.step / self.norm

    @cached_property
    def step(self) -> Fraction:
        """Objective per unit: the tolerance in which two objectives are the same; where no loss is
        to be seen beside the costs, a share of these.
        """
        return Fraction(
            max(
                INEXACT_TOLERANCE * self.spread, LEAST_SHARE * float(np.abs(self.base).sum()), 1e-12
            )
        )

    @cached_property
    def spread(self) -> float:
        """Loss of a single leaf: no best tree loses more, except for its penalties."""
        return (
            float(self.decisions.value(self.vectors.sum(axis=0)[None, :])[0] - self.base.sum())
            + self.leaf_cost
        )

    @cached_property
    def unavoidable(self) -> float:
        """What every tree costs at least, in units: one leaf, and what rows with equal tests lose
        because they share one.
        """
        least = self.least.sum() - self.base.sum() if self.merges else 0.0
        return max(0.0, float(least)) / float(self.step) + self.leaf_cost / float(self.step)

    @cached_property
    def least(self) -> np.ndarray:
        """z*(v_i) of every row (of a merged row its own, not the sum of its rows'), shape (n,)."""
        return self.decisions.value(self.vectors)

    @property
    def merges(self) -> bool:
        """Whether a row stands for several."""
        return bool((self.counts > 1).any())

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

    @property
    def data_sizes(self) -> dict[str, int]:
        """Sizes of the problem that stand beside those of a model."""
        return {"data_rows": self.n_rows, "data_tests": self.n_features}

    # -- trees -------------------------------------------------------------------------------------

    @cached_property
    def index(self) -> dict[BinaryFeature, int]:
        return {t: f for f, t in enumerate(self.features)}

    @cached_property
    def columns(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Tests grouped by original column: (name, test indices by rising threshold); other tests
        are groups of their own.
        """
        return by_column(self.features)

    def canonical(self, tree: Tree) -> Tree:
        """The tree itself: no test is dropped from this view."""
        strange = next((t for t in tree.splits if t not in self.index), None)
        if strange is not None:
            raise KeyError(f"The test {strange.name!r} is not a candidate of this problem.")
        return tree

    def loss(self, tree: Tree) -> float:
        """Objective of a tree, its leaves' decisions as they are, in the costs' own unit."""
        routes = tree.routes(self)
        W = np.array([self.decisions.vector(str(a)) for a in tree.actions])
        total = float((self.vectors * W[routes.action]).sum() - self.base.sum())
        return (
            total
            + self.leaf_cost * routes.n_leaves
            + sum(float(self.split_costs[self.index[t]]) for t in routes.splits)
        )

    def objective(self, tree: Tree) -> float:
        """Objective of a tree in units."""
        return self.loss(tree) / float(self.step)

    def decided(self, sums: np.ndarray) -> tuple[tuple[str, ...], list[int]]:
        """A best decision for every one of some sets of rows.

        Parameters
        ----------
        sums : float array of shape (m, d)
            Sums of the cost vectors of each set.

        Returns
        -------
        actions : tuple of str
            Labels that a tree takes as its actions: of all listed decisions, or else of those that
            were chosen.
        chosen : list of int, length m
            Index of each set's decision in `actions`.
        """
        label = self.decisions.label
        if self.vertices is not None:
            return tuple(map(label, self.vertices)), (sums @ self.vertices.T).argmin(
                axis=1
            ).tolist()
        mine = [label(w) for w in self.decisions.solve(sums).decisions]
        actions = tuple(dict.fromkeys(mine))
        return actions, [actions.index(name) for name in mine]

    # -- presolve ----------------------------------------------------------------------------------

    @cached_property
    def merged(self) -> LeafOracle:
        """The view with rows of equal tests merged: they share their leaf in every tree, so their
        cost vectors add up.
        """
        if not self.n_rows:
            return self
        first, group = equal_rows(packed(self.X))
        if len(first) == self.n_rows:
            return self
        m = len(first)

        def total(array: np.ndarray) -> np.ndarray:
            out = np.zeros((m, *array.shape[1:]))
            np.add.at(out, group, array)
            return out

        whole, scale, _ = integers(self.row_weight)
        row_weight = np.array(
            [float(scale * int(v)) for v in sums_by_group(whole, group, m)]
        )  # three times 0.1 is 0.3
        X: Any = self.X[first] if self.ranked is None else self.ranked.take(first)
        return replace(
            self,
            X=X,
            vectors=total(self.vectors),
            base=total(self.base),
            counts=sums_by_group(self.counts, group, m),
            row_weight=row_weight,
        )

    @cached_property
    def memo(self) -> dict[str, Any]:
        """What a method derived from this view and may need again; never part of the view itself."""
        return {}
