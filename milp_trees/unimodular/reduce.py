"""Reductions that keep total unimodularity, and being a network matrix, in both directions.

They remove zero and unit lines, and equal and opposite lines. K. Truemper (Matroid Decomposition,
1992, section 4.4) calls them series and parallel reductions. A line is a row or a column.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass
from typing import Any, Literal

from scipy import sparse

from milp_trees.common.limits import Deadline

#: Positions in the shape of a matrix.
ROW, COLUMN = 0, 1


@dataclass(frozen=True)
class Step:
    """One line that is removed from the matrix.

    Parameters
    ----------
    axis : 0 or 1
        Row or column.
    index : int
        The line that is removed.
    kind : "zero", "unit" or "copy"
        The line had no entry, one entry, or was `sign` times another line, which stays.
    other : int
        For a unit line the crossing line of its entry, for a copy the line that stays; -1 for a
        zero line.
    sign : int
        The entry of a unit line, the factor of a copy.
    """

    axis: int
    index: int
    kind: Literal["zero", "unit", "copy"]
    other: int = -1
    sign: int = 0

    def to_json(self) -> dict[str, Any]:
        """The step by indices."""
        return {
            "line": ("row", "column")[self.axis],
            "index": self.index,
            "kind": self.kind,
            "other": self.other,
            "sign": self.sign,
        }


@dataclass
class Reduction:
    """The rest of a matrix, and the steps that removed lines.

    `conflict` holds rows and columns of a violating 2 × 2 submatrix, if one was found.
    """

    steps: list[Step]
    lines: tuple[list[dict[int, int]], list[dict[int, int]]]
    alive: tuple[list[bool], list[bool]]
    conflict: tuple[list[int], list[int]] | None = None

    def components(self) -> list[tuple[list[int], list[int]]]:
        """Rows and columns of the connected blocks of the rest."""
        seen = ([not a for a in self.alive[ROW]], [not a for a in self.alive[COLUMN]])
        blocks = []
        for i in range(len(seen[ROW])):
            if seen[ROW][i]:
                continue
            seen[ROW][i] = True
            block: tuple[list[int], list[int]] = ([i], [])
            stack = [(ROW, i)]
            while stack:
                axis, at = stack.pop()
                for k in self.lines[axis][at]:
                    if not seen[1 - axis][k]:
                        seen[1 - axis][k] = True
                        block[1 - axis].append(k)
                        stack.append((1 - axis, k))
            blocks.append((sorted(block[ROW]), sorted(block[COLUMN])))
        return blocks


def reduce_matrix(A: sparse.csr_matrix, deadline: Deadline) -> Reduction:
    """Remove lines until none is zero, unit, or equal or opposite to another line.

    The time is about linear in the nonzeros. Lines with equal support are found by a hash of it. If
    they are neither equal nor opposite, two columns of them have determinant ±2.
    """
    lines: tuple[list[dict[int, int]], list[dict[int, int]]] = (
        [{} for _ in range(A.shape[0])],
        [{} for _ in range(A.shape[1])],
    )
    coo = A.tocoo()
    for i, j, sign in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True):
        lines[ROW][i][j] = sign
        lines[COLUMN][j][i] = sign
    draw = random.Random(
        0
    )  # the result does not depend on it, only the number of accidental collisions does
    mark = tuple([draw.getrandbits(62) for _ in lines[axis]] for axis in (ROW, COLUMN))
    support = tuple([0] * len(lines[axis]) for axis in (ROW, COLUMN))
    for axis in (ROW, COLUMN):
        for i, line in enumerate(lines[axis]):
            for k in line:
                support[axis][i] ^= mark[1 - axis][k]
    reached: tuple[dict[int, int], dict[int, int]] = ({}, {})
    out = Reduction([], lines, ([True] * A.shape[0], [True] * A.shape[1]))
    queue = deque((axis, i) for axis in (ROW, COLUMN) for i in range(A.shape[axis]))
    turns = 0
    while queue:
        if (turns := turns + 1) % 4096 == 0:
            deadline.check()
        axis, i = queue.popleft()
        if not out.alive[axis][i]:
            continue
        step = _step(out, axis, i, support[axis], reached[axis])
        if out.conflict:
            return out
        if step is None:
            continue
        out.steps.append(step)
        out.alive[axis][i] = False
        for k in lines[axis][i]:
            del lines[1 - axis][k][i]
            support[1 - axis][k] ^= mark[axis][i]
            queue.append((1 - axis, k))
    return out


def _step(
    out: Reduction, axis: int, i: int, support: list[int], met: dict[int, int]
) -> Step | None:
    """The step that removes line i, or None."""
    line = out.lines[axis][i]
    if not line:
        return Step(axis, i, "zero")
    if len(line) == 1:
        other, sign = next(iter(line.items()))
        return Step(axis, i, "unit", other, sign)
    twin = met.get(support[i], i)
    if twin == i or not out.alive[axis][twin] or out.lines[axis][twin].keys() != line.keys():
        met[support[i]] = i
        return None
    same = {k: sign * out.lines[axis][twin][k] for k, sign in line.items()}
    k, sign = next(iter(same.items()))
    for other, s in same.items():
        if s != sign:
            pair, crossing = [i, twin], [k, other]
            out.conflict = (pair, crossing) if axis == ROW else (crossing, pair)
            return None
    return Step(axis, i, "copy", twin, sign)
