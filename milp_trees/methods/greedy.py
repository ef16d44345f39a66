"""Greedy models for any problem: what a run answers that is stopped before it has found a model."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from milp_trees.common.limits import NEVER, Deadline, Limits
from milp_trees.common.registering import plugins
from milp_trees.methods.greedy_tree import KINDS, greedy_prunings, greedy_tree, reduced_view
from milp_trees.models.space import Trees
from milp_trees.problems.support import may_take
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem
    from milp_trees.tasks.base import Value
    from milp_trees.tasks.ratio_view import Ratio

#: Numbers of sizes of greedy trees that are tried where errors alone do not decide which is best.
SIZES = 32


def greedy_model(view: LeafSums, space: Any, deadline: Deadline = NEVER) -> Any:
    """The greedy tree or rule list of a view, or None if not even the smallest is allowed."""
    if isinstance(space, Trees):
        return greedy_tree(view, space, deadline)
    return space.greedy(view, deadline)


def greedy_for(problem: Problem, deadline: Deadline = NEVER) -> Any:
    """A greedy tree or rule list for any problem on these, or None if no such model is feasible.

    It is the best of the feasible models that the views of the task suggest.
    """
    best: tuple[Value, Any] | None = None
    for tree in _suggested(problem, deadline):
        if deadline.passed and best is not None:
            break
        if not problem.violations(tree):
            value = problem.value(tree)
            if best is None or value.better_than(best[0]):
                best = value, tree
    return None if best is None else best[1]


def _suggested(problem: Problem, deadline: Deadline) -> Iterator[Any]:
    from milp_trees.tasks.count_views import LeafCounts, PairCounts
    from milp_trees.tasks.path_costs import PathCosts
    from milp_trees.tasks.ratio_view import Ratio

    task, space = problem.task, problem.space
    if task.offers(CostMatrix) or (isinstance(space, Trees) and any(map(task.offers, KINDS))):
        view = reduced_view(problem)
        model = greedy_model(view, space, deadline)
        if model is not None:
            yield model
            if view.side and isinstance(view, CostMatrix):
                yield from space.simplest(view.actions)
    yield from _of_heuristics(problem, deadline)
    if task.offers(Ratio) and not task.offers(CostMatrix):
        yield from _by_ratio(problem.view(Ratio).reduce(), space, deadline)
    counted = (LeafCounts, PairCounts, PathCosts)
    if isinstance(space, Trees) and not task.offers(CostMatrix) and any(map(task.offers, counted)):
        errors = problem.first_view(counted).errors
        yield from greedy_prunings(errors, space, SIZES, deadline)


def _of_heuristics(problem: Problem, deadline: Deadline) -> Iterator[Any]:
    """Models of the heuristics that declare that they are quick enough (`Method.is_fallback`)."""
    for name, quick in plugins.values("methods", "is_fallback").items():
        if not quick or plugins.excludes("methods", name, "needs", problem.task.view_makers):
            continue
        cls: Any = plugins.find("methods", name)
        if cls is None or not may_take(cls, problem):
            continue
        if cls().unsupported(problem) is None:
            found = cls().search(problem, Limits(time=deadline.left), None, None)
            if found.tree is not None:
                yield found.tree


def _by_ratio(ratio: Ratio, space: Any, deadline: Deadline) -> Iterator[Any]:
    """Greedy models for a ratio as it grows.

    Each is made for the linear problem at the ratio of the model before (see
    `milp_trees.methods.dinkelbach`).
    """
    loss: Fraction | None = None
    trees: list[Any] = space.simplest(ratio.frame.actions)
    while any(trees) and (loss is None or not deadline.passed):
        here, best = min(
            ((ratio.leaf_penalty * t.n_leaves - ratio.of(t), t) for t in trees if t is not None),
            key=lambda pair: pair[0],
        )
        if loss is not None and here >= loss:
            return
        yield best
        loss = here
        trees = [
            greedy_model(
                ratio.matrix(-loss, ratio.leaf_penalty * ratio.least_denominator(-loss)),
                space,
                deadline,
            )
        ]
