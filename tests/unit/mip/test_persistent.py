"""Models that stay built are those that building again would give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import milp_trees as mt
from milp_trees import registry
from milp_trees.common.limits import Limits
from milp_trees.methods.by_size import BySize
from milp_trees.methods.finish import Clock
from milp_trees.mip import persistent
from milp_trees.mip.formulation import Stage
from milp_trees.mip.linear.matrix import MatrixModel, compile_model
from milp_trees.mip.run import Run
from milp_trees.mip.runner import run
from milp_trees.mip.solver import Job
from milp_trees.plugins import CostMatrix, Front, Ratio
from milp_trees.results.result import Status
from milp_trees.tasks.constraints import Capacity
from milp_trees.tasks.ratio import F1
from milp_trees.testing.matrices import knapsacks


def formulations(word: str) -> Iterator[Any]:
    """Those in whose models something may change."""
    for cls in registry.classes("formulations").values():
        if word in cls.changeable:
            yield cls()


def data(seed: int, n: int = 14, F: int = 3) -> mt.Dataset:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, F))
    X[:, -1] = 1 - X[:, 0] if seed % 2 else X[:, 0]
    return mt.Dataset(X, y=rng.integers(0, 2, n))


def differences(a: MatrixModel, b: MatrixModel) -> list[str]:
    """What two matrices do not have in common."""
    found = [
        name
        for name in ("c", "row_lower", "row_upper", "lower", "upper", "integer")
        if not np.array_equal(getattr(a, name), getattr(b, name))
    ]
    found += ["A"] if a.A.shape != b.A.shape or (a.A != b.A).nnz else []
    found += [] if a.offset == b.offset else ["offset"]
    return found + ([] if a.names() == b.names() else ["names"])


def stays(formulation: Any, first: mt.Problem, second: mt.Problem) -> MatrixModel | None:
    """The matrix of the second problem by the model of the first; None if it is built again."""
    store: dict[str, Any] = {}
    first.keep_in(store)
    m = formulation.build(first, incomplete=True)
    done = Run(first, Limits(), Clock(), stage=Stage(m), compiled=compile_model(m))
    persistent.keep(formulation, done)
    second.keep_in(store)
    known = persistent.known_to_be_supported(formulation, second)
    found = persistent.changed(formulation, second)
    if found is None:
        return None
    again = formulation.build(second, incomplete=True)
    built = compile_model(again)
    assert differences(found.matrix, built) == []
    assert differences(compile_model(found.stage.model), built) == []
    assert known or "costs" in formulation.changeable
    assert formulation.label not in store  # it is used once, unless it is kept again
    return found.matrix


def test_the_limit_on_leaves_changes() -> None:
    names = []
    for formulation in formulations("leaves"):
        problem = mt.Problem(data(1, 9), mt.Accuracy(), mt.Trees(2))
        of = [replace(problem, space=problem.space.with_leaves(k)) for k in (1, 2, 3, 4)]
        assert stays(formulation, of[0], of[2]) is not None
        assert stays(formulation, of[2], of[1]) is not None
        assert stays(formulation, of[2], of[3]) is None  # four leaves are no limit
        names.append(formulation.name)
    assert {"flow-oct", "state-flow", "benders-oct"} <= set(names)


def test_the_bounds_of_side_rows_change() -> None:
    for formulation in formulations("side"):
        for seed in (0, 1):
            problem = mt.Problem(data(seed), mt.Accuracy(), mt.Trees(2))
            under = [problem.under(Capacity(1, at_most=most)) for most in (9, 4)]
            assert stays(formulation, *under) is not None
            other = problem.under(Capacity(0, at_most=4))
            assert stays(formulation, under[0], other) is None  # other coefficients
            assert stays(formulation, problem, under[0]) is None  # other rows


def test_costs_of_the_objective_change() -> None:
    changed = 0
    for formulation in formulations("costs"):
        for seed in (0, 1):
            ratio = mt.Problem(data(seed), F1(), mt.Trees(1)).view(Ratio)
            for options in ({}, {"sinks": "multi"}):
                model = replace(formulation, **options)
                at = [
                    mt.Problem(data(seed), ratio.at(Fraction(q, 60)), mt.Trees(1))
                    for q in (31, 32, 60)
                ]
                changed += stays(model, at[0], at[1]) is not None
                stays(model, at[1], at[2])
    assert changed


@pytest.mark.parametrize("name", ["flow-oct@highs", "state-flow@highs"])
def test_a_front_is_the_one_of_models_built_for_every_step(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = mt.Problem(data(12, 24, 4), mt.Accuracy(), mt.Trees(1), Front(against=Capacity(1)))
    built = []
    assemble = type(registry.method(name).formulation).assemble
    monkeypatch.setattr(
        type(registry.method(name).formulation),
        "assemble",
        lambda self, p: built.append(p) or assemble(self, p),
    )
    result = mt.solve(problem, name, start=None)
    exact = mt.solve(problem, "enumerate")
    assert [s.coordinates for s in result.solutions] == [s.coordinates for s in exact.solutions]
    assert len(built) == 2 < result.model_size["steps"]  # without a limit, and with one


def test_cuts_stay_from_size_to_size() -> None:
    problem = mt.Problem(data(2), mt.Accuracy(), mt.Trees(2))
    path = mt.size_path(problem, max_leaves=4, method="benders-oct@highs")
    assert [p.value for p in path.points] == [
        p.value for p in mt.size_path(problem, max_leaves=4, method="dp-sizes").points
    ]
    cuts = []

    def solve(step: Any) -> Any:
        result = registry.method("benders-oct@highs").run(step.problem, start=step.start)
        cuts.append((result.model_size["rows"], result.model_size["cuts"]))
        return result

    BySize(problem, 3, "benders-oct@highs").solve(solve)
    first, second = cuts[1], cuts[2]
    assert second[0] >= first[0]
    assert second[1] <= second[0] - first[0]


def test_a_view_of_another_kind_is_built_again() -> None:
    formulation = registry.formulation("flow-oct")
    problem = mt.Problem(data(0), mt.Accuracy(), mt.Trees(1))
    others = [
        mt.Problem(data(1), mt.Accuracy(), mt.Trees(1)),
        mt.Problem(data(0), mt.Accuracy(), mt.Trees(2)),
        mt.Problem(data(0), mt.Accuracy(), mt.Trees(1, min_samples_leaf=2)),
    ]
    for other in others:
        assert stays(formulation, problem, other) is None
    assert isinstance(problem.view(CostMatrix), CostMatrix)


def test_a_proof_by_an_earlier_step_is_not_made_again() -> None:
    """And a value that no tree has is no harm."""
    problem = mt.Problem(data(5, 16, 4), mt.Accuracy(), mt.Trees(2))
    value = mt.solve(problem, "dp").value.exact
    assert value is not None
    method = registry.method("flow-oct@highs")
    for known, by in ((value, "an earlier step"), (value - 1, "highs")):
        problem.know(known, "an earlier step")
        found = method.step(problem, Limits(time=60), None, None)
        assert (found.status, found.value.exact, found.bound) == (Status.OPTIMAL, value, value)
        assert found.certificate.proved_by.startswith(by)
        assert found.message == ""
        assert ("Target for objective reached" in found.log) == (known == value)


@pytest.mark.parametrize("solver", ["highs", "scip"])
def test_a_search_ends_at_its_target(solver: str) -> None:
    """It has not proved the point that it ends at."""
    model = replace(knapsacks(25, 4), offset=1000.0)
    answer = run(solver, Job(model, Limits(time=60), target=-9786.0))  # the optimum
    assert (answer.status, answer.limit, answer.message) == (Status.FEASIBLE, None, "")
    assert round(answer.objective) == -9786 > answer.bound + 1
