"""Listed decisions: an explicit list, and the unit simplex ("the cheapest of d")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from milp_trees.common.errors import DataError
from milp_trees.data.names import labelled
from milp_trees.decisions.base import LISTED, Decided, DecisionSet, LinearSet


class ListedDecisions(DecisionSet):
    """S as a list of decisions (its convex hull has the same optima).

    Of equally cheap decisions the first of the list is chosen.

    Parameters
    ----------
    vertices : float array or DataFrame of shape (K, d)
        One decision per row; no two are equal.
    components : sequence of str, optional
        Names of the entries; by default the columns of a DataFrame, or else `w0`, `w1`, ….

    Raises
    ------
    DataError
        The list is empty, is not a table of finite numbers, or holds a decision twice.

    Examples
    --------
    >>> S = ListedDecisions([[1, 0], [0, 1]], components=["left", "right"])
    >>> S.label(S.solve([[5.0, 3.0]]).decisions[0])
    'right'
    """

    cache_answers = False

    def __init__(self, vertices: Any, components: Sequence[str] | None = None) -> None:
        vertices, components = labelled(vertices, components, "the list of decisions", "components")
        try:
            listed = np.array(vertices, dtype=float, order="C") + 0.0
        except (TypeError, ValueError) as error:
            raise DataError(
                "The list of decisions must be a table of numbers, one decision per row."
            ) from error
        if listed.ndim != 2 or not listed.size:
            raise DataError(
                f"The list of decisions must be a table with at least one row and one column; it has shape {listed.shape}."
            )
        if not np.isfinite(listed).all():
            raise DataError(
                f"Decision {np.argwhere(~np.isfinite(listed))[0, 0]} of the list holds NaN or infinity; a set of decisions is bounded."
            )
        if len(np.unique(listed, axis=0)) < len(listed):
            raise DataError(
                "The list of decisions holds the same decision twice; list each one once."
            )
        super().__init__(named(components, listed.shape[1]))
        self._listed = listed
        self._listed.setflags(write=False)

    def _solve(self, costs: np.ndarray) -> Decided:
        from milp_trees.decisions._kernels import cheapest_listed

        index, values = cheapest_listed(costs, self._listed)
        return Decided(self._listed[index], values)

    def _values(self, costs: np.ndarray) -> np.ndarray:
        from milp_trees.decisions._kernels import cheapest_listed

        values: np.ndarray = cheapest_listed(costs, self._listed)[1]
        return values

    def vertices(self, limit: int = LISTED) -> np.ndarray | None:
        """The list itself, in its own order; None if it is longer than `limit`.

        Decisions inside the convex hull are not removed, because listing them does no harm.
        """
        return self._listed.copy() if len(self._listed) <= limit else None

    def program(self) -> LinearSet:
        """Convex hull: w = Σ λ_k w^k, Σ λ_k = 1, λ >= 0."""
        K, d = self._listed.shape
        combination = sparse.hstack([sparse.identity(d), -sparse.csr_matrix(self._listed.T)])
        total = sparse.hstack([sparse.csr_matrix((1, d)), sparse.csr_matrix(np.ones((1, K)))])
        right = np.append(np.zeros(d), 1.0)
        low, up = (
            np.append(self._listed.min(axis=0), np.zeros(K)),
            np.append(self._listed.max(axis=0), np.ones(K)),
        )
        names = (*self.components, *(f"share[{k}]" for k in range(K)))
        A = sparse.csr_matrix(sparse.vstack([combination, total], format="csr"))
        return LinearSet(A, right, right.copy(), low, up, np.zeros(d + K, bool), names)

    def spec(self) -> dict[str, Any]:
        return {
            "kind": "listed",
            "vertices": self._listed.tolist(),
            "components": list(self.components),
        }


class UnitSimplex(DecisionSet):
    """The cheapest of d: w >= 0, Σ w = 1.

    The vertices are the d unit vectors; of equally cheap ones the first is chosen.

    Parameters
    ----------
    components : int or sequence of str
        d, or the names of the alternatives.
    """

    cache_answers = False

    def __init__(self, components: int | Sequence[str]) -> None:
        super().__init__(
            named(None, components) if isinstance(components, (int, np.integer)) else components
        )

    def _solve(self, costs: np.ndarray) -> Decided:
        at = costs.argmin(axis=1)
        rows = np.arange(len(costs))
        decisions = np.zeros_like(costs)
        decisions[rows, at] = 1.0
        return Decided(decisions, costs[rows, at])

    def _values(self, costs: np.ndarray) -> np.ndarray:
        return costs.min(axis=1)

    def vertices(self, limit: int = LISTED) -> np.ndarray | None:
        return np.eye(self.dimension) if self.dimension <= limit else None

    def program(self) -> LinearSet:
        d = self.dimension
        one = np.ones(1)
        return LinearSet(
            sparse.csr_matrix(np.ones((1, d))),
            one,
            one.copy(),
            np.zeros(d),
            np.ones(d),
            np.zeros(d, bool),
            self.components,
        )

    def spec(self) -> dict[str, Any]:
        return {"kind": "simplex", "components": list(self.components)}


def named(components: Sequence[str] | None, d: int | np.integer) -> Sequence[str]:
    """The given names of d entries, or `w0`, `w1`, …"""
    if components is None:
        return [f"w{k}" for k in range(d)]
    if isinstance(components, str) or len(components) != d:
        raise DataError(f"A decision has {d} entries here; give a list of {d} names, or none.")
    return components
