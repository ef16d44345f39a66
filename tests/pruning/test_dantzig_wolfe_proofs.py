"""Duals of column generation as flows: the stand-alone checker finds the optimum in them."""

import json
import random
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from dantzig_wolfe_forests import random_view, solve

from milp_trees.pruning.engines.dantzig_wolfe.coupling import coupled
from milp_trees.pruning.engines.dantzig_wolfe.flows import flow_at
from milp_trees.pruning.engines.dantzig_wolfe.method import DantzigWolfe
from milp_trees.pruning.verification.check_flow import check
from milp_trees.pruning.verification.statement import pruning_statement


def checked(view, keep, claims):
    """The checker's verdict on a flow for a view."""
    problem = SimpleNamespace(view=lambda _: view)
    result = SimpleNamespace(predictor=SimpleNamespace(kept=keep), value=None, curve=None)
    stated = pruning_statement(problem, result, claims)
    return check([json.dumps(line) for line in (stated, *claims.items)])


def drawn(rng):
    """A random forest, with large or small numbers."""
    view = random_view(rng, rng.randrange(1, 6), rng.randrange(1, 4), rng.randrange(1, 6))
    factor = rng.choice([1, 1, 97, 10**6])
    price = view.price * rng.choice([1, factor]) + (rng.randrange(3) if factor > 1 else 0)
    return replace(view, error=view.error * factor, price=price, keep_cost=view.keep_cost * factor)


def test_the_last_duals_of_random_forests_prove_the_optimum():
    rng, fractions = random.Random(0), 0
    for _ in range(150):
        view = drawn(rng)
        run, _ = solve(view)
        claims = flow_at(view, run.best_links, int(run.value), lambda: None)
        verdict = checked(view, run.keep, claims)
        assert verdict.proved
        assert verdict.bound == int(run.value)
        fractions += claims.denominator > 1
    assert fractions


def test_any_duals_prove_a_bound():
    """Duals that are far too large for the purchases, and zeros, give less or the same."""
    rng, smaller = random.Random(1), 0
    for number in range(60):
        view = drawn(rng)
        run, _ = solve(view)
        links = np.array([rng.choice([0.0, 0.3, 5.5, 1e9]) for _ in range(coupled(view).n_links)])
        claims = flow_at(view, links * (number % 3), int(run.value), lambda: None)
        verdict = checked(view, run.keep, claims)
        assert verdict.bound <= int(run.value)
        smaller += not verdict.proved
    assert smaller > 10


def test_a_pruning_that_is_not_the_best_gets_a_bound_only():
    view = drawn(random.Random(1))
    run, _ = solve(view, DantzigWolfe(merge=False))
    links = solve(view)[0].best_links
    nothing = np.zeros(view.n_nodes, dtype=bool)
    claims = flow_at(view, links, int(view.Z(nothing)), lambda: None)
    verdict = checked(view, nothing, claims)
    assert verdict.bound == int(run.value) < int(view.Z(nothing))
    assert not verdict.proved
