"""Example calls on the pages of methods, formulations and solvers: short programs that run."""

from __future__ import annotations

from functools import cache
from typing import Any

from milp_trees.common.errors import MilpTreesError
from milp_trees.problems.problem import Problem

ROWS = """\
import itertools

import milp_trees as mt

rows = list(itertools.product([0, 1], repeat=3))
data = mt.Dataset(rows, y=[int(sum(row) >= 2) for row in rows])
"""
DECISIONS = """\
import milp_trees as mt

made = mt.decisions.shortest_path_data(30, grid=(3, 3), seed=0)
data = mt.Binarizer(kind="quantiles", n_bins=3).dataset(
    made.X, values=made.C, actions=made.decisions.components
)
"""
NUMBERS = """\
import milp_trees as mt

points = [[0, 1], [1, 0], [1, 2], [2, 1], [3, 3], [0, 3]]
data = mt.Dataset([[]] * 6, numeric=points, columns=["x", "y"], y=[0, 0, 1, 1, 1, 0])
"""
SHIFTED = """\
import milp_trees as mt

x = [[1], [2], [4], [5]]
data = mt.Binarizer(kind="midpoints").dataset(x, y=[0, 1, 1, 0])
"""
FOREST = """\
import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import milp_trees as mt

X, y = load_iris(return_X_y=True)
forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, y)
ensemble = mt.read_ensemble(forest)
data = mt.Dataset(np.zeros((len(X), 0)), numeric=X, columns=ensemble.columns, y=y)
"""
#: Programs that state a problem; a method gets the first one that it takes.
PROGRAMS = (
    ROWS + "problem = mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2))\n",
    ROWS + 'problem = mt.Problem(data, mt.Accuracy(leaf_penalty="1/20"), mt.Trees(max_depth=2))\n',
    ROWS + "problem = mt.Problem(data, mt.Accuracy(), mt.RuleLists(max_length=2))\n",
    ROWS + "problem = mt.Problem(data, mt.tasks.AUC(), mt.Trees(max_depth=2))\n",
    ROWS + "problem = mt.Problem(data, mt.tasks.Matthews(), mt.Trees(max_depth=2))\n",
    ROWS
    + "prices = [mt.tasks.Attribute(test.column, price) for test, price in zip(data.features, [1, 2, 3])]\n"
    + "task = mt.tasks.CostSensitive(matrix=[[0, 5], [9, 0]], attributes=prices)\n"
    + "problem = mt.Problem(data, task, mt.Trees(max_depth=2))\n",
    DECISIONS
    + "task = mt.decisions.Decision(decisions=made.decisions)\n"
    + "problem = mt.Problem(data, task, mt.Trees(max_depth=1))\n",
    NUMBERS + "problem = mt.Problem(data, mt.Accuracy(), mt.oblique.ObliqueTrees(1))\n",
    SHIFTED
    + "problem = mt.Problem(data, mt.robust.RobustBoxes(radius=1), mt.robust.RobustTrees(1))\n",
    FOREST
    + 'problem = mt.Problem(data, mt.pruning.PrunedError("1/10"), mt.PrunedEnsembles(ensemble))\n',
    FOREST
    + "problem = mt.Problem(data, mt.pruning.PrunedError(0), mt.PrunedEnsembles(ensemble))\n",
)


@cache
def _stated() -> tuple[tuple[str, Problem], ...]:
    return tuple((program, ran(program)["problem"]) for program in PROGRAMS)


def ran(program: str) -> dict[str, Any]:
    """The names that a program defines."""
    names: dict[str, Any] = {}
    exec(compile(program, "<example>", "exec"), names)
    return names


def example(method: Any) -> str | None:
    """A program that solves a problem by a method; None if it takes none of those known here."""
    for program, problem in _stated():
        try:
            if method.unsupported(problem) is None:
                return (
                    f'{program}result = mt.solve(problem, method="{method.label}")\nprint(result)\n'
                )
        except MilpTreesError:
            continue
    return None
