"""Prunings in a SPEC file: from a recipe to the problem."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.studies.planning.recipes import about, place
from milp_trees.studies.planning.tasks import exact, prices

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem


def build(recipe: Mapping[str, Any], folder: Path) -> tuple[Problem, Dataset | None]:
    """The problem of pruning an ensemble that is grown on a table, and its test rows."""
    from milp_trees.pruning.from_table import Growing, pruning_problem

    task = dict(recipe["task"])
    data = dict(recipe["data"])
    max_cost, lam = exact(task.pop("max_cost", None)), exact(task.pop("lam"))
    with about("task"):
        costs = _feature_costs(task, folder)
    with about("grow"):
        growing = Growing(**recipe["grow"], test_size=data.pop("test_size", None))
    grown = pruning_problem(
        place(data, folder),
        growing,
        lam=lam,
        costs=costs,
        max_cost=max_cost,
        **data,
    )
    return grown.problem, grown.test


def _feature_costs(stated: Mapping[str, Any], folder: Path) -> Any:
    """The prices of features, groups, nodes and leaves, of which each may be absent."""
    from milp_trees.pruning.feature_costs import FeatureCosts, Group

    given = dict(stated)
    of_features = given.pop("feature_costs", 1)
    groups = [Group(**exact(group)) for group in given.pop("groups", ())]
    return FeatureCosts(
        prices(of_features, folder),
        groups=groups,
        denominator=given.pop("denominator", None),
        **exact(given),
    )


#: The kind of problem in a SPEC, and the function that makes it.
RECIPE = ("pruned", build)
