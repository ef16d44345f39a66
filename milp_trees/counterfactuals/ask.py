"""`counterfactual`: the nearest row that a model predicts otherwise."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, SolverFailure
from milp_trees.common.limits import Limits
from milp_trees.counterfactuals.answer import BOXES, Counterfactual
from milp_trees.counterfactuals.boxes import nearest_box
from milp_trees.counterfactuals.columns import Column, Found
from milp_trees.counterfactuals.given import Given
from milp_trees.counterfactuals.question import Wishes, column_of, one_row
from milp_trees.counterfactuals.target import of_action, target_of
from milp_trees.data.checks import missing_in
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
    SolverFailure
        The solver failed, or the model predicts the row that was found otherwise than its trees.

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
    limits = Limits.asked(time_limit=time_limit, threads=threads, seed=seed)
    given = Given.of(model)
    frame = given.named(one_row(row))
    columns = columns_for(given, frame, data, wishes)
    wanted = target_of(given.names, given.number(frame), target, at_least, at_most)
    asked = Counterfactual(given, frame, columns, norm, wanted)
    if given.single and solver is None:
        found = _by_boxes(asked)
    else:
        found = _by_solver(asked, solver, limits)
    if found.row is not None and not given.wants(found.row, wanted):
        raise SolverFailure(
            f"The row that was found is predicted as {found.prediction}, which is not {wanted.words}. Please report this problem."
        )
    return replace(found, seconds=time.perf_counter() - began)


def _by_boxes(asked: Counterfactual) -> Counterfactual:
    """The answer by the boxes of the leaves of a tree or rule list."""
    model = asked.model.model
    actions = frozenset(
        k for k in range(len(model.actions)) if asked.target.wants(of_action(model, k))
    )
    found = nearest_box(model, asked.columns, actions)
    if found is None:
        return replace(asked, status=Status.INFEASIBLE, proved_by=BOXES)
    return replace(
        asked,
        status=Status.OPTIMAL,
        values=found.values,
        bound=found.distance,
        proved_by=BOXES,
        nodes=found.nodes,
    )


def _by_solver(asked: Counterfactual, solver: str | None, limits: Limits) -> Counterfactual:
    """The answer by an integer program."""
    from milp_trees.counterfactuals.program import nearest_by_program
    from milp_trees.mip.registry import registry

    solver = solver or registry.default_solver

    def accepts(values: Mapping[str, Found]) -> bool:
        row = replace(asked, values=values).row
        return asked.model.wants(row, asked.target)

    found = nearest_by_program(asked.model, asked.columns, asked.target, accepts, solver, limits)
    return replace(
        asked,
        status=found.status,
        values=found.values,
        bound=found.bound,
        proved_by=solver,
        nodes=found.nodes,
        limit=found.limit,
    )


def columns_for(given: Given, frame: pd.DataFrame, data: Any, wishes: Wishes) -> dict[str, Column]:
    """What the columns that a model asks for may hold."""
    wishes.check(list(frame.columns))
    table: Any = {} if data is None else given.table(data)
    absent = [name for name in given.tests if missing_in(frame[name].to_numpy())[0]]
    if absent and not given.single:
        raise DataError(
            f"The column {absent[0]!r} is missing in the row, and where the trees of a {type(given.model).__name__} send a missing value is not read from them; fill it in."
        )
    return {
        name: column_of(name, asked, frame[name].to_numpy(), table.get(name), wishes)
        for name, asked in given.tests.items()
    }
