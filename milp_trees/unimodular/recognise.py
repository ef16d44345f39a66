"""Recognition of network matrices and their transposes, without a given tree, in polynomial time.

The steps are: reduce the matrix; realise the support of each connected block as paths in a tree
(`realise`); form the network matrix of that tree with any orientation; and compare signs. The signs
of a totally unimodular matrix are determined by its support up to negation of rows and columns (P.
Camion, 1965). So the signs agree after some negations, or the matrix is not totally unimodular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from milp_trees.common.limits import Deadline, Stopped
from milp_trees.unimodular.answer import Unimodularity, no, unknown, yes
from milp_trees.unimodular.certificate import NetworkCertificate, verify_network
from milp_trees.unimodular.reading import NamedMatrix, read_matrix
from milp_trees.unimodular.realise import realise
from milp_trees.unimodular.reduce import COLUMN, ROW, Reduction, Step, reduce_matrix
from milp_trees.unimodular.simple import decide_by_entries


@dataclass
class Realisation:
    """Directed tree and paths of one block: arc i → (tail, head), path j → (start, end).

    Vertices are numbers of the block's own.
    """

    arcs: dict[int, tuple[int, int]]
    paths: dict[int, tuple[int, int]]


def decide_by_network(
    matrix: Any, *, transposed: bool = False, time_limit: float | None = 60.0
) -> Unimodularity:
    """Yes with a verified spanning tree, if the matrix is a network matrix; otherwise unknown.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        The matrix.
    transposed : bool, default=False
        Whether to check the transpose; then arcs carry columns.
    time_limit : float, optional
        Seconds.

    Returns
    -------
    Unimodularity
    """
    named, deadline = read_matrix(matrix), Deadline.after(time_limit)
    if not named.is_sign_matrix:
        return decide_by_entries(named)
    try:
        reduction = reduce_matrix(named.A, deadline)
        if reduction.conflict:
            return no(named, *reduction.conflict)
        blocks = []
        for rows, columns in reduction.components():
            block = realise_block(
                reduction,
                columns if transposed else rows,
                rows if transposed else columns,
                transposed,
                deadline,
            )
            if not isinstance(block, Realisation):
                what = (
                    "The support is no system of paths in a tree"
                    if block == "support"
                    else "The signs are not those of paths in a tree"
                )
                return unknown(
                    named,
                    f"It is not a {'transposed ' if transposed else ''}network matrix: {what[0].lower()}{what[1:]}.",
                )
            blocks.append(block)
        return network_answer(named, reduction.steps, blocks, transposed)
    except Stopped:
        return unknown(named, f"The time limit of {time_limit:g} seconds was reached.")


def realise_block(
    reduction: Reduction,
    arcs: Sequence[int],
    paths: Sequence[int],
    transposed: bool,
    deadline: Deadline,
) -> Realisation | Literal["support", "signs"]:
    """The directed tree of one block."""
    lines = reduction.lines[ROW if transposed else COLUMN]
    tree = realise([lines[j] for j in paths], deadline)
    if tree is None:
        return "support"
    ends, along = {}, {}
    for j in paths:
        ends[j], along[j] = _walk({i: tree[i] for i in lines[j]})
    flips = _negations(lines, reduction.lines[COLUMN if transposed else ROW], arcs[0], along)
    if flips is None:
        return "signs"
    turn_arc, turn_path = flips
    return Realisation(
        {i: tree[i] if turn_arc[i] == 1 else tree[i][::-1] for i in arcs},
        {j: ends[j] if turn_path[j] == 1 else ends[j][::-1] for j in paths},
    )


def _walk(edges: dict[int, tuple[int, int]]) -> tuple[tuple[int, int], dict[int, int]]:
    """Ends of a path that is given by its edges, and its direction (1 or -1) on each edge."""
    at: dict[int, list[int]] = {}
    for e, (u, v) in edges.items():
        at.setdefault(u, []).append(e)
        at.setdefault(v, []).append(e)
    start = here = next(v for v, touching in at.items() if len(touching) == 1)
    signs: dict[int, int] = {}
    while fresh := [e for e in at[here] if e not in signs]:
        u, v = edges[fresh[0]]
        signs[fresh[0]], here = (1, v) if here == u else (-1, u)
    return (start, here), signs


def _negations(
    paths: list[dict[int, int]],
    arcs: list[dict[int, int]],
    first: int,
    along: dict[int, dict[int, int]],
) -> tuple[dict[int, int], dict[int, int]] | None:
    """Signs of arcs and paths that turn the tree's matrix into the given one, or None.

    They are found by one search over a connected block.
    """
    turn: tuple[dict[int, int], dict[int, int]] = ({first: 1}, {})
    stack = [(0, first)]
    while stack:
        kind, at = stack.pop()
        for k, sign in (paths if kind else arcs)[at].items():
            value = turn[kind][at] * sign * (along[at][k] if kind else along[k][at])
            if k not in turn[1 - kind]:
                turn[1 - kind][k] = value
                stack.append((1 - kind, k))
            elif turn[1 - kind][k] != value:
                return None
    return turn


def network_answer(
    named: NamedMatrix, steps: Sequence[Step], blocks: Sequence[Realisation], transposed: bool
) -> Unimodularity:
    """One tree from the trees of the blocks, as a verified answer.

    The trees are joined at a vertex, and the steps of the reduction are undone.
    """
    m, n = named.A.shape
    arcs, paths, vertices = _joined(blocks)
    axis = COLUMN if transposed else ROW  # axis of the lines that arcs carry
    for step in reversed(steps):
        if step.axis == axis:
            vertices += _restore_arc(step, arcs, paths, vertices)
        else:
            _restore_path(step, arcs, paths)
    n_arcs, n_paths = (n, m) if transposed else (m, n)
    tails, heads = (np.array([arcs[i][k] for i in range(n_arcs)], dtype=np.int64) for k in (0, 1))
    starts, ends = (np.array([paths[j][k] for j in range(n_paths)], dtype=np.int64) for k in (0, 1))
    names = (
        (named.column_names, named.row_names)
        if transposed
        else (named.row_names, named.column_names)
    )
    certificate = NetworkCertificate(
        transposed, tuple(f"v{k}" for k in range(vertices)), tails, heads, starts, ends, *names
    )
    verify_network(named, certificate)
    kinds = ("row", "columns") if transposed else ("column", "rows")
    proof = "transposed network" if transposed else "network"
    return yes(
        named,
        proof,
        f"Every {kinds[0]} is a path of a tree whose arcs carry the {kinds[1]}; verified entry by entry.",
        certificate,
    )


def _joined(
    blocks: Sequence[Realisation],
) -> tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]], int]:
    """All trees with one vertex in common; vertices are numbered from 0."""
    arcs: dict[int, tuple[int, int]] = {}
    paths: dict[int, tuple[int, int]] = {}
    vertices = 1
    for block in blocks:
        number: dict[int, int] = {}
        for i, (u, v) in block.arcs.items():
            for w in (u, v):
                if w not in number:
                    number[w] = vertices if number else 0
                    vertices += number[w] > 0
            arcs[i] = (number[u], number[v])
        paths.update({j: (number[u], number[v]) for j, (u, v) in block.paths.items()})
    return arcs, paths, vertices


def _restore_arc(
    step: Step, arcs: dict[int, tuple[int, int]], paths: dict[int, tuple[int, int]], new: int
) -> int:
    """Undo a step that removed a line carried by an arc: one more arc and one more vertex."""
    if step.kind == "zero":
        arcs[step.index] = (0, new)
    elif step.kind == "unit":  # only one path uses the arc, and becomes longer
        start, end = paths[step.other]
        arcs[step.index] = (end, new) if step.sign == 1 else (new, end)
        paths[step.other] = (start, new)
    else:  # the same paths use the arc of the other line, which is divided
        tail, head = arcs[step.other]
        arcs[step.other] = (tail, new)
        arcs[step.index] = (new, head) if step.sign == 1 else (head, new)
    return 1


def _restore_path(
    step: Step, arcs: dict[int, tuple[int, int]], paths: dict[int, tuple[int, int]]
) -> None:
    """Undo a step that removed a line that is a path."""
    ends = (0, 0) if step.kind == "zero" else (arcs if step.kind == "unit" else paths)[step.other]
    paths[step.index] = ends if step.sign >= 0 else ends[::-1]
