"""`OptimalRuleListClassifier`: the list is the optimum, and what it predicts is what it says."""

import pickle

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import milp_trees as mt

RNG = np.random.default_rng(2)
X = RNG.integers(0, 2, (80, 5))
Y = np.where(X[:, 0] & X[:, 3], "low", np.where(X[:, 1], "high", "mid"))
Y[:6] = "mid"
GROUPS = RNG.integers(0, 2, 80)
IRIS = load_iris(as_frame=True)


def fitted(**given):
    options = {"length_penalty": 0, "max_length": 2, "max_literals": 2, "negations": False}
    return mt.OptimalRuleListClassifier(**(options | given))


@each_row("negations", [False, True])
@each_row("penalty", [0, "0.03", 0.2])
def test_no_list_of_the_problem_is_better(penalty, negations):
    """All lists of at most two rules over single features are tried here, with plain loops."""
    model = fitted(
        length_penalty=penalty, max_literals=1, negations=negations, task="accuracy"
    ).fit(X, Y)
    columns = [X[:, j] == v for j in range(5) for v in ((1, 0) if negations else (1,))]
    price = 80 * float(penalty)

    def errors(rows):
        return rows.sum() - max((Y[rows] == label).sum() for label in set(Y))

    every = np.ones(80, dtype=bool)
    best = errors(every)
    for a in columns:
        best = min(best, errors(a) + errors(~a) + price)
        for b in columns:
            best = min(best, errors(a) + errors(~a & b) + errors(~a & ~b) + 2 * price)
    wrong = (model.predict(X) != Y).sum()
    assert wrong + price * model.rule_list_.length == pytest.approx(best)
    assert model.status_ == "optimal"
    assert model.score(X, Y) == pytest.approx(1 - wrong / 80)


def test_rows_probabilities_and_rules_belong_together():
    """`apply` is the first rule that holds, the default rule is last; probabilities are shares of
    the weighted rows that a rule captures.
    """
    weights = RNG.integers(1, 4, 80)
    model = fitted(negations=True).fit(X, Y, sample_weight=weights)
    rules = model.rule_list_
    table = pd.DataFrame(X, columns=[str(j) for j in range(5)])
    for row, leaf in zip(table.to_dict("records"), model.apply(X), strict=True):
        held = [
            all(row[x.feature.column] == int(x.value) for x in a.literals) for a in rules.splits
        ]
        assert leaf == (held.index(True) if True in held else rules.length)
    leaf = model.apply(X)
    for k in np.unique(leaf):
        here = leaf == k
        shares = [weights[here & (c == Y)].sum() / weights[here].sum() for c in model.classes_]
        assert model.predict_proba(X)[here] == pytest.approx(np.tile(shares, (here.sum(), 1)))


def test_a_weight_of_two_is_a_row_twice():
    weights = RNG.integers(0, 3, 80)
    again = np.repeat(np.arange(80), weights)
    one = fitted(length_penalty="0.02").fit(X, Y, sample_weight=weights)
    two = fitted(length_penalty="0.02").fit(X[again], Y[again])
    assert one.result_.objective == pytest.approx(two.result_.objective)
    assert one.rule_list_ == two.rule_list_


def test_names_labels_and_the_tree_say_the_same():
    """Names of a DataFrame are in the rules, and the tree predicts what the list predicts."""
    y = IRIS.target_names[IRIS.target]
    model = fitted(max_literals=1, negations=True, n_bins=4).fit(IRIS.data, y)
    assert {c for a in model.rule_list_.splits for c in a.columns} <= set(IRIS.data.columns)
    assert set(model.predict(IRIS.data)) <= set(IRIS.target_names)
    assert model.score(IRIS.data, y) > 0.8
    assert (model.tree_.predict(IRIS.data) == model.predict(IRIS.data)).all()


def test_a_pickle_predicts_and_holds_no_rows():
    model = fitted().fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    assert again.result_.value == model.result_.value
    with pytest.raises(mt.DataError, match="rows"):
        _ = again.result_.problem.dataset.X


def test_the_penalty_is_chosen_as_any_other_parameter():
    search = GridSearchCV(fitted(), {"length_penalty": [0.3, 0.01]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"length_penalty": 0.01}


def test_a_task_takes_the_penalty_per_rule_from_the_estimator():
    heavy = mt.tasks.WeightedError(class_weight={"low": 50})
    model = fitted(task=heavy, length_penalty="0.01").fit(X, Y)
    assert (
        model.result_.problem.task.split_penalty
        == mt.tasks.WeightedError(split_penalty="0.01").split_penalty
    )
    assert (model.predict(X)[Y == "low"] == "low").all()
    own = mt.tasks.WeightedError(class_weight={"low": 5}, split_penalty="0.01")
    with pytest.raises(mt.DataError, match="leave out the split_penalty"):
        fitted(task=own).fit(X, Y)
    with pytest.raises(mt.DataError, match="constraints of its own"):
        fitted(task=heavy, constraints=[mt.tasks.StatisticalParity(0.1)]).fit(X, Y)
    with pytest.raises(mt.DataError, match="no penalty per rule"):
        fitted(task=mt.tasks.F1(), length_penalty="0.01").fit(X, Y == "low")
    assert fitted(task=mt.tasks.F1()).fit(X, Y == "low").result_.value.unit == "f1"


@each_row(
    "given, said",
    [
        ({"length_penalty": 0, "max_length": None}, "max_length"),
        ({"length_penalty": -0.1}, "length_penalty must be"),
        ({"max_length": 1.5}, "max_length must be"),
        ({"max_literals": 0}, "max_literals must be"),
        ({"min_support": 2}, "min_support must be"),
        ({"min_samples_rule": 0}, "min_samples_rule must be"),
        ({"min_support": "0.99"}, "No antecedent is left"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(given, said):
    with pytest.raises(mt.MilpTreesError, match=said) as found:
        fitted(**given).fit(X, Y)
    assert str(found.value).endswith(".")


def test_a_start_is_a_list_or_a_fitted_estimator():
    """The run gets the list of either, and says that a start was given."""
    first = fitted(max_length=1).fit(X, Y)
    for start in (first, first.rule_list_):
        second = fitted(start=start, length_penalty="0.01").fit(X, Y)
        assert second.result_.start["method"] == "given"


def test_an_optimal_list_is_at_least_as_good_as_a_greedy_tree_of_one_split():
    tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, Y)
    assert fitted(max_length=1, max_literals=1).fit(X, Y).score(X, Y) >= tree.score(X, Y)


def test_a_constraint_on_groups_holds_and_costs_the_least_errors():
    """All lists of at most one rule are tried here, with every action in both places."""
    rows = np.column_stack([np.where(np.arange(80) % 5, GROUPS, 1 - GROUPS), X])
    y = rows[:, 0] | X[:, 1] & X[:, 2]
    model = mt.OptimalRuleListClassifier(
        length_penalty=0,
        max_length=1,
        constraints=[mt.tasks.StatisticalParity("0.1")],
        method="state-flow@highs",
    ).fit(rows, y, groups=GROUPS)

    def disparity(said):
        return abs(said[GROUPS == 1].mean() - said[GROUPS == 0].mean())

    tried = [np.full(80, k) for k in (0, 1)]
    tried += [rows[:, j] ^ k for j in range(6) for k in (0, 1)]
    fair = [(said != y).sum() for said in tried if disparity(said) <= 0.1]
    assert disparity(model.predict(rows)) <= 0.1
    assert (model.predict(rows) != y).sum() == min(fair)
    assert min(fair) > min((said != y).sum() for said in tried)
    assert model.status_ == "optimal"
