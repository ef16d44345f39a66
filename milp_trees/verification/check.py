"""`verify`: recompute a stored result.

Nothing that the result states is used without a check if it can be derived again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits
from milp_trees.common.registering import families
from milp_trees.problems.questions import Best, Front
from milp_trees.results.restore import Restored, restore
from milp_trees.results.result import Result
from milp_trees.results.stored import result_from_json, stored_results
from milp_trees.results.strict_json import read_json
from milp_trees.verification.claims import check_claims
from milp_trees.verification.damage import refusing_damage, told
from milp_trees.verification.derive import derive
from milp_trees.verification.fields import FIELDS, LATER, check_fields, complete
from milp_trees.verification.front import OF_BOUND, check_front, derive_front
from milp_trees.verification.near_best import MARKS, verify_near_best
from milp_trees.verification.proved import check_facts, proof_beside, proved_within
from milp_trees.verification.statement import statement_of
from milp_trees.verification.thresholds import check_thresholds
from milp_trees.verification.value import check_scores, check_value
from milp_trees.verification.verdict import Verification

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


#: Other things that commands store, with the fields by which they are recognised.
OTHERS = {
    "the best models of all sizes": {"penalties", "sizes", "proven"},
}


def verify(
    result: Result | Mapping[str, Any],
    dataset: Dataset | None = None,
    *,
    path: str | Path | None = None,
    time_limit: float = 60.0,
    expect: Mapping[str, Any] | None = None,
    proof: str | Path | None = None,
) -> Verification:
    """Recompute what a result states, and derive again what it claims.

    Examples
    --------
    >>> import milp_trees as mt
    >>> problem = mt.Problem(mt.load("planted:rows=40,tests=4,depth=1"), mt.Accuracy(), mt.Trees(max_depth=1))
    >>> mt.verify(mt.solve(problem).to_json()).verdict
    <Verdict.DERIVED: 'derived'>
    """
    if not (isinstance(time_limit, (int, float)) and 0 < time_limit < 1e9):
        raise DataError(f"time_limit must be a positive number of seconds; got {time_limit!r}.")
    with refusing_damage():
        if isinstance(result, Result):
            data: Mapping[str, Any] = result.to_json()
            restored = Restored(
                result.problem, thresholds="of the data at hand", not_verified=("problem.data",)
            )
        else:
            data = complete(result, set(FIELDS) - LATER, "result")
            check = check_fields(data)
            requested = Front.name if "front" in data else Best.name
            restored = restore(data["problem"], dataset, path, question=requested)
        statement = statement_of(restored.problem, restored.thresholds)
        statement.require(expect or {})
        loose = check_fields(data) if isinstance(result, Result) else check
        front = isinstance(restored.problem.question, Front)
        checked = [
            *restored.checked,
            *(
                check_front(data, restored.problem)
                if front
                else [
                    *check_value(data, restored.problem),
                    *check_claims(data, restored.problem),
                ]
            ),
        ]
        checked += check_thresholds(data, restored)
        of_scores, unsure = check_scores(data, restored.problem, restored.test)
        read = result if isinstance(result, Result) else result_from_json(data, restored.problem)
        checked += _computed_again(read, time_limit / 2)
        read = _by_second_means(read)
        limits = Limits(time=time_limit)
        found = "" if proof is None else proved_within(read, proof, time_limit)
        weak = (found,) if isinstance(found, str) and found else ()
        if isinstance(found, str):
            found = (derive_front if front else derive)(read, limits)
        root = ("root_bound",) if data["root_bound"] is not None and not found.optimum else ()
        if front and not found.optimum and found.claim != "bound":
            loose = (*loose, *(name for name in OF_BOUND if data[name] is not None))
        loose = (*loose, *check_facts(data.get("proof"), None if weak else proof))
        not_verified = (*loose, *root, *unsure, *restored.not_verified, *_grown(data))
        sentences = (*checked, *of_scores, *weak, *told(not_verified), found.sentence)
        return Verification(
            found.verdict, found.claim, read.method, found.by, sentences, not_verified, statement
        )


def _computed_again(result: Result, seconds: float) -> list[str]:
    """What the task takes from libraries, computed by others for the result's predictor."""
    problem = result.problem
    if result.predictor is None or isinstance(problem.question, Front):
        return []
    return problem.task.check_again(
        result.predictor.routes(problem.dataset), problem.dataset, seconds
    )


def _by_second_means(result: Result) -> Result:
    """The result for the same problem whose task uses its second oracle, if it has one."""
    problem = result.problem
    task = problem.task.by_other_means()
    return result if task is problem.task else replace(result, problem=replace(problem, task=task))


def _grown(data: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence if the result states how an ensemble was grown, which is not checked."""
    ensemble = data["problem"]["space"].get("ensemble")
    return ("problem.space.ensemble.source",) if ensemble and ensemble.get("source") else ()


def verify_file(
    file: str | Path, dataset: Dataset | None = None, **options: Any
) -> list[Verification]:
    """`verify` for a file that `--out` or `--json` wrote."""
    data = read_json(file)
    for kind, verify_kind in families.parts("stored"):
        if isinstance(data, dict) and data.get("kind") == kind:
            if options.get("proof") is None:
                options = {**options, "proof": proof_beside(data, Path(file))}
            return [verify_kind(data, dataset, **options)]
    if isinstance(data, dict) and set(data) >= MARKS:
        beside = options.pop("proof", None) or proof_beside(data, Path(file))
        return [verify_near_best(data, dataset, proof=beside, **options)]
    for other, marks in OTHERS.items():
        if isinstance(data, dict) and marks <= set(data):
            raise DataError(
                f"{file} holds {other}, which verify does not take; store the result of one problem with --out of solve."
            )
    rows = stored_results(data, file)
    given = options.pop("proof", None)
    proofs = [given or proof_beside(row, Path(file)) for row in rows]
    return [
        verify(row, dataset, proof=proof, **options)
        for row, proof in zip(rows, proofs, strict=True)
    ]


__all__ = ["verify", "verify_file"]
