"""Minimum cuts against all prunings, against libraries, and with the flow that proves them."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from random_prunings import random_view
from row_tests import each_row

import milp_trees as mt
from milp_trees.pruning.engines.enumerate_prunings import prunings
from milp_trees.pruning.engines.min_cut.certificate import certify, check_certificate
from milp_trees.pruning.engines.min_cut.closure import Closure, closure_of, exact_sum
from milp_trees.pruning.engines.min_cut.frontier import frontier, frontier_by
from milp_trees.pruning.engines.min_cut.libraries import CUTS
from milp_trees.pruning.engines.min_cut.push_relabel import min_cut
from milp_trees.pruning.testing.examples import EXAMPLES

SEEDS = range(240)


def slopes(pieces):
    """Breakpoints, falling; None for a piece that is always kept."""
    pairs = zip(pieces.gain.tolist(), pieces.cost.tolist(), strict=True)
    return [Fraction(g, c) if c else None for g, c in pairs]


def prices(view, rng):
    """Prices of a unit of cost: none, a few, and breakpoints of the curve."""
    breaks = [s for s in slopes(frontier(closure_of(view))) if s]
    return {
        Fraction(0),
        Fraction(1, 3),
        Fraction(1),
        Fraction(9),
        *rng.sample(breaks, min(3, len(breaks))),
    }


def keep_of(view, closure, side):
    keep = np.zeros(view.n_nodes, dtype=bool)
    keep[closure.splits[side[: closure.n_splits]]] = True
    return keep


@pytest.mark.slow
@each_row("block", range(8))
def test_every_cut_is_the_best_of_all_prunings(block):
    """Every implementation, merged or not, at prices with and without ties: the smallest of the
    best prunings and its exact value.
    """
    for seed in SEEDS[block::8]:
        view, rng = random_view(seed), random.Random(seed)
        points = [(keep, *view.totals(keep)) for keep in prunings(view)]
        for merge in (True, False):
            closure = closure_of(view, merge)
            for mu in prices(view, rng):
                p, q = mu.numerator, mu.denominator
                best = min(q * E + p * C for _, E, C in points)
                optima = [keep for keep, E, C in points if q * E + p * C == best]
                weights = closure.weights(p, q)
                for name, cut in CUTS.items():
                    if name != "networkx" or seed % 8 == 0:
                        side, capacity = cut(closure, weights)
                        value = q * view.root_error - int(np.maximum(weights, 0).sum()) + capacity
                        assert value == best, (
                            f"{name}, seed {seed}, merge {merge}, price {mu}: {value}, expected {best}"
                        )
                        keep = keep_of(view, closure, side)
                        assert (keep == np.logical_and.reduce(optima)).all(), (
                            f"{name}, seed {seed}, merge {merge}, price {mu}"
                        )
                largest = keep_of(view, closure, min_cut(closure, weights, largest=True)[0])
                assert (largest == np.logical_or.reduce(optima)).all(), (
                    f"seed {seed}, merge {merge}, price {mu}"
                )


def random_closure(rng, n_splits, n_purchases, arcs, largest):
    """Splits with a random earlier one as parent, and random needs."""
    starts, heads = [0], []
    for h in range(n_splits):
        mine = [int(rng.integers(0, h))] if h and rng.random() < 0.8 else []
        mine += (
            n_splits + rng.choice(n_purchases, min(n_purchases, rng.poisson(arcs)), replace=False)
        ).tolist()
        heads += mine
        starts.append(len(heads))
    starts += [len(heads)] * n_purchases
    gain = np.concatenate(
        [rng.integers(-largest // 4, largest, n_splits), np.zeros(n_purchases, dtype=np.int64)]
    )
    cost = np.concatenate(
        [rng.integers(0, 3, n_splits) * (rng.random() < 0.5), rng.integers(1, largest, n_purchases)]
    )
    return Closure(
        gain,
        cost,
        np.array(starts),
        np.array(heads, dtype=np.int32),
        np.arange(n_splits),
        np.zeros(0, dtype=np.int32),
    )


@pytest.mark.slow
def test_large_random_closures_agree_with_or_tools():
    """Up to some ten thousand arcs: source sides and capacities are the same, and so are the
    curves.
    """
    pytest.importorskip("ortools", reason="OR-tools is not installed")
    for seed in range(40):
        rng = np.random.default_rng(seed)
        closure = random_closure(
            rng,
            int(rng.integers(20, 600)),
            int(rng.integers(5, 900)),
            rng.choice([1, 4, 15]),
            rng.choice([3, 50, 10**5]),
        )
        for p, q in ((1, 1), (1, 7), (int(closure.gain.sum() > 0) * 3, 5)):
            weights = closure.weights(p, q)
            mine, theirs = min_cut(closure, weights), CUTS["ortools"](closure, weights)
            assert mine[1] == theirs[1], f"seed {seed}, price {p}/{q}"
            assert (mine[0] == theirs[0]).all(), f"seed {seed}, price {p}/{q}"
        if seed < 12:
            one, other = frontier(closure), frontier_by(closure, CUTS["ortools"])
            assert (one.rank == other.rank).all(), seed
            assert slopes(one) == slopes(other), seed


def test_merging_is_lossless_and_merges_all_it_can():
    """Two purchases are one item exactly if the same splits need them, those above them included;
    free ones vanish.
    """
    merged = 0
    for seed in SEEDS:
        view = random_view(seed)
        closure = closure_of(view)
        users = [set() for _ in range(view.n_purchases)]
        for j, h in enumerate(view.first.tolist()):
            todo = view.need[view.start[j] : view.start[j + 1]].tolist()
            while todo:
                users[p := todo.pop()].add(h)
                todo += view.above[view.above[:, 0] == p, 1].tolist()
        below = [{h for h in u if not any(a in u for a in ancestors(view, h))} for u in users]
        kinds = {
            frozenset(u)
            for u, p in zip(below, view.price.tolist(), strict=True)
            if p and len(u) > 1
        }
        assert closure.n_items - closure.n_splits == len(kinds), seed
        paid = [p for u, p in zip(below, view.price.tolist(), strict=True) if u]
        assert int(closure.cost.sum()) == sum(paid) + int(view.keep_cost.sum()), seed
        merged += closure_of(view, merge=False).n_items - closure.n_items
    assert merged > 500


def ancestors(view, h):
    while view.parent[h] >= 0:
        h = int(view.parent[h])
        yield h


# -- certificates -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_cut_has_a_flow_that_proves_it():
    """The check reads the view alone, whether purchases were merged or not."""
    for seed in SEEDS:
        view = random_view(seed)
        for mu in prices(view, random.Random(seed)):
            values = {
                check_certificate(
                    view, certify(view, closure_of(view, m), mu.numerator, mu.denominator)
                )
                for m in (True, False)
            }
            assert len(values) == 1, f"seed {seed}, price {mu}"


def tampered(certificate, rng):
    """Certificates with one thing changed, by name."""
    c = certificate
    out = {}
    if len(c.amount):
        j = rng.integers(len(c.amount))
        out["more flow"] = replace(c, amount=c.amount + (np.arange(len(c.amount)) == j))
        out["less flow"] = replace(c, amount=c.amount - (np.arange(len(c.amount)) == j))
        out["negative"] = replace(c, amount=np.where(np.arange(len(c.amount)) == j, -1, c.amount))
        out["huge"] = replace(c, amount=c.amount + 2**62)
        out["no such purchase"] = replace(c, purchase=c.purchase + 10**6)
        out["dearer"] = replace(c, price=c.price + 1)
    if len(c.up):
        out["from a root"] = replace(c, up=c.up * 0)
    kept = np.flatnonzero(c.keep)
    if len(kept):
        out["last split dropped"] = replace(c, keep=c.keep & (np.arange(len(c.keep)) != kept[-1]))
    return out


@pytest.mark.slow
def test_a_tampered_certificate_is_refused():
    """Wherever the flow or the pruning is changed; what is still accepted (another flow of the same
    value, a tie) proves nothing but the truth.
    """
    refused = dict.fromkeys(
        (
            "more flow",
            "less flow",
            "negative",
            "huge",
            "no such purchase",
            "dearer",
            "from a root",
            "last split dropped",
        ),
        0,
    )
    for seed in SEEDS:
        view, rng = random_view(seed), np.random.default_rng(seed)
        good = certify(view, closure_of(view), 1, 5)
        value = check_certificate(view, good)
        best = min(5 * E + C for E, C in (view.totals(keep) for keep in prunings(view)))
        assert value == best
        for name, bad in tampered(good, rng).items():
            try:
                wrong = check_certificate(view, bad)
            except mt.errors.VerificationError:
                refused[name] += 1
            else:
                assert name not in ("negative", "huge", "no such purchase"), (
                    f"seed {seed}: {name} was accepted"
                )
                worth = min(
                    bad.unit * E + bad.price * C
                    for E, C in (view.totals(keep) for keep in prunings(view))
                )
                assert wrong == worth, f"seed {seed}: {name} proves {wrong}, the optimum is {worth}"
    assert all(n > 10 for n in refused.values()), refused


def test_flow_to_a_purchase_that_is_not_needed_is_refused():
    """Capacity that a split does not need would prove too much."""
    for seed in SEEDS:
        view = random_view(seed)
        c = certify(view, closure_of(view), 1, 9)
        needed = {
            (int(h), int(p))
            for j, h in enumerate(view.first)
            for p in view.need[view.start[j] : view.start[j + 1]]
        }
        strangers = [
            p
            for p in range(view.n_purchases)
            if len(c.node) and (int(c.node[0]), p) not in needed and p not in view.above[:, 1]
        ]
        if strangers:
            purchase = c.purchase.copy()
            purchase[0] = strangers[0]
            with pytest.raises(mt.errors.VerificationError, match="no split needs"):
                check_certificate(view, replace(c, purchase=purchase))
            return
    pytest.fail("no example")


# -- numbers ------------------------------------------------------------------------------------------------------


def test_overflow_is_refused_before_it_happens():
    """Errors and costs whose products exceed 64 bits, and prices whose sum does."""
    for seed in SEEDS:
        view = random_view(seed)
        if int(np.abs(view.gain).sum()) and closure_of(view).cost.sum():
            break
    wide = replace(
        view, error=view.error * 2**33, price=view.price * 2**33, keep_cost=view.keep_cost * 2**33
    )
    with pytest.raises(mt.DataError, match="Round weights, losses and feature costs"):
        frontier(closure_of(wide))
    with pytest.raises(mt.DataError, match="64 bits hold"):
        closure_of(wide).weights(2**30, 2**30 + 1)
    with pytest.raises(mt.DataError, match="round them to fewer digits"):
        closure_of(replace(view, price=np.full(view.n_purchases, 2**61)))
    fits = replace(
        view, error=view.error * 2**20, price=view.price * 2**20, keep_cost=view.keep_cost * 2**20
    )
    assert slopes(frontier(closure_of(fits))) == slopes(frontier(closure_of(view)))


def test_sums_are_exact_beyond_64_bits():
    """Also of negative numbers."""
    numbers = np.array([2**62, 2**62, 2**62 + 3, -(2**61), -5], dtype=np.int64)
    assert exact_sum(numbers) == sum(numbers.tolist())


def test_scipy_says_that_its_capacities_are_too_small():
    """And names what to take instead."""
    view = random_view(3)
    closure = closure_of(replace(view, error=view.error * 2**32))
    with pytest.raises(mt.errors.Unsupported, match="32-bit"):
        CUTS["scipy"](closure, closure.weights(1, 1))


def test_an_ensemble_of_leaves_has_nothing_to_cut():
    """No split, no purchase, no flow."""
    problem = EXAMPLES["single-node"]()
    result = mt.solve(problem, "min-cut")
    assert result.optimal
    assert mt.prune_curve(problem).breakpoints == ()


# -- the engine ---------------------------------------------------------------------------------------------------


@each_row("name", EXAMPLES)
def test_min_cut_and_enumeration_agree_on_the_examples(name):
    """Best for the task's λ with every option, or a sentence where there is a budget."""
    problem = EXAMPLES[name]()
    oracle = mt.solve(problem, "enumerate-prunings")
    assert oracle.optimal
    if problem.task.max_cost is not None:
        with pytest.raises(mt.errors.Unsupported, match=r"ip3-closure.*below\(budget\)"):
            mt.solve(problem, "min-cut")
        return
    for method in (
        "min-cut",
        "min-cut:merge=off",
        "min-cut:cut=networkx",
        "min-cut:cut=ortools,merge=off",
    ):
        result = mt.solve(problem, method)
        assert result.optimal, result.message
        assert result.objective == pytest.approx(oracle.objective, abs=1e-9), method
        assert result.method == method
        assert "flow" in result.certificate.checked[-1]
        mt.verify(result)


def test_an_unknown_cut_is_refused():
    """With those that exist."""
    with pytest.raises(mt.DataError, match="push-relabel, ortools, scipy, networkx"):
        mt.solve(EXAMPLES["tie"](), "min-cut:cut=simplex")


def test_enumeration_refuses_what_is_not_tiny():
    """With the number and the method that can."""
    from milp_trees.pruning.testing.examples import pruning_problem

    def tree(depth):
        return "A" if not depth else ("A", "x", depth, tree(depth - 1), tree(depth - 1))

    problem = pruning_problem(
        [tree(5)] * 2, {"x": [0.0, 1.0]}, ["A", "B"], mt.pruning.PrunedError(0)
    )
    with pytest.raises(mt.errors.Unsupported, match=r"200,000 prunings.*min-cut"):
        mt.solve(problem, "enumerate-prunings")


def test_a_certificate_with_huge_prices_is_checked_without_overflow():
    """Beyond 64 bits the check counts in Python's integers: a price that would wrap around to a
    small one is still too dear to keep anything.
    """
    view = random_view(np.random.default_rng(3))
    certificate = certify(view, closure_of(view), 1, 1)
    assert (
        check_certificate(view, certificate)
        == view.totals(certificate.keep)[0] + view.totals(certificate.keep)[1]
    )
    for price in (2**62, 2**64 + 1, 10**30):
        with pytest.raises(mt.errors.VerificationError):
            check_certificate(view, replace(certificate, price=price, keep=view.is_split))
        nothing = replace(
            certificate,
            price=price,
            keep=np.zeros_like(certificate.keep),
            up=certificate.up[:0],
            up_amount=certificate.up_amount[:0],
        )
        with pytest.raises(
            mt.errors.VerificationError
        ):  # without any flow nothing is proven while a split gains
            check_certificate(
                view,
                replace(
                    nothing,
                    node=nothing.node[:0],
                    purchase=nothing.purchase[:0],
                    amount=nothing.amount[:0],
                ),
            )
