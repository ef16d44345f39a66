"""`Trace`: when a run found which incumbent and bound; each point is also passed to `progress`."""

from __future__ import annotations

from collections.abc import Iterator

from milp_trees.methods.callback import Progress as Progress
from milp_trees.results.result import TracePoint


class Trace:
    """The points of a run so far, of which no two neighbours are equal.

    Parameters
    ----------
    progress : callable, optional
        Called with every point that is kept.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self.points: list[TracePoint] = []
        self.progress = progress

    def add(self, seconds: float, incumbent: float | None, bound: float | None) -> None:
        """Keep a point, unless its incumbent and bound equal those of the last point."""
        if self.points and self.points[-1][1:] == (incumbent, bound):
            return
        self.points.append(TracePoint(seconds, incumbent, bound))
        if self.progress:
            self.progress(self.points[-1])

    def __iter__(self) -> Iterator[TracePoint]:
        return iter(self.points)
