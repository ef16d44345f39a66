"""The records of the compiled search for fronts. Loads numba.

`F` tests, `W` words per set of rows; vectors over leaves have `L + 5` entries and are indexed by
the number of leaves.
"""

from __future__ import annotations

from milp_trees.engines.dp.contexts import ContextType, context_at, fields

#: A node on the way from the root: depth and leaves that are left, the largest number of leaves of a
#: side (`width`), the phase it is in, the position in the order of its tests, the test and the side
#: of its open child, the depth under which the memo keeps it, its number of rows. any_leaves: the last
#: entry of vectors is that of trees with any number of leaves, which alone is asked for.
#: key (2,), hashes (F, 4): of its set of rows and of those of its children; budget, best (by
#: leaves): what a tree must stay below to matter, and the best tree, with the root test and the
#: leaves on its left; paired (F,): whether both sides of a test are known up to four leaves;
#: prices (A,): of the attributes; cost (F,): of every test on all rows; floor (F, 2): what both sides
#: cost besides leaves and penalties if they are split, the least price or what their rows cost;
#: lower, upper (F, 2, by leaves): bounds of both sides of every test; answer (2, by leaves): what
#: the parent is told.
FRAME = ContextType(
    "Frame",
    fields(
        "depth leaves phase position test side memo_depth size bits:uint64:1 key:uint64:1"
        " any_leaves width prices:int64:1 cost:int64:1 floor:int64:2"
        " hashes:uint64:2 budget:int64:1 best:int64:1 tests:int64:1 left:int64:1 order:int64:1"
        " paired:int64:1 lower:int64:3 upper:int64:3 answer:int64:2"
    ),
)

#: frames: address of the first one; any_leaves: whether their number is not limited; paid: address
#: of the record of prices, 0 for none; level: of the frame at work.
#: regret (1, F): of the first action on the right of every test; goal (by leaves): scratch;
#: found (2, by leaves): depth-two trees of both sides of a test; own (positions): what a row costs in
#: any leaf, empty where that is in no cost.
FRONTS = ContextType(
    "Fronts",
    fields(
        "frames:fixed any_leaves:fixed paid:fixed level regret:int64:2 goal:int64:1 found:int64:2"
        " own:int64:1"
    ),
)

#: entries (n, 4, by leaves): of a solved node the lower bounds, values, root tests and leaves on the
#: left; used: their number; most: how many the memory limit allows.
MEMO = ContextType("Memo", fields("used most:fixed entries:int64:3"))

frame_at, fronts_at, memo_at = map(context_at, (FRAME, FRONTS, MEMO))
