"""What a model predicts of a row, and which other predictions are wanted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.checks import some
from milp_trees.models.predicted import PROBABILITIES


@dataclass(frozen=True)
class Target:
    """The wanted predictions.

    Parameters
    ----------
    words : str
        As the end of a sentence: `predicted as 'yes'`.
    labels : frozenset of int or None
        Numbers of the classes or actions that are wanted; None if numbers are wanted.
    at_least, at_most : float or None
        Limits of a predicted number.
    """

    words: str
    labels: frozenset[int] | None = None
    at_least: float | None = None
    at_most: float | None = None

    def wants(self, number: float) -> bool:
        """Whether a class, by its number, or a predicted number is wanted."""
        if self.labels is not None:
            return number in self.labels
        above = self.at_least is None or number >= self.at_least
        return above and (self.at_most is None or number <= self.at_most)


def names_of(model: Any) -> tuple[Any, ...] | None:
    """The classes or actions that a model chooses among; None if it predicts numbers."""
    predicts = getattr(model, "predicts", None)
    if predicts is not None:
        return predicts.names if predicts.kind == PROBABILITIES else None
    return tuple(model.actions)


def of_action(model: Any, action: int) -> Any:
    """The number of the class that an action of a tree stands for, or the number it predicts."""
    predicts = getattr(model, "predicts", None)
    if predicts is None:
        return action
    said = model.actions[action]
    if predicts.kind == PROBABILITIES:
        return int(np.argmax(said))
    if isinstance(said, (tuple, list)):
        raise DataError(
            f"This tree predicts {len(said)} numbers at once ({some(predicts.names)}), and a counterfactual needs one; fit a tree for that target alone."
        )
    return float(said)


def target_of(
    names: tuple[Any, ...] | None,
    own: Any,
    target: Any,
    at_least: float | None,
    at_most: float | None,
) -> Target:
    """The wanted predictions of a call.

    Parameters
    ----------
    names : tuple or None
        The labels of the model; None if it predicts numbers.
    own : int or float
        The row's class, as its number, or the number that is predicted for it.
    target : object or None
        A label; None: any other than the row's.
    at_least, at_most : float or None
        Limits of a predicted number.

    Returns
    -------
    Target

    Raises
    ------
    DataError
        The label is none of the model's, or the kind of target does not fit the model.
    """
    limits = [x for x in (at_least, at_most) if x is not None]
    for x in limits:
        if not isinstance(x, Real):
            raise DataError(f"at_least and at_most are numbers; got {x!r}.")
    if names is None:
        if target is not None or not limits:
            raise DataError(
                "This model predicts numbers; say with --at-least or --at-most which are wanted."
            )
        if not all(math.isfinite(x) for x in limits) or (
            len(limits) == 2 and limits[0] > limits[1]
        ):
            raise DataError(
                f"No number is at least {at_least} and at most {at_most}; give finite limits in this order."
            )
        words = [f"at least {at_least:g}"] if at_least is not None else []
        words += [f"at most {at_most:g}"] if at_most is not None else []
        return Target(f"predicted to be {' and '.join(words)}", None, at_least, at_most)
    if limits:
        raise DataError(
            "This model chooses among labels, which are neither small nor large; say with --target which one is wanted."
        )
    # Two actions may have one name; then they are the same label.
    texts = [str(name) for name in names]
    if target is None:
        others = frozenset(k for k, text in enumerate(texts) if text != texts[own])
        return Target(f"predicted otherwise than {texts[own]!r}", others)
    chosen = frozenset(k for k, text in enumerate(texts) if text == str(target))
    if not chosen:
        raise DataError(
            f"The model knows no label {str(target)!r}; its labels are {some(map(repr, texts))}."
        )
    return Target(f"predicted as {str(target)!r}", chosen)
