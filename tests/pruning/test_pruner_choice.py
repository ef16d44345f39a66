"""EnsemblePruner selects a pruning by validation rows or by a budget; pictures of the curve."""

import contextlib
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from small_pruners import CANCER, DIABETES, FOREST, prunings, tiny

import milp_trees as mt
from milp_trees.common.errors import Unsupported
from milp_trees.pruning.estimators._pruner_rows import choose
from milp_trees.pruning.path_scores import Rows, reference

# -- the choice -----------------------------------------------------------------------------------


def curve(errors, costs):
    return pd.DataFrame(
        {
            "validation_error": errors,
            "validation_cost": costs,
            "standard_error": 0.03,
            "splits": [9, 5, 2, 0][: len(errors)],
        }
    )


@each_row(
    "slack, reference, expected",
    [
        (0, "unpruned", 1),
        (0.025, "unpruned", 2),
        (1, "unpruned", 3),
        (0, "best", 1),
        (0.02, "best", 1),
        ("one-se", "best", 2),
        ("one-se", "unpruned", 2),
    ],
)
def test_the_cheapest_pruning_within_the_slack_is_chosen(slack, reference, expected):
    """By hand."""
    unpruned = {"validation_error": 0.10, "standard_error": 0.03}
    assert (
        choose(curve([0.11, 0.09, 0.12, 0.5], [8, 5, 2, 0]), unpruned, slack, reference) == expected
    )


def test_where_no_pruning_passes_the_ensemble_stays_as_it_is():
    """It says so, and predicts as before."""
    assert (
        choose(
            curve([0.11, 0.2], [8, 5]),
            {"validation_error": 0.1, "standard_error": 0.1},
            0,
            "unpruned",
        )
        is None
    )
    X, y = CANCER.data, CANCER.target
    pruner = mt.EnsemblePruner(estimator=FOREST, slack=-1).fit(X, y)
    assert pruner.selected_.status == "unpruned"
    assert pruner.lam_ is None
    np.testing.assert_array_equal(pruner.predict(X), pruner.estimator_.predict(X))


def test_the_selected_pruning_is_no_worse_on_validation_rows(cancer):
    """With slack 0; and no cheaper pruning on the path is as good."""
    curve = cancer.validation_curve_
    at = curve.index[curve.lam == cancer.lam_][0]
    assert curve.validation_error[at] <= cancer.unpruned_["validation_error"]
    assert (curve.validation_error[at + 1 :] > cancer.unpruned_["validation_error"]).all()
    assert cancer.best_estimator_.pruning_["status"] == "optimal"


# -- budgets --------------------------------------------------------------------------------------


@each_row("seed", range(4))
def test_a_budget_gives_the_hull_point_below_it_and_a_bound_that_holds(seed):
    """Against all prunings: it is within the budget, the bound is below the best there is, and
    "optimal" is said only where it is true.
    """
    pruner, X, y = tiny(seed)
    scores = [
        pruner.problem_.task.parts(
            pruner.ensemble_.pruned(k).routes(pruner.problem_.dataset), pruner.problem_.dataset
        )
        for k in prunings(pruner.ensemble_)
    ]
    for budget in [Fraction(k, 7) for k in range(0, 30, 2)]:
        best = min(e for e, c in scores if c <= budget)
        found = pruner.pruned(budget=budget)
        assert found.cost <= budget
        assert found.bound <= best
        assert found.status in ("hull point", "optimal")
        assert (found.status == "hull point") == ("not proven optimal" in found.note)
        if found.status == "optimal":
            assert found.error == best
            assert found.gap == 0


@pytest.mark.parametrize("seed", range(3))
def test_exact_budgets_equal_enumeration(seed):
    """The program with the budget as a row, from the hull point."""
    pruner, X, y = tiny(seed)
    scores = [
        pruner.problem_.task.parts(
            pruner.ensemble_.pruned(k).routes(pruner.problem_.dataset), pruner.problem_.dataset
        )
        for k in prunings(pruner.ensemble_)
    ]
    improved = 0
    for budget in [Fraction(k, 7) for k in range(1, 22, 4)]:
        found = pruner.pruned(budget=budget, exact=True)
        assert found.error == min(e for e, c in scores if c <= budget)
        assert (found.status, found.gap) == ("optimal", 0)
        improved += found.error < pruner.pruned(budget=budget).error
    if seed == 0:
        assert improved, "the exact program should beat the hull somewhere"


def stopped(pruner):
    """On a loaded machine the shortest time may end before anything can be built."""
    for seconds in (0.01, 0.03, 0.1):
        with contextlib.suppress(Unsupported):
            return pruner.prune(budget="4.7", exact=True, time_limit=seconds).pruning_
    raise AssertionError("No model was built.")


def test_a_budget_program_that_is_stopped_says_what_is_known():
    """No time at all: a ConvergenceWarning, the hull point at worst, and the hull's bound at worst."""
    pruner = mt.EnsemblePruner(estimator=RandomForestClassifier(10, random_state=0), lam=0).fit(
        CANCER.data, CANCER.target
    )
    with pytest.warns(ConvergenceWarning, match="stopped without a proof"):
        found = stopped(pruner)
    corner = pruner.pruned(budget="4.7")
    assert found["status"] == "feasible"
    assert found["gap"] > 0
    assert found["error"] <= float(corner.error)
    assert found["bound"] >= float(corner.bound)


def test_a_budget_given_to_the_pruner_selects_and_keeps_the_hull_bound():
    """`hull_bound_` and `gap_` say how far it may be from the best; the note is in words."""
    pruner = mt.EnsemblePruner(estimator=FOREST, budget=3).fit(CANCER.data, CANCER.target)
    assert pruner.selected_.cost <= 3
    assert pruner.hull_bound_ <= float(pruner.selected_.error)
    assert pruner.best_estimator_.pruning_["gap"] == pruner.gap_
    assert "hull" in pruner.best_estimator_.pruning_["note"]


# -- pictures -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_pictures_are_drawn_with_their_labels(cancer):
    """Also for regression, for a path of one pruning, and on axes that are given."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ax = cancer.plot()
    assert ax.get_xlabel() == "mean cost of a row"
    assert any("selected" in t.get_text() for t in ax.get_legend().get_texts())
    shown = [t.get_text() for t in cancer.plot_features(most=7).get_yticklabels()]
    assert len(shown) == 7
    used = cancer.acquisition(CANCER.data)
    assert [
        t.get_text() for t in cancer.plot_acquisition(CANCER.data, most=3).get_yticklabels()
    ] == list(used.index[:3])
    numbers = mt.EnsemblePruner(
        estimator=RandomForestRegressor(3, max_depth=3, random_state=0)
    ).fit(DIABETES.data, DIABETES.target)
    _, given = plt.subplots()
    assert numbers.plot(given) is given
    assert given.get_ylabel() == "mean squared error"
    flat = mt.EnsemblePruner(estimator=FOREST, validation_fraction=None).fit(
        np.zeros((10, 2)), np.arange(10) % 2
    )
    for picture in (
        flat.plot,
        flat.plot_features,
        lambda: flat.plot_acquisition(np.zeros((10, 2))),
    ):
        picture().figure.canvas.draw()
    plt.close("all")


def test_a_feature_leaves_the_picture_where_no_row_needs_it(cancer):
    """Shares along the path never rise with λ."""
    assert (cancer.feature_shares_.diff()[1:] <= 0).all(axis=None)
    shares = reference(
        cancer.ensemble_,
        np.where(cancer.ensemble_.left >= 0, 0, 1),
        1,
        Rows(CANCER.data.to_numpy()),
        cancer.costs_,
    )[1]
    np.testing.assert_allclose(
        shares[0], cancer.ensemble_.walk(CANCER.data.to_numpy()).used.mean(axis=0)
    )
