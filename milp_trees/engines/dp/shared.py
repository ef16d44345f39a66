"""What all passes of a run share: buffers, the table and its trees, and the incumbent.

Loads numba.
"""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass, field

import numpy as np

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import SolverFailure
from milp_trees.common.limits import NEVER, Deadline, Limit
from milp_trees.engines.dp.arrays import INFINITY, Instance
from milp_trees.engines.dp.buffers import stack_of, table_of, work_of, writer_of
from milp_trees.engines.dp.contexts import Context
from milp_trees.engines.dp.descent import DONE, run
from milp_trees.engines.dp.extract import LOST, extract
from milp_trees.engines.dp.memory import move
from milp_trees.engines.dp.switches import Switches


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


class Shared:
    """Memory of a run on one instance.

    Parameters
    ----------
    inst : Instance
    switches : Switches
    threads : int
    memory : int
        Most bytes of the table.

    Attributes
    ----------
    works : list of Context
        The buffers of every thread.
    table : Context
    board : dict
        The arrays that all stacks of the run have in common.
    outcome : Outcome
    news : queue
        Of (value, tests, bound) for every better tree.
    deadline : Deadline
        The table does not grow if that would last longer.
    """

    def __init__(
        self,
        inst: Instance,
        switches: Switches | None = None,
        threads: int = 1,
        memory: int = 2**30,
    ) -> None:
        self.inst, chosen = inst, switches or Switches()
        self.works: list[Context] = [work_of(inst, chosen, inst.depth) for _ in range(threads)]
        self.most_entries = max(2**12, memory // 64)
        F = int(inst.data.n_tests)
        self.table: Context = table_of(2**18 if threads > 1 else 8 * F)
        self.board = {
            "stop": np.zeros(1, dtype=np.int64),
            "shared_best": np.full(1, INFINITY, dtype=np.int64),
            "root_free": np.zeros(max(1, F), dtype=np.int64),
        }
        self.outcome = Outcome()
        self.news: queue.SimpleQueue[tuple[int, np.ndarray | None, int]] = queue.SimpleQueue()
        self.deadline: Deadline = NEVER
        self._lock = threading.Lock()
        self._growing = (
            0.0  # seconds that the last growth took; the next one takes four times as long
        )

    @property
    def full(self) -> bool:
        """Whether the table must not grow: it is large enough, or there is no time for it."""
        if self.table.room >= self.most_entries:
            return True
        return run_clock() + 4 * self._growing > self.deadline.at

    def grow(self) -> None:
        """Move the table to four times its room."""
        began = run_clock()
        larger = table_of(min(self.most_entries, 4 * len(self.table.slots) // 2))
        move(self.table.address, larger.address)
        self.table, self._growing = larger, run_clock() - began

    def stack(self, levels: int, first: Context | None = None) -> Context:
        """A stack; `first` is that of another thread of the same pass."""
        return stack_of(self.inst, levels, self.board, first)

    def keep(self, value: int, tests: np.ndarray) -> None:
        """Make a tree the incumbent if it is better."""
        with self._lock:
            if value < self.outcome.value:
                self.outcome.value, self.outcome.tests = value, tests
                self.news.put((value, tests, self.outcome.bound))

    def tree(
        self,
        scratch: Context,
        depth: int,
        allowed: int,
        test: int,
        value: int,
        work: Context | None = None,
    ) -> np.ndarray | None:
        """The tree behind a value at the root."""
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
        if tree.written == LOST:
            raise SolverFailure(
                f"dp found the value {value}, and not the tree behind it. Please report this problem."
            )
        return tree.out[: tree.written].copy()
