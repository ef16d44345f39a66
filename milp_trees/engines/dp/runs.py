"""Runs of a compiled search: worker threads, limits, growing tables, incumbents. Loads numba.

A run raises the depth step by step, in turns with a search of the largest depth, so that a stopped
run is not worse than one of a smaller depth, and deep trees are found where they are easy to find.
All of them share the table, in which bounds for trees of any depth carry over. A pass whose depth
does not matter any more ends the run.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import numpy as np

from milp_trees.common.compiling import run_clock
from milp_trees.common.limits import Limits
from milp_trees.engines.dp.arrays import INFINITY, UNLIMITED, Instance
from milp_trees.engines.dp.buffers import DEEPEST, most_levels
from milp_trees.engines.dp.descent import DONE, PAUSED
from milp_trees.engines.dp.layouts import FIRST_COUNTER, NAMES
from milp_trees.engines.dp.passes import Pass
from milp_trees.engines.dp.shallow import single_leaf, up_to_two
from milp_trees.engines.dp.shared import Outcome, Shared
from milp_trees.engines.dp.switches import Switches
from milp_trees.methods.watch import Watch
from milp_trees.results.result import Limit

#: Seconds between looks at the clock and the keyboard.
_TICK = 0.05

#: A search that surely takes less, in seconds, needs no thread of its own to stay open to Ctrl-C.
_INLINE = 0.02

#: Work of a turn: a node counts at most (number of tests)³ · rows. That is 0.01 to 0.2 s.
TURN = 8e10

#: With less time than so many seconds turns are shorter, each at most about a twentieth of it.
SHORT = 4.0

#: Reports (value, tests in preorder, lower bound or None).
Report = Callable[[int, np.ndarray | None, int], None]


class DpSearch:
    """One instance, its tables and its threads.

    Parameters
    ----------
    order : {"depth-first", "best-first", "limited-discrepancy"}
    threads : int
    memory : int, optional
        Most bytes of the table.
    report : callable, optional
    deepening : bool, default=True
        Whether smaller depths are searched before the largest one.
    """

    def __init__(
        self,
        inst: Instance,
        switches: Switches | None = None,
        order: str = "depth-first",
        threads: int = 1,
        memory: int = 2**30,
        report: Report | None = None,
        deepening: bool = True,
    ) -> None:
        self.inst, self.order, self.report, self.deepening = inst, order, report, deepening
        self.shared = Shared(inst, switches, threads, memory)
        self.outcome = self.shared.outcome
        #: Bounds of the root tests in passes of the largest depth; the bound last reported.
        self._known: list[np.ndarray] = []
        self._told = 0

    # -- the run ---------------------------------------------------------------------------------------------

    def solve(self, upper: int = INFINITY, watch: Watch | None = None) -> Outcome:
        """The optimum, or the best so far; only trees that cost less than `upper` are found.

        The watch is asked every few hundredths of a second.
        """
        watch = watch or Watch(Limits(time=None))
        self.shared.deadline = watch.deadline
        if self._seconds() < _INLINE:
            limit = None
            try:
                self._search(upper)
                limit = (
                    (watch.deadline.limit or Limit.TIME) if self.shared.board["stop"][0] else None
                )
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
                self.shared.board["stop"][0] = 1
                done.wait()
        if failures:
            raise failures[0]
        return self._counted(limit)

    def _seconds(self) -> float:
        """A generous estimate of the time for depths up to four; infinite for deeper trees.

        Up to depth three every root test is one kernel call, and at depth four every pair of a root
        test and one on either side.
        """
        data, depth = self.inst.data, self.inst.depth
        if depth > 4 or len(self.shared.works) > 1:
            return math.inf
        F, U = float(data.n_tests), float(data.n_values + data.n_masses)
        rows = self.inst.n_rows / 5 if data.by_row else self.inst.n_rows / 32
        # Leaf functions with a logarithm cost as much as hundred rows.
        kernel = F * F * (rows + (100 if self.inst.leaf else 2)) * U * 1e-10
        calls = 1 + F * (depth >= 3) + 2 * F * (F + 1) * (depth == 4)
        return float(calls * kernel)

    def _counted(self, limit: Limit | None) -> Outcome:
        out = self.outcome
        out.limit = limit
        counted = [w.table[FIRST_COUNTER : FIRST_COUNTER + len(NAMES)] for w in self.shared.works]
        out.counters = dict(zip(NAMES, np.sum(counted, axis=0).tolist(), strict=True))
        out.counters["entries"] = int(self.shared.table.used[0])
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
                    return stopped if self.shared.board["stop"][0] else None
                if not limit and (limit := watch.over(done.is_set)):
                    self.shared.board["stop"][0] = 1
                elif self.shared.board["stop"][0]:
                    done.wait(_TICK)
            except KeyboardInterrupt:
                limit = Limit.INTERRUPTED
                self.shared.board["stop"][0] = 1

    def _tell(self) -> None:
        if not self.report:
            return
        while not self.shared.news.empty():
            self.report(*self.shared.news.get())
        if self._known:
            bound = self._bound()
            if bound > self._told:
                self._told = bound
                self.report(self.outcome.value, None, bound)

    def _search(self, upper: int) -> None:
        inst, out = self.inst, self.outcome
        single = int(single_leaf(inst.data.address, self.shared.works[0].address))
        if single >= INFINITY:
            out.bound = INFINITY
            return
        self.shared.keep(single, np.array([-1]))
        if inst.depth == 0:
            out.bound = min(single, upper)
            return
        if self.shared.deadline.passed:
            self.shared.board["stop"][0] = 1
            return
        if inst.depth <= 2:
            self._shallow()
            out.bound = min(out.value, upper)
            return
        self._upper = upper
        self._levels = most_levels(inst, min(single, upper))
        # Trees are written out set by set, with all of a leaf's cost to spend.
        levels = most_levels(inst, single)
        self._scratches = [self.shared.stack(levels) for _ in self.shared.works]
        if self._deepen():
            out.bound = min(out.value, upper)
        else:
            out.bound = max(out.bound, self._bound())

    def _bound(self) -> int:
        """What trees cost at least, from the bounds of the root tests.

        They only rise, and each is a bound at any moment.
        """
        open_tests = np.maximum.reduce([self.shared.board["root_free"], *self._known])
        return int(min(self.outcome.value, self._upper, open_tests.min()))

    # -- deepening ------------------------------------------------------------------------------------------

    def _deepen(self) -> bool:
        """Search all depths in turns with the largest one, until that is done; False after a stop.

        The first turn is that of the largest depth: a short search needs no others. Where bounds
        shall rise steadily, the root test with the lowest bound has turns, too; a search in that
        order alone would return to each test many times.
        """
        turn, smaller = self._turn(), self._smaller()
        rising = self.order == "best-first"
        whole = self._largest(rising and not self.deepening)
        alone = not smaller and not (rising and self.deepening)
        if (answer := whole.advance(None if alone else turn)) != PAUSED:
            return answer == DONE
        turns = [(whole, turn)]
        if rising:
            turns.append((self._largest(True), max(1, turn // 2)))
        deep = self._pass()
        for depth, allowed in smaller:
            deep.start(depth, allowed, self._below())
            done = self._in_turns([(deep, turn), *turns])
            if done is not deep:
                return done is not None
            self.outcome.bound = max(self.outcome.bound, self._bound())
            if self.outcome.bound >= self._below():  # no deeper tree is better
                return True
        return self._in_turns(turns) is not None

    def _pass(self) -> Pass:
        return Pass(self.shared, self._levels, self._scratches)

    def _largest(self, best_first: bool) -> Pass:
        """A pass of the largest depth."""
        made = self._pass()
        made.start(self.inst.depth, -1, self._below(), best_first)
        self._known.append(made.root_bound)
        return made

    @staticmethod
    def _in_turns(turns: list[tuple[Pass, int]]) -> Pass | None:
        """Let passes search in turns until one is done; which one that is, None after a stop."""
        while True:
            for one, nodes in turns:
                answer = one.advance(nodes)
                if answer != PAUSED:
                    return one if answer == DONE else None

    def _below(self) -> int:
        """What a tree must cost less than to be of interest."""
        return min(self._upper, self.outcome.value)

    def _turn(self) -> int:
        """Nodes of a turn."""
        left = max(0.0, self.shared.deadline.at - run_clock())
        work = TURN * min(1.0, left / SHORT)
        return max(1, int(work / (float(self.inst.data.n_tests) ** 3 * self.inst.n_rows)))

    def _smaller(self) -> list[tuple[int, int]]:
        """(depth, discrepancies) of the passes before that of the largest depth, in order.

        Without penalties and minima the largest depth of all needs no others: every two rows that
        differ may have a leaf each.
        """
        inst, few = self.inst, []
        depths = [inst.depth]
        if self.deepening and (inst.penalised or inst.data.n_masses or inst.depth != UNLIMITED):
            useful = min(inst.data.n_tests, inst.n_rows - 1)  # the tests on a path all differ
            first = 4 if inst.penalised else 3
            depths = [*range(first, min(inst.depth, useful, DEEPEST + 1)), inst.depth]
        if self.order == "limited-discrepancy":
            few = [n for n in (0, 1, 3, 7) if n < inst.data.n_tests]
        return [(depth, allowed) for depth in depths for allowed in (*few, -1)][:-1]

    def _shallow(self) -> None:
        """Depths one and two need no table and no stack."""
        data, work = self.inst.data, self.shared.works[0]
        tests, sides = np.full(7, -1), np.zeros((2, len(data.everything)), dtype=np.uint64)
        value, n = up_to_two(data.address, work.address, self.inst.depth, tests, sides)
        if value < self.outcome.value:
            self.shared.keep(int(value), tests[:n])
