"""What must catch a fault: the conformance suite as a list of single checks, and what spares a run of it from doing anything twice."""

from __future__ import annotations

import ast
import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from milp_trees.registry import registry
from milp_trees.space_pruned import PrunedEnsembles
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing import METAMORPHIC, METAMORPHIC_CHECKS, default_problems, solve
from milp_trees.testing.checks import CHECKS
from milp_trees.testing.decision_problems import decision_problems
from milp_trees.testing.pruning_checks import PRUNING_CHECKS, default_pruning_problems

from .mutants import ROOT

#: Sources in which faults are planted.
FILES = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "formulations").glob("*.py") if p.name not in ("__init__.py", "_template.py"))
#: Options that give another model, run beside the plain formulations of their file: of trees on the random problems, as the suite does.
VARIANTS = {
    "flow-oct": ["flow-oct:sinks=multi"],
    "path-cut": ["path-cut:strengthen=off"],
    "oct": ["oct:repair=scalar", "oct:repair=d-shift", "oct:repair=z-le-d", "oct:repair=spo"],
    "spot": ["spot:rows_m=off,lower_cut=off,merge_rows=off", "spot:leaf_cut=on"],
    "ip3-closure": ["ip3-closure:merge_pairs=off"],
}
#: Checks that look at the form of a model and not at what it says; they run last, so that what they alone catch is seen.
OF_FORM = ("sizes", "components_documented", "repeatable_build", "repeatable")


@dataclass(frozen=True)
class Claim:
    """One check of one formulation (by its label) on one problem."""

    label: str
    problem: str
    check: str
    run: Callable[[], None]

    @property
    def name(self) -> tuple[str, str, str]:
        return self.label, self.problem, self.check

    @property
    def of_form(self) -> bool:
        return self.check in OF_FORM


@cache
def labels(file: str) -> tuple[str, ...]:
    """The formulations and variants whose models a file takes part in."""
    out = []
    for name, cls in registry.classes("formulations").items():
        module = cls.__module__.removeprefix("milp_trees.").replace(".", "/") + ".py"
        if file in _imports(module):
            out += [name, *VARIANTS.get(name, ())]
    return tuple(out)


@cache
def _imports(file: str) -> frozenset[str]:
    """A file of `formulations/` with all others of that folder that it imports, directly or not."""
    found = {file}
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [node.module] if node.module else [a.name for a in node.names]
            for name in names:
                found |= _imports(f"{Path(file).parent}/{name}.py")
    return frozenset(found)


def sensible(file: str, kind: str, condition: str) -> bool:
    """Whether a condition on sizes can hold for the formulations of a file, by what they say that they take."""
    plans = [formulation(label) for label in labels(file)]
    prunes, trees = any(map(prunings, plans)), [p for p in plans if not prunings(p)]
    if ":size" not in condition or not plans:
        return True
    if kind == "side-row":
        return any(p.takes_side_rows for p in trees)
    if kind == "min-leaf":
        return any(p.takes_min_leaf for p in trees)
    if kind == "node":
        return prunes
    if kind == "action":
        return any(p.needs is CostMatrix for p in trees)
    return kind in ("row", "cost") or bool(trees)


def prunings(plan: Any) -> bool:
    """Whether a formulation is one of prunings."""
    return issubclass(plan.space, PrunedEnsembles)


def formulation(label: str) -> Any:
    """A formulation by its label: `oct:repair=spo`."""
    return registry.method(f"{label}@highs").formulation


@cache
def problems(label: str) -> dict[str, Any]:
    """The suite's problems for a formulation, by name: prunings, decisions or sums of costs."""
    plan = formulation(label)
    return default_pruning_problems() if prunings(plan) else decision_problems() if plan.needs is LeafOracle else default_problems()


def claims(label: str) -> Iterator[Claim]:
    """All checks of a formulation, problem by problem."""
    plan = formulation(label)
    prunes = prunings(plan)
    for name, problem in problems(label).items():
        if plan.unsupported(problem) or (":" in label and plan.needs is CostMatrix and not name.startswith("random")):
            continue
        checks = dict(PRUNING_CHECKS if prunes else CHECKS)
        if name in METAMORPHIC and not prunes and ":" not in label:
            checks |= METAMORPHIC_CHECKS
        for check, run in checks.items():
            yield Claim(label, name, check, partial(run, plan, problem))


def claim(label: str, problem: str, check: str) -> Claim:
    """One check by its names."""
    plan, asked = formulation(label), problems(label)[problem]
    run = {**CHECKS, **METAMORPHIC_CHECKS, **(PRUNING_CHECKS if prunings(plan) else {})}[check]
    return Claim(label, problem, check, partial(run, plan, asked))


# -- nothing twice --------------------------------------------------------------------------------------------------


class Unchanged(Exception):
    """A fault leaves a model as it was, so that solving it would say what it says without the fault."""


class Remembered:
    """What the true models are, by digests of their matrices, and optima of those that were solved.

    A true model is solved only where its optimum is decoded by a function that has a fault, and only once.
    """

    def __init__(self) -> None:
        self.true: set[bytes] = set()
        self.points: dict[bytes, solve.Point] = {}
        self.decodes = False
        self._solve = solve._minimise

    def install(self, decodes: bool) -> None:
        """From now on the checks of this process solve by `minimise`."""
        self.decodes = decodes
        solve._minimise = self.minimise

    def minimise(self, matrix: Any, relax: bool) -> solve.Point:
        key = _digest(matrix, relax)
        if key in self.points:
            return self.points[key]
        if key in self.true and (relax or not self.decodes):
            raise Unchanged
        point = self._solve(matrix, relax)
        if key in self.true:
            self.points[key] = point
        return point


def true_models(label: str) -> tuple[set[bytes], dict[tuple[str, str], float]]:
    """Digests of a formulation's models on all its problems, as they are and relaxed, and the seconds that each took to build."""
    plan, found, seconds = formulation(label), set(), {}
    for name in dict.fromkeys(c.problem for c in claims(label)):
        began = time.perf_counter()
        b = solve.built.__wrapped__(plan, problems(label)[name])
        seconds[label, name] = time.perf_counter() - began
        if b.separator is None:  # else the matrix is not the whole model
            found |= {_digest(b.matrix, relax) for relax in (False, True)}
    return found, seconds


def _digest(matrix: Any, relax: bool) -> bytes:
    found = hashlib.sha1(f"{relax} {matrix.offset} {matrix.A.shape}".encode())
    A = matrix.A
    for array in (A.indptr, A.indices, A.data, matrix.c, matrix.row_lower, matrix.row_upper, matrix.lower, matrix.upper, matrix.integer):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.digest()
