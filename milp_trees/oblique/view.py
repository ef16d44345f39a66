"""`ObliqueMatrix`: costs of actions beside numeric columns, for methods that search weights."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from milp_trees.oblique.columns import NumericColumns, distinct_rows, numeric_columns
from milp_trees.tasks.grouping import group_sums
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Views are made once per problem and way of merging rows.
_made: WeakKeyDictionary[Problem, dict[str, ObliqueMatrix]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False, kw_only=True)
class ObliqueMatrix(CostMatrix):
    """A cost matrix whose rows have numeric columns.

    Parameters
    ----------
    numeric : NumericColumns
        The columns that splits may use, on the rows of the view, with the widths that they have on
        all rows.
    column_names : tuple of str
        Names of all numeric columns of the dataset.
    group : int array
        Row of the view that each row of the dataset is merged into.
    """

    numeric: NumericColumns
    column_names: tuple[str, ...]
    group: np.ndarray

    @property
    def split_cost(self) -> int:
        """Cost of a branch node, without its columns."""
        return int(self.split_costs[0])

    @property
    def column_costs(self) -> np.ndarray:
        """What every column adds to the cost of a branch node that uses it; shape (p,)."""
        return self.split_costs[1 : 1 + len(self.numeric.names)] - self.split_cost

    @property
    def data_sizes(self) -> dict[str, int]:
        """Sizes of the problem, for tables beside the sizes of a model."""
        return {"data_rows": self.n_rows, "data_columns": len(self.numeric.names)}

    def numbers(self, column: str) -> np.ndarray:
        """Values of a numeric column."""
        values: np.ndarray = self.numeric.values[:, self.numeric.index[column]]
        return values

    def objective(self, tree: Any) -> int:
        """Integer objective of an oblique tree."""
        action = tree.routes(self).action
        columns = sum(
            int(self.column_costs[self.numeric.index[c]]) for t in tree.splits for c in t.columns
        )
        return (
            int(self.costs[np.arange(self.n_rows), action].sum())
            + self.leaf_cost * tree.n_leaves
            + self.split_cost * len(tree.splits)
            + columns
        )


def oblique_view(problem: Problem, merge: str = "equal") -> ObliqueMatrix:
    """The costs of a problem beside its numeric columns.

    Parameters
    ----------
    problem : Problem
        Its task offers a cost matrix, and its dataset has numeric columns.
    merge : {"equal", "alike", "none"}
        Which rows are merged: those with equal numbers, those that moreover have the same cheapest
        action, or none.

    Returns
    -------
    ObliqueMatrix
    """
    known = _made.setdefault(problem, {})
    if merge not in known:
        known[merge] = _view(problem, merge)
    return known[merge]


def _view(problem: Problem, merge: str) -> ObliqueMatrix:
    whole = problem.view(CostMatrix)
    columns = numeric_columns(problem.dataset)
    rows = columns.values
    given = {f.name: getattr(whole, f.name) for f in fields(CostMatrix)}
    names = tuple(problem.dataset.columns or ())
    view = ObliqueMatrix(
        **given, numeric=columns, column_names=names, group=np.arange(whole.n_rows)
    )
    if merge == "none" or not whole.n_rows:
        return view
    if merge == "alike":
        rows = np.column_stack([rows, whole.costs.argmin(axis=1)])
    first, group = distinct_rows(rows)
    total = group_sums(group, len(first))
    return replace(
        view,
        X=view.X[first],
        costs=total(view.costs),
        counts=total(view.counts),
        side=tuple(replace(row, coefs=total(row.coefs)) for row in view.side),
        rows=view.rows[first],
        numeric=_some(columns, first),
        group=group,
    )


def _some(columns: NumericColumns, rows: np.ndarray) -> NumericColumns:
    """Some rows of the columns, among which every row has an equal one: scales stay the same."""
    return NumericColumns(columns.names, np.ascontiguousarray(columns.values[rows]))
