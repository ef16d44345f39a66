"""What must catch a fault: the checks of the conformance suite for a formulation on a problem, and
what spares a run from solving anything twice.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from milp_trees.decisions.testing.problems import decision_problems
from milp_trees.mip.registry import registry
from milp_trees.models.space import space_classes
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.testing.checks import PRUNING_CHECKS, default_pruning_problems
from milp_trees.robust.testing.problems import robust_problems
from milp_trees.robust.view import WorstCase
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing import METAMORPHIC, solve
from milp_trees.testing.sets import is_wide, problems_of
from milp_trees.testing.suite import checks_for, too_large
from milp_trees.testing.taken import FILE, takers_by_problem

from .mutants import ROOT

#: Sources in which faults are planted.
FILES = sorted(
    str(p.relative_to(ROOT))
    for p in (ROOT / "formulations").glob("*.py")
    if p.name not in ("__init__.py", "_template.py")
)
#: Options that give another model, run beside the plain formulations of their file: of trees on the
#: random problems, as the suite does.
VARIANTS = {
    "flow-oct": ["flow-oct:sinks=multi"],
    "path-cut": ["path-cut:strengthen=off"],
    "benders-oct": ["benders-oct:equivalent_points=2,path_bounds=1"],
    "oct": ["oct:repair=scalar", "oct:repair=d-shift", "oct:repair=z-le-d", "oct:repair=spo"],
    "spot": ["spot:rows_m=off,lower_cut=off,merge_rows=off", "spot:leaf_cut=on"],
    "ip3-closure": ["ip3-closure:merge_pairs=off"],
}
#: Formulations in the order in which a fault in a shared file is tried on them.
FIRST = ("flow-oct", "path-cut", "oct-binary", "bin-oct", "cut-w", "oct", "ip3", "ip1")
#: Checks that look at the form of a model and not at what it says: what they alone catch is counted
#: apart.
OF_FORM = ("sizes", "components_documented", "repeatable_build", "repeatable")
#: Checks that solve, and say the same again where the model is the same.
SOLVING = (
    "optimum_equals_oracle",
    "decoded_value",
    "relaxation_is_a_bound",
    "between_trees",
    "optimum",
    "relaxation",
)


@cache
def labels(file: str) -> tuple[str, ...]:
    """The formulations and variants whose models a file takes part in."""
    out = []
    for name, cls in registry.classes("formulations").items():
        module = cls.__module__.removeprefix("milp_trees.").replace(".", "/") + ".py"
        if file in _imports(module):
            out += [name, *VARIANTS.get(name, ())]
    return tuple(
        sorted(out, key=lambda label: FIRST.index(label) if label in FIRST else len(FIRST))
    )


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
    """Whether a condition can hold in a file: one on sizes by what its formulations say that they
    take, none in the checkers.
    """
    if "/verification/" in file or "/check_" in file:
        return condition == "always"  # nothing there has nodes, rows or actions by these letters
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
        return any(costs(p) for p in trees)
    return kind in ("row", "cost") or bool(trees)


def costs(plan: Any) -> bool:
    """Whether a formulation takes cost matrices, perhaps beside other sums of leaves."""
    return CostMatrix in (plan.needs if isinstance(plan.needs, tuple) else (plan.needs,))


def prunings(plan: Any) -> bool:
    """Whether a formulation is one of prunings."""
    return PrunedEnsembles in space_classes(plan.space)


@cache
def formulation(label: str) -> Any:
    """A formulation by its label: `oct:repair=spo`."""
    return registry.method(f"{label}@highs").formulation


@cache
def problems(label: str) -> dict[str, Any]:
    """The suite's problems for a formulation, by name: prunings, decisions, or trees and rule lists
    with sums of costs; those that are solved fast before the others.
    """
    plan = formulation(label)
    found = (
        default_pruning_problems()
        if prunings(plan)
        else decision_problems()
        if plan.needs is LeafOracle
        else robust_problems()
        if plan.needs is WorstCase
        else problems_of(plan.space)
    )
    if ":" in label and costs(plan):
        found = {name: problem for name, problem in found.items() if name.startswith("random")}
    return dict(sorted(found.items(), key=lambda item: (is_wide(item[0]), effort(item[1]))))


@cache
def _golden() -> dict[tuple[str, str], set[str]]:
    return takers_by_problem((ROOT / "tests" / "golden" / FILE).read_text())


def takes_as_before(label: str, name: str) -> bool:
    """Whether a formulation takes or refuses a problem as the golden file says; variants are not in
    it.
    """
    plan = formulation(label)
    kind = "prunings" if prunings(plan) else "decisions" if plan.needs is LeafOracle else "trees"
    key = ("lists", name.removeprefix("list-")) if name.startswith("list-") else (kind, name)
    if ":" in label or key not in _golden():
        return True
    return (label in _golden()[key]) == (plan.unsupported(problems(label)[name]) is None)


def effort(problem: Any) -> int:
    """About how large the models of a problem are."""
    return int(
        problem.dataset.n_rows
        * max(1, problem.dataset.n_features)
        * 2 ** (getattr(problem.space, "max_depth", None) or 2)
    )


def checks(label: str, name: str) -> dict[str, Callable[[], None]]:
    """The checks of a formulation on a problem, by name; none where it is not supported."""
    plan, problem = formulation(label), problems(label)[name]
    if plan.unsupported(problem):
        return {}
    if prunings(plan):
        found = PRUNING_CHECKS
    else:
        found = checks_for(
            name,
            None,
            name in METAMORPHIC and ":" not in label,
            too_large(plan, problem) is not None,
        )
    return {claim: lambda run=run: run(plan, problem) for claim, run in found.items()}


# -- nothing twice --------------------------------------------------------------------------------------------------


class Remembered:
    """Optima of true models, each solved once; faults that only touch what comes after the optimum
    share them.
    """

    def __init__(self) -> None:
        self.points: dict[bytes, solve.Point] = {}
        self._solve = solve._minimise

    def install(self) -> None:
        """From now on the checks of this process solve by `minimise`."""
        solve._minimise = self.minimise

    def minimise(self, matrix: Any, relax: bool, nodes: int) -> solve.Point:
        key = digest(matrix, relax, nodes)
        if key not in self.points:
            self.points[key] = self._solve(matrix, relax, nodes)
        return self.points[key]


def digest(matrix: Any, *more: Any) -> bytes:
    """A short name of all that a matrix model says."""
    found = hashlib.sha1(f"{more} {matrix.offset} {matrix.A.shape}".encode())
    A = matrix.A
    for array in (
        A.indptr,
        A.indices,
        A.data,
        matrix.c,
        matrix.row_lower,
        matrix.row_upper,
        matrix.lower,
        matrix.upper,
        matrix.integer,
    ):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.digest()
