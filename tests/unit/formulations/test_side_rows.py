"""Side constraints and minimum leaf sizes in every formulation of trees that takes them: random
problems against a list of all trees, relaxations that must be equal, and the cuts of leaf sizes.
"""

from dataclasses import replace

import numpy as np
import pytest
import side_rows
from milp_trees.formulations._reached import LeafSizeCuts

import milp_trees as mt
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry
from milp_trees.models.nodes import Leaf
from milp_trees.testing import brute_force, random_tree
from milp_trees.testing.solve import minimise

#: Models with rows of their own for what rows get, and for leaves that are too small.
LABELS = [
    "oct",
    "oct:repair=spo",
    "oct-binary",
    "bin-oct",
    "cut",
    "cut-w",
    "mcf1",
    "mcf2",
    "path-cut",
    "path-cut:strengthen=off,rivals=3",
    "benders-oct",
    "benders-oct:equivalent_points=2",
    "benders-oct:path_bounds=1",
]


def drawn(seed):
    """A problem with side rows or without, and a minimum leaf size of 1 to 5."""
    rng = np.random.default_rng(seed)
    given = side_rows.random_problem(rng)
    least = int(rng.choice([1, 2, 2, 3, 5]))
    rules = given.task.constraints if rng.random() < 0.8 else (side_rows.GivenRows(()),)
    space = replace(given.space, min_weight_leaf=0, min_samples_leaf=least)
    return mt.Problem(given.dataset, replace(given.task, constraints=rules), space)


def modelled(label, requested):
    formulation = registry.spelled("formulations", label)
    m = formulation.build(requested, incomplete=True)
    matrix = compile_model(m)
    return formulation, m, matrix, formulation.separator(m, matrix)


def bound(label, requested):
    """Optimum of the linear relaxation, with all cuts."""
    _, _, matrix, separator = modelled(label, requested)
    return minimise(matrix, separator, relax=True).objective


def group_problem(seed, n_actions=2, least=1, width=2):
    """Rows of two groups; about as many of each get the last action."""
    rng = np.random.default_rng(seed)
    n = 14
    coefs = np.zeros((n, n_actions), dtype=int)
    coefs[:, -1] = rng.choice([-1, 1], n)
    rule = side_rows.GivenRows(((tuple(map(tuple, coefs.tolist())), -width, width),))
    data = mt.Dataset(
        rng.integers(0, 2, (n, 3)),
        values=rng.integers(0, 9, (n, n_actions)),
        actions=tuple(range(n_actions)),
    )
    task = mt.tasks.ActionCostMatrix(constraints=(rule,))
    return mt.Problem(data, task, mt.Trees(2, min_samples_leaf=least))


# -- optima ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", LABELS)
def test_the_optimum_is_the_best_of_all_trees_within_limits(label):
    """Also that there is none, and that the decoded tree keeps the limits and has the value."""
    empty = 0
    for seed in range(10):
        requested = drawn(seed)
        best = side_rows.optimum(requested)
        formulation, m, matrix, separator = modelled(label, requested)
        point = minimise(matrix, separator)
        if best is None:
            assert point.status == "infeasible", seed
            empty += 1
            continue
        matrix.load(point.x)
        tree = formulation.decode(m).prune_empty(requested.dataset)
        assert not requested.violations(tree), seed
        assert requested.value(tree).exact == best, seed
        view = requested.presolved_view(formulation.merge_rows, formulation.drop_tests)
        assert point.objective == pytest.approx(view.objective(tree), rel=1e-6, abs=1e-3), seed
    assert 1 <= empty <= 6


def test_a_leaf_gets_a_label_that_is_not_its_cheapest():
    """The paper's constraint (21) of OCT would exclude the best tree under a side constraint."""
    data = mt.Dataset([[0], [0], [1]], y=["no", "no", "yes"])
    task = mt.Accuracy(constraints=(mt.tasks.Capacity("yes", at_least=2),))
    requested = mt.Problem(data, task, mt.Trees(1))
    best, value = brute_force(requested)
    assert value.number == 2
    assert best == mt.Tree(Leaf(1), ("no", "yes"))
    for label in LABELS:
        formulation, m, matrix, separator = modelled(label, requested)
        formulation.encode(best, m)
        x = matrix.values()
        assert matrix.violation(x) <= 1e-9, label
        assert separator is None or not len(separator.separate(x, True)[1]), label
        assert minimise(matrix, separator).objective == pytest.approx(2), label


def test_numbers_in_leaves_take_no_side_constraints():
    """Predictions of regression models are continuous; the sentence names who lists them."""
    data = mt.Dataset([[0], [1], [1]], y=[1.0, 2.0, 4.0])
    rule = side_rows.GivenRows((((tuple([1] * 3),) * 3, None, 2),))
    task = replace(mt.tasks.AbsoluteError(), constraints=(rule,))
    for name in ("ort-binary", "dtip-regression"):
        why = registry.formulation(name).unsupported(mt.Problem(data, task, mt.Trees(1)))
        assert "side constraints" in why


# -- relaxations ----------------------------------------------------------------------------------


@pytest.mark.parametrize("least", [1, 3])
def test_the_relaxation_of_cut_is_that_of_the_flow_to_several_sinks(least):
    """And with two actions, that of all cuts, since the whole row flows anyway."""
    gaps = []
    for seed in range(3):
        requested = group_problem(seed, least=least)
        flow = bound("flow-oct", requested)
        for label in ("cut", "mcf1", "mcf2"):
            assert bound(label, requested) == pytest.approx(flow, abs=1e-5)
        assert bound("cut-w", requested) <= flow + 1e-6
        assert bound("path-cut:strengthen=off,rivals=0", requested) <= flow + 1e-6
        if least == 1:
            assert bound("benders-oct", requested) == pytest.approx(flow, abs=0.02)
            three = group_problem(seed, n_actions=3)
            assert bound("benders-oct", three) <= bound("flow-oct", three) + 1e-6
        best = requested.presolved_view().objective(brute_force(requested)[0])
        gaps.append(best - flow)
    assert max(gaps) > 0


# -- cuts of leaf sizes ---------------------------------------------------------------------------


def leaf_size_cuts(requested):
    formulation, m, matrix, separator = modelled("benders-oct", requested)
    assert isinstance(separator.sizes, LeafSizeCuts)
    return formulation, m, matrix, separator.sizes


def test_every_leaf_that_is_too_small_is_cut_and_no_other_tree():
    """At trees: a cut per predicting node with too few rows, which feasible trees satisfy."""
    for seed in range(4):
        requested = group_problem(seed, least=4, width=99)
        formulation, m, matrix, cuts = leaf_size_cuts(requested)
        free = mt.Problem(requested.dataset, requested.task, mt.Trees(2))
        rng = np.random.default_rng(seed)
        trees = [random_tree(free, rng) for _ in range(40)]
        points, found, n_small = [], [], 0
        for tree in trees:
            formulation.encode(tree, m)
            x = matrix.values()
            A, upper = cuts.separate(x, 1e-5)
            sizes = np.bincount(tree.routes(requested.dataset).leaf, minlength=tree.n_leaves)
            assert len(upper) == int((sizes < 4).sum()), seed
            assert (A @ x > upper + 1e-9).all()
            n_small += len(upper)
            if len(upper):
                found.append((A, upper))
            else:
                points.append(x)
        assert n_small
        assert points
        assert all((A @ x <= upper + 1e-9).all() for A, upper in found for x in points)


def test_fractional_points_are_cut_where_too_few_rows_can_reach_a_node():
    """The violation is that of the definition: per row the least capacity on the path, at most 1."""
    requested = group_problem(1, least=6, width=99)
    formulation, m, matrix, cuts = leaf_size_cuts(requested)
    view, rng = m.view, np.random.default_rng(3)
    free = mt.Problem(requested.dataset, requested.task, mt.Trees(2))
    n_cut = 0
    for _ in range(12):
        points = []
        for _ in range(2):
            formulation.encode(random_tree(free, rng), m)
            points.append(matrix.values())
        x = (points[0] + points[1]) / 2
        matrix.load(x)
        A, upper = cuts.separate(x, 1e-3)
        short = 0
        for v in m.nodes:
            most = 0.0
            for i in m.rows:
                kept, u = 1.0, v
                while u > 1:
                    on_way = [f for f in m.features if view.X[i, f] == u % 2]
                    kept = min(kept, sum(m.b[u // 2, f].value for f in on_way))
                    u //= 2
                most += view.counts[i] * kept
            short += m.p[v].value > 0 and most < 6 * m.p[v].value - 1e-9
        assert len(upper) == short
        assert (A @ x > upper).all() or not short
        n_cut += short
    assert n_cut


def test_more_rows_are_asked_for_than_there_are():
    """Nothing is feasible, whatever the cuts leave."""
    requested = mt.Problem(
        mt.Dataset([[0], [1]], y=[0, 1]), mt.Accuracy(), mt.Trees(1, min_samples_leaf=3)
    )
    for label in LABELS:
        _, _, matrix, separator = modelled(label, requested)
        assert minimise(matrix, separator).status == "infeasible", label
