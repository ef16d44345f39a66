"""`counterfactual`: the nearest row that a model predicts otherwise."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, SolverFailure
from milp_trees.counterfactuals.answer import Counterfactual
from milp_trees.counterfactuals.boxes import nearest_box
from milp_trees.counterfactuals.columns import Column
from milp_trees.counterfactuals.prediction import predicted_number
from milp_trees.counterfactuals.question import Wishes, column_of, one_row
from milp_trees.counterfactuals.target import Target, of_action, target_of
from milp_trees.data.checks import check_columns
from milp_trees.data.feature import BinaryFeature
from milp_trees.data.names import as_pandas
from milp_trees.models.array_rows import columns_of
from milp_trees.results.result import Status

if TYPE_CHECKING:
    import pandas as pd


def counterfactual(
    model: Any,
    row: Any,
    target: Any = None,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    norm: str = "l1",
    weights: Mapping[str, Any] | None = None,
    immutable: Sequence[str] | str = (),
    monotone: Mapping[str, str] | None = None,
    data: Any = None,
    bounds: Mapping[str, tuple[Any, Any]] | None = None,
    steps: Mapping[str, Any] | None = None,
    missing: bool = False,
    solver: str | None = None,
    time_limit: float | None = 60.0,
    threads: int = 1,
    seed: int = 0,
) -> Counterfactual:
    """The nearest row that a model predicts otherwise, with a proof that none is nearer.

    Of a tree or rule list the answer is exact: distances are rationals, and the search over the boxes
    of the leaves needs no solver. Of an ensemble it is that of an integer program over the intervals
    between thresholds, with exact prices and the bound of the solver.

    Parameters
    ----------
    model : Tree, RuleList, Ensemble, Result or fitted estimator
        Estimators of this package, and trees, forests and boosted trees of scikit-learn.
    row : mapping, Series, DataFrame of one row, or array of shape (p,)
        The row; the columns of an array are those of the data that the model was made for.
    target : object, optional
        The wanted class or action; by default any other than that of the row.
    at_least, at_most : float, optional
        Limits of the wanted prediction, for a model that predicts numbers.
    norm : {"l1", "l0", "weighted"}, default="l1"
        `"l1"`: a change of a number counts by its share of the range in `data` (in units of the
        column without data), any other change counts 1. `"l0"`: the number of changed columns.
        `"weighted"`: `weights[column]` times the change of a number in units of the column (days for
        dates, places for ordered categories), or once for any other change.
    weights : mapping of column to number, optional
        Prices of the norm `"weighted"`.
    immutable : sequence of str, optional
        Columns that keep their value.
    monotone : mapping of column to {"up", "down"}, optional
        Columns that change in one direction only; missing values of these stay missing.
    data : DataFrame, mapping of columns, or array of shape (n, p), optional
        Rows that say what the columns hold: the range of a number, which is not left; whether
        numbers are whole, or times are days; the categories. Without data a number is whole if that
        of the row is an integer, and any category that the model asks for is allowed.
    bounds : mapping of column to (low, high), optional
        Range of a column, in place of that in `data`; None for no limit.
    steps : mapping of column to number, optional
        The numbers of a column are multiples of this (in days for dates); 0: any number.
    missing : bool, default=False
        Whether values may become missing. A missing value may always be filled in.
    solver : str, optional
        Solver for ensembles, by default the first that there is; trees and rule lists need none.
    time_limit : float or None, default=60
        Seconds of the solver.
    threads, seed : int
        Settings of the solver.

    Returns
    -------
    Counterfactual
        With the changed columns, the exact distance, and who proves that none is nearer.

    Raises
    ------
    DataError
        The row, the target or a wish does not fit the model.
    Unsupported
        The model asks a column in two ways that have no common distance.

    Examples
    --------
    >>> import milp_trees as mt
    >>> old, smoker = mt.BinaryFeature("age", "<=", 39.5), mt.BinaryFeature("smoker")
    >>> rules = (mt.Rule(mt.Antecedent((mt.Literal(old, False), smoker)), 1),)
    >>> risk = mt.RuleList(rules, 0, ("low", "high"))
    >>> found = mt.counterfactual(risk, {"age": 45, "smoker": 1}, norm="l0", monotone={"age": "up"})
    >>> print(found)
    now        high
    then       low
    change     smoker: 1 -> 0
    distance   1 (number of changes)
    proof      none is nearer, exact, over the boxes of the leaves (3 nodes)
    """
    began = time.perf_counter()
    wishes = Wishes.of(norm, weights, immutable, monotone or {}, bounds or {}, steps or {}, missing)
    frame = _named(model, one_row(row))
    columns = columns_for(model, frame, data, wishes)
    wanted = target_of(model, predicted_number(model, frame), target, at_least, at_most)
    found = nearest_box(model, columns, frozenset(_actions(model, wanted)))
    out = Counterfactual(
        model,
        frame,
        columns,
        norm,
        wanted,
        Status.INFEASIBLE if found is None else Status.OPTIMAL,
        None if found is None else found.values,
        None if found is None else found.distance,
        "boxes",
        True,
        None if found is None else found.nodes,
        seconds=time.perf_counter() - began,
    )
    return checked(out)


def checked(found: Counterfactual) -> Counterfactual:
    """The answer, once the model itself predicts its row as wanted."""
    if found.row is not None and not found.target.wants(predicted_number(found.model, found.row)):
        raise SolverFailure(
            f"The row that was found is predicted as {found.prediction}, which is not {found.target.words}. Please report this problem."
        )
    return found


def columns_for(model: Any, frame: pd.DataFrame, data: Any, wishes: Wishes) -> dict[str, Column]:
    """What the columns that a model asks for may hold."""
    tests: dict[str, list[BinaryFeature]] = {}
    for feature in model.features:
        tests.setdefault(feature.column, []).append(feature)
    wishes.check([*frame.columns, *(c for c in tests if c not in frame.columns)])
    check_columns(tests, list(frame.columns), model.noun)
    table: Any = {} if data is None else _table(model, data)
    return {
        name: column_of(name, asked, frame[name].to_numpy(), table.get(name), wishes)
        for name, asked in tests.items()
    }


def _table(model: Any, data: Any) -> dict[str, Any]:
    """The columns of the data by their names."""
    table = columns_of(model, as_pandas(data))
    names = table.columns if hasattr(table, "columns") else table
    out = {str(name): table[name] for name in names}
    lacking = [f.column for f in model.features if f.column not in out]
    if lacking:
        raise DataError(
            f"data has no column {lacking[0]!r}, which the model asks for; give the table with all of its columns."
        )
    return {name: v.to_numpy() if hasattr(v, "to_numpy") else v for name, v in out.items()}


def _named(model: Any, frame: pd.DataFrame) -> pd.DataFrame:
    """A row with names: those of the columns, or those that the model gives to places."""
    import pandas as pd

    numbered = list(frame.columns) == list(range(frame.shape[1]))
    if numbered and not {f.column for f in model.features} <= set(map(str, frame.columns)):
        return pd.DataFrame(columns_of(model, frame.to_numpy()))
    return frame.rename(columns=str)


def _actions(model: Any, target: Target) -> list[int]:
    """The actions of a tree that stand for a wanted prediction."""
    return [k for k in range(len(model.actions)) if target.wants(of_action(model, k))]
