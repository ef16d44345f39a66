"""OR-tools' maximum flow in a process of its own: its library excludes highspy from the same process, whichever is imported second."""

from __future__ import annotations

import atexit
import importlib.util
from typing import Any

import numpy as np

from milp_trees.errors import SolverFailure, SolverUnavailable

_child: list[Any] = []


def flow_elsewhere(n: int, tail: np.ndarray, head: np.ndarray, capacity: np.ndarray) -> tuple[np.ndarray, int]:
    """Smallest source side (ids below n) and value of the flow from n to n + 1, by a child that stays for further calls.

    Raises
    ------
    SolverUnavailable
        OR-tools is not installed.
    SolverFailure
        It does not end with an optimum, or the child died.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    if importlib.util.find_spec("ortools") is None:
        raise SolverUnavailable("The cut ortools needs OR-tools; install it with: pip install 'milp-trees[cpsat]'.")
    if not _child:
        _child.append(ProcessPoolExecutor(max_workers=1))
        atexit.register(_child[0].shutdown)  # before the interpreter takes its parts away
    try:
        status, ids, value = _child[0].submit(maximum_flow, n, tail, head, capacity).result()
    except RuntimeError as error:
        _child.clear()
        raise SolverFailure(f"The process of OR-tools ended: {error}. Use cut=push-relabel.") from error
    if status != "OPTIMAL":
        raise SolverFailure(f"OR-tools ended its maximum flow with the status {status}.")
    side = np.zeros(n + 2, dtype=bool)
    side[ids] = True
    return side[:n], value


def maximum_flow(n: int, tail: np.ndarray, head: np.ndarray, capacity: np.ndarray) -> tuple[str, np.ndarray, int]:
    """Status, source side and value; for a process without highspy."""
    from ortools.graph.python import max_flow

    flow = max_flow.SimpleMaxFlow()
    flow.add_arcs_with_capacity(tail.astype(np.int32), head.astype(np.int32), capacity)
    flow.add_arc_with_capacity(n, n + 1, 0)  # a node without arcs would not exist, and without source or sink no side is reported
    status = flow.solve(n, n + 1)
    return status.name, np.array(flow.get_source_side_min_cut(), dtype=np.int64), int(flow.optimal_flow())
