"""The state of a run of a changed model, and its matrix."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.mip.incomplete import MARK
from milp_trees.mip.linear.matrix import MatrixModel, compile_model
from milp_trees.mip.own_parts import Changes, Part
from milp_trees.mip.run import Run

if TYPE_CHECKING:
    from milp_trees.mip.built import Built

#: The absolute gap that a solver may leave on a changed model, of which it is not known whether its
#: objective is whole.
GAP = 1e-6


@dataclass
class ChangedRun(Run):
    """State of a run of a changed model; incumbents are points, in units of its objective."""

    changes: Changes | None = None
    point: np.ndarray | None = None
    #: Units of the view in one unit of the formulation's objective.
    units: int = 1

    @property
    def solver_gap(self) -> float:
        return GAP

    def natural(self, Z: float | None) -> float | None:
        if self.view is None or self.changes is None or Z is None or not math.isfinite(Z):
            return None
        return float(Z) if self.changes.objective else float(self.view.to_value(Z * self.units))

    @property
    def closed(self) -> bool:
        return False

    def take(self, tree: Any) -> None:
        """Trees are not compared: the changed model says which point is the best."""

    def offer(self, tree: Any, point: np.ndarray) -> None:
        """Keep a feasible point if it is better than the incumbent."""
        if self.objective(point) < self.incumbent_cost:
            self.point, self.incumbent_cost = point, self.objective(point)
            self.record(None, None)


def linear_matrix(built: Built) -> MatrixModel:
    """The matrix of the whole model, or the sentence why it has none."""
    import pyomo.environ as pyo
    from pyomo.common.errors import InvalidConstraintError, InvalidExpressionError

    goals = list(built.whole.component_data_objects(pyo.Objective, active=True))
    if len(goals) != 1:
        names = ", ".join(goal.name for goal in goals) or "none"
        raise DataError(
            f"A model has one active objective, and this one has {len(goals)} ({names}); deactivate those that are not meant, or add up the costs (`built.cost`) of its trees in one."
        )
    if goals[0].sense != pyo.minimize:
        raise DataError(
            f"The objective {goals[0].name} is maximised; state it as a minimisation, with the sign of its terms exchanged."
        )
    try:
        return built.compiled()
    except (InvalidConstraintError, InvalidExpressionError) as why:
        told = str(why).splitlines()[0].rstrip(".")
        raise DataError(
            f"A constraint or the objective is not linear ({told}); state it by linear ones, or solve the model by a solver of Pyomo and call built.decode()."
        ) from None
    except ValueError as why:  # of Pyomo's standard form, for parts that have no rows
        kinds = re.findall(r"<class '[\w.]*\.(\w+)'>", str(why))
        if not kinds:
            raise
        raise DataError(
            f"The model has parts that are no linear constraints ({', '.join(kinds)}); state them by constraints and binary variables, for example by a transformation of Pyomo."
        ) from None


def part_of(built: Built) -> Part:
    """A part of the whole model, as it was built."""
    formulation = built.formulation
    model = formulation.assemble(built.problem)
    mark = () if built.complete else (MARK,)
    return Part(model, compile_model(model), built.model, formulation.zero_one, mark)


def with_integers(model: MatrixModel, what: Changes) -> MatrixModel:
    """The matrix in which variables that added rows or costs use are integer, if they ought to be.

    That flows, places and actions of rows are 0 or 1 without being declared so holds for the
    formulation's own rows and objective only.
    """
    integer = model.integer.copy()
    integer[what.used] = True
    return replace(model, integer=integer, implied_integer=False)
