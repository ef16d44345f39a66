"""Errors and costs of pruned ensembles against their definition, which is no code of the task."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.common.exact import fraction
from milp_trees.problems.problem import Problem
from milp_trees.pruning.testing.checks import kept, unpruned
from milp_trees.pruning.testing.definitions import pruned_error
from milp_trees.pruning.testing.random_prunings import all_prunings
from milp_trees.pruning.view import NodeGains
from milp_trees.testing.task_data import described

#: Prunings that are looked at, spread over all of them.
PRUNINGS = 8


def check_pruned_error(problem: Problem) -> None:
    """Raise AssertionError if the value, the budget or the view is not as defined."""
    spec, data, ensemble = described(problem.task), problem.dataset, unpruned(problem)
    assert data.numeric is not None
    columns = list(data.columns or ())
    where = [columns.index(name) for name in ensemble.features]
    rows = [
        dict(zip(ensemble.features, row, strict=True)) for row in data.numeric[:, where].tolist()
    ]
    y = [(data.classes or ())[k] for k in data.require("y", "This check").tolist()]
    most, view = spec.get("max_cost"), problem.view(NodeGains)
    _refuses_no_prunings(view)
    every = list(all_prunings(ensemble))
    for pruning in every[:: 1 + len(every) // PRUNINGS]:
        found: Any = problem
        expected, cost = pruned_error(spec, rows, y, drawn(pruning), data.row_weights.tolist())
        value = found.value(pruning)
        message = f"{kept(pruning)} has the value {value}; by definition it is {expected}"
        assert abs(value.number - expected) <= 1e-9, message
        beyond = most is not None and cost > float(fraction(most)) + 1e-12
        assert bool(found.violations(pruning)) == beyond, (
            f"{kept(pruning)} costs {cost} and breaks {found.violations(pruning)}"
        )
        number = value.exact if value.exact is not None else Fraction(value.number)
        least = view.unavoidable
        assert least <= view.objective(pruning) + view.tolerance, (
            f"the view says that no pruning has less than {least}; {kept(pruning)} has {view.objective(pruning)}"
        )
        off = abs(view.from_value(number) - view.objective(pruning))
        assert off <= view.tolerance, (
            f"the view gives {kept(pruning)} {view.objective(pruning)} units, the value is {value}"
        )


def _refuses_no_prunings(view: NodeGains) -> None:
    """A split is never kept without its parent, whichever it is."""
    for h in view.splits[view.parent[view.splits] >= 0].tolist():
        keep = np.zeros(view.n_nodes, dtype=bool)
        keep[view.splits] = True
        keep[view.parent[h]] = False
        try:
            view.checked(keep)
        except ValueError:
            continue
        raise AssertionError(f"the view takes split {h} without its parent")


def drawn(pruning: Any) -> list[Any]:
    """The trees of a pruning as nested dictionaries."""

    def node(h: int) -> dict[str, Any]:
        if not pruning.kept[h]:
            values = pruning.value[h].tolist()
            label = values[0] if pruning.classes is None else int(np.argmax(values))
            return {"says": label if pruning.classes is None else pruning.classes[label]}
        return {
            "feature": pruning.features[int(pruning.column[h])],
            "threshold": float(pruning.threshold[h]),
            "left": node(int(pruning.left[h])),
            "right": node(int(pruning.right[h])),
        }

    return [node(int(root)) for root in pruning.roots]
