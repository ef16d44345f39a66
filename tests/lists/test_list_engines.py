"""Rule lists: engines with every switch give the oracle's value, and what a change of the problem may
change.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.lists.engines.corels.records import MAPS, POLICIES
from milp_trees.lists.engines.corels.switches import BOUNDS
from milp_trees.lists.testing.exhaustive import best_list
from milp_trees.lists.testing.random_lists import any_list, random_list_problem
from milp_trees.mip.registry import registry
from milp_trees.testing.pairs import check_result


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
