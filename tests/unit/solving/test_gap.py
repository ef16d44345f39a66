"""The gap of any given model: value, proven bound, and what is said of models that do not fit."""

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.solving import gap
from milp_trees.solving.gap import read_model

NAMES = ("a", "b", "c")


def data(seed=0, n=24):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 3)).astype(np.uint8)
    return mt.Dataset(X, [mt.BinaryFeature(x) for x in NAMES], y=[["no", "yes"][k] for k in rng.integers(0, 2, n)])  # fmt: skip


def lists(rows=None, **more):
    return mt.Problem(
        rows or data(), mt.Accuracy(split_penalty="1/50"), mt.RuleLists(max_length=2, **more)
    )


def random_list(rng):
    rules = [
        mt.Rule(mt.BinaryFeature(NAMES[j]), int(rng.integers(0, 2)))
        for j in rng.permutation(3)[: rng.integers(0, 4)]
    ]
    return mt.RuleList(tuple(rules), int(rng.integers(0, 2)), ("no", "yes"))


def test_gaps_of_random_lists_are_their_distance_from_the_optimum():
    rng = np.random.default_rng(0)
    for seed in range(20):
        problem = lists(data(seed))
        best, model = mt.solve(problem, "enumerate-lists").value.exact, random_list(rng)
        found = mt.gap_of(model, problem, method="enumerate-lists")
        assert found.value == problem.value(model)
        assert found.optimum.exact == best
        assert found.exact == found.value.exact - best
        assert found.relative == pytest.approx(float(found.exact / found.value.exact))
        assert bool(found.violations) == bool(problem.violations(model))
        assert found.optimal == (not found.violations and found.exact == 0)
        assert mt.gap_of(model.to_text(), problem, method="enumerate-lists").exact == found.exact


def test_the_model_is_the_start_of_the_proof():
    """A run without any time keeps the model itself as the best one that is known."""
    problem = lists()
    optimal = mt.solve(problem, "enumerate-lists").predictor
    found = mt.gap_of(optimal, problem, method="near-best-lists")
    assert found.optimal
    assert found.result.start["accepted"] in (True, None)
    assert "the model is optimal" in str(found)
    assert "by near-best-lists:" not in str(found)


def test_a_limit_leaves_the_gap_to_the_bound_so_far():
    rng = np.random.default_rng(0)
    rows = mt.Dataset(rng.integers(0, 2, (200, 12)).astype(np.uint8), y=rng.integers(0, 2, 200))
    problem = mt.Problem(rows, mt.Accuracy(split_penalty="1/400"), mt.RuleLists())
    found = mt.gap_of("else: 0", problem, limits=mt.Limits(nodes=1))
    assert found.optimum is None
    assert found.result.limit is not None
    assert (
        0 < found.absolute <= found.value.number - problem.view(mt.plugins.CostMatrix).to_value(0)
    )
    assert "no model is better, nodes limit" in str(found)


def test_what_is_maximised_has_a_gap_of_at_least_zero():
    problem = mt.Problem(data(), mt.tasks.F1(positive="yes"), mt.Trees(2))
    found = mt.gap_of(mt.Tree(Leaf(1), ("no", "yes")), problem)
    assert found.value.sense == "max"
    assert found.absolute > 0
    assert found.absolute == pytest.approx(found.bound - found.value.number)


def test_trees_have_gaps_too_and_may_name_the_classes_in_another_order():
    problem = mt.Problem(data(), mt.Accuracy(), mt.Trees(1))
    test = mt.BinaryFeature("a")
    one = mt.gap_of(mt.Tree(Branch(test, Leaf(0), Leaf(1)), ("no", "yes")), problem)
    other = mt.gap_of(mt.Tree(Branch(test, Leaf(1), Leaf(0)), ("yes", "no")), problem)
    assert one.exact == other.exact >= 0
    assert one.optimum == mt.solve(problem, "enumerate").value


def test_a_model_outside_the_space_may_be_better_than_all_in_it():
    long = mt.gap_of("if a: yes\nelse if b: no\nelse: yes", lists(data(2)))
    problem = mt.Problem(data(2), mt.Accuracy(), mt.RuleLists(max_length=0))
    best = min(
        mt.Problem(data(2), mt.Accuracy(), mt.RuleLists(max_length=3)).value(random_list(rng)).exact
        for rng in map(np.random.default_rng, range(30))
    )
    better = next(
        model
        for model in (random_list(np.random.default_rng(i)) for i in range(30))
        if problem.value(model).exact == best
    )
    found = mt.gap_of(better, problem)
    assert not long.violations
    assert found.absolute < 0
    assert not found.optimal
    assert "at most 0 are allowed" in str(found)


def test_an_antecedent_that_equals_one_of_the_problem_stands_for_it():
    """`c` holds where `a` does, so the problem has `a` alone, or both if they differ in price."""
    X = np.random.default_rng(0).integers(0, 2, (20, 3)).astype(np.uint8)
    X[:, 2] = X[:, 0]
    rows = mt.Dataset(X, [mt.BinaryFeature(x) for x in NAMES], y=["no", "yes"] * 10)
    found = mt.gap_of("if c: yes\nelse: no", lists(rows))
    assert not found.violations
    assert found.model.splits[0].name == "c"
    prices = mt.Accuracy(feature_costs={"c": Fraction(1, 9)}, split_penalty="1/50")
    apart = mt.gap_of("if c: yes\nelse: no", mt.Problem(rows, prices, mt.RuleLists(max_length=2)))
    assert (apart.violations, apart.absolute) == ((), float(Fraction(1, 9)))


def test_files_of_models_are_read(tmp_path):
    """A result, a list of results, a predictor's JSON, and text."""
    problem = lists()
    result = mt.solve(problem, "enumerate-lists")
    for name, content in {
        "result.json": json.dumps(result.to_json()),
        "results.json": json.dumps([result.to_json()]),
        "predictor.json": json.dumps(result.predictor.to_json()),
        "typed.txt": result.predictor.to_text(),
    }.items():
        (tmp_path / name).write_text(content)
        assert read_model(tmp_path / name, problem) == result.predictor
    tree = mt.solve(mt.Problem(data(), mt.Accuracy(), mt.Trees(1)))
    (tmp_path / "tree.json").write_text(json.dumps(tree.to_json()))
    with pytest.raises(mt.DataError, match="holds no rule list, which the problem is about"):
        read_model(tmp_path / "tree.json", problem)
    with pytest.raises(mt.DataError, match="cannot be read"):
        read_model(tmp_path / "absent.txt", problem)


def test_models_that_do_not_fit_are_one_sentence():
    problem = lists()
    with pytest.raises(mt.DataError, match="models of the kind rule list, and a Tree was given"):
        mt.gap_of(mt.Tree(Leaf(0), ("no", "yes")), problem)
    with pytest.raises(
        mt.DataError, match="chooses 'maybe'; the actions of the problem are no, yes"
    ):
        mt.gap_of(mt.RuleList((), 0, ("maybe", "no")), problem)
    with pytest.raises(mt.DataError, match="unknown feature 'd'"):
        mt.gap_of("if d: no\nelse: yes", problem)
    with pytest.raises(mt.DataError, match="read as a rule list, and the problem is about trees"):
        mt.gap_of("else: no", mt.Problem(data(), mt.Accuracy(), mt.Trees(1)))


def test_it_is_told_as_json_too():
    stated = mt.gap_of("else: no", lists()).to_json()
    assert json.loads(json.dumps(stated)) == stated
    assert Fraction(stated["gap_exact"]) == Fraction(stated["exact"]) - Fraction(
        stated["bound_exact"]
    )
    assert stated["model"]["kind"] == stated["best"]["kind"] == "rule-list"
    assert stated["gap"] == pytest.approx(stated["value"] - stated["optimum"])
    assert not stated["optimal"]


def halves(**more):
    """Two features that are each other's negation, both of which must be asked for."""
    rows = mt.Dataset(
        [[1, 0], [1, 0], [0, 1], [0, 1]],
        [mt.BinaryFeature(x) for x in "ab"],
        y=["yes", "yes", "no", "no"],
    )
    return mt.Problem(rows, mt.Accuracy(**more), mt.RuleLists(max_length=2))


FULL = "if a: yes\nelse if b: no\nelse: no"


def test_a_list_whose_default_rule_captures_no_row_is_outside_the_space():
    """Every method leaves such lists out, so its value may be better than the optimum."""
    both = [mt.tasks.Requires(needs=x) for x in "ab"]
    problem = halves(constraints=both)
    found = mt.gap_of(FULL, problem, method="enumerate-lists")
    assert "The default rule captures no row" in found.violations[0]
    assert not found.optimal
    assert found.result.status.name == "INFEASIBLE"


def test_a_list_that_needs_no_last_rule_stands_for_the_shorter_one():
    """Where rules cost nothing it is the same model, and otherwise a worse one outside the space."""
    found = mt.gap_of(FULL, halves(), method="enumerate-lists")
    assert (found.violations, found.absolute, found.optimal) == ((), 0, True)
    paid = mt.gap_of(FULL, halves(split_penalty="1/8"), method="enumerate-lists")
    assert len(paid.violations) == 1
    assert (paid.exact, paid.optimal) == (Fraction(1, 8), False)


def test_a_model_better_than_what_is_proved_is_a_contradiction(monkeypatch):
    """A negative gap of an allowed model is no gap: the proof is wrong."""
    problem, method = halves(), mt.registry.method("enumerate-lists")
    worse = method.run(mt.Problem(problem.dataset, mt.Accuracy(), mt.RuleLists(max_length=0)))
    wrong = dataclasses.replace(worse, problem=problem)
    monkeypatch.setattr(gap, "answer", lambda *_, **__: wrong)
    with pytest.raises(mt.errors.SolverFailure, match="proves that no model is better than 2"):
        mt.gap_of("if a: yes\nelse: no", problem)
