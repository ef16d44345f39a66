"""What a data scientist does in a notebook: a table with text, a model that shows itself, new data."""

import pickle

import pytest

import milp_trees as mt


@pytest.fixture(scope="module")
def fitted():
    table = mt.example("people").iloc[::5]
    X, y = table.drop(columns="income"), table["income"]
    return mt.OptimalTreeClassifier(max_depth=2).fit(X, y), X, y


def test_the_last_line_of_a_cell_shows_the_tree_and_its_certificate(fitted):
    shown = fitted[0].result_._repr_html_()
    assert "<svg" in shown
    assert "optimal" in shown


def test_text_columns_are_read_as_they_are_in_the_order_of_the_fit(fitted):
    model, X, _ = fitted
    assert X.select_dtypes(exclude="number").shape[1] > 0
    assert set(model.predict(X.head(3))) <= set(model.classes_)
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[X.columns[::-1]])


def test_probabilities_scores_and_errors_agree(fitted):
    model, X, y = fitted
    labels = model.classes_[model.predict_proba(X).argmax(axis=1)]
    assert (model.predict(X) != y).sum() == model.result_.value.number
    assert (labels != y).sum() == model.result_.value.number
    assert model.score(X, y) == pytest.approx(1 - model.bound_ / len(y))


def test_a_model_can_be_kept_and_loaded(fitted):
    model, X, _ = fitted
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    assert again.status_ == model.status_ == "optimal"


def test_a_missing_column_is_named(fitted):
    model, X, _ = fitted
    column = X.columns[0]
    with pytest.raises((KeyError, ValueError), match=str(column)):
        model.predict(X.drop(columns=column))
