"""One search over prefixes: limits, memory, incumbent, bound and history.

Loads numba.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from milp_trees.common.compiling import run_clock
from milp_trees.common.limits import Limit, Limits, Stopped
from milp_trees.engines.kit.compile import tiny_view
from milp_trees.lists.engines.corels import arrays as room
from milp_trees.lists.engines.corels import records as r
from milp_trees.lists.engines.corels.moments import Moments
from milp_trees.lists.engines.corels.prepare import PreparedPrefixes, prepare
from milp_trees.lists.engines.corels.search import most_rules, run
from milp_trees.lists.engines.corels.switches import CorelsOptions
from milp_trees.methods.watch import Watch

#: Seconds of compiled search between two looks at the limits.
SLICE = 0.02
#: Moments of the history: at most so many per run time, and so many times the work of one apart.
MOMENTS, APART = 200, 20
#: Moments that a collection, or a growth of the arrays, takes at most (measured: 3 to 6).
COLLECTION = 8
#: Megabytes that the arrays may take if no limit is given.
MEMORY_MB = 6000
#: Names of the counters of a result.
SIZES = {
    "prefixes": r.EXPANDED,
    "evaluated": r.EVALUATED,
    "inserted": r.PUSHED,
    "no_support": r.NO_SUPPORT,
    "no_correct_support": r.NO_CORRECT,
    "bounded": r.BOUNDED,
    "looked_ahead": r.LOOKED,
    "similar": r.SIMILAR,
    "equivalent": r.EQUIVALENT,
    "replaced": r.REPLACED,
    "dropped": r.DROPPED,
    "longest": r.LONGEST,
}


class PrefixSearch:
    """One search, which a `Watch` may stop.

    Parameters
    ----------
    prepared : PreparedPrefixes
    limits : Limits
        Time and Ctrl-C are watched by `watch`; nodes and memory here.
    watch : Watch
    value : callable
        The natural value of an integer objective.
    collection : bool
        Whether dead prefixes are removed from memory.
    """

    def __init__(
        self,
        prepared: PreparedPrefixes,
        limits: Limits,
        watch: Watch,
        value: Callable[[int], float],
        collection: bool = True,
    ) -> None:
        self.prepared, self.limits, self.watch = prepared, limits, watch
        self.collection = collection
        self.instance, self.settings = prepared.instance, prepared.settings
        self.arrays = room.begin(len(self.instance.prices), self.settings.floor)
        self.work = self._work()
        self.counters = np.zeros(r.COUNTERS, dtype=np.int64)
        self.counters[[r.NODES, r.QUEUED, r.MASKS]] = 1
        self.moments = Moments(prepared, value)
        self.limit: Limit | None = None
        #: Lower bound of the optimum at the last moment of the history, without the constant.
        self.bound = self.settings.floor
        self.last_moment = 0.0
        self.after_collection = room.FIRST
        self.most_bytes = self.arrays.bytes
        self.offer(self._default())

    def _work(self) -> r.PrefixWork:
        n, words = self.instance.columns.shape
        sums = max(2, self.instance.tables.shape[0] * (2 if self.settings.packed else 1))
        return r.PrefixWork(
            rest=np.zeros(words, dtype=np.uint64),
            found=np.zeros(words, dtype=np.uint64),
            other=np.zeros(words, dtype=np.uint64),
            total=np.zeros(sums, dtype=np.int64),
            sums=np.zeros(sums, dtype=np.int64),
            candidates=np.zeros(n, dtype=np.int64),
            each=np.zeros((n, sums), dtype=np.int64),
            kinds=np.zeros(n, dtype=np.uint8),
            ends=np.zeros(2, dtype=np.int64),
            children=np.zeros((n + 1, 5), dtype=np.int64),
            path=np.zeros(n + 1, dtype=np.int32),
            best=np.zeros(n + 1, dtype=np.int32),
        )

    def _default(self) -> int:
        """Regret of the list without rules."""
        from milp_trees.lists.engines.corels.search import least
        from milp_trees.lists.engines.corels.sets import add_up

        add_up(self.instance.tables, self.instance.full, self.settings.packed, self.work.sums)
        return int(least(self.work.sums, self.settings.n_actions))

    # -- incumbent -----------------------------------------------------------------------------------

    def offer(self, objective: int, antecedents: Sequence[int] = ()) -> None:
        """Make a list the incumbent; only lists with a smaller objective are searched."""
        self.counters[r.BEST], self.counters[r.BEST_LENGTH] = objective, len(antecedents)
        self.work.best[: len(antecedents)] = antecedents
        self.counters[r.MOST] = most_rules(self.instance, self.settings, objective)

    @property
    def best(self) -> int:
        """Objective of the incumbent, without the constant."""
        return int(self.counters[r.BEST])

    @property
    def antecedents(self) -> list[int]:
        """Antecedents of the best list that was found; empty if it has no rules."""
        length: list[int] = self.work.best[: self.counters[r.BEST_LENGTH]].tolist()
        return length

    @property
    def sizes(self) -> dict[str, int]:
        """What was counted, for a result."""
        return {
            **{name: int(self.counters[place]) for name, place in SIZES.items()},
            "queue": int(self.counters[r.QUEUED]),
            "map": int(self.counters[r.MAPPED]),
            "bytes": self.most_bytes,
        }

    # -- search --------------------------------------------------------------------------------------

    def go(self, report: Callable[[int], Any]) -> None:
        """Search until the queue is empty, or a limit is reached."""
        _, self.limit = self.watch.until(lambda: self._search(report))
        self._moment(report)

    def _search(self, report: Callable[[int], Any]) -> None:
        step, next_moment = 16, 0.0
        while True:
            began = run_clock()
            if began >= next_moment:
                next_moment = self._moment(report)
            self.watch.check()
            self._leave_time_for(1)
            until = int(self.counters[r.EXPANDED]) + step
            if self.limits.nodes is not None:
                until = min(until, self.limits.nodes)
            code = self._slice(until)
            if code == r.FINISHED:
                return
            if code == r.PAUSED:
                if self.limits.nodes is not None and until == self.limits.nodes:
                    raise Stopped(Limit.NODES)
                taken = max(run_clock() - began, 1e-6)
                step = max(1, int(step * min(2.0, SLICE / taken)))
            elif code == r.BETTER:
                next_moment = 0.0
                if self.collection and self.counters[r.NODES] > 2 * self.after_collection:
                    self.collect()
            else:
                self._grow(code)

    def _slice(self, until: int) -> int:
        code: int = run(
            self.instance,
            self.settings,
            self.arrays.trie,
            self.arrays.queue,
            self.arrays.places,
            self.work,
            self.counters,
            until,
        )
        return code

    def _moment(self, report: Callable[[int], Any]) -> float:
        """Add a moment to the history; returns when the next one is due."""
        began = run_clock()
        elapsed = began - self.watch.began
        self.bound = self.moments.add(elapsed, self.arrays, self.counters)
        report(self.bound)
        now = run_clock()
        self.last_moment = now - began
        return now + max(elapsed / MOMENTS, APART * self.last_moment)

    def _leave_time_for(self, moments: int) -> None:
        """Stop if the time that is left is what so many moments take, and the last one."""
        left = self.watch.deadline.left
        if left is not None and left < (moments + 1) * self.last_moment:
            raise Stopped(Limit.TIME)

    # -- memory --------------------------------------------------------------------------------------

    def collect(self) -> None:
        """Remove prefixes that are excluded or dominated."""
        self._leave_time_for(COLLECTION)
        trie, queue, places = self.arrays
        number = np.empty(self.counters[r.NODES], dtype=np.int32)
        room.collect(self.instance, self.settings, trie, queue, places, self.counters, number)
        self.after_collection = max(room.FIRST, int(self.counters[r.NODES]))

    def _grow(self, code: int) -> None:
        if code == r.MORE_NODES and self.collection:
            self.collect()
            if 2 * self.counters[r.NODES] < len(self.arrays.trie.parent) - len(
                self.instance.prices
            ):
                return
        self._leave_time_for(COLLECTION)
        before = self.arrays.bytes
        limit = (self.limits.memory_mb or MEMORY_MB) * 2**20
        part = {
            r.MORE_NODES: before - self.arrays.trie.masks.nbytes - self.arrays.places.nbytes,
            r.MORE_MASKS: self.arrays.trie.masks.nbytes,
            r.MORE_MAP: self.arrays.places.nbytes,
        }[code]
        if before + 2 * part > limit or len(self.arrays.trie.parent) >= room.MOST:
            raise Stopped(Limit.MEMORY)
        grow = {
            r.MORE_NODES: room.more_nodes,
            r.MORE_MASKS: room.more_masks,
            r.MORE_MAP: room.more_places,
        }[code]
        self.arrays = grow(self.arrays)
        self.most_bytes = max(self.most_bytes, self.arrays.bytes)


def search_tiny() -> None:
    """Search the lists of a tiny problem, and make all arrays larger once; this compiles all."""
    limits = Limits(time=None)
    search = PrefixSearch(prepare(tiny_view(), 2, 1, CorelsOptions()), limits, Watch(limits), float)
    search.arrays = room.more_places(room.more_masks(room.more_nodes(search.arrays)))
    search.go(lambda bound: None)
    search.collect()
