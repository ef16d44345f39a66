"""Actions, costs, prices, classes and groups that come with names; folds and held-out rows that lack
something; words that estimators take as the command line does.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import milp_trees as mt
from milp_trees.estimators._groups import combined

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.integers(0, 5, (40, 2)), columns=["age", "dose"])
Y = np.where(X.age > 2, "ill", np.where(X.dose > 2, "well", "fit"))
VALUES = pd.DataFrame({"stay": 1.0 * X.age, "move": 5.0 - X.dose, "wait": 2.0})
TURNED = VALUES[["wait", "stay", "move"]]
PRICES = pd.DataFrame(RNG.integers(1, 9, (40, 2)), columns=["age", "dose"])


def test_values_in_another_order_of_actions_are_scored_by_name():
    model = mt.OptimalPolicyTree(max_depth=1).fit(X, VALUES)
    assert model.score(X, TURNED) == model.score(X, VALUES)
    assert model.policy_value(X, TURNED) == model.policy_value(X, VALUES)
    assert model.policy_leaves(X, TURNED).equals(model.policy_leaves(X, VALUES))
    with pytest.raises(mt.DataError, match="do not fit the actions stay, move, wait"):
        model.score(X, VALUES.rename(columns={"stay": "go"}))


@pytest.mark.parametrize("make", [mt.SPOTree, lambda **d: mt.SPOForest(n_estimators=2, **d)])
def test_costs_in_another_order_are_those_of_the_components(make):
    decisions = mt.decisions.simplex_decisions(["wait", "stay", "move"])
    model = make(decisions=decisions, max_depth=1, random_state=0).fit(X, VALUES)
    again = make(decisions=decisions, max_depth=1, random_state=0).fit(X, TURNED)
    np.testing.assert_array_equal(model.decide(X), again.decide(X))
    assert model.score(X, VALUES) == model.score(X, TURNED) == again.score(X, VALUES)
    with pytest.raises(mt.DataError, match="do not fit the components of a decision"):
        make(decisions=decisions).fit(X, VALUES.rename(columns={"stay": "go"}))


def test_validation_costs_in_another_order_choose_the_same_pruning():
    path = [
        mt.SPOTree(max_depth=2).fit(X, VALUES, X_val=X, y_val=y_val).pruning_path_.validation
        for y_val in (VALUES, TURNED)
    ]
    np.testing.assert_array_equal(*path)


def test_components_that_are_only_numbered_take_columns_as_they_stand():
    decisions = mt.decisions.ListedDecisions(np.eye(3))
    model = mt.SPOTree(decisions=decisions, max_depth=1).fit(X, VALUES)
    assert model.score(X, TURNED) == model.score(X, VALUES)  # by the names that fit has seen


def test_prices_of_rows_in_another_order_of_features():
    forest = RandomForestClassifier(3, max_depth=2, random_state=0)
    curves = [
        mt.EnsemblePruner(estimator=forest, random_state=0).fit(X, Y, row_costs=prices)
        for prices in (PRICES, PRICES[["dose", "age"]])
    ]
    pd.testing.assert_frame_equal(*(c.validation_curve_ for c in curves))
    with pytest.raises(mt.DataError, match="do not fit the features"):
        mt.EnsemblePruner(estimator=forest).fit(X, Y, row_costs=PRICES.rename(columns={"age": "a"}))


@pytest.mark.parametrize("given", [{"dose": 3, "age": 1}, pd.Series([3, 1], index=["dose", "age"])])
def test_prices_and_groups_of_columns_by_name(given):
    forest = mt.BudgetForestClassifier(n_estimators=1, random_state=0)
    assert forest.set_params(feature_costs=given).fit(X, Y).feature_costs_.tolist() == [1, 3]
    labels = type(given)({"dose": "a", "age": "b"})
    assert forest.set_params(groups=labels).fit(X, Y).unit_costs_.tolist() == [3, 1]
    with pytest.raises(mt.DataError, match="do not fit the columns"):
        forest.set_params(feature_costs={"age": 1, "doze": 3}).fit(X, Y)


def test_features_of_columns_by_name():
    forest = RandomForestClassifier(2, max_depth=2, random_state=0)
    given = pd.Series({"dose": "drug", "age": "years"})
    model = mt.EnsemblePruner(estimator=forest, features=given, random_state=0).fit(X, Y)
    assert model.ensemble_.features == ("years", "drug")


def test_a_cost_matrix_is_laid_over_the_classes_by_name():
    names = ["fit", "ill", "well"]
    matrix = pd.DataFrame([[0, 9, 1], [2, 0, 3], [5, 7, 0]], index=names, columns=names)
    costs = [
        mt.CostSensitiveTreeClassifier(matrix=given, max_depth=1).fit(X, Y).cost_
        for given in (
            matrix.to_numpy(),
            matrix,
            matrix.loc[names[::-1]],
            matrix.loc[names[::-1], ["well", "fit", "ill"]],
        )
    ]
    assert costs.count(costs[0]) == len(costs)
    task = mt.tasks.MisclassificationCosts(matrix=matrix.loc[names[::-1], names])
    assert mt.tasks.from_spec(task.spec()) == task
    for wrong in (matrix.rename(columns={"fit": "fat"}), matrix.iloc[:2]):
        with pytest.raises(mt.DataError, match="do not fit the classes"):
            mt.CostSensitiveTreeClassifier(matrix=wrong).fit(X, Y)


def test_weights_of_classes_by_name():
    weights = {"well": 5, "fit": 1, "ill": 2}
    values = [
        mt.OptimalTreeClassifier(max_depth=1, class_weight=given).fit(X, Y).result_.value
        for given in (weights, pd.Series(weights), dict(reversed(weights.items())))
    ]
    assert values[0] == values[1] == values[2]
    data = mt.Dataset([[0], [1]], y=[0.0, 1.0])
    for given in ({1: 3}, {1.0: 3}, pd.Series({1: 3})):
        losses = mt.tasks.WeightedError(class_weight=given).row_losses(data)
        assert losses.tolist() == [1, 3]
    with pytest.raises(mt.DataError, match="has the name '1' twice"):
        mt.tasks.WeightedError(class_weight={1: 3, "1": 4})


# -- columns whose names are whole numbers --------------------------------------------------------


def test_columns_named_by_whole_numbers_are_matched():
    table = pd.DataFrame(X.to_numpy(), columns=[1, 0])
    model = mt.OptimalTreeClassifier(max_depth=2).fit(table, Y)
    wanted = model.predict(table)
    np.testing.assert_array_equal(model.predict(table[[0, 1]]), wanted)
    plain = mt.OptimalTreeClassifier(max_depth=2).fit(pd.DataFrame(X.to_numpy()), Y)
    np.testing.assert_array_equal(plain.predict(pd.DataFrame(X.to_numpy())[[1, 0]]), wanted)
    with pytest.raises(mt.DataError, match="do not fit the columns of the fit"):
        model.predict(table.set_axis([5, 6], axis=1))
    with pytest.raises(mt.DataError, match="Two columns of X are called 'age'"):
        model.fit(X.set_axis(["age", "age"], axis=1), Y)


# -- groups ----------------------------------------------------------------------------------------


def test_combinations_of_groups_have_different_names():
    first, second = np.array(["a, b", "a", "a"]), np.array(["c", "b, c", "'b, c'"])
    names = combined([first.astype(object), second.astype(object)])
    assert len(set(names.tolist())) == 3
    assert combined([np.array(["f"]), np.array([3])]).tolist() == ["f, 3"]


@pytest.mark.parametrize("split_on_group", [False, True])
def test_no_column_of_several_sensitive_ones_is_split_on(split_on_group):
    table = pd.DataFrame(RNG.integers(0, 2, (60, 3)), columns=["sex", "old", "a"])
    target = table.sex ^ table.old
    model = mt.FairTreeClassifier(max_disparity=1, split_on_group=split_on_group)
    model.fit(table, target, sensitive_features=table[["sex", "old"]])
    assert (model.score(table, target) == 1) is split_on_group
    used = {t.column for t in model.tree_.splits}
    assert used == ({"sex", "old"} if split_on_group else used - {"sex", "old"})
    again = mt.OptimalTreeClassifier(split_on_group=split_on_group)
    again.fit(table, target, groups=table[["old", "sex"]])
    assert (again.score(table, target) == 1) is split_on_group


# -- rows that are kept apart ------------------------------------------------------------------------


def uneven(row):
    """A table with one gap in one row, one 2 in a column of 0 and 1, and one rare text."""
    table = X.astype(float).assign(flag=np.arange(40) % 2, word=["u", "v"] * 20)
    table.loc[row, "age"] = np.nan
    table.loc[row + 1, "flag"], table.loc[row + 2, "word"] = 2, "w"
    return table


@pytest.mark.parametrize("row", [0, 7, 21])
def test_rows_kept_for_the_estimate_may_have_gaps(row):
    model = mt.OptimalPolicyTree(max_depth=1, honest_fraction=0.4, random_state=row)
    assert np.isfinite(model.fit(uneven(row), VALUES).value_.value)


@pytest.mark.parametrize("row", [0, 7, 21])
def test_folds_may_lack_gaps_numbers_and_classes_of_the_table(row):
    rare = np.where(np.arange(40) == row, "rare", Y)
    model = mt.OptimalTreeClassifierCV(max_depth=1, max_leaf_nodes=2, cv=3)
    with pytest.warns(UserWarning, match="least populated class"):
        model.fit(uneven(row), rare)
    two = np.where(np.arange(40) == row, "rare", "usual")
    with pytest.warns(UserWarning, match="least populated class"):
        assert model.fit(uneven(row)[["flag"]], two).best_score_ > 0.9


# -- words -----------------------------------------------------------------------------------------


def test_estimators_take_the_words_of_the_command_line():
    message = {"start": "none", "reference": "none", "binarizer": "quantiles:3"}
    model = mt.OptimalTreeClassifier(max_depth=1, **message).fit(X, Y)
    assert model.binarizer_.n_bins == 3
    assert not model.result_.start
    assert model.result_.agrees is None
    mt.OptimalRuleListClassifier(**message).fit(X, Y)
    with pytest.raises(mt.DataError, match="write auto, midpoints, quantiles:5"):
        mt.OptimalTreeClassifier(binarizer="quantile:3").fit(X, Y)


def test_weights_count_like_repeated_rows_but_for_minimum_rows():
    weights = np.full(40, 2)
    twice = X.loc[np.repeat(np.arange(40), 2)], np.repeat(Y, 2)
    tree = mt.OptimalTreeClassifier(max_depth=1).fit(X, Y, sample_weight=weights)
    again = mt.OptimalTreeClassifier(max_depth=1).fit(*twice)
    assert tree.result_.value.number == again.result_.value.number
    least = mt.OptimalTreeClassifier(max_depth=1, min_samples_leaf=30)
    assert least.fit(X, Y, sample_weight=weights).get_n_leaves() == 1
    assert least.fit(*twice).get_n_leaves() == 2
