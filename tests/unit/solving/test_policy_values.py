"""Estimated values of policies: by hand, by simulation, and as the estimator reports them."""

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from scipy import stats

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.data.generate import athey_imbens
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.solving.policy_values import mean_with_interval

TREE = mt.Tree(Branch(mt.BinaryFeature("0"), Leaf(0), Leaf(1)), ("wait", "treat"))


def trial(n=400, seed=0):
    """A treatment with effect 1 where the first feature is 1 and -1 elsewhere, given at random with
    known propensities; the outcome model is wrong.
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 2))
    chance = np.where(X[:, 1] == 1, 0.7, 0.4)
    given = (rng.random(n) < chance).astype(int)
    outcomes = np.where(X[:, 0] == 1, 1.0, -1.0) * given + rng.normal(size=n)
    return {
        "X": X,
        "treatments": np.array(["wait", "treat"])[given],
        "outcomes": outcomes,
        "propensities": np.where(given == 1, chance, 1 - chance),
        "values": np.column_stack([np.full(n, 0.2), np.full(n, -0.1)]),
        "actions": ("wait", "treat"),
    }


def dataset(**changes):
    given = {**trial(), **changes}
    return mt.Dataset(given.pop("X"), **given)


def test_the_normal_interval_is_that_of_a_mean():
    data = dataset()
    scores = mt.tasks.DoublyRobust().action_values(data)[np.arange(400), data.X[:, 0]]
    found = mt.policy_value(TREE, data, level=0.9)
    low, high = stats.norm.interval(0.9, scores.mean(), stats.sem(scores))
    assert found.value == pytest.approx(scores.mean())
    assert found.standard_error == pytest.approx(stats.sem(scores))
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.n_rows == 400


def test_a_row_of_weight_zero_does_not_count_and_equal_weights_change_nothing():
    data = dataset()
    keep = np.arange(400) % 3 > 0
    zero = mt.policy_value(TREE, data.with_(weights=np.where(keep, 2.0, 0.0)))
    assert zero == mt.policy_value(TREE, data.subset(keep))


@pytest.mark.parametrize("interval", ["normal", "bootstrap"])
def test_intervals_cover_the_true_value_about_as_often_as_they_say(interval):
    """The policy of the tree is worth 1/2 on average; 0.8 plus or minus four standard deviations."""
    task, covered, runs = mt.tasks.DoublyRobust(), 0, 300
    for seed in range(runs):
        given = trial(150, seed)
        data = mt.Dataset(given.pop("X"), **given)
        found = mt.policy_value(TREE, data, task, level=0.8, interval=interval, draws=200)
        covered += found.low <= 0.5 <= found.high
    assert 0.7 < covered / runs < 0.9


def test_the_difference_of_two_policies_is_taken_row_by_row():
    data = dataset()
    gain = mt.policy_value(TREE, data, against="wait")
    parts = [mt.policy_value(p, data) for p in (TREE, "wait")]
    assert gain.value == pytest.approx(parts[0].value - parts[1].value)
    assert mt.policy_value(TREE, data, against=TREE).standard_error == 0


def test_leaves_are_a_tidy_table_with_the_original_names():
    data = dataset()
    table = mt.policy_leaves(TREE, data)
    assert list(table.action) == ["wait", "treat"] * 2
    assert list(table.chosen) == [True, False, False, True]
    assert list(table.rule) == ["not 0"] * 2 + ["0"] * 2
    assert (
        table.groupby("leaf").treated.sum().tolist() == table.groupby("leaf").rows.first().tolist()
    )
    mean = (table[table.chosen].value * table[table.chosen].share).sum()
    assert mean == pytest.approx(mt.policy_value(TREE, data).value)
    effect = table.pivot_table(index="leaf", columns="action", values="value")
    assert (effect.treat > effect.wait).tolist() == [False, True]


def test_without_rows_and_with_one_there_is_no_interval():
    nothing = mean_with_interval(np.zeros(0), np.zeros(0))
    single = mean_with_interval(np.ones(1), np.ones(1))
    assert np.isnan([nothing.value, nothing.low, single.standard_error, single.high]).all()
    assert single.value == 1


@each_row(
    ("options", "said"),
    [
        ({"level": 95}, "level must lie between 0 and 1"),
        ({"draws": 10.5}, "draws must be a whole number"),
        ({"interval": "exact"}, "interval must be normal or bootstrap"),
        ({"against": "operate"}, "neither a tree nor an action"),
        ({"task": mt.Accuracy()}, "needs a task such as policy-dr"),
        ({"against": mt.Tree(Leaf(0), ("a", "b"))}, "The tree does not fit the data"),
    ],
)
def test_what_is_not_allowed_is_said(options, said):
    with pytest.raises(DataError, match=said):
        mt.policy_value(TREE, dataset(), **options)


def honest(seed=0, **options):
    given = trial(600, seed)
    X, y = pd.DataFrame(given.pop("X"), columns=["a", "b"]), given.pop("values")
    del given["actions"]
    y = pd.DataFrame(y, columns=["wait", "treat"])
    return mt.OptimalPolicyTree(honest_fraction=0.5, random_state=seed, **options), X, y, given


def test_the_estimator_estimates_on_rows_that_did_not_choose_the_tree():
    model, X, y, given = honest(max_depth=1)
    model.fit(X, y, **given)
    assert model.result_.problem.dataset.n_rows == model.value_.n_rows == 300
    assert model.value_.low < 0.5 < model.value_.high
    assert model.leaves_.groupby("leaf").rows.first().sum() == 300
    assert set(model.predict(X)) == {"wait", "treat"}
    again = model.policy_value(X, y, **given, against="wait")
    assert again.low > 0
    assert model.policy_leaves(X, y, **given).rows.iloc[0] > 200
    model.set_params(honest_fraction=0).fit(X, y, **given)
    assert not hasattr(model, "value_")


def test_pure_noise_looks_good_on_its_own_rows_and_not_on_others():
    """What honest splitting is for: without an effect the tree's own rows promise one."""
    own, other = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, (100, 8)), rng.normal(size=(100, 2))
        model = mt.OptimalPolicyTree(max_depth=2, honest_fraction=0.5, random_state=seed).fit(X, y)
        own.append(model.result_.value.number)
        other.append(model.value_.value)
    assert np.mean(own) > 0.25
    assert abs(np.mean(other)) < 0.1


def test_the_estimator_takes_weights_minima_and_a_budget():
    model, X, y, given = honest(max_depth=2, min_samples_treatment=20)
    model.set_params(constraints=[mt.tasks.Capacity("treat", at_most=60)], honest_fraction=0)
    weights = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    model.fit(X, y, **given, sample_weight=weights)
    assert model.status_ == "optimal"
    assert (model.predict(X) == "treat").sum() <= 60
    data = model.result_.problem.dataset
    leaves = mt.policy_leaves(model.tree_, data)
    assert leaves.treated.min() >= 20
    repeated = mt.OptimalPolicyTree(max_depth=1).fit(
        X.loc[X.index.repeat(weights.astype(int))],
        y.loc[y.index.repeat(weights.astype(int))],
        **{k: np.repeat(v, weights.astype(int)) for k, v in given.items()},
    )
    weighted = mt.OptimalPolicyTree(max_depth=1).fit(X, y, **given, sample_weight=weights)
    assert weighted.result_.value.number == pytest.approx(repeated.result_.value.number)


def test_the_policy_learned_on_generated_data_is_better_than_treating_nobody():
    data, _ = athey_imbens(2, 600, 0.5, seed=3)
    fresh, truth = athey_imbens(2, 600, 0.5, seed=4)
    tree = mt.solve(mt.Problem(data, mt.tasks.DoublyRobust(), mt.Trees(2))).tree
    found = mt.policy_value(tree, fresh, against=0)
    gain = truth[np.arange(600), tree.routes(fresh).action].mean() - truth[:, 0].mean()
    assert found.low < gain < found.high
    assert found.low > 0


def test_an_action_that_no_row_has_needs_a_column_of_values():
    """Three columns of values, and two treatments that were observed."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 2)), rng.normal(size=(40, 3))
    given = {"outcomes": y[:, 0], "propensities": np.full(40, 0.5)}
    model = mt.OptimalPolicyTree(honest_fraction=0.5, random_state=0)
    model.fit(X, y, treatments=X[:, 0], **given)
    assert model.actions_.tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="not among the actions 0, 1, 2"):
        model.fit(X, y, treatments=np.array(["a", "b"])[X[:, 0]], **given)
    with pytest.raises(DataError, match="one column per action"):
        mt.OptimalPolicyTree().fit(X, y).policy_value(X, y[:, :2])
