"""The number of leaves by cross-validation, for every task and estimator of one tree."""

import warnings

import numpy as np
import pytest
from row_tests import each_row
from sklearn.exceptions import ConvergenceWarning

import milp_trees as mt

RNG = np.random.default_rng(3)
X = RNG.integers(0, 2, (90, 5))
Y = (X[:, 0] ^ (X[:, 1] & X[:, 2])) ^ (RNG.random(90) < 0.15)
GROUPS = RNG.integers(0, 2, 90)
FOLDS = [
    (np.flatnonzero(np.arange(90) % 3 != k), np.flatnonzero(np.arange(90) % 3 == k))
    for k in range(3)
]


def problem(task):
    return mt.Problem(mt.Dataset(X, y=Y), task, mt.Trees(3))


@pytest.mark.parametrize(
    "task",
    [
        mt.Accuracy(),
        mt.tasks.CostSensitive(matrix=[[0, 3], [5, 0]], attributes={"0": 1, "2": "1/2"}),
    ],
    ids=lambda t: t.name,
)
def test_the_chosen_size_has_the_best_mean_of_the_task_s_own_value(task):
    """Trees are those of the size path on the training rows, scored on the rows left out."""
    stated = problem(task)
    found = mt.choose_size(stated, 5, FOLDS)
    expected = []
    for train, test in FOLDS:
        rows, left_out = stated.dataset.subset(train), stated.dataset.subset(test)
        path = mt.size_path(mt.Problem(rows, task, stated.space), max_leaves=5)
        values = [task.value(p.predictor.routes(left_out), left_out) for p in path.points]
        expected.append([v.number for v in values])
        for leaves, point in enumerate(path.points, start=1):
            alone = mt.solve(mt.Problem(rows, task, mt.Trees(3, leaves)))
            assert alone.value == point.value
    assert (found.scores == np.array(expected)).all()
    means = np.mean(expected, axis=0)
    assert found.value == pytest.approx(means.min())
    assert found.max_leaf_nodes == 1 + int(np.isclose(means, means.min()).argmax())


def test_of_equally_good_sizes_the_smallest_is_chosen():
    """Nothing can be learned: one leaf is as good as any number."""
    data = mt.Dataset(np.zeros((20, 2), dtype=int), y=[0, 1] * 10)
    found = mt.choose_size(mt.Problem(data, mt.Accuracy(), mt.Trees(3)), 6, 4, max_depths=[1, 2, 3])
    assert (found.max_depth, found.max_leaf_nodes) == (1, 1)
    assert len(found.table()) == 2 + 4 + 6


VALUES = np.column_stack([1.0 * Y, 1.5 * X[:, 3]])
CASES = {
    "classifier": (mt.OptimalTreeClassifier(max_depth=3), Y, {}),
    "cost-sensitive": (
        mt.CostSensitiveTreeClassifier(max_depth=3, matrix=[[0, 4], [9, 0]], attributes={"1": 1}),
        Y,
        {},
    ),
    "fair": (
        mt.FairTreeClassifier(max_depth=2, max_disparity=0.3),
        Y,
        {"sensitive_features": GROUPS},
    ),
    "policy": (mt.OptimalPolicyTree(max_depth=3), VALUES, {}),
}


@each_row("name", CASES)
def test_it_works_for_every_estimator_of_one_tree(name):
    """The fitted tree is optimal on all rows for the chosen size; scores are the task's."""
    estimator, y, given = CASES[name]
    tuned = mt.OptimalTreeCV(estimator=estimator, max_leaf_nodes=4, cv=3).fit(X, y, **given)
    size = tuned.choice_.max_leaf_nodes
    same = type(estimator)(**{**estimator.get_params(), "max_leaf_nodes": size}).fit(X, y, **given)
    assert tuned.result_.value == same.result_.value
    assert tuned.get_n_leaves() <= size
    assert (tuned.predict(X) == tuned.estimator_.predict(X)).all()
    assert tuned.best_score_ == max(tuned.cv_results_["mean_test_score"])
    assert tuned.estimator_._choose_size is None  # a later fit of it chooses nothing


def test_the_choice_is_refused_where_it_makes_no_sense():
    with pytest.raises(mt.DataError, match="must be an optimal tree"):
        mt.OptimalTreeCV(estimator=mt.Binarizer()).fit(X, Y)
    with pytest.raises(mt.DataError, match="max_leaf_nodes must be a whole number"):
        mt.OptimalTreeCV(max_leaf_nodes=0).fit(X, Y)
    with pytest.raises(mt.DataError, match="number of folds"):
        mt.choose_size(problem(mt.Accuracy()), 3, 1)
    for folds, most, depths in (
        (2.5, 3, None),
        (2, 2.5, None),
        (2, 3, [-1]),
        (2, 3, []),
        (2, 3, 4),
    ):
        with pytest.raises(mt.DataError, match="must be a"):
            mt.choose_size(problem(mt.Accuracy()), most, folds, max_depths=depths)


def test_the_length_of_a_rule_list_is_chosen_in_the_same_way():
    """The scores are those of the best list of each length on the rows left out."""
    model = mt.OptimalRuleListClassifier(length_penalty=0, max_literals=2, negations=False)
    found = mt.OptimalTreeCV(estimator=model, max_leaf_nodes=3, cv=FOLDS).fit(X, Y)
    lists = mt.RuleLists(mt.Antecedents(max_literals=2))
    stated = mt.Problem(mt.Dataset(X, y=Y), mt.Accuracy(), lists)
    for (train, test), scores in zip(FOLDS, found.choice_.scores, strict=True):
        rows, left_out = stated.dataset.subset(train), stated.dataset.subset(test)
        path = mt.size_path(mt.Problem(rows, mt.Accuracy(), lists.with_leaves(3)), max_leaves=3)
        best = [p.predictor for p in path.points]
        assert [p.length <= k for k, p in enumerate(best)] == [True] * 3
        assert list(scores) == [
            mt.Accuracy().value(p.routes(left_out), left_out).number for p in best
        ]
    assert (found.choice_.max_depth, list(found.choice_.leaves)) == (None, [1, 2, 3])
    assert found.get_n_leaves() == found.rule_list_.length + 1 <= found.choice_.max_leaf_nodes
    assert (found.predict(X) == found.estimator_.predict(X)).all()
    with pytest.raises(mt.DataError, match="max_depths belongs to trees"):
        mt.OptimalTreeCV(estimator=model, max_leaf_nodes=3, max_depths=[1]).fit(X, Y)


def test_a_run_that_finds_nothing_in_time_leaves_greedy_trees_and_a_warning(monkeypatch):
    """As in a single fit; the sizes are then compared by greedy trees, and the warning says so."""

    def nothing(*_):
        raise mt.errors.NothingFound("any found no tree within the limits; raise time_limit.")

    for place in ("choose_size", "solve"):
        monkeypatch.setattr(f"milp_trees.solving.{place}.path_of_sizes", nothing)
    chooser = mt.OptimalTreeCV(
        estimator=mt.OptimalTreeClassifier(max_depth=3), max_leaf_nodes=4, cv=3
    )
    with pytest.warns(ConvergenceWarning, match="not proven to be the best"):
        model = chooser.fit(X, Y)
    assert not model.choice_.proven
    assert np.isfinite(model.best_score_)
    assert model.get_n_leaves() <= model.choice_.max_leaf_nodes
    with pytest.raises(mt.errors.NothingFound, match="raise time_limit"):
        mt.choose_size(problem(mt.Accuracy()), 4, 3)


def test_a_proven_comparison_of_sizes_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mt.OptimalTreeCV(max_leaf_nodes=3, cv=2).fit(X, Y).choice_.proven
