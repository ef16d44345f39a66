r"""Paths: ordered binaries for the thresholds of all trees, and inequalities on the way to leaves.

The distinct thresholds of a column over all trees divide its values into cells. With
:math:`u_{ck}=1` if the value is in one of the first k cells and present, lowest values
:math:`l_{ck}` and highest :math:`h_{ck}` of the cells, and :math:`m_c=1` if it is missing,

.. math::
   & u_{ck}\le u_{c,k+1}\le 1-m_c,\\
   & x_c\ge l_{c0}+\sum_k(l_{ck}-l_{c,k-1})(1-m_c-u_{ck}),\qquad
     x_c\le h_{cK}-\sum_k(h_{ck}-h_{c,k-1})u_{ck}.

Leaves :math:`z_{tj}\ge0` need not be integer. **paths** has two rows for each split s of a tree,
whose answer yes is :math:`y_s` (a sum of u, of indicators of categories, and of m):

.. math::
   \sum_jz_{tj}=1,\qquad\sum_{j\text{ on the side yes of }s}z_{tj}\le y_s,\qquad
   \sum_{j\text{ on the side no of }s}z_{tj}\le1-y_s .

The side yes of a rule with several conditions has a row for each, the side no one row with the sum
of the answers no. **strong-paths** has, for every column and every set S of cells that is where
some leaf reaches, one row with all leaves that reach no further, over all branches of the tree:

.. math::
   \sum_{j:R_{tjc}\subseteq S}z_{tj}\le\sum_{k\in S}(u_{c,k+1}-u_{ck}).

Each row of **paths** is implied by those of **strong-paths**, which is the hull if there is a single
column.

References: Mišić (2020), "Optimization of tree ensembles", arXiv:1705.10883; Mistry, Letsios,
Krennrich, Lee, Misener (2021), "Mixed-integer convex nonlinear optimization with gradient-boosted
trees embedded", arXiv:1803.00952; Biggs, Perakis (2023), arXiv:2302.14744, for rows over several
branches.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pyomo.environ as pyo

from milp_trees.embedding.forest import Question, Split, splits_of
from milp_trees.embedding.inputs import Input
from milp_trees.embedding.leaf_boxes import add_boxes, boxes_count, boxes_variables
from milp_trees.embedding.rows import Count, Rows, Size, Sum, counts, width
from milp_trees.embedding.trees import Trees


class Paths:
    """Two rows for each split of every tree."""

    name: ClassVar[str] = "paths"
    reference: ClassVar[str] = "https://arxiv.org/abs/1705.10883"
    #: Leaves follow from the binaries of thresholds.
    binary_leaves: ClassVar[bool] = False

    def declare(self, b: Any, trees: Trees) -> None:
        """Add the variables and rows to a block that has the leaves."""
        rows = Rows(b)
        index = [
            (c, k)
            for c, one in trees.inputs.items()
            if one.cells.ordered
            for k in range(1, one.cells.n)
        ]
        b.below = pyo.Var(index, domain=pyo.Binary, doc="u[c,k] value of c in its first k cells")
        for column, one in trees.inputs.items():
            _link(b, rows, column, one)
        rows.add("cells", "u[c,k] <= u[c,k+1] <= 1 - m[c]; l(u) <= x <= h(u); a category each")
        self.paths(b, trees, rows)
        rows.add("path", "sums of the leaves on a side of a split are at most its answer")

    def paths(self, b: Any, trees: Trees, rows: Rows) -> None:
        """Collect the rows that tie leaves to answers."""
        for t, root in enumerate(trees.forest.roots):
            spans = trees.forest.leaves_below(t)

            def below(node: Any, t: int = t, spans: Any = spans) -> list[Any]:
                first, last = spans[id(node)] if isinstance(node, Split) else (node, node)
                return [b.leaf[trees.key(t, leaf)] for leaf in range(first, last + 1)]

            for split in splits_of(root):
                no = Sum([(1.0, z) for z in below(split.no)])
                for question, answer in split.literals:
                    held = answer_of(b, trees.inputs, question)
                    fails = held.opposite() if answer else held
                    yes = Sum([(1.0, z) for z in below(split.yes)])
                    rows.at_most_zero(yes.minus(fails.opposite()))
                    no = no.minus(fails)
                rows.at_most_zero(no)

    def size(self, trees: Trees) -> Size:
        """Size of the block by formula."""
        count, leaves = _cells_count(trees), sum(trees.forest.n_leaves)
        binaries = _binaries(trees)
        for t, root in enumerate(trees.forest.roots):
            spans = trees.forest.leaves_below(t)
            for split in splits_of(root):
                no, yes = (
                    spans[id(n)][1] - spans[id(n)][0] + 1 if isinstance(n, Split) else 1
                    for n in (split.no, split.yes)
                )
                answers, signs = [], [1 if answer else -1 for _, answer in split.literals]
                for question, _ in split.literals:
                    one = trees.inputs[question.column]
                    answers.append(_terms(question.column, one, one.cells.yes(question)))
                    count.row(yes + _width(trees.inputs, answers[-1:], [1]))
                count.row(no + _width(trees.inputs, answers, signs))
        T = len(trees.forest.roots)
        return Size(leaves + binaries, binaries, T + count.rows, leaves + count.nonzeros)


class StrongPaths(Paths):
    """One row for each set of cells in which leaves end, for every tree and column."""

    name: ClassVar[str] = "strong-paths"
    reference: ClassVar[str] = "https://arxiv.org/abs/2302.14744"

    def paths(self, b: Any, trees: Trees, rows: Rows) -> None:
        add_boxes(b, trees, rows, pyo.UnitInterval)
        for t in range(len(trees.forest.roots)):
            z = trees.multipliers(b, t)
            for column, members in sets_of(trees, t):
                for reach, inside in members:
                    total = Sum([(1.0, z[j]) for j in inside])
                    rows.at_most_zero(total.minus(within(b, column, trees.inputs[column], reach)))

    def size(self, trees: Trees) -> Size:
        count, leaves = _cells_count(trees), sum(trees.forest.n_leaves)
        binaries, boxes, links = _binaries(trees), boxes_variables(trees), boxes_count(trees)
        for t in range(len(trees.forest.roots)):
            for column, members in sets_of(trees, t):
                for reach, inside in members:
                    terms = _terms(column, trees.inputs[column], reach)
                    count.row(len(inside) + _width(trees.inputs, [terms], [1]))
        rows = len(trees.forest.roots) + links.rows + count.rows
        nonzeros = leaves + links.nonzeros + count.nonzeros
        return Size(leaves + boxes + binaries, binaries, rows, nonzeros)


def _binaries(trees: Trees) -> int:
    """Number of binaries of thresholds."""
    return sum(one.cells.n - 1 for one in trees.inputs.values() if one.cells.ordered)


def sets_of(trees: Trees, tree: int) -> list[tuple[str, list[tuple[int, list[int]]]]]:
    """The sets of cells where the boxes of a tree reach, by column, with the boxes inside."""
    out = []
    for column in trees.asked[tree]:
        everything = trees.inputs[column].cells.everything
        reaches = [box.reach.get(column, everything) for box in trees.boxes[tree]]
        by_set: dict[int, list[int]] = {}
        for j, reach in enumerate(reaches):
            by_set.setdefault(reach, []).append(j)
        members = [
            (reach, sorted(j for other in by_set if not other & ~reach for j in by_set[other]))
            for reach in by_set
            if reach != everything
        ]
        out.append((column, members))
    return out


def _link(b: Any, rows: Rows, column: str, one: Input) -> None:
    """The order of the binaries of a column, and its value between the ends of its cell."""
    cells = one.cells
    absent = Sum(expression=one.missing) if one.missing is not None else Sum()
    if not cells.ordered:
        if one.category:
            total = Sum().minus(absent.opposite())
            for name in cells.place:
                total = total.minus(Sum(expression=-one.category[name]))
            rows.equal_zero(total)
        return
    u = [b.below[column, k] for k in range(1, cells.n)]
    for k in range(len(u) - 1):
        rows.at_most_zero(Sum([(1.0, u[k]), (-1.0, u[k + 1])]))
    if u and one.missing is not None:
        rows.at_most_zero(Sum([(1.0, u[-1])]).minus(absent.opposite()))
    if not u:
        return
    low, high = cells.low.tolist(), cells.high.tolist()
    steps = [low[k] - low[k - 1] for k in range(1, cells.n)]
    lower = Sum([(-s, v) for s, v in zip(steps, u, strict=True)], low[-1])
    if one.missing is not None:
        lower = lower.minus(Sum(expression=(low[-1] - low[0]) * one.missing))
    per = 1 / cells.width
    rows.at_most_zero(lower.minus(Sum(expression=one.value)).times(per))
    rises = [high[k] - high[k - 1] for k in range(1, cells.n)]
    upper = Sum([(s, v) for s, v in zip(rises, u, strict=True)], -high[-1])
    rows.at_most_zero(upper.minus(Sum(expression=-one.value)).times(per))


def _cells_count(trees: Trees) -> Count:
    """Rows that tie the binaries of cells to the user's variables."""
    count = Count()
    for one in trees.inputs.values():
        cells, m = one.cells, width(one.missing)
        if not cells.ordered:
            if one.category:
                count.row(m + sum(width(one.category[name]) for name in cells.place))
            continue
        n = cells.n - 1
        for _ in range(n - 1):
            count.row(2)
        if n and one.missing is not None:
            count.row(1 + m)
        if n:
            steps = sum(map(counts, (cells.low[1:] - cells.low[:-1]) / cells.width))
            rises = sum(map(counts, (cells.high[1:] - cells.high[:-1]) / cells.width))
            count.row(steps + width(one.value) + m * bool(cells.low[-1] - cells.low[0]))
            count.row(rises + width(one.value))
    return count


def answer_of(b: Any, inputs: dict[str, Input], question: Question) -> Sum:
    """The answer to a question as a linear expression, 1 for yes."""
    one = inputs[question.column]
    return within(b, question.column, one, one.cells.yes(question))


def within(b: Any, column: str, one: Input, reach: int) -> Sum:
    """1 if the value of a column is in a set of cells; ordered ones are one interval."""
    cells = one.cells
    out = Sum()
    if reach & cells.absent:
        out = out.plus(Sum(expression=one.missing))
    if not cells.ordered:
        for name, a in cells.place.items():
            if reach >> a & 1 and one.category:
                out = out.plus(Sum(expression=one.category[name]))
        return out
    span = cells.span(reach)
    if span is None:
        return out
    first, last = span
    if last == cells.n - 1:
        out = out.plus(Sum(constant=1.0))
        if one.missing is not None:
            out = out.plus(Sum(expression=-one.missing))
    else:
        out = out.plus(Sum([(1.0, b.below[column, last + 1])]))
    return out.plus(Sum([(-1.0, b.below[column, first])])) if first else out


def _terms(column: str, one: Input, reach: int) -> dict[Any, float]:
    """The terms of `within`: a binary, an indicator of a category, or the missing value."""
    cells = one.cells
    out: dict[Any, float] = {}
    if reach & cells.absent:
        out[column, "missing"] = 1.0
    if not cells.ordered:
        inside = [n for n, a in cells.place.items() if reach >> a & 1 and one.category]
        return {**out, **{(column, "category", n): 1.0 for n in inside}}
    span = cells.span(reach)
    if span is None:
        return out
    if span[1] < cells.n - 1:
        out[column, "below", span[1] + 1] = 1.0
    elif one.missing is not None:
        out[column, "missing"] = out.get((column, "missing"), 0.0) - 1.0
    return {**out, (column, "below", span[0]): -1.0} if span[0] else out


def _width(inputs: dict[str, Input], sums: list[dict[Any, float]], signs: list[int]) -> int:
    """Number of the user's and the block's variables in a signed sum of terms."""
    total: dict[Any, float] = {}
    for terms, sign in zip(sums, signs, strict=True):
        for key, coefficient in terms.items():
            total[key] = total.get(key, 0.0) + sign * coefficient
    count = 0
    for key, coefficient in total.items():
        if coefficient:
            one = inputs[key[0]]
            held = one.missing if key[1] == "missing" else (one.category or {}).get(key[-1])
            count += 1 if key[1] == "below" else width(held)
    return count
