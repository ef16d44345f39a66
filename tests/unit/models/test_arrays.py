"""Arrays are taken wherever tables are: their columns by place, as in the data of the fit."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from scipy.sparse import csr_matrix

import milp_trees as mt
from milp_trees.models.export import to_sklearn

A, B = mt.BinaryFeature("a", "<=", 1.5), mt.BinaryFeature("b", "<=", 2.5)
Y = np.array(["no", "no", "yes", "yes", "no", "yes"])
FRAME = pd.DataFrame(
    {
        "text": ["u", "v", "u", "w", "v", "w"],
        "number": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "zero": 0,
        "ill": [0, 0, 1, 1, 1, 1],
    }
)
NUMBERS = FRAME.drop(columns="text")
SPACES = (mt.Trees(2), mt.RuleLists(max_length=2))


def solved(data, space):
    return mt.solve(mt.Problem(data, mt.Accuracy(), space)).predictor


@each_row("space", SPACES)
@each_row("features", [(), (A, B), (mt.BinaryFeature("x"), mt.BinaryFeature("y"))])
def test_the_array_that_a_dataset_was_made_from_is_predicted(space, features):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, 1], [1, 1]])
    data = mt.Dataset(X, features, y=Y)
    model = solved(data, space)
    wanted = model.predict(data).tolist()
    for same in (model, pickle.loads(pickle.dumps(model))):
        for rows in (X, X.tolist(), X.astype(bool), csr_matrix(X), pd.DataFrame(X)):
            assert same.predict(rows).tolist() == wanted
        with pytest.raises(mt.DataError, match=r"3 columns, and the .* for arrays with 2"):
            same.predict(np.ones((2, 3)))
        with pytest.raises(mt.DataError, match="must hold 0/1 features; row 0, column 0 is 2"):
            same.predict(X + 2)
        with pytest.raises(mt.DataError, match=r"two dimensions .*; this has 1"):
            same.predict(X[0])


@each_row("space", SPACES)
@each_row("frame", [FRAME, NUMBERS, FRAME[["text"]]])
def test_an_array_has_the_columns_of_the_table(space, frame):
    """Also columns that no feature asks for count."""
    model = solved(mt.Binarizer().dataset(frame, Y), space)
    wanted = model.predict(frame).tolist()
    array = frame.to_numpy()
    for rows in (array, array.tolist(), pd.DataFrame(array), np.ma.masked_array(array)):
        assert model.predict(rows).tolist() == wanted
    with pytest.raises(mt.DataError, match="the columns of the data, in their order"):
        model.predict(np.ones((2, 9)))
    shuffled = frame[frame.columns[::-1]]
    assert model.predict(shuffled).tolist() == wanted  # a table goes by its names


def test_a_model_without_data_takes_arrays_if_its_columns_are_called_by_their_places():
    leaf = mt.plugins.Leaf
    by_place = mt.Tree(
        mt.plugins.Branch(mt.BinaryFeature("1", "<=", 2.0), leaf(0), leaf(1)), ("a", "b")
    )
    assert by_place.predict(np.array([[9, 1], [0, 3]])).tolist() == ["b", "a"]
    with pytest.raises(mt.DataError, match="tests the column '1', and the array has 1 column;"):
        by_place.predict(np.ones((2, 1)))
    named = mt.Tree(mt.plugins.Branch(A, leaf(0), leaf(1)), ("a", "b"))
    with pytest.raises(mt.DataError, match="the columns 'a', and it does not know their places"):
        named.predict(np.ones((2, 1)))
    assert mt.Tree(leaf(1), ("a", "b")).predict(np.ones((2, 1))).tolist() == ["b", "b"]
    with pytest.raises(mt.DataError, match="no columns"):
        mt.Tree(leaf(1), ("a", "b")).predict({})


def test_a_binarizer_takes_arrays_by_place():
    binarizer = mt.Binarizer().fit(FRAME)
    wanted = binarizer.transform(FRAME)
    assert (binarizer.transform(FRAME.to_numpy()) == wanted).all()
    assert (wanted == binarizer.dataset(FRAME.to_numpy(), Y).X).all()
    with pytest.raises(mt.DataError, match="2 columns where 4 are expected: text, number"):
        binarizer.transform(FRAME.to_numpy()[:, :2])


@pytest.mark.parametrize("make", [mt.OptimalTreeClassifier, mt.OptimalRuleListClassifier])
def test_an_estimator_of_a_table_with_text_takes_arrays(make):
    model = make().fit(FRAME, Y)
    array = FRAME.to_numpy()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        for rows in (array, array.tolist()):
            assert (model.predict(rows) == model.predict(FRAME)).all()
            assert (model.predict_proba(rows) == model.predict_proba(FRAME)).all()
            assert (model.apply(rows) == model.apply(FRAME)).all()
            assert (model.decision_path(rows) != model.decision_path(FRAME)).nnz == 0
            assert model.score(rows, Y) == model.score(FRAME, Y)
        with pytest.raises(ValueError, match=r"has 3 features, but .* is expecting 4"):
            model.predict(array[:, :3])


@pytest.mark.parametrize("make", [mt.OptimalTreeClassifier, mt.OptimalRuleListClassifier])
def test_arrays_of_objects_and_lists_may_hold_text(make):
    """Their numbers stay numbers; numpy has made texts of those in an array of text."""
    array = FRAME.to_numpy()
    named = make().fit(FRAME, Y)
    for rows in (array, array.tolist(), FRAME.set_axis(range(4), axis=1)):
        model = make().fit(rows, Y)
        assert (model.predict(rows) == named.predict(FRAME)).all()
        assert [t.name for t in model.binarizer_.features][3] == "1 <= 1.5"
        assert not hasattr(model, "feature_names_in_")
    texts = np.array([["u", "v"], ["v", "v"], ["u", "w"], ["w", "w"], ["v", "u"], ["w", "u"]])
    assert make().fit(texts, Y).predict(texts).shape == (6,)
    with pytest.raises(mt.DataError, match="its column 1 holds numbers as text"):
        make().fit(array.astype(str), Y)


@each_row("asked", [0, 1])
@each_row("gap", [False, True])
def test_the_converted_tree_takes_the_table_of_the_fit(asked, gap):
    """Also a tree of one leaf, and columns that no feature asks for."""
    table = NUMBERS.copy()
    if gap:
        table.loc[0, "number"] = np.nan
    model = mt.OptimalTreeClassifier(max_depth=1, ccp_alpha=0 if asked else 1).fit(table, Y)
    assert model.get_n_leaves() == 1 + asked
    for converted in (model.to_sklearn(), model.to_sklearn(table, Y)):
        assert (converted.predict(table) == model.predict(table)).all()


def test_a_tree_is_converted_with_the_rows_of_an_array():
    model = solved(mt.Binarizer().dataset(NUMBERS, Y), mt.Trees(2))
    converted = to_sklearn(model, NUMBERS.to_numpy(), Y)
    assert converted.feature_names_in_.tolist() == NUMBERS.columns.tolist()
    assert (converted.predict(NUMBERS) == model.predict(NUMBERS)).all()


def test_numbers_beside_text_stay_numbers_in_arrays_and_lists():
    """A list of rows with both would become an array of texts."""
    array = FRAME.to_numpy()
    names = [t.name for t in mt.Binarizer().fit(FRAME.set_axis(range(4), axis=1)).features]
    assert "1 <= 1.5" in names
    for rows in (array, array.tolist(), [tuple(row) for row in array]):
        assert [t.name for t in mt.Binarizer().fit(rows).features] == names
        assert mt.load(rows, target="3").n_rows == 6
        assert mt.load_numeric(rows, target="3").columns[0] == "0 == u"
    with pytest.raises(mt.DataError, match="different lengths"):
        mt.Binarizer().fit([[1, 2], [3]])
    with pytest.raises(mt.DataError, match="column 1 holds numbers as text"):
        mt.Binarizer().fit(array.astype(str))


@pytest.mark.parametrize("make", [mt.SPOTree, mt.SPOForest])
def test_estimators_of_decisions_take_arrays_with_text(make):
    costs = np.where(FRAME[["ill"]] == 1, [[1.0, 2.0]], [[2.0, 1.0]])
    model = make(max_depth=1, random_state=0).fit(FRAME, costs)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        assert (model.predict(FRAME.to_numpy()) == model.predict(FRAME)).all()
    if make is mt.SPOTree:
        tree = model.result_.tree
        assert tree.predict(FRAME.to_numpy()).tolist() == tree.predict(FRAME).tolist()
