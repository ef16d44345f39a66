"""Which thresholds a run searches: all, a chosen set, or a stated one beside the greedy tree."""

import itertools

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.limits import Deadline, Limit, Limits
from milp_trees.methods import threshold_sources, thresholds, work
from milp_trees.methods.work import Sizes, most_tests, usual_seconds
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.results.threshold_words import sentence
from milp_trees.studies.planning.reading import read_plan
from milp_trees.studies.planning.recipes import read_again

IRIS = mt.Problem(mt.load("iris"), mt.Accuracy(), mt.Trees(max_depth=2))
FEW = mt.Problem(mt.load("iris", binarizer="quantiles:4"), mt.Accuracy(), mt.Trees(max_depth=2))


def splits(tree):
    return set(tree.splits)


def engine(name):
    return mt.registry.method(name)


# -- all thresholds ------------------------------------------------------------------------------


def test_the_default_proves_the_optimum_over_all_thresholds():
    assert IRIS.dataset.open_thresholds
    result = mt.solve(IRIS)
    assert (result.value.number, result.status.value) == (6, "optimal")
    assert result.to_json()["thresholds"] == "over all 119 thresholds"
    assert not result.problem.dataset.open_thresholds


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_every_default_is_the_same(depth, tmp_path):
    """`solve`, an estimator, a SPEC and a file that is read give one value."""
    table = mt.example("heart")
    table.to_csv(tmp_path / "heart.csv", index=False)
    space = mt.Trees(max_depth=depth)
    read = mt.solve(mt.Problem(mt.load(tmp_path / "heart.csv"), mt.Accuracy(), space))
    model = mt.OptimalTreeClassifier(max_depth=depth).fit(
        table.drop(columns="disease"), table["disease"]
    )
    assert read.optimal
    assert model.result_.optimal
    assert read.value == model.result_.value
    for counts in (r.problem.dataset.source["thresholds"] for r in (read, model.result_)):
        assert counts["used"] == counts["of"] == 327


def test_more_thresholds_than_pairs_can_be_kept_of_go_to_the_engine_that_sorts():
    problem = mt.Problem(mt.load("breast-cancer"), mt.Accuracy(), mt.Trees(max_depth=2))
    result = mt.solve(problem)
    assert (result.method, result.value.number, result.optimal) == ("dp-sorted", 22, True)


def test_a_table_with_too_many_thresholds_keeps_those_at_quantiles():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"few": rng.integers(0, 5, 300), "many": rng.normal(size=300)})
    binarizer = mt.Binarizer(max_thresholds=50)
    data = binarizer.dataset(frame, rng.integers(0, 2, 300))
    counts = {c: len(rule) for c, rule in binarizer.rules_.items()}
    assert counts == {"few": 4, "many": 46}
    assert "max_thresholds" in binarizer.threshold_note_
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(1)))
    assert result.to_json()["thresholds"].startswith("over 50 of 303 thresholds (the columns")


# -- chosen sets ---------------------------------------------------------------------------------


@pytest.fixture
def little_work(monkeypatch):
    """As if nearly every proof over all thresholds were too much work."""
    monkeypatch.setattr(work, "ENOUGH", 1e-7)
    monkeypatch.setattr("milp_trees.solving.attempt.ENOUGH", 1e-7)


def test_a_chosen_set_holds_the_thresholds_of_good_trees():
    chosen = thresholds.settled(IRIS, [engine("flow-oct@highs")]).problem
    optimum = engine("dp-sorted").run(IRIS)
    greedy = engine("cart").run(IRIS).tree
    theirs = threshold_sources.cart(IRIS)
    for tree in (optimum.tree, greedy, theirs):
        assert splits(tree) <= set(chosen.dataset.features)
    counts = chosen.dataset.source["thresholds"]
    assert (counts["used"], counts["of"]) == (40, 119)
    assert (counts["optimum"], counts["proved_by"]) == (optimum.value.number, "dp-sorted")
    assert counts["greedy_tree"] == IRIS.value(greedy).number
    assert mt.solve(chosen, "dp").value == optimum.value


def test_the_choice_depends_on_no_clock(little_work):
    """The same problem gets the same thresholds under every time limit."""
    made = [
        engine("dp").run(mt.Problem(mt.load("wine"), mt.Accuracy(), mt.Trees(2)), Limits(time=t))
        for t in (30, 60, None)
    ]
    used = [r.problem.dataset.features for r in made]
    assert used[0] == used[1] == used[2]
    assert len(used[0]) < 1263


@pytest.mark.parametrize("seed", range(25))
def test_no_chosen_set_is_worse_than_the_trees_that_it_comes_from(seed, little_work):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 70))
    frame = pd.DataFrame(
        {
            "a": np.round(rng.normal(size=n), 2),
            "b": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 30, n)),
            "c": rng.choice(["x", "y", "z"], n),
        }
    )
    data = mt.Binarizer().dataset(
        frame, np.arange(n) % 2 ^ (rng.random(n) < 0.3), weights=rng.integers(1, 4, n)
    )
    task = mt.tasks.WeightedError() if seed % 2 else mt.Accuracy(leaf_penalty="1/40")
    space = mt.Trees(1 + seed % 4, min_samples_leaf=1 + seed % 3)
    problem = mt.Problem(data, task, space)
    result = mt.solve(problem, "dp")
    assert result.optimal
    for tree in (engine("cart").run(problem).tree, threshold_sources.cart(problem)):
        assert tree is None or not problem.value(tree).better_than(result.value)


@each_row(
    ("task", "space"),
    [
        (mt.tasks.AUC(), mt.Trees(2)),
        (mt.tasks.F1(), mt.Trees(2)),
        (mt.tasks.Matthews(), mt.Trees(2)),
        (mt.Accuracy(), mt.Trees(3, max_leaf_nodes=4)),
        (mt.Accuracy(leaf_penalty="1/50"), mt.Trees(None)),
        (mt.Accuracy(split_penalty="1/50"), mt.RuleLists()),
        (mt.tasks.BalancedAccuracy(), mt.Trees(2, min_samples_leaf=3)),
    ],
)
def test_every_kind_of_problem_may_leave_its_thresholds_open(task, space):
    table = mt.example("heart")
    data = mt.Binarizer().dataset(table.drop(columns="disease"), table["disease"])
    problem = mt.Problem(data, task, space)
    result = mt.solve(problem)
    assert result.optimal
    assert problem.value(result.predictor) == result.value
    counts = result.problem.dataset.source["thresholds"]
    assert 0 < counts["used"] <= counts["of"] == 327


def test_all_methods_of_a_comparison_search_the_same_tests():
    study = mt.compare(IRIS, ["dp", "state-flow@highs", "dp-sorted"], time_limit=20)
    rows = study.rows
    assert {row["objective"] for row in rows} == {6}
    assert {row["status"] for row in rows} == {"optimal"}
    assert len({row["problem"]["data"]["arrays_sha256"] for row in rows}) == 1
    message = sentence(rows[0])
    assert message.startswith("over 40 of 119 thresholds (those of the optimal tree, ")
    assert "optimum over all: 6 errors (dp-sorted)" in message
    assert message in study._repr_html_().replace("&#x27;", "'")


def test_a_start_keeps_its_tests():
    """Of a threshold that nobody else would choose."""
    data = IRIS.dataset
    odd = max(
        (t for t in data.features if t.column == "sepal width (cm)"), key=lambda t: float(t.value)
    )
    tree = mt.Tree(Branch(odd, Leaf(0), Leaf(1)), data.classes)
    result = mt.solve(IRIS, "state-flow@highs", start=tree)
    assert odd in result.problem.dataset.index
    assert result.value.number == 6


def test_a_spec_states_the_chosen_thresholds(tmp_path):
    """Its recipe gives every worker the same tests; other data are refused."""
    mt.example("heart", tmp_path / "heart.csv")
    path = tmp_path / "study.toml"
    path.write_text(
        """
[[problems]]
name = "p"
kind = "trees"
data = [{ file = "heart.csv" }]
space = { max_depth = 2 }

[[methods]]
formulations = ["state-flow"]
solvers = ["highs"]

[[methods]]
labels = ["dp"]
"""
    )
    plan = read_plan(path)
    (planned,) = plan.problems
    assert planned.recipe["chosen"]["thresholds"]["of"] == 327
    built = planned.build()[0]
    assert not built.dataset.open_thresholds
    assert built.dataset.source["thresholds"]["optimum"] == 34
    assert mt.solve(built, "dp").value.number == 34
    table = pd.read_csv(tmp_path / "heart.csv")
    table.assign(age=table["age"] + 0.25).to_csv(tmp_path / "heart.csv", index=False)
    read_again()
    with pytest.raises(mt.DataError, match="they have changed, so plan again"):
        planned.build()


# -- limits --------------------------------------------------------------------------------------


def test_a_run_that_is_interrupted_while_thresholds_are_chosen_leaves_a_tree(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(thresholds, "optimal_tree", interrupted)
    for make in (
        lambda: mt.solve(IRIS, "state-flow@highs"),
        lambda: engine("state-flow@highs").run(IRIS),
    ):
        result = make()
        assert result.limit is Limit.INTERRUPTED
        assert result.status.value == "feasible"
        assert result.value.number == 6  # the greedy trees are grown first


def test_a_run_without_time_leaves_a_tree():
    for method in ("dp", "dp-sorted"):
        result = mt.solve(IRIS, method, time_limit=1e-6, reference=None)
        assert result.predictor is not None


def test_greedy_trees_do_not_depend_on_the_time_of_an_optimal_one(monkeypatch):
    """An optimal tree that takes all the time once left a stump, called greedy over all thresholds."""
    late = Deadline.after(0)

    def spends_all(_, deadline):
        assert not deadline.passed
        object.__setattr__(deadline, "at", late.at)

    monkeypatch.setattr(thresholds, "optimal_tree", spends_all)
    result = mt.solve(IRIS, "state-flow@highs", time_limit=60)
    counts = result.problem.dataset.source["thresholds"]
    assert counts["from"] == ["the greedy tree", "scikit-learn's tree", "quantiles"]
    assert counts["greedy_tree"] == 6
    assert result.value.number <= 6


# -- models --------------------------------------------------------------------------------------


def test_a_model_of_open_thresholds_is_refused_until_they_are_chosen():
    formulation = mt.registry.formulation("state-flow")
    with pytest.raises(mt.errors.Unsupported, match="choose them by problem"):
        formulation.build(IRIS)
    chosen = mt.choose_thresholds(IRIS)
    assert formulation.build(chosen) is not None
    assert mt.choose_thresholds(chosen) is chosen
    assert mt.choose_thresholds(IRIS, "dp,dp-sorted").dataset.n_features == 119
    small = mt.Problem(
        mt.Binarizer().dataset({"x": [1, 2, 3]}, [0, 1, 0]), mt.Accuracy(), mt.Trees(1)
    )
    assert formulation.build(small) is not None


# -- estimates of work ---------------------------------------------------------------------------


@each_row("name", ["dp", "dp-sorted", "pareto", "enumerate"])
def test_estimates_rise_with_every_size(name):
    method = engine(name)
    small = Sizes(100, (5.0, 20.0, 1.0), 2, 2)
    larger = (
        Sizes(200, (5.0, 20.0, 1.0), 2, 2),
        Sizes(100, (5.0, 20.0, 1.0, 1.0), 2, 2),
        Sizes(100, (5.0, 40.0, 1.0), 2, 2),
        Sizes(100, (5.0, 20.0, 1.0), 3, 2),
    )
    assert all(method.expected_seconds(one) > method.expected_seconds(small) for one in larger)
    assert method.expected_seconds(Sizes(100, (5.0, 20.0, 1.0), 2, 5)) >= method.expected_seconds(
        small
    )


def test_as_many_tests_as_fit_into_the_time():
    sizes = Sizes(1000, (300.0, 300.0), 3, 2)
    most = most_tests(usual_seconds, sizes)
    assert usual_seconds(sizes.with_tests(most)) <= work.ENOUGH
    assert usual_seconds(sizes.with_tests(most + 1)) > work.ENOUGH
    assert most_tests(usual_seconds, sizes.with_tests(most)) == most


def test_quantiles_of_all_columns_come_in_turn():
    found = list(itertools.islice(threshold_sources.quantiles(IRIS), 8))
    assert len({t.column for t in found[:4]}) == 4
    assert {t.column for t in found[:4]} == {t.column for t in found[4:]}
    assert set(threshold_sources.quantiles(IRIS)) == set(IRIS.dataset.features)
