"""Proof files for the finished runs of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.solving.attempt import named_method
from milp_trees.studies.one_run import RUN
from milp_trees.studies.rows import DamagedRow
from milp_trees.studies.stored_runs import is_final, recalled
from milp_trees.verification.proof_folder import ProofFolder

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem
    from milp_trees.studies.planning.plan import Plan
    from milp_trees.studies.study import Study

#: What the store adds to a row when it is read.
_OF_THE_STORE = ("seed", "problem_key", "key", "finished")


def prove_study(study: Study, plan: Plan, folder: str | Path) -> int:
    """Write and check a proof file for every row whose method proves its answer.

    The rows of the study are changed, and stored anew. Rows with a checked file in the folder stay
    as they are.
    """
    keep, rows = ProofFolder(folder), {row["key"]: row for row in study.rows}
    problems = {problem.name: problem for problem in plan.problems}
    built: dict[int, Problem] = {}  # of the last problem, by permutation
    last = ""
    for run in plan.runs:
        row = rows.get(run.key)
        if row is None or not is_final(row):
            continue
        method = named_method(run.method, run.options)
        if not method.proves:
            continue
        if run.problem != last:
            last, built = run.problem, {}
        if run.permutation not in built:
            built[run.permutation] = problems[run.problem].build(run.permutation)[0]
        try:
            result = recalled(row, built[run.permutation])
        except DamagedRow as why:
            study.store.left_out(f"of {run.method}", str(why))
            continue
        proved = keep(method, result, run.key, run.limits)
        if proved is not result:
            new = proved.to_json()
            row |= {"proof": new["proof"], "message": new["message"]}
            _store(study, row)
    return sum(bool((row.get("proof") or {}).get("checked")) for row in study.rows)


def _store(study: Study, row: dict[str, Any]) -> None:
    """Append a row, which then stands for the older one with its key."""
    study.store.append(
        {name: value for name, value in row.items() if name not in _OF_THE_STORE},
        key=row["key"],
        role=RUN,
        problem=row["problem_key"],
        seed=row["seed"],
        log=study.store.log(row["key"], RUN),
    )


__all__ = ["prove_study"]
