r"""Numeric columns restored from nested features.

The models that choose thresholds themselves (OCT, BinOCT) need them. The features `column <= t` of
one column are nested. With m thresholds in increasing order, a row's **rank** is the number of
thresholds below its value,

.. math:: r_{ij} = \sum_{f\in\text{tests of } j}(1-x_{if})\in\{0,\dots,m_j\},

Threshold number p (from 0) asks whether :math:`r_{ij}\le p`, that is :math:`r_{ij}<p+1`. Ranks
divided by :math:`m_j` lie in [0,1], differ by at least :math:`\epsilon_j=1/m_j` (the largest
possible difference), and their thresholds are exactly the given features. A feature that is 0/1
already is a column of its own with m = 1 and rank :math:`x_{if}`.

As in both papers, rows below the threshold go left. For `column <= t` those are the rows for which
the test is *true*, which in a `Tree` go right: `Column.true_left` states this, and `place` and
`branch` exchange the children.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.tree import Tree
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.views import CostMatrix


@dataclass(frozen=True, eq=False)
class Column:
    """One numeric column.

    Parameters
    ----------
    name : str
        Name of the column.
    tests : tuple of int
        The view's features by increasing threshold; threshold p sends rows with `ranks <= p` left.
    ranks : int array of shape (n,), values 0..m
        Rank of each row.
    true_left : bool
        Whether the rows that go left are those for which the test is true.
    """

    name: str
    tests: tuple[int, ...]
    ranks: np.ndarray
    true_left: bool

    @property
    def m(self) -> int:
        """Number of thresholds."""
        return len(self.tests)


def numeric_columns(view: CostMatrix | LeafOracle) -> list[Column]:
    """The columns of a view."""
    columns = []
    for name, tests in view.columns:
        outcomes = view.X[:, tests].astype(np.int64)
        true_left = view.features[tests[0]].kind == "<="
        if (np.diff(outcomes, axis=1) < 0).any():
            raise DataError(
                f"The tests of {name!r} are not nested: a row is below one threshold and above a higher one. Binarize the column again."
            )
        columns.append(
            Column(
                name, tests, (1 - outcomes).sum(axis=1) if true_left else outcomes[:, 0], true_left
            )
        )
    return columns


def prices_differ(name: str, view: CostMatrix) -> str | None:
    """Why a model whose splits cost what their column costs cannot take a view, or None."""
    for column in numeric_columns(view):
        if len(set(view.split_costs[list(column.tests)].tolist())) > 1:
            return f"{name} prices splits by column, but tests of {column.name!r} differ in cost; flow-oct and state-flow can price tests."
    return None


def place(
    tree: Tree, view: CostMatrix | LeafOracle, columns: Sequence[Column]
) -> tuple[dict[int, tuple[int, int]], dict[int, int]]:
    """Heap positions of a tree's nodes, with "below the threshold" on the left.

    The results are (column, threshold) of every branch node, and the action of every leaf.
    """
    where = {f: (j, p) for j, column in enumerate(columns) for p, f in enumerate(column.tests)}
    splits: dict[int, tuple[int, int]] = {}
    leaves: dict[int, int] = {}

    def walk(node: Any, v: int) -> None:
        if isinstance(node, Leaf):
            leaves[v] = node.action
            return
        splits[v] = where[view.index[node.test]]
        below, above = (
            (node.right, node.left) if columns[splits[v][0]].true_left else (node.left, node.right)
        )
        walk(below, 2 * v)
        walk(above, 2 * v + 1)

    walk(view.canonical(tree).root, 1)
    return splits, leaves


def reached(
    splits: dict[int, tuple[int, int]], columns: Sequence[Column], n_rows: int
) -> np.ndarray:
    """Heap node in which every row ends, shape (n,)."""
    at = np.ones(n_rows, dtype=np.int64)
    for v in sorted(splits):
        j, p = splits[v]
        here = at == v
        at[here] = 2 * v + (columns[j].ranks[here] > p)
    return at


def branch(view: CostMatrix | LeafOracle, column: Column, p: int, below: Any, above: Any) -> Branch:
    """The branch node of threshold p of a column."""
    left, right = (above, below) if column.true_left else (below, above)
    return Branch(view.features[column.tests[p]], left, right)


def column_words(view: CostMatrix | LeafOracle) -> Callable[[int], str]:
    """The function that gives the name and the features of a column, by increasing threshold."""
    columns = numeric_columns(view)
    return lambda j: (
        f"{columns[j].name}: {', '.join(view.features[f].name for f in columns[j].tests)}"
    )


# -- thresholds in binary (BinOCT) -----------------------------------------------------------------


@dataclass(frozen=True)
class Half:
    """Rows that may not go one way for some values of the bits; one object per I_up and I_lo.

    Parameters
    ----------
    column : int
        The column.
    rows : tuple of int
        The rows.
    bits : tuple of int
        Levels whose bit must be 1 (I_up) or 0 (I_lo) for the rows to be restricted: those of
        :math:`\\pi^0` or :math:`\\pi^1`, and the level of the range itself.
    """

    column: int
    rows: tuple[int, ...]
    bits: tuple[int, ...]


def halves(columns: Sequence[Column]) -> tuple[list[Half], list[Half]]:
    """All I_up and all I_lo; empty sets are left out."""
    up: list[Half] = []
    low: list[Half] = []

    def bisect(j: int, lo: int, hi: int, lower: tuple[int, ...], upper: tuple[int, ...]) -> None:
        if lo == hi:
            return
        mid, level, ranks = (lo + hi) // 2, len(lower) + len(upper), columns[j].ranks
        # A row of rank r lies below threshold p iff r <= p.
        for found, rows, bits in (
            (up, (mid < ranks) & (ranks <= hi), (*lower, level)),
            (low, (lo < ranks) & (ranks <= mid + 1), (*upper, level)),
        ):
            if rows.any():
                found.append(Half(j, tuple(np.flatnonzero(rows).tolist()), bits))
        bisect(j, lo, mid, (*lower, level), upper)
        bisect(j, mid + 1, hi, lower, (*upper, level))

    for j, column in enumerate(columns):
        bisect(j, 0, column.m - 1, (), ())
    return up, low


def n_bits(columns: Sequence[Column]) -> int:
    """Number of bits that the longest list of thresholds needs."""
    return max(((c.m - 1).bit_length() for c in columns), default=0)


def write_threshold(m: int, p: int) -> list[int]:
    """Bits of threshold p out of m."""
    lo, hi, bits = 0, m - 1, []
    while lo < hi:
        mid = (lo + hi) // 2
        bits.append(int(p <= mid))
        lo, hi = (lo, mid) if p <= mid else (mid + 1, hi)
    return bits


def read_threshold(m: int, bits: Sequence[int]) -> int:
    """The threshold out of m that the bits describe; a single one needs no bits."""
    lo, hi = 0, m - 1
    for bit in bits:
        mid = (lo + hi) // 2
        lo, hi = (lo, mid) if bit else (min(mid + 1, hi), hi)
    return lo
