"""Every kind of problem and every source of data that a SPEC can state makes the problem it means."""

import numpy as np
import pandas as pd
import pytest

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.studies.planning.reading import read_plan

METHODS = '[[methods]]\nlabels = ["dp", "dp-lists", "min-cut"]\n'


def planned(tmp_path, text):
    path = tmp_path / "spec.toml"
    path.write_text("[[problems]]\nname = 'p'\n" + text + "\n" + METHODS)
    return read_plan(path)


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.integers(0, 5, (60, 3)), columns=["a", "b", "c"])
    frame["ill"] = np.where(frame.a > frame.b, "yes", "no")
    frame["w"] = 1 + frame.c % 2
    (tmp_path / "data").mkdir()
    frame.to_csv(tmp_path / "data" / "t.csv", index=False)
    return tmp_path / "data" / "t.csv"


def test_a_file_with_roles_beside_the_spec(tmp_path, table, monkeypatch):
    monkeypatch.setenv("THE_DATA", str(table.parent))
    plan = planned(
        tmp_path,
        'data = [{file = "data/t.csv", target = "ill", weights = "w", drop = ["c"]},'
        ' {file = "$THE_DATA/t.csv", target = "ill", drop = ["w"], test_size = 0.5, name = "half"}]\n'
        'task = ["weighted"]\nbinarize = [{kind = "quantiles", n_bins = [2, 3]}]',
    )
    assert [p.name for p in plan.problems] == [
        f"p/{data}/quantiles:n_bins={bins}/depth=2" for data in ("t", "half") for bins in (2, 3)
    ]
    problem, test = plan.problems[0].build()
    given = mt.load(table, target="ill", weights="w", drop=["c"], binarizer="quantiles:2")
    assert problem.dataset.sha256 == given.sha256
    assert test is None
    half, test = plan.problems[3].build()
    assert (half.dataset.n_rows, test.n_rows) == (30, 30)
    with pytest.raises(DataError, match=r"spec.toml, line 3: .*NO_SUCH_PLACE, which is not set"):
        planned(tmp_path, 'data = "$NO_SUCH_PLACE/t.csv"')


def test_a_policy_file(tmp_path):
    frame = pd.DataFrame({"t": [0, 1] * 10, "y": range(20), "V1": [0, 0, 1, 1] * 5})
    frame.assign(y0=frame.y, y1=frame.y + 1, prob_t_pred_tree=0.5).to_csv(
        tmp_path / "policy.csv", index=False
    )
    plan = planned(tmp_path, 'data = {policy = "policy.csv"}\ntask = "policy-ipw"')
    problem, _ = plan.problems[0].build()
    assert problem.dataset.treatments is not None


def test_rule_lists_have_antecedents_in_their_space(tmp_path):
    plan = planned(
        tmp_path,
        'kind = "rule-lists"\ndata = "planted-list:rows=30"\n'
        'task = {name = "accuracy", split_penalty = 0.01}\n'
        "space = {max_length = [2, 3], max_literals = 2, negations = true}",
    )
    problem, _ = plan.problems[1].build()
    assert [p.name.rpartition("/")[2] for p in plan.problems] == ["length=2", "length=3"]
    assert problem.space == mt.RuleLists(mt.Antecedents(2, True), 3)
    assert problem.task == mt.Accuracy(split_penalty="1/100")
    assert {r.method for r in plan.runs} == {"dp-lists"}
    assert sum("models of another kind" in note for note in plan.notes) == 2


def test_pruned_ensembles_are_grown_by_their_seed(tmp_path):
    plan = planned(
        tmp_path,
        'kind = "pruned"\ndata = "iris"\ngrow = {trees = 3, max_depth = 2, seed = [0, 1]}\n'
        'task = {lam = "1/100", node = 0.5, groups = [{name = "g", members = ["petal length (cm)"], cost = 2}]}',
    )
    a, b, again = (plan.problems[i].build()[0] for i in (0, 1, 0))
    assert a.space.ensemble.sha256 == again.space.ensemble.sha256 != b.space.ensemble.sha256
    assert a.task.costs.node == 1 / 2
    assert [(g.members, g.cost) for g in a.task.costs.groups] == [(("petal length (cm)",), 2)]


def test_decisions_have_settings_of_their_data(tmp_path):
    plan = planned(
        tmp_path,
        'kind = "decisions"\nspace = {max_depth = 1}\n'
        'data = {generator = "shortest-path", name = "roads", rows = 20, test_rows = 10, degree = [2, 4.5], grid = "3x3", thresholds = 3}',
    )
    assert [p.data for p in plan.problems] == ["roads:degree=2", "roads:degree=4.5"]
    problem, test = plan.problems[1].build()
    made = problem.dataset.source["decision_data"]
    assert (made["degree"], made["grid"], made["rows"], test.n_rows) == (4.5, (3, 3), 20, 10)


def test_tasks_have_parameters_constraints_and_prices(tmp_path):
    plan = planned(
        tmp_path,
        'data = "planted:rows=30,tests=4"\n'
        'task = {name = "accuracy", leaf_penalty = [0.01, "1/50"], feature_costs = {"1" = 0.5},'
        ' constraints = ["capacity:action=1,at_most=9", {name = "capacity", action = 0, at_most = 25}]}',
    )
    first, second = (p.build()[0].task for p in plan.problems)
    assert (str(first.leaf_penalty), str(second.leaf_penalty)) == ("1/100", "1/50")
    assert [(str(c.action), int(c.at_most)) for c in first.constraints] == [("1", 9), ("0", 25)]
    assert first.feature_costs == {"1": 0.5}


def test_a_constraint_whose_parameter_has_no_default_is_written_as_a_label(tmp_path):
    plan = planned(
        tmp_path,
        'data = "planted:rows=30,tests=4"\n'
        'task = {name = "accuracy", constraints = ["error-rates:max_false_positive_rate=0.1"]}',
    )
    (rule,) = plan.problems[0].build()[0].task.constraints
    assert str(rule.max_false_positive_rate) in ("1/10", "0.1")


def test_an_alias_stands_for_an_alternative_in_the_names(tmp_path):
    plan = planned(
        tmp_path,
        'data = "planted:rows=30,tests=4"\n'
        'task = [{alias = "few", name = "accuracy", constraints = [["capacity:action=1,at_most=9"], ["capacity:action=1,at_most=8"]]}, "balanced-accuracy"]\n'
        'space = [{alias = "small", max_depth = 1}, {max_depth = 2, max_leaf_nodes = [3, 4]}]',
    )
    few = ["few:constraints=capacity:action=1,at_most=" + str(k) for k in (9, 8)]
    assert [p.name.removeprefix("p/planted:rows=30,tests=4/") for p in plan.problems] == [
        f"{task}/{space}"
        for task in (*few, "balanced-accuracy")
        for space in ("small", "depth=2,leaves=3", "depth=2,leaves=4")
    ]
