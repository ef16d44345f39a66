"""The records of the compiled search for rule lists. Loads numba.

`n` rows (of a reduced view), `W` words per set of rows, `M` antecedents, `K` actions; `L` layers of
a table and `2^h` entries of a layer (`tables`); `room` prefixes.
"""

from __future__ import annotations

from milp_trees.engines.dp.contexts import ContextType, context_at, fields

#: The problem. limit: largest number of rules, -1 without a limit; least_rows: that a rule
#: captures; cheapest: price of the cheapest rule.
#: X (n, M); regret (n, K); sets (M, W): rows that antecedents capture; sums: `bits.byte_sums` of the
#: regrets and, with a minimum of rows per rule, of the counts; price (M,): of a rule; below (L,):
#: the layer after one more rule, -1 if no rule may follow.
PROBLEM = ContextType(
    "Problem",
    fields(
        "limit:fixed least_rows:fixed cheapest:fixed X:uint8:2 regret:int64:2 sets:uint64:2"
        " sums:int64:3 price:int64:1 below:int64:1"
    ),
)

#: Tables of lower bounds (`tables`): T places, `used` of which hold one; work: steps spent on them,
#: counted `weight` times.
#: values (T, L, 2^h); size, row (T,), (T, h): the rows of a table; keep (T, M): the rows of a table
#: that an antecedent leaves, as bits; order, hits (T,): which table is asked first, and how often it
#: was enough; index (T,): the set of rows at work in every table.
#: Scratch: total (K, 2^h), pattern, kept (M,): which rows of a table an antecedent captures;
#: cost (M,): the cheapest price of a pattern; seen (2^h,); free, missed (n,): rows left, regrets.
TABLES = ContextType(
    "Tables",
    fields(
        "used learnt work asked weight values:int64:3 size:int64:1 row:int64:2 keep:int64:2 order:int64:1"
        " hits:int64:1 index:int64:1 total:int64:2 pattern:int64:1 kept:int64:1 cost:int64:1"
        " seen:int64:1 free:uint8:1 missed:int64:1"
    ),
)

#: Prefixes: `used` of them, `waiting` in the heap; best: value of the best list, `best_length` its
#: rules (`best_rules`), -1 while it is the one that was given; expanded, tested, work, longest:
#: counters; next: the prefix that a descent continues with, -1 if there is none.
#: members (room, W or W + 1): rows that no rule captures, and with a limit on the length the number
#: of rules; cost, parent, rule, length, closed (room,); slots: the table of sets; key, number
#: (2 room,): the heap.
#: Scratch: captured (W,), child (W or W + 1,), rest, part (K or K + 1,): sums.
PREFIXES = ContextType(
    "Prefixes",
    fields(
        "used waiting best best_length expanded tested work longest next bound"
        " members:uint64:2 cost:int64:1 parent:int64:1 rule:int64:1 length:int64:1 closed:uint8:1"
        " slots:uint64:1 key:int64:1 number:int64:1 best_rules:int64:1 captured:uint64:1"
        " child:uint64:1 rest:int64:1 part:int64:1"
    ),
)

problem_at, tables_at, prefixes_at = map(context_at, (PROBLEM, TABLES, PREFIXES))
