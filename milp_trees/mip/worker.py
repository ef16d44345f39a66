"""The child process in which solvers run: `python -m milp_trees.mip.worker FOLDER`.

All its files go into that folder. `milp_trees.mip.runner` is the parent's part.

A message is a length of eight bytes and a pickle. The child reads `("load", path, module, class)`
once, then any number of `("solve", number, job, began, exchanges)`, `("point", number, x)` and
`("stop", number)`; it answers `("ready",)`, `("event", number, Event)`, `("point", number, x)` and,
once for each solve, `("answer", number, Answer)` or `("error", number, sentence, traceback)`. Where
points are exchanged, the parent answers each with one, which is None if it has none to send.

One process holds one adapter: some solver libraries cannot be loaded together. The adapter may have
a method `warm_up()` that imports what solving needs; it runs before the clock of the first solve
starts.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import queue
import struct
import sys
import threading
import time
import traceback
from dataclasses import replace
from typing import IO, Any, NoReturn

from milp_trees.common import scratch
from milp_trees.common.errors import MilpTreesError
from milp_trees.mip.solver import Answer, Event, Job, Solver

_LENGTH = struct.Struct("<Q")


def write_frame(stream: IO[bytes], message: tuple[Any, ...]) -> None:
    """Send one message."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next message, still pickled; None at the end of the stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    size = _LENGTH.unpack(head)[0]
    data = stream.read(size)
    return data if len(data) == size else None


class Inbox(threading.Thread):
    """Reads the parent's messages, so that a stop takes effect while a solver is running."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self.stream = stream
        self.requests: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self.stopped = 0
        #: The points that the parent sent, and the number of the job that each is for.
        self.points: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()

    def run(self) -> None:
        while (data := read_frame(self.stream)) is not None:
            try:
                request = pickle.loads(data)
            except Exception as error:
                # The job holds an object whose module cannot be imported here (a separator, for
                # example); the error that the parent gets names the module.
                request = (
                    "broken",
                    f"A job cannot be read in the solver process: {type(error).__name__}: {error}",
                    traceback.format_exc(),
                )
            if request[0] == "stop":
                self.stopped = request[1]
            elif request[0] == "point":
                self.points.put((request[1], request[2]))
            else:
                self.requests.put(request)
        end_with_children()


_ending = threading.Lock()


def end_with_children() -> NoReturn:
    """End this process and all that it started, and remove their files; the parent has ended.

    Never returns, in any thread.
    """
    import psutil

    _ending.acquire()
    children = psutil.Process().children(recursive=True)
    for child in children:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    psutil.wait_procs(children, timeout=5)
    scratch.remove(sys.argv[1])
    os._exit(0)


def load_adapter(path: list[str], module: str, name: str) -> Solver:
    """Import the one adapter of this process from its own module; other adapters stay unloaded."""
    sys.path[:] = path
    # Jobs hold matrices; their module is loaded before the first job arrives.
    importlib.import_module("milp_trees.mip.linear.matrix")
    adapter: Any = importlib.import_module(module)
    for part in name.split("."):
        adapter = getattr(adapter, part)
    solver: Solver = adapter()
    warm_up = getattr(solver, "warm_up", None)
    if warm_up is not None:
        warm_up()
    return solver


class Outbox:
    """Sends messages from any thread in which a solver calls back."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.lock = threading.Lock()

    def send(self, *message: Any) -> None:
        with self.lock:
            write_frame(self.stream, message)


class Points:
    """The exchange of points of one job.

    At most one of its points is without an answer; the newest of the others waits for it.
    """

    def __init__(self, number: int, inbox: Inbox, outbox: Outbox) -> None:
        self.number, self.inbox, self.outbox = number, inbox, outbox
        self.waiting = False
        self.unsent: Any = None
        self.newest: Any = None

    def send(self, x: Any) -> None:
        self.unsent = x
        self._receive()

    def take(self) -> Any:
        self._receive()
        newest, self.newest = self.newest, None
        return newest

    def _receive(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                number, x = self.inbox.points.get_nowait()
                if number == self.number:
                    self.waiting = False
                    self.newest = self.newest if x is None else x
        if self.unsent is not None and not self.waiting:
            x, self.unsent, self.waiting = self.unsent, None, True
            self.outbox.send("point", self.number, x)


def serve(inbox: Inbox, outbox: Outbox) -> None:
    """Answer requests until the parent closes the stream."""
    solver: Solver | None = None
    number = 0
    while True:
        request = inbox.requests.get()
        try:
            if request[0] == "broken":
                outbox.send("error", number + 1, request[1], request[2])
                number += 1
            elif request[0] == "load":
                solver = load_adapter(*request[1:])
                outbox.send("ready")
            else:
                assert solver is not None
                number = request[1]
                job, began, exchanges = request[2:]
                if exchanges:
                    job = replace(job, exchange=Points(number, inbox, outbox))
                outbox.send("answer", number, solve(solver, number, job, began, inbox, outbox))
        except Exception as error:
            sentence = (
                str(error)
                if isinstance(error, MilpTreesError)
                else f"{type(error).__name__}: {error}"
            )
            outbox.send("error", number, sentence, traceback.format_exc())


def solve(
    solver: Solver, number: int, job: Job, began: float, inbox: Inbox, outbox: Outbox
) -> Answer:
    """Solve one job, with a message for every event."""
    # The time in which the job was sent here is part of the time limit.
    job = replace(job, limits=job.limits.after(time.perf_counter() - began))

    def emit(event: Event) -> None:
        outbox.send("event", number, event)

    return solver.solve(job, emit, lambda: inbox.stopped == number)


def main() -> None:
    # Solvers print to file descriptor 1 as they like; the messages go through a private copy of it.
    frames = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    inbox = Inbox(sys.stdin.buffer)
    inbox.start()
    try:
        serve(inbox, Outbox(frames))
    except OSError:  # the parent does not read any more
        end_with_children()


if __name__ == "__main__":
    main()
