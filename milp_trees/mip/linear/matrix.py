"""`MatrixModel`: a linear program as one sparse matrix; only this file makes it from Pyomo."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from milp_trees.common.errors import DataError
from milp_trees.mip.linear.claims import violation
from milp_trees.mip.linear.names import safe_names

INFINITY = float("inf")


@dataclass(eq=False)
class MatrixModel:
    """A linear program with some integer variables, in matrix form.

    It is min c·x + offset subject to row_lower <= A x <= row_upper, lower <= x <= upper, and x
    integer where `integer` is true.

    Parameters
    ----------
    columns : list
        The Pyomo variables in column order; they stay in the parent process.
    row_labels, row_indices : list
        For every row, the name of its Pyomo constraint and the index in it (None if it has no
        index); both may be left out.
    implied_integer : bool
        Whether some optimal solution is integral in the continuous columns too; then a solver of
        pure integer programs may declare them integer.
    """

    name: str
    c: np.ndarray
    offset: float
    A: sparse.csr_matrix
    row_lower: np.ndarray
    row_upper: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    integer: np.ndarray
    columns: list[Any] = field(default_factory=list, repr=False)
    row_labels: list[str] = field(default_factory=list, repr=False)
    row_indices: list[Any] = field(default_factory=list, repr=False)
    implied_integer: bool = False

    @property
    def n_variables(self) -> int:
        return len(self.c)

    @property
    def n_rows(self) -> int:
        return int(self.A.shape[0])

    def objective(self, x: np.ndarray) -> float:
        return float(self.c @ x + self.offset)

    def violation(self, x: np.ndarray) -> float:
        """Largest violation of a row, a bound or integrality at a point."""
        return violation(self, x)

    def contradiction(self) -> str | None:
        """A sentence, if a single row or bound shows that no point is feasible; None otherwise.

        Solvers disagree about such models: for some they are an error, others end without an
        answer.
        """
        for what, low, up in (
            ("row", self.row_lower, self.row_upper),
            ("variable", self.lower, self.upper),
        ):
            wrong = np.flatnonzero(low > up)
            if len(wrong):
                i = int(wrong[0])
                return f"{what.capitalize()} {self.names()[what == 'row'][i]} of {self.name} is to be at least {low[i]:g} and at most {up[i]:g}."
        wrong = np.flatnonzero(
            self.integer & (np.ceil(self.lower - 1e-9) > np.floor(self.upper + 1e-9))
        )
        if len(wrong):
            i = int(wrong[0])
            return f"Variable {self.names()[0][i]} of {self.name} is an integer, and there is none between {self.lower[i]:g} and {self.upper[i]:g}."
        empty = np.flatnonzero(
            (np.diff(self.A.indptr) == 0) & ((self.row_lower > 0) | (self.row_upper < 0))
        )
        if len(empty):
            i = int(empty[0])
            return f"Row {self.names()[1][i]} of {self.name} has no variables and is to lie between {self.row_lower[i]:g} and {self.row_upper[i]:g}."
        return None

    def rounded(self, x: np.ndarray) -> np.ndarray:
        """The point with its integer variables rounded."""
        return np.where(self.integer, np.rint(x), x)

    def with_rows(self, A: sparse.csr_matrix, lower: np.ndarray, upper: np.ndarray) -> MatrixModel:
        """The model with further rows after its own.

        Parameters
        ----------
        A : csr_matrix of shape (m, number of columns)
            Coefficients of the rows.
        lower, upper : float arrays of shape (m,)
            Sides of the rows, which may be infinite.

        Returns
        -------
        MatrixModel
        """
        stacked = sparse.csr_matrix(sparse.vstack([self.A, A], format="csr"))
        labels = [*self.row_labels, *(["cut"] * len(lower))] if self.row_labels else []
        indices = [*self.row_indices, *range(len(lower))] if self.row_indices else []
        low, up = np.concatenate([self.row_lower, lower]), np.concatenate([self.row_upper, upper])
        return replace(
            self, A=stacked, row_lower=low, row_upper=up, row_labels=labels, row_indices=indices
        )

    def without_cuts(self) -> MatrixModel:
        """The model without the rows that `with_rows` has added."""
        stay = np.array([name != "cut" for name in self.row_labels], dtype=bool)
        if stay.all():
            return self
        labels = [name for name in self.row_labels if name != "cut"]
        indices = [i for i, there in zip(self.row_indices, stay, strict=True) if there]
        return replace(
            self,
            A=sparse.csr_matrix(self.A[stay]),
            row_lower=self.row_lower[stay],
            row_upper=self.row_upper[stay],
            row_labels=labels,
            row_indices=indices,
        )

    def with_bounds(self, label: str, lower: np.ndarray, upper: np.ndarray) -> MatrixModel:
        """The model in which the rows of a label have other sides.

        Parameters
        ----------
        label : str
            Name of their Pyomo constraint.
        lower, upper : float arrays of shape (m,)
            Sides of its m rows, which may be infinite.

        Returns
        -------
        MatrixModel

        Raises
        ------
        ValueError
            It has another number of rows.
        """
        here = np.flatnonzero([name == label for name in self.row_labels])
        if len(here) != len(lower):
            raise ValueError(f"{self.name} has {len(here)} rows {label}, not {len(lower)}.")
        low, up = self.row_lower.copy(), self.row_upper.copy()
        low[here], up[here] = lower, upper
        return replace(self, row_lower=low, row_upper=up)

    def with_objective(self, m: Any) -> MatrixModel:
        """The model with the current objective of its Pyomo model."""
        import pyomo.environ as pyo
        from pyomo.repn import generate_standard_repn

        objective = next(m.component_data_objects(pyo.Objective, active=True))
        form = generate_standard_repn(objective.expr)
        position = {id(v): j for j, v in enumerate(self.columns)}
        c = np.zeros(self.n_variables)
        c[[position[id(v)] for v in form.linear_vars]] = form.linear_coefs
        return replace(self, c=c, offset=float(form.constant))

    def relaxed(self) -> MatrixModel:
        """The linear relaxation."""
        return replace(self, integer=np.zeros_like(self.integer))

    def names(self) -> tuple[list[str], list[str]]:
        """Different names of columns and rows.

        They are those of the Pyomo model, as far as file formats allow them (`b[1,3]` is `b_1_3`).
        """
        columns = (
            [v.name for v in self.columns]
            if self.columns
            else [f"x{j}" for j in range(self.n_variables)]
        )
        labels = self.row_labels or [f"r{i}" for i in range(self.n_rows)]
        indices = self.row_indices or (
            range(self.n_rows) if self.row_labels else [None] * self.n_rows
        )
        rows = [
            label if i is None else f"{label}[{_listed(i)}]"
            for label, i in zip(labels, indices, strict=True)
        ]
        return safe_names(columns, "x"), safe_names(rows, "r")

    def values(self) -> np.ndarray:
        """Current values of the Pyomo variables."""
        values = [v.value for v in self.columns]
        if None in values:
            raise ValueError(
                f"encode left {self.columns[values.index(None)].name} without a value; it must set every variable."
            )
        return np.array(values, dtype=float)

    def load(self, x: np.ndarray) -> None:
        """Give the Pyomo variables the values of a point."""
        for v, value in zip(self.columns, x.tolist(), strict=True):
            v.set_value(value, skip_validation=True)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "columns": [], "row_labels": [], "row_indices": []}


class NewRows(NamedTuple):
    """Rows that are added to a model: `lower <= A x <= upper`."""

    A: sparse.csr_matrix
    lower: np.ndarray
    upper: np.ndarray


class Separator(Protocol):
    """Finds rows that a point violates; it holds arrays only, and is sent to the child process."""

    def separate(
        self, x: np.ndarray, integral: bool
    ) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
        """Violated rows (A, lower, upper); there are none if the point satisfies all rows.

        At integral points every violated row must be found; at others some may be missed.
        """
        ...


def compile_model(m: Any) -> MatrixModel:
    """One sparse matrix from a Pyomo model.

    Ordinary constraints go through Pyomo's standard form, `MatrixRows` are taken as they are.
    """
    import pyomo.environ as pyo
    from pyomo.common.gc_manager import PauseGC
    from pyomo.opt import WriterFactory

    blocks = [
        b
        for b in m.component_objects(pyo.Constraint, active=True)
        if isinstance(b, matrix_rows_class())
    ]
    # When Pyomo 6.10 expands templates with parameters, it calls a method of its own that it
    # warns about as deprecated.
    with PauseGC(), pyomo_without("sparse_iteritems"):
        for b in blocks:
            b.deactivate()
        try:
            form = WriterFactory("compile_standard_form").write(m, mixed_form=True, set_sense=None)
        finally:
            for b in blocks:
                b.activate()
        if form.objectives and form.objectives[0].sense != pyo.minimize:
            raise ValueError(f"{m.name} maximises; state every objective as a minimisation.")
        columns = list(m.component_data_objects(pyo.Var, active=True))
        position = {id(v): j for j, v in enumerate(columns)}
        where = np.array([position[id(v)] for v in form.columns], dtype=np.int64)
        parts, lows, ups, labels, indices = [], [], [], [], []
        if len(form.rows):
            A = form.A.tocoo()
            parts.append(
                sparse.csr_matrix((A.data, (A.row, where[A.col])), shape=(A.shape[0], len(columns)))
            )
            kind = np.array([r.bound_type for r in form.rows])
            rhs = np.asarray(form.rhs, dtype=float)
            lows.append(np.where(kind == 1, -INFINITY, rhs))
            ups.append(np.where(kind == -1, INFINITY, rhs))
            labels += [r.constraint.parent_component().name for r in form.rows]
            indices += [r.constraint.index() for r in form.rows]
        for b in blocks:
            index = np.array([position[id(v)] for v in b.variables], dtype=np.int64)
            coo = b.matrix.tocoo()
            parts.append(
                sparse.csr_matrix(
                    (coo.data, (coo.row, index[coo.col])), shape=(coo.shape[0], len(columns))
                )
            )
            lows.append(b.row_lower)
            ups.append(b.row_upper)
            labels += [b.name] * coo.shape[0]
            indices += range(coo.shape[0])
        c = np.zeros(len(columns))
        if form.objectives:
            c[where] = form.c.toarray().ravel()
        A = (
            sparse.csr_matrix(sparse.vstack(parts, format="csr"))
            if parts
            else sparse.csr_matrix((0, len(columns)))
        )
        lower = np.array(
            [-INFINITY if (low := v.lb) is None else low for v in columns], dtype=float
        )
        upper = np.array([INFINITY if (up := v.ub) is None else up for v in columns], dtype=float)
        integer = np.array([v.is_integer() for v in columns], dtype=bool)
        offset = float(np.asarray(form.c_offset).ravel()[0]) if form.objectives else 0.0
    low = np.concatenate(lows) if lows else np.zeros(0)
    up = np.concatenate(ups) if ups else np.zeros(0)
    return MatrixModel(
        m.name, c, offset, A, low, up, lower, upper, integer, columns, labels, indices
    )


def compile_with_fixed(m: Any) -> MatrixModel:
    """The matrix of a model in which a fixed variable is a column whose bounds are its value.

    Pyomo's standard form puts the value of a fixed variable into the rows. A constraint that has no
    variables and does not hold is a DataError.
    """
    import pyomo.environ as pyo
    from pyomo.common.errors import InfeasibleConstraintException

    fixed = [v for v in m.component_data_objects(pyo.Var, active=True) if v.fixed]
    for v in fixed:
        v.fixed = False
    try:
        model = compile_model(m)
    except InfeasibleConstraintException as why:
        name = str(why).partition("'")[2].rstrip("'")
        raise DataError(
            f"No values satisfy the constraint {name}, in which no variable has a coefficient other than 0; correct it or take it away."
        ) from None
    finally:
        for v in fixed:
            v.fixed = True
    position = {id(v): j for j, v in enumerate(model.columns)}
    lower, upper = model.lower.copy(), model.upper.copy()
    for v in fixed:
        lower[position[id(v)]] = upper[position[id(v)]] = v.value
    return replace(model, lower=lower, upper=upper)


@contextlib.contextmanager
def pyomo_without(phrase: str) -> Iterator[None]:
    """Within this block Pyomo logs no message that contains a phrase."""

    def other(record: logging.LogRecord) -> bool:
        return phrase not in record.getMessage()

    # A filter on a logger does not apply to records of its children, so it must be on the logger
    # that writes the message.
    for made_as_it_speaks in ("pyomo.core.base.param", "pyomo.repn.linear_template"):
        logging.getLogger(made_as_it_speaks)
    loggers = [
        logging.getLogger(name)
        for name in list(logging.root.manager.loggerDict)
        if name.split(".")[0] == "pyomo"
    ]
    for log in loggers:
        log.addFilter(other)
    try:
        yield
    finally:
        for log in loggers:
            log.removeFilter(other)


def matrix_rows(
    variables: Sequence[Any],
    matrix: sparse.csr_matrix,
    lower: np.ndarray,
    upper: np.ndarray,
    doc: str,
) -> Any:
    """A Pyomo constraint that is a block of rows `lower <= matrix · variables <= upper`.

    It is meant for incidence matrices. The rows can be read one by one like any Pyomo constraint
    (and are written by its file writers), but solvers are given the arrays themselves.

    Parameters
    ----------
    variables : sequence of Pyomo variables
        One per column of the matrix.
    matrix : csr_matrix of shape (m, number of variables)
        Coefficients.
    lower, upper : float arrays of shape (m,)
        Sides of the rows, which may be infinite.
    doc : str
        Meaning of the rows.

    Returns
    -------
    MatrixRows
    """
    return matrix_rows_class()(variables, sparse.csr_matrix(matrix), lower, upper, doc)


def matrix_rows_class() -> Any:
    from milp_trees.mip.linear.rows import MatrixRows

    return MatrixRows


def _listed(index: Any) -> str:
    return ",".join(map(str, index)) if isinstance(index, tuple) else str(index)
