"""Binary features: names, negations, answers where a value is missing, and their JSON."""

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.data.checks import missing_in


@each_row(
    ("test", "name", "negation"),
    [
        (("age", "<=", 37.5, "no"), "age <= 37.5", "age > 37.5 or missing"),
        (("age", "<=", 37.5, "yes"), "age <= 37.5 or missing", "age > 37.5"),
        (("colour", "==", "red", "no"), "colour == red", "colour != red or missing"),
        (("colour", "==", "red", "yes"), "colour == red or missing", "colour != red"),
        (("ill", "is", None, "no"), "ill", "not ill or missing"),
        (("ill", "is", None, "yes"), "ill or missing", "not ill"),
        (("age", "missing"), "age is missing", "age is not missing"),
    ],
)
def test_names_say_where_missing_values_go(test, name, negation):
    """A missing value belongs to the side whose name says so, and the JSON gives the same test."""
    feature = mt.BinaryFeature(*test)
    assert (feature.name, feature.negation) == (name, negation)
    assert mt.BinaryFeature.from_json(feature.to_json()) == feature


def test_old_descriptions_have_no_answer_for_missing_values():
    """A description without the field is that of a column that was complete."""
    old = {"column": "a", "kind": "<=", "value": 1.5}
    assert mt.BinaryFeature.from_json(old).to_json() == old
    for damaged in ({**old, "missing": "left"}, {"column": "a", "kind": "gone"}):
        with pytest.raises(ValueError, match="no test"):
            mt.BinaryFeature.from_json(damaged)


def test_every_kind_of_missing_value_is_answered():
    """NaN, None, pandas.NA, NaT and masked entries are missing; other values are not."""
    texts = np.array(["red", None, np.nan, pd.NA, "nan"], dtype=object)
    assert missing_in(texts).tolist() == [False, True, True, True, False]
    assert missing_in(np.ma.array([1.0, 2.0], mask=[0, 1])).tolist() == [False, True]
    assert missing_in(np.array(["2020-01-01", "NaT"], "datetime64[D]")).tolist() == [False, True]
    assert mt.BinaryFeature("c", "==", "red", "yes").evaluate(texts).tolist() == [
        True,
        True,
        True,
        True,
        False,
    ]
    assert mt.BinaryFeature("c", "missing").evaluate([1.0, np.nan]).tolist() == [False, True]
    assert mt.BinaryFeature("c", "is", None, "no").evaluate([1, 0, None]).tolist() == [1, 0, 0]


def test_a_value_that_was_never_missing_may_not_be_missing_later():
    """The error names the column and says what to do, for texts too."""
    for test, values in (
        (mt.BinaryFeature("x", "<=", 1.0), [0.0, np.nan]),
        (mt.BinaryFeature("x", "==", "red"), np.array(["red", None], dtype=object)),
    ):
        with pytest.raises(mt.DataError, match=r"'x' has a missing value in row 1, .* fit again"):
            test.evaluate(values)


def test_a_number_beyond_0_and_1_is_refused_with_remedies_that_work():
    """In the rows of the fit a count was 0 or 1 by chance; a new row has 2."""
    X, y = np.array([[0.0], [1.0], [0.0], [1.0]]), [0, 1, 0, 1]
    new = np.array([[2.0], [0.0]])
    model = mt.OptimalTreeClassifier(max_depth=1).fit(X, y)
    with pytest.raises(mt.DataError, match=r"holds 2 in row 0.*Fit again on rows.*or write 1"):
        model.predict(new)
    assert model.predict(np.minimum(new, 1)).tolist() == [1, 0]
    model.fit(np.vstack([X, new]), [*y, 1, 0])
    assert model.tree_.splits[0].kind == "<="
    assert model.predict([[3.0], [0.0]]).tolist() == [1, 0]
