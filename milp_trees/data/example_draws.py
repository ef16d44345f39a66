"""Draws from `random.Random.random` alone: Python promises that its sequence never changes."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from statistics import NormalDist
from typing import TypeVar

T = TypeVar("T")


def chance(draw: Random, p: float) -> bool:
    """True with probability p."""
    return draw.random() < p


def whole(draw: Random, low: int, high: int) -> int:
    """A whole number within limits."""
    return low + int(draw.random() * (high - low + 1))


def pick(draw: Random, options: Sequence[T]) -> T:
    """One of the options."""
    return options[whole(draw, 0, len(options) - 1)]


def spread(draw: Random, mean: float, deviation: float) -> float:
    """A normally distributed number, cut at four deviations."""
    return NormalDist(mean, deviation).inv_cdf(min(max(draw.random(), 3e-5), 1 - 3e-5))
