"""Prices of tests that depend on what the path has paid, for the search by leaves. Loads numba.

A node then is a set of rows with the price that every attribute has there (0 once it is paid); two
paths that lead to the same rows and prices share it (van der Linden, de Weerdt, Demirović 2023,
*STreeD*: the state of a task whose cost depends on the path). A side with a split pays at least the
cheapest attribute for all its rows.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from functools import cache

import numpy as np

from milp_trees.common.compiling.kernels import c_function, kernel
from milp_trees.common.compiling.vectors import call
from milp_trees.engines.dp.contexts import ContextType, context_at, fields
from milp_trees.engines.dp.nodes import sums_by_test

#: A attributes, F tests in rows of S; the weight of a row is the last of its values.
#: matrix_rows: R of `pair_layout.PRICES`; any_free: whether a test has no price;
#: fill: address of `fill_kernel`. attribute (F,): -1
#: for free tests; discount, group (A,); relation (R, S): of two tests, 0 none, 1 the same group, 2
#: the same attribute; prices_* (2 R, S): the table for the kernel, of its number type, the others
#: empty. Scratch: base, low (S,): price of every test now and with a discount; after (A,): prices
#: after a root test; weight (1, F): of the right sides; cost (F,): of every test on a side.
PAID = ContextType(
    "Paid",
    fields(
        "matrix_rows:fixed any_free:fixed fill:fixed attribute:int64:1 discount:int64:1 group:int64:1"
        " relation:uint8:2 prices_16:int16:2 prices_32:int32:2 prices_64:int64:2"
        " base:int64:1 low:int64:1 after:int64:1 weight:int64:2 cost:int64:1"
    ),
)

paid_at = context_at(PAID)


@kernel(allocates=False)
def pay(paid, prices, f):
    """`paid.after`: prices of all attributes once test f is paid."""
    a, after = paid.attribute[f], paid.after
    for b in range(len(prices)):
        after[b] = prices[b]
    if a < 0:
        return
    after[a] = 0
    if paid.group[a] >= 0:
        for b in range(len(prices)):
            if paid.group[b] == paid.group[a]:
                after[b] = min(after[b], paid.discount[b])


@kernel(allocates=False)
def _fill(table, paid):
    """The prices of all pairs of tests in the layout of `pair_layout.PRICES`."""
    R, F, base, low = paid.matrix_rows, len(paid.attribute), paid.base, paid.low
    for i in range(F):
        of_i = paid.relation[i]
        row, column = table[i], table[R + i]
        here, less = base[i], low[i]
        for j in range(F):
            related = of_i[j]
            p, q = base[j], here
            if related == 1:
                p, q = low[j], less
            if related == 2:
                p, q = 0, 0
            row[j] = p
            column[j] = q


@cache
def fill_kernel():
    """The address of `_fill` as code of its own, so that searches without prices compile less."""

    def fill_prices(paid_address):
        paid = paid_at(paid_address)
        if paid.prices_16.size:
            _fill(paid.prices_16, paid)
        elif paid.prices_32.size:
            _fill(paid.prices_32, paid)
        else:
            _fill(paid.prices_64, paid)
        return 0

    return c_function("int64(int64)", fill_prices).address


@kernel(allocates=False)
def set_prices(paid_address, prices):
    """Tell the kernel for pairs what tests cost on a node."""
    paid = paid_at(paid_address)
    for f in range(len(paid.attribute)):
        a = paid.attribute[f]
        paid.base[f] = prices[a] if a >= 0 else 0
        paid.low[f] = min(prices[a], paid.discount[a]) if a >= 0 else 0
    call(paid.fill, paid_address)


@kernel(allocates=False)
def costs_of(data, paid, prices, weight, out):
    """What every test costs on rows of some weight: its penalty and its price."""
    for f in range(data.n_tests):
        a = paid.attribute[f]
        out[f] = data.split[f] + (prices[a] * weight if a >= 0 else 0)


@kernel(allocates=False)
def _cheapest(paid, prices):
    """The price of the cheapest test."""
    if paid.any_free or not len(prices):
        return np.int64(0)
    least = prices[0]
    for b in range(len(prices)):
        least = min(least, prices[b])
    return least


@kernel(allocates=False)
def charge(data, paid, frame, weight):
    """`frame.cost`, and `frame.floor`: the least price of a split of both sides of every test."""
    costs_of(data, paid, frame.prices, weight, frame.cost)
    sums_by_test(data, frame.bits, data.n_values - 1, paid.weight)
    for f in range(data.n_tests):
        pay(paid, frame.prices, f)
        least, right = _cheapest(paid, paid.after), paid.weight[0, f]
        frame.floor[f, 0] = least * (weight - right)
        frame.floor[f, 1] = least * right


@kernel(allocates=False)
def mix(prices, key, at):
    """Make the key of a set, from a position on, one of the set with these prices."""
    a, b = np.uint64(0), np.uint64(0)
    for k in range(len(prices)):
        price = np.uint64(prices[k])
        a = (a ^ price) * np.uint64(0x9E3779B97F4A7C15)
        a ^= a >> np.uint64(32)
        b = (b ^ price) * np.uint64(0xBF58476D1CE4E5B9)
        b ^= b >> np.uint64(29)
    key[at] ^= a
    key[at + 1] ^= b
