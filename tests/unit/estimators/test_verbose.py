"""`verbose=True`: lines in a log file, a live display in a notebook."""

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.estimators import _display
from milp_trees.results.result import TracePoint

RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 2, (400, 20)), RNG.integers(0, 2, 400)


class Handle:
    """Stands for the output of a notebook that can be replaced."""

    def __init__(self):
        self.pages = []

    def update(self, page):
        self.pages.append(page.data)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_notebook_shows_incumbent_bound_gap_and_a_tree_while_fitting(monkeypatch):
    """The display is updated while `fit` runs, and ends with the result."""
    handle, received = Handle(), []

    def display(page, display_id):
        handle.pages.append(page.data)
        return handle

    monkeypatch.setattr(_display, "in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(_display, "REDRAW", 0.0)
    model = mt.OptimalTreeClassifier(
        max_depth=7, time_limit=1.0, verbose=True, progress=received.append
    ).fit(RNG.integers(0, 2, (3000, 60)), RNG.integers(0, 2, 3000))
    running = [page for page in handle.pages[1:-1] if "bound" in page]
    assert any("<svg" in page and "A model that has been found" in page for page in running)
    assert "errors" in handle.pages[-1]
    assert "<svg" in handle.pages[-1]
    assert received  # the user's own function is called too
    assert model.status_ == "feasible"


def test_a_log_file_gets_lines_on_standard_error(capsys):
    """Nothing is printed on standard output, and nothing without verbose."""
    mt.OptimalTreeClassifier(verbose=True).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "OptimalTreeClassifier: dp: optimal" in err
    mt.SPOForest(n_estimators=2, verbose=True, random_state=0).fit(X, RNG.random((400, 2)))
    mt.OptimalRuleListClassifier().fit(X, Y)
    assert "OptimalRuleList" not in capsys.readouterr().err
    for given in (False, 0, 1, 2, np.int64(1)):  # numbers as for scikit-learn's estimators
        mt.OptimalTreeClassifier(max_depth=1, verbose=given).fit(X, Y)
        assert bool(capsys.readouterr().err) is bool(given)


def test_names_in_the_display_are_escaped():
    """What comes from data cannot be markup."""
    shown = _display.FitDisplay(mt.OptimalTreeClassifier(), notebook=True)
    assert "<script>" not in shown.page("<script>", None)
    shown(TracePoint(0.1, 1.0, None))  # without an output nothing is shown
    assert not _display.in_notebook()
