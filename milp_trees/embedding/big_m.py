r"""Big-M: every side of the box of the chosen leaf holds; what other packages use.

With 0/1 leaves :math:`z_j`, bounds :math:`l_c\le x_c\le u_c` of the columns and boxes
:math:`[l^j,u^j]`,

.. math::
   \sum_jz_j=1,\qquad x_c\ge l^j_c-(l^j_c-l_c)(1-z_j+m_c),\qquad
   x_c\le u^j_c+(u_c-u^j_c)(1-z_j+m_c),

where the missing value :math:`m_c` is only there if it reaches the leaf, which otherwise is not
chosen together with it. For categories :math:`z_j\le\sum_{a\in S_j}e_a`.

Reference: Belotti, Bonami, Fischetti, Lodi, Monaci, Nogales-Gómez, Salvagnin (2016), "On handling
indicator constraints in mixed integer programming", doi:10.1007/s10589-016-9847-8.
"""

from __future__ import annotations

from typing import Any, ClassVar

from milp_trees.embedding.inputs import Input
from milp_trees.embedding.leaf_boxes import add_boxes, boxes_count, boxes_variables
from milp_trees.embedding.rows import Count, Rows, Size, Sum, width
from milp_trees.embedding.trees import Trees


class BigM:
    """Rows for each side of the box of each leaf, with the bounds of the columns as big M."""

    name: ClassVar[str] = "big-m"
    reference: ClassVar[str] = "https://doi.org/10.1007/s10589-016-9847-8"
    binary_leaves: ClassVar[bool] = True

    def declare(self, b: Any, trees: Trees) -> None:
        """Add the rows to a block that has the leaves."""
        rows = Rows(b)
        add_boxes(b, trees, rows)
        for t, boxes in enumerate(trees.boxes):
            for z, box in zip(trees.multipliers(b, t), boxes, strict=True):
                for column, reach in box.reach.items():
                    one = trees.inputs[column]
                    if reach != one.cells.everything:
                        _sides(rows, z, one, reach)
        rows.add("side", "x between the sides of the box of the chosen leaf, by big M")

    def size(self, trees: Trees) -> Size:
        """Size of the block by formula."""
        count, leaves = boxes_count(trees), sum(trees.forest.n_leaves)
        for members in trees.boxes:
            for box in members:
                for column, reach in box.reach.items():
                    if reach != trees.inputs[column].cells.everything:
                        _count_sides(count, trees.inputs[column], reach)
        variables = leaves + boxes_variables(trees)
        T = len(trees.forest.roots)
        return Size(variables, variables, T + count.rows, leaves + count.nonzeros)


def _sides(rows: Rows, z: Any, one: Input, reach: int) -> None:
    """The rows of a box in one column."""
    cells = one.cells
    absent = Sum(expression=one.missing) if one.missing is not None else Sum()
    chosen = Sum([(1.0, z)])
    if not cells.ordered:
        inside = absent if reach & cells.absent else Sum()
        for name, a in cells.place.items():
            if reach >> a & 1 and one.category:
                inside = inside.plus(Sum(expression=one.category[name]))
        rows.at_most_zero(chosen.minus(inside))
        return
    span = cells.span(reach)
    if span is None:
        rows.at_most_zero(chosen.minus(absent))
        return
    reached = bool(reach & cells.absent)
    if one.missing is not None and not reached:
        rows.at_most_zero(chosen.minus(absent.opposite()))
    least, most = float(cells.low[0]), float(cells.high[-1])
    low, high = float(cells.low[span[0]]), float(cells.high[span[1]])
    if low > least:  # low - (low - least)(1 - z + m) <= x
        side = Sum([(low - least, z)], least).minus(Sum(expression=one.value))
        side = side.minus(absent.times(low - least)) if reached else side
        rows.at_most_zero(side.times(1 / cells.width))
    if high < most:  # x <= high + (most - high)(1 - z + m)
        side = Sum([(most - high, z)], -most).plus(Sum(expression=one.value))
        side = side.minus(absent.times(most - high)) if reached else side
        rows.at_most_zero(side.times(1 / cells.width))


def _count_sides(count: Count, one: Input, reach: int) -> None:
    """Count the rows of a box in one column."""
    cells, m = one.cells, width(one.missing)
    reached = bool(reach & cells.absent)
    if not cells.ordered:
        given = one.category or {}
        inside = [width(given.get(n)) for n, a in cells.place.items() if reach >> a & 1]
        count.row(1 + reached * m + sum(inside))
        return
    span = cells.span(reach)
    if span is None:
        count.row(1 + m)
        return
    if one.missing is not None and not reached:
        count.row(1 + m)
    ends = int(cells.low[span[0]] > cells.low[0]) + int(cells.high[span[1]] < cells.high[-1])
    for _ in range(ends):
        count.row(1 + width(one.value) + reached * m)
