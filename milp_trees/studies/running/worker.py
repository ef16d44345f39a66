"""A worker of a study: takes batches of runs, makes them, and writes a row for each.

As a process of its own it is `python -m milp_trees.studies.running.worker FOLDER --front NAME`, and executors
start it. It reads only the folder and the data that the plan names.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, MilpTreesError, UnknownName
from milp_trees.methods.callback import callback_scope
from milp_trees.mip.process import crashed_process
from milp_trees.mip.registry import registry
from milp_trees.results.result import Result, Status, TracePoint
from milp_trees.solving.attempt import failed, named_method
from milp_trees.studies.identity import Statement, run_key
from milp_trees.studies.one_run import CompletedRun, RunContext, RunRequest, origin
from milp_trees.studies.planning.plan import Plan, PlannedRun
from milp_trees.studies.running import cores
from milp_trees.studies.running.environment import environment, fingerprint
from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.gauges import Gauges
from milp_trees.studies.running.heartbeats import Heartbeats
from milp_trees.studies.running.leases import Acquired, Leases
from milp_trees.studies.running.live import Live
from milp_trees.studies.running.monitor import CANNOT, Monitor
from milp_trees.studies.running.rounds import Round
from milp_trees.studies.running.rounds import fingerprint as fingerprint_of
from milp_trees.studies.running.row_files import Appender
from milp_trees.studies.running.run_store import RunStore, crashed

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem

#: Limits that a row states.
LIMITS = ("time", "memory_mb", "threads", "nodes")
#: Problems that are kept for the next run.
KEPT = 3
#: Seconds between two looks for cores that are free.
LOOK = 0.5
#: A run that ignores its time limit is ended after so many times the limit, and so many seconds
#: more, since loading and compiling are no time of the run.
TIMES, MORE = 2.0, 300.0


class Worker:
    """Makes the runs of a study that are free.

    Parameters
    ----------
    folder : Folder
    front : str
        Name of the front end that started it; the worker ends when that ends.
    plan : Plan, optional
        The plan in the folder by default.
    name : str, optional
        Unique in the folder.
    most : int, optional
        Largest number of batches to take; without it the worker also helps with the batches of
        others.
    own_process : bool, default=True
        Whether the process may be pinned to cores, and ended when it uses too much memory.
    """

    def __init__(
        self,
        folder: Folder,
        front: str,
        *,
        plan: Plan | None = None,
        name: str = "",
        most: int | None = None,
        own_process: bool = True,
    ) -> None:
        found = Round.read(folder)
        if found is None:
            raise StudyError(f"There is no study in the folder {folder.path}.")
        self.folder, self.front, self.round, self.most = folder, front, found, most
        self.plan = plan or Plan.from_json(folder.read("plan.json"))
        self.own_process = own_process
        self.runs = {run.number: run for run in self.plan.runs}
        self.ending = self.ending_now = self.running = False
        self.begun: float | None = None
        self.limit: float | None = None
        self.current: tuple[str, int] | None = None
        self.job = ""
        self.cores: list[int] = []
        self.me = Heartbeats(folder, "worker", name, round=found.number, front=front)
        self.claims = Leases(folder, self.me)
        self.run_store = RunStore(folder, self.claims, found.retries, lambda: self.ending)
        self.rows = Appender(folder / f"rows/{self.me.name}.jsonl")
        self.live = Live(folder, self.me.name)
        self.gauges = Gauges()
        self._built: OrderedDict[tuple[str, int], tuple[Problem, Dataset | None]] = OrderedDict()
        self._benches: OrderedDict[tuple[Any, ...], RunContext] = OrderedDict()
        self._statements: dict[str, Statement] = {}
        self._settled: set[str] = set()
        self._rivals: dict[str, list[str]] = {}
        for run in self.plan.runs:
            self._rivals.setdefault(run.problem, []).append(run.method)

    # -- the whole work --------------------------------------------------------------------------

    def work(self) -> None:
        """Make runs until none is left for this worker, or it is told to end."""
        monitor = Monitor(self)
        monitor.orders()  # it may have started after its study was stopped
        monitor.start()
        try:
            if self.own_process and not self._own_cores():
                return
            self.plan.load_plugins()
            machine = environment()
            self.environment = fingerprint(machine)
            self.folder.make(f"environments/{self.environment}.json", machine)
            for run in self._order():
                if self.ending:
                    break
                self._try(run)
        finally:
            monitor.stop()
            self.run_store.give_up("")
            self.rows.close()
            self.live.remove()
            self.me.leave()

    def _own_cores(self) -> bool:
        """Wait until cores are free, and stay on them; False if the worker has to end before."""
        while not self.ending:
            mine = cores.claim(self.claims, self.round.cores)
            if mine is not None:
                self.cores = mine
                cores.pin(mine)
                return True
            time.sleep(LOOK)
        return False

    def _order(self) -> Iterator[PlannedRun]:
        """Runs that may be free: batches that are free, then what is left of all others."""
        taken = 0
        for job in self.round.jobs:
            if taken == self.most:
                return
            if self.claims.first(f"job-{job}"):
                taken += 1
                self.job = job
                yield from (self.runs[number] for number in self._batch(job))
        if self.most is not None and taken:
            return
        for job in reversed(self.round.jobs):
            self.job = job
            # The owner of the batch begins at its other end.
            yield from (self.runs[number] for number in reversed(self._batch(job)))

    def _batch(self, job: str) -> list[int]:
        return list(self.folder.read(f"jobs/{job}.json")["runs"])

    # -- one run ---------------------------------------------------------------------------------

    def _try(self, run: PlannedRun) -> None:
        """Make a run if it is free."""
        first = self.round.again.get(run.key, 1)
        if run.key in self._settled:
            return
        if isinstance(self.claims.looked_at(run.key, first), Acquired):
            self.limit = run.limits.time
            self.live.begin(**self._about(run, 0, "preparing"))
            bench = self._bench(run)
            self._check(run, bench)
            if not self._prepared(run, bench):
                return
            taken = self.claims.take(run.key, first)
            if isinstance(taken, Acquired):
                self._make(run, bench, taken, first)
        self._settled.add(run.key)

    def _prepared(self, run: PlannedRun, bench: RunContext) -> bool:
        """Make the helper runs of a run; False if the worker has to end.

        The run is not claimed yet: a helper run that crashes is no crash of this run.
        """
        self.running = True
        try:
            with callback_scope(lambda _: self.ending_now):
                bench.prepare(run.method)
        except (StudyError, KeyboardInterrupt):  # it was told to end while it waited, or at once
            self.ending = True
        finally:
            self.running = False
        return not self.ending

    def _bench(self, run: PlannedRun, permutation: int | None = None) -> RunContext:
        """Where runs on the problem of this run are made."""
        order = run.permutation if permutation is None else permutation
        limits = replace(run.limits, seed=0, log_file=None)
        name = (run.problem, order, limits, run.begin, run.reference)
        if name not in self._benches:
            problem, test = self._problem(run.problem, order)
            case = RunRequest(
                problem,
                limits,
                run.begin,
                run.reference,
                tuple(dict.fromkeys(self._rivals[run.problem])),
                test,
            )
            reference = self._bench(run, 0) if order else None
            self._benches[name] = RunContext(case, self.run_store, reference)
            while len(self._benches) > 4 * KEPT:
                self._benches.popitem(last=False)
        self._benches.move_to_end(name)
        return self._benches[name]

    def _check(self, run: PlannedRun, bench: RunContext) -> None:
        """Refuse a run that would be another one here: with other data or other software."""
        case = (bench.compared_with or bench).case
        if run.problem not in self._statements:
            self._statements[run.problem] = Statement.of(case.problem, case.test)
        stated, method = self._statements[run.problem], named_method(run.method, run.options)
        order = run.permutation
        if run.key != run_key(stated, method, run.limits, run.begin, permutation=order):
            raise StudyError(
                f"The data of {run.problem}, or the software of {run.method}, are not those of the plan on {self.me.about['host']}; give all machines the same files and versions, and start the study again."
            )

    def _problem(self, name: str, order: int) -> tuple[Problem, Dataset | None]:
        if (name, order) not in self._built:
            self._built[name, order] = self.plan.by_name[name].build(order)
            while len(self._built) > KEPT:
                self._built.popitem(last=False)
        self._built.move_to_end((name, order))
        return self._built[name, order]

    def _make(self, run: PlannedRun, bench: RunContext, taken: Acquired, first: int) -> None:
        """Make a claimed run and write its row; again if its solver crashes."""
        while True:
            begun = datetime.now(UTC)
            if len(taken.crashes) > self.round.retries:
                made = self._without_answer(run, bench, crashed(taken.crashes))
                # This claim is for writing the row only: the attempt before it was the last.
                return self._write(run, made, taken, begun, {}, taken.attempt - 1)
            self.current = (run.key, taken.attempt)
            self.live.begin(**self._about(run, taken.attempt, "running"))
            made, used = self._measured(run, bench)
            self.current = None
            if made.result.limit is not None and made.result.limit.by_user:
                self.claims.give_up(run.key, taken.attempt, "")
                return
            why = made.result.message if _solver_crashed(made.result) else ""
            if not why or len(taken.crashes) >= self.round.retries:
                return self._write(run, made, taken, begun, used)
            self.claims.give_up(run.key, taken.attempt, why)
            next_one = self.claims.take(run.key, first)
            if not isinstance(next_one, Acquired):
                return
            taken = next_one

    def _measured(self, run: PlannedRun, bench: RunContext) -> tuple[CompletedRun, dict[str, Any]]:
        def tell(point: TracePoint | None) -> bool:
            if point is None:
                self.gauges.begin()
                self.running, self.begun = True, time.monotonic()
            else:
                self.live.point(point)
            return self.ending_now

        try:
            made = bench.run(run.method, run.seed, run.options, tell, run.key)
        except (DataError, UnknownName) as why:
            made = self._without_answer(run, bench, str(why))
        finally:
            self.running, self.begun = False, None
        return made, self.gauges.end(not registry.is_engine(run.method))

    def _without_answer(self, run: PlannedRun, bench: RunContext, why: str) -> CompletedRun:
        problem = bench.case.problem
        method = named_method(run.method)
        result = failed(problem, method.label, Status.ERROR, why)
        return CompletedRun(result, run.key, run.seed, True, origin(method, problem))

    def _write(
        self,
        run: PlannedRun,
        made: CompletedRun,
        taken: Acquired,
        begun: datetime,
        used: dict[str, Any],
        attempt: int | None = None,
    ) -> None:
        """Write the row of a claim; `attempt` is what it states, if that is not the claim's."""
        planned = self.plan.by_name[run.problem]
        about = {
            "name": run.problem,
            "group": planned.group,
            "kind": planned.kind,
            "data": planned.data,
            "start": run.start,
            "options": dict(run.options),
            "limits": {name: getattr(run.limits, name) for name in LIMITS},
            "permutation": run.permutation,
            "number": run.number,
            "attempt": taken.attempt if attempt is None else attempt,
            "crashes": list(taken.crashes),
            "job": self.job,
            "worker": f"{self.me.about['host']}/{os.getpid()}",
            "environment": self.environment,
            "cores": self.cores,
            "started": begun.isoformat(timespec="milliseconds"),
            "origin": made.origin,
            **{name: used.get(name) for name in ("load", "peak_memory_mb", "cpu_seconds")},
        }
        row = {**made.row(), "run": about}
        entry = {"key": run.key, "attempt": taken.attempt, "log": made.result.log, "row": row}
        self.rows.append(entry)

    def _about(self, run: PlannedRun, attempt: int, state: str) -> dict[str, Any]:
        """What the live file says of a run."""
        return {
            "worker": self.me.name,
            "host": self.me.about["host"],
            "pid": self.me.about["pid"],
            "state": state,
            "run": run.number,
            "key": run.key,
            "name": run.problem,
            "method": run.method,
            "seed": run.seed,
            "permutation": run.permutation,
            "attempt": attempt,
            "time_limit": run.limits.time,
        }

    @property
    def overdue(self) -> bool:
        """Whether the run, or the helper run, in flight has ignored its time limit for long."""
        begun = self.begun or self.run_store.begun
        if begun is None or self.limit is None:
            return False
        return time.monotonic() - begun > TIMES * self.limit + MORE

    def give_up(self, why: str) -> None:
        """Say why the run in flight ends without a row; an empty sentence is no crash."""
        if self.current is not None:
            self.claims.give_up(*self.current, why)
        else:
            self.run_store.give_up(why)


def _solver_crashed(result: Result) -> bool:
    return result.status is Status.ERROR and crashed_process(result.message)


def main(given: list[str] | None = None) -> int:
    """Work in the folder that the command line names; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m milp_trees.studies.running.worker")
    parser.add_argument("folder")
    parser.add_argument("--front", required=True)
    parser.add_argument("--name", default="")
    parser.add_argument("--most", type=int)
    parser.add_argument("--round", type=int)
    parser.add_argument("--place", help="the folder of the SPEC on this machine")
    requested = parser.parse_args(given)
    folder = Folder(requested.folder)
    now = Round.read(folder)
    if now is None or (requested.round is not None and now.number != requested.round):
        return 0  # it started late, after its study was taken up by another front end
    try:
        plan = Plan.from_json(folder.read("plan.json"), requested.place)
        if fingerprint_of(plan) != now.plan:
            return 0  # the next front end has just written the plan of another study
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Worker(
                folder, requested.front, plan=plan, name=requested.name, most=requested.most
            ).work()
    except MilpTreesError as why:
        print(why, file=sys.stderr)
        return CANNOT
    return 0


if __name__ == "__main__":
    sys.exit(main())
