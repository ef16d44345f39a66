"""Maximum flows of libraries in a process of their own, which can be ended.

These libraries do not look at a clock.


OR-tools needs its own process for another reason too: its library and highspy cannot be loaded in
the same process, whichever is imported second.
"""

from __future__ import annotations

import atexit
import importlib.util
from collections.abc import Callable
from concurrent.futures import TimeoutError as NotYet
from typing import Any

import numpy as np

from milp_trees.common.errors import SolverFailure, SolverUnavailable

#: Seconds between two checks of the limits.
POLL = 0.05

_child: list[Any] = []


def elsewhere(work: Callable[..., Any], *given: Any, check: Callable[[], None]) -> Any:
    """Return `work(*given)`, computed by a child process that is kept for further calls."""
    from joblib.externals.loky import ProcessPoolExecutor

    if not _child:
        _child.append(ProcessPoolExecutor(max_workers=1))
        atexit.register(_child[0].shutdown)  # before the interpreter removes what it needs
    try:
        future = _child[0].submit(work, *given)
        while True:
            try:
                return future.result(POLL)
            except NotYet:
                check()
    except RuntimeError as error:
        _child.clear()
        raise SolverFailure(
            f"The process of the library's maximum flow ended: {error}. Use cut=push-relabel."
        ) from error
    except BaseException:
        if _child:
            _child.pop().shutdown(wait=False, kill_workers=True)
        raise


def ortools_flow(
    n: int, tail: np.ndarray, head: np.ndarray, capacity: np.ndarray, check: Callable[[], None]
) -> tuple[np.ndarray, int]:
    """Smallest source side and value of the flow from n to n + 1, by OR-tools."""
    if importlib.util.find_spec("ortools") is None:
        raise SolverUnavailable(
            "The cut ortools needs OR-tools; install it with: pip install 'milp-trees[cpsat]'."
        )
    status, ids, value = elsewhere(maximum_flow, n, tail, head, capacity, check=check)
    if status != "OPTIMAL":
        raise SolverFailure(f"OR-tools ended its maximum flow with the status {status}.")
    side = np.zeros(n + 2, dtype=bool)
    side[ids] = True
    return side[:n], value


def maximum_flow(
    n: int, tail: np.ndarray, head: np.ndarray, capacity: np.ndarray
) -> tuple[str, np.ndarray, int]:
    """The maximum flow of OR-tools; for a process without highspy."""
    from ortools.graph.python import max_flow

    flow = max_flow.SimpleMaxFlow()
    flow.add_arcs_with_capacity(tail.astype(np.int32), head.astype(np.int32), capacity)
    flow.add_arc_with_capacity(
        n, n + 1, 0
    )  # a node without arcs would not exist, and without source or sink no side is reported
    status = flow.solve(n, n + 1)
    return (
        status.name,
        np.array(flow.get_source_side_min_cut(), dtype=np.int64),
        int(flow.optimal_flow()),
    )
