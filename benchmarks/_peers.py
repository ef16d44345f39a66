"""Engines in processes of their own: started, asked, timed out, buried. What a peer does wrong is a
row that says so.

A peer is looked for in the interpreter named by `--peer-python NAME=PATH`, else by the environment
variable `MILP_TREES_PEER_<NAME>` (upper case, other characters as `_`: `MILP_TREES_PEER_PYDL8_5`),
else in this one. Every answer is scored again here, on the tree that came back. Needs Linux
(`/proc`).
"""

from __future__ import annotations

import json
import os
import re
import selectors
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import _jobs

OURS, SORTED, FRONT = "milp-trees", "milp-trees, sorted columns", "milp-trees, front"
WORKER = Path(__file__).parent / "_worker.py"
START_SECONDS = 120
#: What a first call may take besides its limit: kernels are compiled in it.
COMPILE_SECONDS = 300
#: One thread each, whatever library is underneath.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def add_arguments(parser: Any) -> None:
    parser.add_argument(
        "--peers", default="pystreed,pydl8.5,gosdt", help="comma-separated; empty for none"
    )
    parser.add_argument(
        "--peer-python",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="interpreter in which a peer is installed",
    )


def pythons(args: Any) -> dict[str, str]:
    """Interpreter of every engine that was asked for, ours first."""
    given = dict(item.split("=", 1) for item in args.peer_python)
    names = [OURS, *filter(None, args.peers.split(","))]
    return {
        n: given.get(n)
        or os.environ.get("MILP_TREES_PEER_" + re.sub(r"\W", "_", n).upper())
        or sys.executable
        for n in names
    }


class Worker:
    """One engine in one process."""

    def __init__(self, engine: str, python: str) -> None:
        self.engine = engine
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed in `close`)
        self.process = subprocess.Popen(
            [python, str(WORKER), engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env={**os.environ, **ONE_THREAD},
        )
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)
        self.hello = self.read(START_SECONDS)

    def read(self, seconds: float, check: Any = None) -> dict[str, Any]:
        """The next answer, or why there is none.

        `check` is called ten times a second meanwhile; what it raises ends the waiting.
        """
        until = time.perf_counter() + seconds
        while not (ready := self.selector.select(0.1 if check else seconds)):
            if time.perf_counter() >= until:
                break
            check()
        if not ready:
            self.close()
            return {"status": "killed", "message": f"no answer after {seconds:.0f} s"}
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        code = self.process.wait()
        self.log.seek(0)
        last = (self.log.read().strip().splitlines() or [""])[-1]
        return {
            "status": "crashed",
            "message": f"{f'signal {-code}' if code < 0 else f'exit code {code}'} {last[:200]}".strip(),
        }

    def ask(
        self, job: _jobs.Job, arrays: str, warm: bool, most: int = 5, check: Any = None
    ) -> dict[str, Any]:
        if self.process.poll() is not None or self.hello["status"] != "ready":
            return self.hello
        try:
            request = {"settings": job.settings(), "arrays": arrays, "warm": warm, "most": most}
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has died: reading says how
        return self.read(job.time_limit * 1.5 + (COMPILE_SECONDS if warm else 60), check)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.selector.close()
        for stream in (self.process.stdin, self.process.stdout, self.log):
            stream.close()


def interleaved(
    job: _jobs.Job,
    engines: dict[str, str],
    repeat: int = 3,
    long: float = 30.0,
    warm: bool = True,
) -> dict[str, dict[str, Any]]:
    """Every engine on one job, taking turns; medians over the turns.

    With `warm`, each runs on a part of the rows first, so that everything is compiled and loaded.

    A turn of more than `long` seconds, or one without an answer, is the engine's last.
    """
    stated = _jobs.problem(job.settings(), job.arrays())
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "job.npz")
        job.write(path)
        workers = {name: Worker(name, python) for name, python in engines.items()}
        turns: dict[str, list[dict[str, Any]]] = {name: [] for name in engines}
        for turn in range(repeat):
            for name, worker in workers.items():
                before = turns[name]
                if not before or (before[-1]["status"] == "done" and before[-1]["call"][0] < long):
                    before.append(worker.ask(job, path, warm=warm and turn == 0))
        for worker in workers.values():
            worker.close()
    return {
        name: row(stated, turns[name], workers[name].hello.get("version", "")) for name in engines
    }


def row(stated: Any, turns: list[dict[str, Any]], version: str) -> dict[str, Any]:
    """The columns of one engine on one job: the value recomputed from its tree, medians of times,
    largest memory.
    """
    last = next((t for t in reversed(turns) if t["status"] != "done"), turns[-1])
    if "call" not in last:
        return {"status": last["status"], "version": version, "message": last.get("message", "")}
    status, message, value, leaves = ("optimal" if last["optimal"] else "stopped"), "", None, None
    if last["tree"] is not None:
        tree = _jobs.tree(last["tree"], stated)
        broken = stated.violations(tree)
        value, leaves = stated.value(tree).number, tree.n_leaves
        if broken:
            status, message = "infeasible", broken[0]
    median = {
        k: statistics.median([x for t in turns for x in t[k]]) for k in ("call", "cpu", "engine")
    }
    return {
        "status": status,
        "value": value,
        "bound": last.get("bound"),
        "leaves": leaves,
        **{k: round(v, 6) for k, v in median.items()},
        "peak_mb": round(max(t["peak_mb"] for t in turns), 1),
        "start_mb": round(turns[0]["start_mb"], 1),
        "runs": sum(len(t["call"]) for t in turns),
        "load": round(os.getloadavg()[0], 1),
        "version": version,
        "by": last.get("by", ""),
        "message": message,
    }
