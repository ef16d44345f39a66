"""The runner of benchmarks: what an engine answers is scored here, and what goes wrong with a peer
is a row that says so.
"""

import importlib
import json
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


@pytest.fixture
def peer_methods():
    """The plug-in file of peers, registered for one test."""
    from milp_trees.common.registering import from_files, plugins

    path = FOLDER / "peers" / "methods.py"
    before = list(sys.path)
    from_files.load_file(path)
    yield
    module = next(name for name in sys.modules if name.startswith("plugin_file_methods_"))
    plugins.forget_module(module)
    from_files._loaded.pop(path.resolve())
    del sys.modules[module]
    sys.path[:] = before


def small():
    import milp_trees as mt

    data = mt.load("planted:rows=60,tests=6,depth=2,noise=0.1,seed=4")
    return mt.Problem(data, mt.Accuracy(), mt.Trees(2))


def test_a_peer_without_an_environment_is_unsupported(peer_methods, monkeypatch, tmp_path):
    """The sentence names the script that makes the environment."""
    import milp_trees as mt

    monkeypatch.setenv("MILP_TREES_PEER_ODTLEARN", str(tmp_path / "bin" / "python"))
    study = mt.compare(small(), ["peer-odtlearn"], reference=None)
    assert study.rows[0]["status"] == "unsupported"
    assert "environments.py odtlearn" in study.rows[0]["message"]
    assert mt.registry.method("peer-odtlearn").software()["odtlearn"] == "not installed"


def fake_worker(folder, answer):
    """An environment in which pystreed seems to be installed, and whose worker gives one answer."""
    package = folder / "lib" / "python3.11" / "site-packages" / "pystreed-9.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Name: pystreed\nVersion: 9\n")
    python = folder / "bin" / "python"
    python.parent.mkdir()
    python.write_text(
        f"#!/bin/sh\necho '{json.dumps({'status': 'ready', 'version': '9'})}'\n"
        f"read line\necho '{json.dumps(answer)}'\n"
    )
    python.chmod(0o755)
    return python


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        ({"status": "done", "optimal": True, "tree": [0, 0, 1], "call": [0.25]}, "optimal", ""),
        ({"status": "done", "optimal": False, "tree": None, "call": [0.25]}, "no solution", ""),
        ({"status": "done", "optimal": True, "tree": [0, [1, [2, 0, 1], 1], 1]}, "error", "depth"),
        ({"status": "failed", "message": "ValueError: x"}, "error", "ValueError: x"),
        ({"status": "unsupported", "message": "not asked"}, "unsupported", "not asked"),
    ],
)
def test_what_a_peer_answers_is_scored_here(
    peer_methods, monkeypatch, tmp_path, answer, status, said
):
    """The time is the peer's own; a tree beyond the limits is an error, and so is a false proof."""
    import milp_trees as mt

    python = fake_worker(tmp_path, {"call": [0.25], **answer})
    monkeypatch.setenv("MILP_TREES_PEER_PYSTREED", str(python))
    study = mt.compare(small(), ["peer-pystreed"], reference="dp", start=None)
    row = study.rows[0]
    assert row["status"] == status
    assert said in row["message"]
    if status == "optimal":
        problem = small()
        tree = study.results[0].tree
        assert row["objective"] == problem.value(tree).number
        assert 0.25 <= row["seconds"] < 0.35
        assert row["agrees"] is (row["objective"] == mt.solve(problem, "dp").objective)
        assert row["versions"]["pystreed"] == "9"


@pytest.mark.slow
def test_pystreed_through_a_study_agrees(peer_methods, monkeypatch):
    pytest.importorskip("pystreed")
    import milp_trees as mt

    monkeypatch.setenv("MILP_TREES_PEER_PYSTREED", sys.executable)
    row = mt.compare(small(), ["peer-pystreed"], reference="dp").rows[0]
    assert (row["status"], row["agrees"]) == ("optimal", True)
