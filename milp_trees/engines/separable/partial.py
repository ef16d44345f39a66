"""Fronts of states for at most two levels of splits, and sums of fronts. Loads numba.

A front is an array with a value per row; no value is better than another one, and none is there
twice. `prepare` writes the kernels for one task; the parts of the task are compiled into them.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
# Types of compiled functions are inferred by numba.

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from milp_trees.engines.separable.parts import Given, parts_of


class FrontKernels(NamedTuple):
    """Kernels for fronts."""

    #: (sides, whole, context, tables, size, most, width) → the front from the sums of all tests.
    one_level: Any
    #: (pairs, whole, context, tables, size, most, width) → the front from those of all pairs.
    two_levels: Any
    #: (front, n, a, b, whole, test, context, tables) → (front, n) with all values of a split.
    merge: Any
    #: (a, b, value, whole, test, context, tables) → positions in two fronts; (-1, -1): none.
    find: Any


@lru_cache(maxsize=64)
def prepare(given: Given, compiled: bool) -> FrontKernels:  # noqa: C901
    """The kernels of a task."""
    parts, n_actions = parts_of(given, compiled), given.n_actions
    leaf, split, transition = parts.leaf, parts.split, parts.transition
    better, combine, feasible = parts.better, parts.combine, parts.feasible
    has_split, read, write = parts.has_split, parts.read, parts.write
    cell, side, minus, decorate = parts.cell, parts.side, parts.minus, parts.decorate

    def keep(front, n, value):
        for i in range(n):
            other = read(front, i)
            if other == value or better(other, value):
                return front, n
        left = 0
        for i in range(n):
            other = read(front, i)
            if not better(value, other):
                if left < i:
                    write(front, left, other)
                left += 1
        if left == len(front):
            front = np.concatenate((front, np.empty_like(front)))
        write(front, left, value)
        return front, left + 1

    keep = decorate(keep)

    def joined(a, b, sums, test, context, tables):
        value = combine(a, b)
        if has_split:
            value = combine(value, split(sums, test, context, tables))
        return value

    joined = decorate(joined)

    def leaves(front, n, sums, context, tables):
        for k in range(n_actions):
            value = leaf(sums, k, context, tables)
            if feasible(value, sums, context, tables):
                front, n = keep(front, n, value)
        return front, n

    leaves = decorate(leaves)

    def pairs_of_leaves(front, n, false, true, sums, test, context, tables, size):
        if false[0] < size or true[0] < size:
            return front, n
        below0, below1 = transition(context, test, 0, tables), transition(context, test, 1, tables)
        for k in range(n_actions):
            a = leaf(false, k, below0, tables)
            if not feasible(a, false, below0, tables):
                continue
            for m in range(n_actions):
                b = leaf(true, m, below1, tables)
                if feasible(b, true, below1, tables):
                    value = joined(a, b, sums, test, context, tables)
                    if feasible(value, sums, context, tables):
                        front, n = keep(front, n, value)
        return front, n

    pairs_of_leaves = decorate(pairs_of_leaves)

    def merge(front, n, a, b, sums, test, context, tables):
        for i in range(len(a)):
            for j in range(len(b)):
                value = joined(read(a, i), read(b, j), sums, test, context, tables)
                if feasible(value, sums, context, tables):
                    front, n = keep(front, n, value)
        return front, n

    merge = decorate(merge)

    def find(a, b, value, sums, test, context, tables):
        for i in range(len(a)):
            for j in range(len(b)):
                if joined(read(a, i), read(b, j), sums, test, context, tables) == value:
                    return i, j
        return -1, -1

    def one_level(sides, total, context, tables, size, most, width):
        front, n = np.empty((8, width), dtype=np.int64), 0
        if total[0] >= size:
            front, n = leaves(front, n, total, context, tables)
        if most >= 2:
            for f in range(sides.shape[1]):
                true = side(sides, f)
                front, n = pairs_of_leaves(
                    front, n, minus(total, true), true, total, f, context, tables, size
                )
        return front[:n].copy()

    def two_levels(pairs, total, context, tables, size, most, width):
        front, n = np.empty((8, width), dtype=np.int64), 0
        if total[0] >= size:
            front, n = leaves(front, n, total, context, tables)
        space = np.empty((4, 8, width), dtype=np.int64)
        single0, single1, deep0, deep1 = space[0], space[1], space[2], space[3]
        for f in range(pairs.shape[1]):
            true = cell(pairs, f, f)
            false = minus(total, true)
            if most < 2 or false[0] < size or true[0] < size:
                continue
            below0, below1 = transition(context, f, 0, tables), transition(context, f, 1, tables)
            single0, n0 = leaves(single0, 0, false, below0, tables)
            single1, n1 = leaves(single1, 0, true, below1, tables)
            deep0, m0 = leaves(deep0, 0, false, below0, tables)
            deep1, m1 = leaves(deep1, 0, true, below1, tables)
            if most >= 3:
                for g in range(pairs.shape[1]):
                    both = cell(pairs, f, g)
                    only = minus(cell(pairs, g, g), both)
                    deep1, m1 = pairs_of_leaves(
                        deep1, m1, minus(true, both), both, true, g, below1, tables, size
                    )
                    deep0, m0 = pairs_of_leaves(
                        deep0, m0, minus(false, only), only, false, g, below0, tables, size
                    )
            if most >= 4:
                front, n = merge(front, n, deep0[:m0], deep1[:m1], total, f, context, tables)
            else:
                front, n = merge(front, n, single0[:n0], deep1[:m1], total, f, context, tables)
                front, n = merge(front, n, deep0[:m0], single1[:n1], total, f, context, tables)
        return front[:n].copy()

    return FrontKernels(decorate(one_level), decorate(two_levels), merge, decorate(find))
