"""The same minimum cut by libraries, as a check and as an option (`min-cut:cut=ortools`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from milp_trees.common.errors import DataError, SolverFailure, Unsupported
from milp_trees.pruning.engines.min_cut.closure import Closure
from milp_trees.pruning.engines.min_cut.frontier import Cut
from milp_trees.pruning.engines.min_cut.ortools_child import elsewhere, ortools_flow
from milp_trees.pruning.engines.min_cut.push_relabel import min_cut

#: Largest number of items for networkx, which is written in Python.
MOST_ITEMS = 3000


def _nothing() -> None:
    """Stands for the check of a cut without limits."""


def ortools_cut(
    closure: Closure, weights: np.ndarray, check: Callable[[], None] = _nothing
) -> tuple[np.ndarray, int]:
    """Smallest source side and capacity by OR-tools' push-relabel, in a process of its own.

    It computes with 64 bits.
    """
    return _checked(closure, weights, *ortools_flow(*_network(closure, weights), check))


def scipy_cut(
    closure: Closure, weights: np.ndarray, check: Callable[[], None] = _nothing
) -> tuple[np.ndarray, int]:
    """Smallest source side and capacity by SciPy's maximum flow, in a process of its own."""
    n, tail, head, capacity = _network(closure, weights)
    if int(capacity.max(initial=0)) >= 2**31 or int(np.maximum(weights, 0).sum()) >= 2**31:
        raise Unsupported(
            "SciPy's maximum flow has 32-bit capacities, and these are larger; use cut=push-relabel or cut=ortools."
        )
    found: tuple[np.ndarray, int] = elsewhere(
        scipy_flow, n, tail, head, capacity.astype(np.int32), check=check
    )
    return _checked(closure, weights, *found)


def scipy_flow(
    n: int, tail: np.ndarray, head: np.ndarray, capacity: np.ndarray
) -> tuple[np.ndarray, int]:
    """Smallest source side and value of the flow from n to n + 1."""
    from scipy import sparse
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    # A stored zero would be an arc without capacity; arcs of weight 0 are not in the network.
    graph = sparse.csr_matrix((capacity, (tail, head)), shape=(n + 2, n + 2))
    found = maximum_flow(graph, n, n + 1)
    residual = (graph.astype(np.int64) - found.flow.astype(np.int64)).tocsr()
    residual.eliminate_zeros()
    side = np.zeros(n + 2, dtype=bool)
    side[breadth_first_order(residual, n, return_predecessors=False)] = True
    return side[:n], int(found.flow_value)


def networkx_cut(closure: Closure, weights: np.ndarray) -> tuple[np.ndarray, int]:
    """The same cut by networkx, for small problems; of equally heavy sets the smallest."""
    import networkx as nx

    if closure.n_items > MOST_ITEMS:
        raise Unsupported(
            f"networkx takes at most {MOST_ITEMS} items here, and there are {closure.n_items:,}; use cut=push-relabel or cut=ortools."
        )
    n, tail, head, capacity = _network(closure, weights)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n + 2))
    graph.add_edges_from(
        (t, h, {"capacity": c})
        for t, h, c in zip(tail.tolist(), head.tolist(), capacity.tolist(), strict=True)
    )
    residual = nx.algorithms.flow.preflow_push(graph, n, n + 1)
    left = nx.DiGraph(
        (u, v) for u, v, arc in residual.edges(data=True) if arc["flow"] < arc["capacity"]
    )
    left.add_node(n)
    side = np.zeros(n + 2, dtype=bool)
    side[[n, *nx.descendants(left, n)]] = True
    return _checked(closure, weights, side[:n], int(residual.graph["flow_value"]))


def _checked(
    closure: Closure, weights: np.ndarray, side: np.ndarray, value: int
) -> tuple[np.ndarray, int]:
    """The answer of a library, if its cut has the capacity of its flow.

    No flow is larger than the capacity of a cut, so equality shows that both are the best.
    """
    needs = np.repeat(side, np.diff(closure.start))
    lost = weights[(weights > 0) & ~side].sum()
    paid = -weights[(weights < 0) & side].sum()
    if (needs & ~side[closure.head]).any() or int(lost + paid) != value:
        raise SolverFailure(
            f"The library's cut does not have the capacity {value} of its flow, so it is not used; use cut=push-relabel."
        )
    return side, value


def _network(
    closure: Closure, weights: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Number of items, and arcs of the network.

    The source is n, the sink n + 1; arcs for needs have more capacity than can flow.
    """
    n = closure.n_items
    gains, costs = np.flatnonzero(weights > 0), np.flatnonzero(weights < 0)
    unlimited = int(weights[gains].sum())
    tail = np.concatenate(
        [np.full(len(gains), n), costs, np.repeat(np.arange(n), np.diff(closure.start))]
    )
    head = np.concatenate([gains, np.full(len(costs), n + 1), closure.head])
    capacity = np.concatenate(
        [weights[gains], -weights[costs], np.full(closure.n_arcs, unlimited)]
    ).astype(np.int64)
    return n, tail, head, capacity


#: Names of the option `cut`.
CUTS: dict[str, Callable[..., tuple[np.ndarray, int]]] = {
    "push-relabel": min_cut,
    "ortools": ortools_cut,
    "scipy": scipy_cut,
    "networkx": networkx_cut,
}


def cut_by(name: str, check: Callable[[], None] = _nothing) -> Cut:
    """A cut by its name; `check` is called while a library works and may stop it by an error."""
    if name not in CUTS:
        raise DataError(f"min-cut:cut is one of {', '.join(CUTS)}; got {name!r}.")
    return partial(CUTS[name], check=check) if name in ("ortools", "scipy") else CUTS[name]
