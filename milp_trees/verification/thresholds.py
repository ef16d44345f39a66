"""What a stored result says of thresholds: recomputed from its data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from milp_trees.common.errors import VerificationError
from milp_trees.methods.greedy import greedy_for
from milp_trees.methods.thresholds import number_of
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.results.restore import Restored
from milp_trees.results.threshold_words import sentence


def check_thresholds(data: Mapping[str, Any], restored: Restored) -> list[str]:
    """Compare the sentence on thresholds with their numbers, and grow the greedy tree again."""
    message, own = data.get("thresholds", ""), sentence(data)
    # Results of older versions have neither the sentence nor the numbers.
    if message != own and ("thresholds" in data or "thresholds" in data["problem"]["data"]):
        raise VerificationError(
            f"The result says of its thresholds {message!r}; by its own numbers it is {own!r}."
        )
    stated = data["problem"]["data"].get("thresholds", {}).get("greedy_tree")
    problem, complete = restored.problem, restored.complete
    if stated is None or complete is None or not isinstance(problem.space, Trees):
        return []
    whole = Problem(complete, problem.task, problem.space)
    tree = greedy_for(whole)
    found = None if tree is None else whole.value(tree)
    again = None if found is None else number_of(found)
    if again != stated:
        raise VerificationError(
            f"The result says that the greedy tree over all thresholds has {stated}; grown again it has {again}."
        )
    return ["The greedy tree over all thresholds was grown again and has the stated value."]
