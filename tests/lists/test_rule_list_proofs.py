"""Proofs of rule lists: both exact methods hand over claims that the checker accepts."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import milp_trees as mt
from milp_trees import Limits
from milp_trees.common.errors import SolverFailure, Unsupported
from milp_trees.lists.engines.dp_lists import lengths
from milp_trees.lists.engines.dp_lists import search as searching
from milp_trees.lists.engines.dp_lists.proofs import list_claims
from milp_trees.mip.registry import registry
from milp_trees.tasks.views import CostMatrix
from milp_trees.verification.check_proof import Instance, Wrong

METHODS = tuple(map(registry.method, ("dp-lists", "corels")))
ENOUGH = Limits(time=60)


def random_problem(rng, large):
    """Tiny: penalties, minima, up to three actions, negative costs, equal columns and rows."""
    n, F, K = int(rng.integers(2, 40 if large else 12)), int(rng.integers(1, 7)), rng.choice([2, 3])
    F = F + 2 if large else F
    X = rng.integers(0, 2, (n, F)).astype(np.uint8)
    if F > 2 and rng.random() < 0.4:
        X[:, 0], X[:, 1] = 1 - X[:, 2], X[:, 2]
    if rng.random() < 0.2:
        X[:, 0] = 1
    if rng.random() < 0.4:
        X[n // 2 :] = X[: n - n // 2]
    X[:2, -1] = 0, 1
    size = int(rng.choice([1, 5, 10**6]))
    values = rng.integers(-size, size + 1, (n, K))
    splits = Fraction(int(rng.integers(0, 3)) * size, int(rng.choice([1, 3, 8]) * (1 + 9 * large)))
    leaves = Fraction(int(rng.integers(0, 2)) * size, 5 + 45 * large)
    limited = splits + leaves == 0 or rng.random() < 0.6
    data = mt.Dataset(
        X, [mt.BinaryFeature(f"x{f}") for f in range(F)], values=values, actions=tuple(range(K))
    )
    space = mt.RuleLists(
        max_length=int(rng.integers(4 * large, 6)) if limited else None,
        min_samples_rule=int(rng.choice([1, 1, 2, 3])),
    )
    task = mt.tasks.ActionCostMatrix(leaf_penalty=leaves / n, split_penalty=splits / n)
    return mt.Problem(data, task, space)


def least(problem):
    """The least cost of a list, by trying all lists, and the costs by set of rows and length."""
    view, space = problem.view(CostMatrix), problem.space

    def cheapest(rows):
        return int(view.costs[list(rows)].sum(axis=0).min()) if rows else 0

    @cache
    def best(rows, length):
        out = [cheapest(rows) + view.leaf_cost]
        for f in range(view.n_features) if length else ():
            taken = tuple(i for i in rows if view.X[i, f])
            if len(taken) >= space.min_samples_rule:
                rest = tuple(i for i in rows if not view.X[i, f])
                price = view.leaf_cost + int(view.split_costs[f])
                out.append(price + cheapest(taken) + best(rest, length - 1))
        return min(out)

    longest = view.n_features if space.max_length is None else space.max_length
    return best(tuple(range(view.n_rows)), min(longest, view.n_features))


def followed(problem, claims):
    view, space = problem.view(CostMatrix), problem.space
    minima = [(space.min_samples_rule, view.counts)]
    instance = Instance(view.X, view.costs, view.leaf_cost, view.split_costs, minima, kind="lists")
    return instance.follow(claims.items, space.max_length)


def test_claims_prove_the_least_cost_of_all_lists():
    rng = np.random.default_rng(0)
    several = 0
    for k in range(60):
        problem = random_problem(rng, large=k % 2 == 1)
        value = least(problem)
        for method in METHODS:
            result = method.run(problem, ENOUGH)
            claims = method.prove(problem, result, ENOUGH)
            assert problem.view(CostMatrix).objective(result.predictor) == value
            assert followed(problem, claims) == value
        several += len(claims.items) > 2
    assert several > 10


def test_an_optimum_that_a_search_for_shorter_lists_has_proved_has_claims(monkeypatch):
    """No longer list pays for its rules, so that the run ends there."""
    monkeypatch.setattr(lengths, "PATIENCE", 0)
    monkeypatch.setattr(searching, "QUOTA", 1)
    ended, shorter = [], lengths.Lengthening._shorter

    def watched(search, nodes, deadline):
        done = shorter(search, nodes, deadline)
        ended.append(done)
        return done

    monkeypatch.setattr(lengths.Lengthening, "_shorter", watched)
    rng = np.random.default_rng(5)
    for _ in range(60):
        problem = random_problem(rng, large=False)
        result = METHODS[0].run(problem, Limits(time=None))
        claims = METHODS[0].prove(problem, result, ENOUGH)
        assert followed(problem, claims) == least(problem)
    assert sum(ended) > 3


class Claimed:
    """A result that claims a bound, in units of the view."""

    optimal, predictor = False, None

    def __init__(self, view, bound):
        self.certificate = mt.results.result.Certificate(bound_exact=view.to_value(bound))


def test_a_wrong_bound_is_refused_and_a_smaller_one_is_proved():
    rng = np.random.default_rng(1)
    for _ in range(40):
        problem = random_problem(rng, large=False)
        view, value = problem.view(CostMatrix), least(problem)
        lower = value - int(rng.integers(1, 4))
        assert followed(problem, list_claims(problem, Claimed(view, lower), ENOUGH)) == lower
        with pytest.raises((SolverFailure, Wrong)):
            followed(problem, list_claims(problem, Claimed(view, value + 1), ENOUGH))


def test_what_has_no_proof_says_why():
    problem = random_problem(np.random.default_rng(2), large=False)
    sizes = mt.Problem(problem.dataset, problem.task, problem.space, question=mt.plugins.BySize(2))
    result = METHODS[0].run(problem, ENOUGH)
    with pytest.raises(Unsupported, match="best list"):
        METHODS[0].prove(sizes, result, ENOUGH)
