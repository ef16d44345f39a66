"""BudgetRF: impurities, growing against a slow exact reference, the budget, groups, and
scikit-learn's contract.
"""

import pickle
import signal
import time
from fractions import Fraction

import numpy as np
import pytest
from budget_forest_cases import entropy, pairs
from hypothesis import given, settings
from hypothesis import strategies as st
from row_tests import each_row
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import check_estimator

import milp_trees as mt
from milp_trees.pruning.budget_forest.impurities import IMPURITIES, THRESHOLD_PAIRS, measure, value

ALPHAS = (0, 1, 2, 5, "1/2", 0.1)


# -- impurities ------------------------------------------------------------------------------------------------------


def value_of(name, counts, alpha=0):
    """F of a set of rows with these class counts, from the compiled function."""
    whole = np.asarray(counts, dtype=np.int64)
    m = measure(name, alpha, int(whole.sum()))
    found = float(value(m, whole))
    return Fraction(int(found), m.scale) if m.impurity.number == THRESHOLD_PAIRS else found


counts_of = st.lists(st.integers(0, 12), min_size=1, max_size=4)


@settings(deadline=None)  # the first call compiles
@given(counts_of, st.sampled_from(ALPHAS))
def test_threshold_pairs_is_the_printed_formula_exactly(counts, alpha):
    assert value_of("threshold-pairs", counts, alpha) == pairs(counts, alpha)


@settings(deadline=None)
@given(counts_of, st.sampled_from((0, 0.3, 0.7)))
def test_entropy_is_in_nats_and_zero_below_alpha(counts, alpha):
    expected = entropy(counts, alpha) if sum(counts) else 0.0
    assert value_of("entropy", counts, alpha) == pytest.approx(expected, abs=1e-12)


def test_with_alpha_zero_pairs_of_different_labels_are_counted():
    assert value_of("threshold-pairs", [3, 2, 1]) == 3 * 2 + 3 * 1 + 2 * 1


@pytest.mark.parametrize("name", [name for name, row in IMPURITIES.items() if row.admissible])
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_admissible_impurities_are_admissible(name, data):
    """Non-negative, zero on pure sets, monotone, supermodular, and at most |S|²."""
    alpha = data.draw(st.sampled_from(ALPHAS))
    small = data.draw(counts_of)
    large = [n + data.draw(st.integers(0, 6)) for n in small]
    k = data.draw(st.integers(0, len(small) - 1))

    def F(counts, more=0):
        return value_of(name, [n + (more if j == k else 0) for j, n in enumerate(counts)], alpha)

    assert F([small[k] if j == k else 0 for j in range(len(small))]) == 0
    assert 0 <= F(small) <= F(large) <= sum(large) ** 2
    assert F(large, 1) - F(large) >= F(small, 1) - F(small)


def test_entropy_is_not_admissible():
    """It is not monotone: two rows of two classes have more than three rows."""
    assert not IMPURITIES["entropy"].admissible
    assert value_of("entropy", [1, 1]) > value_of("entropy", [2, 1])


# -- the forest ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)
    return train_test_split(X, y, test_size=100, random_state=0)


def same(a, b):
    return all(
        np.array_equal(getattr(s, name), getattr(t, name))
        for s, t in zip(a.estimators_, b.estimators_, strict=True)
        for name in ("children_left", "children_right", "feature", "threshold", "value")
    )


def paths(tree, x):
    """The features tested on the way of one row, and its leaf."""
    node, seen = 0, set()
    while tree.children_left[node] >= 0:
        f = tree.feature[node]
        seen.add(f)
        node = (
            tree.children_left[node] if x[f] <= tree.threshold[node] else tree.children_right[node]
        )
    return seen, node


def test_costs_predictions_and_leaves_are_those_of_a_walk_by_hand(data):
    X, X_test, y, _ = data
    costs, groups = [1, 1, 2, 3, 3, 4, 0.5, 0.5], ["a", "a", "b", "c", "c", "d", "e", "e"]
    forest = mt.BudgetForestClassifier(
        n_estimators=5, feature_costs=costs, groups=groups, alpha=3, random_state=0
    ).fit(X, y)
    price = dict(zip(groups, costs, strict=True))
    sums = np.zeros((len(X_test), 3))
    counted = np.zeros((len(X_test), 3))
    for i, x in enumerate(X_test):
        walks = [paths(tree, x) for tree in forest.estimators_]
        seen = set().union(*(s for s, _ in walks))
        assert set(np.flatnonzero(forest.features_used(x[None])[0])) == seen
        assert forest.feature_cost(x[None])[0] == pytest.approx(
            sum(price[g] for g in {groups[f] for f in seen})
        )
        assert forest.apply(x[None])[0].tolist() == [leaf for _, leaf in walks]
        for tree, (_, leaf) in zip(forest.estimators_, walks, strict=True):
            sums[i] += tree.value[leaf] / 5
            counted[i, tree.value[leaf].argmax()] += 1 / 5
    assert np.allclose(forest.predict_proba(X_test), sums)
    assert np.allclose(forest.set_params(voting="hard").predict_proba(X_test), counted)
    assert np.array_equal(forest.predict(X_test), forest.classes_[counted.argmax(axis=1)])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_trees_are_added_until_the_budget_is_exceeded_and_the_last_is_dropped(data, n_jobs):
    X, X_val, y, y_val = data
    options = {
        "feature_costs": [5, 1, 1, 2, 1, 3, 1, 1],
        "alpha": 15,
        "max_depth": 3,
        "random_state": 0,
    }
    free = mt.BudgetForestClassifier(n_estimators=20, **options).fit(X, y, X_val=X_val, y_val=y_val)
    costs = free.validation_costs_
    assert len(costs) == len(free.validation_errors_) == 20
    assert (np.diff(costs) >= 0).all()
    assert costs[-1] == pytest.approx(free.feature_cost(X_val).mean())
    assert free.validation_errors_[-1] == pytest.approx(1 - free.score(X_val, y_val))
    kept = int(np.flatnonzero(np.diff(costs) > 0.01)[1]) + 1  # the next tree costs more
    budget = costs[kept - 1]  # kept exactly, and just missed below
    forest = mt.BudgetForestClassifier(
        n_estimators=20, **options, budget=budget, n_jobs=n_jobs
    ).fit(X, y, X_val=X_val)
    assert len(forest.estimators_) == kept
    free.estimators_ = free.estimators_[:kept]
    assert same(forest, free)
    assert np.array_equal(forest.validation_costs_, costs[: kept + 1])
    assert not hasattr(forest, "validation_errors_")
    assert forest.feature_cost(X_val).mean() <= budget
    assert len(forest.estimators_samples_) == kept
    below = mt.BudgetForestClassifier(
        n_estimators=20, **options, budget=np.nextafter(budget, 0)
    ).fit(X, y, X_val=X_val)
    assert len(below.estimators_) == int(np.flatnonzero(costs >= budget)[0])


def test_a_budget_below_the_first_tree_is_refused(data):
    X, X_val, y, y_val = data
    with pytest.raises(mt.DataError, match="The first tree costs"):
        mt.BudgetForestClassifier(n_estimators=3, budget=0.5, random_state=0).fit(
            X, y, X_val=X_val, y_val=y_val
        )
    with pytest.raises(mt.DataError, match="measured on validation rows"):
        mt.BudgetForestClassifier(n_estimators=3, budget=0.5).fit(X, y)


def test_a_forest_depends_on_its_seed_and_not_on_threads(data):
    X, _, y, _ = data
    forests = [
        mt.BudgetForestClassifier(
            n_estimators=6, max_features="sqrt", random_state=s, n_jobs=j
        ).fit(X, y)
        for s, j in ((3, None), (3, 2), (4, 2))
    ]
    assert same(forests[0], forests[1])
    assert not same(forests[0], forests[2])


def test_a_pickled_forest_is_the_same(data):
    X, X_test, y, _ = data
    forest = mt.BudgetForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(forest))
    assert same(forest, again)
    assert np.array_equal(forest.predict_proba(X_test), again.predict_proba(X_test))
    assert np.array_equal(forest.oob_, again.oob_)


def test_samples_are_those_that_the_trees_were_grown_on(data):
    X, _, y, _ = data
    forest = mt.BudgetForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    for tree, rows, out in zip(
        forest.estimators_, forest.estimators_samples_, forest.oob_, strict=True
    ):
        assert not set(rows) & set(np.flatnonzero(out))
        assert len(set(rows)) + out.sum() == len(y)
        leaf = tree.apply(np.ascontiguousarray(X[rows]))
        draws, inner = np.bincount(leaf, minlength=tree.node_count), tree.children_left >= 0
        assert np.array_equal(draws[~inner], tree.weighted_n_node_samples[~inner])
        assert tree.n_node_samples[0] == len(set(rows))


def test_trees_have_the_arrays_of_scikit_learn_s_trees(data):
    X, _, y, _ = data
    ours = mt.BudgetForestClassifier(n_estimators=2, random_state=0).fit(X, y).estimators_[0].tree_
    theirs = RandomForestClassifier(2, random_state=0).fit(X, y).estimators_[0].tree_
    for name in (
        "children_left",
        "children_right",
        "feature",
        "threshold",
        "impurity",
        "n_node_samples",
        "weighted_n_node_samples",
    ):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert (a.ndim, a.dtype) == (b.ndim, b.dtype), name
    for tree in (ours, theirs):
        leaf = tree.children_left < 0
        marks = {
            tuple(row)
            for row in zip(
                tree.children_left[leaf],
                tree.children_right[leaf],
                tree.feature[leaf],
                tree.threshold[leaf],
                strict=True,
            )
        }
        assert marks == {(-1, -1, -2, -2.0)}
    assert ours.value.shape == (ours.node_count, 3)
    assert np.allclose(ours.value.sum(axis=1), 1)


def test_costs_turn_the_forest_to_cheap_features():
    """Of two copies of every informative column the cheap one is used, wherever the dear one
    stands.
    """
    X, y = make_classification(200, 4, n_informative=4, n_redundant=0, random_state=1)
    forest = mt.BudgetForestClassifier(
        n_estimators=4, feature_costs=[9] * 4 + [1] * 4, random_state=0
    ).fit(np.hstack([X, X]), y)
    assert not forest.features_used(np.hstack([X, X]))[:, :4].any()


def test_below_its_own_test_a_feature_is_free_only_on_request():
    """Worked by hand: at the root x0 removes 6 of 8 for 2; then both remove the remaining 2, x0 for
    2 or nothing, x1 for 1.5.
    """
    X = [[1, 1], [1, 1], [1, 1], [2, 1], [3, 1], [4, 2]]
    y = ["a", "a", "a", "b", "b", "a"]

    def features(**options):
        return (
            mt.BudgetForestClassifier(
                n_estimators=1, bootstrap=False, feature_costs=[2, 1.5], **options
            )
            .fit(X, y)
            .estimators_[0]
            .feature.tolist()
        )

    assert features() == [0, -2, 1, -2, -2]
    assert features(free_after_use=True) == [0, -2, 0, -2, -2]


@pytest.mark.slow
def test_the_whole_check_estimator_passes():
    outcomes = check_estimator(
        mt.BudgetForestClassifier(n_estimators=5), on_fail=None, on_skip=None
    )
    assert {o["check_name"] for o in outcomes if o["status"] != "passed"} <= {
        "check_array_api_input"
    }  # needs SCIPY_ARRAY_API set


def test_columns_are_known_by_name(data):
    import pandas as pd

    X, _, y, _ = data
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    forest = mt.BudgetForestClassifier(n_estimators=2, random_state=0).fit(frame, y)
    assert forest.feature_names_in_.tolist() == list("abcdefgh")
    with pytest.raises(ValueError, match="feature names"):
        forest.feature_cost(frame[list("hgfedcba")])


@each_row(
    "options, sentence",
    [
        ({"feature_costs": [1] * 7}, r"one number per column, shape \(8,\)"),
        ({"feature_costs": [1] * 7 + [-1]}, "column 7 has -1"),
        ({"feature_costs": [1] * 7 + [float("nan")]}, "column 7 has nan"),
        ({"feature_costs": ["cheap"] * 8}, "must be numbers"),
        ({"groups": [1] * 7}, "groups has 7 entries for 8 columns"),
        (
            {"groups": ["g"] * 8, "feature_costs": [1] * 7 + [2]},
            "columns 0 and 7 of group g cost 1 and 2",
        ),
        ({"criterion": "gini"}, "no criterion 'gini'"),
        ({"alpha": -1}, "alpha must be a finite number of at least 0"),
        ({"alpha": 0.123456789}, "denominator"),
        ({"alpha": float("nan")}, "alpha must be a finite number"),
        ({"n_estimators": 0}, "n_estimators must be a whole number"),
        ({"max_depth": 0}, "max_depth must be a whole number"),
        ({"max_features": 9}, "whole number from 1 to 8"),
        ({"max_features": "all"}, "max_features must be"),
        ({"voting": "mean"}, "voting must be one of"),
        ({"budget": -1}, "budget must be a finite number"),
        ({"min_gain": None}, "min_gain must be a finite number"),
    ],
)
def test_what_cannot_be_used_is_named(data, options, sentence):
    X, X_val, y, y_val = data
    with pytest.raises(mt.MilpTreesError, match=sentence):
        mt.BudgetForestClassifier(**{"n_estimators": 2} | options).fit(
            X, y, X_val=X_val, y_val=y_val
        )


def test_an_unfitted_forest_and_missing_values_are_refused(data):
    X, _, y, _ = data
    forest = mt.BudgetForestClassifier(n_estimators=2)
    for ask in (forest.predict, forest.feature_cost, forest.features_used, forest.apply):
        with pytest.raises(NotFittedError):
            ask(X)
    with pytest.raises(ValueError, match="NaN"):
        forest.fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(mt.DataError, match="give one label per row"):
        forest.fit(X, y, X_val=X, y_val=y[:-1])
    with pytest.raises(mt.DataError, match="give X_val too"):
        forest.fit(X, y, y_val=y)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timer on this system")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_the_growing(data, n_jobs):
    X, _, y, _ = data
    mt.BudgetForestClassifier(n_estimators=1).fit(X, y)  # compiled before the clock runs
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    began = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            mt.BudgetForestClassifier(n_estimators=100_000, n_jobs=n_jobs).fit(X, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - began < 10


@pytest.mark.slow
def test_a_larger_alpha_makes_a_cheaper_forest_on_miniboone(data_folder):
    """On the authors' sample (50 features) 40 trees with α = 20 need a quarter of the features that
    those with α = 0 need.
    """
    parts = []
    for part in ("train", "test"):
        file = data_folder / "pruning" / f"miniboone-tiny-{part}.csv.gz"
        parts.append(np.loadtxt(file, delimiter=",", skiprows=1))
    train, test = parts
    cost, error = {}, {}
    for alpha in (0, 20):
        forest = mt.BudgetForestClassifier(n_estimators=40, alpha=alpha, random_state=0).fit(
            train[:, :-1], train[:, -1]
        )
        cost[alpha] = forest.feature_cost(test[:, :-1]).mean()
        error[alpha] = 1 - forest.score(test[:, :-1], test[:, -1])
    assert cost[20] < 12 < 30 < cost[0] < 40
    assert error[0] < 0.11
    assert error[20] < 0.16
