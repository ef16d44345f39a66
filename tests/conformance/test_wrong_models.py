"""A model whose solution is read as a predictor that the problem forbids, or that costs something
else, is an error that says which limit is broken.
"""

import dataclasses
from dataclasses import replace
from pathlib import Path

import pytest
import wrong_formulations as wrong
from solver_params import solver_params
from taken_problems import taken_problems

import milp_trees as mt
from milp_trees.mip import runner
from milp_trees.mip.method import FormulationMethod
from milp_trees.mip.registry import registry
from milp_trees.pruning.testing.examples import EXAMPLES

#: 11 rows: one odd row makes small leaves and many leaves worth while; without constraints all but
#: one are the first action.
DATA = mt.Dataset(
    [
        [0, 0, 1],
        [0, 0, 0],
        [0, 1, 0],
        [0, 1, 1],
        [1, 0, 0],
        [1, 0, 1],
        [1, 1, 1],
        [1, 1, 0],
        [0, 0, 0],
        [0, 0, 0],
        [1, 1, 0],
    ],
    y=["a", "a", "b", "b", "b", "b", "a", "b", "a", "a", "b"],
)


def forget_leaf_size(view, space):
    return view, replace(space, min_samples_leaf=1)


def forget_leaf_limit(view, space):
    return view, replace(space, max_leaf_nodes=None)


def forget_side_rows(view, space):
    return replace(view, side=()), space


def forget_budget(view, space):
    return replace(view, budget=None), space


#: Fault → what it forgets, a problem on which that matters, what the sentence must say.
FAULTS = {
    "leaf_size": (
        forget_leaf_size,
        mt.Problem(DATA, mt.Accuracy(), mt.Trees(2, min_samples_leaf=5)),
        "at least 5 are asked for",
    ),
    "leaf_limit": (
        forget_leaf_limit,
        mt.Problem(DATA, mt.Accuracy(), mt.Trees(2, max_leaf_nodes=2)),
        "at most 2 are allowed",
    ),
    "side_rows": (
        forget_side_rows,
        mt.Problem(
            DATA, mt.Accuracy(constraints=(mt.tasks.Capacity("a", at_most=1),)), mt.Trees(2)
        ),
        "capacity of a",
    ),
    "budget": (forget_budget, EXAMPLES["two-items"](), "at most 3 is allowed"),
}


def loosened(name: str, forget) -> mt.plugins.Formulation:
    """The formulation of that name, which forgets something while it is built."""
    base = type(registry.formulation(name))

    def declare(self, m, view, space):
        base.declare(self, m, *forget(view, space))

    return dataclasses.dataclass(frozen=True)(
        type(f"Loose{base.__name__}", (base,), {"declare": declare, "__annotations__": {}})
    )()


def able(fault: str) -> list[str]:
    """Formulations that state the limit themselves, as their classes say: asking one of them about
    the problem may compile kernels while tests are collected.
    """
    sentence = {"leaf_size": "takes_min_leaf", "side_rows": "takes_side_rows"}.get(fault, "declare")
    names = registry.formulations_for(FAULTS[fault][1])
    if fault == "budget":
        return [name for name in names if "two-items" in taken_problems("prunings", name)]
    return [name for name in names if getattr(registry.classes("formulations")[name], sentence)]


def refuted(
    formulation: mt.plugins.Formulation, solver: str, problem: mt.Problem, said: str
) -> mt.Result:
    """The result, which must be an error that says so and names a file that solvers can read."""
    method = FormulationMethod(formulation, registry.solver(solver))
    result = method.run(problem, mt.Limits(time=30))
    assert result.status is mt.plugins.Status.ERROR, (result.status, result.message)
    assert said in result.message
    file = Path(result.message.rpartition(" as ")[2].rstrip("."))
    assert file.name == f"{formulation.name}.mps.gz"
    assert file.stat().st_size > 100
    file.unlink()
    file.parent.rmdir()
    return result


@pytest.mark.parametrize("fault, name", [(fault, name) for fault in FAULTS for name in able(fault)])
def test_every_formulation_that_forgets_a_limit_ends_in_an_error(fault, name):
    forget, problem, message = FAULTS[fault]
    if registry.formulation(name).unsupported(problem):
        return
    result = refuted(loosened(name, forget), "highs", problem, message)
    # A feasible model that was known before the program was solved is kept.
    assert result.predictor is None or not problem.violations(result.predictor)
    assert "decodes to an infeasible" in result.message


@pytest.mark.parametrize("solver", solver_params("continuous"))
@pytest.mark.parametrize("fault, name", [("leaf_size", "flow-oct"), ("leaf_limit", "flow-oct")])
def test_a_forgotten_leaf_limit_is_an_error_on_every_solver_of_mixed_programs(fault, name, solver):
    forget, problem, message = FAULTS[fault]
    refuted(loosened(name, forget), solver, problem, message)


@pytest.mark.parametrize("solver", solver_params())
@pytest.mark.parametrize("fault, name", [("side_rows", "state-flow"), ("budget", "ip3")])
def test_a_forgotten_limit_is_an_error_on_every_solver(fault, name, solver):
    forget, problem, message = FAULTS[fault]
    refuted(loosened(name, forget), solver, problem, message)


@pytest.mark.parametrize("solver", solver_params("continuous"))
def test_a_decoded_tree_of_another_cost_is_an_error_on_every_solver(solver):
    result = refuted(
        wrong.WrongDecode(),
        solver,
        mt.Problem(DATA, mt.Accuracy(), mt.Trees(2)),
        "but the decoded tree costs",
    )
    assert result.bound is None


@pytest.mark.parametrize("solver", solver_params("continuous"))
def test_cuts_that_are_not_found_are_an_error_on_every_solver(solver):
    """Points on the way of a cut loop are no trees yet and are no errors; one that the separator
    calls complete is.
    """

    base = type(registry.formulation("benders-oct"))

    class BlindBenders(base):
        def separator(self, m, matrix):
            return wrong.BlindCuts(super().separator(m, matrix))

    refuted(
        BlindBenders(),
        solver,
        mt.Problem(DATA, mt.Accuracy(), mt.Trees(2)),
        "but the decoded tree costs",
    )


@pytest.mark.parametrize("solver", solver_params("continuous"))
def test_points_on_the_way_of_a_cut_loop_are_no_errors(solver):
    problem = mt.Problem(DATA, mt.Accuracy(), mt.Trees(2, max_leaf_nodes=3))
    result = registry.method(f"benders-oct@{solver}").run(problem, mt.Limits(time=30))
    assert result.status is mt.plugins.Status.OPTIMAL, result.message
    assert result.value == mt.solve(problem, "enumerate").value


def test_an_infeasible_tree_at_a_limit_is_an_error_too(monkeypatch):
    """The solver has not finished; its incumbent is a solution of the model all the same."""
    whole = runner.run

    def stopped(*args, **kwargs):
        return replace(
            whole(*args, **kwargs), status=mt.plugins.Status.FEASIBLE, limit=mt.plugins.Limit.TIME
        )

    monkeypatch.setattr(runner, "run", stopped)
    forget, problem, message = FAULTS["leaf_size"]
    result = refuted(loosened("flow-oct", forget), "highs", problem, message)
    assert result.limit is mt.plugins.Limit.TIME


def test_a_feasible_start_survives_a_wrong_model():
    """The result is an error that holds the start, whose value was recomputed."""
    forget, problem, message = FAULTS["leaf_size"]
    start = mt.solve(problem, "dp").predictor
    method = FormulationMethod(loosened("flow-oct", forget), registry.solver("highs"))
    result = method.run(problem, mt.Limits(time=30), start=start)
    assert result.status is mt.plugins.Status.ERROR
    assert message in result.message
    assert result.predictor == start
