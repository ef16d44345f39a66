"""The best rule lists of every length, and the penalties per rule between them."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt


def problem(seed, n=20):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 5)).astype(np.uint8)
    return mt.Problem(mt.Dataset(X, y=rng.integers(0, 2, n)), mt.Accuracy(), mt.RuleLists())


@pytest.mark.parametrize("method", [None, "enumerate-lists", "near-best-lists"])
def test_a_list_is_best_for_the_penalties_between_its_neighbours(method):
    """At every penalty, by the engine that knows nothing of sizes, and one run per size or all."""
    for seed in range(3):
        requested = problem(seed)
        path = mt.size_path(requested, max_length=3, method=method)
        assert path.proven
        assert [p.leaves for p in path.points] == [1, 2, 3, 4]
        corners = [Fraction(0), *reversed(path.penalties), Fraction(1)]
        middles = [(a + b) / 2 for a, b in itertools.pairwise(corners)]
        for each in [*corners[1:], *middles]:
            task = replace(requested.task, split_penalty=each)
            three = mt.Problem(requested.dataset, task, mt.RuleLists(max_length=3))
            found = path.at_penalty(each)
            assert (
                three.value(found.predictor).exact == mt.solve(three, "enumerate-lists").value.exact
            )


def test_lists_are_counted_in_rules():
    path = mt.size_path(problem(0), max_length=2)
    assert path.at_length(2).predictor.length <= 2
    assert path.at_length(2) == path.at_leaves(3)
    table = path.frame()
    assert table["rules"].tolist() == [p.predictor.length for p in path.improving]
    assert "leaves" not in table
    assert "depth" not in table
    assert "; rules 0: " in repr(path)
    axes = path.plot()
    assert axes.get_xlabel() == "rules"
    assert min(axes.lines[0].get_xdata()) == 0
    assert "per rule" in axes.get_legend().get_texts()[0].get_text()
    assert [row["rules"] for row in path.to_json()["sizes"]] == table["rules"].tolist()


def test_trees_are_counted_in_leaves_as_ever():
    trees = mt.Problem(problem(0).dataset, mt.Accuracy(), mt.Trees(2))
    path = mt.size_path(trees, max_leaves=3)
    assert "; leaves 1: " in repr(path)
    assert "rules" not in path.frame()
    with pytest.raises(mt.DataError, match="max_length counts rules"):
        mt.size_path(trees, max_length=3)
    with pytest.raises(mt.DataError, match="Give max_leaves, or max_length for rule lists"):
        mt.size_path(trees)
