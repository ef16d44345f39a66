"""Path cuts, rival cuts, CUT, CUT_W, MCF1 and MCF2: how their relaxations compare, what continuous choices
decode to, and the slips of published code.
"""

from dataclasses import replace

import numpy as np
import pytest
from milp_trees.formulations import _gains as gains
from milp_trees.formulations import _rivals

import milp_trees as mt
from milp_trees import Tree, Trees
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.testing import (
    CHECKS,
    check_formulation,
    planted_problem,
    random_cost_problem,
    random_tree,
)
from milp_trees.testing.solve import minimise

VARIANTS = [
    "path-cut",
    "path-cut:rivals=0",
    "path-cut:rivals=3",
    "path-cut:strengthen=off",
    "path-cut:strengthen=off,rivals=0",
    "cut",
    "cut-w",
    "mcf1",
    "mcf2",
]


def formulation(label):
    name, _, given = label.partition(":")
    spelled = {"on": True, "off": False}
    options = dict(item.split("=") for item in given.split(",") if item)
    return mt.registry.formulation(
        name, **{k: spelled[v] if v in spelled else int(v) for k, v in options.items()}
    )


def matrix_of(label, problem):
    f = formulation(label)
    m = f.build(problem, incomplete=True)
    return f, m, compile_model(m)


def bound(label, problem):
    """Optimum of the linear relaxation, with all cuts."""
    f, m, matrix = matrix_of(label, problem)
    return minimise(matrix, f.separator(m, matrix), relax=True).objective


def labelled(seed, n_rows=14, n_features=4, depth=2, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    y[:n_classes] = np.arange(n_classes)
    return mt.Problem(
        mt.Dataset(rng.integers(0, 2, (n_rows, n_features)), y=y), mt.Accuracy(), Trees(depth)
    )


def random_problem(seed):
    """Costs of any sign, two or three actions, with and without penalties and a leaf limit, depth 0
    to 2.
    """
    rng = np.random.default_rng(seed)
    given = random_cost_problem(
        seed,
        n_rows=int(rng.integers(1, 11)),
        n_features=int(rng.integers(1, 4)),
        n_actions=int(rng.integers(2, 4)),
        depth=int(rng.integers(0, 3)),
        penalty=bool(seed % 2),
    )
    limit = int(rng.integers(1, 5)) if seed % 3 == 0 else None
    return mt.Problem(given.dataset, given.task, Trees(given.trees.max_depth, max_leaf_nodes=limit))


# -- exactness ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("label", VARIANTS)
def test_random_costs(label):
    for seed in range(100, 116):
        problem = random_problem(seed)
        view = problem.presolved_view()
        f, m, matrix = matrix_of(label, problem)
        best = mt.solve(problem, method="enumerate").predictor
        point = minimise(matrix)
        assert point.objective == pytest.approx(view.objective(best), abs=1e-5), seed
        matrix.load(point.x)
        assert view.objective(f.decode(m).prune_empty(view)) == view.objective(best), seed
        rng = np.random.default_rng(seed)
        for tree in (best, *(random_tree(problem, rng) for _ in range(5))):
            if tree is not None:
                f.encode(tree, m)
                x = matrix.values()
                assert matrix.violation(x) <= 1e-9, seed
                assert matrix.objective(x) == pytest.approx(view.objective(tree)), seed
                assert view.objective(f.decode(m)) == view.objective(tree), seed


@pytest.mark.slow
@pytest.mark.parametrize("label", VARIANTS)
def test_rows_that_are_not_merged(label):
    problem = labelled(3, n_rows=10, n_features=2, depth=1, n_classes=3)
    check_formulation(
        replace(formulation(label), merge_rows=False, drop_tests=False), {"equal rows": problem}
    )


@pytest.mark.parametrize("label", VARIANTS)
def test_rows_that_cannot_gain(label):
    values = np.array([[3, 3], [1, 1]])
    problem = mt.Problem(
        mt.Dataset([[0, 1], [1, 0]], values=values), mt.tasks.ActionCostMatrix(), Trees(2)
    )
    _f, m, matrix = matrix_of(label, problem)
    assert minimise(matrix).objective == problem.presolved_view().objective(Tree(Leaf(0), (0, 1)))
    assert not m.scored


@pytest.mark.parametrize("label", ["path-cut", "path-cut:strengthen=off"])
def test_depth_three(label):
    problem = planted_problem(5, n_rows=9, n_features=3, depth=3)
    f, m, matrix = matrix_of(label, problem)
    assert minimise(matrix).objective == pytest.approx(0, abs=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(20):
        tree = random_tree(problem, rng)
        f.encode(tree, m)
        assert matrix.violation(matrix.values()) == 0
        assert matrix.objective(matrix.values()) == problem.presolved_view().objective(tree)


@pytest.mark.parametrize("label", ["cut", "cut-w", "mcf1", "mcf2"])
@pytest.mark.parametrize("depth", range(4))
def test_sizes_at_every_depth(label, depth):
    """With one sink and with several; there are ten tests."""
    for least in (1, 3):
        given = labelled(7, n_rows=12, n_features=10, depth=depth, n_classes=3)
        space = Trees(depth, min_samples_leaf=least, max_leaf_nodes=3 if depth > 1 else None)
        CHECKS["sizes"](formulation(label), replace(given, space=space))


# -- relaxations ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_relaxation_of_cut_is_that_of_flow_oct(seed):
    problem = labelled(seed)
    flow = bound("flow-oct", problem)
    for label in ("cut", "mcf1", "mcf2"):
        assert bound(label, problem) == pytest.approx(flow, abs=1e-6)
    assert bound("benders-oct", problem) == pytest.approx(flow, abs=1e-6)
    assert bound("cut-w", problem) <= flow + 1e-6
    assert bound("path-cut:strengthen=off,rivals=0", problem) <= flow + 1e-6


def test_labels_per_test_and_rivals_tighten():
    gained = []
    for seed in range(4):
        problem = labelled(seed, n_rows=20, n_features=5)
        best = problem.presolved_view().objective(mt.solve(problem, method="enumerate").predictor)
        plain = bound("path-cut:strengthen=off,rivals=0", problem)
        per_test = bound("path-cut:rivals=0", problem)
        both = bound("path-cut", problem)
        assert plain - 1e-6 <= per_test <= both + 1e-6
        assert both <= best + 1e-6
        gained.append(both - plain)
    assert max(gained) > 0.5


def test_relaxation_is_integral_at_depth_one():
    for seed in range(6):
        problem = labelled(seed, n_rows=16, n_features=5, depth=1, n_classes=3)
        _f, _m, matrix = matrix_of("path-cut", problem)
        best = mt.solve(problem, method="enumerate").value.number
        assert minimise(matrix, relax=True).objective == pytest.approx(best, abs=1e-6)


def test_only_the_root_is_branched_on_at_depth_two():
    problem = labelled(0)
    _f, _m, matrix = matrix_of("path-cut", problem)
    tests = [
        v.name
        for v, integer in zip(matrix.columns, matrix.integer, strict=True)
        if integer and v.name.startswith("b[")
    ]
    assert tests == [f"b[1,{f}]" for f in range(problem.presolved_view().n_features)]


# -- rivals ---------------------------------------------------------------------------------------------------


def test_rivals_are_the_nearest_rows_of_another_class():
    X = [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]]
    view = mt.Problem(mt.Dataset(X, y=[0, 0, 1, 1]), mt.Accuracy(), Trees(2)).presolved_view(
        merge_rows=False, drop_tests=False
    )
    pairs, joint = _rivals.nearest_rivals(view, 1)
    assert pairs.tolist() == [[0, 2], [1, 2], [1, 3]]
    assert joint.tolist() == [1, 1, 1]
    assert len(_rivals.nearest_rivals(view, 9)[0]) == 4, "all pairs of two classes, each once"


def test_rivals_in_blocks(monkeypatch):
    view = random_cost_problem(4, n_rows=30, n_features=6, n_actions=3).presolved_view()
    whole = _rivals.nearest_rivals.__wrapped__(view, 2)
    monkeypatch.setattr(_rivals, "BLOCK", 4)
    parts = _rivals.nearest_rivals.__wrapped__(view, 2)
    assert np.array_equal(whole[0], parts[0])
    assert np.array_equal(whole[1], parts[1])
    share, _ = gains.shares(view)
    assert (whole[1] < 2).all()
    assert np.allclose(whole[1], (share[whole[0][:, 0]] + share[whole[0][:, 1]]).max(axis=1))


def test_rivals_with_equal_tests_are_the_equivalent_points_cut():
    problem = mt.Problem(
        mt.Dataset([[0, 1]] * 4 + [[1, 0]], y=[0, 1, 0, 1, 1]), mt.Accuracy(), Trees(2)
    )
    label = "path-cut:merge_rows=off,drop_tests=off"
    assert bound(f"{label},strengthen=off,rivals=0", problem) == pytest.approx(0, abs=1e-6)
    assert bound(f"{label},strengthen=off", problem) == pytest.approx(2, abs=1e-6)


# -- decoding -------------------------------------------------------------------------------------------------


def test_shared_tests_and_labels_decode_to_the_best_of_them():
    """Continuous choices on the last level may be shared in a feasible point; the tree is no dearer
    than the mixture.
    """
    problem = labelled(1, n_rows=20, n_features=5)
    view = problem.presolved_view()
    f, m, matrix = matrix_of("path-cut", problem)
    rng = np.random.default_rng(0)
    root = view.features[0]
    for _ in range(20):
        points, costs = [], []
        for _ in range(2):
            a, b = (view.features[int(rng.integers(1, view.n_features))] for _ in range(2))
            tree = Tree(
                Branch(
                    root,
                    Branch(a, Leaf(0), Leaf(1)),
                    Branch(b, Leaf(1), Leaf(int(rng.integers(2)))),
                ),
                view.actions,
            )
            f.encode(tree, m)
            points.append(matrix.values())
            costs.append(view.objective(tree))
        mixture = (points[0] + points[1]) / 2
        assert matrix.violation(mixture) <= 1e-9
        matrix.load(mixture)
        assert view.objective(f.decode(m)) <= sum(costs) / 2


# -- slips of published code ----------------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["cut", "cut-w", "mcf1", "mcf2"])
def test_the_root_counts_where_it_predicts(label):
    """The authors' code leaves v = 1 out of the objective, so that a tree of one leaf is right
    nowhere.
    """
    problem = labelled(2, depth=2)
    view = problem.presolved_view()
    f, m, matrix = matrix_of(label, problem)
    for action in range(2):
        tree = Tree(Leaf(action), view.actions)
        f.encode(tree, m)
        assert (
            matrix.objective(matrix.values()) == view.objective(tree) < view.costs.max(axis=1).sum()
        )


def test_right_is_a_share_where_costs_differ():
    """Binary s would round the gain of a second-best action down to nothing."""
    values = np.array([[0, 2, 3], [3, 2, 0]])
    problem = mt.Problem(
        mt.Dataset([[0], [0]], values=values), mt.tasks.ActionCostMatrix(), Trees(1)
    )
    for label in ("cut", "cut-w", "mcf1", "mcf2"):
        _f, _m, matrix = matrix_of(f"{label}:merge_rows=off,drop_tests=off", problem)
        assert not matrix.integer[[v.name.startswith("s[") for v in matrix.columns]].any()
        assert minimise(matrix).objective == pytest.approx(3)


# -- public data ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, errors", [("primary-tumor", 58), ("hepatitis", 16)])
def test_path_cut_closes_depth_two(data_folder, name, errors):
    problem = mt.Problem(
        mt.load(str(data_folder / "classification" / f"{name}.txt")), mt.Accuracy(), Trees(2)
    )
    result = mt.solve(problem, method="path-cut@highs", time_limit=100)
    assert result.status is mt.plugins.Status.OPTIMAL
    assert result.value.number == errors
