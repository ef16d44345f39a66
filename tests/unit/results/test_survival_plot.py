"""Survival curves of leaves: Kaplan-Meier, and the model beside it."""

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.results.survival_plot import kaplan_meier, plot_survival, plot_tree_and_curves

F = mt.BinaryFeature
TIME = [1.0, 2.0, 2.0, 3.0, 4.0, 6.0]
EVENT = [1, 1, 0, 0, 1, 1]


def test_kaplan_meier_by_hand():
    """Censored rows leave after the events of their time."""
    times, share = kaplan_meier(np.array(TIME), np.array(EVENT), np.ones(6))
    assert times.tolist() == [1, 2, 4, 6]
    assert np.allclose(share, [5 / 6, 5 / 6 * 4 / 5, 5 / 6 * 4 / 5 / 2, 0])


def test_weights_count_as_rows_do():
    weights = np.array([2, 1, 3, 1, 2, 1])
    rows = np.repeat(np.arange(6), weights)
    once = kaplan_meier(np.array(TIME), np.array(EVENT), weights.astype(float))
    each = kaplan_meier(np.array(TIME)[rows], np.array(EVENT)[rows], np.ones(10))
    assert np.allclose(once, each)


def test_a_leaf_without_events_survives():
    times, share = kaplan_meier(np.array([1.0, 2.0]), np.zeros(2), np.ones(2))
    assert len(times) == len(share) == 0


@pytest.fixture
def drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    data = mt.Dataset(
        [[0], [0], [0], [1], [1], [1]],
        [F("a")],
        targets=np.column_stack([TIME, EVENT]),
        target_names=["time", "event"],
    )
    tree = mt.Tree(Branch(F("a"), Leaf(0), Leaf(1)), (0.5, 2.0))
    return plot_survival(tree, data, ([0.0, 2.0, 4.0], [0.125, 0.5, 1.5]))


def test_every_leaf_has_both_curves(drawn):
    assert len(drawn) == 2
    for ax, theta, rows in zip(drawn, (0.5, 2.0), (slice(0, 3), slice(3, 6))):
        observed, model = ax.get_lines()
        times, share = kaplan_meier(np.array(TIME[rows]), np.array(EVENT[rows]), np.ones(3))
        assert observed.get_xdata().tolist() == [0, *times, 6]
        assert np.allclose(observed.get_ydata(), [1, *share, share[-1]])
        curve = np.exp(-theta * np.array([0.125, 0.5, 1.5]))
        assert np.allclose(model.get_ydata(), [1, *curve, curve[-1]])


def test_titles_say_the_way_and_the_rows(drawn):
    assert drawn[0].get_title() == "not a\n3 rows, 2 events, θ = 0.5000"
    assert drawn[1].get_title() == "a\n3 rows, 2 events, θ = 2"


def test_other_results_have_no_survival_curves():
    data = mt.Dataset([[0], [1]], y=["no", "yes"])
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1)))
    with pytest.raises(mt.DataError, match="a model of the task accuracy"):
        result.plot_survival()


def test_a_figure_has_the_tree_above_the_curves():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    data = mt.Dataset(
        [[0], [0], [0], [1], [1], [1]],
        [F("a")],
        targets=np.column_stack([TIME, EVENT]),
        target_names=["time", "event"],
    )
    plain = mt.Tree(Branch(F("a"), Leaf(0), Leaf(1)), (0.5, 2.0)).to_json()
    tree = mt.Tree.from_json({**plain, "predicts": {"kind": "hazards", "names": ["hazard"]}})
    figure = plot_tree_and_curves(tree, data, ([0.0, 2.0], [0.125, 0.5]))
    above, *curves = figure.axes
    assert "θ = 0.5000\n3 rows\n2 events" in [t.get_text() for t in above.texts]
    assert [len(ax.get_lines()) for ax in curves] == [2, 2]
    matplotlib.pyplot.close(figure)
