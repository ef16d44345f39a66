"""Solving a model that was built by `mt.build`, with the solver that is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError
from milp_trees.mip.built import Built
from milp_trees.mip.built_method import BuiltMethod
from milp_trees.mip.registry import registry
from milp_trees.solving.attempt import AUTO

if TYPE_CHECKING:
    from milp_trees.methods.method import Method

#: The start that is the values which the variables of the model have.
VALUES = "model"


def method_of(
    built: Built, solver: str | None, options: Mapping[str, Any] | None, start: Any
) -> tuple[Method, Any]:
    """The method that solves a built model, and the start of its run."""
    values = isinstance(start, str) and start == VALUES
    # The default tree is one of several blocks only, and says nothing about the others.
    alone = built.whole is built.model
    if values or (isinstance(start, str) and start == AUTO and not alone):
        start = None
    chosen = registry.solver(solver or registry.default_solver)
    return BuiltMethod(built, chosen, options, values), start


def check_built(method: Any, proof: Any) -> None:
    """Refuse what a built model has no use for."""
    if method is not None:
        raise DataError(
            f"A built model has its formulation already; name the solver alone, by solver=; got method={method!r}."
        )
    if proof is not None:
        raise DataError(
            "A proof is about a problem, and a built model may have been changed; solve the problem itself with proof=."
        )
