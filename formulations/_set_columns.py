r"""Columns whose values a node divides in two: into any two sets, or along an order.

A model that chooses the set itself (`gunluk`) needs columns with values instead of features. The
values of a column are the groups of rows that its features tell apart. Three kinds of columns are
found in a view:

- **sets**: the features of a column of categories, if every way to divide its values in two is a
  feature of the view at one price (`category_sets`);
- **thresholds**: the nested features `column <= t` of a column at one price; values are ranks;
- every other feature alone, a column with two values.

Rows that are equal in all features have equal values, so the values are found again after rows
were merged. Where presolve dropped a feature that equals one of another column, that other one
stands for the division.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from milp_trees.tasks.views import CostMatrix

#: A division of values: those that go left.
Left = frozenset[int]


@dataclass(frozen=True, eq=False)
class SetColumn:
    """A column with values that are divided.

    Parameters
    ----------
    name : str
    values : int array of shape (n,)
        Value of every row, from 0.
    n_values : int
    tests : tuple of int
        The view's features that ask this column.
    ordered : bool
        Whether only values up to some value may be divided from those above it.
    sides : dict
        For the values that go left, the feature of this division, and whether they are those for
        which it is true.
    price : int
        Cost of a split on this column.
    """

    name: str
    values: np.ndarray
    n_values: int
    tests: tuple[int, ...]
    ordered: bool
    sides: dict[Left, tuple[int, bool]]
    price: int

    def left(self, test: int) -> Left:
        """The values for which one of its features is false."""
        return next(s for s, found in self.sides.items() if found == (test, False))


def set_columns(view: CostMatrix) -> list[SetColumn]:
    """The columns of a view; every feature is in exactly one."""
    out: list[SetColumn] = []
    categories: dict[str, list[int]] = {}
    kinds: dict[str, set[str]] = {}
    for feature in view.features:
        kinds.setdefault(feature.column, set()).add(feature.kind)
    for name, tests in view.columns:
        prices = set(view.split_costs[list(tests)].tolist())
        feature = view.features[tests[0]]
        if len(tests) > 1 and len(prices) == 1:
            out.append(_column(view, name, tests, ordered=True))
        elif len(tests) == 1 and kinds[feature.column] & {"in", "=="}:
            categories.setdefault(feature.column, []).append(tests[0])
        else:
            out += [_column(view, view.features[f].name, (f,)) for f in tests]
    answers = {view.X[:, f].tobytes(): f for f in range(view.n_features - 1, -1, -1)}
    for name, found in categories.items():
        whole = _all_sets(view, name, tuple(found), answers)
        out += [whole] if whole else [_column(view, view.features[f].name, (f,)) for f in found]
    return out


def _column(
    view: CostMatrix, name: str, tests: tuple[int, ...], ordered: bool = False
) -> SetColumn:
    """The column of nested features, or of one feature."""
    held = view.X[:, tests].sum(axis=1).astype(np.int64)
    values = len(tests) - held if ordered else held
    n_values = len(tests) + 1
    sides: dict[Left, tuple[int, bool]] = {}
    for p, f in enumerate(tests):
        below = frozenset(range(p + 1))
        # Feature number p of an order is true for the ranks up to p; one feature alone, for 1.
        sides[below] = (f, ordered)
        sides[frozenset(range(n_values)) - below] = (f, not ordered)
    return SetColumn(name, values, n_values, tests, ordered, sides, int(view.split_costs[tests[0]]))


def _all_sets(
    view: CostMatrix, name: str, tests: tuple[int, ...], answers: dict[bytes, int]
) -> SetColumn | None:
    """The column of features that divide its values in every way; None if they do not."""
    prices = view.split_costs[list(tests)]
    _, first, values = np.unique(view.X[:, tests], axis=0, return_index=True, return_inverse=True)
    values = values.reshape(-1)
    k = len(first)
    # Without presolve a feature may be constant, or two may divide the rows alike.
    if k < 3 or len(tests) > 2 ** (k - 1) - 1 or (prices != prices[0]).any():
        return None
    everything, own = frozenset(range(k)), {view.X[:, f].tobytes(): f for f in tests}
    sides: dict[Left, tuple[int, bool]] = {}
    for code in range(1, 2 ** (k - 1)):  # value k-1 is never in the set
        inside = np.array([code >> j & 1 for j in range(k)], dtype=view.X.dtype)
        true, false = inside[values], (1 - inside)[values]
        f = own.get(true.tobytes(), own.get(false.tobytes()))
        if f is None:
            f = answers.get(true.tobytes(), answers.get(false.tobytes()))
        if f is None or view.split_costs[f] != prices[0]:
            return None
        members = frozenset(np.flatnonzero(inside == view.X[first, f]).tolist())
        holds = len(members) == k
        of_set = frozenset(np.flatnonzero(inside).tolist())
        sides[of_set], sides[everything - of_set] = (f, holds), (f, not holds)
    return SetColumn(name, values, k, tests, False, sides, int(prices[0]))
