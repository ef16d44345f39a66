"""What a process pays before its first answer where everything was compiled before.

Each number is the smallest of several processes, and the median: other work on the machine only adds.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import milp_trees

COMMANDS = ("solve iris", "predict RESULT iris", "verify RESULT", "methods", "--help", "--version")

_DATA = """
import json, sys, time
import numpy as np, pandas
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
X = (X[:, :, None] > np.quantile(X, [0.25, 0.5, 0.75], axis=0).T).reshape(len(X), -1).astype(int)
{imports}
began = time.process_time()
{fit}
first = time.process_time()
model.fit(X, y)
print(json.dumps([first - began, time.process_time() - first]))
"""
_OURS = "model = mt.OptimalTreeClassifier(max_depth=3).fit(X, y)"
#: What is fitted → (imports before the clock starts, what is timed).
FITS = {
    "milp-trees, after `import milp_trees`": ("import milp_trees as mt", _OURS),
    "milp-trees, after its estimators and numba are imported too": (
        "import numba, milp_trees as mt; mt.OptimalTreeClassifier",
        _OURS,
    ),
    "pystreed": (
        "from pystreed import STreeDClassifier",
        "model = STreeDClassifier(max_depth=3).fit(X, y)",
    ),
}
_COUNTED = """
import sys
from milp_trees.__main__ import main
try:
    main()
finally:
    ours = sum(name.partition(".")[0] == "milp_trees" for name in sys.modules)
    print(len(sys.modules), ours, file=sys.stderr)
"""


def first_fits(repeats: int) -> str:
    """Processor time of the first and second `fit` in a process: 150 rows, 12 tests, depth 3."""
    lines = [
        "| first `fit` in a process | processor, ms (median) | second `fit`, ms |",
        "|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, (imports, fit) in FITS.items():
            code = _DATA.format(imports=imports, fit=fit)
            found = [_answer(code, _storing(folder)) for _ in range(repeats + 1)][1:]
            if not all(found):
                lines.append(f"| {name} | not installed | |")
                continue
            first, second = ([1000 * one[k] for one in found] for k in (0, 1))
            lines.append(f"| {name} | {_least(first, 0)} | {min(second):.1f} |")
    return "\n".join(lines)


def _storing(folder: str | Path) -> dict[str, str]:
    """The environment of a process that keeps byte code in a folder."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(folder)}


def _answer(code: str, environment: Mapping[str, str]) -> list[float]:
    """The numbers that a program prints; none if it fails."""
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if not done.returncode else []


def commands(repeats: int) -> str:
    """Processor seconds of commands with and without byte code of the package, and their modules."""
    lines = [
        "| command | processor, s (median) | without byte code, s (median) | modules, of the package |",
        "|---|---|---|---|",
    ]
    with _byte_code() as (stored, lacking), tempfile.TemporaryDirectory() as folder:
        result = str(Path(folder, "result.json"))
        _run("solve iris --out RESULT", result, os.environ)
        for command in COMMANDS:
            times = []
            for environment in (stored, lacking):
                used = [_run(command, result, environment) for _ in range(repeats + 1)][1:]
                times.append(_least(used, 2))
            lines.append(f"| `{command}` | {' | '.join(times)} | {_modules(command, result)} |")
    return "\n".join(lines)


def _run(command: str, result: str, environment: Mapping[str, str]) -> float:
    """Processor seconds of a command that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = command.replace("RESULT", result).split()
    run = [sys.executable, "-m", "milp_trees", *words]
    subprocess.run(run, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _modules(command: str, result: str) -> str:
    """Numbers of modules that a command imports: all, and those of the package."""
    words = command.replace("RESULT", result).split()
    run = [sys.executable, "-c", _COUNTED, *words]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    return ", ".join(done.stderr.split()[-2:])


class _byte_code:
    """Environments with stored byte code of all modules, and of all but those of the package."""

    def __enter__(self) -> tuple[dict[str, str], dict[str, str]]:
        self.folder = Path(tempfile.mkdtemp())
        stored, lacking = _storing(self.folder / "all"), _storing(self.folder / "others")
        result = str(self.folder / "result.json")
        _run("solve iris --out RESULT", result, stored)
        for command in COMMANDS:
            _run(command, result, stored)
        shutil.copytree(self.folder / "all", self.folder / "others")
        for place in _places():
            there = self.folder / "others" / place.relative_to(place.anchor)
            if there.is_dir():  # something of it was imported
                shutil.rmtree(there)
        return stored, {**lacking, "PYTHONDONTWRITEBYTECODE": "1"}

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder)


def _places() -> Iterator[Path]:
    """The folders of the package: in a checkout, formulations and solvers stand beside it."""
    package = Path(milp_trees.__file__).parent
    yield package
    yield from (package.parent / "formulations", package.parent / "solvers")


def _least(numbers: list[float], digits: int) -> str:
    return f"{min(numbers):.{digits}f} ({statistics.median(numbers):.{digits}f})"


#: Parts of the benchmark: what is printed above a table, and the function that makes it.
TABLES: dict[str, Callable[[int], str]] = {"first fit": first_fits, "warm commands": commands}
