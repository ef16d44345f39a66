"""`Rows`: linear constraints that are collected as terms and added to a block at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression

#: A coefficient and its variable.
Term = tuple[float, Any]


class Size(NamedTuple):
    """Numbers of variables, binaries among them, rows, and nonzeros in rows."""

    variables: int
    binaries: int
    rows: int
    nonzeros: int


#: Least size of a coefficient in a row: solvers refuse or drop smaller ones.
TINY = 1e-9


def linear(terms: Iterable[Term], constant: float = 0.0) -> Any:
    """A linear expression of terms."""
    coefs, variables = [], []
    for c, v in terms:
        if c:
            coefs.append(c)
            variables.append(v)
    return LinearExpression(constant=constant, linear_coefs=coefs, linear_vars=variables)


def width(value: Any) -> int:
    """Number of different variables in an expression of the user; 0 for numbers."""
    from pyomo.repn import generate_standard_repn

    if value is None or isinstance(value, (int, float)):
        return 0
    return len(generate_standard_repn(value, compute_values=True).linear_vars)


class Sum:
    """Terms of the block, a number, and an expression of the user.

    Parameters
    ----------
    terms : sequence of (float, variable)
    constant : float
    expression : Pyomo expression or number
    """

    __slots__ = ("constant", "expression", "terms")

    def __init__(self, terms: Any = (), constant: float = 0.0, expression: Any = 0.0) -> None:
        self.terms, self.constant, self.expression = list(terms), constant, expression

    def plus(self, other: Sum) -> Sum:
        return Sum(
            self.terms + other.terms,
            self.constant + other.constant,
            self.expression + other.expression,
        )

    def times(self, factor: float) -> Sum:
        terms = [(factor * c, v) for c, v in self.terms]
        return Sum(terms, factor * self.constant, factor * self.expression)

    def minus(self, other: Sum) -> Sum:
        return self.plus(other.times(-1.0))

    def opposite(self) -> Sum:
        """One minus the sum."""
        return Sum(constant=1.0).minus(self)

    @property
    def number(self) -> bool:
        """Whether there is no variable in the sum."""
        return isinstance(self.expression, (int, float)) and not any(
            abs(c) > TINY for c, _ in self.terms
        )

    @property
    def whole(self) -> Any:
        """The sum as a Pyomo expression."""
        parts = linear([(c, v) for c, v in self.terms if abs(c) > TINY], self.constant)
        own = self.expression
        return parts if isinstance(own, (int, float)) and not own else parts + own


def counts(coefficient: float) -> bool:
    """Whether a coefficient is large enough to be in a row."""
    return abs(float(coefficient)) > TINY


class Rows:
    """Constraints of a block.

    Parameters
    ----------
    block : Pyomo block
    """

    def __init__(self, block: Any) -> None:
        self.block = block
        self.held: list[Any] = []

    def at_most_zero(self, total: Sum) -> None:
        """A sum is at most 0; a row without variables that holds is left out."""
        if not total.number or total.constant + total.expression > 0:
            self.held.append((None, total.whole, 0.0))

    def at_least_zero(self, total: Sum) -> None:
        """A sum is at least 0; a row without variables that holds is left out."""
        if not total.number or total.constant + total.expression < 0:
            self.held.append((0.0, total.whole, None))

    def equal_zero(self, total: Sum) -> None:
        """A sum is 0; a row without variables that holds is left out."""
        if not total.number or total.constant + total.expression != 0:
            self.held.append((0.0, total.whole, 0.0))

    def add(self, name: str, doc: str) -> None:
        """Add the constraints under one name; they are numbered from 0."""
        held, self.held = self.held, []
        constraint = pyo.Constraint(range(len(held)), doc=doc, rule=lambda _, i: held[i])
        self.block.add_component(name, constraint)


class Count:
    """Numbers of rows and nonzeros, without rows that have no variable.

    Attributes
    ----------
    rows, nonzeros : int
    """

    def __init__(self) -> None:
        self.rows = self.nonzeros = 0

    def row(self, variables: int) -> None:
        """Count a row with so many variables."""
        self.rows += variables > 0
        self.nonzeros += variables
