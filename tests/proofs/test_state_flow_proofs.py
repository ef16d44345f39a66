"""Proofs of state-flow: the checker accepts them, and they are dual solutions of the model."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import side_rows
from scipy.optimize import linprog

import milp_trees as mt
from milp_trees import Limits
from milp_trees.common.errors import Unsupported
from milp_trees.engines.hypergraph.dual import largest
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry
from milp_trees.tasks.views import CostMatrix
from milp_trees.verification.check_proof import Instance, Wrong

ENOUGH = Limits(time=60)


def random_problem(rng, depths, side=False):
    """Tiny: penalties, minima, several actions, equal and complementary tests and rows."""
    n, F, K = int(rng.integers(1, 15)), int(rng.integers(0, 7)), int(rng.choice([1, 2, 2, 3]))
    X = rng.integers(0, 2, (n, F)).astype(np.uint8)
    if F >= 3 and rng.random() < 0.3:
        X[:, 0], X[:, 1] = 1 - X[:, 2], X[:, 2]
    if n > 4 and rng.random() < 0.3:
        X[n // 2 :] = X[: n - n // 2]
    penalised = rng.random() < 0.5
    task = mt.tasks.ActionCostMatrix(
        constraints=(side_rows.GivenRows(side_rows.random_rows(rng, n, K)),) if side else (),
        leaf_penalty=Fraction(int(rng.integers(0, 3)), 7) if penalised else 0,
        split_penalty=Fraction(int(rng.integers(0, 3)), 5) if penalised else 0,
    )
    data = mt.Dataset(
        X,
        [mt.BinaryFeature(f"x{f}") for f in range(F)],
        values=side_rows.random_costs(rng, n, K),
        actions=tuple(range(K)),
        weights=rng.integers(1, 4, n),
    )
    space = mt.Trees(
        int(rng.choice(depths)),
        min_samples_leaf=int(rng.choice([1, 1, 2])),
        min_weight_leaf=int(rng.integers(1, 4)) if rng.random() < 0.3 else 0,
    )
    return mt.Problem(data, task, space)


def least(view, space, costs, q=1):
    """The least cost of a tree, by trying all trees and labels; None if there is none."""

    @cache
    def best(rows, depth):
        out = []
        minima = ((view.counts, space.min_samples_leaf), *view.leaf_minima)
        if all(sum(int(amount[i]) for i in rows) >= m for amount, m in minima):
            labels = costs[list(rows)].sum(axis=0).tolist()
            out = [cost + q * view.leaf_cost for cost in labels]
        for f in range(view.n_features if depth else 0):
            sides = [tuple(i for i in rows if view.X[i, f] == answer) for answer in (0, 1)]
            ends = [best(side, depth - 1) for side in sides if side]
            if len(ends) == 2 and None not in ends:
                out.append(sum(ends) + q * int(view.split_costs[f]))
        return min(out, default=None)

    return best(tuple(range(view.n_rows)), space.depth)


def prove(problem, options=""):
    return registry.method(f"state-flow{options}@highs").prove(problem, None, ENOUGH)


def priced(view, claims):
    """The checker's problem, with the side rows priced."""
    q, costs = claims.denominator, claims.denominator * view.costs
    for number, row in zip(claims.multipliers, view.side, strict=False):
        costs = costs + number * row.coefs
    return q, costs


def instance(problem, q=1, costs=None):
    view = problem.view(CostMatrix)
    minima = [(problem.space.min_samples_leaf, view.counts)]
    minima += [(m, amount) for amount, m in view.leaf_minima]
    costs = view.costs if costs is None else costs
    return Instance(view.X, costs, q * view.leaf_cost, q * view.split_costs, minima)


def test_the_checker_accepts_every_proof_and_it_proves_the_optimum():
    """Against all trees; whether rows and tests are merged does not matter."""
    options, longest = ("", "", ":merge_rows=off", ":drop_tests=off"), 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, [0, 1, 2, 3, 4, 4, 5])
        value = least(problem.view(CostMatrix), problem.space, problem.view(CostMatrix).costs)
        if value is None:
            with pytest.raises(Unsupported, match="no feasible tree"):
                prove(problem)
            continue
        items = prove(problem, options[seed % 4]).items
        assert instance(problem).follow(items, problem.space.depth) == value, f"seed {seed}"
        longest = max(longest, len(items))
    assert longest > 10


def test_with_side_rows_the_proof_is_about_priced_costs():
    """The bound is that of the relaxation, rounded up."""
    several = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, [1, 2, 3, 4], side=True)
        view = problem.view(CostMatrix)
        model = compile_model(registry.formulation("state-flow").build(problem))
        relaxed = relaxation(model)
        if relaxed is None:
            with pytest.raises(Unsupported, match="infeasible"):
                prove(problem)
            continue
        claims = prove(problem)
        q, costs = priced(view, claims)
        got = instance(problem, q, costs).follow(claims.items, problem.space.depth)
        assert got == least(view, problem.space, costs, q), f"seed {seed}"
        paid = [
            number * (row.upper if number > 0 else row.lower)
            for number, row in zip(claims.multipliers, view.side, strict=True)
            if number
        ]
        bound = -((sum(paid) - got) // q)
        slack = 1e-7 * max(1, abs(relaxed))
        assert relaxed - slack <= bound < relaxed + 1 + slack, f"seed {seed}: {bound}, {relaxed}"
        several += any(claims.multipliers)
    assert several > 5


def relaxation(model):
    """The optimum of the linear relaxation, through scipy; None if it is infeasible."""
    if not model.n_variables:
        return None
    equal = model.row_lower == model.row_upper
    above = np.isfinite(model.row_lower) & ~equal
    below = np.isfinite(model.row_upper) & ~equal
    A = model.A.toarray()
    found = linprog(
        model.c,
        np.vstack([-A[above], A[below]]) if (above | below).any() else None,
        np.concatenate([-model.row_lower[above], model.row_upper[below]])
        if (above | below).any()
        else None,
        A[equal],
        model.row_lower[equal],
        (0, 1),
    )
    return None if found.fun is None else found.fun + model.offset


# -- claims are dual solutions ---------------------------------------------------------------------


def parts(problem):
    """View, states, matrix of the model in whole numbers, and the rows of every state."""
    formulation = registry.formulation("state-flow")
    m = formulation.build(problem)
    model, h, view = compile_model(m), m.hypergraph, m.view
    rows = {0: np.ones(view.n_rows, dtype=bool)}
    for c in np.flatnonzero(h.child_left >= 0).tolist():
        for answer, child in enumerate((h.child_left[c], h.child_right[c])):
            rows[int(child)] = rows[int(h.state[c])] & (view.X[:, h.test[c]] == answer)
    A = np.rint(model.A.toarray()).astype(np.int64)
    return view, h, A, np.rint(model.c).astype(np.int64), rows


def dual_of(claims, problem):
    """The dual solution that claims are: what a claim says of its state above the cheapest actions
    of its rows, what the checker finds by itself of the others.
    """
    view, h, A, c, rows = parts(problem)
    whole = problem.view(CostMatrix)
    exact, y = largest(h, h.cost), np.full(h.n_states, view.leaf_cost)
    large = 4 * view.leaf_cost + 3 * whole.split_costs.min(initial=10**9)
    y = np.maximum(y, np.minimum(exact, large))
    y = np.where(h.depth_left <= 2, exact, y)
    for bound, depth, path in claims:
        here = np.ones(view.n_rows, dtype=bool)
        for step in path:
            here &= whole.X[view.rows, abs(step) - 1] == (step > 0)
        (s,) = [s for s in rows if h.depth_left[s] == depth and np.array_equal(rows[s], here)]
        y[s] = max(y[s], bound - int(view.base[here].sum())) if s else y[s]
        y[0] = bound - int(view.base.sum()) if not s else y[0]
    return y, A, c


def small_problems(seeds):
    for seed in seeds:
        problem = random_problem(np.random.default_rng(seed), [3, 4, 4, 5])
        if problem.view(CostMatrix).n_features and not problem.all_rows_too_few:
            yield seed, problem


def test_claims_are_a_feasible_dual_of_the_model():
    """All rows of the dual hold, in whole numbers, and it is worth the bound."""
    for seed, problem in small_problems(range(40)):
        items = prove(problem).items
        y, A, c = dual_of(items, problem)
        assert (A.T @ y <= c).all(), f"seed {seed}"
        view = problem.presolved_view()
        assert y[0] + view.base.sum() == items[-1][0]


def test_a_feasible_dual_of_the_model_is_a_proof_and_what_is_above_the_optimum_is_none():
    """Random dual solutions, as claims about all states; then the root asks for too much."""
    refused = 0
    for seed, problem in small_problems(range(100, 140)):
        view, h, A, c, rows = parts(problem)
        rng, whole = np.random.default_rng(seed), problem.view(CostMatrix)
        y = np.zeros(h.n_states, dtype=np.int64)
        for s in reversed(range(h.n_states)):  # lower than the rows of the dual allow, or equal
            most = min(
                c[j] - A[s + 1 :, j] @ y[s + 1 :] for j in np.flatnonzero(h.state == s).tolist()
            )
            y[s] = most - int(rng.integers(0, 3)) if s and rng.random() < 0.3 else most
        assert (A.T @ y <= c).all()
        paths = {0: []}
        for j in np.flatnonzero(h.child_left >= 0).tolist():
            step = whole.index[view.features[h.test[j]]] + 1
            for sign, child in ((-1, h.child_left[j]), (1, h.child_right[j])):
                paths.setdefault(int(child), [*paths[int(h.state[j])], sign * step])
        claims = [
            (int(y[s] + view.base[rows[s]].sum()), int(h.depth_left[s]), paths[s])
            for s in reversed(range(h.n_states))
        ]
        checker, depth = instance(problem), problem.space.depth
        assert checker.follow(claims, depth) == claims[-1][0], f"seed {seed}"
        true = least(whole, problem.space, whole.costs)
        with pytest.raises(Wrong):
            checker.follow([*claims[:-1], (true + 1, depth, [])], depth)
        refused += claims[-1][0] < true
    assert refused > 3


# -- what has no proof -----------------------------------------------------------------------------


def test_the_reason_is_given_where_there_is_no_proof():
    X = np.random.default_rng(1).integers(0, 2, (12, 4))
    data = mt.Dataset(X, y=X[:, 0] ^ X[:, 1])
    few = mt.Problem(data, mt.Accuracy(), mt.Trees(3, max_leaf_nodes=5))
    lists = mt.Problem(data, mt.Accuracy(), mt.RuleLists(mt.Antecedents(), max_length=2))
    whole = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
    priced = random_problem(np.random.default_rng(0), [2], side=True)
    for problem, method, words in (
        (few, "state-flow@highs", "limits on the leaves"),
        (lists, "state-flow@highs", "rule lists"),
        (priced, "state-flow@cbc", "cbc gives none; solve with highs"),
        (whole, "flow-oct@highs", "flow-oct@highs writes no proofs"),
        (whole, "state-flow-reduced@highs", "state-flow-reduced@highs writes no proofs"),
    ):
        with pytest.raises(Unsupported, match=words):
            registry.method(method).prove(problem, None, ENOUGH)
    assert registry.method("state-flow@highs").proves
    assert not registry.method("flow-oct@highs").proves
