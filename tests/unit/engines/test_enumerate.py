"""The oracle, checked by hand."""

from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.engines.enumerate import Enumerator
from milp_trees.results.result import Status
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.tasks.path_costs import PathCosts
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing import check_method
from milp_trees.testing.sets import tiny_problems

XOR = mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]], y=["a", "b", "b", "a", "a"])


def solve(task, space, dataset=XOR):
    return Enumerator().run(mt.Problem(dataset, task, space))


def test_exclusive_or_by_hand():
    """One leaf errs on the two b; a split leaves one b on each side, outnumbered or level with a;
    each second split saves one of them.
    """
    assert [solve(mt.Accuracy(), mt.Trees(d)).objective for d in (0, 1, 2)] == [2, 2, 0]
    assert [
        solve(mt.Accuracy(), mt.Trees(2, max_leaf_nodes=m)).objective for m in (1, 2, 3, 4)
    ] == [2, 2, 1, 0]


def test_smallest_leaf_and_penalty_by_hand():
    """Leaves of two rows forbid the second level; with 1/5 per leaf four leaves cost 4/5, the
    single leaf 2/5 + 1/5.
    """
    assert solve(mt.Accuracy(), mt.Trees(2, min_samples_leaf=2)).objective == 2
    penalised = solve(mt.Accuracy(leaf_penalty=Fraction(1, 5)), mt.Trees(2))
    assert penalised.value.exact == Fraction(3, 5)
    assert penalised.tree.n_leaves == 1
    none = solve(mt.Accuracy(), mt.Trees(2, min_samples_leaf=6))
    assert none.status is Status.INFEASIBLE
    assert none.tree is None


def test_capacity_by_hand():
    """Three actions on three rows, each row with an action of its own at cost 0; at most one row
    may get action 2, none action 1.
    """
    values = np.array([[0.0, 1, 5], [1, 0, 1], [1, 1, 0]])
    dataset = mt.Dataset([[0, 0], [0, 1], [1, 1]], values=values)
    free = solve(mt.tasks.ActionCostMatrix(), mt.Trees(2), dataset)
    assert free.objective == 0
    limited = solve(
        mt.tasks.ActionCostMatrix(constraints=(mt.tasks.Capacity(1, 0), mt.tasks.Capacity(2, 1))),
        mt.Trees(2),
        dataset,
    )
    assert limited.objective == 1
    assert sorted(limited.tree.routes(dataset).action.tolist()) == [0, 0, 2]


def test_large_problems_are_refused_with_the_number():
    dataset = mt.Dataset(np.random.default_rng(0).integers(0, 2, (200, 30)), y=[0, 1] * 100)
    with pytest.raises(mt.errors.Unsupported, match=r"2,000,000; here it is 4.32e\+07"):
        solve(mt.Accuracy(), mt.Trees(3), dataset)


def test_the_enumerators_take_every_tiny_problem():
    """Side constraints too, and equal the scoring of every tree; but not constraints on the tree
    itself, nor prices that depend on the path, nor predicted numbers.
    """
    problems = tiny_problems()
    sums, counts = (
        check_method(mt.registry.method(name), problems)
        for name in ("enumerate", "enumerate-counts")
    )
    for name in set(sums.skipped) & set(counts.skipped):
        task = problems[name].task
        adds_nothing_up = task.offers(PathCosts) or task.offers(LeafSums)
        assert adds_nothing_up or problems[name].view(CostMatrix).structure, name
