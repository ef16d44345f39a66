"""Tests and rows of a problem by the user's names, as indices of a model after presolve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError, UnknownName, Unsupported
from milp_trees.common.registering.spelling import hint
from milp_trees.tasks.grouping import packed
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature
    from milp_trees.problems.problem import Problem

#: How to keep every test.
KEEP = "build with presolve='rows', which keeps every test"


class BuiltTest(int):
    """The index of a test in a model: an int that knows which tests it stands for.

    Parameters
    ----------
    index : int
    feature : BinaryFeature
        The test that was asked for.
    same : tuple of BinaryFeature
        Every test of the problem that has this index, because they have equal answers on the rows.
    """

    __test__ = False  # pytest must not collect this class as tests

    feature: BinaryFeature
    same: tuple[BinaryFeature, ...]

    def __new__(
        cls, index: int, feature: BinaryFeature, same: tuple[BinaryFeature, ...]
    ) -> BuiltTest:
        made = super().__new__(cls, index)
        made.feature, made.same = feature, same
        return made

    @property
    def name(self) -> str:
        """The test that was asked for, as text."""
        return self.feature.name


class ModelTests:
    """The tests of a view and those that presolve dropped, by name.

    Parameters
    ----------
    problem : Problem
    view : view of the task
        With `features`, `index` and `alias`.
    label : str
        The formulation, for sentences.
    """

    def __init__(self, problem: Problem, view: Any, label: str) -> None:
        if not hasattr(view, "features") or not hasattr(view, "index"):
            raise Unsupported(
                f"The model of {label} has no tests as indices; its sets say in their `doc` what they count."
            )
        self.problem, self.view = problem, view
        #: Every test of the problem with its index, or why it has none.
        self.known: dict[BinaryFeature, int | str] = {}
        for feature, index in view.index.items():
            self.known[feature] = index
        for feature, kept in getattr(view, "alias", {}).items():
            self.known[feature] = self._alias(feature, kept)
        self.same: dict[int, list[BinaryFeature]] = {}
        for feature, index in self.known.items():
            if isinstance(index, int):
                self.same.setdefault(index, []).append(feature)

    def _alias(self, feature: BinaryFeature, kept: tuple[int, bool] | bool) -> int | str:
        """The index of a test that was dropped, or the sentence why it has none."""
        if isinstance(kept, bool):
            answer = "yes" if kept else "no"
            return f"The test {feature.name!r} has the answer {answer} on every row, so presolve dropped it; {KEEP}."
        index, opposite = kept
        if not opposite:
            return index
        other = self.view.features[index].name
        return f"The test {feature.name!r} has the opposite answer of {other!r} on every row, so the model has only the latter, with the sides exchanged; ask for that one, or {KEEP}."

    def find(self, name: str | BinaryFeature) -> BuiltTest:
        """The index of a test; see `Built.test`."""
        feature = self._named(name)
        index = self.known[feature]
        if isinstance(index, str):
            raise Unsupported(index)
        return BuiltTest(index, feature, tuple(self.same[index]))

    def of_column(self, column: str) -> list[BuiltTest]:
        """The indices of all tests of a column; see `Built.tests_of`."""
        of_data = [t for t in self.problem.dataset.features if column in t.columns]
        asked = [t for t in self.known if column in t.columns]
        asked.sort(key=lambda t: of_data.index(t) if t in of_data else len(of_data))
        if not asked:
            if of_data:
                raise UnknownName(_barred(column))
            names = sorted({c for t in self.problem.dataset.features for c in t.columns})
            raise UnknownName(
                f"No test of the problem asks about the column {column!r}.{hint(column, names)} Its columns are {', '.join(names)}."
            )
        found: dict[int, BuiltTest] = {}
        for feature in asked:
            index = self.known[feature]
            if isinstance(index, int):
                found.setdefault(index, self.find(feature))
            elif self.view.alias[feature] not in (True, False):
                raise Unsupported(index)
        return list(found.values())

    def columns_of(self, index: int) -> tuple[str, ...]:
        """The columns of all tests of an index; see `Built.columns_of`."""
        columns = [c for t in self.same[index] for c in t.columns]
        return tuple(dict.fromkeys(columns))

    def _named(self, name: str | BinaryFeature) -> BinaryFeature:
        """The test of a name."""
        if not isinstance(name, str):
            if name in self.known:
                return name
            name = str(getattr(name, "name", name))
        wanted = _plain(name)
        for feature in self.known:
            if _plain(feature.name) == wanted:
                return feature
        for feature in self.known:
            if _plain(getattr(feature, "negation", "")) == wanted:
                raise UnknownName(
                    f"{name!r} is the answer no to the test {feature.name!r}; ask for that test, and take its left side."
                )
        barred = [t for t in self.problem.dataset.features if _plain(t.name) == wanted]
        if barred:
            raise UnknownName(_barred(barred[0].columns[0]))
        names = [feature.name for feature in self.known]
        raise UnknownName(f"The problem has no test {name!r}.{hint(name, names)}")


def _barred(column: str) -> str:
    return f"Models of this problem may not ask about the column {column!r}, which holds the groups; allow it by split_on_group=True."


def _plain(name: str) -> str:
    """A name without spaces around its sign."""
    for sign in ("<=", "==", "!=", ">"):
        left, found, right = name.partition(sign)
        if found:
            return f"{left.strip()} {sign} {right.strip()}"
    return name.strip()


def row_places(problem: Problem, view: Any) -> np.ndarray:
    """For every row of the dataset, its row of a view."""
    n = problem.dataset.n_rows
    places = np.full(n, -1, dtype=np.int64)
    places[view.rows] = np.arange(view.n_rows)
    if (places >= 0).all():
        return places
    # A row that was merged has the answers of the one that stands for it.
    sums = isinstance(view, LeafSums)
    whole: Any = problem.first_view((CostMatrix, LeafSums)) if sums else problem.view(type(view))
    kept = [whole.index[test] for test in view.features]
    words = packed(np.ascontiguousarray(whole.X[:, kept]))
    known = {words[i].tobytes(): int(places[i]) for i in view.rows.tolist()}
    for i in np.flatnonzero(places < 0).tolist():
        places[i] = known[words[i].tobytes()]
    return places


def place_of(places: np.ndarray, row: Any) -> int:
    """The row of a view of one row of the dataset."""
    if isinstance(row, (bool, np.bool_)) or not isinstance(row, (int, np.integer)):
        raise DataError(
            f"Rows are asked for by their numbers, such as np.flatnonzero(mask) for those of a mask; got {row!r}."
        )
    if not 0 <= row < len(places):
        raise DataError(f"The dataset has the rows 0 to {len(places) - 1}; got {int(row)}.")
    return int(places[row])
