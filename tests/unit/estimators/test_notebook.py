"""What a notebook shows: the model with its rows and its certificate, then the parameters."""

import pickle

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import milp_trees as mt

X = pd.DataFrame({"age": [20, 30, 40, 50, 60, 70], "ill": [0, 1, 0, 1, 1, 0]})
Y = np.array(["no", "no", "no", "yes", "yes", "no"])


def page(model):
    """What Jupyter shows, which must be the same for both of its protocols."""
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    assert bundle["text/html"].count("<svg") == model._repr_html_().count("<svg")
    return bundle["text/html"]


@each_row(
    "make",
    [
        lambda: mt.OptimalTreeClassifier(max_depth=2),
        lambda: mt.OptimalRuleListClassifier(max_length=2),
        lambda: mt.FairTreeClassifier(max_depth=1),
        lambda: mt.OptimalTreeCV(estimator=mt.OptimalTreeClassifier(max_depth=1), cv=2),
    ],
)
def test_a_fitted_model_shows_its_picture_rows_and_status(make):
    model = make()
    if isinstance(model, mt.FairTreeClassifier):
        model.fit(X, Y, sensitive_features=X["ill"])
    else:
        model.fit(X, Y)
    shown = page(model)
    for word in ("sk-container-id", "optimal", "claimed by", "rows"):
        assert word in shown
    assert "rows" in model.to_text()
    assert model.to_svg() in shown
    assert any("row" in t.get_text() for t in model.plot().texts)


def test_a_model_that_is_not_fitted_and_a_pipeline_show_their_diagram():
    model = mt.OptimalTreeClassifier(max_depth=1)
    assert "claimed by" not in page(model)
    assert "claimed by" not in page(clone(model.fit(X, Y)))
    pipe = make_pipeline(FunctionTransformer(), model)
    assert "OptimalTreeClassifier" in pipe._repr_html_()


def test_a_pickled_model_shows_the_rows_that_it_was_fitted_on_without_holding_them():
    model = mt.OptimalTreeClassifier(max_depth=2).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert again.to_text() == model.to_text()
    assert again.to_svg() == model.to_svg()
    assert "_dataset" not in vars(again.tree_)


def test_a_pruned_ensemble_shows_what_is_left_of_it():
    forest = RandomForestClassifier(n_estimators=2, max_depth=1, random_state=0)
    pruner = mt.EnsemblePruner(estimator=forest, lam=0.1)
    assert "splits kept" not in page(pruner)
    assert "splits kept" in page(pruner.fit(X, Y))


@pytest.mark.parametrize(
    ("space", "limit"),
    [(mt.Trees(1), {"max_leaves": 2}), (mt.RuleLists(max_length=1), {"max_length": 1})],
)
def test_near_best_models_and_sizes_have_an_html_view(space, limit):
    data = mt.Binarizer().dataset(X, Y)
    problem = mt.Problem(data, mt.Accuracy(), space)
    near = mt.near_best(problem, slack=1)
    shown = near._repr_html_()
    assert "within 1 of" in shown
    assert near[0].predictor._repr_html_() in shown
    assert "rows" in near[-1].predictor.to_text()
    sizes = mt.size_path(problem, **limit)
    assert sizes.improving[-1].predictor._repr_html_() in sizes._repr_html_()
