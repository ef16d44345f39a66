"""The records of the compiled search for fronts. Loads numba.

`F` tests, `W` words per set of rows; vectors over leaves have `L + 5` entries and are indexed by
the number of leaves.
"""

from __future__ import annotations

from milp_trees.engines.dp.contexts import ContextType, context_at, fields

#: A node on the way from the root: depth and leaves that are left, the phase it is in, the position
#: in the order of its tests, the test and the side of its open child, the depth under which the
#: memo keeps it, its number of rows.
#: key (2,), hashes (F, 4): of its set of rows and of those of its children; budget, best (by
#: leaves): what a tree must stay below to matter, and the best tree, with the root test and the
#: leaves on its left; paired (F,): whether both sides of a test are known up to four leaves;
#: lower, upper (F, 2, by leaves): bounds of both sides of every test; answer (2, by leaves): what
#: the parent is told.
FRAME = ContextType(
    "Frame",
    fields(
        "depth leaves phase position test side memo_depth size bits:uint64:1 key:uint64:1"
        " hashes:uint64:2 budget:int64:1 best:int64:1 tests:int64:1 left:int64:1 order:int64:1"
        " paired:int64:1 lower:int64:3 upper:int64:3 answer:int64:2"
    ),
)

#: frames: address of the first one; level: of the frame at work; least_split: the cheapest test.
#: regret (1, F): of the first action on the right of every test; goal (by leaves): scratch;
#: found (2, by leaves): depth-two trees of both sides of a test.
FRONTS = ContextType(
    "Fronts",
    fields("frames:fixed level regret:int64:2 goal:int64:1 found:int64:2"),
)

#: entries (n, 4, by leaves): of a solved node the lower bounds, values, root tests and leaves on the
#: left; used: their number; most: how many the memory limit allows.
MEMO = ContextType("Memo", fields("used most:fixed entries:int64:3"))

frame_at, fronts_at, memo_at = map(context_at, (FRAME, FRONTS, MEMO))
