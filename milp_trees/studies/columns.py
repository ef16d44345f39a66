"""The columns of `Study.frame()`: what each holds, and how it is read from a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from milp_trees.results.evidence import BELIEFS, evidence

#: Every column in its order, with what it holds. Scores on test rows follow in columns `score_NAME`.
#: Times are seconds; a missing entry means that it does not apply or was not recorded.
COLUMNS: dict[str, str] = {
    # what was asked
    "name": "name of the problem in its study; its fingerprint if it has no name",
    "group": "group of problems that the problem belongs to",
    "kind": "kind of problem: trees, rule-lists, pruned or decisions; of a plain comparison, the space",
    "data": "file, built-in name or generator of the data",
    "problem": "fingerprint of the problem: task, space, question and arrays; permutations of a "
    "problem have that of the problem as given",
    "task": "task, which says what is optimised",
    "depth": "largest depth of a tree",
    "split_on_group": "whether splits may use the protected attribute",
    "data_rows": "rows of the data",
    "data_tests": "binary features (tests) of the data",
    # by which run
    "method": "full label of the method: formulation with solver, or engine, with its options",
    "variant": "method with the solver options and the start that the study states; plots and aggregates have "
    "one line for each",
    "formulation": "formulation, if the method is one with a solver",
    "solver": "solver, if the method has one",
    "engine": "method that needs no solver, without its options",
    "options": "options that differ from their defaults: of the formulation or engine, then those "
    "that the solver got, also from the formulation",
    "start_stated": "start as the study states it: none, auto, or the method that makes it",
    "seed": "seed of the run",
    "permutation": "seed with which rows and columns were permuted; 0 as given",
    "time_limit": "time limit of the run",
    "threads": "threads that the run may use",
    "memory_limit": "memory limit in megabytes",
    # the model
    "variables": "variables of the model",
    "binaries": "binary variables of the model",
    "rows": "rows (constraints) of the model; for an engine, data rows left after its presolve",
    "nonzeros": "nonzeros of the model's matrix",
    # the answer
    "build_seconds": "time to build the model",
    "hand_over_seconds": "time to hand the model to the solver",
    "solve_seconds": "time in the solver or in the engine's search",
    "seconds": "time of the whole run, from arrays in memory to the answer",
    "root_bound": "bound at the end of the root node",
    "root_gap": "|value − root bound| / |value|",
    "nodes": "nodes of the search",
    "objective": "value of the best model, recomputed from the model on the data",
    "unit": "unit of the value",
    "sense": "min or max: whether smaller or larger values are better",
    "bound": "no model of the space is better than this",
    "gap": "|value − bound| / |value|",
    "status": "optimal, feasible, infeasible, no solution, error or unsupported",
    "limit": "limit that stopped the run: time, nodes, memory or interrupted",
    "proved_by": "program that states the bound",
    "start": "method that made the start which the solver was given",
    "start_value": "value of that start",
    "start_accepted": "whether the solver took the start",
    "agrees": "comparison with the reference: true if both are proven and equal, false if they "
    "contradict each other",
    "leaves": "leaves of the tree or pruned ensemble, or rules of the list with its default rule",
    # what stands behind it
    "evidence": "; ".join(f"{word}: {meaning}" for word, meaning in BELIEFS.items()),
    "claimed_by": "program on whose word alone the bound stands, if the evidence is `claimed`",
    "derived_by": "method that proved the same and shares nothing with the method of the run",
    "proof": "proof file of the run, if the evidence is `proved by file`",
    "proof_checked": "when the checker accepted that file (UTC)",
    "proof_sha256": "SHA-256 of the file that it accepted",
    "checked": "what was recomputed or checked on the model, apart from the method",
    # where and how it ran
    "number": "place of the run in the plan of its study; rows are in the order in which runs ended",
    "attempt": "how often the run was started, 1 for a run that did not crash",
    "crashes": "how many earlier attempts crashed",
    "environment": "fingerprint of machine and software; times of different ones are not averaged",
    "machine": "name of the machine",
    "load": "mean load average of the machine while it ran",
    "peak_memory_mb": "largest resident memory in megabytes",
    "cpu_seconds": "processor time of the run with its child processes",
    "message": "why there is no answer, or a warning",
}

#: Columns that `row["run"]` holds under the same name.
_RUN = ("number", "attempt", "environment", "load", "peak_memory_mb", "cpu_seconds")
#: Columns that a row holds under the same name.
_ROW = (
    "seconds",
    "root_bound",
    "root_gap",
    "nodes",
    "objective",
    "unit",
    "sense",
    "bound",
    "gap",
    "status",
    "limit",
    "proved_by",
    "agrees",
    "message",
)
#: Starts that leave nothing to say in the column `variant`.
_NO_START = (None, "", "none")


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as one level of plain values, with the names and the order of `COLUMNS`."""
    problem, run, start = row["problem"], row.get("run") or {}, row["start"]
    limits, options = run.get("limits") or {}, row["options"]
    accepted = evidence(row)
    proved = accepted == "proved by file"
    found = {
        "name": run.get("name") or row.get("problem_key", ""),
        "group": run.get("group"),
        "kind": run.get("kind") or problem["space"].get("name"),
        "data": run.get("data") or problem["data"].get("path", ""),
        "problem": row.get("problem_key", ""),
        "task": problem["task"]["name"],
        "depth": problem["space"].get("max_depth"),
        "split_on_group": problem.get("group", {}).get("split_on"),
        "data_rows": problem["data"].get("rows"),
        "data_tests": problem["data"].get("tests"),
        **method_columns(
            row["method"], run.get("options") or {}, run.get("start"), options.get("solver")
        ),
        "start_stated": run.get("start"),
        "seed": row.get("seed", 0),
        "permutation": run.get("permutation", 0),
        "time_limit": limits.get("time", options.get("time_limit")),
        "threads": limits.get("threads", options.get("threads")),
        "memory_limit": limits.get("memory_mb"),
        **{name: row["sizes"].get(name) for name in ("variables", "binaries", "rows", "nonzeros")},
        **{
            f"{stage}_seconds": row["times"].get(stage) for stage in ("build", "hand_over", "solve")
        },
        **{name: row[name] for name in _ROW},
        "start": start.get("method"),
        "start_value": start.get("value"),
        "start_accepted": start.get("accepted"),
        "leaves": _leaves(row["predictor"]),
        "evidence": accepted,
        "claimed_by": row["proved_by"] if accepted == "claimed" else None,
        "derived_by": row.get("derived_by"),
        "proof": row["proof"]["file"] if proved else None,
        "proof_checked": row["proof"].get("checked_at") if proved else None,
        "proof_sha256": row["proof"].get("sha256") if proved else None,
        "checked": "; ".join(row["checked"]),
        **{name: run.get(name) for name in _RUN},
        "crashes": len(run.get("crashes") or ()),
        "machine": (run.get("worker") or "").partition("/")[0] or None,
    }
    ordered = {name: found[name] for name in COLUMNS}
    return {**ordered, **{f"score_{name}": value for name, value in row["scores"].items()}}


def method_columns(
    label: str,
    stated: Mapping[str, Any],
    start: str | None,
    used: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The columns that are read from a method's label."""
    made, at, solver = label.rpartition("@")
    name, _, options = (made if at else label).partition(":")
    own = _written(stated)
    variant = label + (f" [{own}]" if own else "")
    return {
        "method": label,
        "variant": variant if start in _NO_START else f"{variant} from {start}",
        "formulation": name if at else None,
        "solver": solver if at else None,
        "engine": None if at else name,
        "options": "; ".join(filter(None, (options, _written(used or stated)))),
    }


def _written(options: Mapping[str, Any]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(options.items()))


def _leaves(predictor: Mapping[str, Any] | None) -> int | None:
    """Leaves of a stored tree or pruned ensemble; None for other predictors."""
    if predictor is None:
        return None
    if predictor.get("kind") == "ensemble":
        return int(predictor["trees"]) + len(predictor["kept"])
    if "rules" in predictor:
        return len(predictor["rules"]) + 1
    return _leaves_below(predictor["root"]) if "root" in predictor else None


def _leaves_below(node: Mapping[str, Any]) -> int:
    return 1 if "action" in node else _leaves_below(node["false"]) + _leaves_below(node["true"])
