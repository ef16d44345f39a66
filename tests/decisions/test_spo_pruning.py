"""Trees for decisions are pruned."""

import itertools

import numpy as np
import pytest
from greedy_spo_cases import decisions_of, vertices
from row_tests import each_row

import milp_trees as mt
from milp_trees.decisions.engines.greedy_spo.coder import Coder
from milp_trees.decisions.engines.greedy_spo.fitting import CostSample
from milp_trees.decisions.engines.greedy_spo.grow import grown_from
from milp_trees.decisions.engines.greedy_spo.prune import (
    collapse_at,
    prune,
    pruning_path,
    reference,
)
from milp_trees.methods.growing.prunings import cheapest

# -- pruning -----------------------------------------------------------------------------------------------------


def grown(seed, depth=4, listed=True):
    rng = np.random.default_rng(seed)
    X, V = rng.normal(size=(60, 2)), vertices(rng)
    C = rng.integers(-4, 5, (60, 4)).astype(float)
    coder = Coder({"a": X[:, 0], "b": X[:, 1]})
    columns = coder.columns({"a": X[:, 0], "b": X[:, 1]})
    sample = CostSample(C, np.ones(60), decisions_of(V, listed))
    return (
        sample.grow(columns, mt.Trees(depth, min_samples_leaf=2), "loss", 0),
        sample,
        coder,
        columns,
    )


def all_prunings(tree, t=0):
    """Every set of leaves that a pruning can have, as sets of nodes."""
    out = [{t}]
    if tree.left[t] >= 0:
        out += [
            a | b
            for a, b in itertools.product(
                all_prunings(tree, tree.left[t]), all_prunings(tree, tree.right[t])
            )
        ]
    return out


@pytest.mark.parametrize("seed", range(5))
def test_every_subtree_of_the_path_is_the_least_penalised_pruning(seed):
    """For every parameter the path's subtree is the smallest of all prunings that minimise loss +
    alpha * leaves; subtrees are nested.
    """
    tree, sample, *_ = grown(seed, depth=3)
    at = collapse_at(tree, 60)
    path = pruning_path(tree, 60, at)
    prunings = all_prunings(tree)
    assert len(path.leaves) > 2
    assert (np.diff(path.leaves) < 0).all()
    assert (np.diff(path.training) > -1e-12).all()
    assert path.leaves[-1] == 1
    leaves = []
    for alpha, n, loss in zip(path.alphas, path.leaves, path.training, strict=True):
        kept = tree.cut_back(at <= alpha)
        leaves.append(
            {tuple(r) for r in map(np.ndarray.tolist, (kept.rows[t] for t in kept.leaves))}
        )
        assert len(kept.leaves) == n
        assert kept.loss[kept.leaves].sum() / 60 == pytest.approx(loss)
        if np.isfinite(alpha):
            price = [(tree.loss[list(p)].sum() / 60 + alpha * len(p), len(p)) for p in prunings]
            least = min(price)[0]
            assert n == min(size for cost, size in price if cost <= least + 1e-12)
            assert loss + alpha * n == pytest.approx(least)
    for larger, smaller in itertools.pairwise(leaves):
        assert all(any(set(part) <= set(whole) for whole in smaller) for part in larger)


@each_row("most", [None, 1, 2, 3, 5])
@each_row("leaf_cost", [0.0, 2.0])
def test_the_cheapest_pruning_is_the_cheapest_of_all(most, leaf_cost):
    """With and without a limit on leaves, of equal ones the smallest."""
    for seed in range(5):
        tree, *_ = grown(seed, depth=3)
        price = [
            (tree.loss[list(p)].sum() + leaf_cost * len(p) + 0.5 * (len(p) - 1), len(p))
            for p in all_prunings(tree)
            if len(p) <= (most or len(p))
        ]
        got = tree.cut_back(cheapest(tree, leaf_cost, np.full(2, 0.5), most))
        size = len(got.leaves)
        assert (got.loss[got.leaves].sum() + leaf_cost * size + 0.5 * (size - 1), size) == min(
            price
        )


@pytest.mark.parametrize("slack", [0, 0.3, "one-se"])
def test_validation_rows_choose_the_subtree(slack):
    """Errors are those of the cut-back trees, row by row; the choice is the smallest tree within
    1e-5, the slack, or one standard error, of the best.
    """
    sizes = set()
    for seed in range(5):
        tree, sample, coder, columns = grown(seed)
        rng = np.random.default_rng(seed + 100)
        X, C, w = (
            rng.normal(size=(50, 2)),
            rng.integers(-4, 5, (50, 4)).astype(float),
            rng.integers(1, 3, 50).astype(float),
        )
        codes = coder.codes({"a": X[:, 0], "b": X[:, 1]})
        tree, loss = sample.compared_with(tree, C, False)
        kept, path = prune(tree, 60, reference(tree, tree.apply(codes), w, loss), slack)
        at = collapse_at(tree, 60)
        z = sample.decisions.value(C)
        means, errors = [], []
        for begin in path.breakpoints:
            small = tree.cut_back(at <= begin)
            W, _ = sample.loss.decide(small.rows)
            lost = (C * W[small.apply(codes)]).sum(axis=1) - z
            mean = w @ lost / w.sum()
            means.append(mean)
            errors.append(np.sqrt((w @ (lost - mean) ** 2) / w.sum() / 50))
        assert path.validation == pytest.approx(np.array(means))
        assert path.error == pytest.approx(np.array(errors))
        best = int(np.argmin(means))
        more = errors[best] if slack == "one-se" else slack
        allowed = means[best] + max(more, 1e-5 * means[best]) + 1e-12
        assert path.chosen == max(q for q, e in enumerate(means) if e <= allowed)
        assert len(kept.leaves) == path.leaves[path.chosen]
        sizes.add(len(kept.leaves))
    assert len(sizes) > 1


def test_parameters_of_the_path_are_geometric_means():
    tree, *_ = grown(0)
    path = pruning_path(tree, 60)
    assert path.alphas[0] == 0
    assert path.alphas[1:-1] == pytest.approx(
        np.sqrt(path.breakpoints[1:-1] * path.breakpoints[2:])
    )
    assert np.isinf(path.alphas[-1])
    assert list(path.to_frame().columns) == ["alpha", "begins", "leaves", "training", "chosen"]


def test_a_tree_becomes_arrays_and_comes_back():
    """Trees of other methods are pruned as arrays; the arrays describe the same tree."""
    tree, sample, _, columns = grown(2)
    labels = tuple(sample.decisions.label(w) for w in sample.decisions.vertices())
    drawn = sample.to_tree(tree, columns, labels)
    again = grown_from(drawn, columns)
    assert sample.to_tree(again, columns, labels).to_json() == drawn.to_json()
    assert [r.tolist() for r in again.rows] == [r.tolist() for r in tree.rows]
