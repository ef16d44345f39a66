"""Every registered formulation of trees under the conformance checks, alone and with every solver
that is present.
"""

import os
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, assume, given, settings
from solver_params import solver_params
from taken_problems import in_turn, taken_problems

from milp_trees.mip.registry import registry
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing import (
    CHECKS,
    METAMORPHIC,
    PROBLEMS,
    RANDOM,
    check_solver_pair,
    default_problems,
    planted_problem,
)
from milp_trees.testing.sets import PAIR_PROBLEMS, get, is_wide
from milp_trees.testing.solve import built, minimise
from milp_trees.testing.strategies import problems
from milp_trees.testing.suite import checks_for, too_large

#: Level of the suite: all problems of `quick` or `thorough` for every formulation; by default each wide
#: problem for one formulation, in turn (which catches all planted faults of `test_wide.py`).
LEVEL = os.environ.get("MILP_TREES_CONFORMANCE", "quick")
EVERY_PROBLEM = "MILP_TREES_CONFORMANCE" in os.environ
FORMULATIONS = registry.formulations_for(get("xor"))
#: Options that give another model; they are run on the random problems.
VARIANTS = [
    "flow-oct:sinks=multi",
    "path-cut:strengthen=off",
    "path-cut:rivals=0",
    "oct:repair=scalar",
    "oct:repair=d-shift",
    "oct:repair=z-le-d",
    "oct:repair=spo",
]
#: Solvers that run on every pair of the list; the others take the first problem.
THOROUGH = ("highs",)


def make(label):
    """A formulation by its label: `flow-oct` or `flow-oct:sinks=multi`."""
    return registry.method(f"{label}@highs").formulation


def taken() -> Iterator[tuple[str, str]]:
    """Every formulation with every problem of the level that it takes; by default most wide problems
    are left to other formulations.
    """
    turns = {label: in_turn(label) for label in FORMULATIONS}
    for label in FORMULATIONS:
        if LEVEL == "thorough":
            found = default_problems(LEVEL).items()
            yield from ((label, name) for name, p in found if not make(label).unsupported(p))
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
    formulation = make(label)
    problem = default_problems(LEVEL)[name] if LEVEL == "thorough" else get(name)
    assert formulation.unsupported(problem) is None
    for check in checks_for(
        name, None, name in METAMORPHIC, bool(too_large(formulation, problem, LEVEL))
    ).values():
        check(formulation, problem)


def test_every_formulation_is_tried_on_most_problems():
    """Also a new one, which the golden file does not know before it is refreshed."""
    tried = Counter(label for label, _ in taken())
    assert min(tried[label] for label in FORMULATIONS) > 50


@pytest.mark.parametrize("label", FORMULATIONS)
def test_a_formulation_supports_most_tiny_problems(label):
    """Skipping is an exception: two thirds of the problems that are sums of costs, and every plain
    accuracy problem, are taken.
    """
    tiny = {
        name: problem
        for name, problem in default_problems().items()
        if problem.task.offers(CostMatrix) and not is_wide(name)
    }
    refused = [name for name, problem in tiny.items() if make(label).unsupported(problem)]
    assert len(refused) <= len(tiny) / 3, f"{label} refuses {refused}"
    plain = {
        "xor",
        "depth_0",
        "one_row",
        "equal_rows",
        "three_classes",
        "no_tests",
        "complement_pair",
        "adjacent_thresholds",
    }
    assert not plain & set(refused)


@pytest.mark.slow
@pytest.mark.parametrize("label", VARIANTS)
def test_a_variant_on_random_costs(label):
    """Options that change the model pass the checks on the random problems."""
    formulation = make(label)
    taken = {
        name: p
        for name, p in default_problems().items()
        if name.startswith("random") and not formulation.unsupported(p)
    }
    assert taken
    for problem in taken.values():
        for check in CHECKS.values():
            check(formulation, problem)


@pytest.mark.slow
@pytest.mark.parametrize("label", FORMULATIONS)
@settings(max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(problem=problems())
def test_a_formulation_on_any_small_problem(label, problem):
    """Hypothesis looks for a problem, of any task and limits, on which a check fails, and shrinks
    it.
    """
    formulation = make(label)
    assume(formulation.unsupported(problem) is None)
    for check in CHECKS.values():
        check(formulation, problem)


@pytest.mark.parametrize("label", FORMULATIONS)
def test_a_planted_tree_is_found(label):
    """Rows labelled by a tree of the space: the optimum is zero errors."""
    b = built(make(label), planted_problem(3, n_rows=10))
    assert minimise(b.matrix, b.separator).objective == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("solver", solver_params())
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_formulation_with_a_solver(formulation, solver):
    """The solver proves the oracle's value, with and without a start, and is seen to accept the
    start; or it takes integer programs only, and says that this is none.
    """
    names = PAIR_PROBLEMS if solver in THOROUGH else PAIR_PROBLEMS[:1]
    report = check_solver_pair(formulation, solver, {name: get(name) for name in names})
    if not report.passed:
        model, adapter = built(make(formulation), get(names[0])).matrix, registry.solver(solver)
        assert report.skipped[names[0]] == adapter.unsupported(model)
        assert "continuous" not in adapter.capabilities, "only solvers of integer programs refuse"


@pytest.mark.parametrize("solver", solver_params())
def test_every_solver_takes_a_formulation(solver):
    """So that the test above runs it."""
    models = [built(make(label), get(PAIR_PROBLEMS[0])).matrix for label in FORMULATIONS]
    refused = [why for model in models if (why := registry.solver(solver).unsupported(model))]
    assert len(refused) < len(models)
