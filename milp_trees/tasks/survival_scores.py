"""Scores of survival trees beside the loss: concordance, and a Brier score over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np


def concordance(
    time: np.ndarray, event: np.ndarray, risk: np.ndarray, weights: np.ndarray
) -> float | None:
    """Share of comparable pairs of rows whose earlier event has the higher risk.

    A pair is comparable if the earlier time is that of an event; at equal times a row with the
    event comes before one that was censored, and two events are not compared. Equal risks count one
    half, and pairs count the product of their weights.

    Parameters
    ----------
    time, event, risk, weights : arrays of shape (n,)
        Risks of rows in the same leaf are equal, so there are few different ones.

    Returns
    -------
    float or None
        None if no pair is comparable.
    """
    levels, group = np.unique(risk, return_inverse=True)
    times, place = np.unique(time, return_inverse=True)
    return concordance_of_places(place, len(times), event, levels, group, weights)


def concordance_of_places(
    place: np.ndarray,
    n_times: int,
    event: np.ndarray,
    risk: np.ndarray,
    leaf: np.ndarray,
    weights: np.ndarray,
) -> float | None:
    """`concordance` of rows in leaves with some risks, given the places of their times in order."""
    levels, level = np.unique(risk, return_inverse=True)
    group, K = level[leaf], len(levels)
    # The rows after an event have a larger time, or were censored at the same one.
    since = place + ~event
    own, events, w = group[event], place[event], weights[event]
    won = total = 0.0
    for j in range(K):
        mine = group == j
        left = np.bincount(since[mine], weights[mine], n_times + 1)
        after = left[::-1].cumsum()[::-1][1:]
        pairs = np.bincount(own, w * after[events], K)
        total += float(pairs.sum())
        won += float(pairs[j + 1 :].sum()) + float(pairs[j]) / 2
    return won / total if total > 0 else None


def integrated_brier_score(
    time: np.ndarray,
    event: np.ndarray,
    leaf: np.ndarray,
    weights: np.ndarray,
    survival: Callable[[int, np.ndarray], np.ndarray],
) -> float | None:
    """Mean over time of the squared error of the predicted shares of survivors.

    At a time t, rows with an earlier event should have the survival 0, those that were followed
    longer 1; other rows are unknown, and the known ones are weighted by the inverse probability of
    not being censored before, which is Kaplan and Meier's estimate for censoring on these rows. The
    mean is that over the different times but the last, by trapezoids, as
    `sksurv.metrics.integrated_brier_score` has it. Reference: Graf, Schmoor, Sauerbrei, Schumacher
    1999.

    Parameters
    ----------
    time, event, leaf, weights : arrays of shape (n,)
    survival : callable
        Shares of survivors that a leaf predicts for times.

    Returns
    -------
    float or None
        None if there are fewer than three different times.
    """
    grid, place = np.unique(time, return_inverse=True)
    curves = (survival(k, grid) for k in range(int(leaf.max(initial=-1)) + 1))
    return brier_of_places(grid, place, event, leaf, weights, curves)


def brier_of_places(
    grid: np.ndarray,
    place: np.ndarray,
    event: np.ndarray,
    leaf: np.ndarray,
    weights: np.ndarray,
    curves: Iterable[np.ndarray],
) -> float | None:
    """The score from the places of rows in the different times and the curve of every leaf."""
    if len(grid) < 3:
        return None
    uncensored = _uncensored(place, len(grid), event, weights)
    inverse = np.divide(1.0, uncensored, out=np.zeros(len(grid)), where=uncensored > 0)
    known, score = grid[:-1], np.zeros(len(grid) - 1)
    for k, curve in enumerate(curves):
        mine = leaf == k
        own, w, seen = place[mine], weights[mine], event[mine]
        died = np.bincount(own[seen], w[seen] * inverse[own[seen]], len(grid)).cumsum()[:-1]
        left = w.sum() - np.bincount(own, w, len(grid)).cumsum()[:-1]
        shares = curve[:-1]
        score += shares**2 * died + (1 - shares) ** 2 * left * inverse[:-1]
    steps = np.diff(known)
    area = float(steps @ (score[1:] + score[:-1])) / 2
    return area / float(weights.sum()) / float(known[-1] - known[0])


def _uncensored(
    place: np.ndarray, n_times: int, event: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """The probability of not being censored until each time.

    Rows with an event are no longer at risk of being censored at the same time.
    """
    total = np.bincount(place, weights, n_times)
    censored = np.bincount(place[~event], weights[~event], n_times)
    at_risk = total[::-1].cumsum()[::-1] - (total - censored)
    gone = np.divide(censored, at_risk, out=np.zeros(n_times), where=censored > 0)
    return np.cumprod(1 - gone)  # type: ignore[no-any-return]
