"""One pass of a search: all trees of one depth, in turns with other passes. Loads numba."""

from __future__ import annotations

import threading

import numpy as np

from milp_trees.engines.dp.arrays import INFINITY
from milp_trees.engines.dp.contexts import Context
from milp_trees.engines.dp.descent import DONE, IMPROVED, NEEDS_ROOM, PAUSED, STOPPED, run
from milp_trees.engines.dp.entering import ENTER
from milp_trees.engines.dp.shared import Shared


class Pass:
    """The search of the root for trees of one depth. It can pause, and goes on where it was.

    Parameters
    ----------
    shared : Shared
    levels : int
        Levels of the stacks.
    scratches : list of Context
        For every thread a stack with which trees are written out.
    """

    def __init__(self, shared: Shared, levels: int, scratches: list[Context]) -> None:
        self.shared = shared
        first = shared.stack(levels)
        threads = range(1, len(shared.works))
        self.stacks = [first, *(shared.stack(levels, first) for _ in threads)]
        self.scratches = scratches

    def start(self, depth: int, allowed: int, upper: int, best_first: bool = False) -> None:
        """Begin with the root."""
        self.depth, self.allowed, self.best_first = depth, allowed, best_first
        self.root_bound = self.stacks[0].root_bound
        self.root_bound[:] = self.shared.board["root_free"]
        self.stacks[0].busy[:] = 0
        # Discrepancies are not shared among threads.
        self.active = self.stacks if allowed < 0 else self.stacks[:1]
        for stack in self.active:
            root = stack.parts[0]
            root.depth, root.budget, root.allowed = depth, upper - 1, allowed
            root.phase, root.best, root.lower = ENTER, INFINITY, 0
            root.bits[:] = self.shared.inst.data.everything
            stack.level, stack.base, stack.reported = 0, 0, upper

    def advance(self, nodes: int | None = None) -> int:
        """Search on, each thread for a number of nodes; DONE, PAUSED or STOPPED."""
        shared = self.shared
        np.maximum(self.root_bound, shared.board["root_free"], out=self.root_bound)
        if len(self.active) == 1:
            return self._drive(0, nodes, shared.full)
        if not shared.full and shared.table.used[0] > shared.table.room:
            shared.grow()  # which is not possible while several threads search
        answers = [STOPPED] * len(self.active)
        failures: list[BaseException] = []

        def drive(k: int) -> None:
            try:
                answers[k] = self._drive(k, nodes, True)
            except BaseException as error:  # raised below, when the other threads have stopped
                failures.append(error)
                shared.board["stop"][0] = 1

        others = [
            threading.Thread(target=drive, args=(k,), daemon=True)
            for k in range(1, len(self.active))
        ]
        for thread in others:
            thread.start()
        drive(0)
        for thread in others:
            thread.join()
        if failures:
            raise failures[0]
        if STOPPED in answers:
            return STOPPED
        return PAUSED if PAUSED in answers else DONE

    def _drive(self, k: int, nodes: int | None, full: bool) -> int:
        """Search on in one thread."""
        shared, stack, work = self.shared, self.stacks[k], self.shared.works[k]
        if stack.level < 0:
            return DONE
        stack.until = 0 if nodes is None else work.nodes + nodes
        while True:
            code = run(
                shared.inst.data.address,
                work.address,
                shared.table.address,
                stack.address,
                self.best_first,
                full or shared.full,
            )
            if code == NEEDS_ROOM:
                shared.grow()
                continue
            if code != PAUSED and not self._take(k, code, stack, work):
                return STOPPED
            if code != IMPROVED:
                return int(code)

    def _take(self, k: int, code: int, stack: Context, work: Context) -> bool:
        """Keep the tree that a thread has found; False if there is no time to write it out."""
        shared, root = self.shared, stack.parts[0]
        value, test = (
            (stack.returned, stack.returned_test) if code == DONE else (root.best, root.test)
        )
        if value < shared.outcome.value and test >= 0:
            found = (self.depth, self.allowed, test, int(value))
            tests = shared.tree(self.scratches[k], *found, work)
            if tests is None:
                return False
            shared.keep(int(value), tests)
        return True
