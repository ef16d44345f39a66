"""`corels` finds the optimum under every combination of its switches, and stops with true bounds."""

import math
from dataclasses import fields
from itertools import permutations

import numpy as np
import pytest
from corels_cases import best_of_all, random_case, random_options, searched

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limit, Limits
from milp_trees.lists.engines.corels import arrays, run
from milp_trees.lists.engines.corels.method import Corels
from milp_trees.lists.engines.corels.records import EXPANDED, MAPS, POLICIES
from milp_trees.lists.engines.corels.space import log10_space
from milp_trees.lists.engines.corels.switches import BOUNDS, CorelsOptions
from milp_trees.lists.recover import cheapest_list
from milp_trees.mip.registry import registry


def check(seed, options, case, optimum, found):
    """The value of the list, its bound and its length are those of an optimum."""
    constant = found.prepared.constant
    message = f"seed {seed}, {options}"
    assert found.limit is None, message
    assert constant + found.best == optimum, message
    assert constant + found.bound == optimum, message
    if found.antecedents:
        best = cheapest_list(case.view, found.antecedents)
        assert case.view.objective(best) == optimum, message
        assert case.max_length is None or best.length <= case.max_length, message


@pytest.mark.parametrize("draws", [range(30), pytest.param(range(30, 400), marks=pytest.mark.slow)])
def test_all_switches_give_the_optimum(draws):
    for seed in draws:
        rng = np.random.default_rng(seed)
        case = random_case(rng)
        optimum = best_of_all(case)
        for _ in range(5):
            options = random_options(rng)
            below = optimum + int(rng.integers(0, 3)) if rng.random() < 0.3 else None
            check(seed, options, case, optimum, searched(case, options, below=below))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", MAPS)
def test_policies_and_maps_with_bounds_alone_and_without_any(policy, kind):
    for seed in range(1000, 1006):
        case = random_case(np.random.default_rng(seed))
        optimum = best_of_all(case)
        none = dict.fromkeys(BOUNDS, False)
        for bounds in ({}, none, *({**none, name: True} for name in BOUNDS)):
            options = CorelsOptions(policy=policy, map=kind, **bounds)
            check(seed, options, case, optimum, searched(case, options))


def test_a_stopped_run_has_a_bound_below_the_optimum_at_all_moments():
    stopped = 0
    for seed in range(2000, 2100):
        rng = np.random.default_rng(seed)
        case, options = random_case(rng, 12, 6, cheap=True), random_options(rng)
        optimum = best_of_all(case)
        expanded = int(searched(case, options).counters[EXPANDED])
        for nodes in range(1, min(expanded, 5)):
            found = searched(case, options, nodes=nodes)
            constant = found.prepared.constant
            assert found.limit is Limit.NODES
            assert constant + found.bound <= optimum <= constant + found.best, (seed, options)
            assert max(found.moments.columns["bound"]) <= optimum, (seed, options)
            stopped += 1
    assert stopped > 100


def test_arrays_grow_and_dead_prefixes_are_collected(monkeypatch):
    """With room for few prefixes, and collection between any two of them, nothing is lost."""
    collections = []
    plain = run.PrefixSearch._slice

    def one_step(self, until):
        if self.collection:
            self.collect()
            collections.append(self.counters[EXPANDED])
        return plain(self, min(until, int(self.counters[EXPANDED]) + 1))

    monkeypatch.setattr(arrays, "FIRST", 4)
    monkeypatch.setattr(run.PrefixSearch, "_slice", one_step)
    for seed in range(3000, 3080):
        rng = np.random.default_rng(seed)
        case, options = random_case(rng, 12, 6, cheap=True), random_options(rng)
        check(seed, options, case, best_of_all(case), searched(case, options))
    assert len(collections) > 300


def noisy(rows, tests, penalty):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (rows, tests)).astype(np.uint8)
    data = mt.Dataset(X, y=rng.integers(0, 2, rows))
    return mt.Problem(data, mt.Accuracy(split_penalty=penalty), mt.RuleLists())


@pytest.fixture(scope="module")
def noise():
    return noisy(300, 40, "1/300")


def test_a_memory_limit_ends_with_bound_and_list():
    problem = noisy(4000, 150, "1/500")
    result = registry.method("corels").run(problem, Limits(time=60, memory_mb=2))
    assert result.limit is Limit.MEMORY
    assert result.bound < result.objective
    assert result.model_size["bytes"] <= 2 * 2**20


def test_a_node_limit_ends_with_history_and_gap(noise):
    result = registry.method("corels").run(noise, Limits(time=60, nodes=300))
    assert (result.limit, result.nodes) == (Limit.NODES, 300)
    assert 0 < result.gap < 1
    history = result.history_frame()
    assert list(history["prefixes"])[-1] == 300
    assert history["bound"].is_monotonic_increasing
    assert history["incumbent"].is_monotonic_decreasing
    assert (history["log10_space_fine"] <= history["log10_space_coarse"]).all()
    lengths = [name for name in history if name.startswith("length ")]
    assert (history[lengths].sum(axis=1) == history["queue"]).all()
    assert result.bound == pytest.approx(history["bound"].iloc[-1])


def test_no_more_prefixes_follow_than_the_remaining_space_holds(noise):
    history = registry.method("corels").run(noise, Limits(time=60)).history_frame()
    assert len(history) > 2
    left = history["prefixes"].iloc[-1] - history["prefixes"]
    space = history["log10_space_fine"]
    assert (left <= 10 ** space.fillna(-np.inf)).all()
    assert space.notna().any()
    assert space.isna().iloc[-1]


def test_the_depth_policy_has_a_shorter_queue_than_breadth(noise):
    limits = Limits(time=60, nodes=300)
    queues = [
        registry.method(f"corels:policy={p}").run(noise, limits).model_size["queue"]
        for p in ("depth", "breadth")
    ]
    assert queues[0] < queues[1]


def test_a_start_is_the_incumbent(noise):
    best = registry.method("corels").run(noise, Limits(time=60)).predictor
    again = registry.method("corels").run(noise, Limits(time=60, nodes=1), start=best)
    assert again.predictor == best
    assert again.history["incumbent"][0] == again.objective
    assert again.history["best_length"][0] == best.length


def test_a_seed_repeats_a_stochastic_run(noise):
    limits = Limits(time=60, nodes=300)
    first, again, other = (
        registry.method(f"corels:policy=stochastic,seed={s}").run(noise, limits).model_size
        for s in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_remaining_space_is_the_number_of_lists():
    for M, length, most in ((4, 0, 3), (5, 2, 2), (3, 3, 5), (4, 1, 0)):
        ways = sum(
            len(list(permutations(range(M - length), k))) for k in range(min(most, M - length) + 1)
        )
        assert log10_space([(length, most, 7)], M) == pytest.approx(math.log10(7 * ways))
    assert log10_space([], 4) is None
    assert log10_space([(0, 400, 1)], 1000) > 1000


def test_options_are_checked_and_in_the_label():
    assert Corels(policy="depth", map="none", look_ahead=False).label == (
        "corels:look_ahead=off,policy=depth,map=none"
    )
    with pytest.raises(DataError, match="one of bound, objective"):
        Corels(policy="best")
    with pytest.raises(DataError, match="captured, permutations, none"):
        Corels(map="all")
    with pytest.raises(DataError, match="seed"):
        Corels(seed=-1)
    assert {f.name for f in fields(CorelsOptions)} >= {*BOUNDS, "policy", "map", "seed"}


def test_rules_without_a_price_need_a_length():
    data = mt.Dataset(np.eye(3, dtype=np.uint8), y=[0, 1, 0])
    free = mt.Problem(data, mt.Accuracy(), mt.RuleLists())
    assert "max_length" in registry.method("corels").unsupported(free)
    limited = mt.Problem(data, mt.Accuracy(), mt.RuleLists(max_length=1))
    assert registry.method("corels").run(limited).objective == 0


@pytest.mark.parametrize(
    ("penalty", "value"),
    [("0.015", 0.3779734936), ("0.01", 0.3679734936), ("0.0075", 0.3580936970)],
)
def test_certified_values_of_compas(data_folder, penalty, value):
    data = mt.load(str(data_folder / "rulelist" / "corels" / "compas_train.out"))
    problem = mt.Problem(data, mt.Accuracy(split_penalty=penalty), mt.RuleLists())
    result = registry.method("corels").run(problem)
    assert result.optimal
    assert result.objective == pytest.approx(value, abs=1e-10)
