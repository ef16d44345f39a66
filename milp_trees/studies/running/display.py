"""Progress of a study for people: on a terminal, in a notebook, and as lines in a log.

A terminal shows a bar and a table of the running jobs, with incumbent, bound and gap. A notebook
shows the same as HTML in one output, which is replaced. Where output is piped, lines are written at
growing intervals, because a log keeps all of them.
"""

from __future__ import annotations

import html
import sys
import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from milp_trees.results.result import TracePoint
from milp_trees.studies.live import describe
from milp_trees.studies.running.coordinator import News
from milp_trees.studies.running.study_progress import Follower, Running, StudyProgress

#: Seconds between two lines in a log: at least, at most, and the share of the time so far.
LEAST, MOST, SHARE = 5.0, 300.0, 0.25
#: Seconds between two pictures in a notebook.
NOTEBOOK = 1.0
#: Running jobs that are shown.
SHOWN = 12

STOPPING = (
    "",
    "stopping: runs in flight are finished; Ctrl-C again ends them now",
    "stopping now: runs in flight are not kept",
)


class Display:
    """Shows how far a study is; a context manager, and a `progress` function of `mt.study`.

    Parameters
    ----------
    console : rich.console.Console, optional
        Standard error by default.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self.began = time.monotonic()
        self._follower: Follower | None = None
        self._live: Live | None = None
        self._notebook: Any = None
        self._due = 0.0
        self._last: StudyProgress | None = None

    def __enter__(self) -> Self:
        if self.console.is_terminal and not self.console.is_jupyter:
            self._live = Live(console=self.console, transient=True, refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
        if self._last is not None and not self.console.is_jupyter:
            self._line(self._last, jobs=False)

    def __call__(self, news: News) -> None:
        """News of the front end of a study."""
        if self._follower is None or self._follower.folder is not news.folder:
            self._follower = Follower(news.folder)
        self._follower.take(news.rows)
        self.show(self._follower.standing(news.workers, news.stopping))

    def show(self, now: StudyProgress) -> None:
        """Show a standing; in a log only if a line is due, or if the user asked for the end."""
        before, self._last = self._last, now
        if self._live is not None:
            self._live.update(picture(now))
            return
        requested = before is not None and now.stopping != before.stopping
        elapsed = time.monotonic() - self.began
        if elapsed < self._due and not requested and now.done < now.total:
            return
        if self.console.is_jupyter:
            self._due = elapsed + NOTEBOOK
            self._replace(page(now))
        elif before is None or now.done < now.total:  # the last line is written at the end
            self._due = elapsed + min(MOST, max(LEAST, SHARE * elapsed))
            self._line(now, jobs=True)

    def _line(self, now: StudyProgress, jobs: bool) -> None:
        for text in [headline(now), *(f"  {said(run)}" for run in now.running[:SHOWN] if jobs)]:
            self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _replace(self, text: str) -> None:
        from IPython import display

        picture: Any = display.HTML(text)  # type: ignore[no-untyped-call]
        if self._notebook is None:
            self._notebook = display.display(picture, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._notebook.update(picture)


def headline(now: StudyProgress) -> str:
    """One line: `quick: 12 of 40 runs, 2 running, about 3 min left, 1 error`."""
    parts = [f"{now.done} of {now.total} runs"]
    if now.done < now.total:
        parts.append(f"{len(now.running)} running")
        if now.left is not None:
            parts.append(f"about {duration(now.left)} left")
    if now.errors:
        parts.append(f"{now.errors} error{'s' if now.errors > 1 else ''}")
    if now.stopping:
        parts.append(STOPPING[min(now.stopping, 2)])
    return f"{now.title or 'study'}: {', '.join(parts)}"


def duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def said(run: Running) -> str:
    """A running job in a line."""
    known = state(run)
    return f"{run.name}  {run.method}  {spent(run)}{f'  {known}' if known else ''}"


def spent(run: Running) -> str:
    """`12 s of 60 s`."""
    limit = "" if run.time_limit is None else f" of {duration(run.time_limit)}"
    return f"{duration(run.seconds)}{limit}"


def state(run: Running) -> str:
    """What a running job knows, or that its start and reference are being made."""
    if run.state == "preparing":
        return "preparing"
    return describe(TracePoint(run.seconds, run.incumbent, run.bound))


def picture(now: StudyProgress) -> Group:
    """The standing for a terminal."""
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column(no_wrap=True, overflow="ellipsis")
    for run in now.running[:SHOWN]:
        table.add_row(Text(run.name), Text(run.method, "bold"), Text(spent(run)), Text(state(run)))
    more = len(now.running) - SHOWN
    rest = [Text(f"and {more} more")] if more > 0 else []
    bar = ProgressBar(total=max(1, now.total), completed=now.done, width=40)
    return Group(Text(headline(now)), bar, table, *rest)


def page(now: StudyProgress) -> str:
    """The standing for a notebook; names are written as text."""
    cells = ((run.name, run.method, spent(run), state(run)) for run in now.running[:SHOWN])
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in cells)
    bar = f'<progress max="{max(1, now.total)}" value="{now.done}" style="width:24em"></progress>'
    return f"<div>{html.escape(headline(now))}<br>{bar}<table>{rows}</table></div>"


def _cell(text: str) -> str:
    return f'<td style="text-align:left">{html.escape(text)}</td>'


def watch(follower: Follower, display: Display, every: float = 0.5) -> StudyProgress:
    """Show a study that other processes make, until it has ended; only reads its folder."""
    while True:
        idle = not (follower.alive("front") or follower.alive("worker"))
        follower.read()
        now = follower.standing()
        display.show(now)
        if idle or now.done == now.total:
            return now
        sys.stderr.flush()
        time.sleep(every)
