"""`FairTreeClassifier`: the constraint holds on the training rows and nothing better satisfies it."""

import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
import sklearn
from row_tests import each_row
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

import milp_trees as mt
from milp_trees.testing import expected_failed_checks

RNG = np.random.default_rng(6)
FRAME = pd.DataFrame(
    {
        "sex": RNG.choice(["f", "m"], 120),
        "age": RNG.integers(0, 2, 120),
        "job": RNG.integers(0, 2, 120),
    }
)
FRAME["age"] |= FRAME["sex"] == "m"
Y = np.where(FRAME["age"] + FRAME["job"] + RNG.integers(0, 2, 120) > 1, "yes", "no")
RULES = {
    "statistical-parity": lambda truth: [np.ones(len(truth), dtype=bool)],
    "equal-opportunity": lambda truth: [truth == "yes"],
    "predictive-equality": lambda truth: [truth == "no"],
    "equalised-odds": lambda truth: [truth == "yes", truth == "no"],
}


def disparity(said, truth, groups, rule):
    """The definition: the largest difference of the shares of "yes", as a fraction."""
    largest = Fraction(0)
    for among in RULES[rule](truth):
        shares = [
            Fraction(int((said[among & (groups == g)] == "yes").sum()), int(here))
            for g in np.unique(groups)
            if (here := (among & (groups == g)).sum())
        ]
        largest = max(largest, max(shares) - min(shares))
    return largest


def best_by_hand(X, truth, groups, rule, delta):
    """Fewest errors of all trees of depth 1 and 2 on 0/1 columns that satisfy the constraint."""

    def labellings(rows, depth):
        yield from (np.where(rows, label, "") for label in ("yes", "no"))
        if depth:
            for column in X.T:
                for left in labellings(rows & (column == 0), depth - 1):
                    for right in labellings(rows & (column == 1), depth - 1):
                        yield np.where(column == 0, left, right)

    seen = {tuple(message) for message in labellings(np.ones(len(truth), dtype=bool), 2)}
    return min(
        (message != truth).sum()
        for message in map(np.array, seen)
        if disparity(message, truth, groups, rule) <= delta
    )


@each_row("rule, delta", list(product(RULES, ("0.02", "0.2"))))
def test_the_tree_is_the_best_that_satisfies_the_constraint(rule, delta):
    """Against all trees of depth 2 on two columns, by the definition of the rates."""
    X = FRAME[["age", "job"]].to_numpy()
    model = mt.FairTreeClassifier(constraint=rule, max_disparity=delta)
    model.fit(X, Y, sensitive_features=FRAME["sex"])
    groups = FRAME["sex"].to_numpy()
    message = model.predict(X)
    assert model.status_ == "optimal"
    assert disparity(message, Y, groups, rule) <= Fraction(delta)
    assert model.disparity_ == float(disparity(message, Y, groups, rule))
    assert model.disparity(X, Y, sensitive_features=groups) == model.disparity_
    assert (message != Y).sum() == best_by_hand(X, Y, groups, rule, Fraction(delta))


def test_the_report_counts_every_group():
    """Rates per group, of all rows, and their largest difference."""
    model = mt.FairTreeClassifier(max_disparity="0.1").fit(FRAME, Y, sensitive_features="sex")
    table = model.fairness_report(FRAME, Y, sensitive_features="sex")
    pd.testing.assert_frame_equal(table, model.fairness_)
    message = model.predict(FRAME)
    for g in ("f", "m"):
        here = (FRAME["sex"] == g).to_numpy()
        assert table.loc[g, "rows"] == here.sum()
        assert table.loc[g, "selection_rate"] == (message[here] == "yes").mean()
        assert table.loc[g, "true_positive_rate"] == (message[here & (Y == "yes")] == "yes").mean()
        assert table.loc[g, "false_positive_rate"] == (message[here & (Y == "no")] == "yes").mean()
        assert table.loc[g, "error_rate"] == pytest.approx((message != Y)[here].mean())
    assert table.loc["all", "error_rate"] == pytest.approx(1 - model.score(FRAME, Y))
    assert table.loc["difference", "selection_rate"] == pytest.approx(model.disparity_)


@pytest.mark.parametrize(
    "given",
    ["sex", FRAME["sex"], FRAME[["sex"]]],
    ids=["name", "series", "frame"],
)
def test_a_sensitive_column_of_x_is_not_split_on(given):
    """However it is named; with `split_on_group` it may be, and is here."""
    y = np.where(FRAME["sex"] == "m", "yes", "no")
    blind = mt.FairTreeClassifier(max_disparity=1).fit(FRAME, y, sensitive_features=given)
    assert "sex" not in {t.column for t in blind.tree_.splits}
    free = mt.FairTreeClassifier(max_disparity=1, split_on_group=True)
    assert free.fit(FRAME, y, sensitive_features=given).score(FRAME, y) == 1
    assert free.result_.problem.group["split_on"] is True


def test_a_copy_of_the_group_that_is_used_brings_a_warning():
    """An array says nothing about the columns of X; the remedy is in the warning."""
    y = np.where(FRAME["sex"] == "m", "yes", "no")
    with pytest.warns(UserWarning, match="sensitive_features='sex'"):
        mt.FairTreeClassifier(max_disparity=1).fit(
            FRAME, y, sensitive_features=FRAME["sex"].to_numpy()
        )


def test_several_sensitive_columns_make_their_combinations():
    """As in the fairness packages: every combination of values is a group."""
    both = FRAME[["sex", "job"]]
    model = mt.FairTreeClassifier(max_disparity="0.3").fit(
        FRAME[["age"]], Y, sensitive_features=both
    )
    assert list(model.fairness_.index) == ["f, 0", "f, 1", "m, 0", "m, 1", "all", "difference"]


def test_control_features_are_the_legitimate_factor():
    """Conditional statistical parity compares groups within their levels, by name or as an array."""
    for control in ("job", FRAME["job"].to_numpy()):
        model = mt.FairTreeClassifier(
            constraint="conditional-statistical-parity", max_disparity="0.1"
        ).fit(FRAME, Y, sensitive_features="sex", control_features=control)
        message = model.predict(FRAME)
        for job in (0, 1):
            rates = [
                (message[(FRAME["job"] == job) & (FRAME["sex"] == g)] == "yes").mean()
                for g in ("f", "m")
            ]
            assert abs(rates[0] - rates[1]) <= 0.1
    with pytest.raises(mt.DataError, match="factor"):
        model.fit(FRAME, Y, sensitive_features="sex")


def test_without_sensitive_features_nothing_is_constrained_and_a_warning_says_so():
    """The tree is then that of OptimalTreeClassifier."""
    with pytest.warns(UserWarning, match="not constrained"):
        model = mt.FairTreeClassifier().fit(FRAME, Y)
    assert (model.constraint_, model.disparity_, model.fairness_) == (None, None, None)
    assert model.score(FRAME, Y) == mt.OptimalTreeClassifier().fit(FRAME, Y).score(FRAME, Y)


def test_weights_leave_out_rows_and_do_not_count_in_rates():
    """Rows of weight 0 belong to no group and to no error."""
    weights = np.r_[np.zeros(40), np.full(80, 2.0)]
    model = mt.FairTreeClassifier().fit(
        FRAME, Y, sensitive_features=FRAME["sex"], sample_weight=weights
    )
    part = mt.FairTreeClassifier().fit(FRAME[40:], Y[40:], sensitive_features=FRAME["sex"][40:])
    assert model.disparity_ == part.disparity_
    assert model.result_.objective == 2 * part.result_.objective


@each_row(
    "changes, groups, sentence",
    [
        ({"constraint": "parity"}, "sex", "constraint must be one of"),
        ({"constraint": "capacity"}, "sex", "constraint must be one of"),
        ({"max_disparity": 1.5}, "sex", "between 0 and 1"),
        ({"favourable": "maybe"}, "sex", "not an action"),
        ({}, "gender", "does not have"),
        ({}, ["f"] * 120, "one group"),
        ({}, ["f", "m"], "groups"),
    ],
)
def test_mistakes_are_refused_with_a_sentence(changes, groups, sentence):
    """Parameters and groups."""
    with pytest.raises(mt.DataError, match=sentence):
        mt.FairTreeClassifier(**changes).fit(FRAME, Y, sensitive_features=groups)


def test_an_unknown_label_in_a_report_is_refused():
    """The report compares with labels that fit has seen."""
    model = mt.FairTreeClassifier().fit(FRAME, Y, sensitive_features="sex")
    with pytest.raises(mt.DataError, match="which fit did not see"):
        model.fairness_report(FRAME, ["?"] * 120, sensitive_features="sex")


def test_grid_search_routes_the_sensitive_features():
    """With metadata routing, and without it as parameters of fit."""
    grid = {"max_disparity": ["0.01", "0.5"], "max_depth": [1]}
    with sklearn.config_context(enable_metadata_routing=True):
        model = mt.FairTreeClassifier().set_fit_request(sensitive_features=True)
        search = GridSearchCV(model, grid, cv=2).fit(FRAME, Y, sensitive_features=FRAME["sex"])
    plain = GridSearchCV(mt.FairTreeClassifier(), grid, cv=2)
    plain.fit(FRAME, Y, sensitive_features=FRAME["sex"])
    assert search.best_params_ == plain.best_params_
    assert search.best_estimator_.disparity_ == plain.best_estimator_.disparity_ is not None


def test_a_pickle_keeps_the_report_and_no_rows():
    """What was measured on the training rows stays; the rows do not."""
    model = mt.FairTreeClassifier().fit(FRAME, Y, sensitive_features="sex")
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_frame_equal(again.fairness_, model.fairness_)
    assert (again.predict(FRAME) == model.predict(FRAME)).all()
    assert again.result_.to_json()["problem"] == model.result_.to_json()["problem"]
    with pytest.raises(mt.DataError, match="left out"):
        _ = again.result_.problem.dataset.groups


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No sensitive_features")
def test_the_whole_check_estimator_passes():
    """scikit-learn's checks know no sensitive features: the tree is not constrained then."""
    model = mt.FairTreeClassifier()
    expected = expected_failed_checks(model)
    outcomes = check_estimator(model, on_fail=None, on_skip=None, expected_failed_checks=expected)
    assert {
        o["check_name"]: str(o["exception"])
        for o in outcomes
        if o["status"] not in ("passed", "skipped", "xfail")
    } == {}
    assert {o["check_name"] for o in outcomes if o["status"] == "skipped"} <= {
        "check_array_api_input"
    }
    assert len(outcomes) > 40


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_the_size_is_chosen_by_cross_validation():
    """`OptimalTreeCV` hands the sensitive features on, and the chosen tree is fair."""
    model = mt.OptimalTreeCV(estimator=mt.FairTreeClassifier(max_disparity="0.1"), cv=3)
    model.fit(FRAME, Y, sensitive_features=FRAME["sex"])
    assert model.estimator_.disparity_ <= 0.1
    assert model.estimator_.tree_.n_leaves <= model.choice_.max_leaf_nodes
