"""Scores of survival trees beside the loss: concordance, and a Brier score over time."""

from __future__ import annotations

from collections.abc import Callable

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
    # Position in time: the rows after an event at time t are those with a larger position.
    order = np.unique(time, return_inverse=True)[1] * 2 + ~event
    by_level = []
    for k in range(len(levels)):
        mine = group == k
        places = np.argsort(order[mine], kind="stable")
        own, w, seen = order[mine][places], weights[mine][places], event[mine][places]
        after = np.concatenate([np.cumsum(w[::-1])[::-1], [0.0]])
        by_level.append((own, after, own[seen], w[seen]))
    won = total = 0.0
    for k, (_, _, events, w) in enumerate(by_level):
        for j, (own, after, _, _) in enumerate(by_level):
            pairs = float(w @ after[np.searchsorted(own, events, side="right")])
            total += pairs
            won += pairs * (1.0 if k > j else 0.5 if k == j else 0.0)
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
    grid, uncensored = _uncensored(time, event, weights)
    if len(grid) < 3:
        return None
    inverse = np.divide(1.0, uncensored, out=np.zeros(len(grid)), where=uncensored > 0)
    known, score = grid[:-1], np.zeros(len(grid) - 1)
    for k in range(int(leaf.max()) + 1):
        place, w, seen = (part[leaf == k] for part in (np.searchsorted(grid, time), weights, event))
        died = np.bincount(place[seen], w[seen] * inverse[place[seen]], len(grid)).cumsum()[:-1]
        left = w.sum() - np.bincount(place, w, len(grid)).cumsum()[:-1]
        shares = survival(k, known)
        score += shares**2 * died + (1 - shares) ** 2 * left * inverse[:-1]
    steps = np.diff(known)
    area = float(steps @ (score[1:] + score[:-1])) / 2
    return area / float(weights.sum()) / float(known[-1] - known[0])


def _uncensored(
    time: np.ndarray, event: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Different times, and the probability of not being censored until each of them.

    Rows with an event are no longer at risk of being censored at the same time.
    """
    grid, place = np.unique(time, return_inverse=True)
    total = np.bincount(place, weights, len(grid))
    censored = np.bincount(place[~event], weights[~event], len(grid))
    at_risk = total[::-1].cumsum()[::-1] - (total - censored)
    gone = np.divide(censored, at_risk, out=np.zeros(len(grid)), where=censored > 0)
    return grid, np.cumprod(1 - gone)
