"""Compiled pair sums of thresholds by bins. Loads numba.

The true rows of the tests of a chain lie inside each other, so the first test that is true on a row
says which are. For two chains the rows are added to a table of bins, one per pair of first tests,
and running sums along both its sides give the sums of all pairs of tests: a row costs one addition
per pair of chains instead of one per pair of tests.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.vectors import doubles_at
from milp_trees.engines.dp.words import lowest

#: Tests whose pair sums one vector holds: those below the diagonal of such a square are read too.
_LANES = 4


@kernel(allocates=False)
def _read(data, work, bits):
    """List the rows of a set with their first tests and values; returns how many."""
    m = 0
    for w in range(len(bits)):
        word = bits[w]
        while word:
            work.bin_rows[m] = 64 * w + lowest(word)
            m += 1
            word &= word - np.uint64(1)
    for c in range(len(work.bin_tests)):
        own, tests = work.bin_tests[c], data.first_tests[c]
        for k in range(m):
            own[k] = tests[work.bin_rows[k]]
    for u in range(len(work.bin_values)):
        values = work.bin_values[u]
        for k in range(m):
            values[k] = float(data.values[work.bin_rows[k], u])
    return m


@kernel(allocates=False)
def _scatter(first, second, values, lines, m, F, S):
    """Add rows to the bins of their first tests in two chains; F stands for no test."""
    for k in range(m):
        i = first[k]
        if i < F:
            lines[np.uint64(i) * S + np.uint64(second[k])] += values[k]


@kernel(allocates=False)
def _clear(line):
    for j in range(len(line)):
        line[j] = 0.0


@kernel(allocates=False)
def _add(line, before):
    """Add a line of bins to the next one."""
    for j in range(len(line)):
        line[j] += before[j]


@kernel(allocates=False)
def _along_chain(first, second, third, fourth):
    """Running sums within a chain of four lines of bins."""
    v = w = x = y = 0.0
    for j in range(len(first)):
        v += first[j]
        w += second[j]
        x += third[j]
        y += fourth[j]
        first[j], second[j], third[j], fourth[j] = v, w, x, y


@kernel(allocates=False)
def sum_by_bins(data, work, bits, matrix):
    """Write the pair sums of a set of rows, as GATHER does.

    There is a column of padding at least, where rows are added on which no test of a chain is true.
    """
    F, S = data.n_tests, data.stride
    lines = (F + 3) // 4 * 4
    m = _read(data, work, bits)
    chains = data.chains
    C, step = len(chains) - 1, 8 * S
    for u in range(len(work.bin_values)):
        begin = matrix + u * lines * step
        whole = doubles_at(begin, F * S)
        _clear(whole)
        for a in range(C):
            for b in range(a, C):
                _scatter(
                    work.bin_tests[a],
                    work.bin_tests[b],
                    work.bin_values[u],
                    whole,
                    m,
                    F,
                    np.uint64(S),
                )
            at = begin + 8 * chains[a]
            for i in range(chains[a] + 1, chains[a + 1]):
                line = doubles_at(at + i * step, F - chains[a])
                _add(line, doubles_at(at + (i - 1) * step, F - chains[a]))
        for i in range(0, F, 4):
            for b in range(data.chain_of[i], C):
                at, n = begin + i * step + 8 * chains[b], chains[b + 1] - chains[b]
                _along_chain(
                    doubles_at(at, n),
                    doubles_at(at + step, n),
                    doubles_at(at + 2 * step, n),
                    doubles_at(at + 3 * step, n),
                )
        _complete(whole, F, S)


@kernel(allocates=False)
def _complete(whole, F, S):
    """Clear the column of padding, and fill in what lies below the diagonal in a vector."""
    for i in range(F):
        whole[i * S + F] = 0.0
        for j in range(i // _LANES * _LANES, i):
            whole[i * S + j] = whole[j * S + i]
