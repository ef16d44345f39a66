"""Impurities of a set of rows, as functions of its class counts. Loads numba.

See Nan, Wang, Saligrama, "Feature-Budgeted Random Forest" (ICML 2015).

An impurity F is *admissible* if it is non-negative, zero on pure sets, monotone (F of a subset is
at most F of the set), supermodular (a further row raises F of a larger set by at least as much) and
log F(S) = O(log |S|). In a tree grown with such an F, the cost of the most expensive row is at most
O(log n) times the least that is possible for any tree.

`threshold-pairs` is admissible: F = Σ_{i<j} [[n_i - α]⁺ [n_j - α]⁺ - α²]⁺; with α = 0 it counts the
pairs of rows of different classes. `entropy` is not admissible; it is the usual choice and serves
for comparison. It is measured in nats and set to 0 below α, and children are compared by their
mean, not their maximum.

To add an impurity, add a number, a branch in `value`, and a row of `IMPURITIES`.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.errors import DataError, UnknownName
from milp_trees.common.exact import fraction

THRESHOLD_PAIRS, ENTROPY = 0, 1


class Impurity(NamedTuple):
    """One row of the table of impurities.

    It holds the number by which compiled code identifies it, how the values of two children are
    combined, and whether it is admissible.
    """

    number: int
    expected: bool
    admissible: bool


IMPURITIES = {
    "threshold-pairs": Impurity(THRESHOLD_PAIRS, expected=False, admissible=True),
    "entropy": Impurity(ENTROPY, expected=True, admissible=False),
}


class Measure(NamedTuple):
    """An impurity with its α and the table of k log k that compiled code needs.

    Threshold-pairs is computed in whole numbers: with α = p/q, compiled code returns q² F.
    """

    impurity: Impurity
    p: int
    q: int
    klogk: np.ndarray

    @property
    def scale(self) -> int:
        """The factor by which compiled code multiplies F."""
        return self.q * self.q if self.impurity.number == THRESHOLD_PAIRS else 1


def measure(name: str, alpha: Any, n_rows: int) -> Measure:
    """Prepare an impurity for at most `n_rows` rows."""
    if name not in IMPURITIES:
        raise UnknownName(f"There is no criterion {name!r}; take one of {', '.join(IMPURITIES)}.")
    impurity = IMPURITIES[name]
    threshold = fraction(alpha, "alpha")
    if threshold < 0:
        raise DataError(f"alpha must be at least 0; got {alpha}.")
    p, q = threshold.numerator, threshold.denominator
    # Sums of at most (q n)² / 2 are exact in double precision.
    if impurity.number == THRESHOLD_PAIRS and (q * n_rows) ** 2 >= 2**54:
        raise DataError(
            f"alpha={alpha} has the denominator {q}, too large for exact counts of pairs among {n_rows} rows; take a rounder number."
        )
    if threshold > n_rows:  # no set of rows is impure, so a larger α changes nothing
        p, q = n_rows, 1
    counts = np.arange(n_rows + 1, dtype=np.float64)
    return Measure(impurity, p, q, counts * np.log(np.maximum(counts, 1.0)))


@kernel(nogil=True, allocates=False)
def value(measure, counts):
    """F (threshold-pairs: q² F, a whole number) of class counts, from scratch: O(K²) or O(K)."""
    p, q, klogk = measure.p, measure.q, measure.klogk
    if measure.impurity.number == THRESHOLD_PAIRS:
        whole = 0
        for i in range(counts.size):
            a = q * counts[i] - p
            if a <= 0:
                continue
            for j in range(i):
                whole += max(a * max(q * counts[j] - p, 0) - p * p, 0)
        return float(whole)
    total = 0
    inside = 0.0
    for i in range(counts.size):
        total += counts[i]
        inside += klogk[counts[i]]
    if total == 0:
        return 0.0
    found = (klogk[total] - inside) / total
    return found if found > 0.0 and found * q >= p else 0.0


@kernel(nogil=True, allocates=False)
def pairs_added(counts, c, m, p, q):
    """What q² F of threshold-pairs grows by when m rows of class c are added: O(K)."""
    before = max(q * counts[c] - p, 0)
    after = max(q * (counts[c] + m) - p, 0)
    if after == before:
        return 0
    added = 0
    for j in range(counts.size):
        if j != c:
            other = max(q * counts[j] - p, 0)
            added += max(after * other - p * p, 0) - max(before * other - p * p, 0)
    return added
