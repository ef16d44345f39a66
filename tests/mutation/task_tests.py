"""What must catch a fault in a task: the tests that compare tasks with definitions of their own, run in this process with the fault in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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


class _First:
    """Remembers the first test that fails."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.found:
            message = getattr(report.longrepr, "reprcrash", None)
            self.found = {"check": report.nodeid.partition("::")[2], "problem": Path(report.fspath).name, "message": str(message and message.message)}


def first_failure(file: str) -> dict[str, Any]:
    """The verdict of the tests of a task's file: the check and the file that failed first, or `survived`."""
    from hypothesis import settings

    settings.register_profile("mutation", derandomize=True, database=None, deadline=None)
    settings.load_profile("mutation")
    first = _First()
    wide = sorted((ROOT / "tests" / "conformance").glob("test_task*.py"))
    targets = [*map(str, wide), *(str(ROOT / "tests" / "unit" / f"test_{name}.py") for name in TESTS[Path(file).stem])]
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]
    code = pytest.main([*targets, *options], plugins=[first])
    if first.found:
        kind = "caught" if "Assert" in first.found["message"] or "assert" in first.found["message"] else "raised"
        return {"verdict": kind, "formulation": "", **first.found, "message": " ".join(first.found["message"].split())[:300]}
    return {"verdict": "survived"} if code == 0 else {"verdict": "raised", "message": f"pytest ended with {code!r}"}
