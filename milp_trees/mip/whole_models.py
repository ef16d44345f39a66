"""Which formulations hold every predictor of a problem, for sentences."""

from __future__ import annotations

from typing import Any

from milp_trees.mip.registry import registry
from milp_trees.problems.problem import Problem


def others_that_hold(problem: Problem, tests: bool = False) -> str:
    """Formulations that take a problem and hold every predictor, as words in brackets."""
    names = []
    for name in registry.formulations_for(problem):
        other: Any = registry.formulation(name)
        whole = not other.leaves_out and other.complete and (other.tests_in or not tests)
        if whole and other.unsupported(problem) is None:
            names.append(name)
    return f" ({', '.join(names[:4])})" if names else ""
