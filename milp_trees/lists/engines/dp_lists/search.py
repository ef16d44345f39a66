"""One search for the best rule list: its memory, the loop around the kernels, and the list."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import NEVER, Deadline, Limit
from milp_trees.engines.dp.contexts import Context
from milp_trees.engines.kit.compile import compile_once, tiny_view
from milp_trees.engines.kit.rowsets import all_rows, pack, rehash
from milp_trees.lists.engines.dp_lists import kernels
from milp_trees.lists.engines.dp_lists.bits import byte_sums
from milp_trees.lists.engines.dp_lists.records import PREFIXES, PROBLEM, TABLES
from milp_trees.lists.engines.dp_lists.switches import LARGEST, TOO_LARGE, DpListsSwitches
from milp_trees.lists.recover import cheapest_list
from milp_trees.lists.rule_list import RuleList
from milp_trees.tasks.views import CostMatrix

#: Work between two looks at the clock (a few milliseconds).
QUOTA = 2_000_000
#: Most layers of a table besides that of no rules: lists with more rules left share the last one.
MOST_LAYERS = 8
#: Steps from which on a table gets no more rows.
MOST_STEPS = 20_000_000
#: Prefixes for which there is room at first.
_ROOM = 2**12


class ListSearch:
    """The search on a view without side rows.

    Parameters
    ----------
    view : CostMatrix
        Reduced; the price of every rule is at least 0.
    longest : int or None
        Largest number of rules; None is no limit.
    least_rows : int
        Smallest number of rows that a rule captures.
    switches : DpListsSwitches
    memory_bytes : int
        Most bytes of prefixes; while room is made, the old ones are kept.

    Raises
    ------
    Unsupported
        Costs are too large for exact sums of 64 bits.
    """

    def __init__(
        self,
        view: CostMatrix,
        longest: int | None,
        least_rows: int,
        switches: DpListsSwitches,
        memory_bytes: int,
    ) -> None:
        self.view, self.switches, self.memory = view, switches, memory_bytes
        self._growing = 0.0  # seconds that the last room took
        #: What every list pays: the cheapest action of every row, and the default rule.
        self.constant = int(view.base.sum()) + view.leaf_cost
        total = sum(map(int, view.regret.max(axis=1, initial=0)))
        if total >= LARGEST:
            raise Unsupported(TOO_LARGE)
        self.rows, self.chosen = self._useful(least_rows)
        prices = (view.split_costs[self.chosen].astype(object) + view.leaf_cost).tolist()
        # A rule that costs more than all rows never pays.
        price = np.array([min(p, total + 1) for p in prices], dtype=np.int64)
        least = int(price.min(initial=total + 1))
        most = min(len(self.rows), len(price))  # each rule captures a row that no other one does
        if longest is not None and longest >= (min(most, total // least) if least else most):
            longest = None
        self.limit = -1 if longest is None else longest
        self.problem = self._problem(price, least_rows)
        self.tables = self._tables()
        self.prefixes = self._prefixes(len(price) + _ROOM)
        self._begin(total)

    def _useful(self, least_rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows on which actions differ, and the antecedents that differ on them, cheapest first.

        Where rules have to capture several rows, all rows count.
        """
        view = self.view
        rows = np.arange(view.n_rows)
        if least_rows > 1:
            return rows, np.arange(view.n_features)
        rows = np.flatnonzero(view.regret.max(axis=1, initial=0) > 0)
        found: dict[bytes, int] = {}
        for a, packed in enumerate(pack(np.ascontiguousarray(view.X[rows]))):
            text = packed.tobytes()
            if packed.any() and (
                text not in found or view.split_costs[a] < view.split_costs[found[text]]
            ):
                found[text] = a
        return rows, np.array(sorted(found.values()), dtype=np.int64)

    # -- arrays ------------------------------------------------------------------------------------

    def _problem(self, price: np.ndarray, least_rows: int) -> Context:
        X = np.ascontiguousarray(self.view.X[np.ix_(self.rows, self.chosen)])
        regret = np.ascontiguousarray(self.view.regret[self.rows], dtype=np.int64)
        summed = regret
        if least_rows > 1:
            summed = np.column_stack([regret, self.view.counts[self.rows]])
        if self.limit < 0:
            below = [-1, 1]
        else:
            below = list(range(-1, min(self.limit, MOST_LAYERS)))
            if self.limit > MOST_LAYERS:
                below[-1] = MOST_LAYERS
        return Context(
            PROBLEM,
            limit=self.limit,
            least_rows=least_rows,
            cheapest=int(price.min(initial=0)),
            X=X,
            regret=regret,
            sets=pack(X),
            sums=byte_sums(summed),
            price=price,
            below=np.array(below, dtype=np.int64),
        )

    def _tables(self) -> Context:
        n, M = self.problem.X.shape
        T, L, K = self.switches.tables, len(self.problem.below), self.view.n_actions
        fewer = (L - 1).bit_length() - (L > 1)  # more layers, fewer rows, about the same memory
        h = max(0, min(self.switches.rows - fewer, n))
        shapes = {
            "values": (T, L, 2**h),
            **dict.fromkeys(("size", "order", "hits", "index"), (T,)),
            "row": (T, h),
            "keep": (T, M),
            "total": (K, 2**h),
            **dict.fromkeys(("pattern", "kept", "cost"), (M,)),
            "seen": (2**h,),
            "free": (n,),
            "missed": (n,),
        }
        return Context(TABLES, shapes, weight=1)

    def _prefixes(self, room: int, **numbers: int) -> Context:
        W, C = self.problem.sets.shape[1], self.problem.sums.shape[2]
        key = W if self.limit < 0 else W + 1
        shapes = {
            "members": (room, key),
            **dict.fromkeys(("cost", "parent", "rule", "length", "closed"), (room,)),
            "slots": (2 ** (2 * room - 1).bit_length(),),
            **dict.fromkeys(("key", "number"), (2 * room,)),
            "best_rules": (len(self.rows) + 2,),
            "captured": (W,),
            "child": (key,),
            **dict.fromkeys(("rest", "part"), (C,)),
        }
        return Context(PREFIXES, shapes, **numbers)

    def _begin(self, total: int) -> None:
        """The empty prefix, and the list of the default rule."""
        p, W = self.prefixes, self.problem.sets.shape[1]
        p.members[0, :W] = all_rows(len(self.rows))
        p.parent[0] = -1
        rehash(p.slots, p.members, 1)
        p.used, p.next, p.best_length = 1, -1, 0
        p.best = int(self.problem.regret.sum(axis=0).min(initial=total))
        if self.limit and len(self.problem.price):
            kernels.push_first(p.address, self.problem.cheapest)

    def _bytes(self, room: int) -> int:
        return room * (8 * self.prefixes.members.shape[1] + 4 * 8 + 1 + 4 * 8 + 4 * 8)

    def _grow(self) -> bool:
        """Twice the room for prefixes; False where the limit on memory leaves none."""
        old = self.prefixes
        room = 2 * len(old.cost)
        if self._bytes(room) + self._bytes(len(old.cost)) > self.memory:
            return False
        names = ("used", "waiting", "best", "best_length", "expanded", "tested", "work", "longest")
        new = self._prefixes(room, **{n: getattr(old, n) for n in (*names, "next", "bound")})
        for name in ("members", "cost", "parent", "rule", "length", "closed"):
            getattr(new, name)[: old.used] = getattr(old, name)[: old.used]
        for name in ("key", "number"):
            getattr(new, name)[: old.waiting] = getattr(old, name)[: old.waiting]
        new.best_rules[:] = old.best_rules
        rehash(new.slots, new.members, new.used)
        self.prefixes = new
        return True

    # -- the search --------------------------------------------------------------------------------

    def offer(self, value: int) -> None:
        """A list is known from elsewhere: only better ones are looked for."""
        if value - self.constant < self.prefixes.best:
            self.prefixes.best, self.prefixes.best_length = value - self.constant, -1

    def run(
        self,
        between: Callable[[], Limit | None],
        nodes: int | None = None,
        deadline: Deadline = NEVER,
    ) -> Limit | None:
        """Search to the end, or until `between`, called every few hundredths, names a limit."""
        while True:
            done, full = self.advance(nodes, deadline)
            limit = between()
            if done:
                return None
            if limit is not None:
                return limit
            if nodes is not None and self.prefixes.expanded >= nodes:
                return Limit.NODES
            if full is not None:
                return full

    def advance(
        self, nodes: int | None = None, deadline: Deadline = NEVER
    ) -> tuple[bool, Limit | None]:
        """Search for a few milliseconds, as in `run`."""
        answer = kernels.search(
            self.problem.address,
            self.tables.address,
            self.prefixes.address,
            self.switches.share,
            MOST_STEPS,
            self.switches.dive,
            2**62 if nodes is None else min(nodes, 2**62),
            QUOTA,
        )
        full = None
        if answer == kernels.FULL:
            began = run_clock()
            # The next room takes twice as long as the last one.
            if began + 2 * self._growing > deadline.at:
                full = Limit.TIME
            elif not self._grow():
                full = Limit.MEMORY
            self._growing = run_clock() - began
        return answer == kernels.DONE, full

    @property
    def value(self) -> int:
        """Integer objective of the best list that is known."""
        return self.constant + int(self.prefixes.best)

    @property
    def bound(self) -> int:
        """No list costs less."""
        p = self.prefixes
        waits = int(p.key[0]) if p.waiting else int(p.best)
        return self.constant + min(int(p.best), max(int(p.bound), waits))

    @property
    def found(self) -> RuleList | None:
        """The best list found; None while none is better than the one that was offered."""
        p, view = self.prefixes, self.view
        if p.best_length < 0:
            return None
        return cheapest_list(view, self.chosen[p.best_rules[: p.best_length]].tolist())

    @property
    def counters(self) -> dict[str, int]:
        p, t = self.prefixes, self.tables
        return {
            "rows": len(self.rows),
            "antecedents": len(self.chosen),
            "prefixes": p.expanded,
            "children": p.tested,
            "sets": p.used,
            "waiting": p.waiting,
            "longest": p.longest,
            "tables": t.used,
            "learnt": t.learnt,
            "megabytes": -(-self._bytes(len(p.cost)) // 2**20),
        }


def warm_up() -> None:
    """Compile the search, once per process."""
    compile_once(
        "the search for rule lists",
        lambda: ListSearch(tiny_view(price=1), None, 1, DpListsSwitches(), 2**20).run(lambda: None),
    )
