"""`exponential`: survival with a constant hazard in each leaf, a loss of sums in one file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import log as plain_log
from typing import Any, ClassVar

import numpy as np

from milp_trees import DataError
from milp_trees.plugins import LossParts, LossTask, log_between, register, times_log


def negative_log_likelihood(sums: tuple[Any, ...]) -> Any:
    """What a leaf with these sums costs at its best hazard, events by time.

    It may use + - * / and `log`, `times_log`; it is asked only where the first sum is positive, it
    is never negative, and no split costs more than its leaf: `check_task` tries the last two.
    """
    time, events = sums
    return events - times_log(events, events / time)


@register
@dataclass(frozen=True)
class Exponential(LossTask):
    """Minus the log-likelihood of times with a constant hazard per leaf; times are whole numbers."""

    name: ClassVar[str] = "exponential"
    title: ClassVar[str] = "Likelihood of constant hazards"
    units: ClassVar[tuple[str, str]] = ("negative log-likelihood", "loss")
    weighs_rows: ClassVar[bool] = False
    leaf: ClassVar[Callable[..., Any]] = staticmethod(negative_log_likelihood)

    example_options: ClassVar[tuple[dict[str, Any], ...]] = ({"leaf_penalty": "1/20"},)

    def parts(self, dataset: Any) -> LossParts:
        """What is added up over the rows of a leaf, and how far off its doubles may be."""
        sums = _times_and_events(dataset) * dataset.row_counts[:, None]
        time, events = sums.sum(axis=0).tolist()
        return LossParts(
            sums=sums,
            constants=np.zeros(len(sums)),  # no part of the loss is the same in every tree
            total=Fraction(0),
            unit=Fraction(1),
            # Fewer rows cost no more, so the largest loss is that of a single leaf.
            size=1 + 2 * events + events * plain_log(max(time / max(events, 1), 1)),
            ulps=12,  # the quotient, its logarithm (8), the product and the difference
        )

    def predictor(self, dataset: Any) -> Callable[[tuple[int, ...]], float]:
        """What a leaf with some sums predicts."""
        return lambda sums: sums[1] / sums[0] if sums[0] else 0.0

    def loss(self, routes: Any, dataset: Any) -> tuple[Fraction, bool]:
        """The loss of any model with its own predictions, and whether it is a rational number."""
        totals = np.zeros((routes.n_leaves, 2), dtype=np.int64)
        np.add.at(totals, routes.leaf, _times_and_events(dataset) * dataset.row_counts[:, None])
        loss = Fraction(0)
        for (time, events), action in zip(totals.tolist(), routes.leaf_actions, strict=True):
            hazard = Fraction(routes.actions[action])
            loss += hazard * time
            if events:
                loss -= events * log_between(max(hazard, Fraction(1, 10**9)))
        return loss, False

    def normaliser(self, dataset: Any) -> Fraction:
        """Penalties are on the scale of the loss per row."""
        return Fraction(dataset.total_rows)

    @staticmethod
    def definition(spec: Any, rows: Any, seen: Any) -> float:
        """What the task means, a second time, for its checks: a loop without the code above."""
        total = 0.0
        for row, k in zip(rows, seen.said, strict=True):
            time, event = row["targets"]["time"], row["targets"]["event"]
            hazard = seen.actions[k]
            total += hazard * time - (plain_log(max(hazard, 1e-9)) if event else 0.0)
        penalty = Fraction(spec.get("leaf_penalty", 0))
        return total / len(rows) + float(penalty * seen.leaves) if penalty else total


def _times_and_events(dataset: Any) -> np.ndarray:
    """Times and events as whole numbers, shape (n, 2)."""
    targets = dataset.require("targets", "The task exponential")
    if tuple(dataset.target_names) != ("time", "event"):
        raise DataError("The task exponential needs the targets time and event.")
    whole = np.asarray(targets).astype(np.int64)
    if (
        (whole != targets).any()
        or (whole[:, 0] < 1).any()
        or not np.isin(whole[:, 1], (0, 1)).all()
    ):
        raise DataError("The task exponential needs whole times from 1 on, and events 0 and 1.")
    return whole
