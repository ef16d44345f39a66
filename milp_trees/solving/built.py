"""Solving a model that was built by `mt.build`, with the solver that is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from milp_trees.common.errors import DataError
from milp_trees.mip.built import Built
from milp_trees.mip.built_method import BuiltMethod
from milp_trees.mip.registry import registry
from milp_trees.problems.problem import Problem
from milp_trees.solving.attempt import AUTO

#: The start that is the values which the variables of the model have.
VALUES = "model"


class Asked(NamedTuple):
    """What is solved: the problem of a built model and its method, or what was given."""

    problem: Problem
    method: Any
    start: Any
    options: Mapping[str, Any] | None


def asked(
    problem: Any, solver: str | None, method: Any, start: Any, options: Any, proof: Any
) -> Asked:
    """The problem and method of a call of `solve`, which may be about a built model."""
    if not isinstance(problem, Built):
        if solver is not None:
            raise DataError(f"Name the solver with its formulation: method='FORMULATION@{solver}'.")
        return Asked(problem, method, start, options)
    if method is not None:
        raise DataError(
            f"A built model has its formulation already; name the solver alone, by solver=; got method={method!r}."
        )
    if proof is not None:
        raise DataError(
            "A proof is about a problem, and a built model may have been changed; solve the problem itself with proof=."
        )
    values = isinstance(start, str) and start == VALUES
    # The default tree is one of several blocks only, and says nothing about the others.
    alone = problem.whole is problem.model
    if values or (isinstance(start, str) and start == AUTO and not alone):
        start = None
    chosen = registry.solver(solver or registry.default_solver)
    return Asked(problem.problem, BuiltMethod(problem, chosen, options, values), start, None)
