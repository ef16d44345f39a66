"""The history of a search is stored, read back and checked, and is a table."""

import json
from dataclasses import replace

import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import VerificationError
from milp_trees.results.stored import result_from_json

HISTORY = {
    "seconds": [0.0, 0.5],
    "incumbent": [0.4, None],
    "bound": [None, 0.3],
    "prefixes": [0, 12],
    "queue": [1, 3],
    "log10_space_fine": [7.5, None],
    "queue_by_length": [[1], [0, 2, 1]],
}


@pytest.fixture(scope="module")
def result():
    problem = mt.Problem(
        mt.load("planted:rows=40,tests=4,noise=0.1,seed=4"), mt.Accuracy(), mt.Trees(1)
    )
    return mt.solve(problem, "dp")


def test_a_history_is_stored_and_read_back(result):
    stored = json.loads(json.dumps(replace(result, history=HISTORY).to_json()))
    assert stored["history"] == HISTORY
    assert result_from_json(stored, result.problem).history == HISTORY


def test_no_history_is_null_and_an_empty_table(result):
    assert result.to_json()["history"] is None
    assert len(result.history_frame()) == 0
    assert "log10_space_fine" in result.history_frame()


def test_results_of_versions_without_history_are_read(result):
    stored = result.to_json()
    del stored["history"]
    assert result_from_json(stored, result.problem).history is None
    assert mt.verify(stored).verdict.value == "derived"


def test_the_table_has_a_column_per_prefix_length(result):
    table = replace(result, history=HISTORY).history_frame()
    assert list(table["length 1"]) == [0, 2]
    assert list(table["length 2"]) == [0, 1]
    assert list(table["prefixes"]) == [0, 12]


@each_row(
    "damaged",
    [
        [],
        {"seconds": [0.0], "queue": [1, 2]},
        {"hours": [1]},
        {"queue": ["many"]},
        {"queue_by_length": [[-1]]},
        {"queue": 3},
    ],
)
def test_a_damaged_history_is_refused(result, damaged):
    with pytest.raises(VerificationError, match="history"):
        mt.verify({**result.to_json(), "history": damaged})


@each_row("column", ["incumbent", "bound"])
@each_row("beside", [{}, {"seconds": [0.1, None]}])
def test_a_history_that_excludes_the_answer_is_refused(result, column, beside):
    """As in the trace: no moment had a better incumbent, or a bound that excludes the answer."""
    good, step = result.objective, {"incumbent": -1, "bound": 1}[column]
    sound = {**result.to_json(), "history": {**beside, column: [None, good]}}
    assert "trace and history are consistent" in "\n".join(mt.verify(sound))
    with pytest.raises(VerificationError, match=f"The history has the {column}"):
        mt.verify({**sound, "history": {**beside, column: [None, good + step]}})
