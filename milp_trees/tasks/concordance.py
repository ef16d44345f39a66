"""Harrell's concordance of predicted risks with times of events."""

from __future__ import annotations

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
