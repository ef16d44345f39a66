"""Network matrices: check whether a given spanning tree proves that a matrix is one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from milp_trees.common.errors import DataError
from milp_trees.unimodular.answer import Unimodularity, unknown, yes
from milp_trees.unimodular.certificate import NetworkCertificate
from milp_trees.unimodular.reading import NamedMatrix, read_matrix
from milp_trees.unimodular.simple import decide_by_entries


def check_network_certificate(
    matrix: Any,
    tree: NetworkCertificate | Iterable[tuple[Hashable, Hashable, Hashable]],
    *,
    transposed: bool | None = None,
) -> Unimodularity:
    """Yes, if every column (row) is a signed path in a given spanning tree; else unknown.

    The arcs of the tree carry the rows (columns). The time is linear in the nonzeros. The product
    of the tree's vertex-arc incidence matrix with the matrix must have at most one -1 and one 1 in
    each column: in a tree no other combination of arcs than the path from u to v has -1 at u, 1 at
    v and 0 elsewhere.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        The matrix.
    tree : iterable of (tail, head, label), or NetworkCertificate
        The arcs. A label is the name of a row or column, or its index. Zero rows (columns) may be
        left out.
    transposed : bool, optional
        True: the labels are columns. Default: it follows from the labels.

    Returns
    -------
    Unimodularity

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
    paths = named.A.T if transposed else named.A  # one row per arc
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
    """Whether the labels mean columns, and the index of each label."""
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
    if len(sides) > 1:  # indices fit both sides, so the number of arcs decides
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
    """Arcs for zero lines that have none; raises DataError if the others are no tree."""
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
    """The sum of the arcs of each column of `paths` (a row per arc): heads minus tails."""
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
