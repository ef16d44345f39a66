"""Claims that prove the optimum of a tree problem, collected in a second pass. Loads numba.

The pass begins with the optimum: a set of rows is asked for a bound, and for every test that
divides it the bounds of both sides must be enough together. What the cheapest leaf, the penalties
and earlier claims do not give is searched by `dp` with a budget, and becomes a claim. At three
levels the checker finds the best trees of the last two levels by itself, so that a claim there
needs no others. Each claim is only as high as its parent needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from milp_trees.common.errors import SolverFailure
from milp_trees.common.limits import Limit, Stopped
from milp_trees.engines.dp.arrays import UNLIMITED, Instance, prepare
from milp_trees.engines.dp.buffers import table_of
from milp_trees.engines.dp.memory import move
from milp_trees.engines.dp.optimum import Optimum
from milp_trees.engines.dp.proofs.kernels import (
    known_bounds,
    open_tests,
    remember,
)
from milp_trees.engines.dp.proofs.recent import FREE, Recent, numbers_of
from milp_trees.methods.claims import Claims
from milp_trees.methods.loss_units import LossUnits
from milp_trees.methods.watch import Watch
from milp_trees.models.space import Trees
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.views import LeafSums


@dataclass(eq=False)
class TreeClaim:
    """A set of rows: its bits, its key, the answers that lead to it, and its rows of the view."""

    bits: np.ndarray
    key: np.ndarray
    path: tuple[int, ...]
    rows: np.ndarray


class Prover:
    """The second pass on one view.

    Parameters
    ----------
    view : LeafSums
        After presolve, without side rows.
    space : Trees
        Its largest number of leaves is not looked at; see `leaves`.
    numbers : sequence of int
        What the features of the view are called in paths, counted from 1.
    stop : int64 array of shape (1,)
        The pass ends soon after it is not 0.
    stated : callable
        What a claim says of a set: a function of the bound that the search has, the depth (None:
        any) and the rows of the view.
    """

    def __init__(
        self,
        view: LeafSums,
        space: Trees,
        numbers: list[int],
        stop: np.ndarray,
        stated: Callable[[int, int | None, np.ndarray], int],
    ) -> None:
        self.view, self.numbers, self.stop, self.stated = view, numbers, stop, stated
        self.inst: Instance = prepare(view, space, every_row=True)
        data = self.inst.data
        limited = space.max_depth is not None and space.max_depth <= self.inst.depth
        self.depth: int = space.max_depth if limited else UNLIMITED  # type: ignore[assignment]
        self.listed: list[tuple[Any, ...]] = []
        self.searches = 0
        F, W = max(1, data.n_tests), data.n_words
        self.recent = [Recent(W) for _ in range(self.depth + 1 if limited else 1)]
        self.claims = table_of(2**12)
        self.room = np.zeros((4, W), dtype=np.uint64)
        self.out = np.zeros((F, 3), dtype=np.int64)
        self.optimum = Optimum(self.inst, stop=stop)

    def prove(self, Z: int, depth: int | None) -> Claims:
        """Claims of which the last is that no tree of the space costs less than `Z`."""
        data, view = self.inst.data, self.view
        root = TreeClaim(
            data.everything.copy(),
            np.zeros(2, dtype=np.uint64),
            (),
            np.ones(view.n_rows, dtype=bool),
        )
        bound = Z - self.inst.constant
        if self.inst.depth > FREE:
            self._prove(root, self.depth, bound)
            self.listed.pop()
        self.listed.append((self.stated(bound, depth, root.rows), depth, []))
        notes = {"searches": self.searches}
        return Claims(self.listed, notes=notes)

    # -- claims ------------------------------------------------------------------------------------

    def _prove(self, part: TreeClaim, depth: int, bound: int) -> None:
        """List a claim about a set, after all claims that it needs."""
        if self.stop[0]:
            raise Stopped(Limit.TIME)
        recent = self.recent[depth if depth < UNLIMITED else 0]
        helps, low = recent.closest(self.inst.data, part.bits, bound)
        if low < bound:
            if depth > FREE:
                self._prove_tests(part, depth, bound)
            recent.keep(part.bits, bound, len(self.listed))
        self._list(part, depth, bound, helps)

    def _list(self, part: TreeClaim, depth: int, bound: int, helps: list[int]) -> None:
        limit = None if depth == UNLIMITED else depth
        claim = (self.stated(bound, limit, part.rows), limit, list(part.path))
        self.listed.append((*claim, helps) if helps else claim)
        used = remember(self.claims.address, part.key[0], part.key[1], depth, bound)
        if used > self.claims.room:
            larger = table_of(2 * len(self.claims.slots))
            move(self.claims.address, larger.address)
            self.claims = larger

    def _prove_tests(self, part: TreeClaim, depth: int, bound: int) -> None:
        """List the claims by which no test is the root of a tree that costs less."""
        data, work, search = self.inst.data, self.optimum.work, self.optimum.shared
        self.room[0] = part.bits
        found = open_tests(
            data.address,
            work.address,
            search.table.address,
            self.claims.address,
            bound,
            depth,
            self._deepest(depth if depth == UNLIMITED else depth - 1),
            self.out,
            self.room,
        )
        if search.table.used[0] > search.table.room:
            search.grow()
        if found < -1:
            raise SolverFailure("A leaf costs less than the claim that dp wants to prove.")
        if found <= 0:
            return
        hashes, below = work.hashes.copy(), depth if depth == UNLIMITED else depth - 1
        known = np.zeros(2, dtype=np.int64)
        for f, *low in self.out[:found].tolist():
            known_bounds(self.claims.address, hashes[f], below, self._deepest(below), known)
            low = [max(low[0], int(known[0])), max(low[1], int(known[1]))]
            need = bound - int(data.split[f])
            if sum(low) < need:
                self._prove_test(part, f, hashes[f], below, low, need)

    def _deepest(self, depth: int) -> int:
        """The largest depth of claims that are looked up for sets with trees of some depth."""
        # Where costs are rounded, a claim about deeper trees says a little less.
        return depth if isinstance(self.view, LossSums) else self.depth

    def _prove_test(
        self, part: TreeClaim, f: int, keys: np.ndarray, below: int, low: list[int], need: int
    ) -> None:
        """List claims about the sides of a test that cost `need` together."""
        data = self.inst.data
        sides = [part.bits & ~data.tests[f], part.bits & data.tests[f]]
        sizes = [int(np.bitwise_count(side).sum()) for side in sides]
        first = 0 if sizes[0] > sizes[1] else 1
        for side in (first, 1 - first):
            other = need - low[1 - side]
            value = self._bound(sides[side], keys[2 * side : 2 * side + 2], below, other - 1)
            value = min(value, other)
            if value > low[side]:
                low[side] = value
                self._prove(self._child(part, f, side, sides[side], keys), below, value)
            if sum(low) >= need:
                return
        raise SolverFailure("dp found a better tree than its optimum. Please report this problem.")

    def _child(
        self, part: TreeClaim, f: int, side: int, bits: np.ndarray, keys: np.ndarray
    ) -> TreeClaim:
        rows = part.rows & (self.view.X[:, f] == side)
        step = self.numbers[f] if side else -self.numbers[f]
        return TreeClaim(bits, keys[2 * side : 2 * side + 2].copy(), (*part.path, step), rows)

    def _bound(self, bits: np.ndarray, key: np.ndarray, depth: int, budget: int) -> int:
        """The optimum of a set if it is at most the budget, else a lower bound above the budget."""
        self.searches += 1
        return self.optimum.value_at(bits, key, depth, budget)


def prove_trees(view: LeafSums, reduced: LeafSums, space: Trees, Z: int, watch: Watch) -> Claims:
    """Claims that no tree of a space costs less than `Z`, or little less if costs are rounded."""
    numbers = numbers_of(view, reduced)
    losses = isinstance(view, LossSums) and isinstance(reduced, LossSums)
    units = LossUnits(view, reduced) if losses else None  # type: ignore[arg-type]
    stated: Any = units.stated if units else partial(_above_base, reduced)
    aim = units.aim(Z, space.max_depth) if units else Z

    def work(stop: np.ndarray) -> Claims:
        searched = units.above if units else reduced
        prover = Prover(searched, space, numbers, stop.view(np.int64), stated)
        claims = prover.prove(aim, space.max_depth)
        return replace(claims, notes={**claims.notes, "shift": units.shift}) if units else claims

    return watch.beside(work)


def _above_base(view: Any, bound: int, depth: int | None, rows: np.ndarray) -> int:
    """What a set costs at least, given a bound above the cheapest actions of its rows."""
    return bound + int(view.base[rows].sum())
