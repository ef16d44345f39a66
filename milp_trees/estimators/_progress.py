"""Functions that hear how far a `fit` is: the parameter `progress`, and scikit-learn's callbacks.

scikit-learn has callbacks since version 1.9 (`sklearn.callback`). For them a `fit` is a task, and
everything that `progress` would hear is a task below it, whose metadata are `seconds`, `incumbent`
and `bound`. A callback whose `on_fit_task_end` returns True stops the run, like a function that
returns True.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import sklearn
from sklearn.exceptions import ConvergenceWarning

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import Unsupported
from milp_trees.estimators._warning import warn_user
from milp_trees.methods.callback import Progress, callback_scope, current_callback, is_true
from milp_trees.results.result import TracePoint

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9
    with_callbacks = None

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for scikit-learn's class of this name, which came with version 1.9."""

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Not available with this version of scikit-learn.

            Raises
            ------
            Unsupported
                In every case.
            """
            raise Unsupported(
                f"scikit-learn {sklearn.__version__} has no callbacks, which came with version 1.9; install a newer one, or give progress=."
            )


T = TypeVar("T")


class ProgressCallbacks(CallbackSupportMixin):  # type: ignore[misc]
    """Base of estimators with a parameter `progress`, which tells how far their `fit` is."""

    progress: Any = None
    #: Whether a fit shows how far it is.
    verbose: Any = False

    def __getstate__(self) -> dict[str, Any]:
        """State for pickle and copies, without the `progress` function."""
        state = dict(super().__getstate__())  # type: ignore[misc]
        return {**state, "progress": None} if "progress" in state else state


class Growth:
    """How far a forest is: `Growth(total)` counts the seconds from now on."""

    def __init__(self, total: int) -> None:
        self.total, self.began = total, run_clock()

    def of(self, trees: Iterable[T]) -> list[T]:
        """The trees that are grown until the user wants no more."""
        found: list[T] = []
        for tree in trees:
            found.append(tree)
            if self.ends(len(found)):
                break
        return found

    def ends(self, grown: int) -> bool:
        """Tell that so many trees are grown; True, with a warning, if the user wants no more."""
        callback = current_callback()
        if callback is None:
            return False
        callback.point(TracePoint(run_clock() - self.began, None, None))
        if callback.limit is None or grown == self.total:
            return False
        why = f"The user stopped the forest after {grown} of {self.total} trees."
        warn_user(why, ConvergenceWarning)
        return True


Fit = TypeVar("Fit", bound=Callable[..., Any])


def with_progress(fit: Fit) -> Fit:
    """A `fit` during which the estimator's `progress` function and its callbacks are called."""
    parameters = inspect.signature(fit)

    @functools.wraps(fit)
    def fitted(self: Any, *args: Any, **given: Any) -> Any:
        own: Any = getattr(self, "progress", None)
        if hasattr(self, "_callback_fit_ctx"):  # called by the fit of a derived class
            return fit(self, *args, **given)
        with showing(self, own) as (own, show):
            return run(self, own, show, *args, **given)

    def run(self: Any, own: Any, show: Any, *args: Any, **given: Any) -> Any:
        if with_callbacks is None:
            with callback_scope(own) as show.callback:
                return fit(self, *args, **given)
        context = self._init_callback_context(max_subtasks=None)
        stated = parameters.bind(self, *args, **given).arguments
        weight = stated.get("sample_weight")
        data = {
            "X": stated.get("X"),
            "y": stated.get("y"),
            "metadata": None if weight is None else {"sample_weight": weight},
        }
        context.call_on_fit_task_begin(estimator=self, **data)
        with callback_scope(
            _with_tasks(self, context, own) if context._callbacks else own
        ) as show.callback:
            answer = fit(self, *args, **given)
        context.call_on_fit_task_end(estimator=self, reconstruction_attributes={}, **data)
        return answer

    return cast("Fit", fitted if with_callbacks is None else with_callbacks(fitted))


@contextmanager
def showing(estimator: Any, own: Progress | None) -> Iterator[tuple[Progress | None, Any]]:
    """Within this block a fit takes place; with `verbose` it is shown."""
    if not estimator.verbose:
        yield own, SimpleNamespace()
        return
    from milp_trees.estimators._display import FitDisplay

    with FitDisplay(estimator) as show:

        def tell(point: TracePoint) -> bool:
            show(point)
            return own is not None and is_true(own(point))

        yield tell, show


def _with_tasks(estimator: Any, context: Any, own: Progress | None) -> Progress:
    """A function that calls the user's own one and makes a task of every call."""

    def tell(point: TracePoint) -> bool:
        stop = own is not None and is_true(own(point))
        task = context.subcontext(task_name="search")
        task.call_on_fit_task_begin(estimator=estimator, metadata=point._asdict())
        requested = task.call_on_fit_task_end(estimator=estimator, metadata=point._asdict())
        return stop or bool(requested)

    return tell
