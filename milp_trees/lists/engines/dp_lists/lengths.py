"""A search for the best rule list, later in turns with searches for shorter lists.

A search with many rules to place may find its first good lists late. Searches for lists of at most
1, 2, … rules end sooner, so that a run that is stopped is not worse than one for shorter lists.
They begin when a third of the limits is used up: a run that ends before needs none of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from milp_trees.common.compiling import run_clock
from milp_trees.common.limits import NEVER, Deadline, Limit
from milp_trees.lists.engines.dp_lists.search import ListSearch
from milp_trees.lists.rule_list import RuleList

#: Shorter lists are looked for when this part of the limits is used up.
SHARE = 3
#: Turns that a limit on nodes is divided into.
PARTS = 200
#: Calls of the search (a few milliseconds each) before shorter lists are looked for, without a
#: limit on time or nodes.
PATIENCE = 5000
#: Turns of the shorter searches for one of the whole search.
TURNS = 2
#: Part of the memory that a shorter search may take.
MEMORY_SHARE = 4


class Lengthening:
    """The search for lists of any length that is allowed, and one for shorter lists.

    Parameters
    ----------
    make : callable
        Makes a search from the largest number of rules and its part of the memory.
    longest : int or None
        Largest number of rules.
    shorter : bool, default=True
        Whether shorter lists are looked for at all.
    """

    def __init__(
        self,
        make: Callable[[int | None, int], ListSearch],
        longest: int | None,
        shorter: bool = True,
    ) -> None:
        self.make = make
        self.whole = make(longest, 1)
        self.best = self.whole  #: The search with the best list.
        self.short: ListSearch | None = None
        self.length = 0
        self._open = shorter and self.whole.limit != 0
        self._before = 0  # prefixes that shorter searches that have ended have expanded

    def offer(self, value: int) -> None:
        """A list of this value is known from elsewhere: only better ones are looked for."""
        self.whole.offer(value)

    @property
    def expanded(self) -> int:
        """Prefixes that all searches have expanded."""
        short = 0 if self.short is None else int(self.short.prefixes.expanded)
        return int(self.whole.prefixes.expanded) + self._before + short

    def run(
        self,
        between: Callable[[], Limit | None],
        nodes: int | None = None,
        deadline: Deadline = NEVER,
        late: float = math.inf,
    ) -> Limit | None:
        """Search to the end, or until `between` names a limit."""
        for calls in itertools.count():
            if calls % (TURNS + 1) and self._is_due(calls, nodes, late):
                done, full = self._shorter(nodes, deadline), None
            else:
                done, full = self.whole.advance(self._most(self.whole, nodes), deadline)
                self._share(self.whole)
            limit = between()
            if done:
                return None
            if limit is not None:
                return limit
            if nodes is not None and self.expanded >= nodes:
                return Limit.NODES
            if full is not None:
                return full
        raise AssertionError("the loop has no end")

    def _is_due(self, calls: int, nodes: int | None, late: float) -> bool:
        """Whether shorter lists are looked for now."""
        if not self._open:
            return False
        if nodes is not None and self.expanded >= nodes // SHARE:
            return True
        return run_clock() >= late or (nodes is None and late == math.inf and calls > PATIENCE)

    def _most(self, search: ListSearch, nodes: int | None) -> int | None:
        """Prefixes that a search may have expanded after a turn: all of them, or a part of them."""
        if nodes is None:
            return None
        turn = max(1, nodes // PARTS) if self._open else nodes
        return int(search.prefixes.expanded) + min(nodes - self.expanded, turn)

    def _shorter(self, nodes: int | None, deadline: Deadline) -> bool:
        """One call of the search for shorter lists; True if no longer list can be better."""
        if self.short is None:
            self.length += 1
            if 0 <= self.whole.limit <= self.length:
                self._open = False
                return False
            self.short = self.make(self.length, MEMORY_SHARE)
            self.short.offer(self.best.value)
        short = self.short
        done, full = short.advance(self._most(short, nodes), deadline)
        self._share(short)
        if full is not None or (done and short.limit < 0):
            self._open = False
        if done:
            self._before += int(short.prefixes.expanded)
            self.short = None
            # A longer list pays for one rule more.
            price = int(self.whole.problem.cheapest)
            return short.limit < 0 or (self.length + 1) * price >= self.whole.prefixes.best
        return False

    def _share(self, search: ListSearch) -> None:
        """Tell the other search of a better list."""
        if search.value < self.best.value:
            self.best = search
        for other in (self.whole, self.short):
            if other is not None and other is not search:
                other.offer(search.value)

    # -- the answer --------------------------------------------------------------------------------

    @property
    def value(self) -> int:
        """Integer objective of the best list that is known."""
        return self.best.value

    @property
    def bound(self) -> int:
        """No list costs less."""
        return self.whole.bound

    @property
    def found(self) -> RuleList | None:
        """The best list found; None while none is better than the one that was offered."""
        return self.best.found

    @property
    def best_length(self) -> int:
        """Rules of the best list; -1 while it is the one that was offered."""
        return int(self.best.prefixes.best_length)

    @property
    def counters(self) -> dict[str, int]:
        """Those of the whole search, with the prefixes of all."""
        return {**self.whole.counters, "prefixes": self.expanded}
