"""What must catch a fault in a task: definitions of the metrics that share no code with the tasks, then the tests of the task's file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import milp_trees as mt
from milp_trees.registry import registry
from milp_trees.tasks.constraints import CONSTRAINTS
from milp_trees.testing.definitions import DEFINITIONS
from milp_trees.testing.found_by_mutation import found_datasets
from milp_trees.testing.task_checks import check_task, random_datasets

from .mutants import ROOT

#: Test files by the name of a task's file, those that define its metric by themselves first.
TESTS = {
    "action_costs": ("tasks", "constraints"), "base": ("tasks", "ratio"), "classification": ("tasks",), "constraints": ("constraints",),
    "conventions": ("conventions",), "count_views": ("rank", "pair_counts"), "decision": ("spo_results", "dp_oracle"),
    "decision_view": ("spo_results", "dp_oracle"), "exact": ("exact", "tasks"), "feature_costs": ("feature_costs", "pruned_error"),
    "first_uses": ("pruned_error",), "grouping": ("views",), "monotone": ("rank",), "policy": ("tasks",),
    "pruning": ("pruned_error",), "pruning_view": ("pruned_error",), "ranking": ("rank",), "ratio": ("ratio",),
    "ratio_view": ("ratio",), "surd": ("rank",), "two_classes": ("rank",), "views": ("views", "tasks", "constraints"),
}  # fmt: skip
TASK_FILES = [f"milp_trees/tasks/{name}.py" for name in TESTS]


#: Tasks with options; those without are made from their class.
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "accuracy": [{}, {"leaf_penalty": "1/50", "split_penalty": "1/80", "feature_costs": {"t0": "1/10", "t3": "1/7"}}],
    "weighted": [{}, {"class_weight": {"class 0": "1/3", "class 1": 2}}],
    "cost-matrix": [{"matrix": [[-1, 3], [5, 0]]}, {"matrix": [[abs(5 * i - 7 * j) - i for j in range(5)] for i in range(5)]}],
    "f-beta": [{"beta": 2}], "precision": [{"min_recall": "1/3"}], "partial-auc": [{"theta": "1/3"}],
    "count-ratio": [{"numerator": {"TP": 2, "TN": 1}, "denominator": {"TP": 2, "TN": 1, "FP": 3, "FN": 1}}],
    "f1": [{}, {"leaf_penalty": "1/40"}], "auc": [{}, {"leaf_penalty": "1/40"}],
    "decision": [{"decisions": mt.ListedDecisions([[1, 0], [0, 1], [0.5, 0.25]])}],
}  # fmt: skip


@cache
def examples() -> list[Any]:
    """Every task that has a definition, with and without options, and accuracy under every side constraint."""
    made = [registry.task(name)(**options) for name in DEFINITIONS for options in OPTIONS.get(name, [{}])]
    sides = [kind(action="class 1", at_most=9, at_least=2) if name == "capacity" else kind("1/5", "class 1") for name, kind in CONSTRAINTS.items()]
    return made + [mt.Accuracy(constraints=(side,)) for side in sides]


def first_breach(name: str | None = None) -> dict[str, Any]:
    """The first task (of that name, if one is given) that does not mean what its definition says."""
    datasets = random_datasets(4) | found_datasets()
    for task in examples():
        if name not in (None, task.name):
            continue
        try:
            check_task(task, datasets)
        except AssertionError as caught:
            if "skipped every" not in str(caught) and "refused" not in str(caught):
                return {"verdict": "caught", "check": "definition", "problem": task.name, "message": " ".join(str(caught).split())[:300]}
        except Exception as raised:
            return {"verdict": "raised", "check": "definition", "problem": task.name, "message": f"{type(raised).__name__}: {raised}"[:300]}
    return {}


class _First:
    """Remembers the first test that fails."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.found:
            message = getattr(report.longrepr, "reprcrash", None)
            self.found = {"check": report.nodeid.partition("::")[2], "problem": Path(report.fspath).name, "message": str(message and message.message)}


def first_failure(file: str) -> dict[str, Any]:
    """The verdict on a fault in a task's file: what its definition says, else the test of the file that failed first, or `survived`."""
    found = first_breach()
    if found:
        return found
    from hypothesis import settings

    settings.register_profile("mutation", derandomize=True, database=None, deadline=None)
    settings.load_profile("mutation")
    first = _First()
    targets = [*(str(ROOT / "tests" / "unit" / f"test_{name}.py") for name in TESTS[Path(file).stem])]
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]
    code = pytest.main([*targets, *options], plugins=[first])
    if first.found:
        kind = "caught" if "Assert" in first.found["message"] or "assert" in first.found["message"] else "raised"
        return {"verdict": kind, "formulation": "", **first.found, "message": " ".join(first.found["message"].split())[:300]}
    return {"verdict": "survived"} if code == 0 else {"verdict": "raised", "message": f"pytest ended with {code!r}"}
