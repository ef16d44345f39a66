"""A point of the user's model is moved inside the leaf that its block has chosen.

First every input that is a variable of its own is put into the interval of its leaf, which is
nearer than the tolerance of a solver. If that breaks a row of the user, a linear program over the
continuous variables, with all integer variables fixed, maximises the distance to the sides of the
leaf, and keeps the objective if that is possible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.embedding.reached import joint_reach

#: Largest violation of a row after a move, relative to its side.
KEPT = 1e-6


def moved_inside(block: Any) -> tuple[float, str]:
    """Move the inputs; the largest change of one, and a sentence about it."""
    reach, trees = joint_reach(block), block._trees
    wanted: dict[str, tuple[float, float]] = {}
    for column, one in trees.inputs.items():
        span = one.cells.span(reach[column]) if one.value is not None else None
        absent = one.missing is not None and pyo.value(one.missing) > 0.5
        if not reach[column] or (span is None and one.value is not None and not absent):
            return (
                0.0,
                f"The leaves of the block have no value of the column {column!r} in common, so the solution breaks a row of the block.",
            )
        if span is not None and not absent:
            wanted[column] = float(one.cells.start[span[0]]), float(one.cells.high[span[1]])
    before = {c: float(pyo.value(trees.inputs[c].value)) for c in wanted}
    ways = (_clipped, _pushed)
    message = ""
    for way in ways:
        message = way(block, wanted)
        after = {c: float(pyo.value(trees.inputs[c].value)) for c in wanted}
        if not message:
            distance = max((abs(after[c] - before[c]) for c in wanted), default=0.0)
            if distance:
                return distance, f"The inputs were moved by at most {distance:.3g} into the leaf."
            message = "The inputs are inside the leaf of the block already."
    return 0.0, message


def _clipped(block: Any, wanted: dict[str, tuple[float, float]]) -> str:
    """Put every input into its interval; empty, or why that cannot be done."""
    inputs = block._trees.inputs
    old: list[tuple[Any, Any]] = []
    worst = worst_violation(block.model())
    for column, (low, high) in wanted.items():
        variable = inputs[column].value
        value = float(pyo.value(variable))
        goal = min(max(round(value) if inputs[column].whole else value, low), high)
        if goal == value:
            continue
        if not (hasattr(variable, "is_variable_type") and variable.is_variable_type()):
            _restore(old)
            return f"The column {column!r} is an expression."
        if variable.fixed:
            _restore(old)
            return f"The variable of the column {column!r} is fixed."
        old.append((variable, variable.value))
        variable.set_value(goal, skip_validation=True)
    if worst_violation(block.model()) > max(KEPT, worst):
        _restore(old)
        return "Rows of the model would be broken."
    return ""


def _restore(old: list[tuple[Any, Any]]) -> None:
    for variable, value in old:
        variable.set_value(value, skip_validation=True)


def worst_violation(model: Any) -> float:
    """The largest violation of a row or bound, relative to the size of its side."""
    worst = 0.0
    for row in model.component_data_objects(pyo.Constraint, active=True):
        body = float(pyo.value(row.body))
        for side, sign in ((row.lower, 1.0), (row.upper, -1.0)):
            if side is not None:
                limit = float(pyo.value(side))
                worst = max(worst, sign * (limit - body) / max(1.0, abs(limit)))
    for variable in model.component_data_objects(pyo.Var, active=True):
        if variable.value is None:
            continue
        for side, sign in ((variable.lb, 1.0), (variable.ub, -1.0)):
            if side is not None:
                worst = max(worst, sign * (side - variable.value) / max(1.0, abs(side)))
    return worst


def _pushed(block: Any, wanted: dict[str, tuple[float, float]]) -> str:
    """Solve the linear program for the largest distance to the sides of the leaf."""
    from pyomo.common.errors import PyomoException
    from pyomo.opt import WriterFactory

    model = block.model()
    try:
        form = WriterFactory("compile_standard_form").write(model, mixed_form=True, set_sense=None)
    except (PyomoException, ValueError) as error:
        return (
            f"The inputs cannot be moved, because the model is not linear ({type(error).__name__})."
        )
    columns = list(form.columns)
    place = {id(v): j for j, v in enumerate(columns)}
    rows, sides = [], []
    for column, (low, high) in wanted.items():
        coefs, constant = _coefficients(block._trees.inputs[column].value, place)
        if coefs is None:
            return f"The inputs cannot be moved: the column {column!r} is not linear in the variables of the model."
        if not coefs.any() and not low <= constant <= high:
            return f"The inputs cannot be moved: the column {column!r} is fixed outside of the leaf of the block."
        whole = 0.0 if block._trees.inputs[column].whole or low == high else 1.0
        rows += [[*(-coefs), whole], [*coefs, whole]]
        sides += [constant - low, high - constant]
    goal = _solve(form, columns, np.array(rows), np.array(sides), True)
    if goal is None:
        goal = _solve(form, columns, np.array(rows), np.array(sides), False)
    if goal is None:
        return "The inputs cannot be moved: with all integer variables as they are, no point of the model lies inside the leaf."
    for variable, value in zip(columns, goal.tolist(), strict=True):
        variable.set_value(value, skip_validation=True)
    return ""


def _coefficients(value: Any, place: dict[int, int]) -> tuple[Any, float]:
    from pyomo.repn import generate_standard_repn

    coefs = np.zeros(len(place))
    if isinstance(value, (int, float)):
        return coefs, float(value)
    repn = generate_standard_repn(value, compute_values=True)
    if not repn.is_linear():
        return None, 0.0
    for c, v in zip(repn.linear_coefs, repn.linear_vars, strict=True):
        if id(v) in place:
            coefs[place[id(v)]] += c
        else:
            repn.constant += c * v.value
    return coefs, float(repn.constant)


def _solve(form: Any, columns: list[Any], rows: Any, sides: Any, keep: bool) -> Any:
    """The point with the largest distance to the sides of the leaf, or None."""
    from scipy import sparse
    from scipy.optimize import linprog

    A, n = form.A.tocsr(), len(columns)
    kinds = np.array([r.bound_type for r in form.rows])
    right = np.asarray(form.rhs, dtype=float)
    wide = sparse.hstack([A, sparse.csr_matrix((A.shape[0], 1))], format="csr")
    parts = [wide[kinds == 1], -wide[kinds == -1], sparse.csr_matrix(rows)]
    limits = [right[kinds == 1], -right[kinds == -1], sides]
    values = np.array([v.value if v.value is not None else 0.0 for v in columns])
    if keep and form.c.shape[0]:
        c = form.c.toarray().ravel() * (1 if form.objectives[0].sense == pyo.minimize else -1)
        now = float(c @ values)
        parts.append(sparse.csr_matrix([*c, 0.0]))
        limits.append(np.array([now + KEPT * max(1.0, abs(now))]))
    bounds = [
        (round(x), round(x)) if v.is_integer() else (v.lb, v.ub)
        for v, x in zip(columns, values.tolist(), strict=True)
    ]
    goal = np.zeros(n + 1)
    goal[n] = -1.0
    equal = kinds == 0
    found = linprog(
        goal,
        A_ub=sparse.vstack(parts, format="csr"),
        b_ub=np.concatenate(limits),
        A_eq=wide[equal] if equal.any() else None,
        b_eq=right[equal] if equal.any() else None,
        bounds=[*bounds, (0, 1)],
    )
    return found.x[:n] if found.status == 0 else None
