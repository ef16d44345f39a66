r"""Leaf boxes: one multiplier per leaf; the relaxation of one tree is the hull of its boxes.

The leaves of a tree are boxes :math:`[l^j,u^j]`. With :math:`z_j=1` for the leaf that is reached,

.. math::
   \sum_j z_j=1,\qquad \sum_j l^j_cz_j\le x_c\le\sum_j u^j_cz_j\quad\text{for every column }c.

A convex combination of boxes with multipliers z is the box between the combinations of their
corners, so these rows are the convex hull of all (x, z), without a copy of x for each leaf. The
output is linear in z. With a missing value, :math:`p_j\le z_j` is the part of leaf j that it takes:

.. math::
   \sum_j\bigl(l^j_c(z_j-p_j)+l_cp_j\bigr)\le x_c\le\sum_j\bigl(u^j_c(z_j-p_j)+u_cp_j\bigr),
   \qquad m_c=\sum_jp_j.

A column of categories with indicators e is divided among the sets S of categories that leaves have:
:math:`\sum_{a\in S}w_{Sa}=\sum_{j:S_j=S}z_j` and :math:`\sum_Sw_{Sa}=e_a`.

References: Biggs, Perakis (2023), "Tight mixed-integer optimization formulations for prescriptive
trees", arXiv:2302.14744, the projected formulation; Balas (1985), "Disjunctive programming and a
hierarchy of relaxations for discrete optimization problems", doi:10.1137/0606047.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pyomo.environ as pyo

from milp_trees.embedding.cells import Box
from milp_trees.embedding.inputs import Input
from milp_trees.embedding.rows import Count, Rows, Size, Sum, counts, width
from milp_trees.embedding.trees import Trees


class LeafBoxes:
    """Rows between the combined corners of all leaves, for every tree and column."""

    name: ClassVar[str] = "leaf-boxes"
    reference: ClassVar[str] = "https://arxiv.org/abs/2302.14744"
    #: Whether the leaves are 0/1 variables.
    binary_leaves: ClassVar[bool] = True

    def declare(self, b: Any, trees: Trees) -> None:
        """Add the variables and rows to a block that has the leaves."""
        rows = Rows(b)
        add_boxes(b, trees, rows)
        b.absent = pyo.Var(
            pyo.Any,
            dense=False,
            domain=pyo.UnitInterval,
            doc="p[t,j,c] part of box j of tree t where the value of column c is missing",
        )
        b.share = pyo.Var(
            pyo.Any,
            dense=False,
            domain=pyo.UnitInterval,
            doc="w[t,c,s,a] part of the leaves with the set s of categories where column c is a",
        )
        for t, boxes in enumerate(trees.boxes):
            z = trees.multipliers(b, t)
            for column in trees.asked[t]:
                one = trees.inputs[column]
                p = self._missing(b, rows, t, column, one, boxes, z)
                if one.value is not None:
                    self._interval(rows, t, column, one, boxes, z, p)
                elif one.category:
                    self._categories(b, rows, t, column, one, boxes, z, p)
        rows.add(
            "hull",
            "l(z) <= x <= u(z), and parts of missing values and categories: the hull of all boxes of a tree",
        )

    def _missing(
        self, b: Any, rows: Rows, t: int, column: str, one: Input, boxes: list[Box], z: list[Any]
    ) -> list[Any]:
        """The part of each box where the value is missing: a variable, the multiplier, or 0."""
        cells = one.cells
        out: list[Any] = []
        for j, box in enumerate(boxes):
            reach = box.reach.get(column, cells.everything)
            if not reach & cells.absent:
                out.append(None)
            elif reach == cells.absent:
                out.append(z[j])
            else:
                p = b.absent[t, j, column]
                rows.at_most_zero(Sum([(1.0, p), (-1.0, z[j])]))
                out.append(p)
        if cells.missing:
            total = Sum([(1.0, p) for p in out if p is not None])
            rows.equal_zero(total.minus(Sum(expression=one.missing)))
        return out

    def _interval(
        self,
        rows: Rows,
        t: int,
        column: str,
        one: Input,
        boxes: list[Box],
        z: list[Any],
        p: list[Any],
    ) -> None:
        cells = one.cells
        least, most = float(cells.low[0]), float(cells.high[-1])
        lower, upper = [], []
        for j, box in enumerate(boxes):
            span = cells.span(box.reach.get(column, cells.everything))
            low, high = (
                (least, most)
                if span is None
                else (float(cells.low[span[0]]), float(cells.high[span[1]]))
            )
            lower.append((low, z[j]))
            upper.append((high, z[j]))
            if p[j] is not None and p[j] is not z[j]:
                lower.append((least - low, p[j]))
                upper.append((most - high, p[j]))
        per = 1 / cells.width
        rows.at_most_zero(Sum(lower).minus(Sum(expression=one.value)).times(per))
        rows.at_least_zero(Sum(upper).minus(Sum(expression=one.value)).times(per))

    def _categories(
        self,
        b: Any,
        rows: Rows,
        t: int,
        column: str,
        one: Input,
        boxes: list[Box],
        z: list[Any],
        p: list[Any],
    ) -> None:
        cells = one.cells
        by_set: dict[int, list[tuple[float, Any]]] = {}
        for j, box in enumerate(boxes):
            reach = box.reach.get(column, cells.everything)
            if reach == cells.absent:
                continue
            terms = by_set.setdefault(reach & ~cells.absent, [])
            terms.append((1.0, z[j]))
            if p[j] is not None:
                terms.append((-1.0, p[j]))
        by_category: list[list[tuple[float, Any]]] = [[] for _ in range(cells.n)]
        for s, (members, terms) in enumerate(by_set.items()):
            inside = [a for a in range(cells.n) if members >> a & 1]
            if len(inside) == 1:
                by_category[inside[0]] += terms
                continue
            parts = [b.share[t, column, s, a] for a in inside]
            rows.equal_zero(Sum([*terms, *((-1.0, w) for w in parts)]))
            for a, w in zip(inside, parts, strict=True):
                by_category[a].append((1.0, w))
        assert one.category is not None
        for name, a in cells.place.items():
            rows.equal_zero(Sum(by_category[a]).minus(Sum(expression=one.category[name])))

    def size(self, trees: Trees) -> Size:
        """Size of the block by formula."""
        leaves, T = sum(trees.forest.n_leaves), len(trees.forest.roots)
        count, more = boxes_count(trees), 0
        for t in range(T):
            for column in trees.asked[t]:
                more += _column_size(count, trees, t, column)
        binaries = leaves + boxes_variables(trees)
        return Size(binaries + more, binaries, T + count.rows, leaves + count.nonzeros)


def _column_size(count: Count, trees: Trees, t: int, column: str) -> int:
    """Count the rows of a tree in a column; the number of variables that they need."""
    one, boxes = trees.inputs[column], trees.boxes[t]
    cells, absent = one.cells, one.cells.absent
    reaches = [box.reach.get(column, cells.everything) for box in boxes]
    partly = sum(bool(r & absent) and r != absent for r in reaches)
    variables = partly
    for _ in range(partly):
        count.row(2)
    if cells.missing:
        count.row(sum(bool(r & absent) for r in reaches) + width(one.missing))
    if one.value is not None:
        least, most = float(cells.low[0]), float(cells.high[-1])
        terms, per = [0, 0], 1 / cells.width
        for r in reaches:
            span = cells.span(r)
            low, high = (least, most) if span is None else (cells.low[span[0]], cells.high[span[1]])
            both = bool(r & absent) and r != absent
            terms[0] += counts(low * per) + (both and counts((least - low) * per))
            terms[1] += counts(high * per) + (both and counts((most - high) * per))
        count.row(terms[0] + width(one.value))
        count.row(terms[1] + width(one.value))
    elif one.category:
        by_category = [0] * cells.n
        sets: dict[int, int] = {}
        for r in reaches:
            if r != absent:
                members = r & ~absent
                sets[members] = sets.get(members, 0) + 1 + bool(r & absent)
        for members, terms_of in sets.items():
            inside = [a for a in range(cells.n) if members >> a & 1]
            if len(inside) > 1:
                variables += len(inside)
                count.row(terms_of + len(inside))
            for a in inside:
                by_category[a] += terms_of if len(inside) == 1 else 1
        for name, a in cells.place.items():
            count.row(by_category[a] + width(one.category[name]))
    return variables


def boxes_variables(trees: Trees) -> int:
    """Number of multipliers of leaves that are several boxes."""
    return sum(len(boxes) for t, boxes in enumerate(trees.boxes) if trees.split_leaves(t))


def boxes_count(trees: Trees) -> Count:
    """Rows of leaves that are several boxes."""
    count = Count()
    for t, boxes in enumerate(trees.boxes):
        if trees.split_leaves(t):
            for leaf in {box.leaf for box in boxes}:
                count.row(1 + sum(box.leaf == leaf for box in boxes))
    return count


def add_boxes(b: Any, trees: Trees, rows: Rows, domain: Any = pyo.Binary) -> None:
    """Add multipliers where leaves are several boxes; close leaves that no value reaches."""
    pairs = []
    for t, boxes in enumerate(trees.boxes):
        reached = {box.leaf for box in boxes}
        for leaf in range(trees.forest.n_leaves[t]):
            if leaf not in reached:
                b.leaf[trees.key(t, leaf)].setub(0)
        if trees.split_leaves(t):
            pairs += [(t, j) for j in range(len(boxes))]
    b.box = pyo.Var(pairs, domain=domain, doc="1 for the box of a leaf that is several boxes")
    for t, boxes in enumerate(trees.boxes):
        if trees.split_leaves(t):
            parts: dict[int, list[Any]] = {}
            for j, box in enumerate(boxes):
                parts.setdefault(box.leaf, []).append((1.0, b.box[t, j]))
            for leaf, terms in parts.items():
                rows.equal_zero(Sum([*terms, (-1.0, b.leaf[trees.key(t, leaf)])]))
