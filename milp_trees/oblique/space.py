"""`ObliqueTrees`: trees whose splits compare weighted sums of numeric columns with a bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import Space, Tests, _whole, full_leaves, rows_per_leaf
from milp_trees.oblique.columns import NumericColumns, distinct_rows, numeric_columns
from milp_trees.oblique.oblique_tree import ObliqueTree

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

#: Smallest gap that may be asked for: solvers satisfy rows to 1e-6.
LEAST_GAP = Fraction(1, 10_000)
#: A split may fall short of the gap by this much, which is more than solvers' tolerances.
SHORT = Fraction(2, 100_000)


@dataclass(frozen=True)
class SplitOn:
    """A split on some columns, whatever its weights; what views have in place of questions.

    Parameters
    ----------
    columns : tuple of str
    bit : int, optional
        It is no split, but a bit of the number of a row's values.
    numeric : NumericColumns, optional
        The columns on the rows of the dataset, for trees that are asked for the rows of a view.
    """

    columns: tuple[str, ...]
    bit: int | None = None
    numeric: NumericColumns | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Its columns in words."""
        if self.bit is not None:
            return f"bit {self.bit} of the number of the row's values"
        return f"a split on {', '.join(self.columns) or 'no column'}"

    @property
    def column(self) -> str:
        """The names of its columns in one text."""
        return ", ".join(self.columns)


@dataclass(frozen=True)
class ObliqueTrees(Space):
    """Trees of linear tests of the numeric columns of a dataset.

    A split must leave a gap between the rows of its node on both sides: with the columns scaled to
    [0,1] and weights whose absolute values add up to 1, the least sum above the bound is at least
    `gap` larger than the largest one below it. So the models are the same for every method,
    whatever the tolerances of its solver. A tree may fall short of the gap by 0.00002; methods
    find the best of those that do not.

    Parameters
    ----------
    max_depth : int
        Largest number of splits on a path; 0 allows a single leaf only.
    gap : number, default=1/200
        At least 1/10000. No linear split is excluded if it is at most `smallest_gap(dataset)`.
    max_leaf_nodes : int, optional
        Largest number of leaves.
    min_samples_leaf : int, default=1
        Smallest number of rows in a leaf.

    Examples
    --------
    >>> import milp_trees as mt
    >>> points = [[0, 0], [1, 1], [2, 2], [0, 2], [1, 3], [2, 4]]
    >>> data = mt.Dataset(np.zeros((6, 0)), y=[0, 0, 0, 1, 1, 1], numeric=points, columns=["a", "b"])
    >>> problem = mt.Problem(data, mt.Accuracy(), ObliqueTrees(1))
    >>> result = mt.solve(problem, method="enumerate-oblique")
    >>> result.value.number, len(result.predictor.splits[0].columns)
    (0.0, 2)
    """

    name: ClassVar[str] = "oblique-trees"
    noun: ClassVar[str] = "oblique tree"
    damaged: ClassVar[str] = "a node is neither a leaf nor a linear test with two children."
    limits: ClassVar[Mapping[str, Any]] = {
        "max_depth": None,
        "max_leaf_nodes": None,
        "min_samples_leaf": 1,
    }
    is_bounded = True

    max_depth: int
    gap: Any = Fraction(1, 200)
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1

    def __post_init__(self) -> None:
        if not _whole(self.max_depth) or self.max_depth < 0:
            raise DataError(
                f"max_depth must be a whole number of at least 0; got {self.max_depth!r}."
            )
        if self.max_leaf_nodes is not None and (
            not _whole(self.max_leaf_nodes) or self.max_leaf_nodes < 1
        ):
            raise DataError(
                f"max_leaf_nodes must be a whole number and at least 1; got {self.max_leaf_nodes!r}."
            )
        if not _whole(self.min_samples_leaf) or self.min_samples_leaf < 1:
            raise DataError(
                f"min_samples_leaf must be a whole number and at least 1; got {self.min_samples_leaf!r}."
            )
        gap = exact.fraction(self.gap, "gap")
        if not LEAST_GAP <= gap <= 1:
            raise DataError(
                f"gap must be between {LEAST_GAP} and 1, because solvers cannot tell smaller gaps from rounding; got {self.gap!r}."
            )
        object.__setattr__(self, "gap", gap)

    # -- sizes -------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """The depth limit."""
        return self.max_depth

    @property
    def most_leaves(self) -> int | None:  # type: ignore[override]
        """Largest number of leaves that depth and `max_leaf_nodes` allow."""
        full = full_leaves(self.max_depth)
        return full if self.max_leaf_nodes is None else min(full, self.max_leaf_nodes)

    @property
    def levels(self) -> int | None:  # type: ignore[override]
        """The depth limit."""
        return self.max_depth

    @property
    def least_rows(self) -> int:  # type: ignore[override]
        """Smallest number of rows in a leaf."""
        return self.min_samples_leaf

    @property
    def max_splits(self) -> int:
        """Largest number of branch nodes that depth and leaves allow."""
        return (self.most_leaves or 1) - 1

    @property
    def limits_leaves(self) -> bool:  # type: ignore[override]
        """Whether `max_leaf_nodes` excludes a tree that the depth allows."""
        return self.max_leaf_nodes is not None and self.max_leaf_nodes < full_leaves(self.max_depth)

    def with_leaves(self, most: int) -> ObliqueTrees:
        return replace(self, max_leaf_nodes=most)

    def few_leaves(self) -> ObliqueTrees:
        small = self.max_depth <= 1
        return self if small else self.with_leaves(min(3, self.max_leaf_nodes or 3))

    def too_few_rows(self, dataset: Dataset) -> bool:
        return bool(dataset.total_rows < self.min_samples_leaf)

    # -- questions ---------------------------------------------------------------------------------

    def candidates(self, dataset: Dataset) -> np.ndarray:
        """No binary feature is used by a split."""
        return np.zeros(0, dtype=np.int64)

    def tests(self, dataset: Dataset) -> Tests:
        """A split on no column, which has the price of a split, and one on every single column.

        Nothing answers them. Bits that number different rows follow, so that rows with equal
        answers are rows with equal numbers.
        """
        columns = numeric_columns(dataset)
        kinds = [(), *((name,) for name in columns.names)]
        splits = [SplitOn(kind, None, columns) for kind in kinds]
        group = distinct_rows(columns.values)[1]
        bits = int(group.max(initial=0)).bit_length()
        X = np.zeros((dataset.n_rows, len(splits) + bits), dtype=np.uint8)
        X[:, len(splits) :] = group[:, None] >> np.arange(bits) & 1
        return Tests((*splits, *(SplitOn((), k, columns) for k in range(bits))), X, False)

    # -- trees -------------------------------------------------------------------------------------

    def simplest(self, actions: tuple[Any, ...]) -> list[ObliqueTree]:
        """One tree per action, each with a single leaf."""
        return [ObliqueTree(Leaf(k), actions) for k in range(len(actions))]

    def violations(self, predictor: ObliqueTree, dataset: Dataset, routes: Any = None) -> list[str]:
        out = []
        if predictor.depth > self.max_depth:
            out.append(
                f"The tree has depth {predictor.depth}; at most {self.max_depth} is allowed."
            )
        if self.max_leaf_nodes is not None and predictor.n_leaves > self.max_leaf_nodes:
            out.append(
                f"The tree has {predictor.n_leaves} leaves; at most {self.max_leaf_nodes} are allowed."
            )
        columns = numeric_columns(dataset)
        if strange := _strange(predictor, columns):
            return [*out, f"The tree asks for {strange!r}, on which splits are not allowed."]
        routes = predictor.routes(dataset) if routes is None else routes
        smallest = int(rows_per_leaf(routes, dataset).min())
        if smallest < self.min_samples_leaf:
            out.append(
                f"A leaf holds {smallest} rows; at least {self.min_samples_leaf} are asked for."
            )
        gaps = list(gaps_of(predictor, columns, routes.leaf))
        if gaps and min(gaps) < self.gap - SHORT:
            out.append(
                f"A split leaves a gap of {float(min(gaps)):.6g}; at least {float(self.gap):.6g} is asked for."
            )
        return out

    def needed_limit(
        self, limit: str, predictor: ObliqueTree, dataset: Dataset, routes: Any
    ) -> Fraction:
        if limit == "max_depth":
            return Fraction(predictor.depth)
        if limit == "max_leaf_nodes":
            return Fraction(predictor.n_leaves)
        return Fraction(int(rows_per_leaf(routes, dataset).min()))

    def simplify(self, predictor: ObliqueTree, view: Any) -> ObliqueTree:
        return predictor.prune_empty(view)

    @classmethod
    def predictor(cls) -> type[ObliqueTree]:
        return ObliqueTree

    def read(self, stored: Mapping[str, Any]) -> ObliqueTree:
        return ObliqueTree.from_json(stored)

    def strange_question(self, predictor: ObliqueTree, dataset: Dataset) -> str | None:
        strange = _strange(predictor, numeric_columns(dataset))
        if strange is None:
            return None
        return f"The predictor tests {strange!r}, which is no numeric column of the problem."

    def spec(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "max_depth": int(self.max_depth),
            "gap": str(self.gap),
            "max_leaf_nodes": self.max_leaf_nodes,
            "min_samples_leaf": int(self.min_samples_leaf),
        }


def _strange(predictor: ObliqueTree, columns: NumericColumns) -> str | None:
    """A column of a tree that splits may not use."""
    asked = (c for test in predictor.splits for c in test.columns)
    return next((c for c in asked if c not in columns.index), None)


def gaps_of(tree: ObliqueTree, columns: NumericColumns, leaf: np.ndarray) -> Iterator[Fraction]:
    """The exact gap of every split with rows on both sides.

    Parameters
    ----------
    tree : ObliqueTree
    columns : NumericColumns
    leaf : int array of shape (n,)
        The leaf of every row of the columns, numbered from left to right.
    """

    def walk(node: Node, first: int) -> Iterator[Fraction | int]:
        if not isinstance(node, Branch):
            yield first + 1
            return
        ends: list[int] = []
        for child in (node.left, node.right):
            *inner, end = walk(child, ends[-1] if ends else first)
            yield from inner
            ends.append(int(end))
        middle, last = ends
        above = np.flatnonzero((leaf >= first) & (leaf < middle))
        below = np.flatnonzero((leaf >= middle) & (leaf < last))
        if len(above) and len(below):
            test: Any = node.test
            yield columns.gap(test, below, above)
        yield last

    *gaps, _ = walk(tree.top, 0)
    yield from map(Fraction, gaps)
