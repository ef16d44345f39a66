"""Goals in order, against all trees."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.errors import DataError
from milp_trees.tasks.constraints import constraint


def trees(data, rows, depth):
    yield from (mt.plugins.Leaf(k) for k in range(len(data.classes)))
    for f in range(data.n_features if depth else 0):
        sides = [rows[data.X[rows, f] == v] for v in (0, 1)]
        if all(map(len, sides)):
            left, right = (list(trees(data, side, depth - 1)) for side in sides)
            yield from (mt.plugins.Branch(data.features[f], a, b) for a in left for b in right)


def test_the_second_goal_is_best_among_the_optima_of_the_first():
    """Errors, then another cost, then the number of leaves."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 9))
        data = mt.Dataset(rng.integers(0, 2, (n, 3)), y=[0, 1, *rng.integers(0, 2, n - 2)])
        second = mt.tasks.MisclassificationCosts(matrix=[[0, 3], [1, 0]])
        problem = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
        every = []
        for root in trees(data, np.arange(n), 2):
            tree = mt.Tree(root, (0, 1))
            routes = tree.routes(data)
            values = [t.value(routes, data).exact for t in (problem.task, second)]
            every.append((*values, tree.n_leaves))
        first, then, last = mt.lexicographic(problem, second, "fewest-leaves")
        assert (first.value.exact, then.value.exact) == min(every)[:2], f"seed {seed}"
        routes = last.tree.routes(data)
        found = [t.value(routes, data).exact for t in (problem.task, second)]
        assert (*found, last.tree.n_leaves) == min(every), f"seed {seed}"


def test_constraints_stay_and_goals_that_cannot_be_kept_are_refused():
    """A penalty is no sum over rows, and a number of leaves comes last."""
    data = mt.Dataset([[0, 1], [1, 0], [1, 1]], y=[0, 1, 1])
    capacity = constraint("capacity", action=1, at_most=1)
    problem = mt.Problem(data, mt.Accuracy(constraints=(capacity,)), mt.Trees(2))
    first, second = mt.lexicographic(problem, "fewest-leaves")
    assert first.value.number == 1
    assert second.problem.violations(second.tree) == []
    assert second.tree.n_leaves == 2
    with pytest.raises(DataError, match="last goal"):
        mt.lexicographic(problem, "fewest-leaves", mt.Accuracy())
    with pytest.raises(DataError, match="got 'fairest'"):
        mt.lexicographic(problem, "fairest")
    penalised = mt.Problem(data, mt.Accuracy(leaf_penalty="1/10"), mt.Trees(2))
    with pytest.raises(DataError, match="no penalties"):
        mt.lexicographic(penalised, mt.Accuracy())
    with pytest.raises(DataError, match="adds up costs"):
        mt.lexicographic(problem, mt.tasks.F1(), mt.Accuracy())
    with pytest.raises(DataError, match="no constraints of their own"):
        mt.lexicographic(problem, mt.Accuracy(constraints=(capacity,)))


def test_a_goal_that_comes_twice_changes_nothing():
    """The last task may be the very object that is also the first goal."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data = mt.Dataset(
            rng.integers(0, 2, (12, 4)),
            y=rng.integers(0, 2, 12),
            weights=rng.integers(1, 5, 12),
            classes=(0, 1),
        )
        problem = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
        second = mt.tasks.WeightedError()
        once = mt.lexicographic(problem, second)
        twice = mt.lexicographic(problem, second, problem.task)
        values = [r.value for r in twice]
        assert values == [*(r.value for r in once), once[0].value], f"seed {seed}"


def test_the_command_line_says_that_a_first_goal_is_infeasible():
    """The sentence was that the goal is not proven, and asked for more time."""
    rules = [f"--constraint=capacity:action={k},at_least=40" for k in (0, 1)]
    given = ["solve", "planted:rows=60,tests=3", "--depth=1", *rules, "--then=fewest-leaves"]
    found = CliRunner().invoke(app, [*given, "--json"])
    assert found.exit_code == 3
    assert json.loads(found.stdout)["status"] == "infeasible"
