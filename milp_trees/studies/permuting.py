"""Problems in another order: the same optimum, on other paths of the solvers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from milp_trees.data.permute import orders, permuted

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


def permuted_problem(problem: Problem, permutation: int) -> Problem:
    """The problem with its rows, its binary features, and the trees of its ensemble permuted.

    Every model of the one problem is a model of the other, with exactly the same value; nothing
    but the order in which methods meet rows, features and trees is another one.
    """
    if permutation == 0:
        return problem
    rows, _ = orders(problem.dataset, permutation)
    space, task = problem.space.reordered(problem.task.reordered(rows), permutation)
    return replace(problem, dataset=permuted(problem.dataset, permutation), task=task, space=space)
