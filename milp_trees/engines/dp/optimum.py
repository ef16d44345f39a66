"""`Optimum`: optimal values of sets of rows on demand, from the table of `dp`. Loads numba.

Other engines ask it what a set costs at least: its values and bounds stay in the table, so that
sets that are met again, or below others, cost a look-up.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.limits import Limit, Stopped
from milp_trees.engines.dp import pair_layout as at
from milp_trees.engines.dp.arrays import INFINITY, Instance
from milp_trees.engines.dp.buffers import most_levels
from milp_trees.engines.dp.descent import DONE, NEEDS_ROOM, PAUSED, run
from milp_trees.engines.dp.entering import ENTER
from milp_trees.engines.dp.layouts import data_at, table_at, work_at
from milp_trees.engines.dp.memory import look_up, store
from milp_trees.engines.dp.nodes import best_one, best_two, leaf_value, sums
from milp_trees.engines.dp.pair_counts import HASH
from milp_trees.engines.dp.shared import Shared

#: Work between two checks of the limits: a node counts at most (number of tests)³ · rows.
_TURN = 8e10
_KERNEL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class Optimum:
    """Optimal values of the sets of rows of an instance.

    Parameters
    ----------
    instance : Instance
        With every row, and values that do not count leaves.
    check : callable, optional
        Called several times a second; it may raise `Stopped`.
    memory : int
        Most bytes of the table.
    stop : int64 array of shape (1,), optional
        Another thread sets it to end the search, which then raises `Stopped`.
    """

    def __init__(
        self,
        instance: Instance,
        check: Callable[[], None] | None = None,
        memory: int = 2**30,
        stop: np.ndarray | None = None,
    ) -> None:
        self.instance, self.data, self.check = instance, instance.data, check
        self.shared = Shared(instance, memory=memory)
        if stop is not None:
            self.shared.board["stop"] = stop
        self.work = self.shared.works[0]
        self.stack = self.shared.stack(most_levels(instance, INFINITY) + 1)
        cube = float(max(1, self.data.n_tests)) ** 3
        self._nodes = 0 if check is None else max(1, int(_TURN / (cube * max(1, instance.n_rows))))
        # A set is the side of a test that is true everywhere.
        self._args, self._keys = self.work.args.copy(), np.zeros(4, dtype=np.uint64)
        self._args[at.SET_TESTS], self._args[at.SET_COUNT] = self.data.address_of("everything"), 1
        self._args[at.HASHES] = self._keys.ctypes.data
        self._hash = _KERNEL(int(self.work.kernels[HASH]))
        self._where = self._args.ctypes.data

    @property
    def bytes(self) -> int:
        """Bytes of the table."""
        return 64 * int(self.shared.table.room)

    def key(self, rows: np.ndarray) -> np.ndarray:
        """The key of a set of rows in the table, until the next call."""
        self._args[at.SET] = rows.ctypes.data
        self._hash(self._where)
        return self._keys[2:]

    def value(self, rows: np.ndarray, depth: int, budget: int) -> int:
        """The optimum of a set if it is at most the budget, else a lower bound above the budget."""
        return self.value_at(rows, self.key(rows), depth, budget)

    def value_at(self, rows: np.ndarray, key: np.ndarray, depth: int, budget: int) -> int:
        """As `value`, for a set whose key is known."""
        shared, stack, depth = self.shared, self.stack, min(depth, self.instance.depth)
        if depth <= 2:
            where = self.data.address, self.work.address, shared.table.address
            value = int(_up_to_two(*where, rows, key, depth))
            return value if value <= budget else max(value, budget + 1)
        stack.base = stack.level = 1
        level = stack.parts[1]
        level.depth, level.budget, level.allowed = depth, budget, -1
        level.phase, level.lower = ENTER, 0
        level.bits[:], level.key[:] = rows, key
        while True:
            stack.until = self.work.nodes + self._nodes if self._nodes else 0
            code = run(
                self.data.address,
                self.work.address,
                shared.table.address,
                stack.address,
                False,
                shared.full,
            )
            if code == DONE:
                return int(stack.returned)
            if code == NEEDS_ROOM:
                shared.grow()
            elif code != PAUSED:
                raise Stopped(Limit.TIME)
            if self.check is not None:
                self.check()


@kernel(nogil=True, allocates=False)
def _up_to_two(data_address, work_address, table_address, bits, key, depth):
    """The best value of trees of at most two levels."""
    data, work, table = data_at(data_address), work_at(work_address), table_at(table_address)
    known, value, exact, _ = look_up(table, key[0], key[1], depth)
    if known and exact:
        return value
    test = np.int64(-1)
    if depth == 0:
        sums(data, bits, work.total[0])
        value = leaf_value(data, work.total[0])
    elif depth == 1:
        value, test = best_one(data, bits, work.sides[0], work.sides[1], work.total)
    else:
        value, test = best_two(data, work, bits)
    store(table, key[0], key[1], depth, value, True, test)
    return value
