"""`LinearDecisions`: S is the feasible set of a linear or mixed-integer program.

The program comes from Pyomo or from arrays; HiGHS solves it, each time starting from the last
solution.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from scipy import sparse

from milp_trees.common.errors import DataError, SolverFailure, SolverUnavailable
from milp_trees.data.names import labelled
from milp_trees.decisions.base import LISTED, Decided, DecisionSet, Failure, LinearSet, RowFailure
from milp_trees.decisions.listed import named

INFINITY = float("inf")
#: Tolerance within which the best vertex of a list is the optimum.
COMPLETE = 1e-7
#: Number of directions in which a list is compared with the optimum.
DIRECTIONS = 60


class LinearDecisions(DecisionSet):
    """S as a linear program (LP or MILP); an answer is a vertex of (the convex hull of) S.

    Equal costs always have the same answer. It is optimal within 1e-10 (LP) or 1e-9 (MILP) of the
    largest cost of its vector, which are HiGHS's tolerances; entries are rounded to 12 places.

    Parameters
    ----------
    model : Pyomo model with a linear objective, or LinearSet
        The variables of the objective are the decision; its own coefficients are not used, because
        costs come with the data. Fixed variables keep their value.
    decision : list of Pyomo variables, optional
        The decision, if it is not the variables of the objective in the order of the objective;
        an indexed variable stands for all its entries.
    components : sequence of str, optional
        For a LinearSet: names of the first d variables, which are the decision; all variables by
        default.

    Raises
    ------
    DataError
        S is empty; S is unbounded (in any direction of the decision, even if no data have costs
        in this direction); the model maximises, is not linear, or has no decision.

    Examples
    --------
    >>> S = LinearDecisions.from_arrays(equal=([[1, 1, 1]], [1]), at_most=([[2, 1, 0]], [1]))
    >>> S.solve([[-3.0, -2.5, -1.0]]).decisions
    array([[0., 1., 0.]])
    """

    def __init__(
        self,
        model: Any,
        decision: Sequence[Any] | None = None,
        components: Sequence[str] | None = None,
    ) -> None:
        if isinstance(model, LinearSet):
            if decision is not None:
                raise DataError(
                    "`decision` names Pyomo variables; of a LinearSet the first variables are the decision, as many as `components`."
                )
            program, names = model, model.names if components is None else components
        else:
            from milp_trees.decisions._from_pyomo import linear_set

            program, d = linear_set(model, decision)
            names = named(components, d) if components is not None else program.names[:d]
        if len(names) > len(program.lower):
            raise DataError(
                f"{len(names)} components are named, but the program has {len(program.lower)} variables."
            )
        shapes = {
            len(program.lower),
            len(program.upper),
            len(program.integer),
            len(program.names),
            program.A.shape[1],
        }
        if (
            len(shapes) > 1
            or not len(program.row_lower) == len(program.row_upper) == program.A.shape[0]
        ):
            raise DataError(
                "The arrays of the LinearSet do not fit together: one bound, name and column per variable, two sides per row."
            )
        super().__init__(names)
        self._program = program
        self._warm: Any = None
        #: Points of a MILP from which searches start. The constructor fixes them, so answers do not
        #: depend on earlier calls.
        self._pool: list[np.ndarray] = []
        self._check_bounded()

    @classmethod
    def from_arrays(
        cls,
        *,
        at_most: tuple[Any, Any] | None = None,
        equal: tuple[Any, Any] | None = None,
        lower: Any = 0.0,
        upper: Any = INFINITY,
        integer: Any = False,
        components: Sequence[str] | None = None,
    ) -> LinearDecisions:
        """S = {w : A w <= b, E w = f, lower <= w <= upper}, w integer where `integer` is true.

        Parameters
        ----------
        at_most, equal : (array of shape (m, d), array of shape (m,)), optional
            (A, b) and (E, f); the columns of a DataFrame are matched by their names.
        lower, upper, integer : scalars, arrays of shape (d,), mappings or Series by name
            0, infinity and False by default.
        components : sequence of str, optional
            Names of the d entries; by default those of the rows, or else `w0`, `w1`, ….

        Returns
        -------
        LinearDecisions

        Raises
        ------
        DataError
            There are no rows, shapes do not fit, numbers are not finite, or S is empty or
            unbounded.
        """
        parts = []
        for (A, b), eq in _given(at_most, equal):
            A, components = labelled(A, components, "the table of rows", "components")
            sides = np.atleast_1d(np.asarray(b, float))
            parts.append((np.atleast_2d(np.asarray(A, float)), sides, eq))
        if not parts:
            raise DataError(
                "A set of linear decisions needs rows: give `at_most`, `equal` or both."
            )
        d = parts[0][0].shape[1]
        for A, b, _ in parts:
            if A.shape != (len(b), d):
                raise DataError(
                    f"Rows of shape {A.shape} do not fit {len(b)} right-hand sides and decisions of {d} entries."
                )
            if not (np.isfinite(A).all() and np.isfinite(b).all()):
                raise DataError("The rows of a decision set must be finite numbers.")
        A = sparse.csr_matrix(np.vstack([A for A, _, _ in parts]))
        low = np.concatenate([b if eq else np.full(len(b), -INFINITY) for _, b, eq in parts])
        up = np.concatenate([b for _, b, _ in parts])
        lower, upper, whole = (
            _entries(name, labelled(v, named(components, d), name, "components")[0], kind, d)
            for name, v, kind in (
                ("lower", lower, float),
                ("upper", upper, float),
                ("integer", integer, bool),
            )
        )
        return cls(LinearSet(A, low, up, lower, upper, whole, tuple(named(components, d))))

    # -- oracle ------------------------------------------------------------------------------------

    def _solver(self) -> Any:
        if self._warm is None:
            try:
                from milp_trees.decisions._warm import WarmProgram
            except ImportError as error:
                raise SolverUnavailable(
                    f"HiGHS cannot be loaded ({error}); pip install highspy, and if the process uses OR-tools, import highspy before it."
                ) from error

            self._warm = WarmProgram(self._program, self.dimension, self._pool)
        return self._warm

    def _check_bounded(self) -> None:
        """Raise DataError if S is empty or unbounded in an entry; also fill the pool of starts."""
        warm, d, p = self._solver(), self.dimension, self._program
        crossed = np.flatnonzero(p.lower > p.upper)
        if len(crossed) or warm.minimise(np.zeros(d)) is Failure.EMPTY:
            raise DataError(
                "The decision set is empty: no point satisfies all rows and bounds of the model."
            )
        if warm.mip:
            warm.remember()
        for j in range(d):
            for sign, bound in ((1.0, p.lower[j]), (-1.0, p.upper[j])):
                if np.isfinite(bound) and not (warm.mip and d <= 50):
                    continue  # bounded as it stands; the pool of a MILP profits from small sets only
                cost = np.zeros(d)
                cost[j] = sign
                if isinstance(warm.minimise(cost), Failure):
                    way = "downwards" if sign > 0 else "upwards"
                    raise DataError(
                        f"The decision set is unbounded: {self.components[j]!r} is not limited {way}; give it a bound."
                    )
                warm.remember()

    def _solve(self, costs: np.ndarray) -> Decided:
        warm = self._solver()
        decisions = np.empty_like(costs)
        for i, cost in enumerate(costs):
            try:
                found = warm.minimise(cost)
            except SolverFailure as error:
                raise RowFailure(i, str(error)) from error
            if isinstance(found, Failure):
                raise RowFailure(
                    i,
                    f"HiGHS calls the decision set {found.value}, which it is not; scale the rows of the model.",
                )
            decisions[i] = found
        return Decided(decisions, (costs * decisions).sum(axis=1))

    def vertices(self, limit: int = LISTED) -> np.ndarray | None:
        """Vertices of a small polytope, or the points of a set of integers.

        None if there are more than `limit`, or if S is neither. The list may hold points that are
        no vertices (general integers; images of vertices if the program has further variables).
        This does no harm, because they are decisions of S.
        """
        from milp_trees.decisions.listing import list_vertices

        listed = list_vertices(self._program, self.dimension, limit)
        if listed is None or self._program.integer.any():
            return listed
        # Qhull and linear programmes of SciPy found the list; a list without some vertex shows here.
        for cost in _directions(self._program, self.dimension):
            found = self._solver().minimise(cost)
            if isinstance(found, Failure) or not np.isclose(
                (listed @ cost).min(), cost @ found, rtol=COMPLETE, atol=COMPLETE
            ):
                return None
        return listed

    def program(self) -> LinearSet:
        return self._program

    def spec(self) -> dict[str, Any]:
        p = self._program
        coo = p.A.tocoo()
        arrays = {
            k: [None if np.isinf(v) else v for v in getattr(p, k).tolist()]
            for k in ("row_lower", "row_upper", "lower", "upper")
        }
        entries = [
            [int(i), int(j), float(v)] for i, j, v in zip(coo.row, coo.col, coo.data, strict=True)
        ]
        return {
            "kind": "linear",
            "entries": entries,
            **arrays,
            "integer": p.integer.tolist(),
            "names": list(p.names),
            "components": list(self.components),
        }

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> LinearDecisions:
        """The set that `spec` described."""
        signs = {"row_lower": -1, "row_upper": 1, "lower": -1, "upper": 1}
        arrays = {
            k: np.array([s * INFINITY if v is None else v for v in spec[k]], dtype=float)
            for k, s in signs.items()
        }
        i, j, v = zip(*spec["entries"], strict=True) if spec["entries"] else ((), (), ())
        A = sparse.csr_matrix(
            (np.array(v, dtype=float), (np.array(i, dtype=int), np.array(j, dtype=int))),
            shape=(len(arrays["row_lower"]), len(spec["names"])),
        )
        return cls(
            LinearSet(
                A, integer=np.array(spec["integer"], bool), names=tuple(spec["names"]), **arrays
            ),
            components=spec["components"],
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_warm": None}


def _directions(p: LinearSet, d: int) -> np.ndarray:
    """Costs for which a list of vertices is compared with the optimum.

    A vertex is the only optimum for the sum of the normals of the sides that meet there, so these
    are sums of normals: of all choices of d sides if they are few, else of some.
    """
    A = p.A[:, :d].toarray()
    sides = [A[np.isfinite(p.row_lower)], -A[np.isfinite(p.row_upper)]]
    normals = np.vstack([*sides, np.eye(d), -np.eye(d)])
    normals = normals[np.abs(normals).max(axis=1) > 0]
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    rng = np.random.default_rng(28)
    if comb(len(normals), d) <= DIRECTIONS:
        chosen = [list(c) for c in combinations(range(len(normals)), d)]
    else:
        chosen = [rng.choice(len(normals), d, replace=False).tolist() for _ in range(DIRECTIONS)]
    return np.array([rng.uniform(0.5, 1.0, d) @ normals[c] for c in chosen])


def _entries(name: str, value: Any, kind: type, d: int) -> np.ndarray:
    """A scalar, or one entry per component, as an array of shape (d,)."""
    array: np.ndarray = np.asarray(value, dtype=kind)
    if array.shape not in ((), (d,)) or np.isnan(array).any():
        raise DataError(
            f"`{name}` is one value without NaN, or one for each of the {d} entries of a decision; got {value!r}."
        )
    return np.broadcast_to(array, d).copy()


def _given(
    at_most: tuple[Any, Any] | None, equal: tuple[Any, Any] | None
) -> list[tuple[tuple[Any, Any], bool]]:
    return [
        (rows, is_equal) for rows, is_equal in ((at_most, False), (equal, True)) if rows is not None
    ]
