"""`serial`: one run after the other in this process, in a thread beside the front end."""

from __future__ import annotations

import threading

from milp_trees.common.errors import MilpTreesError
from milp_trees.studies.planning.plan import Plan
from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.executors.base import Executor, Order
from milp_trees.studies.running.worker import Worker


class Serial(Executor):
    """One worker in this process; a crash of a run ends the front end too."""

    own_process = False

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        if order.jobs not in (None, 1):
            raise StudyError(
                f"The executor serial makes one run at a time; got jobs={order.jobs}. Take processes."
            )
        self._thread: threading.Thread | None = None
        self._worker: Worker | None = None
        self._failure: str | None = None

    def start(self, workers: int) -> None:
        order = self.order
        plan = Plan.from_json(order.folder.read("plan.json"), order.place)
        worker = Worker(order.folder, order.front, plan=plan, own_process=False)
        self._worker = worker
        self._thread = threading.Thread(target=self._work, args=(worker,), daemon=True)
        self._thread.start()

    def _work(self, worker: Worker) -> None:
        try:
            worker.work()
        except MilpTreesError as why:
            self._failure = str(why)
        except Exception as error:  # raised in the front end's thread, as a sentence
            self._failure = f"{type(error).__name__}: {error}"

    def alive(self) -> int:
        return int(self._thread is not None and self._thread.is_alive())

    def kill(self) -> None:
        """The run ends where its method next tells how far it is."""
        if self._worker is not None:
            self._worker.ending = self._worker.ending_now = True

    def failure(self) -> str | None:
        return self._failure
