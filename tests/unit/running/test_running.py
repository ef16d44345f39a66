"""A plan is run: in this process and in others, again, and with runs that crash."""

import os
import sqlite3
import threading
import time

import pytest
from study_plans import FAST, MODELS, plan_of

from milp_trees.common.errors import DamagedRowWarning
from milp_trees.studies import Study
from milp_trees.studies.planning import recipes
from milp_trees.studies.running.coordinator import run_plan
from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.heartbeats import Heartbeats
from milp_trees.studies.running.leases import Leases

CRASHING = """
import time
from pathlib import Path
from milp_trees.engines.cart import Cart
from milp_trees.common.registering import register

@register
class Crashing(Cart):
    name = "crashing"

    def search(self, problem, limits, start, progress):
        mark = Path(__file__).parent / "mark"
        if not mark.exists():
            mark.touch()
            block = bytearray(500 * 2**20)
            for i in range(0, len(block), 4096):
                block[i] = 1
            time.sleep(60)
        return super().search(problem, limits, start, progress)
"""


def crashing(folder, *labels):
    text = FAST.replace('["dp", "cart", "enumerate"]', str(["cart", *labels]).replace("'", '"'))
    text = text.replace("seeds = [0, 1]", "seeds = 0").replace("[40, 50]", "40")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "crashing.py").write_text(CRASHING)
    return plan_of(folder, 'plugins = ["crashing.py"]\n' + text)


def test_serial_makes_every_run_once_and_continues(tmp_path):
    plan = plan_of(tmp_path)
    store = tmp_path / "s.db"
    half = plan.only(plan.runs[:5])
    assert len(run_plan(half, store, executor="serial")) == 5
    news = []
    study = run_plan(plan, store, executor="serial", progress=news.append)
    assert [row["key"] for row in study.rows] == [run.key for run in plan.runs]
    assert sum(len(n.rows) for n in news) == len(plan.runs) - 5
    assert (news[-1].done, news[-1].total) == (len(plan.runs), len(plan.runs))
    assert {row["agrees"] for row in study.rows if row["method"] == "dp"} == {True}
    first = study.rows[0]
    assert first["run"]["name"] == plan.runs[0].problem
    assert first["run"]["attempt"] == 1
    assert first["run"]["environment"] in study.store.environments()
    assert study.store.about()["title"] == "small"
    assert len(Study.open(store)) == len(plan.runs)


def test_a_study_goes_on_from_the_folder_or_from_the_store_alone(tmp_path):
    plan = plan_of(tmp_path)
    store = tmp_path / "s.db"
    before = run_plan(plan, store, executor="serial")
    seconds = [row["seconds"] for row in before.rows]
    before.store.close()
    store.unlink()
    again = run_plan(plan, store, executor="serial")
    assert [row["seconds"] for row in again.rows] == seconds, "from the folder"
    again.store.close()
    for path in sorted((tmp_path / "s.db.runs").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    last = run_plan(plan, store, executor="serial")
    assert [row["seconds"] for row in last.rows] == seconds, "from the store"


def test_a_file_of_rows_is_merged_once_even_after_errors(tmp_path):
    plan = plan_of(tmp_path)
    store = tmp_path / "s.db"
    for _ in range(3):
        run_plan(plan, store, executor="serial").store.close()
    db = sqlite3.connect(store)
    assert db.execute("SELECT COUNT(*) FROM runs WHERE role = 'run'").fetchone() == (
        len(plan.runs),
    )


def test_processes_try_crashed_runs_again_and_say_so(tmp_path):
    """One needs more memory than the cap, once."""
    plan = crashing(tmp_path, "crashing")
    study = run_plan(plan, tmp_path / "s.db", jobs=1, retries=1, memory_mb=600)
    rows = {row["method"]: row for row in study.rows}
    assert rows["cart"]["run"]["crashes"] == []
    assert len(rows["cart"]["run"]["cores"]) == 1
    memory = rows["crashing"]
    assert memory["status"] == "feasible"
    assert memory["run"]["attempt"] == 2
    assert memory["run"]["origin"]["crashing.py"].startswith("sha256-")
    (why,) = memory["run"]["crashes"]
    assert "the cap is 600 MB" in why
    study.store.close()
    assert len(Folder(tmp_path / "s.db.runs").names("workers")) == 0


def test_a_run_that_crashes_every_time_is_an_error_that_says_so(tmp_path):
    plan = plan_of(tmp_path)
    store = tmp_path / "s.db"
    folder = Folder(f"{store}.runs")
    claims = Leases(folder, Heartbeats(folder, "worker"))
    key = plan.runs[0].key
    for attempt in (1, 2):
        assert claims.take(key).attempt == attempt
        claims.give_up(key, attempt, f"It broke {attempt}.")
    rows = run_plan(plan, store, executor="serial", retries=1).rows
    assert rows[0]["status"] == "error"
    assert rows[0]["message"] == "Every one of 2 attempts crashed; the last: It broke 2."
    assert rows[0]["run"]["crashes"] == ["It broke 1.", "It broke 2."]
    assert rows[0]["run"]["attempt"] == 2
    assert "error" not in {row["status"] for row in rows[1:]}
    again = run_plan(plan, store, executor="serial", retries=1).rows[0]
    assert again["status"] != "error"
    assert again["run"]["attempt"] == 4


def test_a_solver_that_is_killed_is_a_crash_of_its_run(tmp_path, monkeypatch):
    from milp_trees.mip import process

    plan = plan_of(tmp_path, FAST.partition("[[methods]]")[0] + MODELS)
    plan = plan.only(plan.runs[:1])
    begin, killed = process.Worker.begin, []

    def begin_and_kill(self, *given):
        begin(self, *given)
        if not killed:
            killed.append(self.process.pid)
            self.process.kill()

    monkeypatch.setattr(process.Worker, "begin", begin_and_kill)
    row = run_plan(plan, executor="serial").rows[0]
    assert row["status"] == "optimal"
    assert row["run"]["attempt"] == 2
    assert "SIGKILL" in row["run"]["crashes"][0]


def test_more_jobs_than_cores_are_refused(tmp_path):
    with pytest.raises(StudyError, match="cores of this machine"):
        run_plan(plan_of(tmp_path), jobs=(os.cpu_count() or 1) + 1)
    with pytest.raises(StudyError, match="one run at a time"):
        run_plan(plan_of(tmp_path), executor="serial", jobs=2)
    with pytest.raises(StudyError, match="has no option 'x'"):
        run_plan(plan_of(tmp_path), executor="serial", options={"x": 1})
    with pytest.raises(StudyError, match="There is no executor 'threads'; take one of dask"):
        run_plan(plan_of(tmp_path), executor="threads")


@pytest.mark.parametrize("executor", ["serial", pytest.param("processes", marks=pytest.mark.slow)])
def test_data_that_a_worker_cannot_read_or_that_changed_end_the_study_with_the_sentence(
    tmp_path, executor
):
    people = tmp_path / "people.csv"
    people.write_text("a,b,y\n0,1,0\n1,0,1\n1,1,1\n0,0,0\n")
    text = FAST.replace('{generator = "planted", rows = [40, 50], seed = 1}', '"people.csv"')
    plan = plan_of(tmp_path, text)
    people.write_text(people.read_text() + "1,1,0\n")
    recipes._table.cache_clear()
    with pytest.raises(StudyError, match="not those of the plan"):
        run_plan(plan, executor="serial")
    people.unlink()
    recipes._table.cache_clear()
    with pytest.raises(StudyError, match=r"finished rows are safe: .*people\.csv"):
        run_plan(plan, executor=executor)


def test_an_error_is_made_again_by_the_next_start_and_not_before(tmp_path, monkeypatch):
    from milp_trees.engines.cart import Cart

    plan = plan_of(tmp_path)
    plan = plan.only(tuple(run for run in plan.runs if run.method == "cart"))
    search, broken = Cart.search, []

    def fails(self, *given):
        broken.append(1)
        raise ValueError("not today")

    monkeypatch.setattr(Cart, "search", fails)
    study = run_plan(plan, tmp_path / "s.db", executor="serial")
    assert {row["status"] for row in study.rows} == {"error"}
    assert len(broken) == len(plan.runs)
    monkeypatch.setattr(Cart, "search", search)
    study = run_plan(plan, tmp_path / "s.db", executor="serial")
    assert {row["status"] for row in study.rows} == {"feasible"}
    assert {row["run"]["attempt"] for row in study.rows} == {2}


def test_a_store_of_the_layout_before_is_read_and_continued(tmp_path):
    plan = plan_of(tmp_path)
    store = tmp_path / "s.db"
    run_plan(plan, store, executor="serial").store.close()
    db = sqlite3.connect(store)
    db.executescript("DROP TABLE about; DROP TABLE environments; PRAGMA user_version = 1;")
    db.close()
    old = Study.open(store)
    assert (len(old), old.store.about(), old.store.environments()) == (len(plan.runs), {}, {})
    old.store.close()
    (tmp_path / "s.db.runs").rename(tmp_path / "elsewhere")
    assert len(run_plan(plan, store, executor="serial")) == len(plan.runs)


def test_a_row_of_a_worker_that_was_taken_for_dead_is_merged_once(tmp_path):
    """It was only silent for a while: its run was made by another one, and then it wrote its row."""
    plan = plan_of(tmp_path)
    store = tmp_path / "s.db"
    first = run_plan(plan, store, executor="serial")
    folder = Folder(f"{store}.runs")
    (name,) = folder.names("rows")
    text = (folder / f"rows/{name}").read_text().replace('"attempt": 1', '"attempt": 2')
    (folder / "rows/zombie.jsonl").write_text(text)
    for row in (run_plan(plan, store, executor="serial")).rows:
        assert row["run"]["attempt"] == 1
    assert len(first.store) == len(run_plan(plan, store, executor="serial").store)


def test_two_front_ends_at_once_share_the_runs(tmp_path):
    plan = plan_of(tmp_path, FAST.replace("[0, 1]", "[0, 1, 2, 3, 4, 5, 6, 7]"))
    store = tmp_path / "s.db"
    found = []

    def one():
        found.append(run_plan(plan, store, executor="serial").rows)

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row["key"] for row in found[0]] == [run.key for run in plan.runs]
    assert [row["run"] for row in found[0]] == [row["run"] for row in found[1]]
    db = sqlite3.connect(store)
    assert db.execute("SELECT COUNT(*) FROM runs WHERE role = 'run'").fetchone() == (
        len(plan.runs),
    )


def test_two_front_ends_make_an_error_once(tmp_path, monkeypatch):
    """The second one does not take up a study whose runs are all made."""
    from milp_trees.engines.cart import Cart

    plan = plan_of(tmp_path)
    plan = plan.only(tuple(run for run in plan.runs if run.method == "cart"))
    store = tmp_path / "s.db"
    folder, broken, found = Folder(f"{store}.runs"), [], []

    def fails(self, *given):
        broken.append(1)
        until = time.monotonic() + 20
        while len(folder.names("workers")) < 4 and time.monotonic() < until:
            time.sleep(0.01)  # until both front ends have a worker
        raise ValueError("not today")

    def one():
        found.append(run_plan(plan, store, executor="serial").rows)

    monkeypatch.setattr(Cart, "search", fails)
    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(broken) == len(plan.runs)
    assert [[row["status"] for row in rows] for rows in found] == [["error"] * len(plan.runs)] * 2


def test_a_damaged_line_of_rows_costs_that_run_only(tmp_path):
    plan = plan_of(tmp_path)
    store = tmp_path / "s.db"
    run_plan(plan, store, executor="serial").store.close()
    store.unlink()
    (file,) = (tmp_path / "s.db.runs/rows").iterdir()
    lines = file.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][:50] + b"\n"
    file.write_bytes(b"".join(lines))
    with pytest.warns(DamagedRowWarning, match="its run is made again"):
        again = run_plan(plan, store, executor="serial")
    assert [row["key"] for row in again.rows] == [run.key for run in plan.runs]
    assert sorted(row["run"]["attempt"] for row in again.rows) == [1] * (len(plan.runs) - 1) + [2]


def test_a_run_that_ignores_its_limit_is_ended_with_the_reason(tmp_path, monkeypatch):
    from milp_trees.studies.running import monitor, worker

    plan = plan_of(tmp_path)
    store = tmp_path / "s.db"
    run_plan(plan.only(plan.runs[:1]), store, executor="serial").store.close()
    folder, run, ended = Folder(f"{store}.runs"), plan.runs[1], []
    one = worker.Worker(folder, "front", plan=plan, own_process=False)
    one.own_process, one.limit = True, run.limits.time
    watching = monitor.Monitor(one)
    monkeypatch.setattr(watching, "_exit", ended.append)
    one.current = (run.key, one.claims.take(run.key).attempt)
    one.begun = time.monotonic() - 2 * run.limits.time
    watching._overtime()
    assert not ended
    one.begun -= 300
    watching._overtime()
    assert ended == [monitor.ENDED_BY_MONITOR]
    one.me.leave()
    taken = Leases(folder, Heartbeats(folder, "worker")).take(run.key)
    assert taken.attempt == 2
    assert taken.crashes == ("The run did not end at its time limit (20 s), nor long after it.",)
