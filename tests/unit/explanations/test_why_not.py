"""Why there is no tree: the conflict, the changes and the nearest tree, against all trees of small problems."""

import json
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from cli_cases import run

import milp_trees as mt
from milp_trees.common.limits import Limit, Limits
from milp_trees.explanations import explanation, reasons
from milp_trees.explanations.demands import Demands
from milp_trees.explanations.explanation import explain
from milp_trees.models.tree import Tree
from milp_trees.problems.questions import Best, BySize, Front, NearBest
from milp_trees.testing.generate import all_trees

T = mt.tasks


def rules(rng, n):
    """Some side constraints with random limits, most of which conflict."""

    def share():
        return Fraction(int(rng.integers(0, 50)), 100)

    made = (
        lambda: T.StatisticalParity(share()),
        lambda: T.Capacity(1, at_least=int(rng.integers(1, n)), at_most=int(rng.integers(0, n))),
        lambda: T.EqualOpportunity(share()),
        lambda: T.ErrorRates(max_false_positive_rate=share(), max_false_negative_rate=share()),
        lambda: T.TaskValue(mt.Accuracy(), int(rng.integers(0, n // 2))),
        lambda: T.FeatureBudget(int(rng.integers(0, 2))),
        lambda: T.ParityInLeaves(share()),
    )
    return [made[i]() for i in rng.permutation(len(made))[: int(rng.integers(2, 4))]]


def small_problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 9))
    X = rng.integers(0, 2, (n, 2)).astype(np.uint8)
    y, groups = rng.integers(0, 2, (2, n))
    y[:2], groups[:2] = (0, 1), (0, 1)
    space = {"max_depth": 1}
    if rng.random() < 0.5:
        space["min_samples_leaf"] = int(rng.integers(2, 4))
    if rng.random() < 0.3:
        space["max_leaf_nodes"] = int(rng.integers(1, 3))
    task = mt.Accuracy(constraints=rules(rng, n))
    return mt.Problem(mt.Dataset(X, y=y, groups=groups), task, mt.Trees(**space))


def needs_of_all_trees(demands):
    """What every tree on all rows needs: two features allow a depth of two."""
    data, trees = demands.problem.dataset, all_trees(demands.problem.dataset.features, 2, 2)
    pruned = (Tree(node, (0, 1)).prune_empty(data) for node in trees)
    needed = (demands.needed(tree) for tree in dict.fromkeys(pruned))
    return {(one.kept, one.levels) for one in needed}


def test_the_smallest_conflict_and_the_least_changes_are_those_of_all_trees():
    """Each conflict is compared in its size, each change in its number, with what all trees need."""
    explained = 0
    for seed in range(8):
        problem = small_problem(seed)
        why, demands = explain(problem, Limits(time=60)), Demands(problem)
        known, everything = needs_of_all_trees(demands), frozenset(range(len(demands)))

        def keep(chosen, known=known):
            return [levels for kept, levels in known if all(kept[i] for i in chosen)]

        if why.found is None:
            assert keep(everything), seed
            continue
        explained += 1
        sizes = range(len(demands) + 1)
        best = next(s for k in sizes for s in combinations(everything, k) if not keep(s))
        assert not keep(why.found.members), (seed, why.found)
        assert why.found.smallest, seed
        assert len(why.found.members) == len(best), (seed, why.found, best)
        for change in why.changes:
            others = keep(everything - {change.at})
            levels = [one[change.at] for one in others if one[change.at] is not None]
            assert change.enough is bool(others), (seed, change)
            if levels and change.demand.limit is not None:
                tightest = (min if change.demand.larger else max)(levels)
                assert (change.level, change.least) == (tightest, True), (seed, change)
        assert why.nearest.best, seed
        if any(change.enough for change in why.changes):
            assert len(why.nearest.violated) == 1, (seed, why.nearest.violated)
    assert explained >= 4


def capped(at_least, at_most, rows=8):
    """Some rows must and may get an action; nothing else is asked."""
    X = (np.arange(rows) % 2)[:, None].astype(np.uint8)
    task = mt.Accuracy(constraints=[T.Capacity("b", at_least=at_least, at_most=at_most)])
    data = mt.Dataset(X, y=["a", "b"] * (rows // 2))
    return mt.Problem(data, task, mt.Trees(max_depth=1))


def test_two_limits_of_one_constraint_are_two_demands():
    why = mt.why_not(capped(6, 3))
    assert [d.words for d in why.conflict] == [
        "capacity (action b, at_most 3)",
        "capacity (action b, at_least 6)",
    ]
    assert why.loosened[["stated", "needed", "least", "enough"]].to_numpy().tolist() == [
        [3, 8, True, True],
        [6, 0, True, True],
    ]
    assert len(why.to_text().splitlines()) == 3
    assert json.loads(json.dumps(why.to_json()))["conflict"]["smallest"] is True


def test_only_deeper_trees_help_and_none_of_any_depth_is_proven():
    """Half of a parity: one level gives 0, 4 or 8 rows, two levels any even number."""
    X = np.array([[a, b] for a in (0, 1) for b in (0, 1) for _ in range(2)], dtype=np.uint8)
    data = mt.Dataset(X, y=[0, 1] * 4)

    def stated(least):
        task = mt.Accuracy(constraints=[T.Capacity(1, at_least=least, at_most=least)])
        return mt.why_not(mt.Problem(data, task, mt.Trees(max_depth=1)))

    deeper = stated(2)
    assert [d.name for d in deeper.conflict] == ["max_depth", "capacity", "capacity"]
    assert deeper.changes[0].level == 2
    odd = stated(3)  # equal rows come in pairs
    assert [d.name for d in odd.conflict] == ["capacity", "capacity"]
    assert odd.found.smallest


def test_a_problem_with_an_answer_has_no_conflict():
    why = mt.why_not(capped(2, 5))
    assert (why.conflict, why.found, why.nearest) == ((), None, None)
    assert why.to_text() == "Nothing conflicts: a tree of 0 errors keeps all constraints."


def test_rule_lists_and_numbers_are_explained():
    """A list of one rule cannot name three classes; a leaf of six of eight rows leaves no split."""
    data = capped(1, 1).dataset
    space = mt.RuleLists(max_length=1, min_samples_rule=5)
    task = mt.Accuracy(constraints=[T.Capacity("b", at_least=4, at_most=4)])
    why = mt.why_not(mt.Problem(data, task, space))
    assert "min_samples_rule" in [d.name for d in why.conflict]
    assert {d.at: d.level for d in why.changes if d.demand.name == "min_samples_rule"} == {1: 4}
    numbers = mt.Dataset(data.X, y=np.arange(8.0), groups=np.arange(8) % 2)
    apart = T.MeanPredictionParity(0)
    found = mt.why_not(
        mt.Problem(numbers, T.SquaredError(constraints=[apart]), mt.Trees(1, min_samples_leaf=9))
    )
    assert [d.name for d in found.conflict] == ["min_samples_leaf"]
    assert found.changes[0].level == 8


def test_every_infeasible_answer_says_why(monkeypatch):
    result = mt.solve(capped(6, 3))
    lines = result.message.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["Conflict", "Loosen one", "Nearest"]
    model = mt.OptimalTreeClassifier(max_depth=1, min_samples_leaf=9)
    with pytest.raises(mt.errors.Infeasible, match="Conflict: no tree keeps min_samples_leaf 9"):
        model.fit(capped(6, 3).dataset.X, [0, 1] * 4)

    def fails(*_):
        raise ZeroDivisionError("no luck")

    monkeypatch.setattr(reasons, "explain", fails)
    result = mt.solve(capped(6, 3))
    assert result.status.value == "infeasible", "a failure to explain changes no answer"
    assert "ZeroDivisionError: no luck" in result.message


def test_without_time_everything_is_open():
    problem = capped(6, 3)
    answer = mt.solve(problem)
    why = explain(problem, Limits(time=0.0), answer)
    assert why.found is None or not why.found.smallest or len(why.conflict) == 2
    assert why.to_text()


def test_the_command_says_it_and_its_json_holds_it(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "0,a\n1,b\n" * 4)
    limits = ["--constraint", "capacity:action=b,at_least=6,at_most=3"]
    told = run("why-not", str(table), "--depth", "1", *limits)
    assert "Loosen one: at_most of capacity of b from 3 to 8" in told.stdout, told.stderr
    stored = json.loads(run("why-not", str(table), "--depth", "1", *limits, "--json").stdout)
    assert [one["parameter"] for one in stored["conflict"]["members"]] == ["at_most", "at_least"]
    assert stored["nearest"]["predictor"]["kind"] == "tree"


def test_an_interrupt_ends_the_reasons_only(monkeypatch):
    """Ctrl-C between two searches keeps the answer, and what was found by then."""
    limits = [T.Capacity(1, at_least=3), T.Capacity(1, at_most=1)]
    data = mt.Dataset([[0], [0], [1], [1]], y=[0, 1, 0, 1])
    problem = mt.Problem(data, mt.Accuracy(constraints=limits), mt.Trees(1))

    def interrupted(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(explanation, "nearest", interrupted)
        why = mt.why_not(problem)
        assert (len(why.conflict), len(why.changes), why.nearest) == (2, 2, None)
        assert why.limit is Limit.INTERRUPTED
        result = mt.solve(problem)
        assert (result.status.value, result.limit) == ("infeasible", None)
        assert result.message.startswith("Conflict: no tree keeps together capacity")
    monkeypatch.setattr(explanation, "Demands", interrupted)
    result = mt.solve(problem)
    assert result.status.value == "infeasible"
    assert "not found: interrupted" in result.message


def test_questions_and_tasks_without_views_of_costs_have_reasons_too():
    data = mt.Dataset([[0], [0], [1], [1]], y=[0, 1, 0, 1])
    space = mt.Trees(1, min_samples_leaf=5)
    asked = (Best(), Front(against=T.Capacity(1)), NearBest(slack=1))
    problems = [mt.Problem(data, mt.Accuracy(), space, question) for question in asked]
    for problem in [*problems, mt.Problem(data, T.F1(), space), mt.Problem(data, T.AUC(), space)]:
        message = mt.solve(problem).message
        assert "no tree keeps min_samples_leaf 5" in message
        assert "min_samples_leaf from 5 to 4" in message
    sizes = mt.Problem(data, mt.Accuracy(), space, BySize(1))
    assert "Conflict" not in mt.solve(sizes).message  # its limit on leaves is none of the problem's
