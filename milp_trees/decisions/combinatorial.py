"""Well-known sets: shares with linear constraints, perfect matchings, knapsacks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from milp_trees.common.errors import DataError
from milp_trees.data.names import labelled
from milp_trees.decisions.base import LISTED, Decided, DecisionSet, LinearSet
from milp_trees.decisions.linear import INFINITY, LinearDecisions
from milp_trees.decisions.listed import UnitSimplex, named
from milp_trees.decisions.listing import list_vertices

#: The table of the knapsack's dynamic programme has at most this many entries; a larger problem is
#: solved by HiGHS.
TABLE = 5_000_000


def simplex_decisions(
    components: int | Sequence[str], at_most: tuple[Any, Any] | None = None
) -> DecisionSet:
    """Shares w >= 0, Σ w = 1; without further rows this is the choice of the cheapest of d.

    With rows A w <= b the best choice may have to mix alternatives.

    Parameters
    ----------
    components : int or sequence of str
        d, or the names of the alternatives.
    at_most : (array of shape (m, d), array of shape (m,)), optional
        (A, b), as in the news recommendation problem of Elmachtoub, Liang, McNellis (2020).
    """
    if isinstance(components, str) or not isinstance(components, (int, np.integer, Sequence)):
        raise DataError(
            f"Give a whole number of alternatives, or a list of their names; got {components!r}."
        )
    if at_most is None:
        return UnitSimplex(components)
    names = list(
        named(None, components) if isinstance(components, (int, np.integer)) else components
    )
    return LinearDecisions.from_arrays(
        at_most=at_most, equal=(np.ones((1, len(names))), [1.0]), upper=1.0, components=names
    )


class Assignment(DecisionSet):
    """Perfect matchings of k workers and k tasks.

    Component `i:j` is 1 if worker i does task j; costs are a k × k matrix, row by row.

    Parameters
    ----------
    k : int
        Number of workers, and of tasks.
    """

    def __init__(self, k: int) -> None:
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise DataError(
                f"An assignment needs a whole number of workers and tasks, at least one; k = {k!r} was given."
            )
        self.k = int(k)
        super().__init__([f"{i}:{j}" for i in range(k) for j in range(k)])

    def _solve(self, costs: np.ndarray) -> Decided:
        k = self.k
        decisions = np.zeros_like(costs)
        for w, c in zip(decisions, costs, strict=True):
            rows, columns = linear_sum_assignment(c.reshape(k, k))
            w[rows * k + columns] = 1.0
        return Decided(decisions, (costs * decisions).sum(axis=1))

    @property
    def n_vertices(self) -> int:
        return factorial(self.k)

    def vertices(self, limit: int = LISTED) -> np.ndarray | None:
        if self.n_vertices > limit:
            return None
        return np.array(
            [np.eye(self.k)[list(order)].ravel() for order in permutations(range(self.k))]
        )

    def program(self) -> LinearSet:
        k = self.k
        A = sparse.csr_matrix(
            sparse.vstack(
                [
                    sparse.kron(sparse.identity(k), np.ones((1, k))),
                    sparse.kron(np.ones((1, k)), sparse.identity(k)),
                ]
            )
        )
        ones = np.ones(2 * k)
        return LinearSet(
            A,
            ones,
            ones.copy(),
            np.zeros(k * k),
            np.ones(k * k),
            np.zeros(k * k, bool),
            self.components,
        )

    def spec(self) -> dict[str, Any]:
        return {"kind": "assignment", "k": self.k}


def assignment_decisions(k: int) -> Assignment:
    """Perfect matchings of k workers and k tasks; see `Assignment`."""
    return Assignment(k)


class Knapsack(DecisionSet):
    """Sets of items that fit into one knapsack with integer weights.

    Costs are minimised, so an item of value v has the cost -v. A dynamic programme over the
    capacity finds the optimum; an item that does not reduce the cost is left out.

    Parameters
    ----------
    weights : int array of shape (d,)
        Weights of the items.
    capacity : int
        Largest sum of weights.
    components : sequence of str, optional
        Names of the items, `w0`, `w1`, … by default.
    """

    def __init__(
        self, weights: Sequence[int], capacity: int, components: Sequence[str] | None = None
    ) -> None:
        self.weights, self.capacity = np.array(weights, dtype=np.int64), int(capacity)
        super().__init__(named(components, len(self.weights)))

    def _solve(self, costs: np.ndarray) -> Decided:
        from milp_trees.decisions._kernels import knapsack

        decisions = knapsack(costs, self.weights, self.capacity)
        return Decided(decisions, (costs * decisions).sum(axis=1))

    def vertices(self, limit: int = LISTED) -> np.ndarray | None:
        return list_vertices(self.program(), self.dimension, limit)

    def program(self) -> LinearSet:
        d = self.dimension
        A = sparse.csr_matrix(self.weights[None, :].astype(float))
        return LinearSet(
            A,
            np.array([-INFINITY]),
            np.array([float(self.capacity)]),
            np.zeros(d),
            np.ones(d),
            np.ones(d, bool),
            self.components,
        )

    def spec(self) -> dict[str, Any]:
        return {
            "kind": "knapsack",
            "weights": self.weights.tolist(),
            "capacity": self.capacity,
            "components": list(self.components),
        }


def knapsack_decisions(
    weights: Any, capacity: Any, components: Sequence[str] | None = None
) -> DecisionSet:
    """0/1 knapsack: which of d items to take.

    Costs are minimised, so an item of value v has the cost -v.

    Parameters
    ----------
    weights : array, mapping or Series of shape (d,), or array or DataFrame of shape (m, d)
        Weights of the items, for m resources if there are several; not negative. One resource with integer weights is solved by a dynamic programme, all other
        cases as a MILP by HiGHS.
    capacity : number, or array of shape (m,)
        Largest sum of weights, per resource.
    components : sequence of str, optional
        Names of the items; by default those of the weights, or else `w0`, `w1`, ….

    Returns
    -------
    DecisionSet

    Raises
    ------
    DataError
        Weights or capacity are negative, NaN or infinite, or their shapes do not fit.
    """
    weights, components = labelled(weights, components, "weights", "items")
    try:
        W, b = (
            np.atleast_2d(np.asarray(weights, dtype=float)),
            np.atleast_1d(np.asarray(capacity, dtype=float)),
        )
    except (TypeError, ValueError):
        raise DataError("Weights and capacities of a knapsack must be numbers.") from None
    if W.ndim != 2 or not W.size or b.shape != (len(W),):
        raise DataError(
            f"Weights of shape {W.shape} (resources × items) do not fit capacities of shape {b.shape}."
        )
    if not (np.isfinite(W).all() and np.isfinite(b).all() and (W >= 0).all() and (b >= 0).all()):
        raise DataError("Weights and capacities of a knapsack must be finite and not negative.")
    names = named(components, W.shape[1])
    if len(W) == 1 and (np.rint(W) == W).all():
        room = min(int(np.floor(b[0])), int(W.sum()))
        if W.shape[1] * (room + 1) <= TABLE:
            # The exact weight of an item that never fits is not needed, and might be too large for
            # a machine integer.
            return Knapsack(np.minimum(W[0], room + 1).astype(np.int64).tolist(), room, names)
    return LinearDecisions.from_arrays(at_most=(W, b), upper=1.0, integer=True, components=names)
