"""With nothing stated, no tree has more training errors than scikit-learn's under the same limits."""

import warnings

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

import milp_trees as mt
from milp_trees.methods import work


def table(rng):
    """A random table of numbers, texts and missing cells with many ties, its classes and weights."""
    n, K = int(rng.integers(8, 90)), int(rng.integers(2, 6))
    columns = {}
    for j in range(rng.integers(1, 5)):
        kind = rng.choice(["whole", "real", "few", "text", "missing", "yes"])
        if kind == "whole":
            columns[f"c{j}"] = rng.integers(-3, rng.integers(2, 40), n)
        elif kind == "few":
            columns[f"c{j}"] = rng.choice([0.1, 0.2, 0.30000001, 7e5], n)
        elif kind == "text":
            columns[f"c{j}"] = rng.choice(["red", "green", "blue", "grey"], n)
        elif kind == "yes":
            columns[f"c{j}"] = rng.integers(0, 2, n)
        else:
            columns[f"c{j}"] = np.round(rng.normal(size=n), int(rng.integers(0, 4)))
        if kind == "missing":
            columns[f"c{j}"] = np.where(rng.random(n) < 0.2, np.nan, columns[f"c{j}"])
    y = np.concatenate([np.arange(2), rng.integers(0, K, n - 2)])
    weights = rng.integers(1, 6, n) if rng.random() < 0.3 else None
    return pd.DataFrame(columns), y, weights


def limits(rng):
    """Limits that scikit-learn knows, too."""
    return {
        "max_depth": int(rng.integers(1, 5)),
        "min_samples_leaf": int(rng.choice([1, 1, 1, 2, 5])),
        "max_leaf_nodes": [None, None, None, 2, 3, 5, 6][rng.integers(0, 7)],
    }


def errors(model, X, y, weights):
    wrong = model.predict(X) != y
    return int(wrong.sum() if weights is None else weights[wrong].sum())


def both(seed):
    """What is fitted, and the errors of scikit-learn's tree and of ours."""
    rng = np.random.default_rng(seed)
    (X, y, weights), requested = table(rng), limits(rng)
    coded = pd.get_dummies(X, columns=[c for c in X if X[c].dtype.kind not in "iufb"]).astype(float)
    greedy = DecisionTreeClassifier(random_state=0, **requested).fit(coded, y, weights)
    model = mt.OptimalTreeClassifier(**requested)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, sample_weight=weights)
    return requested, errors(greedy, coded, y, weights), errors(model, X, y, weights), model


@each_row("seed", range(60))
def test_no_tree_is_worse_than_greedy(seed):
    requested, greedy, ours, model = both(seed)
    assert ours <= greedy, (seed, requested, model.result_)


@pytest.mark.slow
def test_no_tree_of_many_is_worse_than_greedy():
    worse = [(seed, *found) for seed in range(60, 560) if (found := both(seed)[:3])[2] > found[1]]
    assert worse == []


def test_nor_where_thresholds_are_chosen(monkeypatch):
    """As if all thresholds were too much work."""
    monkeypatch.setattr(work, "ENOUGH", 1e-8)
    monkeypatch.setattr("milp_trees.solving.attempt.ENOUGH", 1e-8)
    chosen = 0
    for seed in range(560, 620):
        requested, greedy, ours, model = both(seed)
        assert ours <= greedy, (seed, requested, model.result_)
        counts = model.result_.problem.dataset.source.get("thresholds", {"used": 0, "of": 0})
        chosen += counts["used"] < counts["of"]
    assert chosen > 20
