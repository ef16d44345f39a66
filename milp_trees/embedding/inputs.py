"""The user's variables and expressions as values of the columns that a model asks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.embedding.cells import Cells, categories, intervals
from milp_trees.embedding.forest import DATE, NUMBER, ORDERED, TEXT, YES_NO, Forest

#: A category that no question of a model names, for the row that is predicted.
UNSEEN = "another category"
#: Numbers of this size are infinite for solvers.
INFINITE = 1e20
#: The key of all categories that a model does not ask for.
OTHER = None


@dataclass(eq=False)
class Input:
    """A column of a model in the user's variables.

    Parameters
    ----------
    cells : Cells
    value : Pyomo expression or None
        Of a column of numbers; None for categories.
    category : mapping of str or None to Pyomo expression
        For each category whether the value is that one; `None` is any category that the model does
        not ask for.
    given : mapping of str or None to Pyomo expression
        The categories as the user gave them, also those that the model does not ask for.
    missing : Pyomo expression or None
        Whether the value is missing; None if it never is.
    whole : bool
        Whether the values are whole numbers.
    order : tuple of str
        The categories of an ordered column, the lowest first.
    """

    cells: Cells
    value: Any = None
    category: dict[Any, Any] | None = None
    given: dict[Any, Any] | None = None
    missing: Any = None
    whole: bool = False
    order: tuple[str, ...] = ()


def bind(
    forest: Forest,
    inputs: Mapping[str, Any],
    bounds: Mapping[str, tuple[float, float]],
    tolerance: float,
) -> dict[str, Input]:
    """The columns that a forest asks in the user's variables.

    Raises
    ------
    DataError
        A column is not given, has no finite bounds, or is given in another way than it is asked.
    """
    from collections.abc import Mapping as AnyMapping

    if not isinstance(inputs, AnyMapping):
        raise DataError(
            "inputs must map names of columns to Pyomo variables or expressions, such as {'age': m.age}."
        )
    lacking = [c for c in forest.questions if c not in inputs]
    if lacking:
        raise DataError(
            f"The model asks the column {lacking[0]!r}, which inputs do not name; give a variable, an expression or a number for it."
        )
    strange = [c for c in inputs if forest.columns and str(c) not in forest.columns]
    if strange:
        raise DataError(
            f"inputs name the column {strange[0]!r}, which the model was not fitted on; its columns are {', '.join(forest.columns[:8])}."
        )
    strange = [c for c in bounds if c not in inputs]
    if strange:
        raise DataError(
            f"bounds name the column {strange[0]!r}, which inputs do not name; the columns there are {', '.join(map(str, list(inputs)[:8]))}."
        )
    return {
        column: _bound(forest, column, inputs[column], bounds.get(column), tolerance)
        for column in forest.questions
    }


def _bound(forest: Forest, column: str, given: Any, bounds: Any, tolerance: float) -> Input:
    value, missing = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    value = value.item() if hasattr(value, "item") else value
    if value is None and any(q.value is not None for q in forest.questions[column]):
        raise DataError(
            f"The column {column!r} is given no value; give a variable, an expression or a number, also where the value may be missing."
        )
    if missing is not None:
        _binary(column, missing)
        silent = [q for q in forest.questions[column] if q.value is not None and q.missing is None]
        if silent:
            raise DataError(
                f"The column {column!r} has no answer for a missing value in this model: it had none when the model was fitted, or the model is one of scikit-learn, whose answers are not read; give its value alone."
            )
    holds = forest.holds(column)
    asked = [q for q in forest.questions[column] if q.value is not None]
    if not asked:
        return Input(
            categories(column, (OTHER,), missing is not None), missing=missing, category={}
        )
    if holds == TEXT:
        return _categorical(column, value, [q.value for q in asked], missing)
    order = asked[0].order
    if any(q.order != order for q in asked):
        raise DataError(f"The categories of the column {column!r} are asked in two orders.")
    if order and isinstance(value, str):
        if value not in order:
            raise DataError(f"The column {column!r} has no category {value!r}.")
        value = order.index(value)
    if holds == DATE and not isinstance(value, (int, float)) and not hasattr(value, "is_fixed"):
        raise DataError(
            f"The column {column!r} holds dates; give the number of days since 1970-01-01, as a variable, an expression or a number."
        )
    whole = is_whole(value)
    if holds in (YES_NO, ORDERED) and not whole:
        what = "its values are 0 and 1" if holds == YES_NO else "its values are places in the order"
        raise DataError(
            f"The column {column!r} needs a variable of whole numbers, because {what}; declare it as Binary or Integers."
        )
    least, most = bounds_of(column, value, bounds)
    if holds in (YES_NO, ORDERED):
        top = 1 if holds == YES_NO else len(order) - 1
        if least < 0 or most > top:
            raise DataError(
                f"The column {column!r} takes whole numbers from 0 to {top}, and its variable lies between {least:g} and {most:g}; give it these bounds."
            )
    cells = intervals(
        column,
        holds or NUMBER,
        [q.value for q in asked],
        (least, most),
        whole=whole,
        missing=missing is not None,
        tolerance=tolerance,
    )
    return Input(cells, value=value, missing=missing, whole=whole, order=order)


def _categorical(column: str, given: Any, asked: list[str], missing: Any) -> Input:
    """A column of categories: a mapping to 0/1 variables, or the text of one category."""
    if isinstance(given, str):
        given = {given: 1}
    if not isinstance(given, Mapping) or not given:
        raise DataError(
            f"The column {column!r} holds categories; give a mapping of each category to a 0/1 variable, such as {{{asked[0]!r}: m.first, None: m.other}}, where None stands for all others."
        )
    held: dict[Any, Any] = {}
    for name, variable in given.items():
        _binary(column, variable)
        key = str(name) if name is not None and str(name) in asked else OTHER
        held[key] = held[key] + variable if key in held else variable
    names = [
        *(name for name in dict.fromkeys(asked) if name in held),
        *([OTHER] if OTHER in held else []),
    ]
    cells = categories(column, names, missing is not None)
    return Input(cells, category=held, given=dict(given), missing=missing)


def _binary(column: str, variable: Any) -> None:
    """Raise DataError if a category or a missing value is told by a variable other than 0/1."""
    if getattr(variable, "is_variable_type", lambda: False)():
        low, high = variable.bounds
        if not variable.is_integer() or low is None or high is None or low < 0 or high > 1:
            raise DataError(
                f"The variable {variable.name} tells a category or a missing value of the column {column!r}; declare it as Binary."
            )


def is_whole(value: Any) -> bool:
    """Whether an expression takes whole numbers only, by the domains of its variables."""
    import pyomo.environ as pyo
    from pyomo.repn import generate_standard_repn

    if isinstance(value, (int, float)):
        return float(value).is_integer()
    if not hasattr(value, "is_variable_type") or not hasattr(value, "is_potentially_variable"):
        raise DataError(
            f"{str(value)!r} is no value of a column of numbers; give a Pyomo variable, a linear expression of variables, or a number."
        )
    if value.is_variable_type():
        return bool(value.is_integer())
    repn = generate_standard_repn(value, compute_values=True)
    if not repn.is_linear():
        return False
    numbers = [repn.constant, *repn.linear_coefs]
    integral = all(float(pyo.value(c)).is_integer() for c in numbers)
    return integral and all(v.is_integer() for v in repn.linear_vars)


def bounds_of(column: str, value: Any, given: Any) -> tuple[float, float]:
    """Least and largest value of an expression, by its variables or as they are given."""
    from pyomo.contrib.fbbt.expression_bounds_walker import ExpressionBoundsVisitor

    if isinstance(value, (int, float)):
        low, high = float(value), float(value)
    else:
        low, high = ExpressionBoundsVisitor().walk_expression(value)
    if given is not None:
        if (
            not isinstance(given, (tuple, list))
            or not all(side is None or isinstance(side, Real) for side in given)
            or len(given) != 2
        ):
            raise DataError(
                f"The bounds of the column {column!r} are a pair of numbers (least, most); got {given!r}."
            )
        low = max(low, -math.inf if given[0] is None else float(given[0]))
        high = min(high, math.inf if given[1] is None else float(given[1]))
    if not (math.isfinite(low) and math.isfinite(high)):
        raise DataError(
            f"The column {column!r} has no finite bounds; give its variable bounds, or bounds={{{column!r}: (least, most)}}."
        )
    if max(-low, high) >= INFINITE:
        raise DataError(
            f"The bounds of the column {column!r} reach from {low:g} to {high:g}, and solvers take numbers from {INFINITE:g} on as infinite; give narrower bounds."
        )
    if low > high:
        raise DataError(f"The bounds of the column {column!r} leave no value: {low:g} to {high:g}.")
    return low, high


def held(one: Input) -> Any:
    """The value of a column in the current solution."""
    import pyomo.environ as pyo

    if one.missing is not None and pyo.value(one.missing) > 0.5:
        return None
    if one.value is not None:
        value = float(pyo.value(one.value))
        if not one.whole:
            return value
        whole = round(value)
        return one.order[whole] if one.order else whole
    if not one.given:
        return 0.0
    given = one.given
    name = max(given, key=lambda n: float(pyo.value(given[n])))
    return UNSEEN if name is OTHER else name
