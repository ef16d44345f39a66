"""What `verbose=True` shows during a `fit`: a line in a terminal, a display in a notebook."""

from __future__ import annotations

import html
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from milp_trees.results.result import TracePoint

if TYPE_CHECKING:
    from milp_trees.methods.callback import Callback

#: Seconds between two updates of a notebook, and between two lines of a log file.
REDRAW, LINE = 0.3, 2.0


def in_notebook() -> bool:
    """Whether this code runs in a kernel of Jupyter, whose outputs can be replaced."""
    loaded: Any = sys.modules.get("IPython")
    shell = None if loaded is None else loaded.get_ipython()
    return getattr(shell, "kernel", None) is not None


class FitDisplay:
    """A function for `progress`, and a context around the fit that it shows.

    Parameters
    ----------
    estimator : estimator
        Its name, and its result at the end, are shown.
    notebook : bool, optional
        Whether to show HTML; by default in a notebook.
    """

    def __init__(self, estimator: Any, notebook: bool | None = None) -> None:
        self.estimator, self.name = estimator, type(estimator).__name__
        self.notebook = in_notebook() if notebook is None else notebook
        #: The callback of the fit, whose predictor is shown.
        self.callback: Callback | None = None
        self._handle: Any = None
        self._live: Any = None
        self._last: tuple[float | None, ...] = ()
        self._shown = -float("inf")

    def __enter__(self) -> Self:
        from milp_trees.studies.live import Live

        if self.notebook:
            from IPython.display import HTML, display

            self._handle = display(HTML(self.page("…", None)), display_id=True)
        else:
            self._live = Live().__enter__()
            self._live.bar.update(self._live.task, method=self.name)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.__exit__(kind, error, trace)
        result = getattr(self.estimator, "result_", None)
        if error is None and result is not None:
            self._say(f"{result!r}"[1:-1], result.predictor, "")

    def __call__(self, point: TracePoint) -> None:
        from milp_trees.studies.live import describe

        news, now = describe(point) or "searching", time.perf_counter()
        if self._live is not None and self._live.console.is_terminal:
            self._live.point(point)
            return
        wait = REDRAW if self.notebook else LINE
        if now - self._shown < wait or (not self.notebook and point[1:] == self._last):
            return
        self._last, self._shown = point[1:], now
        model = None if self.callback is None else self.callback.predictor
        self._say(f"{point.seconds:.1f} s: {news}", model, "A model that has been found:")

    def _say(self, news: str, model: Any, caption: str) -> None:
        if self.notebook:
            from IPython.display import HTML

            if self._handle is not None:
                self._handle.update(HTML(self.page(news, model, caption)))
        else:
            self._live.console.print(
                f"{self.name}: {news}", markup=False, highlight=False, soft_wrap=True
            )

    def page(self, news: str, model: Any, caption: str = "") -> str:
        """The HTML of a notebook: what is known, and the picture of a model that has been found."""
        picture = "" if model is None else model._repr_html_()
        message = f"<p>{html.escape(caption)}</p>" if picture and caption else ""
        return f"<div><p><b>{html.escape(self.name)}</b> {html.escape(news)}</p>{message}{picture}</div>"
