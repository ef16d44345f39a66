"""Progress on standard error during a comparison or a run: a bar, incumbent, bound and gap."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from milp_trees.results.json import relative_gap
from milp_trees.results.result import TracePoint

if TYPE_CHECKING:
    from milp_trees.studies.compare import Moment


class Live:
    """A watcher for `compare(progress=…)`; a context manager.

    On a terminal the line is redrawn; elsewhere one line per finished run is written.
    """

    def __init__(self, total: int = 1, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        method, news = TextColumn("[bold]{task.fields[method]}"), TextColumn("{task.fields[news]}")
        columns = (method, BarColumn(bar_width=24), MofNCompleteColumn(), news, TimeElapsedColumn())
        self.bar = Progress(
            *columns,
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self.task = self.bar.add_task("", total=total, method="", news="")

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.stop()

    def __call__(self, moment: Moment) -> None:
        """News of a comparison."""
        if moment.result is not None:
            self.bar.update(self.task, completed=moment.number, total=moment.total)
            if not self.console.is_terminal:
                self.console.print(
                    f"[{moment.number}/{moment.total}] {moment.result.line}",
                    markup=False,
                    highlight=False,
                    soft_wrap=True,
                )
            return
        news = "" if moment.point is None else describe(moment.point)
        self.bar.update(
            self.task,
            method=moment.method,
            news=news,
            total=moment.total,
            completed=moment.number - 1,
        )

    def begin(self, method: str) -> None:
        """Name the method of a single run."""
        self.bar.update(self.task, method=method)

    def point(self, point: TracePoint) -> None:
        """News of a single run."""
        self.bar.update(self.task, news=describe(point))


def describe(point: TracePoint) -> str:
    """`incumbent 58, bound 41, gap 29.3 %`."""
    parts = []
    if point.incumbent is not None:
        parts.append(f"incumbent {point.incumbent:.6g}")
    if point.bound is not None:
        parts.append(f"bound {point.bound:.6g}")
    gap = relative_gap(point.incumbent, point.bound)
    if gap is not None:
        parts.append(f"gap {100 * gap:.1f} %")
    return ", ".join(parts)
