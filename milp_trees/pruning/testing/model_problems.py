"""Prunings on which models are looked at: examples, or a small forest on a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from milp_trees.mip.model_problems import ModelProblems
from milp_trees.pruning.from_table import Growing, describe_ensemble, pruning_problem
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.testing.examples import EXAMPLES

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


def of_table(
    data: str, target: str | None = None, depth: int | None = None, trees: int = 2
) -> tuple[Problem, list[str]]:
    """The pruning of a random forest with unit costs, with a description of data and forest."""
    from milp_trees.cli.describing import describe

    growing = Growing(trees=trees, max_depth=depth)
    grown = pruning_problem(data, growing, lam="1/1000", target=target)
    ensemble: Any = grown.problem.space.ensemble  # type: ignore[attr-defined]
    return grown.problem, [
        describe(grown.train, None),
        describe_ensemble(ensemble, growing, grown.train.n_rows),
    ]


def fitting(formulation: Any, problem: Problem) -> tuple[Problem, str]:
    """The pruning with λ = 0 where the formulation takes it only so: a matrix holds no prices."""
    if not formulation.unsupported(problem):
        return problem, ""
    free = replace(problem, task=replace(problem.task, lam=0))  # type: ignore[type-var]
    if formulation.unsupported(free):
        return problem, ""
    return free, f"{formulation.name} has no prices: λ is 0 here."


MODEL_PROBLEMS = ModelProblems(PrunedEnsembles, "prunings", ("trees",), of_table, EXAMPLES, fitting)
