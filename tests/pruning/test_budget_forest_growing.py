"""Trees of BudgetRF are grown as the paper says."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from budget_forest_cases import entropy, pairs

import milp_trees as mt
from milp_trees.pruning.budget_forest.trees import midpoints

# -- growing ---------------------------------------------------------------------------------------------------------


def reference(X, y, n_classes, costs, units, alpha, max_depth, free, k, rng):
    """Slow and exact: nodes in depth-first order as (feature, low value, high value, class counts)."""
    nodes, candidates = [], list(range(X.shape[1]))

    def F(rows):
        return pairs(np.bincount(y[rows], minlength=n_classes).tolist(), alpha)

    def grow(rows, depth, bought):
        place = len(nodes)
        nodes.append((-2, 0.0, 0.0, np.bincount(y[rows], minlength=n_classes).tolist()))
        whole = F(rows)
        if whole == 0 or depth == max_depth:
            return
        if k < X.shape[1]:
            for i in range(k):
                j = i + int(rng.random() * (X.shape[1] - i))
                candidates[i], candidates[j] = candidates[j], candidates[i]
        found = []
        for f in candidates[:k]:
            values = np.unique(X[rows, f])
            cuts = [
                (max(F(rows[X[rows, f] <= v]), F(rows[X[rows, f] > v])), v, w)
                for v, w in pairwise(values)
            ]
            if cuts and whole - min(cuts)[0] > Fraction(1, 10**7):
                rest, v, w = min(cuts)
                price = 0 if free and units[f] in bought else Fraction(costs[f])
                found.append((price / (whole - rest), rest, f, v, w))
        if found:
            _, _, f, v, w = min(found)
            nodes[place] = (f, v, w, nodes[place][3])
            grow(rows[X[rows, f] <= v], depth + 1, bought | {units[f]})
            grow(rows[X[rows, f] > v], depth + 1, bought | {units[f]})

    grow(np.arange(len(X)), 0, frozenset())
    return nodes


def random_case(seed):
    """Few values (ties), several classes, costs, groups, thresholds on F, and all options."""
    rng = np.random.default_rng(seed)
    n, p, n_classes = int(rng.integers(2, 40)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    X = rng.integers(0, rng.choice([2, 4, 100]), size=(n, p)).astype(float)
    y = rng.integers(0, n_classes, size=n)
    groups = rng.integers(0, 3, size=p) if rng.random() < 0.5 else None
    costs = rng.choice([0, 1, 2, 0.5, 7.25], size=p) if rng.random() < 0.7 else np.ones(p)
    if groups is not None:
        costs = rng.choice([1, 2, 7.25], size=3)[groups]
    options = {
        "feature_costs": costs,
        "groups": groups,
        "alpha": rng.choice([0, 0, 1, 2, 0.1]).item(),
        "max_depth": [None, 1, 3][rng.integers(3)],
        "free_after_use": bool(rng.random() < 0.5),
        "max_features": None if rng.random() < 0.6 else int(rng.integers(1, p + 1)),
        "bootstrap": bool(rng.random() < 0.5),
    }
    return X, y, options


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_trees_are_those_of_the_reference(block):
    """Same nodes, features, thresholds and counts on random data with ties, classes, costs, groups
    and every option.
    """
    split = 0
    for seed in range(60 * block, 60 * block + 60):
        X, y, options = random_case(seed)
        forest = mt.BudgetForestClassifier(n_estimators=2, random_state=seed, **options).fit(X, y)
        for tree, rows, number in zip(
            forest.estimators_, forest.estimators_samples_, forest._seeds, strict=True
        ):
            rng = np.random.default_rng(int(number))
            if options["bootstrap"]:
                assert np.array_equal(rng.integers(len(y), size=len(y)), rows)
            codes = np.searchsorted(forest.classes_, y)[rows]
            nodes = reference(
                X[rows],
                codes,
                len(forest.classes_),
                options["feature_costs"],
                forest.units_,
                options["alpha"],
                options["max_depth"],
                options["free_after_use"],
                options["max_features"] or X.shape[1],
                rng,
            )
            assert tree.feature.tolist() == [node[0] for node in nodes], seed
            inner = tree.feature >= 0
            assert np.array_equal(
                tree.threshold[inner], [(v + w) / 2 for f, v, w, _ in nodes if f >= 0]
            ), seed
            counts = np.array([node[3] for node in nodes])
            assert np.allclose(tree.value, counts / counts.sum(axis=1, keepdims=True)), seed
            assert np.array_equal(tree.weighted_n_node_samples, counts.sum(axis=1)), seed
            assert tree.impurity == pytest.approx(
                [float(pairs(node[3], options["alpha"])) for node in nodes]
            ), seed
            split += inner.sum()
    assert split > 100


def test_a_cheap_feature_comes_first_where_it_removes_more_per_cost():
    """Worked by hand: F = 4; x0 removes 4 for its cost, x1 removes 2 for 1; below x1 only x0 is
    left.
    """
    X = np.array([[1, 1], [2, 1], [3, 1], [4, 2]])
    y = ["a", "a", "b", "b"]

    def tree(cost):
        return (
            mt.BudgetForestClassifier(n_estimators=1, bootstrap=False, feature_costs=[cost, 1])
            .fit(X, y)
            .estimators_[0]
        )

    dear = tree(4)  # risks 4/4 and 1/2
    assert dear.feature.tolist() == [1, 0, -2, -2, -2]
    assert dear.threshold.tolist() == [1.5, 2.5, -2, -2, -2]
    assert dear.children_left.tolist() == [1, 2, -1, -1, -1]
    assert dear.children_right.tolist() == [4, 3, -1, -1, -1]
    assert dear.impurity.tolist() == [4, 2, 0, 0, 0]
    assert dear.n_node_samples.tolist() == [4, 3, 2, 1, 1]
    assert dear.value.tolist() == [[0.5, 0.5], [2 / 3, 1 / 3], [1, 0], [0, 1], [0, 1]]
    assert (dear.max_depth, dear.n_leaves) == (2, 3)
    assert tree(1.9).feature.tolist() == [0, -2, -2]  # risks 1.9/4 and 1/2


@pytest.mark.parametrize("alpha", [0, 0.4])
def test_entropy_takes_the_least_mean_of_the_children(alpha):
    """Every split has the least risk up to rounding, and at every impure leaf no feature lowers the
    mean.
    """
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 6, size=(40, 3)).astype(float), rng.integers(0, 3, size=40)
        costs = rng.choice([1.0, 2.0, 5.0], size=3)
        tree = (
            mt.BudgetForestClassifier(
                n_estimators=1,
                bootstrap=False,
                criterion="entropy",
                alpha=alpha,
                feature_costs=costs,
            )
            .fit(X, y)
            .estimators_[0]
        )

        def drop(rows, f, t, X=X, y=y):
            sides = (rows[X[rows, f] <= t], rows[X[rows, f] > t])
            return entropy(np.bincount(y[rows]), alpha) - sum(
                len(s) * entropy(np.bincount(y[s]), alpha) for s in sides
            ) / len(rows)

        reached = {0: np.arange(40)}
        for node in range(tree.node_count):
            rows, f = reached[node], tree.feature[node]
            drops = [
                max([drop(rows, g, t) for t in np.unique(X[rows, g])[:-1]], default=0)
                for g in range(3)
            ]
            if f < 0:
                assert entropy(np.bincount(y[rows]), alpha) == 0 or max(drops) <= 1e-7 + 1e-12
                continue
            t = tree.threshold[node]
            assert drop(rows, f, t) == pytest.approx(drops[f], abs=1e-12)
            assert (
                costs[f] / drops[f]
                <= min(c / d for c, d in zip(costs, drops, strict=True) if d > 1e-6) + 1e-9
            )
            reached[tree.children_left[node]], reached[tree.children_right[node]] = (
                rows[X[rows, f] <= t],
                rows[X[rows, f] > t],
            )


def test_thresholds_separate_neighbouring_doubles():
    """Rounding never puts a threshold on or above the larger value, nor overflows."""
    odd = np.nextafter(1.0, 2.0)  # half way to the next double is rounded up to that
    low = np.array([1.0, odd, 0.0, -1.7e308, 1.6e308, 5e-324])
    high = np.array([odd, np.nextafter(odd, 2.0), 5e-324, 1.7e308, 1.7e308, 1e-323])
    middle = midpoints(low, high)
    assert ((low <= middle) & (middle < high)).all()
    X = np.array([[odd], [np.nextafter(odd, 2.0)]])
    assert mt.BudgetForestClassifier(n_estimators=1, bootstrap=False).fit(X, [0, 1]).predict(
        X
    ).tolist() == [
        0,
        1,
    ]
