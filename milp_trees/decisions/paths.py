r"""`GraphPaths`: S is the set of paths of a directed graph from a source to a target.

A component is an edge, 1 if the path uses it. In a graph without cycles all costs are allowed; a
batch is one compiled dynamic programme along a topological order per cost vector. In a graph with
cycles a cheapest path exists if no cycle costs less than 0 (Bellman, 1958, *On a routing problem*);
other costs raise an error. Elmachtoub and Grigas (2022) and Elmachtoub, Liang, McNellis (2020) use
grids with edges to the north and the east.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cache, cached_property
from itertools import islice, pairwise
from typing import Any

import numpy as np
from scipy import sparse

from milp_trees.common.compiling import compiling
from milp_trees.common.errors import DataError
from milp_trees.decisions.base import LISTED, Decided, DecisionSet, LinearSet, RowFailure


class GraphPaths(DecisionSet):
    """Paths of a directed graph; a component is an edge, named `tail>head`.

    The components are in the graph's order. Of equally cheap paths the one that uses earlier edges
    first is chosen; in a graph with cycles it is chosen among those with the fewest edges.

    Parameters
    ----------
    graph : networkx.DiGraph, or iterable of (tail, head)
        No parallel edges. Edges on no path from source to target are components too; they are
        always 0.
    source, target : node
        First and last node of every path.

    Raises
    ------
    DataError
        The graph is undirected or has parallel edges, two nodes have the same name, source or
        target is missing, or no path joins them.

    Examples
    --------
    >>> S = grid_paths(2, 2)
    >>> S.components
    ('0>1', '0>2', '1>3', '2>3')
    >>> S.label(S.solve([[1.0, 1.0, 5.0, 1.0]]).decisions[0])
    '0>2+2>3'
    """

    cache_answers = False

    def __init__(self, graph: Any, source: Hashable, target: Hashable) -> None:
        self._edges = _edges(graph)
        super().__init__([f"{tail}>{head}" for tail, head in self._edges])
        nodes = set(getattr(graph, "nodes", ())) | {v for edge in self._edges for v in edge}
        for role, node in (("source", source), ("target", target)):
            if node not in nodes:
                raise DataError(f"The {role} {node!r} is no node of the graph.")
        if source == target:
            raise DataError(
                f"Source and target are both {source!r}; a path needs two different nodes."
            )
        self.source, self.target = source, target
        self._arrange()

    def _arrange(self) -> None:
        """Nodes on paths, in topological order if there is one, and the edges that leave them."""
        import networkx as nx

        # A path does not return to the source, and it ends at the target.
        open_ = [e for e, (u, v) in enumerate(self._edges) if v != self.source and u != self.target]
        whole: nx.DiGraph = nx.DiGraph([self._edges[e] for e in open_])
        whole.add_nodes_from([self.source, self.target])
        useful = (nx.descendants(whole, self.source) | {self.source}) & (
            nx.ancestors(whole, self.target) | {self.target}
        )
        if self.target not in useful:
            raise DataError(
                f"No path leads from {self.source!r} to {self.target!r}: the set of decisions is empty."
            )
        kept = [e for e in open_ if useful.issuperset(self._edges[e])]
        part: nx.DiGraph = nx.DiGraph([self._edges[e] for e in kept])
        self.acyclic = nx.is_directed_acyclic_graph(part)
        order = (
            list(nx.topological_sort(part))
            if self.acyclic
            else list(nx.bfs_tree(part, self.source))
        )
        order = [
            self.source,
            *(v for v in order if v not in (self.source, self.target)),
            self.target,
        ]
        position = {v: k for k, v in enumerate(order)}
        tails = np.array([position[self._edges[e][0]] for e in kept])
        by_tail = np.argsort(tails, kind="stable")
        self._edge = np.array(kept, dtype=np.int64)[by_tail]
        self._head = np.array([position[self._edges[e][1]] for e in kept], dtype=np.int64)[by_tail]
        self._start = np.searchsorted(tails[by_tail], np.arange(len(order) + 1)).astype(np.int64)

    # -- oracle ------------------------------------------------------------------------------------

    def _solve(self, costs: np.ndarray) -> Decided:
        if self.acyclic:
            return Decided(*_acyclic()(costs, self._start, self._edge, self._head, True))
        from milp_trees.decisions import _kernels

        decisions, values, failed = _kernels.cyclic(costs, self._start, self._edge, self._head)
        if failed >= 0:
            raise RowFailure(
                failed,
                "a cycle of the graph costs less than 0, so there is no cheapest path; give costs without negative cycles.",
            )
        return Decided(decisions, values)

    def _values(self, costs: np.ndarray) -> np.ndarray:
        if not self.acyclic:
            return self._solve(costs).values
        values: np.ndarray = _acyclic()(costs, self._start, self._edge, self._head, False)[1]
        return values

    def highest(self, costs: Any) -> np.ndarray:
        """Upper bound on c·w: the cost of the most expensive path.

        With cycles, where that path is hard to find, it is the sum of the positive costs.
        """
        if self.acyclic:
            return super().highest(costs)
        return np.maximum(self.checked(costs)[:, self._edge], 0.0).sum(axis=1)

    # -- listing -----------------------------------------------------------------------------------

    @cached_property
    def n_vertices(self) -> int | None:
        """Number of paths; None in a graph with cycles, where counting them is hard."""
        if not self.acyclic:
            return None
        count = [0] * (len(self._start) - 1)
        count[-1] = 1
        for v in range(len(count) - 2, -1, -1):
            count[v] = sum(
                count[head] for head in self._head[self._start[v] : self._start[v + 1]].tolist()
            )
        return count[0]

    def vertices(self, limit: int = LISTED) -> np.ndarray | None:
        """All paths, those with earlier edges first; None if there are more than `limit`."""
        if self.n_vertices is not None and self.n_vertices > limit:
            return None
        routes = list(islice(self._routes(), limit + 1))
        if len(routes) > limit:
            return None
        routes.sort(key=lambda route: [*route])
        out = np.zeros((len(routes), self.dimension))
        for row, route in zip(out, routes, strict=True):
            row[route] = 1.0
        return out

    def _routes(self) -> Iterable[list[int]]:
        """All paths as lists of edges; each next one takes polynomial time."""
        import networkx as nx

        number = {edge: e for e, edge in enumerate(self._edges)}
        part = nx.DiGraph([self._edges[e] for e in sorted(self._edge.tolist())])
        # Without cycles every walk leads to the target. With cycles a plain search could take
        # exponential time between two paths, while Yen's method does not.
        find = nx.all_simple_paths if self.acyclic else nx.shortest_simple_paths
        for nodes in find(part, self.source, self.target):
            yield [number[edge] for edge in pairwise(nodes)]

    # -- programme ---------------------------------------------------------------------------------

    def program(self) -> LinearSet:
        """One unit of flow from source to target, 0 <= w <= 1.

        Its vertices are the paths. In a graph with cycles a vertex may contain a path and separate
        cycles; these never reduce the cost, unless a cycle costs less than 0.
        """
        n = len(self._start) - 1
        tail = np.repeat(np.arange(n), np.diff(self._start))
        columns = np.concatenate([self._edge, self._edge])
        sign = np.repeat([1.0, -1.0], len(self._edge))
        A = sparse.csr_matrix(
            (sign, (np.concatenate([tail, self._head]), columns)), shape=(n, self.dimension)
        )
        right = np.zeros(n)
        right[0], right[-1] = 1.0, -1.0
        upper = np.zeros(self.dimension)
        upper[self._edge] = 1.0
        return LinearSet(
            A,
            right,
            right.copy(),
            np.zeros(self.dimension),
            upper,
            np.zeros(self.dimension, bool),
            self.components,
        )

    def spec(self) -> dict[str, Any]:
        """The description; nodes that JSON cannot hold are given by their names."""

        def plain(v: Any) -> Any:
            return v if type(v) in (str, int) else str(v)

        return {
            "kind": "paths",
            "edges": [[plain(u), plain(v)] for u, v in self._edges],
            "source": plain(self.source),
            "target": plain(self.target),
        }


@cache
def _acyclic() -> Any:
    """The compiled oracle, loaded once."""
    from milp_trees.decisions import _kernels

    with compiling("the oracle of paths"):
        _kernels.acyclic(
            np.zeros((1, 1)),
            np.array([0, 1, 1]),
            np.zeros(1, np.int64),
            np.ones(1, np.int64),
            False,
        )
    return _kernels.acyclic


def _edges(graph: Any) -> list[tuple[Any, Any]]:
    if hasattr(graph, "is_directed"):
        if not graph.is_directed():
            raise DataError(
                "The graph is undirected; give a networkx.DiGraph, an edge for each direction that may be taken."
            )
        if graph.is_multigraph():
            raise DataError(
                "The graph is a multigraph; give a networkx.DiGraph: put a node on all parallel edges but one, so that each has a name."
            )
        edges = list(graph.edges)
    else:
        try:
            edges = [tuple(edge) for edge in graph]
        except TypeError as error:
            raise DataError(
                "The graph is a networkx.DiGraph or a list of edges (tail, head)."
            ) from error
        if any(len(edge) != 2 for edge in edges):
            raise DataError("An edge is a pair (tail, head); costs come with the data.")
        if len(set(edges)) < len(edges):
            raise DataError(
                "An edge is given twice; put a node on one of the parallel edges, so that each has a name."
            )
    if not edges:
        raise DataError("The graph has no edges.")
    return edges


def grid_paths(rows: int = 4, columns: int | None = None) -> GraphPaths:
    """Paths of a grid from the south-west to the north-east corner; edges go east and north.

    Nodes are numbered from the south-west, eastwards along each row. Edges are numbered row by row,
    first those to the east, then those to the north.

    Parameters
    ----------
    rows : int, default=4
        Number of rows of nodes.
    columns : int, optional
        Number of columns of nodes, by default as many as rows; 4 × 4 nodes have 24 edges and 20
        paths.
    """
    columns = rows if columns is None else columns
    if not all(isinstance(n, (int, np.integer)) for n in (rows, columns)):
        raise DataError(
            f"A grid has whole numbers of rows and columns; got {rows!r} and {columns!r}."
        )
    if rows < 1 or columns < 1 or rows * columns < 2:
        raise DataError(
            f"A grid of {rows} × {columns} nodes has no edges; it needs at least two nodes."
        )
    edges = []
    for r in range(rows):
        row = range(r * columns, (r + 1) * columns)
        edges += [(v, v + 1) for v in row[:-1]]
        edges += [(v, v + columns) for v in row if r < rows - 1]
    return GraphPaths(edges, 0, rows * columns - 1)
