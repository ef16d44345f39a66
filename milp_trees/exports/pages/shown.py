"""What can be recomputed or checked of a result while a page of it is made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, VerificationError
from milp_trees.exports.pages.certificate import Checks
from milp_trees.problems.questions import Front
from milp_trees.verification.claims import check_claims
from milp_trees.verification.front import check_front
from milp_trees.verification.proved import checked_proof, unchecked
from milp_trees.verification.value import check_scores, check_value

if TYPE_CHECKING:
    from milp_trees.exports.pages.tree_page import StoredModel
    from milp_trees.results.result import Result


def check_shown(
    model: Result | StoredModel, proof: str = "", seconds: float = 60.0
) -> tuple[Any, Checks]:
    """Recompute value, limits and scores of a result, and check its proof file."""
    problem = model.problem
    if problem is None or getattr(problem.dataset, "left_out", False):
        if proof:
            why = getattr(model, "why", "The rows were left out.")
            raise DataError(f"{proof} is not checked without the data. {why}")
        return model, Checks()
    assert not hasattr(model, "why")
    result: Any = replace(model, proof=unchecked(model.proof))  # type: ignore[type-var, attr-defined]
    row = result.to_json()
    try:
        if isinstance(problem.question, Front):
            message = check_front(row, problem)
        else:
            message = [*check_value(row, problem), *check_claims(row, problem)]
        check_scores(row, problem, None)
    except VerificationError as wrong:
        raise VerificationError(
            f"The page is not written, as the result is wrong: {wrong}"
        ) from None
    if not proof:
        return result, Checks(tuple(message))
    result, found = checked_proof(result, proof, seconds)
    if isinstance(found, str):
        return result, Checks((*message, found))
    return result, Checks(tuple(message), found.sentence, found.optimum)


__all__ = ["check_shown"]
