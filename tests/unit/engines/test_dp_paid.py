"""`dp-paid` against all trees by definition, and its limits."""

import random
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.data.dataset import BinaryFeature
from milp_trees.problems.questions import BySize
from milp_trees.results.result import Status
from milp_trees.tasks.path_costs import PathCosts
from milp_trees.tasks.states_view import States

METHOD = "dp-paid"


def least_cost(X, y, w, matrix, owner, attributes, space, per_leaf, per_split):
    """Least cost of all trees by the definition, None if none is feasible: plain recursion over
    rows, what is paid, levels and leaves."""

    def price(a, paid):
        if a is None or a in paid:
            return Fraction(0)
        cost, discount, group = attributes[a]
        return discount if group and any(attributes[b][2] == group for b in paid) else cost

    @cache
    def best(rows, depth, paid, leaves):
        found = []
        if len(rows) >= space.min_samples_leaf and sum(w[i] for i in rows) >= space.min_weight_leaf:
            found.append(
                min(
                    sum((w[i] * M[y[i]] for i in rows), Fraction(0))
                    for M in zip(*matrix, strict=True)
                )
                + per_leaf
            )
        for f in range(X.shape[1] if depth else 0):
            sides = [tuple(i for i in rows if X[i, f] == side) for side in (0, 1)]
            if not all(sides):
                continue
            here = price(owner[f], paid) * sum(w[i] for i in rows) + per_split
            after = paid | ({owner[f]} - {None})
            for a in range(1, leaves):
                parts = [
                    best(sides[0], depth - 1, after, a),
                    best(sides[1], depth - 1, after, leaves - a),
                ]
                if None not in parts:
                    found.append(here + sum(parts))
        return min(found, default=None)

    leaves = min(space.max_leaf_nodes or 64, 2**space.max_depth, max(1, len(y)))
    return best(tuple(range(len(y))), space.max_depth, frozenset(), leaves)


def drawn(seed):
    """A random problem, and the arguments of `least_cost`."""
    rng = random.Random(seed)
    n, F, K, A = (
        rng.choice([3, 6, 8, 11]),
        rng.choice([1, 3, 4]),
        rng.choice([2, 2, 3]),
        rng.choice([1, 2, 3]),
    )
    X = np.array([[rng.random() < 0.5 for _ in range(F)] for _ in range(n)], dtype=np.uint8)
    if F > 2 and rng.random() < 0.4:
        X[:, 1] = 1 - X[:, 0]
    y = [*range(K), *(rng.randrange(K) for _ in range(n - K))]
    weighted = rng.random() < 0.3
    w = [Fraction(rng.randrange(6), 2) if weighted else Fraction(1) for _ in range(n)]
    w[0] = w[0] or Fraction(1)
    matrix = [
        [Fraction(rng.randrange(-2, 30) * 10 ** rng.choice([0, 4]), 2) for _ in range(K)]
        for _ in range(K)
    ]
    owner = [rng.choice([None, *range(A)]) for _ in range(F)]
    attributes = []
    for _ in range(A):
        cost = Fraction(rng.randrange(12), rng.choice([1, 10]))
        group = rng.choice([None, "g", "g"])
        attributes.append(
            (cost, cost * Fraction(rng.choice([0, 1, 2]), 2) if group else cost, group)
        )
    leaf, split = (
        Fraction(rng.randrange(5), 20) if rng.random() < 0.3 else Fraction(0) for _ in "ab"
    )
    task = mt.tasks.CostSensitive(
        matrix=matrix,
        attributes=[
            mt.tasks.Attribute(
                f"a{a}", *attributes[a], [f"c{f}" for f in range(F) if owner[f] == a]
            )
            for a in range(A)
            if a in owner
        ],
        leaf_penalty=leaf,
        split_penalty=split,
    )
    space = mt.Trees(
        rng.choice([0, 1, 2, 3, 3, 4]),
        rng.choice([None, None, 1, 2, 3, 5, 7]),
        rng.choice([1, 1, 2, 3]),
        min_weight_leaf=rng.choice([0, 0, 0, 2]),
    )
    data = mt.Dataset(
        X,
        [BinaryFeature(f"c{f}") for f in range(F)],
        y=y,
        classes=tuple(range(K)),
        weights=[float(v) for v in w] if weighted else None,
    )
    total = sum(w) if task.penalised else Fraction(1)
    rest = (X, y, w, matrix, owner, attributes)
    return mt.Problem(data, task, space), rest, total, (leaf * total, split * total)


@pytest.mark.parametrize("begin", range(0, 120, 40))
def test_it_finds_the_least_cost_of_all_trees(begin):
    """With groups, discounts, weights of 0, negative costs, penalties and every limit."""
    method = mt.registry.method(METHOD)
    for seed in range(begin, begin + 40):
        problem, arguments, total, prices = drawn(seed)
        least = least_cost(*arguments, problem.space, *prices)
        result = method.run(problem)
        if least is None:
            assert result.status is Status.INFEASIBLE, seed
            continue
        assert result.status is Status.OPTIMAL, (seed, result.message)
        assert result.value.exact == result.certificate.bound_exact == least / total, seed


def test_one_run_gives_the_best_tree_of_every_size():
    for seed in range(0, 40, 2):
        problem, arguments, total, prices = drawn(seed)
        free = mt.Trees(problem.space.max_depth)
        path = (
            mt.registry.method(METHOD)
            .run(mt.Problem(problem.dataset, problem.task, free, BySize(5)))
            .curve
        )
        assert len(path.points) == 5
        for point in path.points:
            least = least_cost(*arguments, mt.Trees(free.max_depth, point.leaves), *prices)
            assert point.value.exact == point.bound == least / total, (seed, point.leaves)


def test_a_split_with_an_empty_side_is_no_way_to_a_discount():
    """Asking the cheap attribute where its answer is known would halve the price of the other."""
    task = mt.tasks.CostSensitive(
        matrix=[[0, 100], [100, 0]],
        attributes=[
            mt.tasks.Attribute("cheap", 1, 1, "g", ["0"]),
            mt.tasks.Attribute("dear", 20, 2, "g", ["1"]),
        ],
    )
    X = [[0, 0], [0, 1], [0, 0], [0, 1]]
    result = mt.solve(mt.Problem(mt.Dataset(X, y=[0, 1, 0, 1]), task, mt.Trees(3)))
    assert result.method == METHOD
    assert result.value.number == 80


def test_without_prices_other_methods_take_the_task_and_agree():
    problem, *_ = drawn(3)
    free = mt.tasks.CostSensitive(matrix=problem.task.matrix, attributes={"c0": 0})
    stated = mt.Problem(problem.dataset, free, mt.Trees(3))
    assert mt.solve(stated, method="dp").value == mt.solve(stated, method=METHOD).value
    priced = mt.Problem(problem.dataset, problem.task, mt.Trees(3))
    assert f"{METHOD}, separable can" in mt.registry.method("dp").unsupported(priced)


def test_the_engine_of_the_framework_agrees():
    """`separable` knows the task by its six parts alone; it takes no minimum weight in a leaf."""
    reference, compared = mt.registry.method("separable"), 0
    for seed in range(0, 24, 2):
        problem, *_ = drawn(seed)
        if reference.unsupported(problem) is None:
            found, other = mt.registry.method(METHOD).run(problem), reference.run(problem)
            assert (other.status, other.value) == (found.status, found.value), seed
            compared += 1
    assert compared > 5


def large(seed=0, n=3000, F=70):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, F))
    task = mt.tasks.CostSensitive(
        matrix=[[0, 50], [70, 0]],
        attributes=[mt.tasks.Attribute(f"a{f}", 1 + f % 5, columns=[str(f)]) for f in range(F)],
    )
    return mt.Problem(mt.Dataset(X, y=rng.integers(0, 2, n)), task, mt.Trees(5))


def test_costs_beyond_64_bits_are_refused_with_a_sentence():
    task = mt.tasks.CostSensitive(matrix=[[0, 1], [1, 0]], attributes={"0": "1e-15", "1": 10**9})
    problem = mt.Problem(mt.Dataset([[0, 1], [1, 0]] * 50, y=[0, 1] * 50), task, mt.Trees(2))
    assert "round the prices" in mt.registry.method(METHOD).unsupported(problem)


def test_the_view_counts_what_the_task_does():
    """The integer objective of any tree, on merged rows and fewer features, is the task's value."""
    from milp_trees.testing.task_data import some_trees

    for seed in range(20):
        problem, *_ = drawn(seed)
        view = problem.view(PathCosts)
        for tree in some_trees(problem, 5, seed):
            pruned = tree.prune_empty(problem.dataset)
            for form in (view, view.reduced):
                assert form.to_value(form.objective(pruned)) == problem.value(pruned).exact, seed
            parts = problem.view(States)
            units = parts.units_of(parts.evaluate(tree))
            assert parts.to_value(units) == problem.value(tree).exact, seed
