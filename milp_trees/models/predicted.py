"""What leaves predict if they choose no action: numbers, relative hazards or class probabilities.

A model of a result knows it from the task, so that pictures and exports treat its predictions as
what they are: a number is not one label among others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from milp_trees.data.targets import SURVIVAL

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

NUMBERS, HAZARDS, PROBABILITIES = "numbers", "hazards", "probabilities"
#: Digits of a prediction that are shown, and of the difference of two.
DIGITS, OF_RANGE = 4, 3
#: Most classes whose probabilities are shown of a leaf.
MOST_SHOWN = 3


@dataclass(frozen=True)
class Predicts:
    """What a prediction is.

    Parameters
    ----------
    kind : {"numbers", "hazards", "probabilities"}
        A hazard is relative to the baseline: survival is exp(-hazard * cumulative baseline).
    names : tuple of str
        Names of the numbers of one prediction: targets or classes.
    """

    kind: str
    names: tuple[str, ...]

    @property
    def several(self) -> bool:
        """Whether a prediction is a tuple of numbers."""
        return self.kind == PROBABILITIES or len(self.names) > 1

    def to_json(self) -> dict[str, Any]:
        """The same as plain data, which `from_json` reads."""
        return {"kind": self.kind, "names": list(self.names)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Predicts:
        """What `to_json` described; ValueError for anything else."""
        kind, names = data["kind"], data["names"]
        if kind not in (NUMBERS, HAZARDS, PROBABILITIES):
            raise ValueError(f"a tree predicts {kind!r}, which is no kind of predictions")
        if not isinstance(names, (list, tuple)):
            raise ValueError("the names of its predictions are no list")
        return cls(kind, tuple(map(str, names)))


def predicts_of(task: Any, dataset: Dataset, actions: Sequence[Any]) -> Predicts | None:
    """What the predictions of a model of a task are; None if it chooses actions.

    Parameters
    ----------
    task : Task or None
    dataset : Dataset
    actions : sequence
        The predictions of the model.

    Returns
    -------
    Predicts or None
    """
    if task is None or not task.predicts_numbers:
        return None
    names = tuple(map(str, dataset.target_names or ()))
    several = any(isinstance(a, (tuple, list)) for a in actions)
    if names == SURVIVAL and not several:
        return Predicts(HAZARDS, ("hazard",))
    if len(names) > 1 and not several:  # one number that follows from several targets
        names = ("prediction",)
    if several and not names:
        return Predicts(PROBABILITIES, tuple(map(str, dataset.classes or ())))
    known = dataset.source.get("columns", {}).get("target")
    return Predicts(NUMBERS, names or (str(known or "target"),))


# -- the rows of each leaf -------------------------------------------------------------------------


class LeafRows(NamedTuple):
    """The rows of each leaf, from left to right, and what their targets say.

    Parameters
    ----------
    rows : int array of shape (leaves,)
    spread : float array of shape (leaves, k) or None
        Standard deviation of each target; NaN for a leaf without weight.
    events : int array of shape (leaves,) or None
        Rows whose event was seen.
    """

    rows: np.ndarray
    spread: np.ndarray | None = None
    events: np.ndarray | None = None


def leaf_rows(model: Any, dataset: Dataset) -> LeafRows:
    """The rows of a dataset in each leaf of a model that predicts numbers."""
    routes = model.routes(dataset)
    n, leaf = routes.n_leaves, routes.leaf
    rows = np.zeros(n, dtype=np.int64)
    np.add.at(rows, leaf, dataset.row_counts)
    kind = model.predicts.kind
    if kind == HAZARDS and dataset.targets is not None:
        events = np.zeros(n, dtype=np.int64)
        np.add.at(events, leaf, dataset.row_counts * (dataset.targets[:, 1] > 0))
        return LeafRows(rows, None, events)
    targets = target_table(dataset) if kind == NUMBERS else None
    if targets is None or targets.shape[1] != len(model.predicts.names):
        return LeafRows(rows)
    weight = dataset.row_weights * dataset.row_counts
    total = np.bincount(leaf, weight, n)
    spread = np.full((n, targets.shape[1]), np.nan)
    for j, y in enumerate(targets.T):
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.bincount(leaf, weight * y, n) / total
            squares = np.bincount(leaf, weight * (y - mean[leaf]) ** 2, n) / total
        spread[:, j] = np.sqrt(squares)
    return LeafRows(rows, spread)


def target_table(dataset: Dataset) -> np.ndarray | None:
    """The numeric targets as floats, shape (n, k); None if the target is no number."""
    if dataset.targets is not None:
        return np.asarray(dataset.targets, dtype=float)
    classes = dataset.classes or ()
    if dataset.y is None or not all(type(c) in (int, float) for c in classes):
        return None
    return np.asarray(np.array(classes, dtype=float)[dataset.y][:, None])


# -- words and colours -----------------------------------------------------------------------------


class LeafWords(NamedTuple):
    """A leaf in words: what it predicts, line by line, the same in full, and its colour."""

    lines: tuple[str, ...]
    whole: str
    colour: str


def leaf_words(
    predicts: Predicts,
    actions: Sequence[Any],
    known: LeafRows | None,
    class_colour: Callable[[int], str],
) -> list[LeafWords]:
    """What the leaves of a model predict, in words, from left to right.

    Parameters
    ----------
    predicts : Predicts
    actions : sequence
        The prediction of every leaf.
    known : LeafRows or None
    class_colour : callable
        The colour of a class by its number.

    Returns
    -------
    list of LeafWords
    """
    table = [tuple(a) if isinstance(a, (tuple, list)) else (a,) for a in actions]
    if predicts.kind == PROBABILITIES:
        return [_probable(predicts, row, class_colour) for row in table]
    shades = _shades(_scale(predicts, [row[0] for row in table]))
    if predicts.kind == HAZARDS:
        shown = [rounded(row[0]) for row in table]
        return [
            LeafWords((f"θ = {text}",), f"θ = {row[0]!r}", shade)
            for text, row, shade in zip(shown, table, shades, strict=True)
        ]
    ranges = [max(column) - min(column) for column in zip(*table, strict=True)]
    out = []
    for k, row in enumerate(table):
        spread = [math.nan] * len(row)
        # A leaf may predict one number from several targets, which has no deviation of its own.
        if known is not None and known.spread is not None and len(known.spread[k]) == len(row):
            spread = known.spread[k]
        texts = [_mean(*one) for one in zip(row, spread, ranges, strict=True)]
        whole = list(map(repr, map(float, row)))
        if predicts.several:
            texts = [f"{n} {text}" for n, text in zip(predicts.names, texts, strict=True)]
            whole = [f"{n} {text}" for n, text in zip(predicts.names, whole, strict=True)]
        out.append(LeafWords(tuple(texts), ", ".join(whole), shades[k]))
    return out


def leaf_row_notes(known: LeafRows) -> list[tuple[str, ...]]:
    """What is said of the rows of each leaf: `("34 rows", "12 events")`."""
    from milp_trees.common.plurals import counted

    notes: list[tuple[str, ...]] = [(counted(int(n), "row"),) for n in known.rows]
    if known.events is None:
        return notes
    return [(*note, counted(int(e), "event")) for note, e in zip(notes, known.events, strict=True)]


def rounded(value: float, of_range: float = 0.0) -> str:
    """A number with four digits, or as many as tell it from others of a range.

    Digits before the decimal point are all shown.

    >>> rounded(129.96047), rounded(0.000012345), rounded(2452587670.2)
    ('130.0', '1.235e-05', '2452587670')
    >>> rounded(1e9 + 0.25, 0.75)
    '1000000000.250'
    """
    value = float(value)
    size = abs(value)
    if not math.isfinite(value) or size >= 1e15 or 0 < size < 1e-4:
        return f"{value:.{DIGITS}g}"
    if size == round(size) and not 0 < of_range < 1:
        return f"{value:.0f}"
    places = _places(size, DIGITS)
    if of_range > 0:
        places = max(places, _places(of_range, OF_RANGE))
    return f"{value:.{min(places, 12)}f}"


def _scale(predicts: Predicts, values: list[float]) -> list[float]:
    """Values on the scale of colours: of hazards the logarithms, where 0 counts as the least."""
    if predicts.kind != HAZARDS:
        return values
    least = min((v for v in values if v > 0), default=1.0)
    return [math.log(max(v, least)) for v in values]


def _places(size: float, digits: int) -> int:
    """Decimals with which a number of some size has so many digits."""
    if not size:
        return 0
    return max(0, digits - 1 - math.floor(math.log10(size)))


def _mean(value: float, spread: float, of_range: float) -> str:
    """A mean with its standard deviation, which has as many decimals, and two digits at least."""
    text = rounded(value, of_range)
    if not math.isfinite(spread):
        return text
    if "e" in text or 0 < spread < 1e-4:
        return f"{text} ± {spread:.2g}"
    if not spread:
        return f"{text} ± 0"
    places = len(text.partition(".")[2])
    return f"{text} ± {spread:.{min(max(places, _places(spread, 2)), 12)}f}"


def _probable(predicts: Predicts, row: Sequence[float], colour: Callable[[int], str]) -> LeafWords:
    """The most probable classes of a leaf."""
    order = sorted(range(len(row)), key=lambda k: -row[k])
    names = predicts.names or tuple(map(str, range(len(row))))
    shown = [
        f"P({names[k]}) {rounded(row[k])}" for k in order[:MOST_SHOWN] if row[k] or k == order[0]
    ]
    more = ("…",) if sum(row[k] > 0 for k in order) > MOST_SHOWN else ()
    whole = ", ".join(f"P({names[k]}) {row[k]!r}" for k in order)
    return LeafWords((*shown, *more), whole, colour(order[0]))


def _shades(values: Sequence[float]) -> list[str]:
    """Colours from light yellow (the least value) to blue, on which black text can be read."""
    low, high = min(values), max(values)
    return [_shade((v - low) / (high - low) if high > low else 0.5) for v in values]


def _shade(part: float) -> str:
    """The colour at a part of the scale."""
    ends = ((255, 247, 204), (205, 232, 208), (139, 190, 222))
    at = min(max(part, 0.0), 1.0) * (len(ends) - 1)
    k = min(int(at), len(ends) - 2)
    mixed = [a + (b - a) * (at - k) for a, b in zip(ends[k], ends[k + 1], strict=True)]
    return "#" + "".join(f"{round(c):02x}" for c in mixed)
