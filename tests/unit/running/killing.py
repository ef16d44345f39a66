"""A study whose processes are killed at random moments: front end, workers, solvers, cluster."""

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import psutil
from study_plans import plan_of

from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.row_files import Rows
from milp_trees.studies.stored_runs import is_final

PAUSING = """
import time
from milp_trees.engines.cart import Cart
from milp_trees.common.registering import register

@register
class Pausing(Cart):
    name = "pausing-NAME"

    def search(self, problem, limits, start, progress):
        time.sleep(0.3)
        return super().search(problem, limits, start, progress)
"""

SPEC = """
title = "killed"
plugins = ["pausing.py"]
[defaults]
time_limit = 60
[[problems]]
name = "gen"
data = [{{generator = "planted", rows = 30, seed = [{seeds}]}}]
space = [{{max_depth = 1}}]
[[methods]]
labels = ["pausing-{name}", "dp"]
seeds = [0, 1, 2]
[[methods]]
name = "models"
formulations = ["flow-oct"]
solvers = ["highs"]
"""

FRONT = """
import json, sys
from milp_trees.studies.planning.plan import Plan
from milp_trees.studies.running.coordinator import run_plan
plan, store, settings = sys.argv[1:]
plan = Plan.from_json(json.load(open(plan)))
study = run_plan(plan, store, retries=10_000, **json.loads(settings))
sys.exit(0 if len(study) == len(plan.runs) else 3)
"""


class Killing:
    """One study; `finish` kills processes of it until it has ended all the same."""

    def __init__(self, folder, problems, seed, **settings):
        self.random = random.Random(seed)
        self.home = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pausing.py").write_text(PAUSING.replace("NAME", settings["executor"]))
        seeds = ", ".join(str(i) for i in range(problems))
        self.plan = plan_of(folder, SPEC.format(seeds=seeds, name=settings["executor"]))
        (folder / "plan.json").write_text(json.dumps(self.plan.to_json()))
        self.store = folder / "s.db"
        self.settings = settings
        self.folder = Folder(f"{self.store}.runs")
        self.cluster = []
        self.killed = {}
        self.seen = {}

    def start(self):
        """Start a front end."""
        given = [str(self.home / "plan.json"), str(self.store), json.dumps(self.settings)]
        log = open(self.home / "front.txt", "ab")  # noqa: SIM115
        return subprocess.Popen(
            [sys.executable, "-c", FRONT, *given],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def dask(self):
        """A scheduler with two workers on the loopback interface."""
        from distributed import Client

        self.scheduler_file = self.home / "scheduler.json"
        message = ["--scheduler-file", str(self.scheduler_file)]
        host = ["--host", "127.0.0.1"]
        self.scheduler = self._dask("scheduler", *message, *host, "--port", "0", "--no-dashboard")
        until = time.monotonic() + 60
        while not self.scheduler_file.exists() and time.monotonic() < until:
            time.sleep(0.1)
        self.cluster = [self._dask_worker() for _ in range(2)]
        while True:
            with contextlib.suppress(OSError, ValueError, KeyError):
                address = json.loads(self.scheduler_file.read_text())["address"]
                self.settings["address"] = address
                break
            time.sleep(0.1)
        with Client(address, set_as_default=False) as client:  # on a busy machine this takes long
            client.wait_for_workers(2, timeout=60)

    def _dask_worker(self):
        message = ["--scheduler-file", str(self.scheduler_file), "--no-nanny", "--nthreads", "1"]
        return self._dask("worker", *message, "--no-dashboard")

    def _dask(self, *command):
        log = open(self.home / "dask.txt", "ab")  # noqa: SIM115
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *command], stdout=log, stderr=log, cwd=self.home
        )

    def finish(self, kills):
        """Kill as many times, and wait for the end."""
        front = self.start()
        until = time.monotonic() + 60 + 15 * kills
        while True:
            assert time.monotonic() < until, (self.home / "front.txt").read_text()
            code = front.poll()
            if code == 0:
                break
            assert code in (None, -signal.SIGKILL), (self.home / "front.txt").read_text()
            if code is not None:
                front = self.start()
            for i, process in enumerate(self.cluster):
                if process.poll() is not None:
                    self.cluster[i] = self._dask_worker()
            time.sleep(self.random.uniform(0.02, 0.8))
            if sum(self.killed.values()) < kills:
                self._kill(front)

    def _kill(self, front):
        """Kill one process, of a kind that is drawn first."""
        for key, entries in self._rows().items():
            self.seen.setdefault(key, entries[0]["row"]["run"]["started"])
        kinds = {"front end": [front.pid], "cluster": [p.pid for p in self.cluster]}
        kinds["worker"], kinds["solver"] = [], []
        for name in self.folder.names("workers", ".json"):
            about = self.folder.read(f"workers/{name}")
            if about is not None and about["role"] == "worker":
                kinds["worker"].append(about["pid"])
                with contextlib.suppress(psutil.Error):
                    children = psutil.Process(about["pid"]).children()
                    kinds["solver"] += [child.pid for child in children]
        there = sorted(kind for kind, pids in kinds.items() if pids)
        kind = self.random.choice(there)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.random.choice(kinds[kind]), signal.SIGKILL)
            self.killed[kind] = self.killed.get(kind, 0) + 1

    def _rows(self):
        """The final rows in the files of the workers, by key."""
        found = {}
        for name in self.folder.names("rows", ".jsonl"):
            for entry in Rows(self.folder / f"rows/{name}").read():
                if is_final(entry["row"]):
                    found.setdefault(entry["key"], []).append(entry)
        return found

    def check(self):
        """No finished row is lost, none was made twice, and all are there."""
        files = self._rows()
        keys = {run.key for run in self.plan.runs}
        assert set(files) == keys
        assert {len(entries) for entries in files.values()} == {1}
        for key, started in self.seen.items():
            assert files[key][0]["row"]["run"]["started"] == started
        db = sqlite3.connect(self.store)
        stored = db.execute("SELECT key, status FROM runs WHERE role = 'run'").fetchall()
        db.close()
        assert sorted(key for key, _ in stored) == sorted(keys)
        assert {status for _, status in stored} <= {"optimal", "feasible"}
        helpers = self.folder.names("helpers", ".json")
        assert len(helpers) == len(set(helpers)) > 0

    def close(self):
        """End the cluster."""
        for process in [*self.cluster, *([self.scheduler] if self.cluster else [])]:
            process.kill()
            process.wait()
