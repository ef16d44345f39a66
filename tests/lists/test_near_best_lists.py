"""All rule lists near the best, against all sequences of antecedents of small problems."""

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.common.limits import Limit, Stopped
from milp_trees.lists.engines.near_best_lists import graph


def every_list(view, longest, least, one):
    """(antecedents, actions, default, action of every row, cost) of all lists, by the definition."""
    n, F = view.X.shape
    holds = [{i for i in range(n) if view.X[i, a]} for a in range(F)]

    def cheapest(rows):
        sums = [sum(int(view.costs[i, k]) for i in rows) for k in range(view.n_actions)]
        return sums.index(min(sums)), min(sums)

    for chosen in (s for k in range(longest + 1) for s in permutations(range(F), k)):
        left, actions, given = set(range(n)), [], {}
        cost = view.leaf_cost * (len(chosen) + 1)
        for a in chosen:
            here = left & holds[a]
            if not here or here == left or sum(int(view.counts[i]) for i in here) < least:
                break
            alike = [b for b in range(F) if left & holds[b] == here] if one else [a]
            if a != min(alike, key=lambda b: (view.split_costs[b], b)):
                break
            action, paid = cheapest(here)
            cost += paid + int(view.split_costs[a])
            actions.append(action)
            given |= dict.fromkeys(here, action)
            left -= here
        else:
            default, paid = cheapest(left)
            given |= dict.fromkeys(left, default)
            yield chosen, tuple(actions), default, tuple(given[i] for i in range(n)), cost + paid


def has_a_rule_too_many(view, rules, default, given):
    rows = range(len(given))
    return any(
        given == tuple(next((k for a, k in order if view.X[i, a]), default) for i in rows)
        for out in rules
        for order in permutations(rules - {out})
    )


def all_different(problem, trivial=True, one=False):
    """(cost, length, antecedents) of every list, of permutations that predict alike the first."""
    view, space = problem.view(mt.plugins.CostMatrix), problem.space
    found = {}
    for chosen, actions, default, given, cost in every_list(
        view, space.longest(view), space.min_samples_rule, one
    ):
        key = (frozenset(zip(chosen, actions, strict=True)), default, given)
        known = found.setdefault(key, (cost, len(chosen), chosen))
        assert known[0] == cost, "permutations that predict alike have one value"
        found[key] = min(known, (cost, len(chosen), chosen))
    return sorted(
        value for key, value in found.items() if trivial or not has_a_rule_too_many(view, *key)
    )


def random_problem(rng):
    """Any costs, with ties; penalties and prices; equal, complementary and constant antecedents."""
    n, F, K = int(rng.integers(1, 13)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    X = rng.integers(0, 2, (n, F)).astype(np.uint8)
    if F > 2 and rng.random() < 0.4:
        X[:, 1], X[:, 2] = X[:, 0], 1 - X[:, 0]
    features = [mt.BinaryFeature(f"x{f}") for f in range(F)]
    data = mt.Dataset(X, features, values=rng.integers(0, int(rng.choice([2, 9])), (n, K)))
    paid = rng.random() < 0.5
    task = mt.tasks.ActionCostMatrix(
        split_penalty=Fraction(int(rng.integers(0, 4)), n) if paid else 0,
        leaf_penalty=Fraction(int(rng.integers(0, 2)), n) if paid else 0,
        feature_costs={"x0": Fraction(int(rng.integers(0, 3)), n)} if paid else None,
    )
    stated = mt.Antecedents.given(features)
    space = mt.RuleLists(stated, int(rng.integers(0, 5)), int(rng.choice([1, 1, 2])))
    return mt.Problem(data, task, space)


def as_numbers(problem, solution):
    """Antecedents of a list by number; its value and limits are recomputed on the data."""
    assert problem.value(solution.predictor) == solution.value
    assert not problem.violations(solution.predictor)
    index = problem.space.table(problem.dataset).index
    return tuple(index[a] for a in solution.predictor.splits)


def test_the_set_is_that_of_all_sequences():
    """Count, values, lists and their order, for any slack and both ways to count fewer."""
    rng = np.random.default_rng(0)
    merged = 0
    for _ in range(80):
        problem, trivial, one = random_problem(rng), rng.random() < 0.6, rng.random() < 0.3
        every = all_different(problem, one=one)
        view = problem.view(mt.plugins.CostMatrix)
        last = every[int(rng.integers(len(every)))][0]
        slack = (last - every[0][0]) * abs(view.scale)
        lists = mt.near_best(
            problem, slack=slack, trivial=trivial, equal_tests="one" if one else "all"
        )
        wanted = [w for w in all_different(problem, trivial, one) if w[0] <= last]
        assert lists.complete
        assert lists.optimum.exact == view.to_value(every[0][0])
        assert [as_numbers(problem, s) for s in lists] == [chosen for *_, chosen in wanted]
        assert lists.count == len(wanted)
        values = Counter(view.to_value(cost) for cost, *_ in wanted)
        assert lists.values() == values
        sequences = sum(
            cost <= last for *_, cost in every_list(view, 4, problem.space.min_samples_rule, one)
        )
        merged += sequences > len(wanted)
    assert merged > 10, "permutations are among the problems"


def small():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (30, 6)).astype(np.uint8)
    return mt.Problem(
        mt.Dataset(X, y=rng.integers(0, 3, 30)), mt.Accuracy(), mt.RuleLists(max_length=3)
    )


def test_antecedents_share_is_that_of_the_listed_lists():
    lists = mt.near_best(small(), slack=2)
    used = Counter(a.name for s in lists for a in s.predictor.splits)
    table = lists.importance().set_index("antecedent")
    assert dict(table["lists"]) == dict(used)
    for name, row in table.iterrows():
        has = {
            s.value.number: name in [a.name for a in s.predictor.splits] for s in reversed(lists)
        }
        values = [s.value.number for s in lists if name in (a.name for a in s.predictor.splits)]
        others = [s.value.number for s in lists if name not in (a.name for a in s.predictor.splits)]
        assert has
        assert row["share"] == used[name] / lists.count
        assert row["best_with"] == min(values)
        assert row["best_without"] == min(others, default=np.nan) or not others


def test_samples_are_uniform():
    lists = mt.near_best(small(), slack=1)
    drawn = Counter(str(s.predictor) for s in lists.sample(200 * lists.count, seed=1))
    assert len(drawn) == lists.count > 10
    assert all(abs(count - 200) < 5 * 200**0.5 for count in drawn.values())


def test_the_set_is_a_sequence_with_a_table():
    lists = mt.near_best(small(), slack=2)
    assert [s.predictor for s in lists[1:4]] == [lists[i].predictor for i in (1, 2, 3)]
    assert lists[-1].value.number == lists.optimum.number + 2 == max(map(float, lists.values()))
    table = lists.frame(5)
    assert table["value"].tolist() == [s.value.number for s in lists[:5]]
    assert table["rules"].tolist() == [s.predictor.length for s in lists[:5]]
    assert lists.to_json()["count"] == sum(v["count"] for v in lists.to_json()["values"])
    assert f"{lists.count} rule lists within 2 of" in repr(lists).replace(" ", " ")


def test_a_run_that_is_stopped_has_the_complete_set_of_a_smaller_slack(monkeypatch):
    """The steps are 0, a quarter, a half and all of the slack; the third is stopped."""
    lists, requested = graph.NearBestListsSearch.lists, []

    def stop(self, allowance, trivial):
        requested.append(allowance)
        if len(requested) == 3:
            raise Stopped(Limit.MEMORY)
        return lists(self, allowance, trivial)

    monkeypatch.setattr(graph.NearBestListsSearch, "lists", stop)
    stopped = mt.near_best(small(), slack=4)
    monkeypatch.undo()
    assert (stopped.complete, stopped.covered, stopped.slack) == (False, 1, 4)
    assert stopped.limit is Limit.MEMORY
    assert "complete only up to 1 (memory)" in repr(stopped)
    assert stopped.count == mt.near_best(small(), slack=1).count


def test_tables_grow(monkeypatch):
    """With room for little, all tables are enlarged on the way, with the same answer."""
    wanted = mt.near_best(small(), slack=5)
    monkeypatch.setattr(graph, "ROOM", 2)
    found = mt.near_best(small(), slack=5)
    assert found.count == wanted.count > 100
    assert [s.predictor for s in found] == [s.predictor for s in wanted]


def test_too_little_memory_is_said():
    problem = mt.Problem(
        mt.Dataset(
            np.random.default_rng(0).integers(0, 2, (300, 60)).astype(np.uint8), y=[0, 1, 1] * 100
        ),
        mt.Accuracy(),
        mt.RuleLists(max_length=4),
    )
    with pytest.raises(mt.errors.NothingFound, match="Raise time_limit or memory_mb"):
        mt.near_best(problem, slack=1, memory_mb=1)


def test_what_cannot_be_counted_is_said():
    data, one = small().dataset, mt.RuleLists(max_length=1)
    floats = mt.Dataset(data.X, values=np.random.default_rng(0).random((30, 2)))
    problem = mt.Problem(floats, mt.tasks.ActionCostMatrix(), one)
    with pytest.raises(mt.errors.Unsupported, match="measured floats"):
        mt.near_best(problem, slack=1)
    problem = mt.Problem(data, mt.Accuracy(), mt.RuleLists())
    with pytest.raises(mt.errors.Unsupported, match="max_length"):
        mt.near_best(problem, slack=1)


def test_compas_lists_of_three_rules(data_folder):
    """All lists within 5 % of the best one: a plain loop over all sequences counts as many."""
    data = mt.load(f"{data_folder}/rulelist/corels/compas_train.out")
    problem = mt.Problem(data, mt.Accuracy(), mt.RuleLists(max_length=3))
    lists = mt.near_best(problem, relative="0.05")
    assert (lists.optimum.number, lists.count) == (2197, 6919)
