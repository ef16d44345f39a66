"""`LeafOracle`: the view of a task in which only an oracle gives a leaf's best action."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.exact import INEXACT_TOLERANCE, integers
from milp_trees.data.dataset import BinaryFeature
from milp_trees.data.ranked import MaybeRanked
from milp_trees.tasks.grouping import by_column, equal_rows, packed, sums_by_group

if TYPE_CHECKING:
    from milp_trees.models.tree import Tree

#: Smaller differences of losses, relative to the smallest cost of the rows, are ties.
LEAST_SHARE = 1e-9


@dataclass(frozen=True, eq=False)
class LeafOracle(MaybeRanked):
    r"""Cost vectors of rows and the set of decisions from which leaves choose.

    The loss of a leaf with rows I and decision w is :math:`w^\top\sum_{i\in I}v_i-\sum_{i\in
    I}b_i`, never negative; its minimum is :math:`z^*(\sum_{i\in I}v_i)-\sum_{i\in I}b_i`. The
    objective is the sum over leaves, plus `leaf_cost` per leaf and `split_costs` per split. Because
    :math:`z^*` is concave and positively homogeneous it is superadditive: splitting a leaf never
    increases the sum.

    Parameters
    ----------
    X : uint8 array of shape (n, F)
        Candidate features. Given as `RankedTests`, it is kept as `ranked`, and the matrix is made
        when it is first used.
    features : tuple of BinaryFeature, length F
        What the columns of `X` mean.
    vectors : float array of shape (n, d)
        Cost vectors times row weights.
    base : float array of shape (n,)
        z*(v_i), the smallest cost of a row; for merged rows the sum of theirs.
    decisions : object with `solve`, `value`, `label` and `vector`
        S and its oracle.
    counts : int64 array of shape (n,)
        Number of original rows that a row stands for (minimum leaf sizes count these).
    row_weight : float array of shape (n,)
        Row weights.
    leaf_cost : float
        Added per leaf.
    split_costs : float array of shape (F,)
        Added per split on each feature.
    norm : Fraction
        Natural value = objective / norm.
    vertices : float array of shape (K, d) or None
        The decisions, if the task lists them; trees then have all of them as their actions, in
        this order.
    """

    X: np.ndarray
    features: tuple[BinaryFeature, ...]
    vectors: np.ndarray
    base: np.ndarray
    decisions: Any
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
        """False: costs are measured numbers, so values are compared with a tolerance."""
        return False

    @property
    def scale(self) -> Fraction:
        """Natural value per unit.

        A unit is a step of the tolerance's size, so that whole units have a meaning.
        """
        return self.step / self.norm

    @cached_property
    def step(self) -> Fraction:
        """Objective per unit: the tolerance within which two objectives are equal.

        If all losses are negligible compared with the costs, it is a share of the costs.
        """
        return Fraction(
            max(
                INEXACT_TOLERANCE * self.spread, LEAST_SHARE * float(np.abs(self.base).sum()), 1e-12
            )
        )

    @cached_property
    def spread(self) -> float:
        """Loss of a single leaf; no best tree has a larger loss, except for its penalties."""
        return (
            float(self.decisions.value(self.vectors.sum(axis=0)[None, :])[0] - self.base.sum())
            + self.leaf_cost
        )

    @cached_property
    def unavoidable(self) -> float:
        """Lower bound for the objective of every tree, in units.

        It is one leaf, and the loss that rows with equal features have because they share a leaf.
        """
        least = self.least.sum() - self.base.sum() if self.merges else 0.0
        return max(0.0, float(least)) / float(self.step) + self.leaf_cost / float(self.step)

    @cached_property
    def least(self) -> np.ndarray:
        """z*(v_i) of every row (for a merged row its own, not the sum of its rows'), shape (n,)."""
        return self.decisions.value(self.vectors)

    @property
    def merges(self) -> bool:
        """Whether a row stands for several rows."""
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
        """Natural value of an objective in the unit of the costs."""
        return float(Fraction(loss) / self.norm)

    @property
    def data_sizes(self) -> dict[str, int]:
        """Sizes of the problem, for tables beside the sizes of a model."""
        return {"data_rows": self.n_rows, "data_tests": self.n_features}

    # -- trees -------------------------------------------------------------------------------------

    @cached_property
    def index(self) -> dict[BinaryFeature, int]:
        return {t: f for f, t in enumerate(self.features)}

    @cached_property
    def columns(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Features grouped by original column: (name, indices by increasing threshold).

        Each other feature is a group of its own.
        """
        return by_column(self.features)

    def canonical(self, tree: Tree) -> Tree:
        """The tree itself, because this view drops no feature."""
        strange = next((t for t in tree.splits if t not in self.index), None)
        if strange is not None:
            raise KeyError(f"The test {strange.name!r} is not a candidate of this problem.")
        return tree

    def loss(self, tree: Tree) -> float:
        """Objective of a tree with its leaves' own decisions, in the unit of the costs."""
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
        """A best decision for each of several sets of rows.

        Parameters
        ----------
        sums : float array of shape (m, d)
            Sums of the cost vectors of each set.

        Returns
        -------
        actions : tuple of str
            Labels that a tree uses as its actions: of all listed decisions, or else of the chosen
            ones.
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
        """The view in which rows with equal features are merged.

        Such rows share a leaf in every tree, so their cost vectors add up.
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
        )  # so that three times 0.1 is 0.3
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
        """Store for what methods derive from this view and may need again; not part of it."""
        return {}
