"""Runs of a compiled search: worker threads, limits, growing tables, incumbents. Loads numba.

A run raises the depth, or the number of allowed discrepancies, step by step where that helps, and
keeps the lower bound of the root.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from milp_trees.engines.dynamic.arrays import (
    INFINITY,
    UNLIMITED,
    Instance,
)
from milp_trees.engines.dynamic.buffers import most_levels, stack_of, table_of, work_of, writer_of
from milp_trees.engines.dynamic.contexts import Context
from milp_trees.engines.dynamic.descent import DONE, IMPROVED, NEEDS_ROOM, run
from milp_trees.engines.dynamic.entering import ENTER
from milp_trees.engines.dynamic.extract import extract
from milp_trees.engines.dynamic.layouts import FIRST_COUNTER, NAMES
from milp_trees.engines.dynamic.memory import move
from milp_trees.engines.dynamic.shallow import single_leaf, up_to_two
from milp_trees.engines.dynamic.switches import Switches
from milp_trees.limits import Limits
from milp_trees.methods.watch import Watch
from milp_trees.results.result import Limit

#: Seconds between looks at the clock and the keyboard.
_TICK = 0.05

#: A search that surely takes less, in seconds, needs no thread of its own to stay open to Ctrl-C.
_INLINE = 0.02

#: Reports (value, tests in preorder, lower bound or None).
Report = Callable[[int, np.ndarray | None, int], None]


@dataclass
class Outcome:
    """What a run found: search values (`Instance.to_Z`), a tree, why it stopped, and counters.

    The tree is given by its tests in preorder.
    """

    value: int = INFINITY
    tests: np.ndarray | None = None
    bound: int = 0
    limit: Limit | None = None
    counters: dict[str, int] = field(default_factory=dict)


class Search:
    """One instance, its tables and its threads.

    Parameters
    ----------
    order : {"depth-first", "best-first", "limited-discrepancy"}
    threads : int
    memory : int, optional
        Most bytes of the table.
    """

    def __init__(
        self,
        inst: Instance,
        switches: Switches | None = None,
        order: str = "depth-first",
        threads: int = 1,
        memory: int = 2**30,
        report: Report | None = None,
    ) -> None:
        self.inst, self.order, self.threads, self.report = inst, order, threads, report
        chosen = switches or Switches()
        self.works: list[Context] = [work_of(inst, chosen, inst.depth) for _ in range(threads)]
        self.most_entries = max(2**12, memory // 64)
        self.table: Context = table_of(2**18 if threads > 1 else 8 * int(inst.data.n_tests))
        self.outcome = Outcome()
        self._board = {
            "stop": np.zeros(1, dtype=np.int64),
            "shared_best": np.full(1, INFINITY, dtype=np.int64),
        }
        self._lock = threading.Lock()
        #: Bounds of the root tests, once they hold for the whole problem; the bound last reported.
        self._open: np.ndarray | None = None
        self._told = 0
        self._news: queue.SimpleQueue[tuple[int, np.ndarray | None, int]] = queue.SimpleQueue()

    # -- the run ---------------------------------------------------------------------------------------------

    def solve(self, upper: int = INFINITY, watch: Watch | None = None) -> Outcome:
        """The optimum, or the best so far; only trees that cost less than `upper` are found.

        The watch is asked every few hundredths of a second.
        """
        watch = watch or Watch(Limits(time=None))
        self._deadline = watch.deadline
        if self._seconds() < _INLINE:
            limit = None
            try:
                self._search(upper)
                limit = (watch.deadline.limit or Limit.TIME) if self._board["stop"][0] else None
                self._tell()
            except KeyboardInterrupt:
                limit = Limit.INTERRUPTED
            return self._counted(limit)
        done = threading.Event()
        failures: list[BaseException] = []

        def work() -> None:
            try:
                self._search(upper)
            except BaseException as error:  # handed to the caller's thread
                failures.append(error)
            finally:
                done.set()

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        try:
            limit = self._watch(done, watch)
        finally:  # also where a progress callback fails
            if not done.is_set():
                self._board["stop"][0] = 1
                done.wait()
        if failures:
            raise failures[0]
        return self._counted(limit)

    def _seconds(self) -> float:
        """A generous estimate of the time for depths up to three; infinite for deeper trees.

        Up to that depth every root test is one kernel call.
        """
        data = self.inst.data
        F, U = float(data.n_tests), float(data.n_values + data.n_masses)
        rows = self.inst.n_rows / 5 if data.by_row else self.inst.n_rows / 32
        kernel = F * F * (rows + 2) * U * 1e-10
        return (
            float((1 + F * (self.inst.depth == 3)) * kernel)
            if self.inst.depth <= 3 and self.threads == 1
            else np.inf
        )

    def _counted(self, limit: Limit | None) -> Outcome:
        out = self.outcome
        out.limit = limit
        counted = [w.table[FIRST_COUNTER : FIRST_COUNTER + len(NAMES)] for w in self.works]
        out.counters = dict(zip(NAMES, np.sum(counted, axis=0).tolist(), strict=True))
        out.counters["entries"] = int(self.table.used[0])
        return out

    def _watch(self, done: threading.Event, watch: Watch) -> Limit | None:
        """Wait for the search; at the deadline or on Ctrl-C ask it to stop."""
        limit: Limit | None = None
        while True:
            try:
                wait = watch.deadline.wait(_TICK)
                finished = done.wait(wait)
                self._tell()
                if finished:
                    stopped = limit or watch.deadline.limit or Limit.TIME
                    return stopped if self._board["stop"][0] else None
                if not limit and (limit := watch.over()):
                    self._board["stop"][0] = 1
                elif self._board["stop"][0]:
                    done.wait(_TICK)
            except KeyboardInterrupt:
                limit = Limit.INTERRUPTED
                self._board["stop"][0] = 1

    def _tell(self) -> None:
        if not self.report:
            return
        while not self._news.empty():
            self.report(*self._news.get())
        if self._open is not None:
            # The numbers only rise, and each is a bound at any moment.
            bound = min(self.outcome.value, int(self._open.min()))
            if bound > self._told:
                self._told = bound
                self.report(self.outcome.value, None, bound)

    def _search(self, upper: int) -> None:
        inst, out = self.inst, self.outcome
        single = int(single_leaf(inst.data.address, self.works[0].address))
        if single >= INFINITY:
            out.bound = INFINITY
            return
        self._keep(single, np.array([-1]))
        if inst.depth == 0:
            out.bound = min(single, upper)
            return
        if self._deadline.passed:
            self._board["stop"][0] = 1
            return
        if inst.depth <= 2:
            self._shallow()
            out.bound = min(out.value, upper)
            return
        levels = most_levels(inst, min(single, upper))
        # Trees are written out set by set, with all of a leaf's cost to spend.
        scratch = self._stack(most_levels(inst, single))
        stacks = [stack_of(inst, levels, self._board)]
        stacks += [stack_of(inst, levels, self._board, stacks[0]) for _ in range(self.threads - 1)]
        if self.order == "limited-discrepancy":
            for allowed in (0, 1, 3, 7):
                if allowed < inst.data.n_tests and not self._pass(
                    stacks[:1], scratch, inst.depth, allowed, min(upper, out.value)
                ):
                    return
        elif inst.depth != UNLIMITED and inst.depth > 4 and not inst.penalised:
            for depth in range(4, inst.depth):
                if not self._pass(stacks, scratch, depth, -1, min(upper, out.value)):
                    return
        if self._pass(stacks, scratch, inst.depth, -1, min(upper, out.value)):
            out.bound = min(out.value, upper)

    def _shallow(self) -> None:
        """Depths one and two need no table and no stack."""
        data, work = self.inst.data, self.works[0]
        tests, sides = np.full(7, -1), np.zeros((2, len(data.everything)), dtype=np.uint64)
        value, n = up_to_two(data.address, work.address, self.inst.depth, tests, sides)
        if value < self.outcome.value:
            self._keep(int(value), tests[:n])

    def _stack(self, levels: int) -> Context:
        """A stack for writing out trees.

        That is possible after a stop too, unless entries of the table were replaced.
        """
        return stack_of(self.inst, levels, self._board)

    # -- passes ----------------------------------------------------------------------------------------------

    def _pass(
        self, stacks: list[Context], scratch: Context, depth: int, allowed: int, upper: int
    ) -> bool:
        """One search of the root; False if it was stopped."""
        stacks[0].root_bound[:] = 0
        stacks[0].busy[:] = 0
        self._board["shared_best"][0] = INFINITY
        for stack in stacks:
            root = stack.parts[0]
            root.depth, root.budget, root.allowed = depth, upper - 1, allowed
            root.phase, root.best = ENTER, INFINITY
            root.bits[:] = self.inst.data.everything
            stack.level, stack.base, stack.reported = 0, 0, upper
        final = depth == self.inst.depth and allowed < 0
        self._open = stacks[0].root_bound[: self.inst.data.n_tests] if final else None
        if len(stacks) == 1:
            return self._drive(0, stacks[0], scratch, depth, allowed, final)
        finished = [False] * len(stacks)
        failures: list[BaseException] = []

        def drive(k: int) -> None:
            try:
                own = scratch if k == 0 else self._stack(len(scratch.parts))
                finished[k] = self._drive(k, stacks[k], own, depth, allowed, final)
            except BaseException as error:  # raised below, when the other threads have stopped
                failures.append(error)
                self._board["stop"][0] = 1

        others = [
            threading.Thread(target=drive, args=(k,), daemon=True) for k in range(1, len(stacks))
        ]
        for thread in others:
            thread.start()
        drive(0)
        for thread in others:
            thread.join()
        if failures:
            raise failures[0]
        return all(finished)

    def _drive(
        self, k: int, stack: Context, scratch: Context, depth: int, allowed: int, final: bool
    ) -> bool:
        work = self.works[k]
        best_first = self.order == "best-first"
        while True:
            full = bool(self.table.room >= self.most_entries) or self.threads > 1
            code = run(
                self.inst.data.address,
                work.address,
                self.table.address,
                stack.address,
                best_first,
                full,
            )
            if code == NEEDS_ROOM:
                self._grow()
                continue
            value, test = (
                (stack.returned, stack.returned_test)
                if code == DONE
                else (stack.parts[0].best, stack.parts[0].test)
            )
            if value < self.outcome.value and test >= 0:
                tests = self._tree(scratch, depth, allowed, test, int(value), work)
                if tests is None:
                    return False
                self._keep(int(value), tests)
            if final:
                self._raise_bound(stack)
            if code != IMPROVED:
                return bool(code == DONE)

    def _raise_bound(self, stack: Context) -> None:
        F = self.inst.data.n_tests
        low = int(min(self.outcome.value, stack.root_bound[:F].min()))
        if low > self.outcome.bound:
            self.outcome.bound = low

    def _grow(self) -> None:
        larger = table_of(min(self.most_entries, 4 * len(self.table.slots) // 2))
        move(self.table.address, larger.address)
        self.table = larger

    # -- trees -----------------------------------------------------------------------------------------------

    def _tree(
        self,
        scratch: Context,
        depth: int,
        allowed: int,
        test: int,
        value: int,
        work: Context | None = None,
    ) -> np.ndarray | None:
        """The tree behind a value at the root.

        None if that takes more search and there is no time.
        """
        data, used = self.inst.data, self.works[0] if work is None else work
        tree = writer_of(self.inst)
        tree.waiting[0], tree.depths[0], tree.root_test, tree.root_value = (
            data.everything,
            (depth, allowed, value),
            test,
            value,
        )
        while not extract(
            data.address, used.address, self.table.address, scratch.address, tree.address
        ):
            if (
                run(data.address, used.address, self.table.address, scratch.address, False, True)
                != DONE
            ):
                return None
            tree.solved = 1
        return tree.out[: tree.written].copy()

    def _keep(self, value: int, tests: np.ndarray) -> None:
        with self._lock:
            if value < self.outcome.value:
                self.outcome.value, self.outcome.tests = value, tests
                self._news.put((value, tests, self.outcome.bound))
