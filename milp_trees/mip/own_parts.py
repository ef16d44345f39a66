"""What a user changed in a model: the compiled model, compared with a freshly built one.

Everything that can be changed in Pyomo shows in the matrix: constraints and variables that were
added, taken away or rewritten, fixed values, bounds and domains, and the objective. So the
comparison needs no record of what was done.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

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
    rows, columns : int array
        Rows and columns of the present matrix that are not the formulation's, or no longer.
    loosened : tuple of str
        Sentences on what no longer restricts the model as it did.
    tightened : tuple of str
        Sentences on what restricts it more: fixed variables, bounds and domains.
    objective : bool
        Whether the objective is another one.
    costs : int array
        Columns of the formulation whose coefficient in the objective was changed.
    """

    constraints: tuple[str, ...]
    variables: tuple[str, ...]
    rows: np.ndarray
    columns: np.ndarray
    loosened: tuple[str, ...]
    tightened: tuple[str, ...]
    objective: bool
    costs: np.ndarray

    def __bool__(self) -> bool:
        parts = (self.constraints, self.variables, self.loosened, self.tightened)
        return self.objective or any(parts)

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence for each change beside added constraints and variables."""
        goal = ("The objective is another one.",) if self.objective else ()
        return (*self.loosened, *self.tightened, *goal)

    @property
    def restricts(self) -> str:
        """The words for what may have made the model infeasible, for the end of a sentence."""
        named = [
            f"the constraint{'s' * (len(self.constraints) > 1)} {', '.join(self.constraints)}"
        ] * bool(self.constraints)
        named += ["the fixed or narrowed variables"] * bool(self.tightened)
        return " and ".join(named)


def changes(now: MatrixModel, fresh: MatrixModel, block: Any, ignored: tuple[str, ...]) -> Changes:
    """The differences between the present matrix and that of a freshly built model.

    Parameters
    ----------
    now, fresh : MatrixModel
        Fixed variables are columns (`compile_with_fixed`).
    block : Block
        The part of the present model that the formulation declared.
    ignored : tuple of str
        Names of variables of the block that the package added itself.
    """
    prefix = "" if block.model() is block else f"{block.name}."
    old_columns = _column_keys(fresh, "")
    new_columns = _column_keys(now, prefix)
    column_of = dict(zip(new_columns, range(now.n_variables), strict=True))
    old_rows, new_rows = _row_keys(fresh, ""), _row_keys(now, prefix)
    row_of = dict(zip(new_rows, range(now.n_rows), strict=True))
    kept_columns = np.array([column_of.get(key, -1) for key in old_columns], dtype=np.int64)
    kept_rows = np.array([row_of.get(key, -1) for key in old_rows], dtype=np.int64)
    there, left = kept_rows >= 0, kept_columns >= 0
    rewritten, looser, tighter = _rows_that_differ(now, fresh, kept_rows, kept_columns)
    own_rows = np.setdiff1d(np.arange(now.n_rows), kept_rows[there])
    own_columns = np.setdiff1d(np.arange(now.n_variables), kept_columns[left])
    own_columns = own_columns[[new_columns[j][0] not in ignored for j in own_columns.tolist()]]
    own = [new_columns[j][0].removeprefix("/") for j in own_columns.tolist()]
    costs = np.zeros(fresh.n_variables)
    costs[left] = now.c[kept_columns[left]]
    moved = costs != fresh.c
    others = now.c[own_columns].any() or now.offset != fresh.offset
    loosened = [
        *_told("was taken away", (old_rows[r][0] for r in np.flatnonzero(~there).tolist())),
        *_told("was rewritten", (old_rows[r][0] for r in rewritten.tolist())),
        *_told("has other sides", (old_rows[r][0] for r in looser.tolist())),
        *_told("was taken away", (old_columns[j][0] for j in np.flatnonzero(~left).tolist())),
    ]
    tightened = _told("has narrower sides", (old_rows[r][0] for r in tighter.tolist()))
    wider, narrower, fixed = _bounds_that_differ(now, fresh, kept_columns)
    loosened += _told("has wider bounds or domain", (old_columns[j][0] for j in wider))
    tightened += _told("is fixed", (old_columns[j][0] for j in fixed))
    tightened += _told("has narrower bounds or domain", (old_columns[j][0] for j in narrower))
    added = [new_rows[r][0].removeprefix("/") for r in own_rows.tolist()]
    return Changes(
        tuple(_counted(added)),
        tuple(_counted(own)),
        np.union1d(own_rows, kept_rows[rewritten]),
        own_columns,
        tuple(loosened),
        tuple(tightened),
        bool(moved.any() or others),
        kept_columns[left & moved],
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


def _counted(names: Any) -> list[str]:
    """Each name once, with its number if there are several."""
    return [name if n == 1 else f"{name} ({n})" for name, n in Counter(names).items()]


def _told(what: str, names: Any) -> list[str]:
    """A sentence for each name, with its number of entries."""
    return [f"{name} {what}." for name in _counted(names)]
