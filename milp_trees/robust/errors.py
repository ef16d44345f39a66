"""`WorstCaseErrors`: the base of tasks that count wrong rows under the worst shift."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from milp_trees.common.errors import DataError, NoView
from milp_trees.common.exact import common_unit, fraction
from milp_trees.data.names import entries_by_name
from milp_trees.models.tree import Tree
from milp_trees.robust.positions import Cells, cells_of, fixed_cells
from milp_trees.robust.space import RobustTrees
from milp_trees.robust.view import WorstCase
from milp_trees.tasks.base import Value
from milp_trees.tasks.penalised import PenalisedTask
from milp_trees.tasks.written import mapping

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space
    from milp_trees.models.tree import Routes

#: Views of datasets, by the description of the task and the candidates: a tree is valued often.
_made: WeakKeyDictionary[Dataset, dict[Any, WorstCase]] = WeakKeyDictionary()
#: Largest price, budget or objective in units.
LARGEST = 2**50


def numbers(text: str) -> Any:
    """`0.5` as a number for all columns, `age=2;income=1/2` as numbers by column."""
    return mapping(text) if "=" in text else text


@dataclass(frozen=True)
class WorstCaseErrors(PenalisedTask):
    """Base class of tasks that count the wrong rows of a tree under the worst shift."""

    view_makers: ClassVar[dict[type, str]] = {WorstCase: "worst_case"}
    units: ClassVar[tuple[str, str]] = ("errors in the worst case", "rate")
    of_classes: ClassVar[bool] = False
    has_extra_scores: ClassVar[bool] = True
    readers: ClassVar[Mapping[str, Callable[[str], Any]]] = {"feature_costs": mapping}

    @property
    def sense(self) -> str:
        return "min"

    def space_for(self, space: Space) -> Space:
        """Robust trees within the limits of a space of trees."""
        from milp_trees.models.space import Trees

        return RobustTrees.of(space) if isinstance(space, Trees) else space

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        dataset.require("y", f"The task {self.name}")
        return tuple(dataset.classes or ())

    def normaliser(self, dataset: Dataset) -> Fraction:
        """Number of rows: each counts once, whatever it weighs."""
        return Fraction(dataset.total_rows)

    def violations(self, routes: Routes, dataset: Dataset) -> list[str]:
        return []

    # -- the value ---------------------------------------------------------------------------------

    def value(self, routes: Routes, dataset: Dataset) -> Value:
        self.refuse_others(routes.actions, dataset)
        wrong = Fraction(self._view_of(routes, dataset).wrong(_tree(routes)))
        if self.penalised:
            splits = [t.columns for t in routes.splits]
            wrong /= self.rate_unit(dataset)
            wrong += self.penalties_of(routes.n_leaves, splits)
        return Value(float(wrong), wrong, self.unit, self.sense)

    def extra_scores(self, routes: Routes, dataset: Dataset) -> dict[str, float]:
        """`accuracy` of the rows as they are, and `worst_accuracy` under the worst shift."""
        y = dataset.require("y", f"The task {self.name}")
        if not len(y):
            return {}
        wrong = self._view_of(routes, dataset).wrong(_tree(routes))
        right = float(np.mean(routes.action == y))
        return {"accuracy": right, "worst_accuracy": 1 - wrong / len(y)}

    def _view_of(self, routes: Routes, dataset: Dataset) -> WorstCase:
        """The view with all features of a dataset."""
        if not getattr(routes, "boxes", False):
            raise DataError(f"The task {self.name} values trees only; give it one tree.")
        return self.worst_case(dataset, RobustTrees(None, split_on_group=True))

    # -- the view ----------------------------------------------------------------------------------

    @abstractmethod
    def shifts(self, dataset: Dataset) -> Mapping[str, Any]:
        """The columns that may be shifted, each with what the task says about it."""

    @abstractmethod
    def priced(self, cells: Mapping[str, Cells]) -> tuple[int, dict[str, np.ndarray]]:
        """The budget, and the price of each row for each cell, by column; -1 for never."""

    #: Whether numeric columns must hold whole numbers, and are shifted by whole numbers.
    whole: ClassVar[bool] = False

    def worst_case(self, dataset: Dataset, space: Space) -> WorstCase:
        """The prices of all cells, with the candidate features of a space."""
        if dataset.counts is not None:
            raise NoView(
                f"The task {self.name} shifts rows one by one, and this dataset has rows that stand for several; give each row its own line."
            )
        candidates = tuple(space.candidates(dataset).tolist())
        known, key = _made.setdefault(dataset, {}), (repr(self.spec()), candidates)
        if key not in known:
            known[key] = self._worst_case(dataset, list(candidates))
        return known[key]

    def _worst_case(self, dataset: Dataset, candidates: list[int]) -> WorstCase:
        y = dataset.require("y", f"The task {self.name}").astype(np.int64)
        features = tuple(dataset.features[j] for j in candidates)
        X = np.ascontiguousarray(np.take(dataset.X, candidates, axis=1))
        names = list(dict.fromkeys(t.column for t in features))
        column = np.array([names.index(t.column) for t in features], dtype=np.int64)
        shifted = self.shifts(dataset)
        cells: dict[str, Cells] = {}
        for j, name in enumerate(names):
            here = np.flatnonzero(column == j)
            tests = [features[f] for f in here]
            moves = name in shifted
            cells[name] = (
                cells_of(dataset, tests, X[:, here], self.whole)
                if moves
                else fixed_cells(X[:, here])
            )
        budget, prices = self.priced({c: cells[c] for c in names if c in shifted})
        blocks = [prices.get(c, _stays(cells[c])) for c in names]
        sizes = [cells[c].answers.shape[1] for c in names]
        cell_column = np.repeat(np.arange(len(names)), sizes)
        answers = np.zeros((len(features), len(cell_column)), dtype=np.uint8)
        for j, name in enumerate(names):
            answers[np.ix_(column == j, cell_column == j)] = cells[name].answers
        price = np.hstack(blocks) if blocks else np.zeros((len(y), 0), dtype=np.int64)
        price = np.where((price < 0) | (price > budget), budget + 1, price).astype(np.int64)
        leaf, splits = self._penalties([t.columns for t in features], dataset)
        unit = common_unit([Fraction(1), leaf, *splits])
        scale = unit / self.rate_unit(dataset) if self.penalised else unit
        if max([len(y) / unit, leaf / unit, *(s / unit for s in splits)]) > LARGEST:
            raise NoView(
                "Errors and penalties have no common unit of reasonable size; round the penalties (for example to three decimals)."
            )
        return WorstCase(
            X,
            features,
            y,
            self.actions(dataset),
            column,
            cell_column,
            answers,
            price,
            budget,
            int(1 / unit),
            int(leaf / unit),
            np.array([int(s / unit) for s in splits], dtype=np.int64),
            scale,
        )


def _stays(cells: Cells) -> np.ndarray:
    """Prices of a column that is not shifted."""
    return np.where(np.arange(cells.answers.shape[1]) == cells.at[:, None], 0, -1)


def _tree(routes: Routes) -> Tree:
    return Tree(routes.root, routes.actions)


def checked_numbers(given: Any, name: str) -> Any:
    """A parameter that is one number for all columns or a number per column, at least 0."""
    if isinstance(given, str) or not hasattr(given, "keys"):
        one = fraction(given, name)
        if one < 0:
            raise DataError(f"{name} must not be negative; got {given}.")
        return one
    each = entries_by_name(given, name)
    found = {str(c): fraction(v, f"{name} of {c!r}") for c, v in each.items()}
    wrong = next((c for c, v in found.items() if v < 0), None)
    if wrong is not None:
        raise DataError(f"{name} must not be negative; that of {wrong!r} is {found[wrong]}.")
    return found


def by_column(given: Any, name: str, dataset: Dataset) -> dict[str, Fraction]:
    """The number of every column of the features that has one."""
    columns = list(dict.fromkeys(t.column for t in dataset.features))
    if isinstance(given, Fraction):
        return dict.fromkeys(columns, given)
    known = {*columns, *(dataset.table_columns or ()), *(dataset.columns or ())}
    unknown = sorted(set(given) - known)
    if unknown:
        raise DataError(f"{name} names {unknown[0]!r}, which is not a column of the data.")
    return {c: given[c] for c in columns if c in given}
