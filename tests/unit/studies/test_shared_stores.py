"""Comparisons that share a file: every run is made once, and none waits for a dead process."""

import os
import sqlite3
import threading
import time
from contextlib import closing

import pytest

import milp_trees as mt
from milp_trees.studies import one_run
from milp_trees.studies.processes_seen import machine
from milp_trees.studies.store import Store

METHODS = ["dp", "cart", "enumerate"]


@pytest.fixture
def problem():
    X = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 1], [0, 0, 0]]
    return mt.Problem(mt.Dataset(X, y=[0, 1, 1, 0, 1, 0]), mt.Accuracy(), mt.Trees(2))


def stored(path):
    """How often every run is in a file."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT COUNT(*) FROM claims").fetchone() == (0,)
        return dict(db.execute("SELECT key || role, COUNT(*) FROM runs GROUP BY 1").fetchall())


def test_two_comparisons_on_one_file_make_every_run_once(tmp_path, problem, monkeypatch):
    """Every run takes so long that the other comparison comes to it meanwhile."""
    path, made, run = tmp_path / "study.sqlite", [], one_run.attempt

    def slow(method, *args, **options):
        made.append(method.label)
        time.sleep(0.1)
        return run(method, *args, **options)

    monkeypatch.setattr(one_run, "attempt", slow)
    Store(path).close()
    rows, together = {}, threading.Barrier(3)

    def compare(k):
        together.wait()
        rows[k] = [
            (r["method"], r["objective"])
            for r in mt.compare(problem, methods=METHODS, store=path).rows
        ]

    threads = [threading.Thread(target=compare, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = stored(path)
    assert set(times.values()) == {1}, times
    assert len(made) == len(times)
    assert rows[0] == rows[1] == rows[2]
    assert [method for method, _ in rows[0]] == METHODS


def test_an_error_of_one_comparison_is_tried_again_by_the_other(tmp_path, problem, monkeypatch):
    """As when they run one after the other."""
    path, run, failing = tmp_path / "study.sqlite", one_run.attempt, [True]

    def once(method, *args, **options):
        result = run(method, *args, **options)
        if method.label == "cart" and failing:
            failing.pop()
            return one_run.replace(result, status=mt.plugins.Status.ERROR)
        return result

    monkeypatch.setattr(one_run, "attempt", once)
    first, second = (mt.compare(problem, methods=["cart"], store=path) for _ in range(2))
    assert [s.rows[0]["status"] for s in (first, second)] == ["error", "feasible"]


@pytest.mark.parametrize("pid", [2**30, None])
def test_the_claim_of_a_process_that_is_gone_does_not_count(tmp_path, problem, pid):
    """It was killed, or its number belongs to another process now."""
    path = tmp_path / "study.sqlite"
    mt.compare(problem, methods=["cart"], store=path)
    with closing(sqlite3.connect(path)) as db, db:
        runs = db.execute("SELECT key, role FROM runs").fetchall()
        db.execute("DELETE FROM runs")
        gone = ("another", machine(), os.getpid() if pid is None else pid, 1.0)
        claims = [(*run, *gone) for run in runs]
        db.executemany("INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?)", claims)
    assert len(mt.compare(problem, methods=["cart"], store=path).rows) == 1
    assert stored(path) == {key + role: 1 for key, role in runs}


def test_an_interrupted_comparison_leaves_no_claim(tmp_path, problem, monkeypatch):
    path = tmp_path / "study.sqlite"

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(one_run, "attempt", interrupted)
        assert mt.compare(problem, methods=["dp"], store=path).interrupted
    assert stored(path) == {}


def test_a_claim_is_not_taken_from_a_living_process_nor_after_its_row(tmp_path):
    path = tmp_path / "study.sqlite"
    one, two = Store(path), Store(path)
    with closing(one), closing(two):
        assert one.claim("k", "run", 0)
        assert one.claim("k", "run", 0)
        assert not two.claim("k", "run", 0)
        assert two.claim("k", "reference", 0)
        one.append({"method": "dp", "status": "optimal"}, key="k", role="run", problem="p", seed=0)
        assert not two.claim("k", "run", 0)  # what it looked at is old
        assert two.claim("k", "run", 1)
        two.release()
        assert one.claim("k", "reference", 0)
