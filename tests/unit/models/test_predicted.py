"""Leaves that predict numbers: how they are drawn, stored and read again."""

import json
import pickle

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.common.errors import VerificationError
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.predicted import Predicts, leaf_words, rounded

F = mt.BinaryFeature
X = [[0, 0], [0, 0], [0, 1], [1, 0], [1, 1], [1, 1]]
Y = [1.0, 2.0, 4.5, 10.25, 11.0, 13.0]
FEATURES = [F("a"), F("b")]


def solved(targets=None, depth=1, **fields):
    """The best tree of a small regression."""
    held = {"y": Y} if targets is None else {"targets": targets}
    data = mt.Dataset(X, FEATURES, **held, **fields)
    return mt.solve(mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(max_depth=depth)))


def stored(model, kind, names):
    return mt.Tree.from_json({**model.to_json(), "predicts": {"kind": kind, "names": names}})


def test_leaves_show_mean_deviation_and_rows():
    tree = solved().tree
    assert tree.to_text() == "├─ not a: 2.500 ± 1.472  (3 rows)\n└─ a: 11.42 ± 1.16  (3 rows)"
    assert np.isclose(np.std(Y[:3]), 1.472, atol=1e-3)
    assert tree.leaf_counts.tolist() == [3, 3]


def test_deviations_are_weighted_and_rows_counted():
    data = mt.Dataset(X, FEATURES, y=Y, weights=[1, 0, 1, 1, 1, 2], counts=np.full(6, 2))
    result = mt.solve(mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(max_depth=1)))
    assert "2.750 ± 1.750  (6 rows)" in result.tree.to_text()
    mean = (10.25 + 11 + 2 * 13) / 4
    spread = ((10.25 - mean) ** 2 + (11 - mean) ** 2 + 2 * (13 - mean) ** 2) / 4
    assert f"± {spread**0.5:.2f}  (6 rows)" in result.tree.to_text()


def test_numbers_that_are_classes_too_are_no_errors():
    """A leaf that predicts a value of the target is not judged as a class."""
    data = mt.Dataset([[0], [1]], [F("a")], y=[1.0, 2.0])
    tree = mt.solve(mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(max_depth=1))).tree
    assert tree.to_text() == "├─ not a: 1 ± 0  (1 row)\n└─ a: 2 ± 0  (1 row)"
    classes = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1))).tree
    assert classes.to_text() == "├─ not a: 1.0  (1 row)\n└─ a: 2.0  (1 row)"


def test_several_targets_are_named():
    tree = solved(np.column_stack([Y, -np.array(Y)]), target_names=["up", "down"]).tree
    assert "up 2.500 ± 1.472, down -2.500 ± 1.472  (3 rows)" in tree.to_text()
    assert tree.predict(mt.Dataset(X, FEATURES)).shape == (6, 2)
    assert ">up 2.500 ± 1.472<" in tree.to_svg()


def test_what_a_tree_predicts_is_kept_by_copies_and_files():
    tree = solved(np.column_stack([Y, Y]), depth=2).tree
    for again in (
        pickle.loads(pickle.dumps(tree)),
        mt.Tree.from_json(json.loads(json.dumps(tree.to_json()))),
    ):
        assert again == tree
        assert again.predicts == Predicts("numbers", ("0", "1"))
        assert again.actions == tree.actions
    assert pickle.loads(pickle.dumps(tree)).to_text() == tree.to_text()
    assert "predicts" not in mt.Tree(Leaf(0), ("a",)).to_json()


@pytest.mark.parametrize("wrong", [{"kind": "colours", "names": []}, {"kind": "numbers"}, 3])
def test_damaged_descriptions_are_refused(wrong):
    with pytest.raises((KeyError, TypeError, ValueError)):
        mt.Tree.from_json({**mt.Tree(Leaf(0), (1.5,)).to_json(), "predicts": wrong})


def test_a_stored_result_is_verified_with_its_numbers():
    result = solved(depth=2)
    text = json.loads(json.dumps(result.to_json()))
    assert "recomputed value is" in str(mt.verify(text, result.problem.dataset))
    text["predictor"]["actions"][0] += 1
    with pytest.raises(VerificationError):
        mt.verify(text, result.problem.dataset)


def test_colours_follow_the_value():
    model = Branch(F("a"), Branch(F("b"), Leaf(0), Leaf(1)), Leaf(2))
    tree = stored(mt.Tree(model, (1.0, 2.0, 3.0)), "numbers", ["y"])
    words = leaf_words(tree.predicts, tree.actions, None, str)
    assert [one.colour for one in words] == ["#fff7cc", "#cde8d0", "#8bbede"]
    assert all(one.colour in tree.to_svg() for one in words)


def test_hazards_and_probabilities_are_called_so():
    model = mt.Tree(Branch(F("a"), Leaf(0), Leaf(1)), (0.0, 1.4))
    hazards = stored(model, "hazards", ["hazard"])
    assert hazards.to_text() == "├─ not a: θ = 0\n└─ a: θ = 1.400"
    chances = stored(
        model.with_actions([0, 1], ((0.25, 0.75), (1.0, 0.0))), "probabilities", list("xy")
    )
    assert chances.to_text() == "├─ not a: P(y) 0.7500, P(x) 0.2500\n└─ a: P(x) 1"


@pytest.mark.parametrize(
    "value, of_range, text",
    [
        (125.43889, 16.6, "125.4"),
        (1e9 + 0.25, 0.75, "1000000000.250"),
        (2452587670.2, 0, "2452587670"),
        (0.0123456, 0, "0.01235"),
        (3.0, 10, "3"),
        (0.0, 0, "0"),
        (-1e-7, 0, "-1e-07"),
        (1e300, 0, "1e+300"),
    ],
)
def test_numbers_have_as_many_digits_as_tell_leaves_apart(value, of_range, text):
    assert rounded(value, of_range) == text


def test_the_picture_and_the_plot_show_the_same_words():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    tree = solved().tree
    texts = [t.get_text() for t in tree.plot().texts]
    assert "2.500 ± 1.472\n3 rows" in texts
    assert ">2.500 ± 1.472<" in tree.to_svg()
    assert ">3 rows<" in tree.to_svg()


def test_a_changed_tree_predicts_numbers_too():
    result = solved(depth=2)
    tree, rows = result.tree, result.problem.dataset
    assert tree.predicts is not None
    for changed in (
        tree.map_tests(lambda test: (test, False)),
        tree.prune_empty(rows),
        tree.cut(0, (1,)),
        tree.with_actions([0, 1, 2, 3], tree.actions),
    ):
        assert changed.predicts == tree.predicts
    assert mt.Tree(Leaf(0), ("a",)).map_tests(lambda test: (test, False)).predicts is None
