"""The greedy heuristic: feasible, within all limits, never better than the optimum, and claiming
nothing.
"""

import numpy as np
import pytest
from random_views import random_space, random_view

import milp_trees as mt
from milp_trees.engines.cart import Cart
from milp_trees.engines.dp.method import solve_view
from milp_trees.methods.greedy_tree import greedy_tree
from milp_trees.results.result import Status


@pytest.mark.slow
def test_feasible_and_no_better_than_the_optimum():
    """On random problems; and often enough the optimum itself."""
    optimal = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        view, space = random_view(rng).reduce(), random_space(rng)
        tree, (Z, _) = greedy_tree(view, space), solve_view(view, space)
        assert (tree is None) == (Z is None), f"seed {seed}"
        if tree is None:
            continue
        assert view.objective(tree) >= Z, f"seed {seed}, {space}"
        optimal += view.objective(tree) == Z
        sizes = np.bincount(tree.routes(view).leaf, weights=view.counts, minlength=tree.n_leaves)
        assert sizes.min() >= space.min_samples_leaf, f"seed {seed}, {space}"
        assert tree.depth <= space.max_depth
        assert tree.n_leaves <= (space.max_leaf_nodes or 99)
    assert optimal > 150


def test_one_level_is_optimal():
    """The last level is chosen by cost, so a stump is the best stump."""
    for seed in range(50):
        view = random_view(np.random.default_rng(seed)).reduce()
        space = mt.Trees(1)
        assert view.objective(greedy_tree(view, space)) == solve_view(view, space)[0]


def test_claims_nothing():
    rng = np.random.default_rng(0)
    dataset = mt.Dataset(rng.integers(0, 2, (80, 6)), y=rng.choice(["a", "b", "c"], 80))
    result = Cart().run(mt.Problem(dataset, mt.Accuracy(), mt.Trees(3)))
    assert result.status is Status.FEASIBLE
    assert result.bound is None
    assert result.certificate.proved_by is None
    none = Cart().run(mt.Problem(dataset, mt.Accuracy(), mt.Trees(3, min_samples_leaf=81)))
    assert none.status is Status.INFEASIBLE


def test_side_rows_are_refused():
    dataset = mt.Dataset([[0], [1]], y=[0, 1])
    with pytest.raises(mt.errors.Unsupported, match="side constraints"):
        Cart().run(
            mt.Problem(dataset, mt.Accuracy(constraints=(mt.tasks.Capacity(1, 1),)), mt.Trees(1))
        )
