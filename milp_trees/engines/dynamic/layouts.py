"""The contexts of the compiled search: which arrays it is given. Loads numba.

`F` tests in rows of `S` bytes, `W` words per set of rows, `V` values and `M` masses per row, `U = V
+ M`, `G` groups of equal rows.
"""

from __future__ import annotations

from milp_trees.engines.dynamic.contexts import ContextType, context_at, fields

#: Read by all threads. X (positions, S): tests on rows; tests (F, W): rows on which a test is true;
#: everything (W,): all rows; values (positions, U + 1): values, masses, regret of the first action;
#: best (positions,): the cheapest action; most (positions,): the most a row can cost, heavy (W,):
#: the same per word; group_bits (G, W), group_range (G, 2): rows of a group and their words;
#: group_values (G, U + 1), group_best (G,), group_most (G,): as for rows; split (S,); least (M,);
#: keys: see `pair_counts.hash_keys`; par: numbers, see `arrays`.
DATA = ContextType(
    "Data",
    fields(
        "X:uint8:2 tests:uint64:2 everything:uint64:1 values:int64:2 best:int64:1 most:int64:1 heavy:int64:1 group_bits:uint64:2 group_range:int64:2"
        " group_values:int64:2 group_best:int64:1 group_most:int64:1 split:int64:1 least:int64:1 keys:uint64:2 par:int64:1"
    ),
)

#: Buffers of one thread. args, kernels: arguments and addresses of the kernels (`pair_layout`);
#: flags: switches; counters; rows: positions of the loaded node's rows, local: the reverse; X
#: (rows, S): their tests; listed, first (G + 1,): their places by group; total (3, U + 1): sums of
#: the node and two children; sides (2, W): children; hashes (F, 4): keys of the children; pairs:
#: addresses of the pair sums of the node and a child; totals: of rows of `total`; test_bits (F,
#: words), mask (words,), weighted_* (U, rows, S): for sums by row; value (2, 2): value and root
#: test of the last pair; weight (F + 1, K), impurity (F,): scratch; kept_*: the archive, per depth
#: a ring of sets, bounds, bounds per root test, and (filled, next).
WORK = ContextType(
    "Work",
    fields(
        "args:int64:1 kernels:int64:1 flags:int64:1 counters:int64:1 rows:int64:1 local:int64:1 X:uint8:2 listed:int64:1 first:int64:1 total:int64:2"
        " sides:uint64:2 hashes:uint64:2 pairs:int64:1 totals:int64:1 test_bits:uint64:2 mask:uint64:1 weighted_16:int16:3 weighted_32:int32:3"
        " weighted_64:int64:3 value:int64:2 values:int64:2 weight:int64:2 impurity:float64:1 kept_bits:uint64:3 kept_bound:int64:2 kept_tests:int64:3 kept:int64:2"
    ),
)

#: slots (a power of two, 4); state: entries used, entries allowed before it should grow.
TABLE = ContextType("Table", fields("slots:uint64:2 state:int64:1"))

#: One row per level; the last three arrays are shared by the threads of a run. `number`, `state`
#: and `board`: see `stack`. bound (levels, F): lower bounds with a given root test; root_bound
#: (F,), busy (F,): the same at the root, and whether a thread works on it.
STACK = ContextType(
    "Stack",
    fields(
        "number:int64:2 bits:uint64:2 key:uint64:2 order:int64:2 bound:int64:2 hashes:uint64:3 side:uint64:3 total:int64:2 state:int64:1"
        " board:int64:1 root_bound:int64:1 busy:int64:1"
    ),
)

#: What is left to do of a tree that is being written: waiting sets with their keys and (depth,
#: discrepancies, cost at most), and how far it is.
TREE = ContextType(
    "TreeWriter",
    fields(
        "waiting:uint64:2 keys:uint64:2 depths:int64:2 sides:uint64:2 out:int64:1 state:int64:1"
    ),
)

data_at, work_at, table_at, stack_at, tree_at = map(context_at, (DATA, WORK, TABLE, STACK, TREE))
