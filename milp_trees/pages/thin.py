"""Traces with fewer moments and logs with fewer lines, so that a page stays small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from milp_trees.results.result import TracePoint


def thin(trace: Iterable[Sequence[float | None]], most: int) -> list[list[float | None]]:
    """The moments of a trace that matter, with the last known values in every one.

    A moment without news is left out. If too many are left, those go whose value and bound are
    close to the ones before, relative to all that the trace passes through. The first and the last
    moment stay.

    Parameters
    ----------
    trace : iterable of (seconds, incumbent, bound)
        As a stored row holds it; None where a value is unknown or did not change.
    most : int
        Largest number of moments, at least 2.

    Returns
    -------
    list of [seconds, incumbent, bound]
    """
    points = _carried(trace)
    kept = _apart(points, (0.0, 0.0))
    spans = tuple(_span([p[k] for p in points]) for k in (1, 2))
    share = 1e-4
    while len(kept) > most and share < 1:
        kept = _apart(points, (share * spans[0], share * spans[1]))
        share *= 2
    if len(kept) > most:  # the values jump to and fro: moments at equal distances are left
        kept = [kept[round(k * (len(kept) - 1) / (most - 1))] for k in range(most)]
    return [[_short(s, 6), _short(i, 9), _short(b, 9)] for s, i, b in kept]


def _carried(trace: Iterable[Sequence[float | None]]) -> list[TracePoint]:
    out: list[TracePoint] = []
    incumbent = bound = None
    for seconds, new_incumbent, new_bound in trace:
        incumbent = incumbent if new_incumbent is None else new_incumbent
        bound = bound if new_bound is None else new_bound
        out.append(TracePoint(float(seconds or 0.0), incumbent, bound))
    return out


def _apart(points: list[TracePoint], steps: tuple[float, float]) -> list[TracePoint]:
    """The first and the last point, and those that differ by more than a step from the one kept."""
    if len(points) < 2:
        return points
    kept = points[:1]
    for point in points[1:-1]:
        if any(_differ(a, b, step) for a, b, step in zip(point[1:], kept[-1][1:], steps)):
            kept.append(point)
    return [*kept, points[-1]]


def _differ(a: float | None, b: float | None, step: float) -> bool:
    return a != b if a is None or b is None else abs(a - b) > step


def _span(values: list[float | None]) -> float:
    """The sum of all steps of a value but the largest, which often leaves a trivial value."""
    known = [v for v in values if v is not None]
    steps = [abs(b - a) for a, b in pairwise(known)]
    return float(sum(steps) - (max(steps) if len(steps) > 1 else 0.0))


def _short(number: float | None, digits: int) -> float | None:
    return None if number is None else float(f"{number:.{digits}g}")


def cut(log: str, most: int) -> str:
    """Head and tail of a log, of whole lines, with a line that says how much is missing."""
    if len(log) <= most:
        return log
    if most <= 0:
        return f"[the log of {len(log)} characters is left out]"
    head = log[: most // 2].rpartition("\n")[0]
    tail = log[len(log) - (most - most // 2) :].partition("\n")[2]
    missing = len(log) - len(head) - len(tail)
    return f"{head}\n[… {missing} characters are left out …]\n{tail}"
