"""The records of the compiled search: which numbers and arrays it is given. Loads numba.

`F` tests in rows of `S` bytes, `W` words per set of rows, `V` values and `M` masses per row,
`U = V + M`, `G` groups of equal rows.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from __future__ import annotations

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.dp.contexts import ContextType, context_at, fields

#: Read by all threads. n_counted: groups with a value that is not 0; forbidden: kernel values from
#: here on mean a leaf that is too small; nested: whether tests of one chain bound each other;
#: chains (C + 1,), chain_of (F,): where chains of tests begin whose true rows lie inside each other,
#: and the chain of every test; binned, first_tests (C, positions): whether pairs are summed by
#: bins, and the first test of a chain that is true on a row, F for none; priced: whether leaves or splits have a
#: price; relation: which archived sets bound a set (`memory`);
#: leaf_function, parameters (2,): what a leaf costs (`kit.leaf_code`), 0 for the cheapest action. X (positions, S): tests on rows; tests (F, W): rows on
#: which a test is true; everything (W,): all rows; values (positions, U + 1): values, masses, regret
#: of the first action; best (positions,): the cheapest action; most (positions,): the most a row can
#: cost, heavy (W,): the same per word; group_bits (G, W), group_range (G, 2): rows of a group and
#: their words; group_values (G, U + 1), group_best (G,), group_most (G,): as for rows; split (S,):
#: cost of every test; least (M,): smallest masses of a leaf; keys: see `pair_counts.hash_keys`.
DATA = ContextType(
    "Data",
    fields(
        "n_tests:fixed stride:fixed n_words:fixed n_values:fixed n_masses:fixed leaf:fixed"
        " least_split:fixed by_row:fixed n_groups:fixed n_counted:fixed n_actions:fixed"
        " forbidden:fixed relation:fixed priced:fixed nested:fixed binned:fixed chains:int64:1 chain_of:int64:1 first_tests:int32:2 leaf_function:fixed parameters:int64:1 X:uint8:2 tests:uint64:2 everything:uint64:1 values:int64:2 best:int64:1"
        " most:int64:1 heavy:int64:1 group_bits:uint64:2 group_range:int64:2 group_values:int64:2"
        " group_best:int64:1 group_most:int64:1 split:int64:1 least:int64:1 keys:uint64:2"
    ),
)

#: What a search counts. similar, siblings, ahead: sets that a bound settled; tests_skipped: root
#: tests that one did.
COUNTERS = "calls loads nodes hits hits_two similar tests_skipped siblings ahead rows_counted"

#: Buffers of one thread. The switches (`switches.Switches`) and the counters are numbers.
#: args, kernels: arguments and addresses of the kernels (`pair_layout`); rows: positions of the
#: loaded node's rows, local: the reverse; X (rows, S): their tests; listed, first (G + 1,): their
#: places by group; total (3, U + 1): sums of the node and two children; sides (2, W): children;
#: hashes (F, 4): keys of the children; pairs: addresses of the pair sums of the node and a child;
#: totals: of rows of `total`; test_bits (F, words), mask (words,), weighted_* (U, rows, S): for sums
#: by row; value (2, 2): value and root test of both sides of the last pair; values (8, S): what
#: SIDES says; bin_rows (n,), bin_tests (C, n), bin_values (U, n): for sums by bins; weight
#: (F + 2, K), impurity (F,): scratch; low (F, 2), ranked (F,),
#: per_test_values: bounds on both sides, order and values of the root tests at depth three (`nesting`); kept_*: the archive, per depth a ring of
#: sets, bounds, bounds per root test, and (filled, next); P, Q and what follows: known to the
#: kernels by their address (`pair_layout`), those with their number type as bytes.
WORK = ContextType(
    "Work",
    fields(
        "cache:fixed cache_two:fixed similarity:fixed per_test:fixed sibling:fixed"
        " larger_first:fixed gini:fixed look_ahead:fixed smaller_counted:fixed"
        " free_bounds:fixed nested:fixed " + COUNTERS + " "
        "args:int64:1 kernels:int64:1 rows:int64:1 local:int64:1 X:uint8:2 listed:int64:1"
        " first:int64:1 total:int64:2 sides:uint64:2 hashes:uint64:2 pairs:int64:1 totals:int64:1"
        " test_bits:uint64:2 mask:uint64:1 weighted_16:int16:3 weighted_32:int32:3"
        " weighted_64:int64:3 value:int64:2 values:int64:2 weight:int64:2 impurity:float64:1"
        " bin_rows:int64:1 bin_tests:int32:2 bin_values:float64:2 low:int64:2 ranked:int64:1 per_test_values:uint8:1 kept_bits:uint64:3 kept_bound:int64:2 kept_tests:int64:3 kept:int64:2 P:uint8:1 Q:uint8:1"
        " bytes:uint8:1 slots:int64:1 split_costs:uint8:1 coef:int64:2 scratch:uint8:1"
    ),
)

#: The counters' names, and where the first one stands in the table of `WORK`; they follow each other.
NAMES = COUNTERS.split()
FIRST_COUNTER = WORK.position[NAMES[0]]

#: room: entries allowed before it should grow; used (1,): their number, which threads raise at
#: once; slots (a power of two, 4).
TABLE = ContextType("Table", fields("room:fixed used:int64:1 slots:uint64:2"))

#: A set of rows on the way from the root. number: of the level, 0 at the root; allowed:
#: discrepancies that are left, -1 for any number; best, test: the best tree's value and root test;
#: lower: a bound on all trees; size: number of rows; position: in the order of tests; current: the
#: test at work; first_side, first_value, other_bound, other_exact: its sides; rung: what the root
#: test may cost for now. key (2,), hashes (F, 4): of the set and of its children; order (F,);
#: low (F, 2): bounds on both sides of the root tests (`nesting`);
#: bound (F,): lower bounds with a given root test; side (2, W): children; total (U + 1,). Of trees
#: of any depth: free, free_bound (F,), first_free, other_free, like `lower` and the others.
LEVEL = ContextType(
    "Level",
    fields(
        "number:fixed depth budget allowed best test lower size phase position current first_side"
        " first_value other_bound other_exact rung free first_free other_free bits:uint64:1"
        " key:uint64:1 order:int64:1 low:int64:2 bound:int64:1 free_bound:int64:1 hashes:uint64:2"
        " side:uint64:2 total:int64:1"
    ),
)

#: levels: address of the first one; level, base: number of the one at work, and of the one that is
#: to be answered; returned, exact, returned_test, returned_free: the last answer, with a bound for
#: trees of any depth; reported: value of the last incumbent that was reported; until: nodes of the
#: thread at which the search pauses, 0: it does not. Common to all stacks of a run: stop (1,),
#: shared_best (1,), root_free (F,), a bound for every root test at any depth. Shared by the threads of
#: a pass: root_bound (F,), busy (F,): the same at its depth, and whether a thread works on it.
STACK = ContextType(
    "Stack",
    fields(
        "levels:fixed level base returned exact returned_test returned_free reported until stop:int64:1"
        " shared_best:int64:1 root_bound:int64:1 root_free:int64:1 busy:int64:1"
    ),
)

#: What is left to do of a tree that is being written. top: sets waiting, less one; written: nodes;
#: root_test, root_value: of the whole tree, the test UNKNOWN if it must be found; solved: whether a
#: set has just been solved; slack: what its tree may cost more than was said, because of rounding; waiting, keys: sets; depths: their (depth, discrepancies, cost at most).
TREE = ContextType(
    "TreeWriter",
    fields(
        "top written root_test root_value solved slack waiting:uint64:2 keys:uint64:2 depths:int64:2"
        " sides:uint64:2 out:int64:1"
    ),
)

_LEVEL_BYTES = 8 * LEVEL.size

data_at, work_at, table_at, stack_at, tree_at, level_at = map(
    context_at, (DATA, WORK, TABLE, STACK, TREE, LEVEL)
)


@kernel(allocates=False)
def level_of(stack, number):
    """A level by its number."""
    return level_at(stack.levels + _LEVEL_BYTES * number)
