"""`FeatureList`: the binary features of thresholds and 0/1 columns, made when they are asked for.

All midpoints of a few thousand rows are tens of thousands of features, of which a search over sorted
columns names a handful. Making and naming them all took longer than the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.feature import BinaryFeature

#: So many features are all made when the first one is asked for.
FEW = 1000


class FeatureList(Sequence[BinaryFeature]):
    """Features of columns in their order; equal to the tuple of the same features.

    Parameters
    ----------
    rules : mapping of column name to "0/1" or list of float
        Rules of a binarizer: a column that is taken as it is, or its different thresholds in
        ascending order.
    """

    def __init__(self, rules: Mapping[str, Any]) -> None:
        self.rules = {name: rule for name, rule in rules.items() if rule != []}
        sizes = [1 if rule == "0/1" else len(rule) for rule in self.rules.values()]
        self._names = list(self.rules)
        self._begin = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self._size = int(self._begin[-1])

    def __len__(self) -> int:
        return self._size

    @cached_property
    def whole(self) -> tuple[BinaryFeature, ...]:
        """All of them."""
        out: list[BinaryFeature] = []
        for name, rule in self.rules.items():
            out += (
                [BinaryFeature(name)]
                if rule == "0/1"
                else [BinaryFeature(name, "<=", t) for t in rule]
            )
        return tuple(out)

    def __iter__(self) -> Iterator[BinaryFeature]:
        return iter(self.whole)

    @overload
    def __getitem__(self, place: int) -> BinaryFeature: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[BinaryFeature, ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice) or len(self) <= FEW or "whole" in self.__dict__:
            return self.whole[place]
        at = range(len(self))[place]
        column = int(np.searchsorted(self._begin, at, side="right")) - 1
        name = self._names[column]
        rule = self.rules[name]
        if rule == "0/1":
            return BinaryFeature(name)
        return BinaryFeature(name, "<=", rule[at - int(self._begin[column])])

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FeatureList):
            return self is other or list(self.rules.items()) == list(other.rules.items())
        return self.whole == other

    def __hash__(self) -> int:
        return hash(self.whole)

    def __repr__(self) -> str:
        return repr(self.whole)

    @property
    def n_thresholds(self) -> int:
        """How many of them are thresholds."""
        return sum(len(rule) for rule in self.rules.values() if rule != "0/1")

    @property
    def differ(self) -> bool:
        """Whether their names must differ.

        The text of a threshold tells it from the others of its column, and what stands before it
        is the column; only a column that has a sign in its own name could be read as both.
        """
        return not any(" <= " in name for name in self.rules)


class Places(Mapping[BinaryFeature, int]):
    """Place of each feature of a `FeatureList`, found by its column and threshold."""

    def __init__(self, features: FeatureList) -> None:
        self.features = features
        self._column = {name: j for j, name in enumerate(features._names)}

    def __getitem__(self, test: BinaryFeature) -> int:
        place = self._place(test)
        if place is None:
            raise KeyError(test)
        return place

    def __contains__(self, test: object) -> bool:
        return isinstance(test, BinaryFeature) and self._place(test) is not None

    def _place(self, test: BinaryFeature) -> int | None:
        column = self._column.get(getattr(test, "column", ""))
        if column is None or test.missing is not None or test.order:
            return None
        rule = self.features.rules[test.column]
        begin = int(self.features._begin[column])
        if rule == "0/1":
            return begin if test.kind == "is" and test.value is None else None
        if test.kind != "<=" or isinstance(test.value, str):
            return None
        at = int(np.searchsorted(np.asarray(rule), test.value))
        return begin + at if at < len(rule) and rule[at] == test.value else None

    def __iter__(self) -> Iterator[BinaryFeature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)


def feature_list(rules: Mapping[str, Any]) -> FeatureList | None:
    """The features of rules; None if a rule is of another kind or its thresholds have no order."""
    known: dict[str, Any] = {}
    for name, rule in rules.items():
        if rule != "0/1" and rule != []:
            if not isinstance(rule, list):
                return None
            at = np.array(rule)
            if at.dtype != float or not (at[:-1] < at[1:]).all():
                return None
            rule = at.tolist()
        known[name] = rule
    return FeatureList(known)


def named_or_numbered(features: Sequence[BinaryFeature], n: int) -> Sequence[BinaryFeature]:
    """The features, or n columns of 0 and 1 called by their places if there are none."""
    given = features if isinstance(features, FeatureList) else tuple(features)
    return given or tuple(BinaryFeature(str(j)) for j in range(n))


def check_different(features: Sequence[BinaryFeature]) -> None:
    """Raise DataError if two features have the same name."""
    if isinstance(features, FeatureList) and features.differ:
        return
    called = [t.name for t in features]
    if len(set(called)) != len(called):
        twice = next(n for n in called if called.count(n) > 1)
        raise DataError(f"Two features are called {twice!r}; rename one of the columns.")
