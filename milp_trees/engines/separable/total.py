"""Best values of states for at most two levels of splits, if the order is total. Loads numba.

`prepare` writes the kernels for one task; the parts of the task are compiled into them.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"
# Types of compiled functions are inferred by numba.

from __future__ import annotations

from functools import lru_cache
from typing import Any

from milp_trees.engines.separable.parts import Given, parts_of


@lru_cache(maxsize=64)
def prepare(given: Given, compiled: bool) -> tuple[Any, Any]:  # noqa: C901
    """The kernels `one_level` and `two_levels` of a task.

    Both find the best value of a state for a number of leaves, and the test at its root.
    """
    parts, n_actions = parts_of(given, compiled), given.n_actions
    leaf, split, transition = parts.leaf, parts.split, parts.transition
    better, combine, feasible = parts.better, parts.combine, parts.feasible
    has_split, write, decorate = parts.has_split, parts.write, parts.decorate
    cell, side, minus = parts.cell, parts.side, parts.minus

    def best_leaf(sums, context, tables):
        value = leaf(sums, 0, context, tables)
        found = feasible(value, sums, context, tables)
        for k in range(1, n_actions):
            other = leaf(sums, k, context, tables)
            allowed = feasible(other, sums, context, tables)
            if allowed and (not found or better(other, value)):
                value, found = other, True
        return found, value

    best_leaf = decorate(best_leaf)

    def joined(a, b, sums, test, context, tables):
        value = combine(a, b)
        if has_split:
            value = combine(value, split(sums, test, context, tables))
        return feasible(value, sums, context, tables), value

    joined = decorate(joined)

    def of_leaves(false, true, sums, test, context, tables, size):
        """The best value of a split into two leaves; `sums` are those of both together."""
        ok0, a = best_leaf(false, transition(context, test, 0, tables), tables)
        ok1, b = best_leaf(true, transition(context, test, 1, tables), tables)
        ok, value = joined(a, b, sums, test, context, tables)
        return ok and ok0 and ok1 and false[0] >= size and true[0] >= size, value

    of_leaves = decorate(of_leaves)

    def one_level(sides, total, context, tables, size, most, out):
        found, value = best_leaf(total, context, tables)
        found, chosen = found and total[0] >= size, -1
        if most >= 2:
            for f in range(sides.shape[1]):
                true = side(sides, f)
                ok, other = of_leaves(minus(total, true), true, total, f, context, tables, size)
                if ok and (not found or better(other, value)):
                    found, value, chosen = True, other, f
        if not found:
            return -2
        write(out, 0, value)
        return chosen

    def two_levels(pairs, total, context, tables, size, most, out):
        found, value = best_leaf(total, context, tables)
        found, chosen = found and total[0] >= size, -1
        for f in range(pairs.shape[1]):
            true = cell(pairs, f, f)
            false = minus(total, true)
            if most < 2 or false[0] < size or true[0] < size:
                continue
            below0, below1 = transition(context, f, 0, tables), transition(context, f, 1, tables)
            ok0, a = best_leaf(false, below0, tables)
            ok1, b = best_leaf(true, below1, tables)
            deep0, c, deep1, d = ok0, a, ok1, b
            if most >= 3:
                for g in range(pairs.shape[1]):
                    both, only = cell(pairs, f, g), cell(pairs, g, g)
                    ok, other = of_leaves(minus(true, both), both, true, g, below1, tables, size)
                    if ok and (not deep1 or better(other, d)):
                        deep1, d = True, other
                    only = minus(only, both)
                    ok, other = of_leaves(minus(false, only), only, false, g, below0, tables, size)
                    if ok and (not deep0 or better(other, c)):
                        deep0, c = True, other
            if most >= 4:
                ok0, a = deep0, c
            ok, other = joined(a, d, total, f, context, tables)
            if ok and ok0 and deep1 and (not found or better(other, value)):
                found, value, chosen = True, other, f
            ok, other = joined(c, b, total, f, context, tables)
            if ok and deep0 and ok1 and (not found or better(other, value)):
                found, value, chosen = True, other, f
        if not found:
            return -2
        write(out, 0, value)
        return chosen

    return decorate(one_level), decorate(two_levels)
