"""PyEPO's optimisation models as decision sets.

Tang, Khalil (2024), *PyEPO: a PyTorch-based end-to-end predict-then-optimize library for linear and
integer programming*. Only the interface of `pyepo.model.opt.optModel` is used (`num_cost`,
`modelSense`, `setObj`, `solve`); PyEPO itself is not imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError, SolverFailure
from milp_trees.decisions.oracle import Oracle
from milp_trees.mip.linear.claims import misstatement

#: Solvers behind PyEPO return integers within their tolerance, and some models in single precision.
INTEGRAL = 1e-5
#: Largest difference between the objective of such a model and what its solution costs.
AGREES = 1e-4


def decisions_from_pyepo(model: Any, components: Sequence[str] | None = None) -> Oracle:
    """S as the feasible set of a PyEPO model.

    Each cost vector is one `setObj` and one `solve` of the model. Costs are minimised here, also if
    the model maximises: for such a model (knapsack, portfolio) give the negated values as costs,
    and the regret equals that of PyEPO. Entries within 1e-5 of an integer are rounded to it.

    Parameters
    ----------
    model : pyepo.model.opt.optModel
        Any object with its interface: `num_cost`, `modelSense` (1 or -1), `setObj(c)`, `solve()` →
        (solution, objective).
    components : sequence of str, optional
        Names of the `num_cost` entries, `w0`, `w1`, … by default.

    Raises
    ------
    DataError
        The object does not have this interface, or its sense is neither 1 nor -1.
    SolverFailure
        The model failed at the first call.
    """
    missing = [
        name for name in ("num_cost", "modelSense", "setObj", "solve") if not hasattr(model, name)
    ]
    if missing:
        raise DataError(
            f"{type(model).__name__} has no `{missing[0]}`; give an optimisation model of PyEPO (a subclass of pyepo.model.opt.optModel)."
        )
    sense = model.modelSense
    if sense not in (1, -1):
        raise DataError(
            f"The model's `modelSense` is {sense!r}; it must be EPO.MINIMIZE (1) or EPO.MAXIMIZE (-1)."
        )
    d = int(model.num_cost)
    if components is not None and len(components) != d:
        raise DataError(f"The model has {d} costs; give as many names, or none.")
    return Oracle(PyEPOSolve(model, int(sense)), d if components is None else components)


class PyEPOSolve:
    """The function from c to a cheapest solution of the model."""

    def __init__(self, model: Any, sense: int) -> None:
        self.model, self.sense = model, sense

    def __call__(self, cost: np.ndarray) -> np.ndarray:
        self.model.setObj(self.sense * cost)
        found, objective = self.model.solve()
        solution = np.asarray(found, dtype=float)
        place = getattr(self.model, "c_pred_index", None)
        if place is not None and solution.shape != cost.shape:
            solution = solution[place]  # some entries have fixed costs; the decision is the rest
        elif solution.shape == cost.shape:
            wrong = misstatement(
                cost, solution, objective=self.sense * float(objective), tolerance=AGREES
            )
            if wrong is not None:
                raise SolverFailure(f"the model {wrong}.")
        whole = np.rint(solution)
        return np.where(np.abs(solution - whole) <= INTEGRAL, whole, solution)
