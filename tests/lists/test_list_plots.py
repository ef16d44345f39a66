"""Pictures of the search for a rule list are drawn from its history, and say what it says."""

from types import SimpleNamespace

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.lists.plots import by_length, plot_list_search

HISTORY = {
    "seconds": [0.0, 0.1, 0.4],
    "incumbent": [0.5, 0.4, 0.3],
    "bound": [None, 0.2, 0.3],
    "queue": [1, 7, 0],
    "map": [1, 5, 9],
    "longest": [0, 1, 2],
    "best_length": [0, 1, 2],
    "log10_space_coarse": [5.0, 3.0, None],
    "log10_space_fine": [4.0, 2.0, None],
    "prefixes": [1, 8, 20],
    "queue_by_length": [[1], [0, 7], []],
}


def result(history):
    return SimpleNamespace(history=history, method="some", value=SimpleNamespace(unit="rate"))


def test_there_is_a_picture_of_every_measurement():
    figure = plot_list_search(result(HISTORY), competitors={"greedy": 0.45, "CART": 0.42})
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == [
        "objective",
        "size of queue and map",
        "length",
        "remaining search space",
        "queue by length of the prefix",
        "expanded prefixes",
    ]
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    assert list(lines["incumbent"]) == HISTORY["incumbent"]
    assert set(lines["greedy: 0.45"]) == {0.45}
    assert set(lines["CART: 0.42"]) == {0.42}
    (one, many) = (line.get_ydata() for line in figure.axes[4].lines)
    assert list(many) == pytest.approx([np.nan, 7, np.nan], nan_ok=True)
    assert list(one) == pytest.approx([1, np.nan, np.nan], nan_ok=True)


def test_what_a_method_does_not_record_has_no_picture():
    some = {name: HISTORY[name] for name in ("seconds", "incumbent", "bound")}
    figure = plot_list_search(result(some | {"queue_by_length": [None, None, None]}))
    assert [ax.get_title() for ax in figure.axes] == ["objective"]


@pytest.mark.parametrize("history", [None, {}, {"seconds": []}])
def test_without_a_history_there_is_one_sentence(history):
    with pytest.raises(mt.DataError, match=r"recorded no history .*\.$"):
        plot_list_search(result(history))


def test_lengths_that_end_early_are_filled_up():
    assert by_length([[1], None, [0, 2, 3]]).tolist() == [[1, 0, 0], [0, 0, 0], [0, 2, 3]]
