"""`dask`: workers on a Dask cluster by its address; the folder must be visible to its machines."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from milp_trees.common.errors import SolverUnavailable
from milp_trees.methods.cluster import connect
from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.executors.base import Executor, Order
from milp_trees.studies.running.executors.processes import last_words, report_crash, start
from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.heartbeats import new_name
from milp_trees.studies.running.monitor import CANNOT

#: Seconds between two looks at whether a worker has ended.
LOOK = 0.2

#: Seconds in which the first worker of a cluster may still arrive.
ARRIVAL = 10


class Dask(Executor):
    """One task of the cluster for each worker; a worker is a process beside the cluster's own."""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        if order.address is None or ":" not in order.address:
            raise StudyError(
                f"The executor dask needs the address of a scheduler, such as tcp://host:8786; got {order.address!r}."
            )
        try:
            self._client = connect(order.address, "A study on a cluster")
        except SolverUnavailable as why:
            raise StudyError(str(why)) from why
        self._futures: list[Any] = []
        self._failure: str | None = None
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    @property
    def slots(self) -> int:
        """Tasks at a time: what the cluster has now, and at most `jobs`."""
        there = self._there()
        return max(1, min(there, self.order.jobs or there))

    def _there(self) -> int:
        """Tasks that the cluster can run at a time."""
        with self._answering():
            return sum(self._client.nthreads().values())

    @contextlib.contextmanager
    def _answering(self) -> Iterator[None]:
        """Turn the silence of the scheduler into an error that says what to do."""
        try:
            yield
        except (OSError, TimeoutError) as lost:
            raise StudyError(
                f"The Dask scheduler at {self.order.address} does not answer any more; finished rows are safe. Start it again, and the study with the same command."
            ) from lost

    def _check(self) -> None:
        """Refuse a cluster without workers, or with one that does not see the folder."""
        path = self.order.folder.path
        seen = self._seen(str(path / f"workers/{self.order.front}.json"))
        if not seen:
            raise StudyError(
                f"The Dask cluster at {self.order.address} has no workers; start some with: dask worker {self.order.address}."
            )
        blind = sorted(address for address, found in seen.items() if not found)
        if blind:
            raise StudyError(
                f"The Dask worker {blind[0]} does not see the folder {path}; put the store on a file system that all workers share."
            )

    def _seen(self, file: str) -> dict[str, bool]:
        """Whether each worker sees a file, by the address of the worker.

        Workers may start at this moment, and some may end while they are asked; those that have
        ended are left out, and if none is left, the next ones are waited for.
        """
        until = time.monotonic() + ARRIVAL
        while True:
            left = max(0.1, until - time.monotonic())
            with self._answering(), contextlib.suppress(TimeoutError):
                self._client.wait_for_workers(1, timeout=left)
            with self._answering():
                answers = self._client.run(sees, file, on_error="return")
            seen = {
                who: message for who, message in answers.items() if not isinstance(message, OSError)
            }
            for who, message in seen.items():
                if isinstance(message, Exception):
                    raise StudyError(
                        f"The Dask worker {who} cannot look into the folder ({type(message).__name__}: {message}); install the same milp-trees there."
                    ) from message
            if seen or time.monotonic() > until:
                return seen

    def start(self, workers: int) -> None:
        for _ in range(workers):
            future = self._client.submit(
                work, str(self.order.folder.path), vars(self.order), pure=False, retries=0
            )
            self._futures.append(future)

    def alive(self) -> int:
        for future in list(self._futures):
            if not future.done():
                continue
            self._futures.remove(future)
            if future.status == "finished":
                self._failure = future.result() or self._failure
        return len(self._futures)

    def failure(self) -> str | None:
        return self._failure

    def kill(self) -> None:
        """The workers end themselves by the order in the folder; tasks that wait are dropped."""
        self._client.cancel([f for f in self._futures if not f.done()])

    def close(self) -> None:
        self._client.close()


def sees(path: str) -> bool:
    """Whether the machine of a Dask worker sees a file; a folder that it may not read is none."""
    import os

    return os.path.exists(path)


def work(folder: str, order: dict[str, Any]) -> str | None:
    """Run a worker of a study beside a Dask worker, until it ends."""
    here = Folder(folder)
    name = new_name()
    process = start(Order(**{**order, "folder": here}), name)
    while process.poll() is None:
        time.sleep(LOOK)
    code = process.returncode
    report_crash(here, name, code)
    if code == 0:
        here.remove(f"logs/{name}.txt")
    return last_words(here / f"logs/{name}.txt") if code == CANNOT else None
