"""Network matrices: the certificate that names the spanning tree, its check against a matrix, and
its verification entry by entry.

A network matrix has a row per arc of a directed tree and a column per path in it: +1 where the path
runs along the arc, -1 where it runs against it (W. T. Tutte, 1965; A. Schrijver, Theory of Linear
and Integer Programming, 1986, section 19.3). Network matrices and their transposes are totally
unimodular.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from milp_trees.errors import DataError, Unsupported, VerificationError
from milp_trees.unimodular.answer import Unimodularity, unknown, yes
from milp_trees.unimodular.reading import NamedMatrix, read_matrix
from milp_trees.unimodular.simple import decide_by_entries

#: Larger trees are not drawn in a notebook.
_DRAWN = 40
#: Larger trees are not drawn at all: the layout takes cubic time.
_DRAWABLE = 400


@dataclass(frozen=True, eq=False)
class NetworkCertificate:
    """A spanning tree whose arcs carry the lines on one side of a matrix, and the path of each line
    on the other.

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
        Where the path of column (row) j begins and ends; equal for a zero column.
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
        """The signed path of column (row) j: the names its arcs carry, and 1 if it runs along the
        arc, -1 if against it.
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
        """Draw the spanning tree with what its arcs carry; returns the matplotlib axes.

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
    """A spanning tree hung up at vertex 0, to walk along its paths.

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
            around[t].append((h, i, -1))  # from the head one climbs to the tail against the arc
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
        assert step is not None  # only the root has none, and the walk meets there
        parent, i, climb = step
        return parent, i, climb


def verify_network(matrix: Any, certificate: NetworkCertificate) -> None:
    """Compare a matrix with the paths of a spanning tree, entry by entry; shares nothing with what
    made the certificate.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
    certificate : NetworkCertificate

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


def check_network_certificate(
    matrix: Any,
    tree: NetworkCertificate | Iterable[tuple[Hashable, Hashable, Hashable]],
    *,
    transposed: bool | None = None,
) -> Unimodularity:
    """Yes, if every column (row) is a signed path in a given spanning tree whose arcs carry the
    rows (columns); linear in the nonzeros.

    The product of the tree's vertex-arc incidence matrix with the matrix must have at most one -1
    and one 1 in each column: in a tree no other combination of arcs than the path from u to v has
    -1 at u, 1 at v and 0 elsewhere.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
    tree : iterable of (tail, head, label), or NetworkCertificate
        The arcs. A label is the name of a row or column, or its index. Zero rows (columns) may be
        left out.
    transposed : bool, optional
        True: the labels are columns. Default: found from the labels.

    Raises
    ------
    DataError
        A label is unknown or ambiguous, a row (column) has no arc or two, or the arcs are no tree.
    """
    named = read_matrix(matrix)
    if not named.is_sign_matrix:
        return decide_by_entries(named)
    if isinstance(tree, NetworkCertificate):
        name = tree.vertices
        transposed, tree = (
            tree.transposed,
            [
                (name[t], name[h], i)
                for i, (t, h) in enumerate(zip(tree.tails, tree.heads, strict=True))
            ],
        )
    arcs = _arcs(tree)
    transposed, lines = _lines_of(named, [label for _, _, label in arcs], transposed)
    paths = named.A.T if transposed else named.A  # a row per arc
    vertices: dict[Hashable, int] = {}
    tails, heads = np.full(paths.shape[0], -1), np.full(paths.shape[0], -1)
    for (t, h, label), i in zip(arcs, lines, strict=True):
        if tails[i] >= 0:
            raise DataError(
                f"Two arcs carry {label!r}; each {'column' if transposed else 'row'} is carried by one."
            )
        tails[i], heads[i] = (
            vertices.setdefault(t, len(vertices)),
            vertices.setdefault(h, len(vertices)),
        )
    tails, heads, names = _complete(named, transposed, tails, heads, vertices)
    boundary = _boundary(sparse.csr_matrix(paths), tails, heads, len(names))
    starts, ends, bad = _two_ends(boundary)
    arc_names, path_names = (
        (named.column_names, named.row_names)
        if transposed
        else (named.row_names, named.column_names)
    )
    if bad is not None:
        return unknown(
            named,
            f"{'Row' if transposed else 'Column'} {path_names[bad]} is not a path of the given tree.",
        )
    certificate = NetworkCertificate(
        transposed, names, tails, heads, starts, ends, arc_names, path_names
    )
    kinds = ("row", "columns") if transposed else ("column", "rows")
    return yes(
        named,
        "transposed network" if transposed else "network",
        f"Every {kinds[0]} is a path of a tree whose arcs carry the {kinds[1]}.",
        certificate,
    )


def _arcs(tree: Iterable[Any]) -> list[tuple[Hashable, Hashable, Hashable]]:
    """The arcs as triples."""
    try:
        return [(tail, head, label) for tail, head, label in tree]
    except (TypeError, ValueError):
        raise DataError(
            "The tree must be a list of arcs (tail, head, label); each label is the row or column that the arc carries."
        ) from None


def _lines_of(
    named: NamedMatrix, labels: list[Hashable], transposed: bool | None
) -> tuple[bool, list[int]]:
    """Which rows (False) or columns (True) the labels mean."""
    rows = {name: i for i, name in enumerate(named.row_names)}
    columns = {**named.aliases, **{name: j for j, name in enumerate(named.column_names)}}
    found = {
        False: [_index(label, rows) for label in labels],
        True: [_index(label, columns) for label in labels],
    }
    sides = [
        side
        for side in (False, True)
        if (transposed is None or side == transposed) and None not in found[side]
    ]
    if len(sides) > 1:  # indices fit both sides: as many arcs as there are lines decide
        sides = [side for side in sides if len(labels) == named.A.shape[side]]
    if len(sides) != 1:
        unknown_label = next(
            (
                label
                for label, r, c in zip(labels, found[False], found[True], strict=True)
                if r is None and c is None
            ),
            None,
        )
        if unknown_label is not None:
            raise DataError(
                f"The tree has an arc for {unknown_label!r}, which is neither a row nor a column of the matrix."
            )
        raise DataError(
            "The tree's labels must all be rows, or all be columns; say which by transposed=False or transposed=True."
        )
    return sides[0], [i for i in found[sides[0]] if i is not None]


def _index(label: Hashable, names: dict[str, int]) -> int | None:
    if isinstance(label, (int, np.integer)):
        return int(label) if 0 <= label < len(set(names.values())) else None
    return names.get(str(label))


def _complete(
    named: NamedMatrix,
    transposed: bool,
    tails: np.ndarray,
    heads: np.ndarray,
    vertices: dict[Hashable, int],
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Arcs for zero lines that have none, after a check that the others are a tree."""
    kind, names = ("column", named.column_names) if transposed else ("row", named.row_names)
    missing = np.flatnonzero(tails < 0)
    used = np.diff((named.A.tocsc() if transposed else named.A).indptr)
    if used[missing].any():
        raise DataError(
            f"The tree has no arc for {kind} {names[missing[used[missing].argmax()]]}; every {kind} with entries needs one."
        )
    n = max(1, len(vertices))
    given = tails >= 0
    joined = sparse.csr_matrix((np.ones(given.sum()), (tails[given], heads[given])), shape=(n, n))
    if given.sum() != n - 1 or connected_components(joined, directed=False)[0] != 1:
        raise DataError(
            f"The {given.sum()} arcs on {n} vertices are no spanning tree; it has {n - 1} arcs that connect all vertices."
        )
    tails, heads = tails.copy(), heads.copy()
    tails[missing], heads[missing] = 0, n + np.arange(len(missing))
    return (
        tails,
        heads,
        (*(map(str, vertices) if vertices else ["root"]), *(f"({names[i]})" for i in missing)),
    )


def _boundary(
    paths: sparse.csr_matrix, tails: np.ndarray, heads: np.ndarray, n_vertices: int
) -> sparse.csc_matrix:
    """What each column of `paths` (a row per arc) leaves at the vertices: heads minus tails."""
    arcs = np.arange(len(tails))
    signs = np.repeat(np.array([1, -1], dtype=np.int32), len(tails))
    incidence = sparse.csr_matrix(
        (signs, (np.concatenate([heads, tails]), np.concatenate([arcs, arcs]))),
        shape=(n_vertices, len(tails)),
    )
    boundary = sparse.csc_matrix(incidence @ paths.astype(np.int32))
    boundary.eliminate_zeros()
    return boundary


def _two_ends(boundary: sparse.csc_matrix) -> tuple[np.ndarray, np.ndarray, int | None]:
    """Start and end of every column's path, or the first column that is no path."""
    counts = np.diff(boundary.indptr)
    starts, ends = np.zeros(len(counts), dtype=np.int64), np.zeros(len(counts), dtype=np.int64)
    column = np.repeat(np.arange(len(counts)), counts)
    fits = (counts == 0) | (counts == 2)
    fits[column[np.abs(boundary.data) != 1]] = False
    fits[column] &= np.bincount(column, boundary.data, len(counts))[column] == 0
    if not fits.all():
        return starts, ends, int(np.flatnonzero(~fits)[0])
    starts[column[boundary.data == -1]] = boundary.indices[boundary.data == -1]
    ends[column[boundary.data == 1]] = boundary.indices[boundary.data == 1]
    return starts, ends, None
