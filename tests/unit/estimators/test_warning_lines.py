"""Warnings of a fit point to the line of the user's own code that called it."""

import inspect
import warnings

import numpy as np
from row_tests import each_row
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import milp_trees as mt
from milp_trees.models.nodes import Branch, Leaf

X = np.random.default_rng(0).random((60, 2))
Y = (X[:, 0] > 0.4).astype(int)
BRIEF = {"max_depth": 2, "method": "flow-oct@highs", "time_limit": 1e-6}
START = mt.Tree(Branch(mt.BinaryFeature("0", "<=", 0.123), Leaf(1), Leaf(0)), (0, 1))

CASES = {
    "a limit": mt.OptimalTreeClassifier(**BRIEF),
    "a start that is changed": mt.OptimalTreeClassifier(
        max_depth=1, start=START, binarizer="quantiles", n_bins=3
    ),
    "no groups": mt.FairTreeClassifier(max_depth=1),
    "penalties": mt.OptimalTreeClassifierCV(max_leaf_nodes=3, cv=2, **BRIEF),
    "sizes": mt.OptimalTreeCV(estimator=mt.OptimalTreeClassifier(**BRIEF), max_leaf_nodes=2, cv=2),
    "a pipeline": make_pipeline(mt.OptimalTreeClassifier(**BRIEF)),
}


@each_row("case", CASES)
def test_a_warning_names_the_line_that_called_fit(case):
    with warnings.catch_warnings(record=True) as message:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1
        CASES[case].fit(X, Y)
    assert message
    assert {(one.filename, one.lineno) for one in message} == {(__file__, line)}


def test_a_warning_within_cross_validation_names_the_line_that_called_it():
    model = mt.OptimalTreeClassifier(**BRIEF)
    with warnings.catch_warnings(record=True) as message:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1
        cross_val_score(model, X, Y, cv=2)
    assert {(one.filename, one.lineno) for one in message} == {(__file__, line)}
