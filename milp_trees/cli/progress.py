"""Progress of a command on standard error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from milp_trees.results.result import TracePoint
    from milp_trees.studies.live import Live


class Silent:
    """Stands for `Live` where a single run has nothing to show."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def begin(self, method: str) -> None:
        pass

    def point(self, point: TracePoint) -> None:
        pass


def of_one_run(quiet: bool = False) -> Live | Silent:
    """A bar on a terminal; elsewhere nothing, and what draws bars is not imported."""
    if quiet or not sys.stderr.isatty():
        return Silent()
    from milp_trees.studies.live import Live

    return Live()


def of_several_runs(quiet: bool = False) -> Live:
    """A bar on a terminal, elsewhere a line per finished run; nothing if `quiet`."""
    from rich.console import Console

    from milp_trees.studies.live import Live

    return Live(console=Console(stderr=True, quiet=quiet))


def longest(runs: int, helpers: Sequence[str], seconds: float | None) -> str:
    """How long a comparison may take, said before it starts.

    Parameters
    ----------
    runs : int
        Number of runs, one after another.
    helpers : sequence of str
        What is run besides, in words.
    seconds : float or None
        The time limit of each; None is no limit.

    Returns
    -------
    str
    """
    what = ", ".join([f"{runs} {'run' if runs == 1 else 'runs'}", *helpers])
    if seconds is None:
        return f"time      no limit: {what}"
    total = seconds * (runs + len(helpers))
    shown = f"{total:.3g} s" if total < 120 else f"{total / 60:.0f} min"
    shown = shown if total < 7200 else f"{total / 3600:.1f} h"
    return f"time      at most {shown}: {what}, each of at most {seconds:g} s"
