"""Impurities by hand, for the tests of BudgetRF."""

from fractions import Fraction

import numpy as np


def pairs(counts, alpha):
    """Threshold-pairs as printed, in rationals."""
    alpha = Fraction(str(alpha))
    rest = [max(n - alpha, Fraction(0)) for n in counts]
    return sum(
        (max(a * b - alpha**2, Fraction(0)) for i, a in enumerate(rest) for b in rest[:i]),
        Fraction(0),
    )


def entropy(counts, alpha):
    shares = [n / sum(counts) for n in counts if n]
    found = -sum(s * np.log(s) for s in shares)
    return found if found >= alpha else 0.0
