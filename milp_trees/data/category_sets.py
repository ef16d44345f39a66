"""Questions about sets of categories: all of a column, or those along an order of its categories.

A split on a categorical column sends some categories one way and the others the other way. With k
categories there are 2^(k-1) - 1 such splits; of a set and its complement one is asked.

At a node whose two children are leaves, an order suffices: for two actions with any costs, and for
squared error, some best split sends the lowest categories of `by_mean` one way (Fisher 1958,
"On grouping for maximum homogeneity"; Breiman, Friedman, Olshen, Stone 1984, "Classification and
regression trees"). Above such a node it does not: which categories should share a
child depends on how well that child can be divided further. Nor does it under a minimum leaf size
or side constraints, where categories may be needed for their number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError

#: With so many categories all sets are 32767 features; more are refused.
MOST_CATEGORIES = 16

#: Columns of fewer categories have no set but single categories and their complements.
FEWEST = 4


def all_sets(categories: Sequence[str]) -> list[list[str]]:
    """Every way to divide categories in two, each by its smaller side, small sides first.

    Of two sides of one size it is the one without the first category.
    """
    k = len(categories)
    out: list[list[str]] = []
    for size in range(1, k // 2 + 1):
        rest = categories[1:] if 2 * size == k else categories
        out += [list(some) for some in combinations(rest, size)]
    return out


def category_rule(name: str, categories: list[str], most: int) -> dict[str, Any]:
    """The rule of a column of categories: a feature for each, or for each set of them.

    Raises
    ------
    DataError
        Sets are asked for, and the column has too many categories for all of them.
    """
    k = len(categories)
    if not most or k < FEWEST:
        return {"categories": categories}
    if k > min(most, MOST_CATEGORIES):
        raise DataError(
            f"The column {name!r} has {k} categories, so 2^{k - 1} - 1 sets of them; at most {min(most, MOST_CATEGORIES)} categories get all sets: "
            + (
                "raise category_sets, merge categories, or leave category_sets out."
                if k <= MOST_CATEGORIES
                else "merge categories, or leave category_sets out."
            )
        )
    return {"sets": all_sets(categories)}


def by_mean(categories: Any, numbers: Any, weights: Any = None) -> list[str]:
    """Categories by the mean of a number over their rows, the lowest first; ties by their names.

    Parameters
    ----------
    categories : array of shape (n,)
        The category of every row.
    numbers : array of shape (n,)
        The target, for squared error; for two actions, how much more the second one costs.
    weights : array of shape (n,), optional
        Positive weights of the rows. For two actions with any costs they are left out.

    Returns
    -------
    list of str
    """
    groups = np.asarray(categories).astype(str)
    values = [Fraction(v) for v in np.asarray(numbers).tolist()]
    shares = [Fraction(1)] * len(values) if weights is None else list(map(Fraction, weights))
    total: dict[str, list[Fraction]] = {}
    for group, value, share in zip(groups.tolist(), values, shares, strict=True):
        sums = total.setdefault(group, [Fraction(0), Fraction(0)])
        sums[0] += share * value
        sums[1] += share
    return sorted(total, key=lambda c: (total[c][0] / total[c][1], c))


def along(order: Sequence[str]) -> list[list[str]]:
    """The sets of the lowest categories of an order: one less than there are categories."""
    return [list(order[:size]) for size in range(1, len(order))]
