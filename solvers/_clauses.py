r"""Weighted clauses of a 0/1 program: the form in which maximum satisfiability solvers take models.

Every column is a number and at most one 0/1 variable above it. A row becomes one or two sums of
literals with positive weights, :math:`\sum_jw_j\ell_j\ge k`; no weight need be above k. If every
weight is k the sum is a clause; if all other weights together are k, their literals are clauses,
each with those of weight k; if all weights are 1 it is a cardinality constraint; otherwise it is a
pseudo-Boolean constraint. The last two are encoded by PySAT, with further variables.

A cost of a column is a soft clause: the literal that avoids it, of the weight that it costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from milp_trees.mip.linear.matrix import MatrixModel

from ._whole import whole_sides

#: Up to this number of entries (literals times k) a counter is written for a pseudo-Boolean
#: constraint; larger ones are added up in binary, which is small and says little on the way.
COUNTED = 20_000
#: Up to this number of literals "at most one" is written pair by pair.
PAIRWISE = 6


class Ended(Exception):
    """A limit was reached, or the solver was told to stop."""


@dataclass(eq=False)
class Clauses:
    """Hard clauses and weighted literals; a literal is a variable from 1 on, or its negative.

    Parameters
    ----------
    base : int array
        The least value of every column.
    variable : int array
        The variable of every column; 0 if it has one value only.
    hard : list of clauses
    soft : dict of literal to weight
    constant : int
        The cost of a point that satisfies every soft clause.
    top : int
        The largest variable.
    """

    base: np.ndarray
    variable: np.ndarray
    hard: list[list[int]] = field(default_factory=list)
    soft: dict[int, int] = field(default_factory=dict)
    constant: int = 0
    top: int = 0

    def point(self, literals: list[int]) -> np.ndarray:
        """The values of the columns in a model of the clauses."""
        true = np.zeros(len(self.variable) + 1, dtype=np.int64)
        number = np.array(literals[: len(self.variable)], dtype=np.int64)
        true[np.abs(number[number > 0])] = 1
        return (self.base + np.where(self.variable > 0, true[self.variable], 0)).astype(float)

    def literals(self, x: np.ndarray) -> list[int]:
        """The literals that hold at a point."""
        up = np.rint(x).astype(np.int64) > self.base
        signed = np.where(up, self.variable, -self.variable)
        return [int(literal) for literal in signed if literal]

    # -- rows --------------------------------------------------------------------------------------

    def at_least(self, weighted: list[tuple[int, int]], k: int) -> None:
        """Add the clauses that say that the weights of true literals sum to at least k."""
        if k <= 0:
            return
        divisor = math.gcd(*(w for _, w in weighted)) or 1
        k = -(-k // divisor)
        weighted = [(literal, min(w // divisor, k)) for literal, w in weighted]
        enough = [literal for literal, w in weighted if w == k]
        others = [(literal, w) for literal, w in weighted if w < k]
        total = sum(w for _, w in others)
        if total < k:
            self.hard.append(enough)  # the empty clause if there is none
        elif total == k:
            self.hard += [[*enough, literal] for literal, _ in others]
        elif not enough and all(w == 1 for _, w in others):
            self._count([literal for literal, _ in others], k)
        else:
            self._add_up(weighted, k)

    def _count(self, literals: list[int], k: int) -> None:
        """At least k of the literals, where k is from 2 to one less than their number."""
        from pysat.card import CardEnc, EncType

        n = len(literals)
        if n - k == 1 and n <= PAIRWISE:
            self.hard += [[literals[i], literals[j]] for j in range(n) for i in range(j)]
            return
        few = n * min(k, n - k) <= COUNTED
        encoded = CardEnc.atleast(
            lits=literals,
            bound=k,
            top_id=self.top,
            encoding=EncType.seqcounter if few else EncType.kmtotalizer,
        )
        self._take(encoded)

    def _add_up(self, weighted: list[tuple[int, int]], k: int) -> None:
        from pysat.pb import EncType, PBEnc

        total = sum(w for _, w in weighted)
        few = len(weighted) * min(k, total - k) <= COUNTED
        encoded = PBEnc.atleast(
            lits=[literal for literal, _ in weighted],
            weights=[w for _, w in weighted],
            bound=k,
            top_id=self.top,
            encoding=EncType.bdd if few else EncType.adder,
        )
        self._take(encoded)

    def _take(self, encoded: object) -> None:
        clauses: list[list[int]] = encoded.clauses  # type: ignore[attr-defined]
        self.hard += clauses
        self.top = max(self.top, max((abs(x) for clause in clauses for x in clause), default=0))


def clauses_of(model: MatrixModel, check: Callable[[], None]) -> Clauses:
    """The clauses of a program whose numbers are whole and whose columns have two values at most.

    Parameters
    ----------
    model : MatrixModel
    check : callable
        Called for every row; it raises `Ended` when it is time.

    Returns
    -------
    Clauses
    """
    base = np.ceil(model.lower - 1e-9).astype(np.int64)
    free = np.floor(model.upper + 1e-9).astype(np.int64) > base
    variable = np.where(free, np.cumsum(free), 0)
    found = Clauses(base, variable, top=int(free.sum()))
    numbers = variable.tolist()
    for j, cost in enumerate(model.c.astype(np.int64).tolist()):
        found.constant += cost * int(base[j]) + (min(cost, 0) if numbers[j] else 0)
        if cost and numbers[j]:
            found.soft[-numbers[j] if cost > 0 else numbers[j]] = abs(cost)
    A = model.A.tocsr()
    starts, columns = A.indptr.tolist(), A.indices.tolist()
    entries = A.data.astype(np.int64).tolist()
    least = base.tolist()
    low, high = whole_sides(model)
    for i in range(model.n_rows):
        check()
        part = slice(starts[i], starts[i + 1])
        row = [(j, a) for j, a in zip(columns[part], entries[part], strict=True) if a]
        fixed = sum(a * least[j] for j, a in row)
        weighted = [(numbers[j] if a > 0 else -numbers[j], abs(a)) for j, a in row if numbers[j]]
        # a·x = a + |a|·(1 - x) for a < 0: all weights are positive then.
        fixed += sum(a for j, a in row if a < 0 and numbers[j])
        total = sum(w for _, w in weighted)
        if np.isfinite(model.row_lower[i]):
            found.at_least(weighted, int(low[i]) - fixed)
        if np.isfinite(model.row_upper[i]):
            found.at_least([(-x, w) for x, w in weighted], total - (int(high[i]) - fixed))
    return found
