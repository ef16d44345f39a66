"""The hypergraph of rule lists against all lists with all actions, written as plain loops."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.data.antecedent import Antecedent
from milp_trees.engines.hypergraph.graph import SPLIT
from milp_trees.lists.hypergraph.bounded import as_rule_list, bounded_chains, limits, searched
from milp_trees.lists.hypergraph.graph import enumerate_chains
from milp_trees.lists.hypergraph.reduced import bounded_lists
from milp_trees.tasks.captured_share import DefaultOnly

MANY = 10**6


def random_view(rng):
    """Costs of any sign, weights, prices, side rows, a black box; equal and opposite antecedents."""
    n, F, K = int(rng.integers(1, 8)), int(rng.integers(0, 5)), int(rng.integers(1, 4))
    X = (rng.random((n, F)) < rng.choice([0.2, 0.5, 0.8])).astype(np.uint8)
    if F >= 3 and rng.random() < 0.3:
        X[:, 1], X[:, 2] = 1 - X[:, 0], X[:, 0]
    size = int(rng.choice([1, 3, 10**9]))
    side = []
    for j in range(int(rng.integers(0, 3))):
        low, high = sorted(rng.integers(-4, 5, 2).tolist())
        ends = (None if rng.random() < 0.3 else low), (None if rng.random() < 0.3 else high)
        side.append(mt.plugins.SideRow(f"s{j}", rng.integers(-2, 3, (n, K)), *ends))
    paid = rng.random() < 0.6
    black_box = (DefaultOnly("d", int(rng.integers(0, K))),) if rng.random() < 0.3 else ()
    return mt.plugins.CostMatrix(
        X=X,
        features=tuple(Antecedent((mt.BinaryFeature(f"x{f}"),)) for f in range(F)),
        costs=rng.integers(-size, size + 1, (n, K)).astype(np.int64),
        actions=tuple(range(K)),
        counts=rng.integers(1, 4, n) if rng.random() < 0.3 else np.ones(n, dtype=np.int64),
        leaf_cost=int(rng.integers(0, 3)) * size if paid else 0,
        split_costs=rng.integers(1, 3, F) * size if paid else np.zeros(F, dtype=np.int64),
        side=tuple(side),
        offset=Fraction(0),
        scale=Fraction(1),
        exact=True,
        rows=np.arange(n),
        complements=False,
        structure=black_box,
    )


def random_space(rng, view):
    paid = view.n_features and (view.split_costs > 0).all()
    length = None if paid and rng.random() < 0.3 else int(rng.integers(0, 4))
    return mt.RuleLists(max_length=length, min_samples_rule=int(rng.choice([1, 1, 2, 3])))


def best_of_all(view, space):
    """The least cost of a feasible list, or None."""
    n, K = view.costs.shape
    only = view.structure[0].action if view.structure else None
    longest = view.n_features if space.max_length is None else space.max_length
    best = None
    for length in range(min(longest, view.n_features) + 1):
        for chosen in itertools.permutations(range(view.n_features), length):
            leaf = [
                next((k for k, j in enumerate(chosen) if view.X[i, j]), length) for i in range(n)
            ]
            sizes = [
                sum(int(view.counts[i]) for i in range(n) if leaf[i] == k) for k in range(length)
            ]
            if min(sizes, default=MANY) < space.min_samples_rule or length not in leaf:
                continue
            price = view.leaf_cost * (length + 1) + sum(int(view.split_costs[j]) for j in chosen)
            for action in itertools.product(range(K), repeat=length + 1):
                message = [action[k] for k in leaf]
                totals = [sum(int(r.coefs[i, k]) for i, k in enumerate(message)) for r in view.side]
                if only in action[:-1] or not all(map(mt.plugins.SideRow.holds, view.side, totals)):
                    continue
                cost = price + sum(int(view.costs[i, k]) for i, k in enumerate(message))
                best = cost if best is None else min(best, cost)
    return best


def optimum(h, view):
    """The least cost of the paths from the root whose side numbers satisfy the side rows."""
    table = {}
    for s in range(h.n_states - 1, -1, -1):
        table[s] = {}
        here = h.columns_of(s)
        for c in range(here.start, here.stop):
            nothing = {(0,) * len(view.side): 0}
            after = table[int(h.child_left[c])] if h.kind[c] == SPLIT else nothing
            for numbers, cost in after.items():
                key = tuple(a + b for a, b in zip(h.side[c].tolist(), numbers, strict=True))
                table[s][key] = min(table[s].get(key, 2**62), cost + int(h.cost[c]))
    held = [
        cost
        for totals, cost in table[0].items()
        if all(row.holds(t) for row, t in zip(view.side, totals, strict=True))
    ]
    return min(held) + int(view.base.sum()) if held else None


def test_the_hypergraph_holds_an_optimal_list():
    """With the bound of the list that is found, without it, without merging, and reduced."""
    found = dict.fromkeys(("infeasible", "known"), 0)
    for seed in range(110):
        rng = np.random.default_rng(seed)
        view = random_view(rng)
        space, reduced = random_space(rng, view), view.reduce()
        expected = best_of_all(view, space)
        bounded = bounded_chains(reduced, space, MANY, MANY)
        rules = limits(reduced, space)
        free = enumerate_chains(reduced, rules)
        apart = enumerate_chains(reduced, rules, merge=False)
        known, within = bounded_lists(reduced, space)
        for h in (bounded, free, apart, within):
            assert optimum(h, reduced) == expected, f"seed {seed}: {space}"
        found["infeasible"] += expected is None
        found["known"] += bounded.known is not None
        if expected is None:
            assert bounded.known is None, f"seed {seed}"
            continue
        assert known.bound <= expected, f"seed {seed}"
        if bounded.known is not None:
            assert reduced.objective(bounded.known) >= expected, f"seed {seed}"
            assert bounded.n_columns <= free.n_columns <= apart.n_columns
    assert min(found.values()) > 8, found


def test_a_list_is_followed_to_columns_of_its_cost_and_side_numbers():
    """Any list within the limits, in the whole hypergraph; columns that are merged cost no more."""
    followed = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        view = random_view(rng).reduce()
        if not view.n_features or view.structure:
            continue
        chosen = rng.permutation(view.n_features)[:3].tolist()
        actions = rng.integers(0, view.n_actions, len(chosen) + 1).tolist()
        rules = zip([view.antecedents[j] for j in chosen], actions, strict=False)
        given = mt.RuleList(tuple(mt.Rule(*r) for r in rules), actions[-1], view.actions)
        given = given.prune_empty(view)
        for merge in (True, False):
            space = mt.RuleLists(max_length=3)
            h = enumerate_chains(view, limits(view, space), merge=merge)
            on = h.follow(given, view)
            same = h.predictor(on, view)
            totals = h.side[on].sum(axis=0).tolist()
            assert totals == view.side_totals(given) == view.side_totals(same), f"seed {seed}"
            cost = int(h.cost[on].sum()) + int(view.base.sum())
            assert cost == view.objective(same), f"seed {seed}"
            assert cost <= view.objective(given), f"seed {seed}"
            assert merge or same == given, f"seed {seed}"
            followed += 1
    assert followed > 60


def test_prefixes_that_leave_the_same_rows_are_one_state():
    """Twelve ordered pairs of antecedents leave four sets of rows."""
    X = [[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    problem = mt.Problem(mt.Dataset(X, y=[0, 1, 1, 0]), mt.Accuracy(), mt.RuleLists(max_length=3))
    view = problem.presolved_view()
    h = enumerate_chains(view, limits(view, problem.space))
    assert [h.depth_left.tolist().count(left) for left in (3, 2, 1)] == [1, 4, 4]


def test_without_a_limit_the_cost_of_a_known_list_limits_the_length():
    X = np.random.default_rng(0).integers(0, 2, (40, 6))
    y = np.random.default_rng(1).integers(0, 2, 40)
    problem = mt.Problem(mt.Dataset(X, y=y), mt.Accuracy(split_penalty="1/10"), mt.RuleLists())
    view = problem.presolved_view()
    known = searched(view, limits(view, problem.space)).best
    h = bounded_chains(view, problem.space, MANY, MANY)
    per_rule = int(view.split_costs[0])
    assert h.depth_left[0] == known.cost // per_rule < 6
    assert view.objective(as_rule_list(known, view)) == known.cost + int(view.base.sum())


@pytest.mark.parametrize("limit", ["max_states", "max_columns"])
def test_too_many_states_or_columns_are_counted_and_refused(limit):
    X = np.random.default_rng(0).integers(0, 2, (200, 12))
    data = mt.Dataset(X, y=np.random.default_rng(1).integers(0, 2, 200))
    problem = mt.Problem(data, mt.Accuracy(), mt.RuleLists(max_length=4))
    method = mt.registry.method(f"state-flow:{limit}=50@highs")
    why = method.unsupported(problem)
    assert "lower the length or the number of antecedents" in why
    assert "at most 50 are allowed" in why
