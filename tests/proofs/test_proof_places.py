"""Where proofs are written and read: files that are not there, or not to be replaced, and answers
that are not lost when their proof is.
"""

import os

import pytest

import milp_trees as mt
from milp_trees.cli.outputs import writable
from milp_trees.common.errors import DataError, Unsupported
from milp_trees.common.limits import Limit, Stopped
from milp_trees.engines.dp.method import DynamicProgramme
from milp_trees.verification.checking import check_file


@pytest.fixture
def stored(tmp_path):
    """A table, and a problem that is made of it."""
    data = tmp_path / "t.csv"
    rows = [f"{i % 3},{i % 2},{'no' if i % 5 else 'yes'}" for i in range(20)]
    data.write_text("\n".join(["a,b,ill", *rows]), encoding="utf-8")
    return data, mt.Problem(mt.load(data), mt.Accuracy(), mt.Trees(max_depth=2))


def test_a_proof_does_not_replace_the_data(stored):
    data, problem = stored
    before = data.read_bytes()
    with pytest.raises(DataError, match="holds the data"):
        mt.solve(problem, "dp", proof=data)
    assert data.read_bytes() == before


@pytest.mark.parametrize("place", ["", "none/x.proof"])
def test_a_place_without_room_for_a_proof_is_refused_before_the_run(stored, place):
    data, problem = stored
    with pytest.raises(DataError, match="folder"):
        mt.solve(problem, "dp", proof=data.parent / place)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (KeyboardInterrupt(), "it was interrupted"),
        (Stopped(Limit.TIME), "raise time_limit="),
        (MemoryError(), "raise memory_mb="),
        (OSError(28, "No space left on device"), "No space left"),
    ],
)
def test_an_answer_is_not_lost_with_its_proof(stored, monkeypatch, event, said):
    data, problem = stored

    def fail(*_):
        raise event

    if isinstance(event, OSError):
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(DynamicProgramme, "prove", fail)
    result = mt.solve(problem, "dp", proof=data.parent / "x.proof")
    assert result.optimal
    assert result.proof is None
    assert said in result.message


def test_a_missing_file_is_named(stored):
    data, problem = stored
    proof = data.parent / "x.proof"
    result = mt.solve(problem, "dp", proof=proof)
    with pytest.raises(DataError, match=r"There is no data file .*none\.csv"):
        check_file(proof, data.parent / "none.csv")
    with pytest.raises(DataError, match="There is no proof file"):
        check_file(data.parent / "none.proof", data)
    with pytest.raises(DataError, match="There is no proof file"):
        mt.verify(result, proof=data.parent / "none.proof")


def test_one_file_is_not_named_for_two_outputs(tmp_path):
    """The result replaced the proof."""
    with pytest.raises(DataError, match="two outputs"):
        writable(json=tmp_path / "x", log=None, proof=tmp_path / "." / "x")
    writable(json=tmp_path / "x", proof=tmp_path / "y")


def test_nothing_is_said_about_a_limit_if_no_model_is_feasible(stored):
    data, problem = stored
    none = mt.Problem(problem.dataset, problem.task, mt.Trees(max_depth=2, min_samples_leaf=99))
    result = mt.solve(none, "dp", proof=data.parent / "x.proof")
    assert result.message.endswith("no model is feasible, and a proof is about a best one.")


def test_a_task_without_costs_of_actions_is_refused_before_the_run(stored):
    """`dp` answers F1 by steps; the answer was lost when the proof had no costs to be about."""
    data, problem = stored
    by_steps = mt.Problem(problem.dataset, mt.tasks.F1(positive="yes"), mt.Trees(max_depth=1))
    with pytest.raises(Unsupported, match="leave it out"):
        mt.solve(by_steps, "dp", proof=data.parent / "x.proof")
