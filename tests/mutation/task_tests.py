"""What must catch a fault in a task, a constraint, a space or the binarizer: definitions that share no
code with them, then the tests of their part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from milp_trees.mip.registry import registry
from milp_trees.pruning.testing.checks import default_pruning_problems
from milp_trees.pruning.testing.pruned_error_checks import check_pruned_error
from milp_trees.pruning.testing.random_prunings import random_problem
from milp_trees.tasks.products import bounded, combine
from milp_trees.testing import check_separable, check_task
from milp_trees.testing.at_limits import CONSTRAINTS, check_at_limits
from milp_trees.testing.definitions import definitions
from milp_trees.testing.found_by_mutation import found_datasets, found_targets
from milp_trees.testing.task_data import random_datasets, target_datasets
from milp_trees.testing.task_options import OPTIONS, options_of, square

from .calls import Calls, Listening, listen
from .mutants import ROOT, Mutant

#: Tests of the sources below a path; which of them call a function is found by running them once.
TESTS = {
    "milp_trees/tasks/": ("unit/tasks", "decisions"),
    "milp_trees/decisions/": ("unit/tasks", "decisions"),
    "milp_trees/lists/": ("lists/test_rule_lists.py",),
    "milp_trees/models/": ("unit/test_problem.py", "unit/test_split_on_group.py"),
    "milp_trees/pruning/": (
        "pruning/test_pruned_error.py",
        "pruning/test_feature_costs.py",
        "pruning/test_verify_curve.py",
    ),
    "milp_trees/data/binarize.py": (
        "unit/data/test_binarize.py",
        "unit/data/test_missing_values.py",
        "unit/data/test_strange_numbers.py",
    ),
}
#: Seconds of tests, quick ones first, that a fault is run on at most; more would catch more.
BUDGET = 3.0
#: Words in the names of tests that look at the clock; on a busy machine they could fail for that.
TIMED = ("stopped", "limit", "interrupt", "seconds", "deadline", "progress")
#: Sources that are compared with definitions, and then run on the tests that call them.
TASK_FILES = [
    *sorted(
        str(path.relative_to(ROOT))
        for part in ("tasks/*.py", "*/tasks/*.py", "*/space.py")
        for path in (ROOT / "milp_trees").glob(part)
        if path.name != "__init__.py"
    ),
    *(f"milp_trees/pruning/{name}.py" for name in ("feature_costs", "first_uses", "sums", "view")),
    "milp_trees/data/binarize.py",
]
#: Options for five classes, beside those of the tests.
FIVE: dict[str, dict[str, Any]] = {
    "cost-matrix": {"matrix": square(5)},
    "cost-sensitive": {"matrix": square(5), "attributes": {"t0": "1/3", "t2": 2}},
    "weighted": {"class_weight": {"class 0": 0, "class 4": "7/3"}},
}

Example = tuple[str, Callable[[], object]]


@cache
def examples(few: bool = False) -> list[Example]:
    """What definitions say: of every task with all options, of limits, of prunings; or the same on a
    few datasets, which call the same functions.
    """
    on, trees = (some_datasets(), 1) if few else (datasets(), 2)
    numbers = target_datasets(3) | found_targets()
    made: list[Example] = [
        (name, partial(check_task, task, numbers if task.predicts_numbers else on))
        for name in definitions()
        for options in [*options_of(name), *([FIVE[name]] if name in FIVE else [])]
        for task in [registry.task(name)(**options)]
    ]
    limits = [*dict.fromkeys(c["name"] for c in CONSTRAINTS), "task-value", "precision"]
    for name in (*limits, "partial-auc", "trees"):
        made.append(
            (
                f"limits of {name}",
                partial(check_at_limits, lambda one, n=name: one == n, trees=trees),
            )
        )
    for name, problem in default_pruning_problems().items():
        made.append((f"pruning {name}", partial(check_pruned_error, problem)))
    ten = random_problem(np.random.default_rng(3), n_trees=10, depth=1)
    made.append(("pruning of ten trees", partial(check_pruned_error, ten)))
    for name in ("accuracy", "weighted", "cost-sensitive"):
        options = OPTIONS[name][3] if name == "cost-sensitive" else {}
        made.append((f"separable {name}", partial(check_separable, registry.task(name)(**options))))
    both = combine(registry.task("accuracy")(), registry.task("action-costs")())
    large = datasets()["found_datasets()[5 classes]"]
    for task in (both, bounded(both, 20, None)):
        made.append((f"separable {task.name}", partial(check_separable, task, large)))
    return made


@cache
def some_datasets() -> dict[str, Any]:
    """Two, three and five classes."""
    every = datasets()
    return {name: every[name] for name in [*list(every)[:2], "found_datasets()[5 classes]"]}


@cache
def datasets() -> dict[str, Any]:
    """What the definitions are compared on."""
    return random_datasets(4) | found_datasets()


def first_breach(of: Iterable[int] | None = None, few: bool = False) -> dict[str, Any]:
    """The first of `examples` (those of some numbers, if they are given) that does not mean what
    its definition says.
    """
    try:
        made = examples(few)
    except Exception as raised:  # the fault keeps a task from being made
        return {
            "verdict": "raised",
            "check": "definition",
            "problem": "examples",
            "message": f"{type(raised).__name__}: {raised}"[:300],
        }
    for name, check in made if of is None else [made[k] for k in of]:
        try:
            check()
        except AssertionError as caught:
            return {
                "verdict": "caught",
                "check": "definition",
                "problem": name,
                "message": " ".join(str(caught).split())[:300],
            }
        except Exception as raised:
            return {
                "verdict": "raised",
                "check": "definition",
                "problem": name,
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
            sentence = " ".join(str(message.message if message else report.longrepr).split())[:300]
            self.found = {
                "check": report.nodeid.partition("::")[2] or "collection",
                "problem": Path(report.nodeid.partition("::")[0]).name,
                "message": sentence,
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
    """Which examples call what; to be run in a child, for the functions are changed."""
    calls = Calls()
    listen(TASK_FILES)
    for k in range(len(examples(few=True))):
        with calls.noting(k):
            found = first_breach([k], few=True)
        if found:
            raise RuntimeError(f"Without any fault, {found}")
    return calls


def noted_tests(file: str) -> Calls:
    """Which tests of a source's part call what, and which fail as it is; to be run in a child."""
    calls = Calls()
    listen(TASK_FILES)
    code = _pytest(tests_of(file), Listening(calls))
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"Without any fault, pytest ended with {code}")
    return calls


def tests_of(file: str) -> tuple[str, ...]:
    """The tests of the part that a source belongs to."""
    return next(tests for part, tests in TESTS.items() if file.startswith(part))


def first_failure(mutant: Mutant, calls: Calls) -> dict[str, Any]:
    """The verdict on a fault: the first test that calls its function and fails, or `survived`."""
    chosen, spent = [], 0.0
    for test in calls.callers(mutant.file, mutant.function):  # quick ones first
        spent += calls.seconds[test]
        if test not in calls.broken and spent < BUDGET and not any(word in test for word in TIMED):
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
