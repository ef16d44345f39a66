"""Solver processes, seen from the parent: `Worker` is one process, `Pool` keeps idle ones."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from typing import Any

import numpy as np
import psutil

from milp_trees.common import scratch
from milp_trees.common.registering import plugins
from milp_trees.mip.solver import Job
from milp_trees.mip.worker import read_frame, write_frame

#: Words of a result whose solver's process ended by itself, and of one that was killed.
CRASHED, KILLED = "crashed: its process", "process was ended by signal"


class Worker:
    """One solver process, seen from the parent."""

    def __init__(self, solver_name: str) -> None:
        cls = plugins.get("solvers", solver_name)
        self.solver_name = solver_name
        self.ready = False
        self.number = 0
        self.stderr = tempfile.TemporaryFile("a+b")  # noqa: SIM115 (it lives as long as the process)
        # All temporary files of a solver go into this folder. It still exists after the process is
        # killed, and is removed then.
        self.folder = scratch.make()
        environment = {
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self.folder)),
        }
        # A session of its own: Ctrl-C in a terminal reaches the parent only, and the parent then
        # asks the solver for its incumbent.
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "milp_trees.mip.worker", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            start_new_session=True,
            env={**os.environ, **environment},
        )
        self.inbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        self._send("load", sys.path, cls.__module__, cls.__qualname__)

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        try:
            while (data := read_frame(stream)) is not None:
                self.inbox.put(pickle.loads(data))
        finally:
            self.inbox.put(("ended",))

    def _send(self, *message: Any) -> None:
        assert self.process.stdin is not None
        # A process that has just died is noticed later, when its stream of messages ends.
        with contextlib.suppress(BrokenPipeError, OSError):
            write_frame(self.process.stdin, message)

    def begin(self, job: Job, began: float, exchanges: bool = False) -> None:
        """Hand over a job whose time counts from `began`; points may be exchanged meanwhile.

        `began` is a reading of the system's clock, which is the same in both processes.
        """
        self.stderr.truncate(0)
        self.number += 1
        self._send("solve", self.number, job, began, exchanges)

    def send_point(self, x: np.ndarray | None) -> None:
        """Answer a point of the running job; with None if there is no better one."""
        self._send("point", self.number, x)

    def stop(self) -> None:
        self._send("stop", self.number)

    def receive(self, timeout: float) -> tuple[Any, ...] | None:
        try:
            return self.inbox.get(timeout=timeout)
        except queue.Empty:
            return None

    def memory_mb(self) -> float:
        """Resident memory, in MB, of the process and of all processes that it started."""
        total = 0
        for process in self._family():
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                total += process.memory_info().rss
        return total / 2**20

    def _family(self) -> list[psutil.Process]:
        try:
            own = psutil.Process(self.process.pid)
            return [own, *own.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def kill(self) -> None:
        """End the process and all processes that it started."""
        for process in self._family():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.kill()
        self.process.wait()
        self.close()
        scratch.remove(self.folder)

    def close(self) -> None:
        # stdout is not closed here: the listening thread may still be reading the end of it.
        with contextlib.suppress(BrokenPipeError, OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()
        self.stderr.close()

    def last_words(self) -> str:
        """How the process ended, with the last lines of what it printed."""
        code = self.process.wait(timeout=10)
        if code < 0:
            how = f"was ended by signal {-code} ({signal.Signals(-code).name})"
        else:
            how = f"ended with exit code {code}"
        self.stderr.seek(0)
        lines = self.stderr.read().decode(errors="replace").strip().splitlines()[-5:]
        return how + (f"; its last words: {' | '.join(lines)}" if lines else "")


def crashed_process(message: str) -> bool:
    """Whether the message of a result says that the process of its solver crashed."""
    return CRASHED in message or KILLED in message


class Pool:
    """At most one idle process for each solver.

    Processes are kept because importing a solver library takes longer than solving a small model.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.idle: dict[str, Worker] = {}

    def take(self, solver_name: str) -> Worker:
        with self.lock:
            worker = self.idle.pop(solver_name, None)
        if worker is not None and worker.process.poll() is not None:
            worker.kill()
            worker = None
        return worker or Worker(solver_name)

    def give_back(self, worker: Worker) -> None:
        with self.lock:
            spare = self.idle.get(worker.solver_name)
            if spare is None:
                self.idle[worker.solver_name] = worker
        if spare is not None:
            worker.kill()

    def close(self) -> None:
        with self.lock:
            workers, self.idle = list(self.idle.values()), {}
        for worker in workers:
            worker.kill()
