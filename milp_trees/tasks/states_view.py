r"""The view `States`: a separable task, stated by its six parts.

A *state* is a set of rows together with a *context*, integers that depend on the tests between the
root and the set. The value of a tree is a tuple of integers. It follows from six parts (van der
Linden, de Weerdt, Demirović 2023, *Necessary and sufficient conditions for optimal decision trees
using dynamic programming*, NeurIPS):

1. cost: the value of a leaf, :math:`g(s,k)`, and what a split adds, :math:`g(s,f)`;
2. transition: the context on either side of a split;
3. comparator: which of two values is better, a total or a partial order;
4. combination :math:`\oplus`: a branch has the value :math:`v_l\oplus v_r\oplus g(s,f)`;
5. constraint: which values are allowed in a state, a tree with any other part is infeasible;
6. initial state: all rows, and the context at the root.

The parts are plain functions of integers and tuples of integers, without side effects, so that they
can be compiled. They see the rows of a state only as sums of statistics. A search over sets of rows
is exact if the costs depend on the state alone, if the combination preserves the order, and if no
optimal tree has an infeasible part (theorem 4.6 there); `milp_trees.testing.check_separable` tries
to refute this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.dataset import BinaryFeature
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.tasks.grouping import equal_rows, packed, packed_columns, sums_by_group

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Tree

#: A value, a context, or sums of statistics.
Integers = tuple[int, ...]

#: Sums of absolute statistics must stay below this, so that no sum leaves 64 bits.
LARGEST = 2**60


@dataclass(frozen=True, eq=False)
class States:
    """A separable task on a dataset.

    In all functions `sums` is a tuple: the number of rows of the state, then the sum over these
    rows of each column of `stats`. `context` and values are tuples of integers; `tables` are the
    arrays given here. Functions are compiled if numba can compile them, and otherwise run as they
    are. They must not use other arrays or objects than their arguments.

    Parameters
    ----------
    X : uint8 array of shape (n, F)
        The candidate features.
    features : tuple of BinaryFeature, length F
        What the columns of `X` mean.
    counts : int64 array of shape (n,)
        Number of original rows that a row stands for.
    stats : int64 array of shape (n, S)
        Statistics of the rows.
    actions : tuple, length K
        Original names of the actions.
    names : tuple of str, length V
        Names of the numbers of a value.
    leaf : function (sums, action, context, tables) → value
        Cost of a leaf.
    split : function (sums, test, context, tables) → value, optional
        Cost of a split, in the state that is split; by default it adds nothing.
    transition : function (context, test, side, tables) → context, optional
        Context below a split; `side` is 0 where the test is false, and 1 where it is true. By
        default contexts do not change.
    better : function (value, value) → bool, optional
        Whether the first value is strictly better. By default a value of one number is better if it
        is smaller, and one of several if none of its numbers is larger and one is smaller.
    combine : function (value, value) → value, optional
        By default the sum.
    feasible : function (value, sums, context, tables) → bool, optional
        The constraint; by default every value is allowed.
    start : tuple of int
        Context at the root.
    tables : tuple of arrays
        Prices, limits and other numbers that the functions look up.
    total : bool, optional
        Whether of two different values one is always better, or both are equally good; by default
        if a value is one number.
    nonnegative : bool, default=False
        Whether `combine` is the sum and no leaf and no split has a negative number in its value.
        Then the value of a part is a lower bound of the whole, and searches use it.
    units : callable value → number, optional
        The number that is compared across methods, always minimised; a better value must not have a
        larger one. By default the first number of the value.
    offset, scale : Fraction
        Natural value of the task = offset + scale · units (scale < 0 for a maximised metric).
    scales : tuple of (Fraction, Fraction), length V, optional
        Offset and scale of every number of a value, which make its natural value, such as costs
        from counts of hundredths; by default the numbers are natural values.
    """

    X: np.ndarray
    features: tuple[BinaryFeature, ...]
    counts: np.ndarray
    stats: np.ndarray
    actions: tuple[Any, ...]
    names: tuple[str, ...]
    leaf: Callable[..., Integers]
    split: Callable[..., Integers] | None = None
    transition: Callable[..., Integers] | None = None
    better: Callable[..., bool] | None = None
    combine: Callable[..., Integers] | None = None
    feasible: Callable[..., bool] | None = None
    start: Integers = (0,)
    tables: tuple[np.ndarray, ...] = ()
    total: bool | None = None
    nonnegative: bool = False
    units: Callable[[Integers], Any] | None = None
    offset: Fraction = Fraction(0)
    scale: Fraction = Fraction(1)
    scales: tuple[tuple[Fraction, Fraction], ...] | None = None

    def __post_init__(self) -> None:
        stats = np.ascontiguousarray(self.stats, dtype=np.int64)
        if stats.ndim != 2 or len(stats) != len(self.X):
            raise DataError(
                f"stats must have a row per row of the data ({len(self.X)}) and a column per statistic; its shape is {stats.shape}."
            )
        if sum(np.abs(stats).astype(object).sum(axis=0).tolist()) > LARGEST:
            raise DataError(
                "The statistics of a separable task are too large for sums of 64 bits; divide them by a common factor."
            )
        object.__setattr__(self, "stats", stats)
        if self.total is None:
            object.__setattr__(self, "total", self.width == 1)
        if self.nonnegative and self.combine is not None:
            raise DataError("nonnegative=True is for values that are added; leave out combine=.")

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        space: Space | None,
        stats: Any,
        actions: tuple[Any, ...],
        **parts: Any,
    ) -> States:
        """The view for all rows of a dataset and the candidate features of a space.

        Parameters
        ----------
        dataset : Dataset
        space : Space or None
            None: all features are candidates.
        stats : int array of shape (n, S)
        actions : tuple
        parts
            The other fields.

        Returns
        -------
        States
        """
        candidates = cls.candidates(dataset, space)
        return cls(
            np.ascontiguousarray(dataset.X[:, candidates]),
            tuple(dataset.features[j] for j in candidates),
            np.ones(dataset.n_rows, dtype=np.int64),
            np.asarray(stats),
            actions,
            **parts,
        )

    @staticmethod
    def candidates(dataset: Dataset, space: Space | None) -> list[int]:
        """Columns of the dataset that become the features 0, 1, … of the view, in this order."""
        every = range(dataset.n_features)
        return [int(j) for j in (every if space is None else space.candidates(dataset))]

    # -- sizes -------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """Numbers in a value."""
        return len(self.names)

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def n_actions(self) -> int:
        return len(self.actions)

    @cached_property
    def sums(self) -> np.ndarray:
        """What a row adds to the sums of a state, shape (n, 1 + S)."""
        return np.column_stack([self.counts, self.stats]).astype(np.int64)

    @cached_property
    def index(self) -> dict[BinaryFeature, int]:
        return {t: f for f, t in enumerate(self.features)}

    # -- Scale -------------------------------------------------------------------------------------

    exact = True
    tolerance = 0
    absolute_gap = 0.0

    def units_of(self, value: Integers) -> Any:
        """The number of a value that is minimised."""
        return value[0] if self.units is None else self.units(value)

    @property
    def affine(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Offset and scale of every number of a value."""
        return self.scales or ((Fraction(0), Fraction(1)),) * self.width

    def to_value(self, units: Any) -> Fraction:
        """Natural value of a number that is minimised."""
        return self.offset + self.scale * units

    def from_value(self, value: Fraction | float) -> Fraction:
        """The number that is minimised, for a natural value."""
        return (Fraction(value) - self.offset) / self.scale

    # -- plain evaluation --------------------------------------------------------------------------

    def is_better(self, a: Integers, b: Integers) -> bool:
        """The comparator."""
        if self.better is not None:
            return bool(self.better(a, b))
        return a != b and all(x <= y for x, y in zip(a, b, strict=True))

    def added(self, a: Integers, b: Integers) -> Integers:
        """The combination of two values."""
        if self.combine is not None:
            return self.combine(a, b)
        return tuple(x + y for x, y in zip(a, b, strict=True))

    def allows(self, value: Integers, rows: np.ndarray, context: Integers) -> bool:
        """Whether the constraint allows a value in a state.

        Parameters
        ----------
        value : tuple of int
        rows : array
            The rows of the state, as a mask or as indices.
        context : tuple of int

        Returns
        -------
        bool
        """
        if self.feasible is None:
            return True
        return bool(self.feasible(value, self.sums_of(rows), context, self.tables))

    def sums_of(self, rows: np.ndarray) -> Integers:
        """Sums of a state, given by a mask or by indices of its rows."""
        return tuple(int(x) for x in self.sums[rows].sum(axis=0))

    def below(self, context: Integers, test: int, side: int) -> Integers:
        """Context on a side of a split.

        Parameters
        ----------
        context : tuple of int
            Context of the state that is split.
        test : int
            Index of the feature.
        side : int
            1 where the test is true, 0 where it is false.

        Returns
        -------
        tuple of int
        """
        if self.transition is None:
            return context
        return self.transition(context, test, side, self.tables)

    def evaluate(self, tree: Tree | Node) -> Integers | None:
        """The value of a tree by the definition, in plain Python.

        Returns
        -------
        tuple of int or None
            None if a part of the tree violates the constraint.
        """
        root = tree if isinstance(tree, (Leaf, Branch)) else tree.root

        def walk(node: Node, rows: np.ndarray, context: Integers) -> Integers | None:
            if isinstance(node, Leaf):
                value = self.leaf(self.sums_of(rows), node.action, context, self.tables)
            else:
                test = self.index[node.test]
                true = self.X[rows, test] == 1
                sides = [
                    walk(child, rows[mask], self.below(context, test, side))
                    for side, (child, mask) in enumerate(((node.left, ~true), (node.right, true)))
                ]
                if sides[0] is None or sides[1] is None:
                    return None
                value = self.added(sides[0], sides[1])
                if self.split is not None:
                    cost = self.split(self.sums_of(rows), test, context, self.tables)
                    value = self.added(value, cost)
            return value if self.allows(value, rows, context) else None

        return walk(root, np.arange(self.n_rows), self.start)

    # -- presolve ----------------------------------------------------------------------------------

    def reduce(self) -> States:
        """An equivalent view with fewer rows and features.

        Rows with equal features are merged. If neither splits nor contexts depend on the test, only
        one of several equal or complementary features is kept, and no constant one.
        """
        view = self
        if self.n_rows and self.n_features and self.split is None and self.transition is None:
            words = packed_columns(self.X ^ self.X[0])
            first, _ = equal_rows(words)
            kept = np.sort(first[words[first].any(axis=1)])
            view = replace(
                self,
                X=np.ascontiguousarray(self.X[:, kept]),
                features=tuple(self.features[f] for f in kept.tolist()),
            )
        if not view.n_rows:
            return view
        first, group = equal_rows(packed(view.X))
        if len(first) == view.n_rows:
            return view
        return replace(
            view,
            X=np.ascontiguousarray(view.X[first]),
            counts=sums_by_group(view.counts, group, len(first)),
            stats=sums_by_group(view.stats, group, len(first)),
        )
