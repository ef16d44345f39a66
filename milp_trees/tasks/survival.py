r"""Survival trees: each leaf has a hazard relative to a baseline that all rows share.

A row was followed until time :math:`t_i`, when its event was seen (:math:`\delta_i = 1`) or it was
censored. With the baseline's cumulative hazard :math:`\Lambda` a leaf of relative hazard
:math:`\theta` has the survival function :math:`\exp(-\theta\Lambda(t))`, and costs

.. math:: \sum_i w_i\bigl(\theta\Lambda(t_i) - \delta_i - \delta_i\log\theta\Lambda(t_i)\bigr),

half the deviance of LeBlanc and Crowley: the log-likelihood of a model that fits every row, less
that of the tree. It is least at :math:`\theta = D/\sum_i w_i\Lambda(t_i)` with D the weight of the
events seen in the leaf; without events that is 0. The baseline is the estimator of Nelson and Aalen
on all rows, :math:`\sum_{t_j\le t} d_j/n_j` over the times of events, where :math:`d_j` is the
weight of the events at that time and :math:`n_j` that of the rows followed until then or longer.
Before the first event, where this is 0, it counts as 1/(W + 1), with W the weight of all rows, or as
at the first event if that is less (which it is not for whole weights).

The loss is that of SurTree. There, leaves without events are given half an event after the search,
which costs 1/2 more than the search counted; here they keep the likeliest hazard, 0. References:
LeBlanc and Crowley 1992, *Relative risk trees for censored survival data*; Huisman, van der Linden,
Demirović 2024, *Optimal survival trees: a dynamic programming approach*.
"""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.tasks.rates import Rates, RateTask, kinds_of
from milp_trees.tasks.survival_scores import brier_of_places, concordance_of_places
from milp_trees.tasks.targets import weight_numbers, whole_numbers

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

#: Bits after the point with which cumulative hazards are added up before they become doubles.
_BITS = 200


def nelson_aalen(
    time: np.ndarray, event: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The estimator of Nelson and Aalen of a cumulative hazard.

    Parameters
    ----------
    time : array of shape (n,)
        Time until which each row was followed.
    event : array of shape (n,)
        1 if the event was seen then, 0 if the row was censored.
    weights : array of shape (n,), optional
        Row weights; default 1 each.

    Returns
    -------
    tuple of float arrays of shape (m,)
        Times of events, increasing, and the cumulative hazard from each of them on, as the double
        nearest to the rational number. Before the first time it is 0.
    """
    time, event = np.asarray(time, dtype=float), np.asarray(event).astype(bool)
    weights = np.ones(len(time), dtype=np.int64) if weights is None else np.asarray(weights)
    w = whole_numbers(weights).whole
    return _estimated(time, event, w)


def _estimated(time: np.ndarray, event: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The estimator with whole weights, which need no unit."""
    times, place = np.unique(time, return_inverse=True)
    return _of_places(times, place, event, w)


def _of_places(
    times: np.ndarray, place: np.ndarray, event: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The estimator, given the different times in order and the place of every row's."""
    kind = object if w.dtype == object or w.sum(dtype=float) >= 2.0**62 else np.int64
    died, left = np.zeros(len(times), dtype=kind), np.zeros(len(times), dtype=kind)
    np.add.at(died, place[event], w[event])
    np.add.at(left, place, w)
    at_risk = np.cumsum(left[::-1])[::-1]
    some = np.asarray(died > 0, dtype=bool)
    steps = [
        (d << _BITS) // n for d, n in zip(died[some].tolist(), at_risk[some].tolist(), strict=True)
    ]
    # Integers become the nearest doubles.
    totals = np.array(list(map(float, itertools.accumulate(steps))), dtype=float)
    return times[some], np.ldexp(totals, -_BITS)


@register
@dataclass(frozen=True)
class Survival(RateTask):
    """Half the deviance of proportional hazards, a relative hazard per leaf.

    The data have the targets `time` and `event`. With a penalty the value is the share of the loss
    of a single leaf that is left, plus penalties.

    Parameters
    ----------
    leaf_penalty, split_penalty, feature_costs
        See `PenalisedTask`. They are shares of the loss of a single leaf.
    baseline : pair of sequences of numbers, optional
        Times, the first of which is 0, and the cumulative hazard from each of them on. By default
        it is estimated from the rows at hand. To value a tree on other rows than those it was found
        on, use `with_baseline`.
    """

    name: ClassVar[str] = "survival"
    title: ClassVar[str] = "Likelihood of proportional hazards"
    units: ClassVar[tuple[str, str]] = ("half deviance", "loss")
    has_extra_scores: ClassVar[bool] = True

    baseline: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.baseline is not None:
            object.__setattr__(self, "baseline", _checked(self.baseline))

    @property
    def about_rates(self) -> Any:
        return self.baseline

    def with_baseline(self, dataset: Dataset) -> Survival:
        """The task with the baseline of a dataset, such as that on which a tree was found.

        The loss of the tree on other rows then refers to the same cumulative hazards as its
        predictions.
        """
        return replace(self, baseline=self.cumulative_hazard(dataset))

    def for_other_rows(self, dataset: Dataset) -> Survival:
        return self.with_baseline(dataset)

    def cumulative_hazard(self, dataset: Dataset) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The baseline: `baseline`, or that of the rows of a dataset.

        Parameters
        ----------
        dataset : Dataset
            Rows with times and events.

        Returns
        -------
        tuple of tuples of float
            Times, the first of which is 0, and the cumulative hazard from each of them on.
        """
        if self.baseline is not None:
            return self.baseline  # type: ignore[no-any-return]
        return self._kept(dataset, "baseline", lambda: self._estimate(dataset))  # type: ignore[no-any-return]

    def _estimate(self, dataset: Dataset) -> tuple[tuple[float, ...], tuple[float, ...]]:
        rows, weights = self._followed(dataset), weight_numbers(dataset)
        w = weights.whole * dataset.row_counts
        times, hazards = _of_places(rows.times, rows.place, rows.event, w)
        if 0 in times[:1]:  # an event at time 0: no time is before it
            return tuple(times.tolist()), tuple(hazards.tolist())
        first = min(float(1 / (sum(w.tolist()) * weights.unit + 1)), *hazards.tolist()[:1], 1.0)
        return (0.0, *times.tolist()), (first, *hazards.tolist())

    def rates(self, dataset: Dataset) -> Rates:
        rows, weights = self._followed(dataset), weight_numbers(dataset)
        times, hazards = map(np.array, self.cumulative_hazard(dataset))
        place = (np.searchsorted(times, rows.times, side="right") - 1)[rows.place]
        first, kind = kinds_of(place, rows.event, dataset.row_weights, dataset.row_counts)
        # Hazards as integers in units of a power of two.
        mantissas, powers = np.frexp(hazards)
        least = int(powers.min())
        whole = np.ldexp(mantissas, 53).astype(np.int64).tolist()
        exact = list(map(operator.lshift, whole, (powers - least).tolist()))
        given = (part[first].tolist() for part in (weights.whole, dataset.row_counts))
        w = list(map(operator.mul, *given))
        amounts = list(map(operator.mul, w, rows.event[first].astype(int).tolist()))
        exposures = list(map(operator.mul, w, map(exact.__getitem__, place[first].tolist())))
        unit = weights.unit * Fraction(2) ** (least - 53)
        return Rates(amounts, exposures, weights.unit, unit, kind)

    def _followed(self, dataset: Dataset) -> _Followed:
        return self._kept(dataset, "times", lambda: _Followed.of(dataset, self.name))  # type: ignore[no-any-return]

    def extra_scores(self, routes: Any, dataset: Dataset) -> dict[str, float]:
        times, place, event = self._followed(dataset)
        risk = np.array([float(a) for a in routes.actions])[np.asarray(routes.leaf_actions)]
        weights = dataset.row_weights * dataset.row_counts
        own, hazards = map(np.array, self.cumulative_hazard(dataset))
        reached = hazards[np.searchsorted(own, times, side="right") - 1]
        scores = {
            "concordance": concordance_of_places(
                place, len(times), event, risk, routes.leaf, weights
            ),
            "integrated_brier_score": brier_of_places(
                times, place, event, routes.leaf, weights, (np.exp(-r * reached) for r in risk)
            ),
        }
        return {name: found for name, found in scores.items() if found is not None}


class _Followed(NamedTuple):
    """Different times in order, the place of every row's, and whether its event was seen."""

    times: np.ndarray
    place: np.ndarray
    event: np.ndarray

    @classmethod
    def of(cls, dataset: Dataset, name: str) -> _Followed:
        time, event = times_and_events(dataset, name)
        return cls(*np.unique(time, return_inverse=True), event)


def times_and_events(dataset: Dataset, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) and events (n,), as booleans, of a dataset.

    Parameters
    ----------
    dataset : Dataset
        With the targets `time` and `event`.
    name : str
        Name of the task, for errors.

    Raises
    ------
    DataError
        There are no such targets, or a time is negative, or an event is neither 0 nor 1.
    """
    given = dataset.require("targets", f"The task {name}")
    names = list(dataset.target_names or ())
    if sorted(names) != ["event", "time"]:
        raise DataError(
            f"The task {name} needs the targets time and event; the data have {', '.join(names)}. Give Dataset(…, targets=…, target_names=('time', 'event')), or --event and --time."
        )
    time = np.asarray(given[:, names.index("time")], dtype=float)
    event = np.asarray(given[:, names.index("event")], dtype=float)
    if (time < 0).any():
        row = int(np.argmax(time < 0))
        raise DataError(
            f"Times of survival data must not be negative; row {row} has {time[row]:g}. Count from an earlier day."
        )
    strange = (event != 0) & (event != 1)
    if strange.any():
        row = int(np.argmax(strange))
        raise DataError(
            f"An event is 1 (seen) or 0 (censored); row {row} has {event[row]:g}. Recode the column, so that it says whether the event was seen."
        )
    return time, event.astype(bool)


def _checked(given: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """A baseline as tuples of floats; raises DataError if it is none."""
    try:
        times, hazards = (tuple(map(float, part)) for part in given)
    except (TypeError, ValueError):
        times, hazards = (), ()
    rising = all(a < b for a, b in itertools.pairwise(times))
    holds = all(a <= b for a, b in itertools.pairwise(hazards))
    finite = all(map(math.isfinite, (*times, *hazards)))
    if not (times and len(times) == len(hazards) and times[0] == 0 and hazards[0] > 0):
        raise DataError(
            "A baseline is a pair of sequences of the same length: times, the first of which is 0, and positive cumulative hazards."
        )
    if not (rising and holds and finite):
        raise DataError("Times of a baseline must increase, and its hazards must not decrease.")
    return times, hazards
