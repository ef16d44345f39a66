"""The contract of formulations of trees: every registered one under the conformance checks, alone and
with every solver that is present.
"""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from solver_params import solver_params
from taken_problems import in_turn, taken_problems

from milp_trees.mip.registry import registry
from milp_trees.testing import (
    CHECKS,
    METAMORPHIC,
    PROBLEMS,
    RANDOM,
    check_deletable_constraints,
    check_solver_pair,
    default_problems,
)
from milp_trees.testing.sets import PAIR_PROBLEMS, get, is_wide
from milp_trees.testing.solve import built
from milp_trees.testing.strategies import problems
from milp_trees.testing.suite import checks_for, too_large

#: Level of the suite: all problems of `quick` or `thorough` for every formulation; by default each wide
#: problem for one formulation, in turn (which catches all planted faults of `test_wide.py`).
LEVEL = os.environ.get("MILP_TREES_CONFORMANCE", "quick")
EVERY_PROBLEM = "MILP_TREES_CONFORMANCE" in os.environ
FORMULATIONS = registry.formulations_for(get("xor"))


def taken() -> Iterator[tuple[str, str]]:
    """Every formulation with every problem of the level that it takes; by default most wide problems
    are left to other formulations.
    """
    turns = {label: in_turn(label) for label in FORMULATIONS}
    for label in FORMULATIONS:
        if LEVEL == "thorough":
            found = default_problems(LEVEL).items()
            formulation = registry.formulation(label)
            yield from ((label, name) for name, p in found if not formulation.unsupported(p))
            continue
        for name in taken_problems("trees", label):
            if EVERY_PROBLEM or not is_wide(name) or name in turns[label]:
                yield label, name


def every_time(label: str, name: str) -> bool:
    """Whether a plain run tries a formulation on a problem: a third of them, no wide one."""
    if is_wide(name):
        return False
    return ([*PROBLEMS, *RANDOM].index(name) + FORMULATIONS.index(label)) % 3 == 0


@pytest.mark.parametrize(
    "label, name",
    [pytest.param(*pair, marks=() if every_time(*pair) else pytest.mark.slow) for pair in taken()],
)
def test_a_formulation_on_a_problem(label, name):
    """All checks: documented, sized, optimum and tree as the oracle says, every tree encodable,
    relaxation a bound, metamorphic.
    """
    formulation = registry.formulation(label)
    problem = default_problems(LEVEL)[name] if LEVEL == "thorough" else get(name)
    assert formulation.unsupported(problem) is None
    for check in checks_for(
        name, None, name in METAMORPHIC, bool(too_large(formulation, problem, LEVEL))
    ).values():
        check(formulation, problem)


def test_every_formulation_is_tried():
    """A formulation that refuses every problem is none."""
    assert {label for label, _ in taken()} == set(FORMULATIONS)


@pytest.mark.slow
@pytest.mark.parametrize("label", FORMULATIONS)
@settings(max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(problem=problems())
def test_a_formulation_on_any_small_problem(label, problem):
    """Hypothesis looks for a problem, of any task and limits, on which a check fails, and shrinks
    it.
    """
    formulation = registry.formulation(label)
    if formulation.unsupported(problem) is None:
        for check in CHECKS.values():
            check(formulation, problem)


@pytest.mark.slow
@pytest.mark.parametrize("label", FORMULATIONS)
def test_no_constraint_can_be_deleted_unnoticed(label):
    """Deleting any named constraint of a formulation makes a check fail, or the file declares it
    redundant and says why.
    """
    check_deletable_constraints(registry.formulation(label))


def pair_problems(formulation: str) -> list[str]:
    """Problems for a formulation with a solver, an optimum first: by default `PAIR_PROBLEMS`."""
    takes = taken_problems("trees", formulation)
    return [name for name in PAIR_PROBLEMS if name in takes] or takes[:1]


@pytest.mark.parametrize("solver", solver_params())
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_formulation_with_a_solver(formulation, solver):
    """The solver proves the oracle's value, with and without a start, and is seen to accept the
    start; or it says why it does not take the model. All problems go to the default solver, and one
    to each of the others.
    """
    names = pair_problems(formulation)
    names = names if solver == registry.default_solver else names[:1]
    report = check_solver_pair(formulation, solver, {name: get(name) for name in names})
    if not report.passed:
        model, adapter = (
            built(registry.formulation(formulation), get(names[0])).matrix,
            registry.solver(solver),
        )
        assert report.skipped[names[0]] == adapter.unsupported(model)
        assert not {"continuous", "general-integers"} <= adapter.capabilities


@pytest.mark.parametrize("solver", solver_params())
def test_every_solver_takes_a_formulation(solver):
    """So that the test above runs it."""
    models = (built(registry.formulation(f), get(pair_problems(f)[0])).matrix for f in FORMULATIONS)
    assert any(registry.solver(solver).unsupported(model) is None for model in models)
