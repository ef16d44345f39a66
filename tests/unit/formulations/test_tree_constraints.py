"""Constraints on the tree itself: state-flow, whole and reduced, against all trees."""

from dataclasses import replace

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError, Unsupported
from milp_trees.common.limits import Limit, Stopped
from milp_trees.mip.registry import registry
from milp_trees.tasks.constraints import constraint
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing.definitions_of_constraints import broken
from milp_trees.testing.solve import built, minimise
from milp_trees.testing.task_data import rows_of, see

METHODS = ("state-flow@highs", "state-flow-reduced@highs")
#: Constraints that bind on most small data sets.
RULES = [
    {"name": "feature-budget", "at_most": 1},
    {"name": "not-together", "first": "x0", "second": "x2"},
    {"name": "requires", "feature": "x0", "needs": "x1"},
    {"name": "requires", "needs": "x2"},
    {"name": "monotone", "column": "x0"},
    {"name": "monotone", "column": "x2", "direction": "decreasing"},
    {"name": "parity-in-subtrees", "max_disparity": "1/4"},
    {"name": "parity-in-leaves", "max_disparity": "1/4"},
    {"name": "error-rates", "max_false_positive_rate": "0", "max_false_negative_rate": "1/2"},
    {"name": "equalised-odds", "max_disparity": "1/4"},
    {"name": "statistical-parity", "max_disparity": "1/4"},
]


def drawn(rng, n_rules):
    """A small data set of which two features are equal or complementary, and some rules."""
    n, F = int(rng.integers(4, 10)), int(rng.integers(3, 5))
    X = rng.integers(0, 2, (n, F))
    X[:, 1] = X[:, 0] if rng.random() < 0.5 else 1 - X[:, 0]
    y = np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])
    names = [mt.BinaryFeature(f"x{f}") for f in range(F)]
    data = mt.Dataset(X, names, y=y, groups=[0, 1, *rng.integers(0, 3, n - 2).tolist()])
    chosen = rng.choice(len(RULES), n_rules, replace=False)
    rules = tuple(constraint(**RULES[i]) for i in chosen)
    penalty = "1/40" if rng.random() < 0.4 else 0
    most = 3 if rng.random() < 0.3 else None
    space = mt.Trees(2, most, int(rng.integers(1, 3)))
    return mt.Problem(data, mt.Accuracy(constraints=rules, leaf_penalty=penalty), space)


def trees(data, rows, depth, least):
    """All trees on some rows whose leaves hold enough of them, also those that split in vain."""
    if len(rows) < least:
        return
    yield from (mt.plugins.Leaf(k) for k in range(len(data.classes)))
    for f in range(data.n_features if depth else 0):
        sides = [rows[data.X[rows, f] == v] for v in (0, 1)]
        if all(len(side) for side in sides):
            left, right = (list(trees(data, side, depth - 1, least)) for side in sides)
            yield from (mt.plugins.Branch(data.features[f], a, b) for a in left for b in right)


def best(problem):
    """The least value of a tree that keeps all constraints by their definitions, or None."""
    data, space = problem.dataset, problem.space
    spec, rows = problem.task.spec(), rows_of(data)
    found = None
    for root in trees(data, np.arange(data.n_rows), space.depth, space.min_samples_leaf):
        tree = mt.Tree(root, problem.task.actions(data))
        if space.max_leaf_nodes is not None and tree.n_leaves > space.max_leaf_nodes:
            continue
        value = problem.value(tree).exact
        if (found is None or value < found) and not broken(spec, rows, see(tree, data)):
            found = value
    return found


def test_the_optimum_is_that_of_all_trees():
    """For single constraints and pairs, also where no tree satisfies them."""
    infeasible = 0
    for seed in (0, 1, 2, 3, 5, 7):
        problem = drawn(np.random.default_rng(seed), 1 + seed % 2)
        expected = best(problem)
        infeasible += expected is None
        for method in METHODS:
            found = registry.method(method).run(problem)
            what = f"seed {seed}, {problem.task.constraints}: {found!r}, expected {expected}"
            if expected is None:
                assert found.status.value == "infeasible", what
            else:
                assert found.optimal, what
                assert found.value.exact == expected, what
    assert infeasible


def test_no_feature_is_dropped_where_names_matter():
    """Of two equal features the forbidden one must not stand for the other."""
    X = [[0, 0], [1, 1], [1, 1], [0, 0]]
    data = mt.Dataset(X, [mt.BinaryFeature("a"), mt.BinaryFeature("b")], y=[0, 1, 1, 0])
    for needs in ("a", "b"):
        task = mt.Accuracy(constraints=(constraint("requires", needs=needs),))
        problem = mt.Problem(data, task, mt.Trees(1))
        for method in METHODS:
            (split,) = mt.solve(problem, method).tree.splits
            assert split.column == needs
        assert problem.presolved_view().n_features == 2


def test_other_methods_say_that_they_cannot_take_it():
    """In one sentence that names those that can; a task that is no sum of costs says so itself."""
    data = mt.Dataset([[0, 1], [1, 0]], y=[0, 1])
    rule = constraint("feature-budget", at_most=1)
    problem = mt.Problem(data, mt.Accuracy(constraints=(rule,)), mt.Trees(2))
    for method in ("dp", "lagrangian", "flow-oct@highs", "enumerate", "near-best"):
        with pytest.raises(Unsupported, match=r"feature-budget.*state-flow-reduced and state-flow"):
            mt.solve(problem, method)
    with pytest.raises(DataError, match="about the tree"):
        mt.tasks.F1(constraints=(rule,))


@each_row(
    ("name", "options", "sentence"),
    [
        ("feature-budget", {"at_most": -1}, "whole number"),
        ("feature-budget", {"at_most": "many"}, "whole number"),
        ("requires", {"needs": "z"}, "neither a column nor a test"),
        ("not-together", {"first": "a", "second": "a"}, "not two different features"),
        ("monotone", {"column": "z"}, "not a column"),
        ("monotone", {"column": "a", "direction": "up"}, "increasing or decreasing"),
        ("parity-in-leaves", {"max_disparity": 2}, "between 0 and 1"),
        ("error-rates", {"max_false_positive_rate": -1}, "between 0 and 1"),
        ("error-rates", {}, "needs max_false_positive_rate or"),
        ("parity-in-subtrees", {}, "needs `groups`"),
    ],
)
def test_a_constraint_that_makes_no_sense_is_refused(name, options, sentence):
    """When it is made, or when it meets the data."""
    data = mt.Dataset([[0, 1], [1, 0]], [mt.BinaryFeature(c) for c in "ab"], y=[0, 1])

    def view():
        task = mt.Accuracy(constraints=(constraint(name, **options),))
        return mt.Problem(data, task, mt.Trees(1)).view(CostMatrix)

    with pytest.raises(DataError, match=sentence):
        view()


def test_the_first_models_hold_only_trees_near_the_bound():
    """Each further model holds more; a model without a solution raises the bound."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (60, 6))
    y = (X[:, 0] ^ X[:, 1]) & (rng.random(60) < 0.8)
    data = mt.Dataset(X, y=y, groups=rng.integers(0, 2, 60))
    rules = (constraint("statistical-parity", max_disparity="1/50"),)
    problem = mt.Problem(data, mt.Accuracy(constraints=rules), mt.Trees(3))
    formulation = registry.formulation("state-flow-reduced")
    models = [stage.model for stage in formulation.stages(problem)]
    sizes = [m.hypergraph.n_columns for m in models]
    assert sizes == sorted(sizes)
    full = registry.formulation("state-flow").build(problem).hypergraph
    assert sizes[-1] < full.n_columns
    found = mt.solve(problem, "state-flow-reduced@highs")
    assert found.optimal
    assert found.value == mt.solve(problem, "lagrangian").value
    assert "after lagrangian and dp" in found.certificate.proved_by


def test_a_stopped_run_keeps_tree_and_bound():
    """The time limit ends the run with the bound that was proven until then."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (200, 14))
    data = mt.Dataset(X, y=rng.integers(0, 2, 200), groups=rng.integers(0, 2, 200))
    rules = (constraint("feature-budget", at_most=2),)
    problem = mt.Problem(data, mt.Accuracy(constraints=rules), mt.Trees(3))
    found = registry.method("state-flow-reduced@highs").run(problem, mt.Limits(time=1.0))
    assert found.seconds < 2.5
    assert found.bound is not None
    assert found.status.value in ("feasible", "no solution", "optimal")


def test_a_reduced_model_that_is_too_large_says_so():
    """The size is known when it is counted: as an estimate's reason, and as the end of a run."""
    rng = np.random.default_rng(5)
    data = mt.Dataset(rng.integers(0, 2, (60, 8)), y=rng.integers(0, 2, 60))
    rules = (constraint("feature-budget", at_most=0),)
    problem = mt.Problem(data, mt.Accuracy(constraints=rules), mt.Trees(2))
    table = mt.estimate(problem, ["state-flow-reduced:max_columns=5"])
    assert "max_columns" in table["reason"][0]
    with pytest.raises(Unsupported, match="max_columns"):
        registry.formulation("state-flow-reduced", max_columns=5).build(problem)


@pytest.mark.parametrize("rule", [mt.tasks.StatisticalParity("0.05"), mt.tasks.FeatureBudget(1)])
def test_a_run_that_is_stopped_before_its_model_is_complete_keeps_tree_and_bound(rule, monkeypatch):
    def stop(self, view, space):
        raise Stopped(Limit.TIME)

    data = mt.load("planted:rows=60,tests=5,depth=2,noise=0.1")
    problem = mt.Problem(
        data.with_(groups=data.X[:, 0]), mt.Accuracy(constraints=(rule,)), mt.Trees(2)
    )
    whole = mt.solve(problem, "state-flow-reduced@highs")
    monkeypatch.setattr(registry.classes("formulations")["state-flow-reduced"], "_hypergraph", stop)
    stopped = mt.solve(problem, "state-flow-reduced@highs")
    assert stopped.limit is Limit.TIME
    assert stopped.certificate.proved_by == "lagrangian"
    assert 0 < stopped.bound <= whole.value.number <= stopped.value.number
    assert not problem.violations(stopped.tree)


def test_three_groups_are_compared_in_both_directions_in_every_subtree():
    """The optimum is another one without the rows of either direction."""
    digits = "100111011000101001101001111110110110001100110"
    X, y = np.array(list(map(int, digits))).reshape(15, 3), list(map(int, "010110101100110"))
    data = mt.Dataset(X, y=y, groups=list("cbcacacbbbcabaa"))
    task = mt.Accuracy(constraints=(mt.tasks.ParityInSubtrees("1/3", 1),))
    problem = mt.Problem(data, task, mt.Trees(3))
    matrix = built(registry.formulation("state-flow"), problem).matrix
    assert minimise(matrix).objective == pytest.approx(6)  # as all trees, one by one
    rates = np.flatnonzero(np.array(matrix.row_labels) == "node_rates")
    for direction in (0, 1):
        upper = matrix.row_upper.copy()
        upper[rates[direction::2]] = np.inf
        assert minimise(replace(matrix, row_upper=upper)).objective < 5.5
