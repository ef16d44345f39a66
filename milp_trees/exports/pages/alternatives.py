"""What else could be asked at the nodes of a tree, for its page."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import MilpTreesError
from milp_trees.common.limits import Deadline
from milp_trees.problems.questions import NearBest
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.models.tree import Tree
    from milp_trees.problems.problem import Problem

#: Bytes that the search may use, and names of equal tests that the page lists.
MOST_BYTES, MOST_NAMES = 500 * 2**20, 8


def alternatives(
    problem: Problem, tree: Tree, seconds: float, most: int
) -> tuple[list[dict[str, Any] | None], str]:
    """What the page says about other splits, per branch level by level, and why if nothing is."""
    if seconds <= 0:
        return [], "Other splits were not asked for when this page was written."
    if not problem.task.offers(CostMatrix):
        return (
            [],
            f"Other splits are not computed for the task {problem.task.name}, whose leaves predict numbers.",
        )
    why = _refused(problem)
    if why:
        return [], f"Other splits are not computed: {why}"
    from milp_trees.engines.near_best.alternatives import other_splits

    found, _ = other_splits(problem, tree, Deadline.after(seconds), MOST_BYTES, most)
    now = problem.value(tree).exact
    scale = problem.view(CostMatrix).scale
    return [None if one is None else _shown(one, now, scale, most) for one in found], ""


def _refused(problem: Problem) -> str:
    """The sentence why near-best trees are not computed for a problem; prepares them otherwise."""
    from milp_trees.mip.registry import registry
    from milp_trees.problems.support import able

    try:
        if problem.trees.limits_leaves:
            return (
                "the number of leaves of the whole tree is limited, so no node can be judged alone."
            )
        requested = replace(problem, question=NearBest(slack=0))
        methods = [registry.method(name) for name in able(requested, groups=("methods",))]
        message = ""
        for method in methods:
            message = method.unsupported(requested) or ""
            if not message:
                method.warm_up()
                return ""
        return message or f"no method lists trees near the best for the task {problem.task.name}."
    except MilpTreesError as error:
        return str(error)


def _shown(others: Any, now: Fraction | None, scale: Fraction, most: int) -> dict[str, Any]:
    """The ways of a node as plain data: names of tests, values, and how much worse they are."""
    splits: list[dict[str, Any]] = []
    shown = others.splits[:most]
    for way in (*shown, *(way for way in others.splits[most:] if way.current)):
        worse = None if now is None else (way.value - now) * (1 if scale > 0 else -1)
        splits.append(
            {
                "tests": [t.name for t in way.tests[:MOST_NAMES]],
                "equal": max(0, len(way.tests) - 1),
                "value": number(way.value),
                "worse": None if worse is None else number(worse),
                "current": way.current,
            }
        )
    cut = len(others.splits) > most
    reached = shown[-1].value if cut else others.up_to
    up_to = None if reached is None else number(reached)
    return {"splits": splits, "up_to": up_to, "shortened": cut}


def number(value: Fraction) -> float | int:
    """A whole number as it is, any other as the nearest double."""
    if value.denominator == 1:
        return int(value)
    found = float(value)
    return found if math.isfinite(found) else 0.0
