"""Trees in the terms of others: a scikit-learn classifier, a networkx graph, DOT text."""

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.tree import export_text, plot_tree

import milp_trees as mt
from milp_trees import BinaryFeature, DataError, Dataset, Tree
from milp_trees.models.export import to_dot, to_networkx, to_sklearn
from milp_trees.models.nodes import Branch, Leaf

FRAME = pd.DataFrame(
    {
        "age": [20, 30, 40, 50, 60, 70],
        "smoker": [0, 1, 0, 1, 1, 0],
        "colour": ["red", "blue", "red", "red", "blue", "blue"],
    }
)
TREE = Tree(
    Branch(
        BinaryFeature("age", "<=", 45.0),
        Branch(BinaryFeature("colour", "==", "red"), Leaf(0), Leaf(1)),
        Branch(BinaryFeature("smoker"), Leaf(0), Leaf(1)),
    ),
    ("low", "high"),
)
LABELS = ["low", "high", "low", "high", "low", "low"]


def numeric(frame):
    """The columns of the converted tree."""
    return np.column_stack([frame["age"], frame["smoker"], frame["colour"] == "red"]).astype(
        np.float32
    )


def test_the_converted_tree_predicts_the_same_with_original_thresholds():
    """Threshold tests change sides, 0/1 and category tests do not."""
    model = to_sklearn(TREE, FRAME, LABELS)
    assert model.feature_names_in_.tolist() == ["age", "smoker", "colour == red"]
    assert model.tree_.threshold[0] == 45.0
    del model.feature_names_in_  # so that an array is taken without a warning
    assert model.predict(numeric(FRAME)).tolist() == TREE.predict(FRAME).tolist()
    assert (model.get_depth(), model.get_n_leaves()) == (2, 4)


def test_nodes_hold_row_counts_and_shares():
    """The root counts all rows; weights count as weights."""
    model = to_sklearn(TREE, FRAME, LABELS, sample_weight=[2, 1, 1, 1, 1, 1])
    assert model.tree_.n_node_samples[0] == 6
    assert model.tree_.weighted_n_node_samples[0] == 7
    assert model.tree_.value[0, 0].tolist() == pytest.approx([5 / 7, 2 / 7])


def test_scikit_learns_plotting_tools_take_it():
    """`plot_tree` and `export_text` show original names and labels."""
    model = to_sklearn(TREE, FRAME, LABELS)
    names = list(model.feature_names_in_)
    text = export_text(model, feature_names=names)
    assert "age <= 45.00" in text
    assert "class: high" in text
    drawn = " ".join(
        a.get_text()
        for a in plot_tree(model, feature_names=names, class_names=list(model.classes_))
    )
    assert "smoker <= 0.5" in drawn
    assert "class = low" in drawn


def test_a_leaf_against_its_majority_still_predicts_its_action():
    """Side constraints and costs give leaves another action than their most frequent class."""
    model = to_sklearn(Tree(Leaf(1), ("low", "high")), FRAME, LABELS)
    assert (
        model.classes_[model.tree_.predict(np.zeros((1, 2), dtype=np.float32)).argmax()] == "high"
    )


def test_a_dataset_brings_its_labels_and_a_policy_needs_none():
    """From a Dataset the labels are known; without labels the chosen actions are counted."""
    data = Dataset([[0], [1], [1]], features=[BinaryFeature("smoker")], y=["high", "low", "high"])
    tree = Tree(Branch(BinaryFeature("smoker"), Leaf(1), Leaf(0)), ("high", "low"))
    assert to_sklearn(tree, data).tree_.value[0, 0].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert to_sklearn(tree, data.with_(y=None)).tree_.value[0, 0].tolist() == pytest.approx(
        [2 / 3, 1 / 3]
    )
    assert to_sklearn(tree, {"smoker": [0, 0, 1]}).tree_.value[0, 0].tolist() == pytest.approx(
        [1 / 3, 2 / 3]
    )


def test_unknown_labels_and_single_precision_are_refused():
    """What scikit-learn's tree could not reproduce is an error that says so."""
    with pytest.raises(DataError, match="no action of the tree"):
        to_sklearn(TREE, FRAME, ["low"] * 5 + ["medium"])
    close = {"x": [1.0, 1.0 + 1e-12]}
    with pytest.raises(DataError, match="single precision"):
        to_sklearn(
            Tree(Branch(BinaryFeature("x", "<=", 1.0 + 5e-13), Leaf(1), Leaf(0)), ("a", "b")), close
        )


#: Columns whose neighbouring values single precision rounds, where the rounded values still differ.
CLOSE = {
    "time stamps": 1_700_000_000 + np.arange(40) * 150.0,
    "nanoseconds": 1_700_000_000_000_000_000 + np.arange(40) * 2**38,
    "just above one": 1 + np.arange(40) * 1.3e-7,
    "not to be held": np.nextafter(np.arange(1.0, 41), 0),
    "beyond 2^24": 2.0**24 + np.arange(40) * 3,
    "tiny": np.arange(40) * 2e-45,
    "large": np.linspace(-3e38, 3e38, 40),
}


def converted(theirs, X):
    """What scikit-learn's own `predict` says."""
    names = list(theirs.feature_names_in_)
    return theirs.predict(pd.DataFrame(X, columns=names) if len(names) else X)


@pytest.mark.slow
@each_row(
    "make",
    [
        lambda k: mt.OptimalTreeClassifier(max_depth=3, binarizer=k, n_jobs=1),
        lambda k: mt.OptimalTreeClassifierCV(max_depth=2, max_leaf_nodes=4, cv=2, binarizer=k),
        lambda k: mt.OptimalPolicyTree(max_depth=2, binarizer=k),
        lambda k: mt.SPOTree(max_depth=3, binarizer=k),
        lambda k: mt.SPOTree(method="dp", max_depth=2, binarizer=k),
    ],
)
@each_row("name", CLOSE)
def test_thresholds_are_chosen_that_single_precision_holds(name, make):
    """Wherever rounded values differ, the converted tree of every estimator predicts what the tree
    predicts on all its training rows.
    """
    kind = "quantiles" if name in ("time stamps", "large") else "midpoints"
    X = np.asarray(CLOSE[name]).reshape(-1, 1)
    y = (np.arange(40) // 3) % 2
    model = make(kind)
    model.fit(X, y if "Classifier" in type(model).__name__ else np.c_[y, 1 - y])
    labels = (
        model.predict(X)
        if not isinstance(model, mt.SPOTree)
        else model.tree_.predict({"0": X[:, 0]})
    )
    for theirs in (model.to_sklearn(), model.to_sklearn(X)):
        theirs.feature_names_in_ = np.array(["0"], dtype=object)
        assert (converted(theirs, X).astype(str) == labels.astype(str)).all()


@each_row(
    "values",
    [
        1_700_000_000 + np.arange(40.0),
        1 + np.arange(40) * 1e-12,
        np.arange(40) * 5e-324,
        1e39 + np.arange(40) * 1e38,
    ],
)
def test_what_no_threshold_divides_in_single_precision_is_refused(values):
    """From the training data and from a table alike, with the two values that cannot be told apart;
    not where the node's own rows are far apart.
    """
    X, y = values.reshape(-1, 1), np.arange(40) % 2
    model = mt.OptimalTreeClassifier(max_depth=3, binarizer="midpoints").fit(X, y)
    for rows in ((), (X,), (X, y)):
        with pytest.raises(DataError, match="single precision, in which no threshold is between"):
            model.to_sklearn(*rows)


def test_rows_that_do_not_reach_a_node_do_not_hinder_its_threshold():
    """Two values that single precision cannot tell apart are divided by another column before."""
    for column, possible in ([1.0, 1 + 2e-12, 2.0, 3.0], False), ([1.0, 3.0, 1 + 1e-12, 2.0], True):
        frame = pd.DataFrame({"a": [0, 0, 1, 1], "x": column})
        data = mt.Binarizer(kind="midpoints").dataset(frame, list("ynyn"))
        least = min((t for t in data.features if t.column == "x"), key=lambda t: t.value)
        tree = Tree(
            Branch(BinaryFeature("a"), Branch(least, Leaf(0), Leaf(1)), Leaf(0)), ("n", "y")
        )
        for rows in (data, frame):
            if not possible:
                with pytest.raises(DataError, match="single precision"):
                    to_sklearn(tree, rows)
                continue
            theirs = to_sklearn(tree, rows)
            assert (
                converted(theirs, frame[list(theirs.feature_names_in_)].to_numpy()).tolist()
                == tree.predict(frame).tolist()
            )


def test_a_dataset_without_values_cannot_promise_thresholds():
    """Outcomes of tests do not say how values are rounded; the table does."""
    data = Dataset([[0], [1]], features=[BinaryFeature("x", "<=", 0.5)], y=["a", "b"])
    tree = Tree(Branch(BinaryFeature("x", "<=", 0.5), Leaf(0), Leaf(1)), ("a", "b"))
    with pytest.raises(DataError, match="give the table instead"):
        to_sklearn(tree, data)
    assert to_sklearn(tree, {"x": [0.0, 1.0]}, ["b", "a"]).tree_.threshold[0] == 0.5
    with pytest.raises(DataError, match="which the data do not have"):
        to_sklearn(tree, Dataset([[0], [1]], y=["a", "b"]))


def test_networkx_graph_has_the_tree_s_shape_and_labels():
    """Parents come first; edges have the conditions of their branches."""
    networkx = pytest.importorskip("networkx")
    graph = to_networkx(TREE)
    assert networkx.is_arborescence(graph)
    assert graph.nodes[0]["test"] == BinaryFeature("age", "<=", 45.0)
    edges = [(d["label"], d["answer"]) for _, _, d in graph.out_edges(0, data=True)]
    assert edges == [("age > 45", False), ("age <= 45", True)]
    assert sorted(d["action"] for _, d in graph.nodes(data=True) if "action" in d) == [
        "high",
        "high",
        "low",
        "low",
    ]


def test_dot_text_quotes_names():
    """One line per node and edge; quotes and backslashes in names survive."""
    dot = to_dot(Tree(Branch(BinaryFeature('a "b" \\c'), Leaf(0), Leaf(1)), ("x", "y")))
    assert r'label="a \"b\" \\c"' in dot
    assert dot.count("->") == 2
    assert dot.startswith("digraph")
    assert dot.endswith("}")


def test_a_tree_that_asks_nothing_predicts_in_scikit_learn_on_texts_too():
    frame, y = pd.DataFrame({"c": list("xyzxyz")}), np.array(list("aabaab"))
    model = mt.OptimalTreeClassifier(max_depth=1, min_samples_leaf=5).fit(frame, y)
    assert model.tree_.n_leaves == 1
    theirs = model.to_sklearn()
    assert theirs.predict(frame).tolist() == ["a"] * 6
    plain = to_sklearn(model.tree_, frame, y)
    assert plain.feature_names_in_.tolist() == ["nothing is asked"]
    assert plain.predict(pd.DataFrame({"nothing is asked": [0, 0]})).tolist() == ["a", "a"]
