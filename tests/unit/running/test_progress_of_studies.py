"""How far a study is, on a terminal, in a notebook and in a log; --watch; Ctrl-C once and twice."""

import io
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from rich.console import Console
from study_plans import plan_of

from milp_trees.studies.running import display as module
from milp_trees.studies.running.coordinator import run_plan
from milp_trees.studies.running.display import Display, duration, headline, page, watch
from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.study import study
from milp_trees.studies.running.study_progress import Eta, Follower, Running, StudyProgress
from milp_trees.studies.study import Study

RUN = Running("k", "uci/<i>iris</i>", "flow-oct@highs", "running", 12.0, 60.0, 5.0, 3.0)
NOW = StudyProgress("[red]quick", 40, 12, 1, (RUN, replace(RUN, state="preparing")), 2, 200.0)


def shown(*standings, **how):
    console = Console(file=io.StringIO(), width=150, **how)
    with Display(console) as display:
        for now in standings:
            display.show(now)
    return console.file.getvalue()


# -- what is shown -----------------------------------------------------------------------------------


def test_a_headline():
    assert headline(NOW) == "[red]quick: 12 of 40 runs, 2 running, about 3 min left, 1 error"
    done = replace(NOW, done=40, running=(), left=0.0, errors=0)
    assert headline(done) == "[red]quick: 40 of 40 runs"
    assert "Ctrl-C again" in headline(replace(NOW, stopping=1))
    assert "not kept" in headline(replace(NOW, stopping=3))
    assert [duration(s) for s in (40, 300, 7200)] == ["40 s", "5 min", "2.0 h"]


def test_a_terminal_shows_the_running_jobs_with_gap_and_names_as_text():
    text = shown(NOW, force_terminal=True, force_jupyter=False)
    assert "[red]quick: 12 of 40 runs" in text
    assert "uci/<i>iris</i>" in text
    assert "12 s of 60 s" in text
    assert "incumbent 5, bound 3, gap 40.0 %" in text


def test_a_log_gets_lines_at_growing_intervals(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    console = Console(file=io.StringIO(), force_terminal=False, force_jupyter=False)
    written = []
    with Display(console) as display:
        for second in range(4000):
            clock[0], before = float(second), console.file.tell()
            display.show(NOW)
            if console.file.tell() > before:
                written.append(second)
    steps = [b - a for a, b in pairwise(written)]
    assert written[0] == 0
    assert steps[0] == 5
    assert steps == sorted(steps)
    assert len(written) < 40
    lines = console.file.getvalue().splitlines()
    assert (
        lines[1]
        == "  uci/<i>iris</i>  flow-oct@highs  12 s of 60 s  incumbent 5, bound 3, gap 40.0 %"
    )
    assert "\x1b" not in console.file.getvalue()
    assert lines[-1] == headline(NOW)


def test_a_log_says_at_once_that_the_user_asked_for_the_end():
    text = shown(NOW, replace(NOW, stopping=1), force_terminal=False, force_jupyter=False)
    assert text.count("Ctrl-C again ends them now") == 2  # when it was asked, and at the end


def test_a_notebook_gets_one_output_that_is_replaced(monkeypatch):
    pytest.importorskip("IPython")
    from IPython import display as shows

    class Output:
        def __init__(self):
            self.seen = []

        def update(self, html):
            self.seen.append(html.data)

    output = Output()
    monkeypatch.setattr(module, "NOTEBOOK", 0.0)
    monkeypatch.setattr(shows, "display", lambda html, display_id: output.update(html) or output)
    shown(NOW, replace(NOW, done=40, running=()), force_jupyter=True)
    assert len(output.seen) == 2
    assert "<i>iris" not in output.seen[0]
    assert "&lt;i&gt;iris" in output.seen[0]
    assert "40 of 40" in output.seen[1]
    assert page(NOW) == output.seen[0]


# -- the estimate ------------------------------------------------------------------------------------


def test_the_estimate_learns_from_finished_runs(tmp_path):
    plan = plan_of(tmp_path)
    runs = [replace(run, estimate=2.0) for run in plan.runs]
    eta = Eta(runs)
    assert eta.left((), 1) == pytest.approx(2.0 * len(runs))
    dp = [run for run in runs if run.method == "dp"]
    for run in dp[:-1]:
        eta.finish(run.key, 8.0)
    assert eta.of(dp[-1]) > 5.0, "the method takes longer than was guessed"
    other = next(run for run in runs if run.method == "cart")
    assert 2.0 < eta.of(other) < eta.of(dp[-1]), "so do the others, perhaps"
    assert eta.of(replace(dp[-1], limits=replace(dp[-1].limits, time=3.0))) == 3.0
    late = Running(dp[-1].key, "", "dp", "running", 1.0, None, None, None)
    rest = eta.of(dp[-1]) - 1.0
    assert eta.left([late], 1000) == pytest.approx(rest), "a run cannot be divided"
    eta.finish("unheard-of", 9.0)


# -- real studies ------------------------------------------------------------------------------------


def test_progress_of_a_study_in_lines(tmp_path, capsys):
    made = study(plan_of(tmp_path), store=tmp_path / "a.db", executor="serial", progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(made.rows) == 12
    assert lines[0].startswith("small: 0 of 12 runs")
    assert lines[-1] == "small: 12 of 12 runs"


def files_of(folder):
    return {
        path: path.stat().st_mtime_ns for path in folder.rglob("*")
    }  # folders too: their time changes where a file comes or goes


def test_watching_reads_the_folder_and_writes_nothing(tmp_path):
    plan, store = plan_of(tmp_path), tmp_path / "a.db"
    ended = run_plan(plan, store, executor="serial", progress=lambda news: True)
    assert ended.interrupted
    folder = tmp_path / "a.db.runs"
    before = files_of(tmp_path)
    follower = Follower(Folder(folder, make=False))
    console = Console(file=io.StringIO(), force_terminal=False)
    last = watch(follower, Display(console), every=0.0)
    assert last.done == len(ended.rows) < 12
    assert last.left is None
    assert files_of(tmp_path) == before
    assert "of 12 runs" in console.file.getvalue()
    run_plan(plan, store, executor="serial")
    assert watch(Follower(Folder(folder, make=False)), Display(console)).done == 12


def test_watching_what_is_no_study_is_one_sentence(tmp_path):
    with pytest.raises(StudyError, match="There is no folder"):
        Folder(tmp_path / "none", make=False)
    (tmp_path / "empty").mkdir()
    with pytest.raises(StudyError, match="No study has begun"):
        Follower(Folder(tmp_path / "empty", make=False))
    assert not any((tmp_path / "empty").iterdir())


LONG = """
title = "long"
[defaults]
time_limit = {limit}
reference = "none"
[[problems]]
name = "gen"
data = [{{generator = "planted", rows = 1000, tests = 60, noise = 0.4, seed = [1, 2, 3]}}]
space = [{{max_depth = 6}}]
[[methods]]
labels = ["dp"]
"""


def signals(times):
    """Sends Ctrl-C once a run is under way, and again whenever the front end has heard it."""
    sent = []

    def tell(news):
        running = [
            run for run in Follower(news.folder).running() if run.state == "running" and run.seconds
        ]
        if len(sent) <= news.stopping and len(sent) < times and (running or sent):
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

    return tell, sent


def test_ctrl_c_once_finishes_runs_in_flight_and_twice_stops(tmp_path):
    store = tmp_path / "a.db"
    plan = plan_of(tmp_path, LONG.format(limit=0.8))
    report, sent = signals(1)
    once = run_plan(plan, store, executor="serial", progress=report)
    assert once.interrupted
    assert len(sent) == 1
    # The order is read twice a second, so another run may have begun.
    assert 1 <= len(once.rows) <= 2
    assert {row["limit"] for row in once.rows} == {"time"}, "the run in flight was finished"

    slow = plan_of(tmp_path / "slow", LONG.format(limit=300))
    report, sent = signals(2)
    twice = run_plan(slow, tmp_path / "slow.db", executor="serial", progress=report)
    assert time.perf_counter() - sent[-1] < 20
    assert twice.interrupted
    assert twice.rows == []

    whole = run_plan(plan, store, executor="serial")
    assert not whole.interrupted
    assert [row["run"]["attempt"] for row in whole.rows] == [1, 1, 1]
    assert whole.rows[: len(once.rows)] == once.rows, "a finished row is not made again"


def test_ctrl_c_reaches_the_reference_and_no_run_begins_after_it(tmp_path):
    text = LONG.replace('reference = "none"', 'reference = "dp"').replace('["dp"]', '["cart"]')

    def stop(times):
        def tell(news):
            busy = any(run.state == "preparing" for run in Follower(news.folder).running())
            if news.stopping < times and (busy or news.stopping):
                os.kill(os.getpid(), signal.SIGINT)

        return tell

    plan = plan_of(tmp_path, text.format(limit=1.5))
    once = run_plan(plan, tmp_path / "a.db", executor="serial", progress=stop(1))
    assert once.interrupted
    assert once.rows == []
    plan = plan_of(tmp_path / "slow", text.format(limit=300))
    began = time.perf_counter()
    twice = run_plan(plan, tmp_path / "slow.db", executor="serial", progress=stop(2))
    assert twice.interrupted
    assert twice.rows == []
    assert time.perf_counter() - began < 20


@pytest.mark.slow
def test_two_ctrl_c_end_the_command_with_130_and_leave_nothing_running(tmp_path):
    """Real signals, and workers in processes of their own."""
    plan_of(tmp_path, LONG.format(limit=3))

    def start():
        command = [sys.executable, "-m", "milp_trees", "study", "small.toml", "--store", "a.db"]
        shutil.rmtree(tmp_path / "a.db.runs/live", ignore_errors=True)
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        live = tmp_path / "a.db.runs/live"
        while not any('"running"' in file.read_text() for file in live.glob("*.json")):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        return process

    process = start()
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.7)
    message = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "Ctrl-C again ends them now" in message
    assert "resumes" in message
    assert len(Study.open(tmp_path / "a.db").rows) < 3
    assert not any(follower_alive(tmp_path / "a.db.runs"))


def follower_alive(path):
    follower = Follower(Folder(path, make=False))
    return [follower.alive(role) for role in ("front", "worker")]
