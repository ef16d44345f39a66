"""The front end of a study: hands out what is left, starts workers, and merges their rows.

One front end leads; only it opens the store. Others that are started with the same SPEC and the
same store join: they start workers where they are, and take the lead when the leader has ended.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from milp_trees.methods.callback import is_true
from milp_trees.studies.planning.plan import Plan
from milp_trees.studies.running.batches import batches
from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.executors import Executor, Order, executor
from milp_trees.studies.running.folder import Folder, folder_of
from milp_trees.studies.running.heartbeats import Heartbeats, HeartbeatThread
from milp_trees.studies.running.interrupts import Interrupts
from milp_trees.studies.running.leases import Acquired, Finished, Held, Leases
from milp_trees.studies.running.merging import Merging
from milp_trees.studies.running.rounds import Round, fingerprint
from milp_trees.studies.study import Study
from milp_trees.studies.verifiers import credit_derivers

#: Seconds between two looks at the files of the workers: at first and while rows come, and at most.
QUICK, SLOW = 0.05, 0.5
#: Seconds in which workers end that have nothing to do.
ENDING = 5.0
#: Batches for each worker.
EACH = 4
#: Workers in a row that may end without any row before the study is given up.
HOPELESS = 20


@dataclass(frozen=True)
class News:
    """What a front end tells its `progress` function, about twice a second.

    Parameters
    ----------
    folder : Folder
        With the live files of the workers.
    total, done : int
        Runs of the plan, and those that are finished, also earlier.
    rows : list of dict
        Rows that were finished since the last news.
    workers : int
        Workers of this front end that are alive.
    stopping : int
        How often the user asked for the end.
    """

    folder: Folder
    total: int
    done: int
    rows: list[dict[str, Any]]
    workers: int
    stopping: int = 0


@dataclass(frozen=True)
class Settings:
    """How a study is executed; see `run_plan`."""

    executor: str = "processes"
    jobs: int | None = None
    address: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    retries: int = 2
    memory_mb: float | None = None
    progress: Callable[[News], object] | None = None


def run_plan(
    plan: Plan,
    store: str | Path | None = None,
    *,
    executor: str = "processes",
    jobs: int | None = None,
    address: str | None = None,
    options: Mapping[str, Any] | None = None,
    retries: int = 2,
    memory_mb: float | None = None,
    progress: Callable[[News], object] | None = None,
) -> Study:
    """Make all runs of a plan that the store does not hold yet."""
    settings = Settings(executor, jobs, address, options or {}, retries, memory_mb, progress)
    with folder_of(store) as folder:
        while True:
            # One name for each role: workers of a front end that joined were told to end, by its
            # name, and those that it starts once it leads must not hear that.
            with _there(folder) as me:
                front = Coordinator(plan, store, folder, me, settings)
                study = front.lead()
                if study is None:  # a study without rows is an answer too
                    study = front.join()
                if study is not None:
                    return study


@contextlib.contextmanager
def _there(folder: Folder) -> Iterator[Heartbeats]:
    """A front end that says it is there until the block ends."""
    me = Heartbeats(folder, "front")
    heart = HeartbeatThread(me)
    heart.start()
    try:
        yield me
    finally:
        heart.stop()
        me.leave()


class Coordinator:
    """One front end of a study; see `run_plan` for the parameters."""

    def __init__(
        self,
        plan: Plan,
        store: str | Path | None,
        folder: Folder,
        me: Heartbeats,
        settings: Settings,
    ) -> None:
        self.plan, self.store, self.folder, self.me = plan, store, folder, me
        self.settings = settings
        self.claims = Leases(folder, me)
        self.cores = max((run.limits.threads for run in plan.runs), default=1)
        self.round = Round(0, me.name, fingerprint(plan))
        self.executor: Executor | None = None
        self._starts = 0
        self._failed: set[str] = set()  # runs whose last row in this round is an error

    # -- the two roles ---------------------------------------------------------------------------

    def lead(self) -> Study | None:
        """Lead the study to its end; None if another front end leads."""
        taken = self.claims.take("front")
        if not isinstance(taken, Acquired):
            return None
        study = Study(self.store)
        merging = Merging(self.folder, study.store)
        merging.step()
        merging.share_helpers()
        self._begin(taken.attempt, merging)
        study.interrupted = self._followed(merging, lambda: True)
        self._notes(study)
        return self._shown(study)

    def join(self) -> Study | None:
        """Help the front end that leads; None if it has ended before the study."""
        leader = self._round_of_leader()
        if leader is None:
            return None
        if self.round.plan != fingerprint(self.plan):
            raise StudyError(
                f"Another study is being made in {self.folder.path}, or the same with other data or software; wait for its end, or name another store."
            )
        study = Study()
        merging = Merging(self.folder, study.store)
        self.executor = self._executor()
        study.interrupted = self._followed(merging, lambda: self.me.sees(leader))
        self._merged(merging)  # what was finished just before the leader ended
        # Errors are made again by the next start of the study, and not by this one.
        done = merging.final | self._failed
        left = any(run.key not in done for run in self._todo())
        return None if left and not study.interrupted else self._shown(study)

    def _begin(self, number: int, merging: Merging) -> None:
        """Write the plan, the batches of what is left, and the round."""
        todo = [run for run in self.plan.runs if run.key not in merging.final]
        again = {}
        for run in todo:
            found = self.claims.looked_at(run.key)
            if isinstance(found, Finished):  # an error: it is made again
                again[run.key] = found.attempt + 1
        self.round = Round(
            number,
            self.me.name,
            self.round.plan,
            retries=self.settings.retries,
            memory_mb=self.settings.memory_mb,
            cores=self.cores,
            again=again,
        )
        self.executor = self._executor()
        if self.settings.memory_mb is not None and not self.executor.own_process:
            raise StudyError(
                "A cap on memory needs processes of their own; take the executor processes, or none."
            )
        self.folder.write("plan.json", self.plan.to_json())
        jobs = []
        for i, batch in enumerate(batches(todo, EACH * self.executor.slots)):
            jobs.append(f"{number}-{i:04d}")
            self.folder.write(f"jobs/{jobs[-1]}.json", {"runs": batch}, durable=False)
        self.round = Round(
            **{**vars(self.round), "jobs": tuple(jobs), "detached": self.executor.detached}
        )
        self.round.write(self.folder)

    def _executor(self) -> Executor:
        requested = self.settings
        order = Order(
            self.folder,
            self.me.name,
            self.plan.folder,
            requested.jobs,
            self.cores,
            requested.address,
            requested.options,
            self.round.number,
        )
        return executor(requested.executor, order)

    def _round_of_leader(self) -> str | None:
        """Wait for the round of the front end that leads, and return its name; None if it ended."""
        while True:
            found = self.claims.looked_at("front")
            if not isinstance(found, Held):
                return None
            now = Round.read(self.folder)
            if now is not None and now.front == found.worker:
                self.round = now
                return found.worker
            time.sleep(QUICK)

    # -- following the workers -------------------------------------------------------------------

    def _followed(self, merging: Merging, led: Callable[[], bool]) -> bool:
        """Follow the workers to the end, and leave none behind."""
        assert self.executor is not None
        try:
            return self._follow(merging, led)
        finally:
            self._end_workers(1)
            until = time.monotonic() + ENDING
            while self.executor.alive() and time.monotonic() < until:
                time.sleep(QUICK)
            self.executor.close()

    def _follow(self, merging: Merging, led: Callable[[], bool]) -> bool:
        """Start workers and merge rows until all is done; whether the user ended it before."""
        assert self.executor is not None
        wait, todo = QUICK, self._todo()
        keys = {run.key for run in todo}
        before = len(self.plan.runs) - len(todo)
        with Interrupts() as interrupts:
            while True:
                rows = self._merged(merging)
                self._starts = 0 if rows else self._starts
                done = keys & (merging.final | self._failed)
                alive = self.executor.alive()
                now = before + len(done)
                news = News(self.folder, len(self.plan.runs), now, rows, alive, interrupts.count)
                if self._tell(news):
                    interrupts.count = max(1, interrupts.count)
                if len(done) == len(keys) or not led():
                    return False
                if interrupts.count:
                    self._end_workers(interrupts.count)
                    if not alive:
                        return True
                elif alive < self.executor.slots:
                    self._start(todo, done, alive)
                wait = QUICK if rows else min(wait * 1.5, SLOW)
                interrupts.wait(wait)

    def _merged(self, merging: Merging) -> list[dict[str, Any]]:
        """The new rows; errors of earlier rounds do not count, since they are made again."""
        rows, again = merging.step(), self.round.again
        self._failed |= {r["key"] for r in rows if r["run"]["attempt"] >= again.get(r["key"], 1)}
        return rows

    def _todo(self) -> list[Any]:
        numbers = {
            n for job in self.round.jobs for n in self.folder.read(f"jobs/{job}.json")["runs"]
        }
        return [run for run in self.plan.runs if run.number in numbers]

    def _start(self, todo: list[Any], done: set[str], alive: int) -> None:
        """Start workers where runs are free."""
        assert self.executor is not None
        why = self.executor.failure()
        if why is not None and not alive:
            raise StudyError(f"The study stopped, finished rows are safe: {why}")
        free = 0
        for run in todo:
            if run.key not in done and isinstance(
                self.claims.looked_at(run.key, self.round.again.get(run.key, 1)), Acquired
            ):
                free += 1
            if free > self.executor.slots:
                break
        wanted = min(self.executor.slots - alive, free)
        if wanted > 0 and why is None:
            self._starts += wanted
            if self._starts > HOPELESS + self.executor.slots:
                raise StudyError(
                    f"The study stopped: {self._starts} workers ended one after the other without a row; what they printed is in {self.folder / 'logs'}."
                )
            self.executor.start(wanted)

    def _end_workers(self, count: int) -> None:
        assert self.executor is not None
        self.folder.write(f"stops/{self.me.name}.json", {"now": count > 1})
        if count > 1:
            self.executor.kill()

    def _tell(self, news: News) -> bool:
        """Whether the user's function wants the end."""
        return self.settings.progress is not None and is_true(self.settings.progress(news))

    # -- the answer ------------------------------------------------------------------------------

    def _notes(self, study: Study) -> None:
        from milp_trees.studies.running.environment import environment

        here = environment()
        notes = {"title": self.plan.title, "spec": self.plan.spec_text}
        notes |= {"command": " ".join(here["command"]), "commit": here["commit"] or ""}
        notes |= {"version": here["versions"].get("milp-trees", "")}
        study.store.merge([], notes)

    def _shown(self, study: Study) -> Study:
        """The study with the rows of the plan, in its order."""
        found = {row["key"]: row for row in study.store.rows()}
        study.rows = [found[run.key] for run in self.plan.runs if run.key in found]
        credit_derivers(study.rows)
        return study
