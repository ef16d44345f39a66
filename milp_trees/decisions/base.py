r"""`DecisionSet`: a bounded, non-empty set S of decision vectors with an oracle for :math:`z^*(c)=\min_{w\in S}c^\top w`.

Calls are batched: whoever searches asks for many cost vectors at once, equal ones are answered once, and every call that reached the oracle is
counted. References: Elmachtoub, Grigas (2022), *Smart "predict, then optimize"*; Elmachtoub, Liang, McNellis (2020), *Decision trees for
decision-making under the predict-then-optimize framework*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from milp_trees.errors import DataError, SolverFailure

#: Sets with more vertices than this are not listed unless asked to.
LISTED = 1000
#: Cost vectors whose answers are remembered.
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
    lower, upper : float arrays of shape (v,)
    integer : bool array of shape (v,)
    names : tuple of str, length v
    """

    A: sparse.csr_matrix
    row_lower: np.ndarray
    row_upper: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    integer: np.ndarray
    names: tuple[str, ...]


class DecisionSet(ABC):
    """Base of all decision sets.

    A subclass gives `components` (names of the d entries of a decision), `_solve` for distinct cost vectors, and what it can of `vertices` and
    `program`. Ties are broken by the subclass in the same way every time.
    """

    #: Names of the entries of a decision.
    components: tuple[str, ...]

    def __init__(self, components: Sequence[str]) -> None:
        self.components = tuple(map(str, components))
        if len(set(self.components)) != len(self.components):
            raise DataError("Two components of a decision have the same name; rename one.")
        if any("+" in c or "=" in c for c in self.components):
            raise DataError("Names of components must not contain '+' or '=': labels of decisions are written with them.")
        #: Cost vectors that reached the oracle so far, and those that were answered from memory.
        self.calls = 0
        self.remembered = 0
        self._memory: OrderedDict[bytes, tuple[np.ndarray, float]] = OrderedDict()

    @property
    def dimension(self) -> int:
        return len(self.components)

    # -- what a subclass writes ------------------------------------------------------------------------------

    @abstractmethod
    def _solve(self, costs: np.ndarray) -> Decided:
        """Cheapest decisions for finite cost vectors of shape (m, d), m >= 1."""

    def vertices(self, limit: int = LISTED) -> np.ndarray | None:
        """All vertices of S (of its convex hull), shape (K, d), in a fixed order; None if there are more than `limit` or they cannot be listed."""
        return None

    def program(self) -> LinearSet | None:
        """S as a linear program; None if it is known by its oracle only."""
        return None

    def contains(self, decision: np.ndarray, tolerance: float = 1e-6) -> bool:
        """Whether a vector is in (the convex hull of) S, as far as its program says: a set known by its oracle only does not object."""
        program = self.program()
        if program is None or len(program.names) != self.dimension:
            return True
        activity = program.A @ decision
        parts = [program.row_lower - activity, activity - program.row_upper, program.lower - decision, decision - program.upper]
        return max((float(p.max()) for p in parts if len(p)), default=0.0) <= tolerance

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """JSON description (name of the kind and its data)."""

    # -- asking ----------------------------------------------------------------------------------------------

    def solve(self, costs: Any) -> Decided:
        """Cheapest decisions for cost vectors.

        Parameters
        ----------
        costs : float array of shape (m, d)

        Raises
        ------
        DataError
            Another number of costs than the decision has entries; NaN or infinity.
        SolverFailure
            The oracle failed, or its answer is not a decision; S may be empty or unbounded.
        """
        C = self.checked(costs)
        if not len(C):
            return Decided(np.zeros((0, self.dimension)), np.zeros(0))
        distinct, where = np.unique(C, axis=0, return_inverse=True)
        where = where.ravel()
        decisions = np.empty((len(distinct), self.dimension))
        values = np.empty(len(distinct))
        keys = [row.tobytes() for row in distinct]
        new = []
        for j, key in enumerate(keys):
            known = self._memory.get(key)
            if known is None:
                new.append(j)
            else:
                decisions[j], values[j] = known
        if new:
            answer = self._solve(distinct[new])
            self.calls += len(new)
            self._check_answer(distinct[new], answer)
            decisions[new], values[new] = answer
            for j in new:
                self._memory[keys[j]] = (decisions[j].copy(), float(values[j]))
            while len(self._memory) > REMEMBERED:
                self._memory.popitem(last=False)
        self.remembered += len(distinct) - len(new)
        return Decided(decisions[where], values[where])

    def checked(self, costs: Any) -> np.ndarray:
        """Cost vectors as an array of shape (m, d), checked."""
        C = np.ascontiguousarray(costs, dtype=float)
        if C.ndim != 2 or C.shape[1] != self.dimension:
            raise DataError(f"The decision has {self.dimension} entries ({_some(self.components)}); the costs have shape {C.shape}.")
        if not np.isfinite(C).all():
            i, j = np.argwhere(~np.isfinite(C))[0]
            raise DataError(f"The cost of {self.components[j]!r} in row {i} is {C[i, j]}; every cost must be a finite number.")
        return C + 0.0  # no negative zeros: equal vectors have equal bytes

    def _check_answer(self, costs: np.ndarray, answer: Decided) -> None:
        shape = (len(costs), self.dimension)
        if answer.decisions.shape != shape or answer.values.shape != shape[:1]:
            raise SolverFailure(f"The oracle answered {answer.decisions.shape} decisions to {len(costs)} cost vectors of length {self.dimension}.")
        if not np.isfinite(answer.decisions).all() or not np.isfinite(answer.values).all():
            raise SolverFailure("The oracle answered NaN or infinity: the set of decisions is empty or unbounded for some costs.")

    def value(self, costs: Any) -> np.ndarray:
        """z*(c) of every cost vector, shape (m,)."""
        return self.solve(costs).values

    # -- labels ----------------------------------------------------------------------------------------------

    def label(self, decision: np.ndarray) -> str:
        """A decision as text: the components that are 1, joined by `+`; others with their value; `nothing` for zeros."""
        parts = []
        for name, v in zip(self.components, decision.tolist(), strict=True):
            whole = round(v)
            if abs(v - whole) < 1e-9:
                v = whole
            if v:
                parts.append(name if v == 1 else f"{name}={v!r}")
        return "+".join(parts) or "nothing"

    def vector(self, label: str) -> np.ndarray:
        """The decision that a label stands for, shape (d,)."""
        out = np.zeros(self.dimension)
        place = {name: k for k, name in enumerate(self.components)}
        for part in [] if label == "nothing" else label.split("+"):
            name, equals, v = part.partition("=")
            if name not in place:
                raise DataError(f"{label!r} is no decision of this set: it has no component {name!r}.")
            out[place[name]] = float(v) if equals else 1.0
        return out

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: what is remembered stays behind."""
        return {**self.__dict__, "_memory": OrderedDict()}


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
