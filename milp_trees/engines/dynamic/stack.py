"""The memory of a search with an explicit stack: names of its numbers. No numba here."""

#: Positions in `Stack.number[level]`. ALLOWED: discrepancies allowed, -1 for any; RUNG: what the
#: root test may cost for now.
(
    DEPTH,
    BUDGET,
    BEST,
    TEST,
    POSITION,
    PHASE,
    CURRENT,
    FIRST_SIDE,
    FIRST_VALUE,
    LOWER,
    ALLOWED,
    OTHER_BOUND,
    OTHER_EXACT,
    SIZE,
    RUNG,
) = range(15)
#: Positions in `Stack.state`.
LEVEL, RETURNED, EXACT, RETURNED_TEST, BASE, REPORTED = range(6)
#: Positions in `Stack.board`, shared by threads.
STOP, SHARED_BEST = range(2)
