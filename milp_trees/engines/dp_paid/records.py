"""The record of prices that the compiled search reads. Loads numba."""

from __future__ import annotations

from milp_trees.engines.dp.contexts import ContextType, context_at, fields

#: A attributes, F tests in rows of S.
#: matrix_rows: R of `at.PRICES`; any_free: whether a test has no price. attribute (F,): -1 for free tests; discount, group (A,); relation
#: (R, S): of two tests, 0 none, 1 the same group, 2 the same attribute; split (F,): penalties;
#: prices_* (2 R, S): the table for the kernel, of its number type, the others empty.
#: base, low (S,): scratch, price of every test now and with a discount; after (A,): prices after a
#: root test; sides (F, 4): best trees of both sides of every test, each as a leaf and with at most
#: one split; floor (F, 2): what more than one split costs a side at least; weight (F,): of the
#: right sides; total: weight of the node; found (2, 5): a pair's best trees by leaves;
#: order (F,), score (F,). Of a node of four levels: goal (by leaves), children (2, W), next (A,):
#: prices below its test, lower, upper (2, 9), allowed (9,): bounds of its sides, child (3, 9).
PAID = ContextType(
    "Paid",
    fields(
        "matrix_rows:fixed any_free:fixed total attribute:int64:1 discount:int64:1 group:int64:1"
        " relation:uint8:2 split:int64:1 prices_16:int16:2 prices_32:int32:2 prices_64:int64:2"
        " base:int64:1 low:int64:1 after:int64:1 sides:int64:2 floor:int64:2 weight:int64:2"
        " found:int64:2 order:int64:1 score:float64:1 goal:int64:1 children:uint64:2"
        " next:int64:1 lower:int64:2 upper:int64:2 allowed:int64:1 child:int64:2"
    ),
)

paid_at = context_at(PAID)
