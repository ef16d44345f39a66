"""Executors beyond this process: Slurm through submitit, Dask; and a second machine that joins."""

import contextlib
import json
import os
import subprocess
import sys
import time

import pytest
from killing import FRONT
from row_tests import each_row
from study_plans import FAST, plan_of

from milp_trees.common.errors import MilpTreesError
from milp_trees.studies.processes_seen import VARIABLE
from milp_trees.studies.running.coordinator import Coordinator, Settings, run_plan
from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.executors import dask, names
from milp_trees.studies.running.executors.processes import report_crash
from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.heartbeats import Heartbeats
from milp_trees.studies.running.leases import Leases
from milp_trees.studies.running.merging import Merging
from milp_trees.studies.running.row_files import Appender
from milp_trees.studies.study import Study

FEW = FAST.replace("seeds = [0, 1]", "seeds = 0").replace("[40, 50]", "40")


def test_every_executor_is_a_file():
    assert names() == ["dask", "processes", "serial", "slurm"]


@pytest.mark.parametrize("cluster", ["local", pytest.param("debug", marks=pytest.mark.slow)])
def test_arrays_of_submitit_make_the_runs(tmp_path, cluster):
    pytest.importorskip("submitit", reason="submitit is not installed")
    plan = plan_of(tmp_path, FEW)
    options = {"cluster": cluster, "timeout_min": 5}
    study = run_plan(plan, tmp_path / "s.db", executor="slurm", options=options)
    assert [row["key"] for row in study.rows] == [run.key for run in plan.runs]
    assert {row["run"]["attempt"] for row in study.rows} == {1}


def test_slurm_that_is_not_there_is_named(tmp_path, monkeypatch):
    pytest.importorskip("submitit", reason="submitit is not installed")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(StudyError, match=r"submitit cannot work with cluster='slurm'"):
        run_plan(plan_of(tmp_path, FEW), tmp_path / "s.db", executor="slurm")
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]
    options = {"cluster": "local", "nonsense": 1}
    with pytest.raises(StudyError, match="nonsense"):
        run_plan(plan_of(tmp_path, FEW), executor="slurm", options=options)


@each_row(
    "asked",
    [
        {"executor": "nobody"},
        {"executor": "dask"},
        {"executor": "serial", "memory_mb": 500},
        {"executor": "processes", "jobs": 100_000},
    ],
)
def test_a_study_that_is_refused_leaves_nothing_behind(tmp_path, asked):
    plan = plan_of(tmp_path / "spec", FEW)
    with pytest.raises(MilpTreesError):
        run_plan(plan, tmp_path / "s.db", **asked)
    assert [path.name for path in tmp_path.iterdir()] == ["spec"]


def test_a_refused_study_keeps_the_store_that_was_there(tmp_path):
    Study(tmp_path / "s.db").store.close()
    with pytest.raises(MilpTreesError):
        run_plan(plan_of(tmp_path, FEW), tmp_path / "s.db", executor="nobody")
    assert (tmp_path / "s.db").exists()
    assert not (tmp_path / "s.db.runs").exists()


def test_a_worker_that_crashes_at_once_names_its_signal(tmp_path):
    """Its live file was never written; a row that it finished is no crash."""
    folder = Folder(tmp_path / "runs")
    worker = Heartbeats(folder, "worker")
    claims = Leases(folder, worker)
    for key in ("done", "crashed"):
        claims.take(key)
    Appender(folder / f"rows/{worker.name}.jsonl").append({"key": "done", "attempt": 1})
    report_crash(folder, worker.name, -11)
    assert folder.read("claims/done.1.why") is None
    taken = Leases(folder, Heartbeats(folder, "worker")).take("crashed")
    assert taken.attempt == 2
    assert "ended during this run with signal 11 (SIGSEGV)." in taken.crashes[0]


def test_dask_needs_an_address_where_a_scheduler_answers(tmp_path, monkeypatch):
    pytest.importorskip("distributed", reason="dask and distributed are not installed")
    monkeypatch.setattr("milp_trees.methods.cluster.ANSWERS_WITHIN", 0.5)
    with pytest.raises(StudyError, match="address of a scheduler"):
        run_plan(plan_of(tmp_path, FEW), executor="dask")
    with pytest.raises(StudyError, match=r"No Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        run_plan(plan_of(tmp_path, FEW), executor="dask", address="tcp://127.0.0.1:9")


def test_a_dask_worker_that_ends_while_it_is_asked_is_left_out(tmp_path, monkeypatch):
    """One of two workers is killed by the question; the study goes on with the other one.

    If every worker is killed by it, then the study ends with a sentence.
    """
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    marked = tmp_path / "somebody-ended"

    def ends_first(path):
        with contextlib.suppress(FileExistsError):
            marked.touch(exist_ok=False)
            os._exit(1)
        return os.path.exists(path)

    def ends_always(path):
        os._exit(1)

    monkeypatch.setattr(dask, "sees", ends_first)
    monkeypatch.setattr(dask, "ARRIVAL", 5)
    local = {"host": "127.0.0.1", "dashboard_address": ":0", "silence_logs": 50}
    plan = plan_of(tmp_path, FEW)
    with distributed.LocalCluster(n_workers=0, **local) as cluster:
        workers = [a_dask_worker(cluster.scheduler_address) for _ in range(2)]
        try:
            with distributed.Client(cluster, set_as_default=False) as client:
                client.wait_for_workers(2)
            at = {"executor": "dask", "address": cluster.scheduler_address}
            study = run_plan(plan, tmp_path / "s.db", **at)
            assert marked.exists()
            assert [row["key"] for row in study.rows] == [run.key for run in plan.runs]
            monkeypatch.setattr(dask, "sees", ends_always)
            monkeypatch.setattr(dask, "ARRIVAL", 1)
            with pytest.raises(StudyError, match="has no workers; start some"):
                run_plan(plan, tmp_path / "t.db", **at)
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


def a_dask_worker(address):
    """A worker without a nanny, so that nobody starts it again."""
    message = [address, "--no-nanny", "--nthreads", "1", "--no-dashboard"]
    silent = subprocess.DEVNULL
    return subprocess.Popen(
        [sys.executable, "-m", "dask", "worker", *message], stdout=silent, stderr=silent
    )


def test_another_study_in_the_same_folder_is_refused_while_one_runs(tmp_path):
    plan = plan_of(tmp_path)
    store = tmp_path / "s.db"
    folder = Folder(f"{store}.runs")
    first = Heartbeats(folder, "front")
    leading = Coordinator(plan, store, folder, first, Settings("serial"))
    leading.claims.take("front")
    leading.round.write(folder)
    with pytest.raises(StudyError, match="Another study is being made"):
        run_plan(plan.only(plan.runs[:2]), store, executor="serial")
    first.leave()
    assert len(run_plan(plan.only(plan.runs[:2]), store, executor="serial")) == 2


def test_a_front_end_that_joined_makes_what_the_leader_left(tmp_path):
    """The leader ends before any run is made; the workers of the one that joined were told to end."""
    plan, store = plan_of(tmp_path, FEW), tmp_path / "s.db"
    folder = Folder(f"{store}.runs")
    first = Heartbeats(folder, "front")
    leading = Coordinator(plan, store, folder, first, Settings("serial"))
    leading._begin(leading.claims.take("front").attempt, Merging(folder, Study().store))
    study = run_plan(plan, store, executor="serial", progress=lambda news: first.leave())
    assert [row["key"] for row in study.rows] == [run.key for run in plan.runs]


GATED = f"""
import os
import time
from milp_trees.engines.cart import Cart
from milp_trees.common.registering import register

@register
class Gated(Cart):
    name = "gated"

    def search(self, problem, limits, start, progress):
        while os.environ.get("{VARIABLE}") != "elsewhere":
            time.sleep(0.05)
        return super().search(problem, limits, start, progress)
"""


def test_a_second_machine_joins_and_takes_over(tmp_path):
    """The first front end is stuck in a run. The second one, which believes that it is on another
    machine, makes the others and waits; when the first one is killed, it leads, opens the store,
    and makes the run that is left.
    """
    (tmp_path / "gated.py").write_text(GATED)
    text = FAST.replace('["dp", "cart", "enumerate"]', '["gated", "cart"]')
    plan = plan_of(tmp_path, 'plugins = ["gated.py"]\n' + text)
    path, store = tmp_path / "plan.json", tmp_path / "s.db"
    path.write_text(json.dumps(plan.to_json()))
    given = [str(path), str(store), json.dumps({"executor": "serial"})]
    there = {**os.environ, "MILP_TREES_HEARTBEAT": "0.1"}
    folder = Folder(f"{store}.runs")

    def lines():
        rows = (folder / f"rows/{name}" for name in folder.names("rows", ".jsonl"))
        return sum(len(file.read_bytes().splitlines()) for file in rows)

    def wait_for(condition):
        until = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < until
            assert [process.poll() for process in started] == [None] * len(started)
            time.sleep(0.02)

    started = [subprocess.Popen([sys.executable, "-c", FRONT, *given], env=there)]
    try:
        wait_for(lambda: any('"gated"' in f.read_text() for f in (folder / "live").glob("*.json")))
        there[VARIABLE] = "elsewhere"
        started.append(subprocess.Popen([sys.executable, "-c", FRONT, *given], env=there))
        wait_for(lambda: lines() == len(plan.runs) - 1)
    finally:
        started[0].kill()
        started[0].wait()
    assert started[1].wait(timeout=60) == 0
    hosts = {name.partition("-")[0] for name in folder.names("rows", ".jsonl")}
    assert "elsewhere" in hosts
    study = run_plan(plan, store, executor="serial")
    assert len(study) == len(plan.runs)
    assert lines() == len(plan.runs)
