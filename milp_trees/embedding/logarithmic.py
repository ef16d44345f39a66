r"""Paths with few binaries: the cell of a column is a number in binary digits.

The rows are those of `milp_trees.embedding.paths.StrongPaths`, whose relaxation it shares. The
answers :math:`u_{ck}` to thresholds need not be binaries if the cell of every column is one: cell k
has the part :math:`u_{c,k+1}-u_{ck}`, with :math:`u_{c0}=0` and :math:`u_{cK}=1`, and a number
:math:`G(k)` of :math:`\lceil\log_2K\rceil` digits. With a binary :math:`g_{cj}` for each digit,

.. math::
   \sum_{k:\,\text{digit }j\text{ of }G(k)=1}(u_{c,k+1}-u_{ck})=g_{cj}.

Binary digits leave one cell, so u is integral. In Gray's code G neighbouring cells differ by one
digit, so most rows are short.

A forest of 100 trees has thousands of thresholds, and 20 columns with a hundred digits or two: a
solver's presolve, which tries both values of every binary, then takes a fraction of the time.

References: Vielma, Nemhauser (2011), "Modeling disjunctive constraints with a logarithmic number of
binary variables and constraints", doi:10.1007/s10107-009-0295-4; and those of strong paths.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pyomo.environ as pyo

from milp_trees.embedding.paths import StrongPaths
from milp_trees.embedding.rows import Rows, Size, Sum
from milp_trees.embedding.trees import Trees


class LogPaths(StrongPaths):
    """Strong paths whose binaries are the digits of the numbers of cells."""

    name: ClassVar[str] = "log-paths"
    reference: ClassVar[str] = "https://doi.org/10.1007/s10107-009-0295-4"

    def declare(self, b: Any, trees: Trees) -> None:
        super().declare(b, trees)
        for variable in b.below.values():
            variable.domain = pyo.UnitInterval
        digits = {column: _digits(n) for column, n in _cells(trees).items()}
        index = [(column, j) for column, found in digits.items() for j in range(len(found))]
        b.digit = pyo.Var(index, domain=pyo.Binary, doc="g[c,j] digit j of the cell of column c")
        rows = Rows(b)
        for column, j in index:
            terms = [(float(v), b.below[column, k]) for k, v in digits[column][j].items() if k]
            constant = float(digits[column][j].get(0, 0))
            rows.equal_zero(Sum([*terms, (-1.0, b.digit[column, j])], constant))
        rows.add("digits", "parts of the cells with digit j = g[c,j]")

    def size(self, trees: Trees) -> Size:
        found = super().size(trees)
        digits = [one for n in _cells(trees).values() for one in _digits(n)]
        nonzeros = sum(1 + sum(k > 0 for k in one) for one in digits)
        more = found.variables + len(digits), len(digits), found.rows + len(digits)
        return Size(*more, found.nonzeros + nonzeros)


def _cells(trees: Trees) -> dict[str, int]:
    """Number of cells of the ordered columns that have several."""
    found = {column: one.cells.n for column, one in trees.inputs.items() if one.cells.ordered}
    return {column: n for column, n in found.items() if n > 1}


def _digits(n: int) -> list[dict[int, int]]:
    """For each digit the coefficients of u[k] in its row, and the constant as that of 0.

    The part of cell k is u[k + 1] - u[k], so u[k] has the digit of cell k - 1 minus that of cell k;
    u[n] is 1.
    """
    code = [k ^ (k >> 1) for k in range(n)]
    out = []
    for j in range((n - 1).bit_length()):
        digit = [c >> j & 1 for c in code]
        row = {k: digit[k - 1] - digit[k] for k in range(1, n) if digit[k - 1] != digit[k]}
        out.append(row | ({0: 1} if digit[-1] else {}))
    return out
