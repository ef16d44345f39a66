"""`verify` on rule lists: another engine derives the claim again, and damaged files are refused."""

import json
from dataclasses import replace

import pytest
from row_tests import each_row
from verdicts_cases import run

import milp_trees as mt
from milp_trees.verification.derive import methods_for


@pytest.fixture(scope="module")
def solved():
    """A list of two rules, each of which captures at least three rows."""
    data = mt.load("planted:rows=60,tests=5,depth=2,noise=0.1,seed=3")
    space = mt.RuleLists(max_length=2, min_samples_rule=3)
    result = mt.solve(mt.Problem(data, mt.Accuracy(split_penalty="1/100"), space), "dp-lists")
    assert result.predictor.length == 2
    return result


def file_of(data, folder):
    file = folder / "r.json"
    file.write_text(json.dumps(data))
    return file


@pytest.mark.parametrize("maker, other", [("dp-lists", "corels"), ("corels", "dp-lists")])
def test_the_other_engine_derives_a_list(tmp_path, maker, other):
    """There are too many lists to be enumerated."""
    data = mt.load("planted:rows=60,tests=100,depth=2,noise=0.1,seed=3")
    problem = mt.Problem(data, mt.Accuracy(split_penalty="1/50"), mt.RuleLists(max_length=3))
    found = run("verify", file_of(mt.solve(problem, maker).to_json(), tmp_path))
    assert found.exit_code == 0, found.output
    assert f"{other}, which shares nothing with {maker}, proves too" in found.output


def test_the_engines_judge_each_other(solved):
    for maker, other in (("dp-lists", "corels"), ("corels", "dp-lists")):
        independent, sharing = methods_for(solved.problem, maker)
        assert other in independent
        assert maker not in independent


def predictor(change):
    """Damage of the stored list."""

    def damage(data):
        change(data["predictor"])

    damage.__name__ = change.__name__
    return damage


@predictor
def other_default(stored):
    last = stored["rules"][-1]
    assert stored["default"]["action"] != last["action"]
    stored["default"] = {"action": last["action"], "label": last["label"]}


@predictor
def rules_exchanged(stored):
    stored["rules"].reverse()


@predictor
def a_rule_less(stored):
    stored["rules"].pop()


@predictor
def a_rule_too_many(stored):
    stored["rules"] += stored["rules"][:1]


@predictor
def an_action_without_a_name(stored):
    stored["rules"][0]["action"] = 7


@predictor
def an_action_that_is_a_word(stored):
    stored["default"]["action"] = "yes"


@predictor
def no_default(stored):
    del stored["default"]


@predictor
def rules_that_are_no_list(stored):
    stored["rules"] = {"first": stored["rules"][0]}


@predictor
def an_antecedent_of_another_column(stored):
    stored["rules"][0]["antecedent"]["literals"][0]["column"] = "height"


@predictor
def an_antecedent_without_literals(stored):
    stored["rules"][0]["antecedent"] = {}


@predictor
def another_kind(stored):
    stored["kind"] = "tree"


def a_better_value(data):
    data["objective"] = data["objective"] / 2


def a_bound_above_the_value(data):
    data["bound"] = data["objective"] + 1


def a_space_without_antecedents(data):
    data["problem"]["space"].pop("antecedents")


DAMAGES = [
    other_default,
    rules_exchanged,
    a_rule_less,
    a_rule_too_many,
    an_action_without_a_name,
    an_action_that_is_a_word,
    no_default,
    rules_that_are_no_list,
    an_antecedent_of_another_column,
    an_antecedent_without_literals,
    another_kind,
    a_better_value,
    a_bound_above_the_value,
    a_space_without_antecedents,
]


@each_row("damage", DAMAGES)
def test_a_damaged_list_is_refused_with_a_sentence(solved, tmp_path, damage):
    data = json.loads(json.dumps(solved.to_json()))
    damage(data)
    found = run("verify", file_of(data, tmp_path))
    assert found.exit_code == 4, found.output
    assert found.exception is None or isinstance(found.exception, SystemExit)
    assert found.stderr.strip().endswith((".", "?"))
    assert "Traceback" not in found.output


def test_a_list_that_is_not_the_best_is_no_optimum(solved, tmp_path):
    """Its value is right, but a better list is found."""
    short = mt.solve(
        replace(solved.problem, space=mt.RuleLists(max_length=1, min_samples_rule=3)), "corels"
    )
    data = {**solved.to_json(), "predictor": short.predictor.to_json()}
    for name in ("objective", "bound", "value", "root_bound"):
        if name in data:
            data[name] = short.to_json()[name]
    found = run("verify", file_of(data, tmp_path))
    assert found.exit_code == 4, found.output
