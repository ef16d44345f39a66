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


def linear(terms: Iterable[Term], constant: float = 0.0) -> Any:
    """A linear expression of terms."""
    coefs, variables = [], []
    for c, v in terms:
        if c:
            coefs.append(c)
            variables.append(v)
    return LinearExpression(constant=constant, linear_coefs=coefs, linear_vars=variables)


class Rows:
    """Constraints of a block.

    Parameters
    ----------
    block : Pyomo block
    """

    def __init__(self, block: Any) -> None:
        self.block = block
        self.held: list[Any] = []

    def at_most(self, terms: list[Term], right: float) -> None:
        """A sum is at most a number; a row without terms that holds is left out."""
        if any(c for c, _ in terms) or right < 0:
            self.held.append((None, linear(terms), right))

    def below(self, terms: list[Term], value: Any) -> None:
        """A sum is at most an expression of the user."""
        self.held.append((None, linear(terms) - value, 0.0))

    def above(self, terms: list[Term], value: Any) -> None:
        """A sum is at least an expression of the user."""
        self.held.append((0.0, linear(terms) - value, None))

    def equal(self, terms: list[Term], value: Any) -> None:
        """A sum equals an expression of the user, or a number."""
        self.held.append((0.0, linear(terms) - value, 0.0))

    def add(self, name: str, doc: str) -> None:
        """Add the constraints under one name; they are numbered from 0."""
        held, self.held = self.held, []
        constraint = pyo.Constraint(range(len(held)), doc=doc, rule=lambda _, i: held[i])
        self.block.add_component(name, constraint)
