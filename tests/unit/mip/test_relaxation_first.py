"""Formulations with an integral relaxation are solved as linear programs, by every solver that
takes one; what is not integral after all, or is stopped, is no answer.
"""

from dataclasses import dataclass, replace

import pytest
from solver_params import solver_params

import milp_trees as mt
from milp_trees.mip.method import FormulationMethod
from milp_trees.mip.registry import registry
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.results.result import Limit, Status
from milp_trees.results.tables import summary
from milp_trees.testing import brute_force
from milp_trees.testing.sets import get

LIMITS = mt.Limits(time=60)
LINEAR = solver_params("lp")


def pair(formulation, solver, **options):
    """The method, with options."""
    if isinstance(formulation, str):
        formulation = registry.formulation(formulation)
    return FormulationMethod(formulation, registry.solver(solver), options=options)


@pytest.fixture
def jobs(monkeypatch):
    """Whether the solver got the linear relaxation, for every call of one."""
    from milp_trees.mip import method

    seen = []
    solved = method.solved

    def recorded(name, job, emit=None):
        assert "as_lp_first" not in job.options
        assert not (job.relax and job.start is not None)
        seen.append(job.relax)
        return solved(name, job, emit)

    monkeypatch.setattr(method, "solved", recorded)
    return seen


@pytest.mark.parametrize("solver", LINEAR)
@pytest.mark.parametrize("name", ["state-flow", "ip3"])
def test_every_linear_solver_answers_from_the_relaxation(solver, name, jobs):
    problem = get("xor") if name == "state-flow" else EXAMPLES["figure-1"]()
    best = registry.method("dp" if name == "state-flow" else "min-cut").run(problem, LIMITS)
    result = pair(name, solver).run(problem, LIMITS, start=best.predictor)
    assert jobs == [True]
    assert result.optimal, result.message
    assert result.value.exact == best.value.exact
    assert result.nodes in (0, None)
    assert (result.start["needed"], result.start["accepted"]) == (False, None)


@pytest.mark.parametrize("solver", LINEAR)
def test_it_can_be_switched_off(solver, jobs):
    problem = get("xor")
    start = brute_force(problem)[0]
    result = pair("state-flow", solver, as_lp_first=False).run(problem, LIMITS, start=start)
    assert jobs == [False]
    assert result.optimal
    assert "needed" not in result.start


@pytest.mark.parametrize("solver", LINEAR)
def test_a_fractional_relaxation_is_no_answer(solver, jobs):
    """An integer program of which nobody says that it is integral, asked for its relaxation."""
    problem = get("wide-deep-0")
    result = pair("flow-oct", solver, as_lp_first=True).run(problem, LIMITS)
    assert jobs == [True, False]
    assert result.optimal, result.message
    assert result.value.exact == registry.method("dp").run(problem, LIMITS).value.exact


@pytest.mark.parametrize("solver", LINEAR)
def test_side_constraints_make_it_an_integer_program_again(solver, jobs):
    problem = get("min_leaf")
    limited = replace(problem, space=replace(problem.space, max_leaf_nodes=2))
    result = pair("state-flow", solver).run(limited, LIMITS)
    assert jobs == [False]
    assert result.optimal, result.message
    assert result.value.exact == limited.value(brute_force(limited)[0]).exact


@dataclass(frozen=True)
class Contradiction(type(registry.formulation("state-flow"))):
    """A model that has no solution."""

    def declare(self, m, view, space):
        import pyomo.environ as pyo

        super().declare(m, view, space)
        m.never = pyo.Var(bounds=(0, 1))
        m.contradiction = pyo.Constraint(expr=2 * m.never == 3)

    def encode(self, predictor, m):
        super().encode(predictor, m)
        m.never.set_value(0)


@pytest.mark.parametrize("solver", LINEAR)
def test_an_infeasible_relaxation_ends_the_run(solver, jobs):
    result = pair(Contradiction(), solver).run(get("xor"), LIMITS)
    assert jobs == [True]
    assert result.status is Status.ERROR
    assert "claims that no tree is feasible, but one of 2 errors is" in result.message


@pytest.mark.parametrize("solver", LINEAR)
def test_a_stopped_relaxation_has_no_solution(solver, monkeypatch):
    """Its point is one of the relaxation, even if it looks like a solution."""
    from milp_trees.mip import method

    solved = method.solved

    def stopped(name, job, emit=None):
        assert job.relax
        answer = solved(name, job, emit)
        assert answer.x is not None
        return replace(answer, status=Status.FEASIBLE, limit=Limit.TIME, bound=None)

    monkeypatch.setattr(method, "solved", stopped)
    problem = get("wide-deep-0")
    without = pair("state-flow", solver).run(problem, LIMITS)
    assert (without.status, without.limit) == (Status.NO_SOLUTION, Limit.TIME)
    start = registry.method("dp").run(problem, LIMITS).predictor
    kept = pair("state-flow", solver).run(problem, LIMITS, start=start)
    assert (kept.status, kept.limit) == (Status.FEASIBLE, Limit.TIME)
    assert kept.value.exact == problem.value(start).exact


def test_a_wrong_claim_of_an_optimum_is_refused(monkeypatch, jobs):
    """A point of the relaxation that the bound contradicts, or that breaks a row, is not used."""
    from milp_trees.mip import method

    solved, problem = method.solved, get("xor")
    for wrong in (
        lambda a: replace(a, bound=a.bound - 1),
        lambda a: replace(a, x=a.x * 0),
        lambda a: replace(a, x=None),
    ):
        jobs.clear()
        monkeypatch.setattr(
            method,
            "solved",
            lambda name, job, emit=None, wrong=wrong: (
                wrong(solved(name, job, emit)) if job.relax else solved(name, job, emit)
            ),
        )
        result = pair("state-flow", "highs").run(problem, LIMITS)
        assert jobs == [True, False]
        assert result.optimal, result.message
        assert result.value.exact == problem.value(brute_force(problem)[0]).exact


def test_a_start_that_was_not_needed_is_said_so():
    result = mt.solve(get("xor"), method="state-flow@highs")
    words = dict(summary(result.to_json(), verbose=True))
    assert words["start"] == "from dp, not needed: the relaxation is integral"
