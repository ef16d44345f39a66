r"""Rows of an infeasible model that contradict each other, none of which can be left out.

Such a set of rows is called an irreducible infeasible subset (IIS; van Loon 1981; Chinneck and
Dravnieks 1991, *Locating minimal infeasible constraint sets in linear programs*). Bounds of
variables and integrality always hold; what is sought is a set of rows.

If the linear relaxation has no point, rows of the relaxation are sought: multipliers
:math:`y` of the rows :math:`\ell \le Ax \le u` that make :math:`y^\top A x` too small within all
bounds of x prove that the rows with a multiplier contradict each other (Farkas), and the deletion
filter removes rows from these. If only the integer program has no point, the deletion filter works
on all rows, with one integer program per trial: blocks of rows first, then parts of growing and
shrinking size. A point that was found violates the rows that were left out; if it violates one of
them only, this one is needed. Each needed row keeps such a point, on which it is checked at the end
that the others are consistent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy import sparse

from milp_trees.common.errors import DataError, SolverFailure
from milp_trees.common.limits import Limit, Limits
from milp_trees.methods.finish import Clock
from milp_trees.mip.linear.claims import violation
from milp_trees.mip.linear.farkas import farkas
from milp_trees.mip.linear.matrix import INFINITY, MatrixModel
from milp_trees.mip.runner import run
from milp_trees.mip.solver import Answer, Job
from milp_trees.results.result import Status

#: A row is violated by a point that is so far from it, and satisfied by one that is nearer.
VIOLATED = 1e-6
#: Largest denominator of the multipliers that prove a contradiction of linear rows.
DENOMINATORS = (1, 60, 10**4, 10**8)


@dataclass(frozen=True, eq=False)
class Subset:
    """Rows of a model that contradict each other.

    Parameters
    ----------
    rows : tuple of int
        Indices of the rows, increasing.
    relaxed : bool
        Whether they contradict each other in the linear relaxation; otherwise only if integer
        variables are integers.
    needed : frozenset of int
        Those rows without which the others have a common point, which was found.
    limit : Limit or None
        The limit that ended the search; then rows that are not in `needed` may be superfluous.
    proved_by : str
        Who claims that the rows contradict each other.
    exact : bool
        Whether multipliers prove it in rational numbers.
    solves : int
        Number of programs that were solved.
    seconds : float
    """

    rows: tuple[int, ...]
    relaxed: bool
    needed: frozenset[int]
    limit: Limit | None
    proved_by: str
    exact: bool
    solves: int
    seconds: float

    @property
    def irreducible(self) -> bool:
        """Whether no row can be left out."""
        return len(self.needed) == len(self.rows)


def irreducible_rows(
    model: MatrixModel,
    solver: str,
    limits: Limits,
    among: Iterable[str] | None = None,
) -> Subset:
    """Rows of an infeasible model that contradict each other, none of which can be left out.

    Parameters
    ----------
    model : MatrixModel
    solver : str
        Name of a solver that takes such models.
    limits : Limits
        The time limit is that of all programs together.
    among : iterable of str, optional
        Names of the blocks of rows that the subset is from; all other rows always hold, as bounds
        do. By default it is from all rows.

    Returns
    -------
    Subset

    Raises
    ------
    DataError
        The model has a feasible point.
    SolverFailure
        It was not found out in time whether it has one.
    Unsupported
        The solver cannot take the model.
    """
    return _Filter(model, solver, limits, among).run()


class _OutOfTime(Exception):
    """A limit was reached."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit


class _Filter:
    """The deletion filter."""

    def __init__(
        self,
        model: MatrixModel,
        solver: str,
        limits: Limits,
        among: Iterable[str] | None,
    ) -> None:
        zero = np.zeros_like(model.c)
        self.model = replace(model, c=zero, offset=0.0, columns=[], row_labels=[], row_indices=[])
        self.labels = model.row_labels or [""] * model.n_rows
        self.solver, self.limits = solver, limits
        chosen = set(self.labels) if among is None else set(among)
        if unknown := sorted(chosen - set(self.labels)):
            raise DataError(
                f"The model {model.name} has no rows of the name {unknown[0]!r}; its blocks of rows are {', '.join(dict.fromkeys(self.labels))}."
            )
        #: The rows that may be left out.
        self.free = np.array([label in chosen for label in self.labels], dtype=bool)
        self.clock, self.solves = Clock(), 0
        self.relaxed, self.exact = False, False
        self.kept = np.ones(model.n_rows, dtype=bool)
        self.points: dict[int, np.ndarray] = {}

    def run(self) -> Subset:
        limit: Limit | None = None
        if (single := self._single()) is None:
            if not self._infeasible_at_all():
                raise DataError(
                    f"The model {self.model.name} has a feasible point, so no rows of it contradict each other."
                )
            try:
                if self.relaxed:
                    self._keep_multiplied()
                self._delete()
            except _OutOfTime as stopped:
                limit = stopped.limit
        else:
            self.kept[:] = False
            self.kept[list(single)] = True
            self.points, self.relaxed, self.exact = {}, True, True
        return self._subset(limit, needed_all=single is not None)

    # -- programs ----------------------------------------------------------------------------------

    def _single(self) -> tuple[int, ...] | None:
        """A row without variables that cannot hold, or no row if bounds of a variable cross."""
        model = self.model
        low, up = model.row_lower, model.row_upper
        if len(wrong := np.flatnonzero(low > up)):
            return (int(wrong[0]),)
        empty = (np.diff(model.A.indptr) == 0) & ((low > 0) | (up < 0))
        if empty.any():
            return (int(np.flatnonzero(empty)[0]),)
        alone = replace(model, A=model.A[:0], row_lower=low[:0], row_upper=up[:0])
        return () if alone.contradiction() is not None else None

    def _part(self, rows: np.ndarray) -> MatrixModel:
        """The model with some of its rows."""
        model = self.model
        return replace(
            model,
            A=sparse.csr_matrix(model.A[rows]),
            row_lower=model.row_lower[rows],
            row_upper=model.row_upper[rows],
        )

    def _solve(self, model: MatrixModel, relax: bool) -> Answer:
        left = self.limits.after(self.clock.seconds)
        if left.time is not None and left.time < 1e-3:
            raise _OutOfTime(Limit.TIME)
        self.solves += 1
        answer = run(self.solver, Job(model, left, relax=relax))
        if answer.status is Status.ERROR:
            raise SolverFailure(f"{self.solver} failed: {answer.message}")
        if answer.limit is not None and answer.x is None:
            raise _OutOfTime(answer.limit)
        return answer

    def _point(self, rows: np.ndarray) -> np.ndarray | None:
        """A point that satisfies some rows, checked on them; None if there is none."""
        model = self._part(rows)
        answer = self._solve(model, self.relaxed)
        if answer.status is Status.INFEASIBLE:
            return None
        if answer.x is None:
            raise SolverFailure(f"{self.solver} ended without a point: {answer.message}")
        checked = model.relaxed() if self.relaxed else model
        x = checked.rounded(answer.x)
        if violation(checked, x) > VIOLATED:
            x = answer.x
        if violation(checked, x) > VIOLATED:
            raise SolverFailure(
                f"{self.solver} returned a point that violates the rows it was given."
            )
        return x

    def _infeasible_at_all(self) -> bool:
        """Whether the model has no point; `relaxed` then says whether its relaxation has none."""
        try:
            self.relaxed = True
            if self._point(self.kept) is None:
                return True
            self.relaxed = False
            return bool(self.model.integer.any()) and self._point(self.kept) is None
        except _OutOfTime as stopped:
            raise SolverFailure(
                f"{self.solver} did not find out within the {stopped.limit.value} limit whether the model has a feasible point; raise time_limit."
            ) from None

    # -- rows of the relaxation ----------------------------------------------------------------------

    def _keep_multiplied(self) -> None:
        """Keep the rows with a multiplier in a proof that the relaxation has no point."""
        y = self._multipliers(np.flatnonzero(self.kept))
        if y is None:
            return
        support = np.flatnonzero(y)
        if len(support) and self._contradict(support):
            self.kept &= ~self.free
            self.kept[support] = True

    def _contradict(self, rows: np.ndarray) -> bool:
        kept = ~self.free
        kept[rows] = True
        return self._point(kept) is None

    def _multipliers(self, rows: np.ndarray) -> np.ndarray | None:
        """Duals of the program of the least sum of violations, shape (number of rows,).

        None if the solver gives no duals.
        """
        part = self._part(rows)
        eye = sparse.identity(len(rows), format="csr")
        n, m = part.n_variables, len(rows)
        elastic = replace(
            part,
            c=np.concatenate([np.zeros(n), np.ones(2 * m)]),
            A=sparse.csr_matrix(sparse.hstack([part.A, eye, -eye], format="csr")),
            lower=np.concatenate([part.lower, np.zeros(2 * m)]),
            upper=np.concatenate([part.upper, np.full(2 * m, INFINITY)]),
            integer=np.zeros(n + 2 * m, dtype=bool),
        )
        answer = self._solve(elastic, relax=True)
        if answer.duals is None or answer.status is not Status.OPTIMAL:
            return None
        y = np.zeros(self.model.n_rows)
        y[rows] = np.where(np.abs(answer.duals) > 1e-9, answer.duals, 0.0)
        return y

    # -- the filter ----------------------------------------------------------------------------------

    def _delete(self) -> None:
        """Remove rows while the rest has no point, until every row that is left is needed."""
        for block in self._blocks():
            inside = np.array([label == block for label in self.labels]) & self.kept & self.free
            if 1 < inside.sum() < self.kept.sum():
                self._try(np.flatnonzero(inside))
        order = [
            i
            for block in self._blocks()
            for i in range(self.model.n_rows)
            if self.kept[i] and self.free[i] and self.labels[i] == block
        ]
        size = 1 if self.relaxed else max(1, len(order) // 8)
        at = 0
        while at < len(order):
            i = order[at]
            if not self.kept[i] or i in self.points:
                at += 1
                continue
            part = [j for j in order[at : at + size] if self.kept[j] and j not in self.points]
            if self._try(np.array(part)):
                size = min(2 * size, len(order))
            elif len(part) > 1:
                size = max(1, len(part) // 2)

    def _blocks(self) -> Sequence[str]:
        """Names of the blocks of rows in the order in which they are tried: large ones first."""
        sizes: dict[str, int] = {}
        for i in np.flatnonzero(self.kept & self.free).tolist():
            sizes[self.labels[i]] = sizes.get(self.labels[i], 0) + 1
        return sorted(sizes, key=lambda block: (-sizes[block], block))

    def _try(self, rows: np.ndarray) -> bool:
        """Remove rows if the rest has no point; whether they were removed.

        A row is marked as needed if the rest has a point that violates no other row.
        """
        rest = self.kept.copy()
        rest[rows] = False
        point = self._point(rest)
        if point is None:
            self.kept = rest
            return True
        kept = np.flatnonzero(self.kept)
        wrong = kept[self._violations(kept, point) > VIOLATED]
        if not len(wrong):
            raise SolverFailure(
                f"{self.solver} calls rows infeasible, and then returns a point that satisfies them all."
            )
        if len(wrong) == 1 and self.free[wrong[0]]:
            self.points[int(wrong[0])] = point
        elif len(rows) == 1:
            raise SolverFailure(f"{self.solver} returned a point that violates rows it was given.")
        return False

    def _violations(self, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        """How far a point is from satisfying each of some rows."""
        total = self.model.A[rows] @ x
        low, up = self.model.row_lower[rows], self.model.row_upper[rows]
        found: np.ndarray = np.maximum(np.maximum(low - total, total - up), 0.0)
        return found

    # -- the answer ----------------------------------------------------------------------------------

    def _subset(self, limit: Limit | None, needed_all: bool) -> Subset:
        all_rows, rows = np.flatnonzero(self.kept), np.flatnonzero(self.kept & self.free)
        needed = frozenset(rows.tolist()) if needed_all else self._needed(all_rows)
        if self.relaxed and not self.exact and limit is None:
            self.exact = self._proven(all_rows)
        return Subset(
            tuple(rows.tolist()),
            self.relaxed,
            needed,
            limit,
            self.solver,
            self.exact,
            self.solves,
            self.clock.seconds,
        )

    def _needed(self, rows: np.ndarray) -> frozenset[int]:
        """The rows whose points satisfy all others; each point is checked again on the subset."""
        return frozenset(
            i
            for i in rows[self.free[rows]].tolist()
            if i in self.points
            and self._violations(rows[rows != i], self.points[i]).max(initial=0.0) <= VIOLATED
        )

    def _proven(self, rows: np.ndarray) -> bool:
        """Whether multipliers prove in rational numbers that the rows contradict each other."""
        try:
            y = self._multipliers(rows)
        except (_OutOfTime, SolverFailure):
            return False
        if y is None:
            return False
        return any(
            farkas(self.model, [Fraction(v).limit_denominator(largest) for v in y.tolist()])
            for largest in DENOMINATORS
        )


__all__ = ["Subset", "irreducible_rows"]
