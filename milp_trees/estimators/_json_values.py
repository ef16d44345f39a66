"""Values of estimators as JSON, and back; what has no such form is refused by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.registering import families
from milp_trees.data.dataset import BinaryFeature
from milp_trees.estimators.step_function import StepFunction
from milp_trees.models.tree import Tree
from milp_trees.results.json import json_safe
from milp_trees.tasks.base import Task
from milp_trees.tasks.constraint_base import Constraint

#: The key by which an object that is no plain value is recognised; its value names the kind.
KIND = "kind of value"


class NoJson(DataError):
    """A value has no JSON form."""


def written(value: Any) -> Any:  # noqa: C901
    """A value as JSON, such that `read` gives an equal value."""
    from milp_trees.estimators.binarizer import Binarizer

    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _of("float", str(value))
    if isinstance(value, Fraction):
        return _of("fraction", str(value))
    if isinstance(value, list):
        return [written(v) for v in value]
    if isinstance(value, (tuple, frozenset)):
        return _of(type(value).__name__, [written(v) for v in value])
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufUO":
        items = [written(v) for v in value.ravel().tolist()]
        return {**_of("array", items), "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, Mapping):
        return _of("mapping", [[written(k), written(v)] for k, v in value.items()])
    own = ("tree", Tree), ("binary feature", BinaryFeature), ("step function", StepFunction)
    for kind, cls in own:
        if isinstance(value, cls):
            return _of(kind, value.to_json())
    if isinstance(value, Binarizer):
        if hasattr(value, "rules_"):
            return _of("binarizer", json_safe(value.to_json()))
        return _of("parameters of a binarizer", json_safe(value.get_params()))
    described: list[Any] = [("task", Task, _spec), ("constraint", Constraint, _spec)]
    for kind, cls, write, *_ in (*described, *families.parts("json values")):
        if isinstance(value, cls):
            found = _of(kind, json_safe(write(value)))
            if _same(found, write):
                return found
    raise NoJson(f"a {type(value).__name__} has no JSON form")


def read(value: Any) -> Any:
    """The value that `written` wrote."""
    if isinstance(value, list):
        return [read(v) for v in value]
    if not isinstance(value, dict):
        return value
    kind, held = value[KIND], value["value"]
    if kind == "array":
        flat = np.empty(len(held), dtype=value["dtype"])
        flat[:] = [read(v) for v in held]
        return flat.reshape(value["shape"])
    if kind in READERS:
        return READERS[kind](held)
    for known, _, _, from_json in families.parts("json values"):
        if kind == known:
            return from_json(held)
    raise DataError(f"There is no kind of value {kind!r}.")


def _of(kind: str, value: Any) -> dict[str, Any]:
    return {KIND: kind, "value": value}


def _spec(value: Any) -> Any:
    return value.spec()


def _same(stored: dict[str, Any], write: Callable[[Any], Any]) -> bool:
    """Whether an object that is read again describes itself in the same way."""
    try:
        return bool(json_safe(write(read(stored))) == stored["value"])
    except (DataError, KeyError, TypeError, ValueError):
        return False


def _binarizer(data: Any) -> Any:
    from milp_trees.estimators.binarizer import Binarizer

    return Binarizer.from_json(data) if "columns" in data else Binarizer(**data)


def _task(spec: Any) -> Any:
    from milp_trees.tasks.stored import from_spec

    return from_spec(spec)


def _constraint(spec: Any) -> Any:
    from milp_trees.tasks.constraints import constraint

    return constraint(**spec)


READERS: dict[str, Any] = {
    "float": float,
    "fraction": Fraction,
    "tuple": lambda held: tuple(read(v) for v in held),
    "frozenset": lambda held: frozenset(read(v) for v in held),
    "mapping": lambda held: {read(k): read(v) for k, v in held},
    "tree": Tree.from_json,
    "binary feature": lambda held: BinaryFeature(**held),
    "step function": lambda held: StepFunction(**held),
    "binarizer": _binarizer,
    "parameters of a binarizer": _binarizer,
    "task": _task,
    "constraint": _constraint,
}
