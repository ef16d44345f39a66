"""Lower bounds of weighted errors in `pareto`, and the trees of three levels that they leave."""

import numpy as np
import pytest
from rank_cases import data
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.engines.enumerate_counts import enumerate_counts
from milp_trees.methods.watch import GO, Watch
from milp_trees.problems.questions import Front


@pytest.mark.parametrize("size", [1, 3])
def test_the_least_weighted_errors_are_those_of_the_front(size):
    """They bound two levels from below, and are exact where leaves may be of any size."""
    from milp_trees.engines.pareto import kernels, lines
    from milp_trees.engines.pareto.search import ErrorFronts

    weights = np.array([[1, 1], [7, 2], [1, 9]])
    for seed in range(20):
        problem = mt.Problem(data(seed, 40, 6), mt.tasks.Matthews(), mt.Trees(3))
        view, beside = problem.view(mt.plugins.PairCounts), Watch(Limits()).beside
        fronts = ErrorFronts(view, size, None, lambda: None, beside)
        low = np.empty((len(weights), len(fronts.tests)), dtype=np.int64)
        pairs = kernels.pairs_of(fronts.root, fronts.words, fronts.ups, GO)
        found = lines.least_of(pairs, *fronts.counts(fronts.root), size, weights, low, GO)
        achieved = (fronts.front(fronts.root, 2)[:, 1:] @ weights.T).min(axis=0)
        assert (found <= achieved).all() if size > 1 else (found == achieved).all()


@each_row("seed", range(4))
@each_row("limits", [{}, {"min_samples_leaf": 3}, {"max_leaf_nodes": 5}])
def test_three_levels_equal_all_trees(seed, limits):
    """The best of several metrics, and the front, against the list of all numbers of all trees."""
    rows, space = data(seed, 20, 5), mt.Trees(3, **limits)
    metrics = [mt.tasks.F1(), mt.tasks.Matthews(), mt.tasks.GeometricMean(leaf_penalty="1/40")]
    for task in metrics:
        problem = mt.Problem(rows, task, space)
        view = problem.view(mt.plugins.PairCounts)
        achieved = [
            (fp, fn, leaves)
            for leaves, fp, fn in enumerate_counts(
                view, 3, space.min_samples_leaf, leaves_apart=False
            )
            if leaves <= (space.max_leaf_nodes or 8)
        ]
        found = mt.solve(problem, "pareto", reference=None)
        assert found.optimal
        best = view.to_value(max(view.units(*point) for point in achieved))
        assert found.objective == pytest.approx(float(best), abs=1e-12)

        front = mt.solve(mt.Problem(rows, task, space, Front()), "pareto", reference=None)
        points = {point if view.leaf_penalty else point[:2] for point in achieved}
        assert front.complete
        assert {tuple(v.exact for v in s.coordinates) for s in front.solutions} == {
            x
            for x in points
            if not any(y != x and all(a <= b for a, b in zip(y, x, strict=True)) for y in points)
        }


def test_most_root_tests_are_left_out():
    """The lines leave most fronts of two levels unmade."""
    problem = mt.Problem(
        mt.load("planted:rows=300,tests=30,depth=3,noise=0.1,seed=3"), mt.tasks.F1(), mt.Trees(3)
    )
    result = mt.solve(problem, "pareto", reference=None)
    assert result.optimal
    assert result.model_size["sums"] < 10
