"""Breadth-first enumeration of the states of rule lists, level by level.

It holds the arrays of the kernel, and calls it again with more room when that is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from milp_trees.engines.hypergraph import row_sets
from milp_trees.engines.hypergraph.levels import MOST_BYTES, ROOM, _grown, _power_of_two, pack
from milp_trees.lists.hypergraph import kernels
from milp_trees.tasks.views import CostMatrix

#: Larger than every cost.
UNBOUNDED = 2**61


class Rules(NamedTuple):
    """What the lists of a hypergraph have in common, beside the view.

    Parameters
    ----------
    length : int
        Largest number of rules.
    least : int
        Smallest number of original rows that a rule captures, at least 1.
    only_default : int
        The action that only the default rule may take; -1 if there is none.
    """

    length: int
    least: int
    only_default: int = -1


class Level(NamedTuple):
    """The states with one number of rules left: their sets, and the number of the first."""

    sets: np.ndarray
    rules_left: int
    first: int


class Enumeration:
    """One enumeration of the lists that cost at most `most`.

    Parameters
    ----------
    view : CostMatrix
    rules : Rules
    priced : CostMatrix
        The view at the prices at which `most` bounds the cost above its `base`; without prices the
        view itself.
    most : int
    max_states, max_columns : int
    merge : bool
        Whether of columns with the same effect only the cheapest is kept.

    Raises
    ------
    OverflowError
        There are more states or columns than allowed, as soon as that is known.
    """

    def __init__(
        self,
        view: CostMatrix,
        rules: Rules,
        priced: CostMatrix,
        most: int,
        max_states: int,
        max_columns: int,
        merge: bool = True,
    ) -> None:
        self.view, self.rules, self.merge = view, rules, merge
        self.words = max(1, -(-view.n_rows // 64))
        self.max_states, self.max_columns = max_states, max_columns
        self.K, self.S = view.n_actions, len(view.side)
        prices = [] if priced is view else [priced.regret]
        values = np.column_stack(
            [view.regret, *(row.coefs for row in view.side), *prices, view.counts]
        ).astype(np.int64)
        self.coef, group = np.unique(values, axis=0, return_inverse=True)
        # Rows with equal values are adjacent: the kernels count them in bytes.
        order = np.argsort(group.ravel(), kind="stable")
        self.group = group.ravel()[order].astype(np.int64)
        self.X = np.ascontiguousarray(view.X[order])
        self.truth = pack(self.X.T, self.words)
        self.split = np.array([view.split_costs, priced.split_costs], dtype=np.int64)
        self.terms = np.zeros(10, dtype=np.int64)
        for place, term in (
            (kernels.K, self.K),
            (kernels.S, self.S),
            (kernels.LEAF, view.leaf_cost),
            (kernels.PRICED_LEAF, priced.leaf_cost),
            (kernels.LEAST_PRICE, self.split[1].min(initial=UNBOUNDED)),
            (kernels.LEAST, rules.least),
            (kernels.ONLY_DEFAULT, rules.only_default),
            (kernels.MERGE, merge),
            (kernels.MOST, min(most, UNBOUNDED)),
            (kernels.PRICED, self.K * (1 + self.S) if prices else 0),
        ):
            self.terms[place] = term
        self.n_columns = 0

    def levels(self) -> Iterator[tuple[Level, list[np.ndarray], list[np.ndarray]]]:
        """Every level with its columns (info, side)."""
        root = pack(np.ones((1, self.view.n_rows), dtype=np.uint8), self.words)
        level, reach = Level(root, self.rules.length, 0), np.zeros(1, dtype=np.int64)
        while len(level.sets):
            sets, following, infos, sides = self._columns(level, reach)
            yield level, infos, sides
            level = Level(sets, level.rules_left - 1, level.first + len(level.sets))
            reach = following

    def _columns(
        self, level: Level, reach: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], list[np.ndarray]]:
        """States of the next level with the least cost before them, and the columns of this one."""
        last = level.rules_left <= 1
        # Without a rule that is left no antecedent matters.
        X, truth = (
            (self.X, self.truth) if level.rules_left else (self.X[:, :0].copy(), self.truth[:0])
        )
        F = len(truth)
        each = self.K + F * self.K * (self.K if last else 1)
        room = max(1024, 4 * F)
        bits = np.empty((room, self.words), dtype=np.uint64)
        hashes, following = np.empty(room, dtype=np.uint64), np.empty(room, dtype=np.int64)
        table = np.full(_power_of_two(2 * room), -1, dtype=np.int64)
        infos, sides = [], []
        begin = n = 0
        while begin < len(level.sets):
            size = max(each, min(each * (len(level.sets) - begin), ROOM))
            info = np.empty((size, 7), dtype=np.int64)
            side = np.empty((size, self.S), dtype=np.int64)
            begin, n, n_columns = kernels.chain_columns(
                level.sets,
                reach,
                begin,
                last,
                truth,
                X,
                self.group,
                self.coef,
                self.terms,
                self.split,
                bits,
                hashes,
                following,
                table,
                n,
                info,
                side,
            )
            infos.append(info[:n_columns].copy())
            sides.append(side[:n_columns].copy())
            self._count(n_columns, level.first + len(level.sets) + n)
            if begin < len(level.sets) and (n + F > len(bits) or 2 * (n + F) > len(table)):
                bits, hashes = _grown(bits, n + F), _grown(hashes, n + F)
                following = _grown(following, n + F)
                table = np.full(_power_of_two(2 * len(bits)), -1, dtype=np.int64)
                row_sets.rehash(hashes, n, table)
        return bits[:n].copy(), following[:n].copy(), infos, sides

    def _count(self, n_columns: int, n_states: int) -> None:
        self.n_columns += n_columns
        if self.n_columns > self.max_columns:
            raise OverflowError(
                f"it has {self.n_columns:,} columns and more, where at most {self.max_columns:,} are allowed"
            )
        if n_states > self.max_states:
            raise OverflowError(
                f"it has {n_states:,} states and more, where at most {self.max_states:,} are allowed"
            )
        if 8 * self.words * n_states > MOST_BYTES:
            raise OverflowError(
                f"it has {n_states:,} states and more, whose sets of rows no longer fit in memory"
            )
