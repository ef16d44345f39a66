"""A relation: how rows, or an estimator, are changed, and what must stay the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Relation:
    """A change after which answers are the same.

    Parameters
    ----------
    name : str
    change : callable
        Of a fitted model: (subject, model, rows) → list of (model, rows, index of the rows). Of
        the rows of a fit: (subject, rows) → (rows, parameters). None if it does not apply.
    refusal : {"never", "may", "must"}
        Whether the change may be, or has to be, an error with a sentence.
    keeps : {"answers", "rows", "scores", "model", "value", "scaled"}
        What stays. Of a fitted model: all answers; those about single rows; these and the scores.
        Of a fit: the value and all answers; the value and the answers about single rows; the value;
        a quarter of the value.
    factor : int
        By how much a value that is a sum over rows grows.
    always : bool
        Whether every subject is tried without the switch, too.
    """

    name: str
    change: Callable[..., Any]
    refusal: str = "never"
    keeps: str = "answers"
    factor: int = 1
    always: bool = False
