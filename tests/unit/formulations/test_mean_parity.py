"""Equal mean predictions of groups: trees by state-flow beside enumeration in Fractions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from plain_regression import leaf_rows, random_problem, shape

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry


def gap(plain, tree, groups):
    """The largest difference of mean predictions between two groups, for any output."""
    cells = [(rows, plain.means(rows)) for rows in leaf_rows(plain, tree)]
    largest = Fraction(0)
    for k in range(len(plain.y[0])):
        means = [
            sum(sum(groups[i] == g for i in rows) * mean[k] for rows, mean in cells)
            / groups.count(g)
            for g in set(groups)
        ]
        largest = max(largest, max(means) - min(means))
    return largest


def random_case(seed, penalties=None):
    """A problem under parity, whose limit is often what a tree just keeps; its definition."""
    rng = np.random.default_rng(seed)
    problem, plain = random_problem(rng, rows=10, depth=2, penalties=penalties)
    groups = rng.integers(0, rng.choice([2, 3]), len(plain.X)).tolist()
    every = [(gap(plain, tree, groups), value) for value, tree in plain.trees()]
    sizes = sorted({size for size, _ in every})
    limit = sizes[int(rng.integers(len(sizes)))] if rng.random() < 0.6 else Fraction(0)
    task = replace(problem.task, constraints=[mt.tasks.MeanPredictionParity(limit)])
    data = replace(problem.dataset, groups=np.array(groups))
    best = min(value for size, value in every if size <= limit)
    return mt.Problem(data, task, problem.space), plain, best, best > plain.best()


@pytest.mark.parametrize("name", ["state-flow", "state-flow-reduced"])
def test_the_optimum_is_that_of_enumeration(name):
    """With several groups and outputs, penalties and weights; the limit itself is allowed."""
    binding = 0
    for seed in range(25):
        problem, plain, best, binds = random_case(seed)
        result = mt.solve(problem, method=f"{name}@highs")
        assert result.status.value == "optimal", result.message
        assert abs(result.value.exact - best) <= plain.whole / 10**9
        assert result.certificate.bound <= float(best + plain.whole / 10**9)
        binding += binds
    assert binding > 5


def test_violations_are_those_of_the_definition():
    """A tree that breaks the limit is told so, with the difference; the others are not."""
    told = 0
    for seed in range(8):
        problem, plain, *_ = random_case(seed, penalties=False)
        free = mt.Problem(problem.dataset, mt.tasks.SquaredError(), problem.space)
        tree = mt.solve(free, method="dp").predictor
        limit = problem.task.constraints[0].max_difference
        index = {test.column: f for f, test in enumerate(problem.dataset.features)}
        size = gap(plain, shape(tree.root, index), problem.dataset.groups.tolist())
        broken = problem.violations(tree)
        assert bool(broken) == (size > limit)
        assert not broken or any(f"{float(size):.6g}" in sentence for sentence in broken)
        told += bool(broken)
    assert told > 1


def test_the_model_has_its_stated_size():
    """The rows of parity are counted with their nonzeros."""
    problem, *_ = random_case(1)
    formulation = registry.method("state-flow@highs").formulation
    matrix = compile_model(formulation.build(problem))
    size = formulation.model_size(formulation.presolved_view(problem), problem.space)
    assert (size.rows, size.nonzeros) == (matrix.n_rows, matrix.A.nnz)
    assert "mean_gaps" in matrix.row_labels


@pytest.mark.parametrize("method", ["dp", "near-best"])
def test_methods_without_it_refuse_in_a_sentence(method):
    """They name those that can."""
    problem, *_ = random_case(1)
    why = registry.method(method).unsupported(problem)
    assert "mean-prediction-parity" in why
    assert "state-flow" in why


def test_it_is_about_predicted_numbers():
    """Tasks that choose among actions refuse it, and squared error refuses the others."""
    with pytest.raises(DataError, match="mean-prediction-parity"):
        mt.tasks.SquaredError(constraints=[mt.tasks.StatisticalParity(0.1)])
    data = mt.Dataset([[0], [1]], y=["no", "yes"], groups=[0, 1])
    task = mt.Accuracy(constraints=[mt.tasks.MeanPredictionParity(0)])
    with pytest.raises(DataError, match="take statistical-parity"):
        mt.solve(mt.Problem(data, task, mt.Trees(max_depth=1)), method="state-flow@highs")
    with pytest.raises(DataError, match="must not be negative"):
        mt.tasks.MeanPredictionParity(-1)


def test_a_stored_task_is_read_back():
    """With the limit as a rational."""
    task = mt.tasks.SquaredError(constraints=[mt.tasks.MeanPredictionParity("1/3")])
    assert mt.tasks.from_spec(task.spec()) == task


def test_a_result_states_how_much_of_the_limit_is_used():
    """In words, beside the value."""
    problem, *_ = random_case(3)
    result = mt.solve(problem, method="state-flow@highs")
    assert result.constraints[0].startswith("mean-prediction-parity: mean predictions differ by")
