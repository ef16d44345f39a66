"""The tree of a point of a changed model, and whether it stands for that point.

A decoded tree says nothing about variables of the model that do not follow from it: a flow that is
not sent although it could be, an action that is chosen by halves. If a constraint of the user rests
on these, the tree does not keep it although the point does. So the tree is written into the model
again, with the values of the added variables, and the rows are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from milp_trees.mip.linear.matrix import MatrixModel

#: A row or bound that a point breaks by more than this is broken.
TOLERANCE = 1e-6
#: Largest number of rows that are told.
MOST = 5


class Modelled(Protocol):
    """A model with its problem; `Built` is one."""

    @property
    def problem(self) -> Any:
        """The problem that was modelled."""

    @property
    def formulation(self) -> Any:
        """Writes trees into the model and reads them."""

    @property
    def model(self) -> Any:
        """The Pyomo block of the formulation."""

    @property
    def view(self) -> Any:
        """The arrays that are modelled."""


@dataclass(frozen=True, eq=False)
class Reading:
    """A decoded tree.

    Parameters
    ----------
    predictor : Tree, RuleList or Ensemble
    point : float array
        The values that were read.
    wrong : str
        Why the tree does not stand for the point; empty if it does.
    note : str
        What the tree leaves out of the solution.
    """

    predictor: Any
    point: np.ndarray
    wrong: str = ""
    note: str = ""


def read_back(built: Modelled, matrix: MatrixModel, x: np.ndarray, priced: bool = False) -> Reading:
    """The tree of a point, in the simplest form that keeps the changed model.

    Parts of the tree that no row reaches are left out, unless a constraint of the user asks for
    them. The model has the values of the point afterwards. With `priced` the tree must also have
    the objective of the point, or a better one.
    """
    matrix.load(x)
    problem, view = built.problem, built.view
    raw = built.formulation.decode(built.model)
    simple = problem.space.simplify(raw, view)
    wrong: tuple[str, ...] = ()
    for tree in (simple, raw):
        try:
            built.formulation.encode(tree, built.model)
        except LookupError as why:
            wrong = (f"it holds no such {problem.space.noun} ({why}).",)
            continue
        again = matrix.values()
        matrix.load(x)
        wrong = broken(matrix, again)
        if priced and not wrong:
            wrong = _dearer(matrix, x, again)
        if wrong:
            continue
        if tree is raw and problem.violations(raw) and not problem.violations(simple):
            noun = problem.space.noun
            note = f"Parts of the solution that no row reaches were left out of the {noun}; the changed model holds it only with them."
            return Reading(simple, x, note=note)
        return Reading(tree, x)
    matrix.load(x)
    return Reading(
        simple,
        x,
        f"The solution keeps your changes, but the {problem.space.noun} that it describes does not when it is written into the model again: {wrong[0]} "
        f"A constraint or objective of yours uses variables that do not follow from the {problem.space.noun}, such as those of a split that sends all rows to one side; use others, or exclude such splits.",
    )


def _dearer(matrix: MatrixModel, x: np.ndarray, again: np.ndarray) -> tuple[str, ...]:
    """A sentence if the objective of the second point is worse than that of the first."""
    claimed, actual = matrix.objective(x), matrix.objective(again)
    if actual <= claimed + TOLERANCE * max(1.0, abs(claimed)):
        return ()
    return (f"The objective is {claimed:.9g} in the solution and {actual:.9g} then.",)


def broken(matrix: MatrixModel, x: np.ndarray) -> tuple[str, ...]:
    """A sentence for each of the rows and bounds that a point breaks most."""
    activity = matrix.A @ x
    rows = np.maximum(matrix.row_lower - activity, activity - matrix.row_upper)
    columns = np.maximum(matrix.lower - x, x - matrix.upper)
    columns = np.maximum(columns, np.abs(x - np.rint(x)) * matrix.integer)
    told = []
    for amounts, kind in ((rows, "constraint"), (columns, "variable")):
        worst = np.argsort(-amounts, kind="stable")[:MOST]
        for i in worst[amounts[worst] > TOLERANCE].tolist():
            name = _row_name(matrix, i) if kind == "constraint" else matrix.columns[i].name
            what = "is broken" if kind == "constraint" else "is out of its bounds or domain"
            told.append((amounts[i], f"The {kind} {name} {what} by {amounts[i]:.6g}."))
    return tuple(sentence for _, sentence in sorted(told, key=lambda one: -one[0])[:MOST])


def _row_name(matrix: MatrixModel, row: int) -> str:
    index = matrix.row_indices[row]
    if index is None:
        return matrix.row_labels[row]
    listed = ",".join(map(str, index)) if isinstance(index, tuple) else str(index)
    return f"{matrix.row_labels[row]}[{listed}]"
