"""Searches for a violating submatrix; their answer is no or unknown.

Chordless cycles: P. Camion (1965) showed that the signs of a matrix are right only if every
chordless cycle of nonzeros sums to a multiple of 4; K. Truemper (Alpha-balanced graphs and matrices
and GF(3)-representability of matroids, 1982) gave a list of cycles that is sufficient. Pivots: an
entry after pivots on entries ±1 is ± the determinant of the submatrix of the pivots' lines and its
own.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np

from milp_trees.common.limits import Deadline
from milp_trees.unimodular.answer import Unimodularity, no, unknown
from milp_trees.unimodular.reading import read_matrix
from milp_trees.unimodular.simple import decide_by_entries

#: A node of the bipartite graph of nonzeros: (0, row) or (1, column).
Node = tuple[int, int]

#: Largest number of rows and columns in which pivots are tried together.
_WINDOW = 60


def decide_by_chordless_cycles(matrix: Any, *, deadline: Deadline | None = None) -> Unimodularity:
    """No, with a chordless cycle of nonzeros whose determinant is ±2; else unknown.

    The answer is no if the signs are wrong. So if the support is that of some totally unimodular
    matrix, this check decides whether the matrix is one. It takes at most m + n breadth-first
    searches.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        The matrix.
    deadline : Deadline, optional
        End of the allowed time.
    """
    named = read_matrix(matrix)
    if not named.is_sign_matrix:
        return decide_by_entries(named)
    signs: dict[Node, dict[Node, int]] = {
        (axis, i): {} for axis in (0, 1) for i in range(named.A.shape[axis])
    }
    coo = named.A.tocoo()
    for i, j, sign in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True):
        signs[0, i][1, j] = signs[1, j][0, i] = sign
    added: set[Node] = set()
    for start in signs:
        if start in added:
            continue
        added.add(start)
        queue = [start]
        for node in queue:  # each node comes after one of its neighbours
            for other in signs[node]:
                if other not in added:
                    if deadline:
                        deadline.check()
                    cycle = _wrong_cycle(signs, added, other)
                    if cycle is not None:
                        return no(
                            named,
                            [i for axis, i in cycle if axis == 0],
                            [j for axis, j in cycle if axis == 1],
                        )
                    added.add(other)
                    queue.append(other)
    return unknown(
        named,
        "The signs are those of the only totally unimodular matrix there can be on this support.",
    )


def _wrong_cycle(
    signs: dict[Node, dict[Node, int]], added: set[Node], new: Node
) -> list[Node] | None:
    """A chordless cycle through a new node whose sum is not a multiple of 4.

    Shortest paths join its neighbours one after another.
    """
    targets = {v for v in signs[new] if v in added}
    joined = {next(v for v in signs[new] if v in added)}
    while len(joined) < len(targets):
        came: dict[Node, Node | None] = dict.fromkeys(joined)
        queue, found = list(joined), None
        for u in queue:
            for v in signs[u]:
                if v in added and v not in came:
                    came[v] = u
                    queue.append(v)
                    if v in targets:
                        found = v
                        break
            if found:
                break
        if found is None:
            return None  # impossible, because the nodes that were added are connected
        path: list[Node] = [found]
        while (before := came[path[-1]]) is not None:
            path.append(before)
        total = (
            signs[new][path[0]] + signs[new][path[-1]] + sum(signs[a][b] for a, b in pairwise(path))
        )
        if total % 4:
            return [new, *path]
        joined.add(found)
    return None


def decide_by_pivots(
    matrix: Any, *, time_limit: float | None = 5.0, seed: int = 0, rounds: int = 300
) -> Unimodularity:
    """No, with a submatrix, if random pivots lead to an entry other than 0, 1, -1; else unknown.

    The pivots are in random neighbourhoods of the matrix.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        The matrix.
    time_limit : float, optional
        Seconds.
    seed : int, default=0
        Seed of the random choices.
    rounds : int, default=300
        Largest number of neighbourhoods to try.

    Returns
    -------
    Unimodularity
    """
    named, deadline = read_matrix(matrix), Deadline.after(time_limit)
    if not named.is_sign_matrix:
        return decide_by_entries(named)
    draw = random.Random(seed)
    by_row, by_column = named.A, named.A.tocsc()
    used = np.flatnonzero(np.diff(by_row.indptr)).tolist()
    for tried in range(rounds if used else 0):
        if deadline.passed:
            return unknown(
                named,
                f"{tried} rounds of random pivots found no violating submatrix within the time limit.",
            )
        rows, columns = _neighbourhood(by_row, by_column, draw.choice(used), draw)
        found = _pivot_until_wrong(by_row[rows][:, columns].toarray().astype(np.int64), draw)
        if found is not None:
            return no(
                named, *_shrunk(by_row, [rows[i] for i in found[0]], [columns[j] for j in found[1]])
            )
    return unknown(named, f"{rounds} rounds of random pivots found no violating submatrix.")


def _shrunk(A: Any, rows: list[int], columns: list[int]) -> tuple[list[int], list[int]]:
    """Leave out a row and a column as long as the rest violates.

    An entry of the adjugate of absolute value 2 or more shows which ones.
    """
    while len(rows) > 2:
        a = A[rows][:, columns].toarray().astype(float)
        minors = np.rint(np.linalg.inv(a) * np.linalg.det(a))
        j, i = np.unravel_index(np.abs(minors).argmax(), minors.shape)
        if abs(minors[j, i]) < 2:
            break
        rows, columns = (
            [r for k, r in enumerate(rows) if k != i],
            [c for k, c in enumerate(columns) if k != j],
        )
    return rows, columns


def _neighbourhood(
    by_row: Any, by_column: Any, start: int, draw: random.Random
) -> tuple[list[int], list[int]]:
    """Rows and columns near a row."""
    rows: list[int] = [start]
    columns: list[int] = []
    seen: tuple[set[int], set[int]] = ({start}, set())
    queue = [(0, start)]
    most = draw.randint(6, _WINDOW)
    while queue and len(rows) + len(columns) < 2 * most:
        axis, i = queue.pop(0)
        A = by_column if axis else by_row
        near = A.indices[A.indptr[i] : A.indptr[i + 1]].tolist()
        draw.shuffle(near)
        for k in near:
            if k not in seen[1 - axis]:
                seen[1 - axis].add(k)
                (rows if axis else columns).append(k)
                queue.append((1 - axis, k))
    return rows, columns


def _pivot_until_wrong(a: np.ndarray, draw: random.Random) -> tuple[list[int], list[int]] | None:
    """Rows and columns of a submatrix with a determinant other than 0, ±1, from random pivots.

    A pivot exchanges a row with a column. The exchanged lines are those of the product of pivots; a
    second pivot on a line restores it.
    """
    m, n = a.shape
    at_row, at_column = (
        list(range(m)),
        [m + j for j in range(n)],
    )  # number of the line at each position: rows are 0..m-1, columns from m
    for _ in range(2 * (m + n)):
        places = np.argwhere(a)
        if not len(places):
            return None
        i, j = places[draw.randrange(len(places))]
        p, row, column = a[i, j], a[i].copy(), a[:, j].copy()
        a -= np.outer(column, row) * p  # 1/p = p
        a[i], a[:, j], a[i, j] = row * p, -column * p, p
        at_row[i], at_column[j] = at_column[j], at_row[i]
        wrong = np.argwhere(np.abs(a) > 1)
        if len(wrong):
            r, c = wrong[draw.randrange(len(wrong))]
            # The entry is the determinant that one more exchange, at its position, would add to
            # the product.
            at_row[r], at_column[c] = at_column[c], at_row[r]
            return sorted(k for k in at_column if k < m), sorted(k - m for k in at_row if k >= m)
    return None
