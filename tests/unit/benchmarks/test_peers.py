"""The runner of benchmarks: what an engine answers is scored here, and what goes wrong with a peer
is a row that says so.
"""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks"

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the runner reads memory from /proc"
)


@pytest.fixture
def runner(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("_peers"), importlib.import_module("_jobs")


def xor(jobs):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, dtype=np.uint8)
    return jobs.Job("xor", X, X[:, 0] ^ X[:, 1], depth=2, time_limit=20)


def test_our_engine_answers_with_a_tree_that_is_scored_again(runner):
    """XOR at depth two makes no error; times and memory are positive."""
    peers, jobs = runner
    row = peers.interleaved(xor(jobs), {peers.OURS: sys.executable}, repeat=1)[peers.OURS]
    assert (row["status"], row["value"], row["leaves"]) == ("optimal", 0.0, 4), row
    assert min(row["call"], row["engine"], row["peak_mb"]) > 0


def test_a_peer_that_is_not_installed_is_a_row(runner, tmp_path):
    """An interpreter without the package says `missing`."""
    peers, jobs = runner
    bare = tmp_path / "python"
    bare.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "import sys, runpy; sys.modules.update(pystreed=None); sys.argv = sys.argv[1:]; '
        'runpy.run_path(sys.argv[0], run_name=\'__main__\')" "$@"\n'
    )
    bare.chmod(0o755)
    row = peers.interleaved(xor(jobs), {"pystreed": str(bare)}, repeat=2)["pystreed"]
    assert row["status"] == "missing", row
    assert "pystreed" in row["message"]


def test_a_peer_that_dies_is_a_row(runner, tmp_path):
    """The signal is in the message."""
    peers, jobs = runner
    dying = tmp_path / "python"
    dying.write_text("#!/bin/sh\nkill -SEGV $$\n")
    dying.chmod(0o755)
    row = peers.interleaved(xor(jobs), {"pystreed": str(dying)}, repeat=2)["pystreed"]
    assert row["status"] == "crashed", row
    assert "signal 11" in row["message"]


def test_a_wrong_answer_is_not_believed(runner):
    """An engine that claims optimality with a tree that breaks a limit is a row that says so."""
    peers, jobs = runner
    job = jobs.replace(xor(jobs), depth=1)
    turn = {
        "status": "done",
        "optimal": True,
        "tree": [0, [1, 0, 1], [1, 1, 0]],
        "call": [1.0],
        "cpu": [1.0],
        "engine": [1.0],
        "peak_mb": 1.0,
        "start_mb": 1.0,
    }
    row = peers.row(jobs.problem(job.settings(), job.arrays()), [turn], "1")
    assert row["status"] == "infeasible", row
    assert "depth 2" in row["message"]
