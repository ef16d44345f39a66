"""Decision sets from their JSON description."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from milp_trees.common.errors import DataError, UnknownName
from milp_trees.decisions.base import DecisionSet


def decisions_from_spec(spec: Mapping[str, Any]) -> DecisionSet:
    """The set that `DecisionSet.spec` described: same components, same answers.

    Raises
    ------
    UnknownName
        There is no such kind.
    DataError
        The kind cannot be restored from a description (an oracle is a function), or the description
        is incomplete.
    """
    kind = spec.get("kind")
    if kind == "oracle":
        raise DataError(
            f"The set's oracle is the function {spec.get('function')!r}, which no description holds; make the set with Oracle(…) again."
        )
    if kind not in _KINDS:
        raise UnknownName(
            f"There is no kind of decision set {kind!r}; the kinds are {', '.join(_KINDS)}."
        )
    try:
        return _KINDS[str(kind)](spec)
    except KeyError as error:
        raise DataError(
            f"The description of the decision set ({kind}) lacks {error.args[0]!r}."
        ) from error


def _listed(spec: Mapping[str, Any]) -> DecisionSet:
    from milp_trees.decisions.listed import ListedDecisions

    return ListedDecisions(spec["vertices"], spec["components"])


def _simplex(spec: Mapping[str, Any]) -> DecisionSet:
    from milp_trees.decisions.listed import UnitSimplex

    return UnitSimplex(spec["components"])


def _linear(spec: Mapping[str, Any]) -> DecisionSet:
    from milp_trees.decisions.linear import LinearDecisions

    return LinearDecisions.from_spec(spec)


def _paths(spec: Mapping[str, Any]) -> DecisionSet:
    from milp_trees.decisions.paths import GraphPaths

    return GraphPaths([(u, v) for u, v in spec["edges"]], spec["source"], spec["target"])


def _assignment(spec: Mapping[str, Any]) -> DecisionSet:
    from milp_trees.decisions.combinatorial import Assignment

    return Assignment(spec["k"])


def _knapsack(spec: Mapping[str, Any]) -> DecisionSet:
    from milp_trees.decisions.combinatorial import Knapsack

    return Knapsack(spec["weights"], spec["capacity"], spec["components"])


_KINDS: dict[str, Callable[[Mapping[str, Any]], DecisionSet]] = {
    "listed": _listed,
    "simplex": _simplex,
    "linear": _linear,
    "paths": _paths,
    "assignment": _assignment,
    "knapsack": _knapsack,
}

#: Kind, class, writer and reader, for stored parameters of estimators.
JSON_VALUE = ("decisions", DecisionSet, lambda value: value.spec(), decisions_from_spec)
