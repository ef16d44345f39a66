"""The certificate of a network matrix, and its verification entry by entry.

A network matrix has a row per arc of a directed tree and a column per path in it: +1 where the path
runs along the arc, -1 where it runs against it (W. T. Tutte, 1965; A. Schrijver, Theory of Linear
and Integer Programming, 1986, section 19.3). Network matrices and their transposes are totally
unimodular. The certificate is the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from milp_trees.common.errors import Unsupported, VerificationError
from milp_trees.unimodular.reading import read_matrix

#: Larger trees are not drawn in a notebook.
_DRAWN = 40
#: Larger trees are not drawn at all: the layout takes cubic time.
_DRAWABLE = 400


@dataclass(frozen=True, eq=False)
class NetworkCertificate:
    """A spanning tree whose arcs carry the rows of a matrix, and the path of each column.

    For the transpose the roles of rows and columns are exchanged.

    Parameters
    ----------
    transposed : bool
        False: rows are carried by arcs and columns are paths. True: columns are carried by arcs and
        rows are paths.
    vertices : tuple of str
        Names of the v vertices.
    tails, heads : int array, shape (v - 1,)
        Arc i, which carries row (column) i, as positions in `vertices`.
    starts, ends : int array
        First and last vertex of the path of column (row) j; equal for a zero column.
    arc_names, path_names : tuple of str
        The rows and columns of the matrix by name (columns and rows, if transposed).
    """

    transposed: bool
    vertices: tuple[str, ...]
    tails: np.ndarray
    heads: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    arc_names: tuple[str, ...]
    path_names: tuple[str, ...]

    @cached_property
    def _rooted(self) -> RootedTree:
        return RootedTree(len(self.vertices), self.tails.tolist(), self.heads.tolist())

    def path(self, j: int) -> list[tuple[str, int]]:
        """The signed path of column (row) j.

        Each step is the name that its arc carries, with 1 along the arc and -1 against it.
        """
        return [
            (self.arc_names[i], sign)
            for i, sign in self._rooted.walk(int(self.starts[j]), int(self.ends[j]))
        ]

    def to_json(self) -> dict[str, Any]:
        """Arcs and signed paths by name."""
        name, paths = self.vertices, range(len(self.path_names))
        arcs = zip(self.tails.tolist(), self.heads.tolist(), self.arc_names, strict=True)
        return {
            "kind": "transposed network" if self.transposed else "network",
            "arcs_carry": "columns" if self.transposed else "rows",
            "arcs": [{"tail": name[t], "head": name[h], "carries": of} for t, h, of in arcs],
            "paths": [
                {
                    "of": self.path_names[j],
                    "from": name[self.starts[j]],
                    "to": name[self.ends[j]],
                    "arcs": [list(step) for step in self.path(j)],
                }
                for j in paths
            ],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the spanning tree with the names that its arcs carry; returns the matplotlib axes.

        Raises
        ------
        Unsupported
            The tree has more than 400 vertices.
        """
        if len(self.vertices) > _DRAWABLE:
            raise Unsupported(
                f"A tree with {len(self.vertices)} vertices cannot be drawn legibly; at most {_DRAWABLE}. to_json() has its arcs."
            )
        import matplotlib.pyplot as plt
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.vertices)
        for t, h, of in zip(self.tails, self.heads, self.arc_names, strict=True):
            graph.add_edge(self.vertices[t], self.vertices[h], carries=of)
        if ax is None:
            side = max(4.0, 1.4 * len(self.vertices) ** 0.5)
            ax = plt.figure(figsize=(1.5 * side, side), layout="constrained").add_subplot()
        where = (
            nx.kamada_kawai_layout(graph.to_undirected())
            if len(self.vertices) > 2
            else nx.circular_layout(graph)
        )
        nx.draw_networkx(graph, where, ax=ax, node_color="lightgrey", node_size=350, font_size=8)
        nx.draw_networkx_edge_labels(
            graph, where, nx.get_edge_attributes(graph, "carries"), ax=ax, font_size=8
        )
        ax.set_axis_off()
        ax.set_title(
            f"Spanning tree; its arcs carry the {'columns' if self.transposed else 'rows'}"
        )
        return ax

    def _repr_html_(self) -> str:
        if len(self.vertices) > _DRAWN:
            return f"<p>Spanning tree with {len(self.vertices)} vertices; <code>plot()</code> draws it.</p>"
        import io

        import matplotlib.pyplot as plt

        figure, text = self.plot().figure, io.StringIO()
        figure.savefig(text, format="svg")
        plt.close(figure)
        return text.getvalue()[text.getvalue().index("<svg") :]


class RootedTree:
    """A spanning tree with root 0, for following its paths.

    Raises
    ------
    VerificationError
        The arcs are no spanning tree.
    """

    def __init__(self, n_vertices: int, tails: Sequence[int], heads: Sequence[int]):
        if len(tails) != n_vertices - 1 or len(heads) != len(tails):
            raise VerificationError(
                f"{len(tails)} arcs are no spanning tree on {n_vertices} vertices, which has {n_vertices - 1}."
            )
        around: list[list[tuple[int, int, int]]] = [[] for _ in range(n_vertices)]
        for i, (t, h) in enumerate(zip(tails, heads, strict=True)):
            around[t].append((h, i, -1))  # the way up from the head to the tail is against the arc
            around[h].append((t, i, 1))
        self.up: list[tuple[int, int, int] | None] = [None] * n_vertices
        self.depth = [-1] * n_vertices
        self.depth[0] = 0
        order = [0]
        for u in order:
            for v, i, climb in around[u]:
                if self.depth[v] < 0:
                    self.depth[v], self.up[v] = self.depth[u] + 1, (u, i, climb)
                    order.append(v)
        if len(order) < n_vertices:
            raise VerificationError(
                "The arcs are no spanning tree: they do not connect all vertices."
            )

    def walk(self, start: int, end: int) -> list[tuple[int, int]]:
        """Arcs from one vertex to another, each with 1 (along) or -1 (against)."""
        there: list[tuple[int, int]] = []
        back: list[tuple[int, int]] = []
        while start != end:
            if self.depth[start] >= self.depth[end]:
                start, i, sign = self._climb(start)
                there.append((i, sign))
            else:
                end, i, sign = self._climb(end)
                back.append((i, -sign))
        return there + back[::-1]

    def _climb(self, vertex: int) -> tuple[int, int, int]:
        step = self.up[vertex]
        assert step is not None  # only the root has no step, and no path goes above it
        parent, i, climb = step
        return parent, i, climb


def verify_network(matrix: Any, certificate: NetworkCertificate) -> None:
    """Compare a matrix with the paths of a spanning tree, entry by entry.

    The code is independent of the checks that make certificates.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        The matrix.
    certificate : NetworkCertificate
        Its certificate.

    Raises
    ------
    VerificationError
        The arcs are no spanning tree, or an entry is not that of the path.
    """
    A = read_matrix(matrix).A
    lines = sparse.csr_matrix(A) if certificate.transposed else sparse.csr_matrix(A.T)
    lines.sort_indices()
    n_paths, n_arcs = lines.shape
    if (len(certificate.tails), len(certificate.starts), len(certificate.ends)) != (
        n_arcs,
        n_paths,
        n_paths,
    ):
        raise VerificationError(
            f"The certificate has {len(certificate.tails)} arcs and {len(certificate.starts)} paths; {n_arcs} and {n_paths} are needed."
        )
    tree = RootedTree(
        len(certificate.vertices), certificate.tails.tolist(), certificate.heads.tolist()
    )
    pointers, arcs, signs = lines.indptr.tolist(), lines.indices.tolist(), lines.data.tolist()
    for j, (start, end) in enumerate(
        zip(certificate.starts.tolist(), certificate.ends.tolist(), strict=True)
    ):
        here = slice(pointers[j], pointers[j + 1])
        if sorted(tree.walk(start, end)) != list(zip(arcs[here], signs[here], strict=True)):
            kind = "Row" if certificate.transposed else "Column"
            raise VerificationError(
                f"{kind} {j} is not the path that the certificate names for it."
            )
