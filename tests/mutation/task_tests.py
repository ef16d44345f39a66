"""What must catch a fault in a task: definitions of the metrics that share no code with the tasks,
then the tests of the task's file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import milp_trees as mt
from milp_trees.by_name import registry
from milp_trees.tasks.constraints import CONSTRAINTS, GroupRates
from milp_trees.testing.definitions import DEFINITIONS
from milp_trees.testing.found_by_mutation import found_datasets
from milp_trees.testing.task_checks import check_task
from milp_trees.testing.task_data import random_datasets

from .calls import Calls, Listening, listen
from .mutants import ROOT, Mutant

#: Test files by the name of a task's file, those that define its metric by themselves first.
TESTS = {
    "__init__": (),
    "action_costs": ("tasks", "constraints"),
    "base": ("tasks", "ratio"),
    "classification": ("tasks",),
    "constraints": ("constraints",),
    "conventions": ("conventions",),
    "count_views": ("rank", "pair_counts"),
    "decision": ("spo_results", "dp_oracle"),
    "decision_view": ("spo_results", "dp_oracle"),
    "exact": ("exact", "tasks"),
    "feature_costs": ("feature_costs", "pruned_error"),
    "first_uses": ("pruned_error",),
    "grouping": ("views",),
    "monotone": ("rank",),
    "policy": ("tasks",),
    "pruning": ("pruned_error",),
    "pruning_view": ("pruned_error",),
    "ranking": ("rank",),
    "ratio": ("ratio",),
    "ratio_view": ("ratio",),
    "surd": ("rank",),
    "two_classes": ("rank",),
    "views": ("views", "tasks", "constraints"),
}
#: Seconds of tests, quick ones first, that a fault is run on at most; more would catch more.
BUDGET = 3.0
#: Words in the names of tests that look at the clock; on a busy machine they could fail for that.
TIMED = ("stopped", "limit", "interrupt", "seconds", "deadline", "progress")
TASK_FILES = [f"milp_trees/tasks/{name}.py" for name in TESTS]


#: Tasks with options; those without are made from their class.
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "accuracy": [
        {},
        {
            "leaf_penalty": "1/50",
            "split_penalty": "1/80",
            "feature_costs": {"t0": "1/10", "t3": "1/7"},
        },
    ],
    "weighted": [{}, {"class_weight": {"class 0": "1/3", "class 1": 2}}],
    "cost-matrix": [
        {"matrix": [[-1, 3], [5, 0]]},
        {"matrix": [[abs(5 * i - 7 * j) - i for j in range(5)] for i in range(5)]},
    ],
    "cost-sensitive": [
        {
            "matrix": [[abs(5 * i - 7 * j) - i for j in range(k)] for i in range(k)],
            "attributes": {"t0": "1/3", "t2": 2},
        }
        for k in (2, 5)
    ],
    "f-beta": [{"beta": 2}],
    "precision": [{"min_recall": "1/3"}],
    "partial-auc": [{"theta": "1/3"}],
    "count-ratio": [
        {"numerator": {"TP": 2, "TN": 1}, "denominator": {"TP": 2, "TN": 1, "FP": 3, "FN": 1}}
    ],
    **{name: [{}, {"leaf_penalty": "1/40"}] for name in ("mcc", "g-mean", "kappa")},
    "f1": [{}, {"leaf_penalty": "1/40"}],
    "auc": [{}, {"leaf_penalty": "1/40"}],
    "decision": [
        {
            "decisions": mt.decisions.ListedDecisions(
                [[1, 0], [0, 1], [0.5, 0.25]], ["class 0", "class 1"]
            )
        }
    ],
}


def examples() -> list[Any]:
    """Every task that has a definition, with and without options, and accuracy under every side
    constraint.
    """
    made = [
        registry.task(name)(**options)
        for name in DEFINITIONS
        for options in OPTIONS.get(name, [{}])
    ]
    sides = [
        kind(action="class 1", at_most=9, at_least=2)
        if name == "capacity"
        else kind("1/5", "class 1")
        for name, kind in CONSTRAINTS.items()
        if name == "capacity" or issubclass(kind, GroupRates)
    ]
    sides += [
        kind("3/4", "class 1") for kind in CONSTRAINTS.values() if issubclass(kind, GroupRates)
    ]  # groups of few rows differ by much
    return made + [mt.Accuracy(constraints=(side,)) for side in sides]


@cache
def datasets() -> dict[str, Any]:
    """What the definitions are compared on."""
    return random_datasets(4) | found_datasets()


def first_breach(
    of: Iterable[int] | None = None, on: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The first of `examples` (those of some numbers, if they are given) that does not mean what
    its definition says, on some or all datasets.
    """
    made = examples()
    for task in made if of is None else [made[k] for k in of]:
        try:
            check_task(task, on or datasets())
        except AssertionError as caught:
            return {
                "verdict": "caught",
                "check": "definition",
                "problem": task.name,
                "message": " ".join(str(caught).split())[:300],
            }
        except Exception as raised:
            return {
                "verdict": "raised",
                "check": "definition",
                "problem": task.name,
                "message": f"{type(raised).__name__}: {raised}"[:300],
            }
    return {}


class _Chosen:
    """Runs some tests only, and remembers the first that fails."""

    def __init__(self, chosen: Iterable[str]) -> None:
        self.chosen, self.found = set(chosen), {}  # type: ignore[var-annotated]

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if item.nodeid in self.chosen]

    def pytest_collectreport(self, report: Any) -> None:
        self._note(report)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._note(report)

    def _note(self, report: Any) -> None:
        if report.failed and not self.found:
            message = getattr(report.longrepr, "reprcrash", None)
            said = " ".join(str(message.message if message else report.longrepr).split())[:300]
            self.found = {
                "check": report.nodeid.partition("::")[2] or "collection",
                "problem": Path(report.nodeid.partition("::")[0]).name,
                "message": said,
            }


def _pytest(names: Iterable[str], plugin: Any, *more: str) -> int:
    """Runs test files in this process; draws of hypothesis are the same in every run."""
    from hypothesis import settings

    settings.register_profile("mutation", derandomize=True, database=None, deadline=None)
    settings.load_profile("mutation")
    targets = [str(ROOT / "tests" / name) for name in names]
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--rootdir",
        str(ROOT),
        "-c",
        str(ROOT / "pyproject.toml"),
    ]
    return int(pytest.main([*targets, *options, *more], plugins=[plugin]))


def noted() -> Calls:
    """Who calls what, and which tests fail as it is; to be run in a child, for the functions are
    changed.
    """
    calls = Calls()
    listen(TASK_FILES)
    for k in range(len(examples())):
        with calls.noting(k):
            found = first_breach([k])
        if found:
            raise RuntimeError(f"Without any fault, {found}")
    unit = sorted({name for names in TESTS.values() for name in names})
    code = _pytest(
        ["conformance/test_task_definitions.py", *(f"unit/test_{name}.py" for name in unit)],
        Listening(calls),
    )
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"Without any fault, pytest ended with {code}")
    return calls


def first_failure(mutant: Mutant, calls: Calls) -> dict[str, Any]:
    """The verdict on a fault in a task: what the definitions say that call its function, else the
    first test that fails, or `survived`.
    """
    callers = calls.callers(mutant.file, mutant.function)
    found = first_breach(k for k in callers if isinstance(k, int))
    if found:
        return {"formulation": "", **found}
    chosen, spent = [], 0.0
    for test in callers:  # quick ones first
        spent += calls.seconds[test]
        if (
            isinstance(test, str)
            and test not in calls.broken
            and spent < BUDGET
            and not any(word in test for word in TIMED)
        ):
            chosen.append(test)
    if not chosen:
        return {"verdict": "survived"}
    first = _Chosen(chosen)
    code = _pytest(
        dict.fromkeys(test.partition("::")[0].removeprefix("tests/") for test in chosen),
        first,
        "-x",
    )
    if first.found:
        kind = (
            "caught"
            if any(word in first.found["message"] for word in ("Assert", "assert", "DID NOT RAISE"))
            else "raised"
        )
        return {"verdict": kind, "formulation": "", **first.found}
    return (
        {"verdict": "survived"}
        if code == 0
        else {"verdict": "raised", "message": f"pytest ended with {code!r}"}
    )
