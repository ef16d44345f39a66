"""Rule lists: every engine with every switch, every formulation and the enumerator give the oracle's
value, on named and random problems; and what a change of the problem may change.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import milp_trees as mt
from milp_trees.common.errors import MilpTreesError
from milp_trees.lists.engines.corels.records import MAPS, POLICIES
from milp_trees.lists.engines.corels.switches import BOUNDS
from milp_trees.lists.testing.exhaustive import all_rule_lists, best_list, n_lists
from milp_trees.lists.testing.problems import list_problems
from milp_trees.lists.testing.random_lists import any_list, random_list_problem
from milp_trees.mip.registry import registry
from milp_trees.models.space import space_classes
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing import METAMORPHIC_CHECKS, check_method, check_solver_pair
from milp_trees.testing.pairs import check_result
from milp_trees.testing.sets import default_list_problems
from milp_trees.testing.strategies import list_problems as any_problems
from milp_trees.testing.suite import check_formulation


def of_lists(group):
    """Names of the registered methods or formulations that take rule lists."""
    return [
        name
        for name, cls in registry.classes(group).items()
        if mt.RuleLists in space_classes(cls.space)
    ]


FORMULATIONS = of_lists("formulations")
#: Engines that prove the best list; the enumerator, which is slow, takes the named problems only.
EXACT = [
    name
    for name in of_lists("methods")
    if registry.method(name).exact and name != "enumerate-lists"
]


# -- the oracle ------------------------------------------------------------------------------------


def test_the_recursion_is_the_best_of_all_scores():
    """The oracle for many lists equals the one that scores each list by the task."""
    compared = 0
    for name, problem in default_list_problems().items():
        if not problem.task.offers(CostMatrix) or problem.view(CostMatrix).structure:
            continue
        if n_lists(problem) > 700:
            continue
        scores = [
            problem.value(one).exact
            for one in all_rule_lists(problem)
            if not problem.violations(one)
        ]
        fast = best_list(problem)
        better = min if problem.task.sense == "min" else max
        assert (fast and problem.value(fast).exact) == better(scores, default=None), name
        compared += 1
    assert compared > 40


def test_the_oracle_by_hand():
    """Problems small enough to do in one's head: errors, as a rate where rules cost something."""
    by_hand = {
        "default_alone": Fraction(1, 4),
        "length_0": 1,
        "order_matters": 0,
        "complement_first": Fraction(1, 25),
        "one_class": 0,
    }
    for name, expected in by_hand.items():
        problem = list_problems()[name]
        if name == "default_alone":
            assert best_list(problem).length == 0
        assert problem.value(best_list(problem)).exact == expected, name


# -- methods ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", of_lists("methods"))
def test_a_method_on_all_problems_of_lists(name):
    """An exact method proves the oracle's value on every problem it takes; a heuristic is feasible
    and never better.
    """
    problems = default_list_problems()
    report = check_method(registry.method(name), problems)
    assert 2 * len(report.passed) > len(problems)
    assert all(report.skipped.values()), "a refusal says why"


def switches(rng):
    """A label of each engine with random switches."""
    off = [f"{bound}=off" for bound in BOUNDS if rng.random() < 0.4]
    named = [f"policy={rng.choice(POLICIES)}", f"map={rng.choice(MAPS)}"]
    yield f"corels:{','.join([*off, *named])}"
    tables, rows, share = rng.integers(0, 4), rng.integers(1, 7), rng.choice([0, 100, 10_000])
    yield f"dp-lists:tables={tables},rows={rows},share={share},dive={rng.integers(1, 5)}"


@pytest.mark.parametrize("part", range(2))
def test_switches_starts_and_limits_do_not_change_what_is_true(part):
    """The optimum does not depend on switches; a stopped run has a bound below and a list above it."""
    ran = stopped = 0
    for seed in range(part * 60, part * 60 + 60):
        rng = np.random.default_rng(seed)
        problem = random_list_problem(seed)
        start = any_list(problem, rng)
        start = None if problem.violations(start) else start
        best = problem.value(best_list(problem)).exact
        for label in switches(rng):
            method = registry.method(label)
            if method.unsupported(problem):
                continue
            assert check_result(method, problem, start).value.exact == best, label
            nodes = mt.Limits(time=60, nodes=int(rng.integers(1, 3)))
            result = method.run(problem, nodes, start=start)
            assert result.bound <= float(best) + 1e-9 <= result.objective + 2e-9, label
            assert not problem.violations(result.predictor)
            ran, stopped = ran + 1, stopped + (result.limit is not None)
    assert ran > 100
    assert stopped > 2


@pytest.mark.parametrize("name", EXACT)
def test_a_method_on_any_small_problem(name):
    """Whatever hypothesis finds, the method agrees with the oracle."""
    method = registry.method(name)

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(any_problems())
    def check(problem):
        try:
            refused = method.unsupported(problem)
        except MilpTreesError:  # the data do not suit the task, whatever the method
            return
        if not refused:
            check_result(method, problem)

    check()


# -- formulations ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_formulation_on_problems_of_lists(name):
    """All checks on a third of the problems, another third for each formulation."""
    turn = FORMULATIONS.index(name) % 3
    problems = {
        label: problem
        for number, (label, problem) in enumerate(default_list_problems().items())
        if number % 3 == turn
    }
    report = check_formulation(registry.formulation(name), problems, metamorphic=False)
    assert len({label for _, label in report.passed}) > 15


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("problem", ["weights", "costs_of_actions", "capacity"])
def test_a_formulation_does_not_depend_on_how_a_problem_is_written(name, problem):
    formulation = registry.formulation(name)
    for check in METAMORPHIC_CHECKS.values():
        check(formulation, list_problems()[problem])


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_formulation_with_a_solver_and_starts(name):
    names = ("capacity", "cannot_hold", "large_rules")
    report = check_solver_pair(name, "highs", {label: list_problems()[label] for label in names})
    assert len({label for _, label in report.passed}) > 1


# -- changes of a problem --------------------------------------------------------------------------


def optimum(problem, name="dp-lists"):
    result = registry.method(name).run(problem, mt.Limits(time=60))
    assert result.optimal, result.message
    return result.value.exact


def with_task(problem, **changes):
    return replace(problem, task=replace(problem.task, **changes))


@pytest.mark.parametrize("engine", ["dp-lists", "corels"])
def test_a_change_of_the_problem_changes_the_optimum_as_it_must(engine):
    """Rows twice double the sum of costs; a column more, a lower price and a longer list are never
    worse; the order of rows and columns does not matter.
    """
    rng = np.random.default_rng(0)
    for seed in range(60):
        X, values = rng.integers(0, 2, (8, 4)), rng.integers(-5, 9, (8, 2))
        X[[0, -1], 0] = 0, 1
        price, length = Fraction(int(rng.integers(0, 4)), 10), int(rng.integers(1, 4))

        def value(X, values, price=price, length=length):
            task = mt.tasks.ActionCostMatrix(split_penalty=price)
            data = mt.Dataset(X, values=values)
            return optimum(mt.Problem(data, task, mt.RuleLists(max_length=length)), engine)

        here = value(X, values)
        twice = value(np.tile(X, (2, 1)), np.tile(values, (2, 1)))
        assert twice == (here if price else 2 * here), seed  # with prices the value is a rate
        rows, columns = rng.permutation(8), rng.permutation(4)
        assert value(X[rows][:, columns], values[rows]) == here, seed
        assert value(np.column_stack([X, rng.integers(0, 2, 8)]), values) <= here, seed
        assert value(X, values, length=length + 1) <= here, seed
        paid = value(X, values, price=price or Fraction(1, 100))
        assert value(X, values, price=(price or Fraction(1, 100)) * 2) >= paid, seed
