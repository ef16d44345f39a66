"""Rule lists through everything that is not about a method: stated, stored, verified, compared."""

import json
import math

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.decisions.listed import UnitSimplex
from milp_trees.lists.testing.problems import list_problems
from milp_trees.problems.questions import Front
from milp_trees.solving.predict import predict_file

SPACE = mt.RuleLists(max_length=2)


def data(seed: int = 0) -> mt.Dataset:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (60, 5))
    y = ((X[:, 0] & X[:, 1]) | X[:, 2]) ^ (rng.random(60) < 0.15)
    return mt.Dataset(X, y=y.astype(int), groups=rng.integers(0, 2, 60))


def problem(task=None, space=SPACE, **more) -> mt.Problem:
    return mt.Problem(data(), task or mt.Accuracy(), space, **more)


@each_row("name", ["thresholds", "policy", "f1", "parity", "feature_costs"])
def test_a_result_survives_json_and_is_derived_again(name):
    requested = list_problems()[name]
    result = mt.registry.method("enumerate-lists").run(requested)
    stored = json.loads(json.dumps(result.to_json()))
    assert stored["predictor"]["kind"] == "rule-list"
    found = mt.verify(stored, requested.dataset)
    assert found.verdict.as_strong_as(mt.plugins.Verdict.RECOMPUTED), found
    assert "value recomputed from the rule list" in stored["checked"]
    assert result.predictor.to_svg().startswith("<svg")
    assert requested.dataset.source["testing"] in str(stored["problem"]["data"])


def test_a_damaged_list_is_refused():
    requested = problem(mt.Accuracy(split_penalty="1/100"))
    stored = mt.solve(requested).to_json()
    for damage, message in (
        (lambda s: s["rules"][0].update(label=7), "holds something that no predictor has"),
        (lambda s: s["rules"][0].update(action=9), "a rule has no antecedent, or no action"),
        (lambda s: s["rules"][0].update(s["default"]), "The result states"),
        (
            lambda s: s["rules"][0]["antecedent"]["literals"][0].update(holds=False),
            "which is no antecedent of the problem",
        ),
    ):
        other = json.loads(json.dumps(stored))
        damage(other["predictor"])
        with pytest.raises(mt.errors.VerificationError, match=message):
            mt.verify(other, requested.dataset)
    for place, value in (("max_length", -1), ("max_length", 2**40), ("min_samples_rule", "x")):
        other = json.loads(json.dumps(stored))
        other["problem"]["space"][place] = value
        with pytest.raises(mt.errors.VerificationError):
            mt.verify(other, requested.dataset)


def test_a_stored_list_predicts_new_rows(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("age,sex,ill\n20,m,yes\n30,f,no\n70,m,no\n60,f,yes\n25,f,yes\n64,m,no\n")
    requested = mt.Problem(mt.load(table, target="ill"), mt.Accuracy(), SPACE)
    result = mt.solve(requested)
    (tmp_path / "r.json").write_text(json.dumps(result.to_json()))
    labels, message = predict_file(tmp_path / "r.json", table)
    assert labels == result.predictor.predict(requested.dataset).tolist()
    assert message.startswith(f"{6 - result.objective:.0f} of 6 rows")


def test_goals_in_order_a_front_and_all_sizes():
    first, second, last = mt.lexicographic(
        problem(), mt.tasks.WeightedError(class_weight={1: 3}), "fewest-leaves"
    )
    assert first.optimal
    assert second.optimal
    assert problem().value(last.predictor).exact == first.value.exact
    front = mt.solve(problem(question=Front("statistical-parity")))
    assert front.complete
    values = [s.value.exact for s in front.solutions]
    assert min(values) == first.value.exact
    assert set(front.front()) >= {"errors", "leaves", "depth"}
    path = mt.size_path(problem(), max_leaves=3, method="enumerate-lists")
    assert [p.leaves for p in path.points] == [1, 2, 3]
    assert path.points[-1].value.exact == first.value.exact


def test_decisions_and_policies_take_lists():
    values = [[1, 2], [3, 1], [0, 2]]
    task = mt.decisions.Decision(decisions=UnitSimplex(["u", "v"]))
    found = mt.solve(mt.Problem(mt.Dataset([[0], [1], [1]], values=values), task, SPACE))
    assert found.optimal
    assert math.isclose(found.objective, 2 / 3)


def test_a_start_of_another_kind_is_refused():
    tree = mt.Tree(mt.plugins.Leaf(0), (0, 1))
    rules = mt.RuleList((mt.Rule(mt.BinaryFeature("2"), 1),), 0, (0, 1))
    assert mt.solve(problem(), "greedy", start=rules).optimal is False
    with pytest.raises(mt.DataError, match="The start is a tree; the models of the space rule-li"):
        mt.solve(problem(), "greedy", start=tree)
    with pytest.raises(mt.DataError, match="The start is a rule list; the models of the space tr"):
        mt.solve(problem(space=mt.Trees(2)), "cart", start=rules)
    infeasible = mt.RuleList((mt.Rule(mt.Literal(mt.BinaryFeature("2"), False), 1),), 0, (0, 1))
    result = mt.solve(problem(), "greedy", start=infeasible)
    assert "none of the problem's 5 antecedents" in result.start["reason"]


def test_what_is_about_trees_says_so():
    ordered = problem(mt.Accuracy(constraints=(mt.tasks.Monotone("2"),)))
    with pytest.raises(mt.errors.Unsupported, match="not defined on rule lists"):
        mt.solve(ordered)
    with pytest.raises(mt.errors.Unsupported, match="This is for trees; the problem's space is"):
        _ = problem().trees
    with pytest.raises(mt.errors.Unsupported, match="dp searches trees, not rule-lists"):
        mt.solve(problem(), "dp")
    with pytest.raises(mt.errors.Unsupported, match="greedy searches rule-lists, not trees"):
        mt.solve(problem(space=mt.Trees(2)), "greedy")


def test_an_unsuitable_space_is_refused_with_a_sentence():
    with pytest.raises(mt.DataError, match="max_length must be a whole number of at least 0"):
        mt.RuleLists(max_length=-1)
    with pytest.raises(mt.DataError, match="min_samples_rule must be a whole number and at least"):
        mt.RuleLists(min_samples_rule=0)
    with pytest.raises(mt.DataError, match="antecedents must be Antecedents"):
        mt.RuleLists([mt.BinaryFeature("a")])
    one = mt.Dataset([[1], [1]], y=[0, 1])
    with pytest.raises(mt.DataError, match="No antecedent is left"):
        mt.solve(mt.Problem(one, mt.Accuracy(), SPACE))
    with pytest.raises(mt.DataError, match="The target has one class only"):
        mt.solve(mt.Problem(mt.Dataset([[0], [1]], y=[1, 1]), mt.Accuracy(), SPACE))


def test_antecedents_are_mined_once():
    rows, space = data(), mt.RuleLists(mt.Antecedents(max_literals=2), max_length=1)
    assert space.table(rows) is mt.RuleLists(mt.Antecedents(max_literals=2)).table(rows)
    barred = rows.with_(group_column="2")
    names = {c for a in space.table(barred).antecedents for c in a.columns}
    assert names == {"0", "1", "3", "4"}


@pytest.mark.parametrize(
    "task",
    [
        mt.Accuracy(constraints=[mt.tasks.NotTogether("a", "b")]),
        mt.Accuracy(feature_costs={"a": "1/4"}),
    ],
    ids=["not together", "prices"],
)
def test_equal_features_stay_apart_where_the_task_tells_them_apart(task):
    """The columns a and c are equal, and y is a and b; only lists that ask for c are free."""
    X = [[a, b, a] for a in (0, 1) for b in (0, 1)]
    data = mt.Dataset(X, [mt.BinaryFeature(c) for c in "abc"], y=[0, 0, 0, 1])
    space = mt.RuleLists(mt.Antecedents(negations=True), 2)
    problem = mt.Problem(data, task, space)
    result = mt.solve(problem)
    assert (result.status.value, result.value.exact) == ("optimal", 0)
    assert not problem.violations(result.predictor)
    assert len(mt.Problem(data, mt.Accuracy(), space).space.table(data).antecedents) == 4


def test_options_of_spec_files_state_a_space_with_its_antecedents():
    """They stand side by side, and most is called max_antecedents there."""
    space = mt.RuleLists.of_options(
        max_length=2, max_literals=2, min_support="1/10", max_antecedents=3, split_on_group=True
    )
    mined = mt.Antecedents(max_literals=2, min_support="1/10", most=3)
    assert space == mt.RuleLists(mined, 2, split_on_group=True)
    assert mt.RuleLists.from_spec(space.spec()) == space
