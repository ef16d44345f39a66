"""Importances, paths of rows and class weights, against slow code on random trees."""

import pickle
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import milp_trees as mt
from milp_trees.estimators._importance import drops
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.results.result import Result
from milp_trees.testing import random_tree


def rows_of(seed, n=30, p=4, K=3):
    """Random 0/1 rows and labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, p))
    y = rng.integers(0, K, n)
    y[:K] = range(K)
    return X, y, rng.integers(1, 4, n)


def slow_walk(node, row):
    """The nodes on a row's path, by identity, and the leaf."""
    path = [node]
    while isinstance(node, Branch):
        node = node.right if row[int(node.test.column)] == 1 else node.left
        path.append(node)
    return path


def fitted_with(tree, X, y, **more):
    """A fitted estimator whose tree is replaced by another one."""
    model = mt.OptimalTreeClassifier(max_depth=1, **more).fit(X, y)
    model.tree_ = tree
    return model


@each_row("seed", range(12))
def test_paths_leaves_and_importances_equal_those_of_slow_code(seed):
    """A loop over rows that walks the tree node by node shares no code with the arrays."""
    X, y, w = rows_of(seed)
    rng = np.random.default_rng(seed)
    data = mt.Dataset(X, y=y, weights=w)
    problem = mt.Problem(data, mt.tasks.WeightedError(leaf_penalty="1/50"), mt.Trees(3))
    tree = random_tree(problem, rng)
    model = fitted_with(tree, X, y)
    nodes = list(tree.nodes())
    leaves = [k for k, node in enumerate(nodes) if isinstance(node, Leaf)]
    place = {id(node): k for k, node in enumerate(nodes)}
    paths = [slow_walk(tree.root, row) for row in X]
    expected = np.zeros((len(X), len(nodes)), dtype=int)
    for i, path in enumerate(paths):
        for node in path:
            expected[i, place[id(node)]] += 1
    found = model.decision_path(X)
    assert (found.toarray() == expected).all()
    assert found.has_sorted_indices
    assert [leaves.index(place[id(path[-1])]) for path in paths] == model.apply(X).tolist()

    def least(rows):
        weight = Counter()
        for i in rows:
            weight[int(y[i])] += int(w[i])
        return sum(weight.values()) - max(weight.values(), default=0)

    drop = {}
    for node in nodes:
        if isinstance(node, Branch):
            here = [i for i, path in enumerate(paths) if any(x is node for x in path)]
            sides = [[i for i in here if X[i, int(node.test.column)] == v] for v in (0, 1)]
            drop.setdefault(node.test.column, []).append(least(here) - sum(map(least, sides)))
    model.result_ = Result(problem, "none", mt.plugins.Status.FEASIBLE)
    total = sum(map(sum, drop.values()))
    wanted = [sum(drop.get(str(j), [0])) / total if total else 0 for j in range(X.shape[1])]
    assert model.feature_importances_ == pytest.approx(wanted)
    assert sum(model.binary_importances_.values()) == pytest.approx(1 if total else 0)


@pytest.mark.parametrize("task", ["f1", "auc", "mcc"])
def test_losses_that_are_no_sums_give_the_same_as_trying_all_trees_with_leaves_there(task):
    """The root's drop is the value of the best stump minus that of the best single leaf."""
    X, y, _ = rows_of(3, K=2)
    data = mt.Dataset(X, y=y)
    kind = mt.registry.task(task)
    problem = mt.Problem(data, kind(), mt.Trees(2))
    f, g = data.features[:2]
    tree = mt.Tree(Branch(f, Leaf(0), Branch(g, Leaf(1), Leaf(0))), (0, 1))

    def value(root):
        return problem.value(mt.Tree(root, (0, 1))).number

    def best(make):
        return max(value(make(a, b)) for a in (0, 1) for b in (0, 1))

    below = best(lambda a, b: Branch(f, Leaf(0), Branch(g, Leaf(a), Leaf(b))))
    stump = best(lambda a, b: Branch(f, Leaf(a), Leaf(b)))
    alone = max(value(Leaf(0)), value(Leaf(1)))
    without = max(value(Branch(f, Leaf(0), Leaf(a))) for a in (0, 1))
    assert drops(problem, tree) == pytest.approx([stump - alone, max(0, below - without)])


def test_the_drop_of_a_rule_is_divided_among_its_literals():
    """Rules have drops too, and a list has a path per rule."""
    X = pd.DataFrame([[0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 0]] * 5, columns=["a", "b", "c"])
    y = X["a"] & X["b"]
    model = mt.OptimalRuleListClassifier(max_literals=2, negations=False).fit(X, y)
    assert model.to_text().startswith("if a and b: 1")
    assert model.feature_importances_.tolist() == [0.5, 0.5, 0]
    assert model.decision_path(X).toarray()[:4].tolist() == [[1, 1], [1, 1], [1, 1], [1, 0]]


def test_importances_survive_a_pickle_without_rows_and_need_a_fit():
    """A copy without the training rows knows them; without a fit there are none."""
    X, y, _ = rows_of(0)
    model = mt.OptimalTreeClassifier().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.feature_importances_ == pytest.approx(model.feature_importances_)
    assert pickle.loads(pickle.dumps(again)).binary_importances_ == again.binary_importances_
    with pytest.raises(NotFittedError):
        _ = mt.OptimalTreeClassifier().feature_importances_
    one = mt.OptimalTreeClassifier(max_depth=0).fit(X, y)
    assert one.feature_importances_.tolist() == [0, 0, 0, 0]
    assert one.decision_path(X).toarray().tolist() == [[1]] * len(X)


@pytest.mark.parametrize(
    "forest, target",
    [
        (mt.SPOForest(n_estimators=3, max_depth=3, random_state=0), "costs"),
        (mt.BudgetForestClassifier(n_estimators=3, max_depth=3, random_state=0), "labels"),
    ],
)
def test_forests_show_paths_and_importances(forest, target):
    """Every row visits the nodes between the root and its leaf, one more than its depth."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    y = (X[:, 0] > 0.5).astype(int)
    forest.fit(X, np.column_stack([X[:, 0], 1 - X[:, 0]]) if target == "costs" else y)
    visited, ends = forest.decision_path(X)
    assert visited.shape == (60, ends[-1])
    for t, (first, last) in enumerate(pairwise(ends.tolist())):
        part = visited[:, first:last].toarray()
        assert (part[:, 0] == 1).all()
        deepest = [int(np.flatnonzero(row)[-1]) for row in part]
        same = {(leaf, node) for leaf, node in zip(forest.apply(X)[:, t], deepest, strict=True)}
        assert len(same) == len({leaf for leaf, _ in same}) == len({node for _, node in same})
    assert forest.feature_importances_.sum() == pytest.approx(1)
    assert forest.feature_importances_.argmax() == 0


# -- class weights -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [mt.OptimalTreeClassifier, mt.FairTreeClassifier])
def test_class_weights_multiply_row_weights_exactly(make):
    """They give the value of the task with the same costs, as an exact rational."""
    X, y, w = rows_of(5)
    given = {0: "1/3", 1: 0.1, 2: 2}
    sensitive = {"sensitive_features": X[:, 0]} if make is mt.FairTreeClassifier else {}
    sizes = {"max_disparity": 1} if sensitive else {}
    model = make(class_weight=given, **sizes).fit(X, y, sample_weight=w, **sensitive)
    price = [Fraction(1, 3), Fraction(1, 10), Fraction(2)]
    wrong = model.predict(X) != y
    assert model.result_.value.exact == sum(price[y[i]] * int(w[i]) for i in np.flatnonzero(wrong))
    weight = w * np.array([1 / 3, 0.1, 2])[y]
    here = model.apply(X) == 0
    share = weight[here & (y == 2)].sum() / weight[here].sum()
    assert model.predict_proba(X)[here, 2] == pytest.approx(share)


def test_balanced_weights_count_weighted_rows():
    """With "balanced" every class has the same total weight; weighting equals repeating rows."""
    X, y, w = rows_of(7)
    model = mt.OptimalTreeClassifier(class_weight="balanced").fit(X, y, sample_weight=w)
    total = [model.class_weight_[k] * int(w[y == k].sum()) for k in range(3)]
    assert total == [Fraction(int(w.sum()), 3)] * 3
    again = mt.OptimalTreeClassifier(class_weight="balanced").fit(
        np.repeat(X, w, 0), np.repeat(y, w)
    )
    assert again.result_.value.exact == model.result_.value.exact
    rules = mt.OptimalRuleListClassifier(class_weight="balanced", length_penalty=0.05)
    assert rules.fit(X, y).class_weight_ is not None
    cv = mt.OptimalTreeClassifierCV(class_weight={0: 2}, max_depth=2, max_leaf_nodes=3, cv=2)
    assert cv.fit(X, y).result_.problem.task.class_weight == {0: 2, 1: 1, 2: 1}


@each_row(
    "given, sentence",
    [
        ({"ill": 5}, "no class of y"),
        ({0: -1}, "not be negative"),
        ({0: 0, 1: 0, 2: 0}, "every class is 0"),
        ("heavy", "class_weight must be"),
    ],
)
def test_wrong_class_weights_are_refused_with_a_sentence(given, sentence):
    """Each mistake is named; a fold may lack a class if all its own classes are named."""
    X, y, _ = rows_of(0)
    with pytest.raises(mt.DataError, match=sentence):
        mt.OptimalTreeClassifier(class_weight=given).fit(X, y)
    named = {0: 1, 1: 2, 2: 3}
    assert 2 not in mt.OptimalTreeClassifier(class_weight=named).fit(X, y % 2).class_weight_
    with pytest.raises(mt.DataError, match="takes no class_weight"):
        mt.OptimalTreeClassifier(class_weight=named, task="balanced-accuracy").fit(X, y)
    with pytest.raises(mt.DataError, match="to the Task"):
        mt.OptimalTreeClassifier(class_weight=named, task=mt.Accuracy()).fit(X, y)


@each_row(
    ("model", "more"),
    [
        (mt.OptimalTreeClassifier(max_depth=2), {}),
        (mt.OptimalTreeClassifier(max_depth=2, class_weight="balanced"), {}),
        (mt.OptimalRuleListClassifier(max_length=2), {}),
        (mt.OptimalTreeClassifierCV(max_depth=2, cv=2), {}),
        (mt.FairTreeClassifier(max_depth=1), {"sensitive_features": np.arange(60) % 2}),
    ],
)
def test_a_class_whose_rows_all_weigh_0_stays_a_class(model, more):
    """As in scikit-learn's trees; the model is the one of the rows that count."""
    X = np.random.default_rng(0).random((60, 3))
    y = np.array(["a", "b", "c"])[(X[:, 0] * 3).astype(int)]
    counts = y != "b"
    with_all = clone(model).fit(X, y, sample_weight=counts.astype(float), **more)
    kept = {name: column[counts] for name, column in more.items()}
    without = clone(model).fit(X[counts], y[counts], **kept)
    assert list(with_all.classes_) == ["a", "b", "c"]
    assert with_all.result_.value.number == without.result_.value.number
    assert (with_all.predict(X) == without.predict(X)).all()
    if hasattr(model, "predict_proba"):
        assert with_all.predict_proba(X).shape == (60, 3)
        assert not with_all.predict_proba(X)[:, 1].any()
    with pytest.raises(mt.DataError, match="every row that is not of the class 'a'"):
        clone(model).fit(X, y, sample_weight=(y == "a").astype(float), **more)
