"""`Oracle`: S is given only by a function that finds a cheapest decision."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from milp_trees.common.compiling import interruptible
from milp_trees.common.errors import DataError, SolverFailure
from milp_trees.decisions.base import LISTED, Decided, DecisionSet, RowFailure
from milp_trees.decisions.listed import ListedDecisions

#: Tolerance for the value of an oracle against c·w, relative to the size of the numbers.
AGREES = 1e-6


class Oracle(DecisionSet):
    """S as a function from costs to a cheapest decision.

    The constructor calls the function once, with all costs 1, so that an empty set or an answer of
    the wrong length is found before any training. Whether S is bounded in every direction cannot be
    checked in advance; an answer that is not finite raises an error when it occurs.

    Parameters
    ----------
    function : callable
        `function(c)` with c of shape (d,) returns w of shape (d,), or (w, value). Equal costs must
        give equal answers.
    components : int or sequence of str
        d, or the names of the entries.
    batch : bool, default=False
        Whether the function takes costs of shape (m, d) and returns decisions of shape (m, d), or
        (decisions, values).
    vertices : array of shape (K, d), optional
        All vertices, if they are known.

    Raises
    ------
    SolverFailure
        Raised by `solve`: the function raised an error (the sentence names the row), or its answer
        has the wrong length, is not finite or does not have the cost that it reports. No answer of
        that batch is stored.
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        components: int | Sequence[str],
        batch: bool = False,
        vertices: Any = None,
    ) -> None:
        if not callable(function):
            raise DataError(
                f"The oracle must be a function of the costs; a {type(function).__name__} was given."
            )
        if isinstance(components, (int, np.integer)):
            components = [f"w{k}" for k in range(components)]
        super().__init__(components)
        self._function, self._batch = function, batch
        #: Functions may share a name, so two oracles are the same set only if they are the same
        #: object.
        self._token = uuid.uuid4().hex
        #: The list, with the checks of every list of decisions.
        self._listed = None if vertices is None else ListedDecisions(vertices, self.components)
        self.solve(np.ones((1, self.dimension)))

    def _solve(self, costs: np.ndarray) -> Decided:
        if self._batch:
            try:
                with interruptible():
                    answer = self._function(costs.copy())
                return self._understood(costs, answer, 2)
            except Exception as error:
                raise SolverFailure(
                    f"The oracle failed on a batch of {len(costs)} cost vectors: {_said(error)}"
                ) from error
        decisions = np.empty_like(costs)
        for i, c in enumerate(costs):
            try:
                with interruptible():
                    answer = self._function(c.copy())
                decisions[i] = self._understood(c[None, :], answer, 1).decisions[0]
            except Exception as error:
                raise RowFailure(i, _said(error)) from error
        return Decided(decisions, (costs * decisions).sum(axis=1))

    def _understood(self, costs: np.ndarray, answer: Any, ndim: int) -> Decided:
        """The answer w or (w, value), checked; `ndim` is 2 for a batch."""
        value = None
        if isinstance(answer, tuple) and len(answer) == 2 and np.ndim(answer[0]) == ndim:
            answer, value = answer
        try:
            w = np.array(answer, dtype=float) + 0.0
        except (TypeError, ValueError) as error:
            raise _WrongAnswer(
                f"it answered a {type(answer).__name__} that is no array of numbers."
            ) from error
        shape = costs.shape if ndim == 2 else costs.shape[1:]
        if w.shape != shape:
            raise _WrongAnswer(
                f"it answered an array of shape {w.shape} where decisions have shape {shape}."
            )
        if not np.isfinite(w).all():
            raise _WrongAnswer(
                "it answered NaN or infinity; the set of decisions is empty or unbounded for these costs."
            )
        w = w.reshape(costs.shape)
        values = (costs * w).sum(axis=1)
        if value is not None:
            stated = np.atleast_1d(np.asarray(value, dtype=float))
            if (
                stated.shape != values.shape
                or not (
                    np.abs(stated - values) <= AGREES * (1.0 + np.abs(costs * w).sum(axis=1))
                ).all()
            ):
                raise _WrongAnswer("the value it answered is not what its decision costs (c·w).")
        return Decided(w, values)

    def vertices(self, limit: int = LISTED) -> np.ndarray | None:
        return None if self._listed is None else self._listed.vertices(limit)

    def spec(self) -> dict[str, Any]:
        """The name of the function and a token of this object.

        `decisions_from_spec` cannot restore the set from it.
        """
        name = getattr(self._function, "__qualname__", type(self._function).__name__)
        return {
            "kind": "oracle",
            "function": name,
            "components": list(self.components),
            "batch": self._batch,
            "object": self._token,
        }


class _WrongAnswer(Exception):
    """The function returned something that is no decision.

    The message ends the sentence "The oracle failed on row 3 of the costs: …".
    """


def _said(error: Exception) -> str:
    if isinstance(error, _WrongAnswer):
        return str(error)
    return (
        f"it raised {type(error).__name__}: {error}"
        if str(error)
        else f"it raised {type(error).__name__}."
    )
