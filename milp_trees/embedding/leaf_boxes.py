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
from milp_trees.embedding.rows import Rows
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
        cells, out = one.cells, []
        for j, box in enumerate(boxes):
            reach = box.reach.get(column, cells.everything)
            if not reach & cells.absent:
                out.append(None)
            elif reach == cells.absent:
                out.append(z[j])
            else:
                p = b.absent[t, j, column]
                rows.at_most([(1.0, p), (-1.0, z[j])], 0.0)
                out.append(p)
        if cells.missing:
            rows.equal([(1.0, p) for p in out if p is not None], one.missing)
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
        rows.below(lower, one.value)
        rows.above(upper, one.value)

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
            rows.equal([*terms, *((-1.0, w) for w in parts)], 0.0)
            for a, w in zip(inside, parts, strict=True):
                by_category[a].append((1.0, w))
        assert one.category is not None
        for name, a in cells.place.items():
            rows.equal(by_category[a], one.category[name])


def add_boxes(b: Any, trees: Trees, rows: Rows) -> None:
    """Add the multipliers of leaves that are several boxes, and close leaves that no value reaches."""
    pairs = []
    for t, boxes in enumerate(trees.boxes):
        reached = {box.leaf for box in boxes}
        for leaf in range(trees.forest.n_leaves[t]):
            if leaf not in reached:
                b.leaf[trees.key(t, leaf)].setub(0)
        if trees.split_leaves(t):
            pairs += [(t, j) for j in range(len(boxes))]
    b.box = pyo.Var(pairs, domain=pyo.Binary, doc="1 for the box of a leaf that is several boxes")
    for t, boxes in enumerate(trees.boxes):
        if trees.split_leaves(t):
            parts: dict[int, list[Any]] = {}
            for j, box in enumerate(boxes):
                parts.setdefault(box.leaf, []).append((1.0, b.box[t, j]))
            for leaf, terms in parts.items():
                rows.equal([*terms, (-1.0, b.leaf[trees.key(t, leaf)])], 0.0)
