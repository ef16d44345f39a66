"""`slurm`: workers as the elements of Slurm arrays, through `submitit`; each takes one batch.

The option `cluster` is `slurm` by default; `local` and `debug` run the same elements on this
machine, where each takes all batches that are free. Further options are those of submitit, such as `slurm_partition` and
`timeout_min`.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.executors.base import Executor, Order
from milp_trees.studies.running.executors.processes import last_words, report_crash, start
from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.heartbeats import new_name
from milp_trees.studies.running.monitor import CANNOT

INSTALL = "pip install 'milp-trees[slurm]'"
#: Elements at a time if `jobs` is not given.
USUAL = 16
#: Minutes in which a batch has to end, if `timeout_min` is not given.
MINUTES = 24 * 60


class Slurm(Executor):
    """Arrays of elements; `jobs` of them run at a time."""

    takes_options = True

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        try:
            import submitit
        except ImportError as missing:
            raise StudyError(
                f"The executor slurm needs submitit, which is not installed; {INSTALL}."
            ) from missing
        options = {"timeout_min": MINUTES, "cpus_per_task": order.cores, **order.options}
        self.cluster = options.pop("cluster", "slurm")
        self.detached = self.cluster == "slurm"
        if self.detached:
            options.setdefault("slurm_array_parallelism", self.slots)
        try:
            self._submitter = submitit.AutoExecutor(
                folder=order.folder / "slurm", cluster=self.cluster
            )
            self._submitter.update_parameters(name="milp-trees", **options)
        except (RuntimeError, ValueError, NameError, TypeError, AssertionError) as error:
            message = " ".join(str(error).split())
            raise StudyError(
                f"submitit cannot work with cluster={self.cluster!r} and {options}: {message}"
            ) from error
        self._elements: list[Any] = []
        self._failure: str | None = None

    @property
    def slots(self) -> int:
        """Elements at a time."""
        return self.order.jobs or (USUAL if self.detached else 1)

    def start(self, workers: int) -> None:
        order = {**vars(self.order), "folder": str(self.order.folder.path)}
        most = 1 if self.detached else None
        # The queue of Slurm holds all that is left; elsewhere there is no queue.
        number = 4 * workers if self.detached else workers
        try:
            self._elements += self._submitter.map_array(work, [order] * number, [most] * number)
        except (subprocess.CalledProcessError, FileNotFoundError, RuntimeError) as error:
            raise StudyError(f"Slurm refused the jobs: {' '.join(str(error).split())}") from error

    def alive(self) -> int:
        for element in list(self._elements):
            if element.done():
                self._elements.remove(element)
                self._ended(element)
        return min(len(self._elements), self.slots)

    def _ended(self, element: Any) -> None:
        try:
            self._failure = element.result() or self._failure
        except Exception:  # cancelled, or killed: what it ran is claimed again
            return

    def failure(self) -> str | None:
        return self._failure

    def kill(self) -> None:
        for element in self._elements:
            element.cancel()


def work(order: dict[str, Any], most: int | None) -> str | None:
    """Run a worker for so many batches, until it ends; a sentence if it could not work."""
    here = Folder(Path(order["folder"]))
    name = new_name()
    process = start(Order(**{**order, "folder": here}), name, most)
    code = process.wait()
    report_crash(here, name, code)
    if code == 0:
        here.remove(f"logs/{name}.txt")
    return last_words(here / f"logs/{name}.txt") if code == CANNOT else None
