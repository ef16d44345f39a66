"""A set of near-best models as JSON, with what `verify` needs of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from milp_trees.problems.questions import Best
from milp_trees.results.json import SCHEMA, json_safe

if TYPE_CHECKING:
    from milp_trees.results.result import Result, Solution


def near_best_json(
    result: Result, first: Iterable[Solution] = (), drawn: Iterable[Solution] = ()
) -> dict[str, Any]:
    """The object that `milp-trees near-best --json` prints and `milp-trees verify` reads."""
    models, question = result.trees, result.problem.question
    kind = models.noun.split()[-1]
    used = models.importance().astype(object)
    parameters = ("slack", "relative", "trivial", "equal_tests")
    found = {
        "schema": SCHEMA,
        "kind": question.name,
        "method": result.method,
        "seconds": result.seconds,
        "question": {name: getattr(question, name) for name in parameters},
        **models.to_json(),
        f"{models.question}s": used.where(used.notna(), None).to_dict("records"),
        f"{kind}s": [_model(one, kind) for one in first],
        "sample": [_model(one, kind) for one in drawn],
        "proof": None if result.proof is None else dict(result.proof),
        "problem": replace(result.problem, question=Best()).spec(),
    }
    plain: dict[str, Any] = json_safe(found)
    return plain


def _model(solution: Solution, kind: str) -> dict[str, Any]:
    value = solution.value
    return {
        "value": value.number,
        "exact": str(value.exact),
        kind: solution.predictor.to_json(),
    }
