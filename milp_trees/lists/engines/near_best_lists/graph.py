"""The graph of all rule lists within an allowance, and the lists themselves. Loads numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from milp_trees.common.limits import Limit, Stopped
from milp_trees.engines.kit.rowsets import find, hash_of, occupy, rehash
from milp_trees.lists.engines.near_best_lists.instance import Data, WholeSearch, work_of
from milp_trees.lists.engines.near_best_lists.kernels import grow, settle, walk
from milp_trees.lists.engines.near_best_lists.same import mark_first, mark_needed

#: Room of tables at the beginning; they grow by doubling.
ROOM = 1 << 12
#: Work, words that are read, edges, and lists between two looks at the limits.
QUOTA, WORDS, EDGES, LISTS = 20_000_000, 1_000_000, 300_000, 5_000


class ListStates(NamedTuple):
    """The table of states, as `ListGraph` has it, its slots, and the least cost of every state."""

    table: np.ndarray
    slots: np.ndarray
    cost: np.ndarray


class ListGraph(NamedTuple):
    """Sets of rows that are not captured yet, and the rules that lead from one to another.

    Parameters
    ----------
    table : uint64 array of shape (states, words + 1)
        Rows of a state, and in the last word the number of rules before it. State 0 has all rows.
    begin, end : int64 arrays of shape (states,)
        Its edges.
    rest : int64 array of shape (states,)
        Least cost of going on there with a rule or more.
    rule, action, step, stop, after : arrays of shape (edges,)
        Antecedent; action, plus K times that of a default after it; cost of the rule; cost of that
        default; the state after it, or -1 if no list goes on there.
    """

    table: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    rest: np.ndarray
    rule: np.ndarray
    action: np.ndarray
    step: np.ndarray
    stop: np.ndarray
    after: np.ndarray


class Path(NamedTuple):
    """Where `walk` is: the state, the next edge and the cost so far of every level.

    `at` has the level, and how many lists there are.
    """

    state: np.ndarray
    edge: np.ndarray
    cost: np.ndarray
    at: np.ndarray


class Listed(NamedTuple):
    """Rule lists, each once, the cheapest first; of equal ones the shorter, then by antecedents.

    Parameters
    ----------
    cost : int64 array of shape (N,)
        Prices of the rules and regret.
    rules : int array of shape (N, longest)
        Antecedents by number; -1 after the last.
    """

    cost: np.ndarray
    rules: np.ndarray


class Budget:
    """Limits of a search: a check that raises `Stopped`, and bytes for its arrays."""

    def __init__(self, check: Callable[[], None], max_bytes: int) -> None:
        self.check, self.max_bytes = check, max_bytes

    def hold(self, *arrays: Any, times: int = 1) -> None:
        """Check the limits where arrays of `times` the given ones together are needed."""
        self.check()
        if times * sum(a.nbytes for a in arrays) > self.max_bytes:
            raise Stopped(Limit.MEMORY)


class NearBestListsSearch:
    """Rule lists of a problem.

    Parameters
    ----------
    best : WholeSearch
        The search for the best list; its tables of lower bounds are used, and more are made.
    data : Data
    budget : Budget
    """

    def __init__(self, best: WholeSearch, data: Data, budget: Budget) -> None:
        self.best, self.data, self.budget, self.work = best, data, budget, work_of(data)
        self.chunk = max(1, WORDS // max(1, data.tests.size))
        #: Sizes of the last graph, and how many lists were read off it.
        self.sizes: dict[str, int] = {}
        #: Cost of the default alone.
        self.alone = int(data.sums[:, 255].sum(axis=0)[: data.n_actions].min())

    def graph(self, allowance: int) -> ListGraph:
        """All rule lists of at least one rule within an allowance."""
        states = self._states(allowance)
        n, M = len(states.cost), len(self.data.tests)
        begin, rest = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        edges = [np.empty(ROOM + M, dtype=kind) for kind in "iillq"]
        at = np.array([n - 1, 0])
        while at[0] >= 0:
            until = max(0, at[0] - self.chunk)
            settle(*self._searched(), allowance + 1, states, (begin, rest, *edges), at, until)
            self.budget.hold(*states, begin, rest, *edges)
            if at[1] + M > len(edges[0]):
                edges = [_doubled(e) for e in edges]
        end = np.append(at[1], begin[:-1])
        self.sizes = {"states": n, "edges": int(at[1])}
        return ListGraph(states.table, begin, end, rest, *(e[: at[1]] for e in edges))

    def _states(self, allowance: int) -> ListStates:
        """The states, without room for more."""
        M, words = self.data.tests.shape
        table = np.zeros((ROOM + M, words + 1), dtype=np.uint64)
        cost = np.zeros(len(table), dtype=np.int64)
        slots = np.zeros(4 << len(table).bit_length(), dtype=np.uint64)
        table[0, :words] = self.data.everything
        hashed = np.uint64(hash_of(table[0]))
        occupy(slots, -1 - find(slots, table, table[0], hashed), hashed, 0)
        at = np.array([0, 1, self.best.tables.work])
        while at[0] < at[1]:
            grow(*self._searched(), allowance + 1, ListStates(table, slots, cost), at, QUOTA)
            self.budget.hold(table, slots, cost)
            if at[1] + M > len(table):
                self.budget.hold(table, slots, cost, times=3)
                table, cost = _doubled(table), _doubled(cost)
                slots = np.zeros(2 * len(slots), dtype=np.uint64)
                rehash(slots, table, at[1])
        return ListStates(table[: at[1]].copy(), slots, cost[: at[1]].copy())

    def _searched(self) -> tuple[int, int, Data, Any]:
        """What the kernels search, and what they write on."""
        return self.best.problem.address, self.best.tables.address, self.data, self.work

    def lists(self, allowance: int, trivial: bool) -> Listed:
        """Rule lists within an allowance; of lists that count as one the first by antecedents."""
        cost, hashes, rules = self._walk(self.graph(allowance), allowance)
        self.sizes["lists"] = len(cost)
        order = np.argsort(hashes, kind="stable")
        self.budget.hold(cost, hashes, rules, order, times=2)
        chosen = np.zeros((2, self.data.n_actions, len(self.data.everything)), dtype=np.uint64)
        actions = np.zeros((2, rules.shape[1] + 1), dtype=np.int64)
        at, first = 0, np.zeros(len(order), dtype=bool)
        while at < len(order):
            span = (at, at + LISTS)
            at = mark_first(
                self.data, self.work, rules, hashes, order, span, actions, chosen, first
            )
            self.budget.check()
        cost, rules = cost[first], rules[first]
        if not trivial:
            needed, placed = np.ones(len(rules), dtype=bool), np.zeros(rules.shape[1], dtype=bool)
            for at in range(0, len(rules), LISTS):
                mark_needed(self.data, self.work, rules, at, at + LISTS, actions[0], chosen[0], placed, needed)  # fmt: skip
                self.budget.check()
            cost, rules = cost[needed], rules[needed]
        order = np.lexsort((np.arange(len(cost)), (rules >= 0).sum(axis=1), cost))
        return Listed(cost[order], rules[order])

    def _walk(self, graph: ListGraph, allowance: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Costs, hashes and antecedents of the lists of a graph and of the default alone."""
        M = len(self.data.tests)
        longest = int(graph.table[:, -1].max()) + 1
        draw = np.random.default_rng(0)  # any hashes are right; these are always the same
        noise = draw.integers(0, 2**63, (M + 1, self.data.n_actions), dtype=np.uint64)
        at = np.array([0, int(self.alone <= allowance)])
        state, edge, spent = (np.zeros(longest + 1, dtype=np.int64) for _ in range(3))
        path = Path(state, edge, spent, at)
        path.edge[0] = graph.begin[0]
        small = np.int16 if M < 2**15 else np.int32
        cost, hashes = np.zeros(ROOM, dtype=np.int64), np.zeros(ROOM, dtype=np.uint64)
        rules = np.full((ROOM, longest), -1, dtype=small)
        cost[0] = self.alone
        while at[0] >= 0:
            walk(graph, self.data.tests, noise, allowance + 1, path, cost, hashes, rules, EDGES)
            self.budget.hold(*graph, cost, hashes, rules)
            if at[1] == len(cost):
                self.budget.hold(*graph, cost, hashes, rules, times=3)
                cost, hashes, rules = _doubled(cost), _doubled(hashes), _doubled(rules)
        return cost[: at[1]], hashes[: at[1]], rules[: at[1]]


def _doubled(array: np.ndarray) -> np.ndarray:
    """The array with room for as many entries again."""
    out = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out
