"""What a user changed in a model: the compiled model, compared with a freshly built one.

Everything that can be changed in Pyomo shows in the matrix: constraints and variables that were
added, taken away or rewritten, fixed values, bounds and domains, and the objective. So the
comparison needs no record of what was done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from milp_trees.mip.linear.matrix import MatrixModel


@dataclass(frozen=True, eq=False)
class Changes:
    """The differences between a model as it was built and as it is now.

    Parameters
    ----------
    constraints, variables : tuple of str
        Names of added constraints and variables, with the number of rows or entries if there are
        several.
    added : int array
        Columns of the added variables.
    ours : int array
        Columns of the first part.
    used : int array
        Columns that added or rewritten rows, or a changed objective, use, and that are 0 or 1 for
        every predictor.
    loosened : tuple of str
        Sentences on what no longer restricts the model as it did.
    tightened : tuple of str
        Sentences on what restricts it more: fixed variables, bounds and domains.
    other_costs : bool
        Whether the objective is not the sum of the objectives of the parts.
    parts : int
        Number of formulations' models in it.
    """

    constraints: tuple[str, ...]
    variables: tuple[str, ...]
    added: np.ndarray
    ours: np.ndarray
    used: np.ndarray
    loosened: tuple[str, ...]
    tightened: tuple[str, ...]
    other_costs: bool
    parts: int = 1

    def __bool__(self) -> bool:
        named = (self.constraints, self.variables, self.loosened, self.tightened)
        return self.objective or any(named)

    @property
    def objective(self) -> bool:
        """Whether the objective is another one than that of the first part."""
        return self.other_costs or self.parts > 1

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence for each change beside added constraints and variables."""
        several = (f"The model holds {self.parts} models of formulations.",) * (self.parts > 1)
        goal = ("The objective is another one.",) * self.other_costs
        return (*self.loosened, *self.tightened, *several, *goal)

    @property
    def restricts(self) -> str:
        """The words for what may have made the model infeasible, for the end of a sentence."""
        named = [
            f"the constraint{'s' * (len(self.constraints) > 1)} {', '.join(self.constraints)}"
        ] * bool(self.constraints)
        named += ["the fixed or narrowed variables"] * bool(self.tightened)
        return " and ".join(named)


class Part(NamedTuple):
    """What a formulation declared in a model, and how it is built afresh.

    Parameters
    ----------
    model : ConcreteModel
        A freshly built model.
    fresh : MatrixModel
        Its matrix.
    block : Block
        Where the formulation declared it.
    zero_one : frozenset of str
        Names of its continuous variables that are 0 or 1 for every predictor.
    ignored : tuple of str
        Names of variables of the block that the package added itself.
    """

    model: Any
    fresh: MatrixModel
    block: Any
    zero_one: frozenset[str]
    ignored: tuple[str, ...] = ()


def changes(now: MatrixModel, parts: Sequence[Part]) -> Changes:
    """The differences between the present matrix and those of freshly built models.

    Parameters
    ----------
    now : MatrixModel
        Fixed variables are columns (`compile_with_fixed`).
    parts : sequence of Part
        Every part of the model that a formulation declared.
    """
    names = [_names(now, part.block) for part in parts]
    found = [
        _of_part(now, part, columns, rows)
        for part, (columns, rows) in zip(parts, names, strict=True)
    ]
    own_rows = np.setdiff1d(np.arange(now.n_rows), np.concatenate([f.rows for f in found]))
    kept = np.concatenate([f.columns for f in found])
    own_columns = np.setdiff1d(np.arange(now.n_variables), kept)
    # Names of added components do not begin with the name of a part, unless they are within it.
    columns, rows = names[0]
    ignored = {name for part in parts for name in part.ignored}
    local = [columns[j][0].removeprefix("/") for j in own_columns.tolist()]
    own_columns = own_columns[[name.rpartition(".")[2] not in ignored for name in local]]
    local = [columns[j][0].removeprefix("/") for j in own_columns.tolist()]
    moved = [j for f in found for j in f.costs.tolist()]
    others = bool(now.c[own_columns].any()) or now.offset != sum(p.fresh.offset for p in parts)
    touched = np.union1d(own_rows, np.concatenate([f.rewritten for f in found]))
    used = np.union1d(np.unique(now.A[touched].indices), np.array(moved, dtype=np.int64))
    return Changes(
        tuple(_counted(rows[r][0].removeprefix("/") for r in own_rows.tolist())),
        tuple(_counted(local)),
        own_columns,
        found[0].columns,
        np.intersect1d(used, np.concatenate([f.zero_one for f in found])),
        tuple(sentence for f in found for sentence in f.loosened),
        tuple(sentence for f in found for sentence in f.tightened),
        bool(moved) or others,
        len(parts),
    )


class _Found(NamedTuple):
    """The differences of one part: its rows and columns in the present matrix, and sentences."""

    rows: np.ndarray
    columns: np.ndarray
    zero_one: np.ndarray
    rewritten: np.ndarray
    costs: np.ndarray
    loosened: list[str]
    tightened: list[str]


def _names(now: MatrixModel, block: Any) -> tuple[list[Any], list[Any]]:
    """Names and indices of columns and rows; those outside of a block begin with `/`."""
    prefix = "" if block.model() is block else f"{block.name}."
    return _column_keys(now, prefix), _row_keys(now, prefix)


def _of_part(now: MatrixModel, part: Part, columns: list[Any], rows: list[Any]) -> _Found:
    """The differences of one part."""
    fresh = part.fresh
    column_of = {key: j for j, key in enumerate(columns)}
    row_of = {key: r for r, key in enumerate(rows)}
    old_columns, old_rows = _column_keys(fresh, ""), _row_keys(fresh, "")
    kept_columns = np.array([column_of.get(key, -1) for key in old_columns], dtype=np.int64)
    kept_rows = np.array([row_of.get(key, -1) for key in old_rows], dtype=np.int64)
    there, left = kept_rows >= 0, kept_columns >= 0
    rewritten, looser, tighter = _rows_that_differ(now, fresh, kept_rows, kept_columns)
    wider, narrower, fixed = _bounds_that_differ(now, fresh, kept_columns)

    def told(what: str, keys: list[Any], at: Any) -> list[str]:
        return [f"{name} {what}." for name in _counted(keys[i][0] for i in at)]

    moved = np.flatnonzero(left)[now.c[kept_columns[left]] != fresh.c[left]]
    lost = np.flatnonzero(~left & (fresh.c != 0))
    loosened = told("was taken away", old_rows, np.flatnonzero(~there).tolist())
    loosened += told("was rewritten", old_rows, rewritten.tolist())
    loosened += told("has other sides", old_rows, looser.tolist())
    loosened += told("was taken away", old_columns, np.flatnonzero(~left).tolist())
    loosened += told("has wider bounds or domain", old_columns, wider)
    loosened += ["The objective lacks variables."] * bool(len(lost))
    tightened = told("has narrower sides", old_rows, tighter.tolist())
    tightened += told("is fixed", old_columns, fixed)
    tightened += told("has narrower bounds or domain", old_columns, narrower)
    return _Found(
        kept_rows[there],
        kept_columns[left],
        kept_columns[
            left & np.array([name in part.zero_one for name, _ in old_columns], dtype=bool)
        ],
        kept_rows[rewritten],
        kept_columns[moved],
        loosened,
        tightened,
    )


def _rows_that_differ(
    now: MatrixModel, fresh: MatrixModel, kept_rows: np.ndarray, kept_columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the fresh model with other coefficients, with wider, and with narrower sides."""
    there, left = np.flatnonzero(kept_rows >= 0), np.flatnonzero(kept_columns >= 0)
    before = fresh.A[there][:, left]
    whole = now.A[kept_rows[there]]
    after = whole[:, kept_columns[left]]
    # Nonzeros of the row outside of the columns that are left are terms that were added.
    changed = np.asarray(abs(before - after).sum(axis=1)).ravel() > 0
    changed |= (
        np.asarray(abs(whole).sum(axis=1)).ravel() != np.asarray(abs(after).sum(axis=1)).ravel()
    )
    low, up = now.row_lower[kept_rows[there]], now.row_upper[kept_rows[there]]
    was_low, was_up = fresh.row_lower[there], fresh.row_upper[there]
    wider = ~changed & ((low < was_low) | (up > was_up))
    narrower = ~changed & ~wider & ((low > was_low) | (up < was_up))
    return there[changed], there[wider], there[narrower]


def _bounds_that_differ(
    now: MatrixModel, fresh: MatrixModel, kept_columns: np.ndarray
) -> tuple[list[int], list[int], list[int]]:
    """Columns of the fresh model with wider bounds or domain, with narrower ones, and fixed."""
    left = np.flatnonzero(kept_columns >= 0)
    at = kept_columns[left]
    low, up, whole = now.lower[at], now.upper[at], now.integer[at]
    wider = (low < fresh.lower[left]) | (up > fresh.upper[left]) | (~whole & fresh.integer[left])
    tighter = (low > fresh.lower[left]) | (up < fresh.upper[left]) | (whole & ~fresh.integer[left])
    fixed = ~wider & tighter & (low == up)
    narrower = ~wider & tighter & ~fixed
    return left[wider].tolist(), left[narrower].tolist(), left[fixed].tolist()


def _column_keys(model: MatrixModel, prefix: str) -> list[tuple[str, Any]]:
    """Name and index of every column; names of the block begin after its prefix."""
    names: dict[int, str] = {}
    keys = []
    for v in model.columns:
        component = v.parent_component()
        name = names.get(id(component))
        if name is None:
            name = names[id(component)] = _local(component.name, prefix)
        keys.append((name, v.index()))
    return keys


def _row_keys(model: MatrixModel, prefix: str) -> list[tuple[str, Any, int]]:
    """Name, index, and number among those of the same index, of every row."""
    seen: Counter[tuple[str, Any]] = Counter()
    keys = []
    for label, index in zip(model.row_labels, model.row_indices, strict=True):
        key = (_local(label, prefix), index)
        keys.append((*key, seen[key]))
        seen[key] += 1
    return keys


def _local(name: str, prefix: str) -> str:
    """The name within the block; a name outside of it begins with `/`, which no name does."""
    return name[len(prefix) :] if name.startswith(prefix) else f"/{name}"


def _counted(names: Iterable[str]) -> list[str]:
    """Each name once, with its number if there are several."""
    return [name if n == 1 else f"{name} ({n})" for name, n in Counter(names).items()]
