"""Monotone trees: a larger value of one column must not take the favourable action away.

Definition (Ben-David 1995; Potharst and Feelders 2002, "Classification trees for problems with
monotonicity constraints", for one monotone column): two leaves are *ordered* if there are two points
that agree in all other columns, the first in the box of one leaf, the second with a larger value of
the monotone column in the box of the other. For no ordered pair the first leaf has the favourable
action and the second has not (the other way round if the direction is decreasing). Boxes are those
of the tests on the paths, whether the data have rows there or not.

A box depends on the path, and not only on the rows that reach a leaf, so no linear row on sets of
rows states it; state-flow excludes pairs of leaves when a solution contains them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError, NoView
from milp_trees.data.antecedent import Antecedent
from milp_trees.tasks.constraint_base import TreeConstraint, position
from milp_trees.tasks.structure import Structure

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature, Dataset
    from milp_trees.models.tree import Routes
    from milp_trees.tasks.views import CostMatrix

#: Why rule lists have no such order.
OF_TREES = "The constraint monotone compares the leaves of trees, which are boxes; what a rule captures is none, so it is not defined on rule lists."

#: The tests on the way to a leaf, with their answers.
Path = Sequence[tuple["BinaryFeature", bool]]


@dataclass(frozen=True, eq=False)
class LeafOrder(Structure):
    """No two ordered leaves break the order of a column.

    Parameters
    ----------
    name : str
    column : str
        The monotone column.
    increasing : bool
    liked : int
        The favourable action.
    """

    kind: ClassVar[str] = "leaf order"

    column: str
    increasing: bool
    liked: int

    def holds(self, routes: Routes, view: CostMatrix) -> bool:
        return next(self.broken(answered(routes), routes.leaf_actions), None) is None

    def broken(self, paths: Sequence[Path], actions: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Pairs of leaves that break the order: one with less of the column, one with more."""
        boxes = [_box(path) for path in paths]
        for low, high in permutations(range(len(boxes)), 2):
            first, second = (low, high) if self.increasing else (high, low)
            if (
                actions[first] == self.liked
                and actions[second] != self.liked
                and _ordered(boxes[low], boxes[high], self.column)
            ):
                yield low, high

    def merged(self, total: Callable[[np.ndarray], np.ndarray]) -> LeafOrder:
        return self


@dataclass(frozen=True)
class Monotone(TreeConstraint):
    """A larger value of one column never takes the favourable action away.

    Parameters
    ----------
    column : str
        A column with thresholds, or a 0/1 column.
    direction : {"increasing", "decreasing"}
        Decreasing: a smaller value never takes it away.
    favourable : action, optional
        The favourable action; by default the last class.

    Raises
    ------
    DataError
        The direction is another one.
    """

    name: ClassVar[str] = "monotone"
    takes_counts: ClassVar[bool] = True

    column: str = ""
    direction: str = "increasing"
    favourable: Any = None

    def __post_init__(self) -> None:
        if self.direction not in ("increasing", "decreasing"):
            raise DataError(
                f"direction of the constraint monotone is increasing or decreasing; got {self.direction!r}."
            )

    def broken(self, routes: Routes, dataset: Dataset, actions: tuple[Any, ...]) -> list[str]:
        order = self._order(dataset, actions)
        pairs = order.broken(answered(routes), routes.leaf_actions)
        return [
            f"monotone: leaves {low} and {high} are not {self.direction} in {self.column}."
            for low, high in pairs
        ]

    def structure(
        self, dataset: Dataset, actions: tuple[Any, ...], features: tuple[BinaryFeature, ...]
    ) -> list[Structure]:
        if any(isinstance(t, Antecedent) for t in features):
            raise NoView(OF_TREES)
        return [self._order(dataset, actions)]

    def _order(self, dataset: Dataset, actions: tuple[Any, ...]) -> LeafOrder:
        kinds = {t.kind for t in dataset.features if t.column == self.column}
        if not kinds or kinds & {"==", "in"}:
            raise DataError(
                f"The constraint monotone needs a column with thresholds or a 0/1 column; {self.column!r} is {'a column of categories' if kinds else 'not a column of the data'}."
            )
        if any(t.kind == "in" for t in dataset.features):
            raise NoView(
                "The constraint monotone compares values one by one, and these data have questions about sets of categories; take a test per category (category_sets=0)."
            )
        if any(t.missing or t.kind == "missing" for t in dataset.features):
            raise DataError(
                "The constraint monotone compares values that are there, and columns of these data have missing values; drop those rows or fill them in."
            )
        liked = len(actions) - 1 if self.favourable is None else position(self.favourable, actions)
        return LeafOrder(self.name, self.column, self.direction == "increasing", liked)


def answered(routes: Routes) -> list[Path]:
    """The tests on the way to every leaf, with their answers (false is left)."""
    if not routes.boxes:
        raise NoView(OF_TREES)
    out: list[Path] = [()] * routes.n_leaves

    def walk(first: int, depth: int, path: Path) -> int:
        """The leaf after the last one below a node."""
        if len(routes.paths[first]) == depth:
            out[first] = path
            return first + 1
        test = routes.paths[first][depth]
        middle = walk(first, depth + 1, (*path, (test, False)))
        return walk(middle, depth + 1, (*path, (test, True)))

    walk(0, 0, ())
    return out


def _box(path: Path) -> dict[str, tuple[float, float] | tuple[Any, frozenset[Any]]]:
    """What a path allows of every column.

    It is an interval (low, high], or a category with those that are excluded.
    """
    box: dict[str, Any] = {}
    for test, yes in path:
        if test.kind == "==":
            only, others = box.get(test.column, (None, frozenset()))
            box[test.column] = (
                (test.value, others) if yes else (only, others | frozenset({test.value}))
            )
            continue
        # A 0/1 column is a threshold at one half, on the other side.
        below = yes if test.kind == "<=" else not yes
        at = test.place if test.kind == "<=" else 0.5
        low, high = box.get(test.column, (-np.inf, np.inf))
        box[test.column] = (low, min(high, at)) if below else (max(low, at), high)
    return box


def _ordered(low: dict[str, Any], high: dict[str, Any], column: str) -> bool:
    """Whether a point of one box has more of a column than one of another, and is else equal."""
    for name in (low.keys() & high.keys()) - {column}:
        (a, b), (c, d) = low[name], high[name]
        if isinstance(b, frozenset):
            if a is not None and c is not None and a != c:
                return False
            if (a is not None and a in d) or (c is not None and c in b):
                return False
        elif max(a, c) >= min(b, d):
            return False
    everything = (-np.inf, np.inf)
    return bool(low.get(column, everything)[0] < high.get(column, everything)[1])
