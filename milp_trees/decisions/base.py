r"""`DecisionSet`: a bounded, non-empty set S of decision vectors with an oracle.

The oracle computes :math:`z^*(c)=\min_{w\in S}c^\top w`. Calls are batched: a search gives many
cost vectors at once, equal ones are computed once, and every vector that reached the oracle is
counted. References: Elmachtoub, Grigas (2022), *Smart "predict, then optimize"*; Elmachtoub, Liang,
McNellis (2020), *Decision trees for decision-making under the predict-then-optimize framework*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from milp_trees.common.errors import DataError, SolverFailure
from milp_trees.data.names import columns_over

if TYPE_CHECKING:
    from scipy import sparse

#: Sets with more vertices than this are listed only on request.
LISTED = 1000
#: Number of cost vectors whose answers are stored.
REMEMBERED = 200_000


class Decided(NamedTuple):
    """Answers of an oracle.

    Parameters
    ----------
    decisions : float array of shape (m, d)
        A cheapest decision for each cost vector.
    values : float array of shape (m,)
        Its cost.
    """

    decisions: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class LinearSet:
    """S as the projection of a (mixed-integer) linear program: w is the first d of its variables.

    Parameters
    ----------
    A : csr_matrix of shape (m, v)
        Rows `row_lower <= A x <= row_upper`.
    row_lower, row_upper : float arrays of shape (m,)
        Bounds of the rows, which may be infinite.
    lower, upper : float arrays of shape (v,)
        Bounds of the variables, which may be infinite.
    integer : bool array of shape (v,)
        Which variables are integer.
    names : tuple of str, length v
        Names of the variables.
    """

    A: sparse.csr_matrix
    row_lower: np.ndarray
    row_upper: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    integer: np.ndarray
    names: tuple[str, ...]


class Failure(Enum):
    """Why a linear program has no optimum."""

    EMPTY = "empty"
    UNBOUNDED = "unbounded"


class RowFailure(Exception):
    """Raised by `_solve` if the oracle failed on one cost vector.

    `solve` turns it into a sentence that names the row of its caller.

    Parameters
    ----------
    row : int
        Position in the costs that `_solve` was given.
    reason : str
        End of the sentence "The oracle failed on row 3 of the costs: …".
    """

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(reason)
        self.row, self.reason = row, reason


@contextmanager
def _row_named(rows: Sequence[int] | np.ndarray) -> Iterator[None]:
    """Turns a `RowFailure` into an error that names the caller's row."""
    try:
        yield
    except RowFailure as failure:
        raise SolverFailure(
            f"The oracle failed on row {rows[failure.row]} of the costs: {failure.reason}"
        ) from failure.__cause__


class DecisionSet(ABC):
    """Base class of all decision sets.

    A subclass has `components` (names of the d entries of a decision), `_solve` for distinct cost
    vectors, and `vertices` and `program` where they are possible. The subclass always breaks ties
    in the same way: the answer depends on the cost vector alone.

    Attributes
    ----------
    components : tuple of str
        Names of the d entries of a decision.
    calls : int
        Number of cost vectors that have reached the oracle.
    remembered : int
        Number of distinct cost vectors whose answer was taken from memory, summed over all calls.
    """

    #: Names of the entries of a decision.
    components: tuple[str, ...]
    #: Whether answers are stored; False where the oracle is faster than a look-up.
    cache_answers: bool = True

    def __init__(self, components: Sequence[str]) -> None:
        self.components = tuple(map(str, components))
        if not self.components:
            raise DataError("A decision needs at least one component.")
        if len(set(self.components)) != len(self.components):
            raise DataError("Two components of a decision have the same name; rename one.")
        if any("+" in c or "=" in c for c in self.components):
            raise DataError(
                "Names of components must not contain '+' or '=': labels of decisions are written with them."
            )
        self.calls = 0
        self.remembered = 0
        self._memory: OrderedDict[bytes, tuple[np.ndarray, float]] = OrderedDict()

    @property
    def dimension(self) -> int:
        return len(self.components)

    # -- what a subclass writes --------------------------------------------------------------------

    @abstractmethod
    def _solve(self, costs: np.ndarray) -> Decided:
        """Cheapest decisions for finite cost vectors of shape (m, d), m >= 1."""

    def vertices(self, limit: int = LISTED) -> np.ndarray | None:
        """All vertices of (the convex hull of) S, shape (K, d), in a fixed order.

        None if there are more than `limit` or they cannot be listed.
        """
        return None

    def program(self) -> LinearSet | None:
        """S as a linear program; None if it is given by its oracle only."""
        return None

    def contains(self, decision: np.ndarray, tolerance: float = 1e-6) -> bool:
        """Whether a vector is in (the convex hull of) S, according to the linear program of S.

        A set that is given by its oracle only always answers True.
        """
        program = self.program()
        if program is None or len(program.names) != self.dimension:
            return True
        activity = program.A @ decision
        parts = [
            program.row_lower - activity,
            activity - program.row_upper,
            program.lower - decision,
            decision - program.upper,
        ]
        return max((float(p.max()) for p in parts if len(p)), default=0.0) <= tolerance

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """JSON description (name of the kind and its data); `decisions_from_spec` reads it."""

    def _values(self, costs: np.ndarray) -> np.ndarray:
        """z*(c) for finite cost vectors of shape (m, d), for sets that store no answers.

        A subclass may compute this faster than `_solve`, because no decision is needed.
        """
        return self._solve(costs).values

    # -- questions ---------------------------------------------------------------------------------

    def solve(self, costs: Any) -> Decided:
        """Cheapest decisions for cost vectors.

        Parameters
        ----------
        costs : float array of shape (m, d)
            One cost vector per row.

        Raises
        ------
        DataError
            The number of costs is not that of the entries of a decision, or a cost is NaN or
            infinite.
        SolverFailure
            The oracle failed, or its answer is not a decision; S may be empty or unbounded.
        """
        C = self.checked(costs)
        if not len(C):
            return Decided(np.zeros((0, self.dimension)), np.zeros(0))
        if not self.cache_answers:
            return self._ask(C, np.arange(len(C)))
        distinct, first, where = np.unique(C, axis=0, return_index=True, return_inverse=True)
        decisions, values = np.empty((len(distinct), self.dimension)), np.empty(len(distinct))
        keys = [row.tobytes() for row in distinct]
        new = []
        for j, key in enumerate(keys):
            known = self._memory.get(key)
            if known is None:
                new.append(j)
            else:
                decisions[j], values[j] = known
        if new:
            decisions[new], values[new] = self._ask(distinct[new], first[new])
            for j in new:
                self._memory[keys[j]] = (decisions[j].copy(), float(values[j]))
            while len(self._memory) > REMEMBERED:
                self._memory.popitem(last=False)
        self.remembered += len(distinct) - len(new)
        where = where.ravel()
        return Decided(decisions[where], values[where])

    def _ask(self, costs: np.ndarray, rows: np.ndarray) -> Decided:
        """The oracle's checked answer; `rows` are the caller's row numbers, for error messages."""
        with _row_named(rows):
            answer = self._solve(costs)
        self._check_answer(costs, answer)
        self.calls += len(costs)
        return answer

    def in_order(self, costs: Any, what: str = "the table of costs") -> Any:
        """Costs whose columns stand in the order of the components.

        Columns of a DataFrame are matched by their names. If the components have none but their
        numbers (`w0`, `w1`, …), columns of other names are used as they stand.

        Parameters
        ----------
        costs : array or DataFrame of shape (m, d)
        what : str
            What the table is, for errors.

        Raises
        ------
        DataError
            A component has no column, or a column is no component.
        """
        return columns_over(costs, self.components, what, "components of a decision")

    def checked(self, costs: Any) -> np.ndarray:
        """Cost vectors as an array of shape (m, d), checked."""
        costs = self.in_order(costs)
        try:
            C = np.ascontiguousarray(costs, dtype=float)
        except (TypeError, ValueError) as error:
            raise DataError(
                "The costs must be an array of numbers with one row per cost vector."
            ) from error
        if C.ndim != 2 or C.shape[1] != self.dimension:
            raise DataError(
                f"The decision has {self.dimension} entries ({_some(self.components)}); the costs have shape {C.shape}."
            )
        if not np.isfinite(C).all():
            i, j = np.argwhere(~np.isfinite(C))[0]
            raise DataError(
                f"The cost of {self.components[j]!r} in row {i} is {C[i, j]}; every cost must be a finite number."
            )
        return C + 0.0  # without negative zeros, so that equal vectors have equal bytes

    def _check_answer(self, costs: np.ndarray, answer: Decided) -> None:
        shape = (len(costs), self.dimension)
        if answer.decisions.shape != shape or answer.values.shape != shape[:1]:
            raise SolverFailure(
                f"The oracle answered {answer.decisions.shape} decisions to {len(costs)} cost vectors of length {self.dimension}."
            )
        if not np.isfinite(answer.decisions).all() or not np.isfinite(answer.values).all():
            raise SolverFailure(
                "The oracle answered NaN or infinity: the set of decisions is empty or unbounded for some costs."
            )

    def value(self, costs: Any) -> np.ndarray:
        """z*(c) of every cost vector, shape (m,); raises the same errors as `solve`."""
        if self.cache_answers:
            return self.solve(costs).values
        C = self.checked(costs)
        with _row_named(range(len(C))):
            values = self._values(C)
        self.calls += len(C)
        return values

    def highest(self, costs: Any) -> np.ndarray:
        """An upper bound on c·w over S for every cost vector, shape (m,).

        It is the largest c·w itself, -z*(-c), unless a subclass overrides it.
        """
        return -self.value(-self.checked(costs))

    # -- labels ------------------------------------------------------------------------------------

    def label(self, decision: np.ndarray) -> str:
        """A decision as text: the components that are 1, joined by `+`.

        Other nonzero components have their value; the zero vector is `nothing`.
        """
        parts = []
        for name, v in zip(self.components, decision.tolist(), strict=True):
            whole = round(v)
            if abs(v - whole) < 1e-9:
                v = whole
            if v:
                parts.append(name if v == 1 else f"{name}={v!r}")
        return "+".join(parts) or "nothing"

    def vector(self, label: str) -> np.ndarray:
        """The decision that a label describes, shape (d,)."""
        out = np.zeros(self.dimension)
        place = {name: k for k, name in enumerate(self.components)}
        for part in [] if label == "nothing" else label.split("+"):
            name, equals, v = part.partition("=")
            if name not in place:
                raise DataError(
                    f"{label!r} is no decision of this set: it has no component {name!r}."
                )
            try:
                out[place[name]] = float(v) if equals else 1.0
            except ValueError as error:
                raise DataError(
                    f"{label!r} is no decision of this set: {v!r} is no number."
                ) from error
        return out

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle, without the stored answers."""
        return {**self.__dict__, "_memory": OrderedDict()}


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
