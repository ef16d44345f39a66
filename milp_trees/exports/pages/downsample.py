"""Traces with fewer moments and logs with fewer lines, so that a page stays small."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from milp_trees.results.result import TracePoint

#: The folders of an absolute path, on any system, before the name of a file.
_FOLDERS = re.compile(r"(?<![^\s\"'=(,])(?:[A-Za-z]:)?(?:[/\\][\w.+@~-]+)+[/\\](?=[\w.+@~-])")


def thin(trace: Iterable[Sequence[float | None]], most: int) -> list[list[float | None]]:
    """The moments of a trace that matter, with the last known values in every one.

    A moment without news is left out. If too many are left, those go that change the area under
    relative value and bound least. The first and the last moment stay.
    """
    points = _carried(trace)
    kept = [p for k, p in enumerate(points) if k == len(points) - 1 or _news(points, k)]
    while len(kept) > most:
        gone = _least(kept, len(kept) - most)
        kept = [p for k, p in enumerate(kept) if k not in gone]
    return [[_short(s, 6), _short(i, 9), _short(b, 9)] for s, i, b in kept]


def _carried(trace: Iterable[Sequence[float | None]]) -> list[TracePoint]:
    out: list[TracePoint] = []
    incumbent = bound = None
    for seconds, new_incumbent, new_bound in trace:
        incumbent = incumbent if new_incumbent is None else new_incumbent
        bound = bound if new_bound is None else new_bound
        out.append(TracePoint(float(seconds or 0.0), incumbent, bound))
    return out


def _news(points: list[TracePoint], k: int) -> bool:
    return k == 0 or points[k][1:] != points[k - 1][1:]


def _least(points: list[TracePoint], number: int) -> set[int]:
    """At most so many inner points that change the area least, no two of them neighbours."""
    costs = []
    for k in range(1, len(points) - 1):
        before, here, after = points[k - 1 : k + 2]
        steps = _step(before.incumbent, here.incumbent) + _step(before.bound, here.bound)
        costs.append((steps * (after.seconds - here.seconds), k))
    gone: set[int] = set()
    for _, k in sorted(costs):
        if len(gone) < number and not {k - 1, k + 1} & gone:
            gone.add(k)
    return gone


def _step(a: float | None, b: float | None) -> float:
    """How far two values are from each other, relative to the larger one; 1 if one is missing."""
    if a == b:
        return 0.0
    return 1.0 if a is None or b is None else min(1.0, abs(a - b) / max(abs(a), abs(b)))


def _short(number: float | None, digits: int) -> float | None:
    return None if number is None else float(f"{number:.{digits}g}")


def without_folders(log: str) -> str:
    """A log in which absolute paths are names of files alone, since a page is sent around."""
    return _FOLDERS.sub("", log)


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
