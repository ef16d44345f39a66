"""From a Pyomo model to a `LinearSet` whose first variables are the decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from milp_trees.common.errors import DataError
from milp_trees.decisions.base import LinearSet
from milp_trees.mip.linear.matrix import compile_model


def linear_set(model: Any, decision: Sequence[Any] | None) -> tuple[LinearSet, int]:
    """The linear program with the decision first, and the length of the decision."""
    import pyomo.environ as pyo

    if not hasattr(model, "component_data_objects"):
        raise DataError(
            f"The model is a {type(model).__name__}; give a Pyomo model, or use LinearDecisions.from_arrays."
        )
    objectives = list(model.component_data_objects(pyo.Objective, active=True))
    if len(objectives) != 1:
        raise DataError(
            f"The model has {len(objectives)} active objectives; give it one, linear in the variables of the decision."
        )
    if objectives[0].sense != pyo.minimize:
        raise DataError(
            "The model maximises, but a decision set minimises costs: state the objective as a minimisation and negate the costs of the data."
        )
    if objectives[0].expr.polynomial_degree() not in (0, 1):
        raise DataError(
            "The objective of the model is not linear; costs of a decision are linear in it."
        )
    wanted = _decision(objectives[0], decision)
    if not wanted:
        raise DataError(
            "The objective of the model has no variables; name the variables of the decision with `decision=[…]`."
        )
    if any(
        c.body.polynomial_degree() not in (0, 1)
        for c in model.component_data_objects(pyo.Constraint, active=True)
    ):
        raise DataError(
            "A constraint of the model is not linear; a decision set is a linear or mixed-integer program."
        )
    compiled = compile_model(model)
    position = {id(v): j for j, v in enumerate(compiled.columns)}
    missing = [v.name for v in wanted if id(v) not in position]
    if missing:
        raise DataError(
            f"The variable {missing[0]!r} of the decision is not an active variable of the model."
        )
    first = [position[id(v)] for v in wanted]
    if len(set(first)) < len(first):
        raise DataError("A variable is listed twice in `decision`.")
    order = np.array(first + sorted(set(range(compiled.n_variables)) - set(first)), dtype=int)
    lower, upper = compiled.lower.copy(), compiled.upper.copy()
    for j, v in enumerate(compiled.columns):
        if v.fixed:  # the rows contain its value already
            lower[j] = upper[j] = float(v.value)
    names = tuple(compiled.columns[j].name for j in order)
    A = sparse.csr_matrix(compiled.A[:, order])
    return LinearSet(
        A,
        compiled.row_lower,
        compiled.row_upper,
        lower[order],
        upper[order],
        compiled.integer[order],
        names,
    ), len(first)


def _decision(objective: Any, decision: Sequence[Any] | None) -> list[Any]:
    from pyomo.core.expr.visitor import identify_variables

    if decision is None:
        return list(identify_variables(objective.expr, include_fixed=True))
    given: list[Any] = [decision] if hasattr(decision, "is_indexed") else list(decision)
    wanted = [
        entry
        for v in given
        for entry in (v.values() if getattr(v, "is_indexed", lambda: False)() else [v])
    ]
    strange = next(
        (v for v in wanted if not hasattr(v, "is_variable_type") or not v.is_variable_type()), None
    )
    if strange is not None:
        raise DataError(
            f"`decision` lists Pyomo variables of the model, such as model.x; got {strange!r}."
        )
    return wanted
