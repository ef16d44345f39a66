"""Costs at the edge of 64 bits: every engine is exact or refuses in a sentence."""

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import MilpTreesError
from milp_trees.common.limits import Limits


def best(X, costs, rows, depth):
    """The optimum in integers of Python."""
    least = min(sum(int(costs[i, k]) for i in rows) for k in range(costs.shape[1]))
    for f in range(X.shape[1] if depth else 0):
        sides = [[i for i in rows if X[i, f] == side] for side in (0, 1)]
        if all(sides):
            least = min(least, sum(best(X, costs, side, depth - 1) for side in sides))
    return least


def problem(X, costs):
    features = [mt.BinaryFeature(f"x{f}") for f in range(X.shape[1])]
    data = mt.Dataset(X, features, values=costs, actions=tuple(range(costs.shape[1])))
    return mt.Problem(data, mt.tasks.ActionCostMatrix(), mt.Trees(2))


def refusal(method, problem):
    """The sentence of the method or of the task's view, or None."""
    try:
        return method.unsupported(problem)
    except MilpTreesError as why:
        return str(why)


@pytest.mark.parametrize(
    "name", ["dp", "dp-sizes", "dp-sorted", "near-best", "enumerate", "lagrangian"]
)
def test_large_whole_costs_are_exact_or_refused(name):
    """Sums of 2^36 to 2^58 units; whoever takes them has the optimum to the last unit."""
    method, taken = mt.registry.method(name), 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        n, K = int(rng.integers(3, 9)), int(rng.integers(2, 4))
        X = rng.integers(0, 2, (n, 3)).astype(np.uint8)
        size = 2 ** (36 + seed) // n if seed < 23 else 2**58 // n
        costs = rng.integers(-size, size + 1, (n, K))
        given = problem(X, costs)
        if (why := refusal(method, given)) is not None:
            assert "divide" in why, (name, seed)
            assert seed > 14, (name, seed, "refused what 64 bits carry easily")
            continue
        result = method.run(given, Limits(time=20))
        assert result.status.name == "OPTIMAL", (name, seed, result.message)
        assert result.solutions[0].value.exact == best(X, costs, range(n), 2), (name, seed)
        taken += 1
    assert taken >= 16


def test_whole_values_that_floats_would_round_are_kept_or_refused():
    X = np.eye(2, dtype=np.uint8)
    costs = np.array([[2**55 + 1, 2], [3, 4]])
    assert problem(X, costs).dataset.values.tolist() == costs.tolist()
    with pytest.raises(mt.DataError, match="divide them by a common factor"):
        problem(X, np.array([[2**70 + 1, 2], [3, 4]], dtype=object))
    with pytest.raises(mt.DataError, match="weights holds whole numbers above 2"):
        mt.Dataset(X, [mt.BinaryFeature("a"), mt.BinaryFeature("b")], weights=[2**53 + 1, 3])


def test_trees_near_the_best_are_counted_at_large_costs():
    """One leaf costs a single unit more than the best tree, and is told apart from it."""
    X = np.array([[0], [1]], dtype=np.uint8)
    costs = np.array([[2**50, 2**50 + 1], [2**51 + 3, 2**51]])
    assert len(mt.near_best(problem(X, costs), slack=0)) == 1
    assert len(mt.near_best(problem(X, costs), slack=1)) == 2


@each_row("power", [53, 54, 57])
@each_row("name", ["dp", "dp-sorted", "enumerate", "flow-oct@highs"])
def test_whole_costs_given_as_floats_are_integers(name, power):
    """The optimum is 0; rounded to steps of the largest cost, 1000 would be nothing."""
    given = problem(np.array([[0], [1]]), np.array([[2.0**power, 0], [0, 1000]]))
    result = mt.registry.method(name).run(given, Limits(time=20))
    assert result.objective == 0
    assert result.certificate.bound_exact is not None


@pytest.mark.parametrize("name", ["dp", "dp-sorted", "enumerate", "state-flow@highs"])
def test_measured_costs_far_from_zero_differ_by_less_than_one(name):
    """Costs around 3e11: a double tells such sums apart to 0.0005, which is many steps of the view."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (10, 3)).astype(np.uint8)
    above = rng.integers(0, 5, (10, 2)) + rng.random((10, 2))
    given, near = problem(X, 3e11 + above), problem(X, above)
    result = mt.registry.method(name).run(given, Limits(time=20))
    assert (result.status.name, result.message) == ("OPTIMAL", "")
    best = mt.registry.method("enumerate").run(near).objective
    assert abs(result.objective - 3e12 - best) < 0.01
    scale = given.scale
    assert 0 < scale.tolerance * scale.scale < 0.02


def test_rounding_of_many_small_costs_is_within_the_tolerance():
    """One large cost does not make steps so wide that the rounding of all others adds up."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (400, 3)).astype(np.uint8)
    costs = rng.random((400, 2)) * 1e-6
    costs[0] = [1.0, np.pi]
    given = problem(X, costs)
    view = given.view(mt.plugins.CostMatrix)
    assert 2 * view.rounding <= view.tolerance <= 1 + 1e-6 * view.spread * (1 + 1e-9)
    assert mt.registry.method("dp").run(given, Limits(time=20)).optimal


def test_whole_values_that_floats_would_round_are_not_rounded_by_policy_tasks():
    data = problem(np.array([[0], [1]]), np.array([[2**53 + 1, 2**53], [0, 1]])).dataset
    for task, best in (
        (mt.tasks.ActionValues(), 2**53 + 2),
        (mt.tasks.DirectMethod(), 2**53 + 2),
    ):
        found = mt.registry.method("dp").run(mt.Problem(data, task, mt.Trees(1)))
        assert found.value.exact * 2 == best
    both = data.with_(treatments=[0, 1], outcomes=[1.0, 2.0], propensities=[0.5, 0.5])
    with pytest.raises(mt.DataError, match="divide values and outcomes"):
        mt.Problem(both, mt.tasks.DoublyRobust(), mt.Trees(1)).view(mt.plugins.CostMatrix)
