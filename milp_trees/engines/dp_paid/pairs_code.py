"""Vector code that evaluates pairs of tests where the lower one's price depends on the root's.

It is the code of `dp/pair_values_code`, which finds the best splits on both sides of
every root test. Here a split of a side also costs the price of the lower test, times the weight of
the side. The weight of rows is the last of their values; prices come as a table (`at.PRICES`).
"""

# mypy: disable-error-code="import-untyped,no-untyped-def,no-untyped-call,untyped-decorator,misc"

from __future__ import annotations

from functools import cache
from typing import Any

from milp_trees.common.compiling.inside import intrinsic, ir, types
from milp_trees.common.compiling.kernels import c_function
from milp_trees.engines.dp import pair_layout as at
from milp_trees.engines.dp.pair_sums_code import rounded
from milp_trees.engines.dp.pair_values_code import Pairs, has_parent


class _PricedPairs(Pairs):
    """Depth two with prices."""

    def step_cells(self, i, j):
        """As without prices; what the lanes and the rows see pays for the lower test."""
        add, mul, sub = self.builder.add, self.builder.mul, self.builder.sub
        weight = self.sum(self.V, -1)
        n, nj = self.total(weight), self.column(weight, j)
        others = sub(n, nj)
        for r, (lanes, rows) in enumerate(super().step_cells(i, j)):
            test = self.sum(i, r)
            ni = self.splat(self.column(weight, test, self.int))
            below_i = self.price(test, j)
            below_j = self.price(self.sum(test, rounded(self, self.F)), j)
            yield (
                (add(lanes[0], mul(below_j, nj)), add(lanes[1], mul(below_j, others))),
                (add(rows[0], mul(below_i, ni)), add(rows[1], mul(below_i, sub(n, ni)))),
            )

    def sides_at(self, j):
        """As without prices; a test with an empty side is no split, even if it gives a discount."""
        leaves, pairs = super().sides_at(j)
        if self.has_mass:
            return leaves, pairs
        icmp, weight = self.builder.icmp_signed, self.sum(self.V, -1)
        nj = self.column(weight, j)
        empty = self.builder.or_(icmp("==", nj, self.splat(0)), icmp("==", nj, self.total(weight)))
        never = self.splat(at.forbidden(self.bits))
        return tuple(
            [self.builder.select(empty, never, side) for side in both] for both in (leaves, pairs)
        )

    def price(self, row, j):
        """Prices from lane j on in a row of the table."""
        return self.load(
            self.sum(self.slot(at.PRICES), (row, self.row_bytes), (j, self.size)), self.vec
        )


def priced_sides(*arguments):
    """As SIDES: of a node, and of the rest of its parent."""
    _PricedPairs(*arguments).write_sides()
    with has_parent(arguments):
        _PricedPairs(*arguments, sibling=True).write_sides()


@intrinsic(prefer_literal=True)
def _body(typingctx: Any, table: Any, bits: Any, has_split: Any, has_mass: Any) -> Any:
    choice = [x.literal_value for x in (bits, has_split, has_mass)]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        priced_sides(builder, args[0], *choice, 0)
        return ir.Constant(ir.IntType(64), 0)

    return types.int64(table, bits, has_split, has_mass), codegen


@cache
def priced_kernel(bits: int, has_split: int, has_mass: int) -> int:
    """Address of the kernel; see `at.PRICES` for its further argument."""

    def priced_pairs(table):
        return _body(table, bits, has_split, has_mass)

    return int(c_function("int64(int64)", priced_pairs).address)
