"""Best trees of every number of leaves from one search: the front of loss against size, exact for
any cost matrix.

A budget for each number of leaves goes down the search, lower bounds come up (van der Linden, de
Weerdt, Demirović 2023, *STreeD*, solve the same question by merging Pareto fronts; Demirović et al.
2022, *MurTree*, have the limit on leaves, depth-two counts and similar sets). `solve_sizes` is the
entry; the compiled part is `front_kernels`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.compiling import compiling
from milp_trees.data.dataset import BinaryFeature
from milp_trees.engines.sizes.instance import Instance, prepare
from milp_trees.engines.sizes.limits import depth_of, mass_as_rows, refuse_large
from milp_trees.errors import Unsupported
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.results.result import Limit
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.engines.sizes.state import Archive, Data, Frames, Memo, Room

log = logging.getLogger("milp_trees")

#: Work between two looks at the clock (about 0.05 s).
QUOTA = 5e8
#: Bytes of the memo when the caller gives no memory limit.
MEMO_BYTES = 2**30

_warm: set[str] = set()


@dataclass(frozen=True)
class Size:
    """Best tree with at most so many leaves.

    Parameters
    ----------
    leaves : int
        Leaves allowed.
    Z : int or None
        Integer objective of the best tree found; None if there is no feasible tree (or none was
        found before a limit).
    bound : int
        No tree with at most so many leaves costs less.
    tree : Tree or None
        It may have fewer leaves; then a leaf more does not pay.
    """

    leaves: int
    Z: int | None
    bound: int
    tree: Tree | None

    @property
    def proven(self) -> bool:
        return self.Z is not None and self.bound >= self.Z


@dataclass(frozen=True)
class Fronts:
    """The answer of `solve_sizes`: one `Size` for 1, 2, … leaves, why the search ended early, and
    what it counted.
    """

    sizes: tuple[Size, ...]
    limit: Limit | None
    counters: dict[str, int]
    #: Seconds of compilation, which no run is charged.
    compiling: float = 0.0


#: Called with the objectives (for 1, 2, … leaves) whenever one has improved; 0 leaves the first
#: out.
Improved = Callable[[tuple[int | None, ...]], None]


def solve_sizes(
    view: CostMatrix,
    space: Trees,
    watch: Watch | None = None,
    progress: Improved | None = None,
    memory_bytes: int = MEMO_BYTES,
    similar: bool = True,
) -> Fronts:
    """Best trees of at most 1, 2, …, L leaves on a view without side rows.

    Parameters
    ----------
    view : CostMatrix
        Reduced (`view.reduce()`); penalties of at least 0.
    space : Trees
        L is its `max_leaf_nodes`, or what its depth allows. Without a depth limit L is needed, and
        bounds the depth by L - 1.
    watch : Watch, optional
        Asked every few hundredths of a second whether to stop; compilation is not counted. Ctrl-C
        stops the search too.
    progress : callable, optional
        Called with the objectives so far, by number of leaves, after every improvement.
    memory_bytes : int
        Most bytes of the memo.
    similar : bool, default=True
        Whether lower bounds from similar sets are used (a switch for tests).

    Returns
    -------
    Fronts
        After an early end every size has what was found and an honest bound.
    """
    if space.max_depth is None and space.max_leaf_nodes is None:
        raise Unsupported("Trees of every size need a limit: give max_leaf_nodes or max_depth.")
    if view.min_weight_leaf:
        view, space = mass_as_rows(view, space)
    instance = prepare(view, space, settle_ties=False)
    most = instance.max_leaves
    if view.total_rows < space.min_samples_leaf:
        return Fronts(tuple(Size(k, None, 0, None) for k in range(1, most + 1)), None, {})
    spent = warm_up(instance)
    if watch is not None:
        watch.postpone(spent)
    run = FrontSearch(instance, view, depth_of(space, instance), memory_bytes, similar)
    return replace(run.solve(watch, progress), compiling=spent)


class FrontSearch:
    """One search: arrays for the kernels, the loop around them, and the trees."""

    def __init__(
        self, instance: Instance, view: CostMatrix, depth: int, memory_bytes: int, similar: bool
    ) -> None:
        from milp_trees.engines.sizes import kernels as front_kernels
        from milp_trees.engines.sizes import state as front_state

        self.kernels: Any = front_kernels
        self.parts: Any = front_state
        self.instance, self.view, self.similar = instance, view, similar
        self.leaves = instance.max_leaves
        self.depth = depth
        self.base = int(view.base.sum())
        n, padded = instance.X.shape
        self.levels = max(1, self.depth - 2)
        refuse_large(instance, self.levels)
        self.data = self._data(similar)
        self.frames = self._frames(max(1, (n + 63) // 64), max(1, n), max(1, instance.n_features))
        self.room = self._room(n, padded)
        self.memo = self._memo(memory_bytes)
        self.archive = self._archive()
        shape = (instance.values.shape[1], max(1, instance.n_features), padded)
        self.P, self.Q = (
            np.zeros(shape, dtype=instance.dtype),
            np.zeros(shape, dtype=instance.dtype),
        )
        self.total, self.part = (
            np.zeros(shape[0], dtype=instance.dtype),
            np.zeros(shape[0], dtype=instance.dtype),
        )
        self.by_test, self.goal = (
            np.zeros(padded, dtype=np.int64),
            np.zeros(self.leaves + 5, dtype=np.int64),
        )
        self.level = 0

    # -- arrays ----------------------------------------------------------------------------------------------

    def _data(self, similar: bool) -> Data:
        inst = self.instance
        n, F = len(inst.X), inst.n_features
        bits = np.zeros((max(1, F), max(1, (n + 63) // 64) * 8), dtype=np.uint8)
        if n and F:
            packed = np.packbits(inst.X[:, :F].T, axis=1, bitorder="little")
            bits[:, : packed.shape[1]] = packed
        # Where all rows that can be lost cost the same, a difference of sets is a count.
        worst = np.unique(inst.most_regret)
        weight = int(worst[0]) if len(worst) == 1 else -1
        numbers = [
            F,
            inst.leaf,
            inst.least,
            inst.infinity,
            int(inst.split[:F].min()) if F else 0,
            self.leaves,
            int(similar),
            weight,
        ]
        return self.parts.Data(
            inst.X,
            inst.starts.astype(np.int64),
            inst.coef,
            inst.values,
            inst.first_action,
            inst.most_regret,
            np.ascontiguousarray(bits).view(np.uint64),
            inst.split,
            np.array(numbers, dtype=np.int64),
        )

    def _frames(self, words: int, n: int, F: int) -> Frames:
        size, levels = self.leaves + 5, self.levels
        ints = np.int64
        return self.parts.Frames(
            bits=np.zeros((levels, words), dtype=np.uint64),
            rows=np.zeros((levels, n), dtype=ints),
            state=np.zeros((levels, 9), dtype=ints),
            budget=np.zeros((levels, size), dtype=ints),
            best=np.zeros((levels, size), dtype=ints),
            test=np.zeros((levels, size), dtype=ints),
            left=np.zeros((levels, size), dtype=ints),
            order=np.zeros((levels, F), dtype=ints),
            lower=np.zeros((levels, F, 2, size), dtype=ints),
            upper=np.zeros((levels, F, 2, size), dtype=ints),
            answer=np.zeros((levels, 2, size), dtype=ints),
        )

    def _room(self, n: int, padded: int) -> Room:
        inst = self.instance
        dtype, V, F = inst.dtype, inst.values.shape[1], max(1, inst.n_features)
        words = max(1, (n + 63) // 64)
        return self.parts.Room(
            rest=np.zeros((V, F, padded) if V > 1 else (1, 1, 1), dtype=dtype),
            column=np.zeros((V, padded), dtype=dtype),
            cell=np.zeros((4, padded), dtype=dtype),
            sides=np.zeros((4, padded), dtype=dtype),
            packed=np.zeros((n // 8 + 1, padded), dtype=np.uint8),
            count=np.zeros(padded, dtype=np.uint8),
            wide=np.zeros(padded, dtype=dtype),
            rows=np.zeros(max(1, n), dtype=np.int64),
            words=np.zeros((2, words), dtype=np.uint64),
            found=np.zeros((2, 5), dtype=np.int64),
            guess=np.zeros(F, dtype=np.int64),
            counters=np.zeros(4, dtype=np.int64),
        )

    def _memo(self, memory_bytes: int) -> Memo:
        entry = 32 * (self.leaves + 5) + 3 * 8 * 4
        most = max(1, memory_bytes // (2 * entry))  # the table and its copy while it grows
        slots = 2**10
        return self.parts.Memo(
            np.zeros((slots, 3), dtype=np.uint64),
            np.zeros((slots // 2, 4, self.leaves + 5), dtype=np.int64),
            np.array([0, most], dtype=np.int64),
        )

    def _grow(self) -> None:
        keys, entries = self.memo.keys, self.memo.entries
        new = self.parts.Memo(
            np.zeros((4 * len(keys), 3), dtype=np.uint64),
            np.concatenate(
                [entries, np.zeros((3 * len(entries), *entries.shape[1:]), dtype=np.int64)]
            ),
            self.memo.count,
        )
        self.parts.rehash(keys, new.keys)
        self.memo = new

    def _archive(self) -> Archive:
        size, depths = self.parts.ARCHIVE, max(3, self.depth + 1)
        return self.parts.Archive(
            np.zeros((depths, size, self.frames.bits.shape[1]), dtype=np.uint64),
            np.zeros((depths, size, self.leaves + 5), dtype=np.int64),
            np.zeros(depths, dtype=np.int64),
        )

    # -- the search ------------------------------------------------------------------------------------------

    def begin(self, bits: np.ndarray, depth: int, leaves: int, budget: int) -> None:
        """Make a set of rows the root of the search."""
        p = self.parts
        self.level = 0
        self.frames.bits[0] = bits
        self.frames.budget[0] = budget
        self.frames.state[0, [p.DEPTH, p.LEAVES, p.STATE, p.KEY]] = (
            depth,
            leaves,
            self.kernels.ENTER,
            depth,
        )

    def run(self, between: Callable[[], bool]) -> bool:
        """Search until done (True) or until `between` says to stop."""
        k = self.kernels
        while True:
            answer, self.level = k.search(
                self.data,
                self.frames,
                self.memo,
                self.archive,
                self.room,
                self.P,
                self.Q,
                self.total,
                self.part,
                self.by_test,
                self.goal,
                self.level,
                QUOTA,
            )
            if answer == k.FULL:
                self._grow()
            if answer == k.DONE:
                between()
                return True
            if between():
                return False

    def solve(self, watch: Watch | None = None, progress: Improved | None = None) -> Fronts:
        """The front on all rows."""
        inst = self.instance
        bits = self.all_rows()
        if self.depth <= 2 or not len(inst.X) or not inst.n_features:
            best = self.shallow(bits, self.depth)[0]
            if progress:
                progress(tuple(self.objective(v) for v in best[1:]))
            return self._answer(best, best, bits, None)
        told: list[tuple[int | None, ...]] = []
        reached: list[Limit | None] = [None]

        def between() -> bool:
            found = tuple(self.objective(int(v)) for v in self.frames.best[0, 1 : self.leaves + 1])
            if progress and (not told or told[-1] != found):
                told.append(found)
                progress(found)
            reached[0] = watch.over() if watch else None
            return reached[0] is not None

        self.begin(bits, self.depth, self.leaves, self.parts.BIG)
        limit = None
        try:
            if not self.run(between):
                limit = reached[0]
        except KeyboardInterrupt:
            limit = Limit.INTERRUPTED
        best = self.frames.best[0, : self.leaves + 1].copy()
        return self._answer(best, best if limit is None else self._lower(), bits, limit)

    def _lower(self) -> np.ndarray:
        """Lower bounds of the root when it is not done: what was proven for up to four leaves, and
        that every other tree pays its leaves.
        """
        k, inst = self.kernels, self.instance
        best = self.frames.best[0, : self.leaves + 1]
        state = self.frames.state[0]
        exact = (
            4
            if state[self.parts.STATE] > k.PAIRS
            else 1
            if state[self.parts.STATE] == k.PAIRS
            else 0
        )
        lower = best.copy()
        cheap = int(self.data.numbers[self.parts.CHEAP])
        for leaves in range(exact + 1, self.leaves + 1):
            known = (exact + 1) * inst.leaf + exact * cheap
            lower[leaves] = min(known, int(best[exact])) if exact else inst.leaf
        return lower

    def all_rows(self) -> np.ndarray:
        """The set of all rows as words."""
        bits = np.zeros((self.frames.bits.shape[1]) * 8, dtype=np.uint8)
        packed = np.packbits(np.ones(len(self.instance.X), dtype=np.uint8), bitorder="little")
        bits[: len(packed)] = packed
        words: np.ndarray = bits.view(np.uint64)
        return words

    def objective(self, value: int) -> int | None:
        """Z of a value; None for what is infeasible."""
        return None if value >= self.instance.infinity // 2 else int(value) + self.base

    def _answer(
        self, best: np.ndarray, lower: np.ndarray, bits: np.ndarray, limit: Limit | None
    ) -> Fronts:
        counters = dict(
            zip(
                ("pairs", "nodes", "recalled", "skipped"), map(int, self.room.counters), strict=True
            )
        )
        counters["cached"] = int(self.memo.count[0])
        sizes: list[Size] = []
        test, left = self.frames.test[0].copy(), self.frames.left[0].copy()
        for k in range(1, self.leaves + 1):
            Z = self.objective(int(best[k]))
            bound = min(int(lower[k]), self.instance.infinity) + self.base
            if sizes and Z == sizes[-1].Z:
                tree = sizes[-1].tree
            elif Z is None:
                tree = None
            elif self.depth <= 2 or not len(self.instance.X) or not self.instance.n_features:
                tree = Tree(self.tree(bits, self.depth, k), self.view.actions)
            else:
                tree = Tree(
                    self._split(bits, self.depth, k, int(test[k]), int(left[k])), self.view.actions
                )
            sizes.append(Size(k, Z, bound, tree))
        return Fronts(tuple(sizes), limit, counters)

    # -- trees -----------------------------------------------------------------------------------------------

    def tree(self, bits: np.ndarray, depth: int, leaves: int) -> Node:
        """Best tree of a set with at most so many leaves, by searching again along it; the memo
        knows most of it.
        """
        depth = min(depth, leaves - 1)
        if depth <= 2:
            _, test, left = self.shallow(bits, depth, leaves)
            return self._split(bits, depth, leaves, int(test[leaves]), int(left[leaves]))
        p = self.parts
        e = p.recall(self.memo, bits, depth)
        if e >= 0 and self.memo.entries[e, 0, leaves] >= self.memo.entries[e, 1, leaves]:
            entry = self.memo.entries[e]
            return self._split(bits, depth, leaves, int(entry[2, leaves]), int(entry[3, leaves]))
        self.begin(bits, depth, leaves, -p.BIG)
        self.frames.budget[0, leaves] = p.BIG
        self.run(lambda: False)
        return self._split(
            bits, depth, leaves, int(self.frames.test[0, leaves]), int(self.frames.left[0, leaves])
        )

    def _split(self, bits: np.ndarray, depth: int, leaves: int, test: int, left: int) -> Node:
        if test < 0:
            return Leaf(self._action(bits))
        true = self.data.test_bits[test]
        return Branch(
            self.view.features[test],
            self.tree(bits & ~true, depth - 1, left),
            self.tree(bits & true, depth - 1, leaves - left),
        )

    def _members(self, bits: np.ndarray) -> np.ndarray:
        return np.flatnonzero(
            np.unpackbits(bits.view(np.uint8), bitorder="little")[: len(self.instance.X)]
        )

    def _action(self, bits: np.ndarray) -> int:
        inst = self.instance
        total = inst.values[self._members(bits)].sum(axis=0, dtype=np.int64)
        if inst.least > 1:
            total = total[:-1]
        k = int(total.argmin())
        return k + 1 if total[k] < 0 else 0

    def shallow(
        self, bits: np.ndarray, depth: int, leaves: int | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Best values, root tests and leaves on the left of trees of depth at most two, by number
        of leaves.
        """
        most = min(self.leaves if leaves is None else leaves, 4)
        size = (self.leaves if leaves is None else leaves) + 1
        value, test, left = (
            np.zeros(max(size, 5), dtype=np.int64),
            np.full(max(size, 5), -1),
            np.zeros(max(size, 5), dtype=np.int64),
        )
        from milp_trees.engines.sizes import pairs as front_pairs

        rows = self._members(bits)
        front_pairs.two(
            self.data,
            self.room,
            rows,
            self.P,
            self.total,
            min(most, 1 << depth) if self.instance.n_features else 1,
            value,
            test,
            left,
        )
        for part in (value, test, left):
            part[5:] = part[4]
        return value[:size], test[:size], left[:size]


def warm_up(instance: Instance) -> float:
    """Compile the kernels for an instance's number type, once per process; returns the seconds it
    took, which no run is charged.
    """
    began = time.perf_counter()
    kind = instance.dtype.name
    if kind not in _warm:
        with compiling("the search for trees of every size"):
            _warm.add(kind)
            rng = np.random.default_rng(0)
            X = rng.integers(0, 2, (24, 6)).astype(np.uint8)
            tiny = CostMatrix(
                X=X,
                features=tuple(BinaryFeature(str(f)) for f in range(6)),
                costs=rng.integers(0, 2 if kind == "int32" else 2**40, (24, 3)),
                actions=(0, 1, 2),
                counts=np.ones(24, dtype=np.int64),
                leaf_cost=0,
                split_costs=np.zeros(6, dtype=np.int64),
                side=(),
                offset=Fraction(0),
                scale=Fraction(1),
                exact=True,
                rows=np.arange(24),
            )
            solve_sizes(tiny, Trees(5, 7))
    return time.perf_counter() - began
