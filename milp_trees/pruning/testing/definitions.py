"""Definitions of the error and the cost of a pruned ensemble, independent of the tasks.

They are plain loops that share no code with `milp_trees.tasks`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

Spec = Mapping[str, Any]


def pruned_error(
    spec: Spec,
    rows: Sequence[Mapping[str, Any]],
    y: Sequence[Any],
    trees: Sequence[Any],
    weights: Sequence[float],
) -> tuple[float, float]:
    """Mean error of the trees plus price times mean cost of a row, and the mean cost."""
    of_error, of_cost = spec.get("error_weights", weights), spec.get("cost_weights", weights)
    squared = not isinstance(y[0], str)
    wrong, total, needed, steps = 0.0, 0.0, [set[str]() for _ in rows], [0] * len(rows)
    for t, tree in enumerate(trees):
        for i, row in enumerate(rows):
            node = tree
            while "says" not in node:
                needed[i].add(node["feature"])
                steps[i] += 1
                node = node["left"] if row[node["feature"]] <= node["threshold"] else node["right"]
            weight = float(
                Fraction(of_error[i][t] if isinstance(of_error[i], list) else of_error[i])
            )
            wrong += weight * ((node["says"] - y[i]) ** 2 if squared else node["says"] != y[i])
            total += weight
    cost = _cost_of_rows(
        spec["costs"],
        needed,
        steps,
        [float(Fraction(w)) for w in of_cost],
        sum(map(_leaves, trees)),
        list(rows[0]),
    )
    return wrong / total + float(Fraction(spec["lam"])) * cost, cost


def _leaves(tree: Any) -> int:
    return 1 if "says" in tree else _leaves(tree["left"]) + _leaves(tree["right"])


def _cost_of_rows(
    costs: Spec,
    needed: Sequence[set[str]],
    steps: Sequence[int],
    weights: Sequence[float],
    leaves: int,
    names: Sequence[str],
) -> float:
    groups = {g["name"]: g for g in costs.get("groups", ())}
    paid, once = 0.0, set()
    for i, (features, weight) in enumerate(zip(needed, weights, strict=True)):
        paid += weight * (
            sum(_price(costs, i, name, names) for name in features)
            + steps[i] * float(Fraction(costs.get("node", 0)))
        )
        for group in _bought(features, groups):
            if not groups[group].get("once"):
                paid += weight * float(Fraction(groups[group]["cost"]))
            elif weight > 0:
                once.add(group)
    devices = sum(float(Fraction(groups[group]["cost"])) for group in once)
    return (paid + devices) / sum(weights) + leaves * float(Fraction(costs.get("leaf", 0)))


def _bought(names: set[str], groups: Mapping[str, Any]) -> set[str]:
    """Groups with a member among the names, and groups of those groups."""
    found = {g for g, group in groups.items() if names & set(group["members"])}
    return found if found <= names else _bought(names | found, groups)


def _price(costs: Spec, i: int, name: str, names: Sequence[str]) -> float:
    if costs.get("per_row") is not None:
        return float(Fraction(costs["per_row"][i][names.index(name)]))
    of = costs.get("features", 1)
    given = (
        of.get(name, 0)
        if isinstance(of, Mapping)
        else of[names.index(name)]
        if isinstance(of, list)
        else of
    )
    return float(Fraction(given))
