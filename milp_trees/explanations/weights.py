r"""The least change of row weights after which a given model is optimal, with a proof.

A row group g holds the rows that answer all features alike and have the same costs per unit of
weight. With the weights :math:`w_g \ge 0`, the given model O is optimal if no model T is better:

.. math::
   \sum_g w_g \, (c_g(T) - c_g(O)) \ge p(O) - p(T) \quad \text{for all } T,

where c are costs per unit of weight and p are the penalties. The least :math:`\sum_g |w_g - w^0_g|`
is a linear programme with a row per model; the rows are found one by one: an exact method solves
the problem with the present weights, and its model is the next row (the row generation of the
inverse optimisation problem: Wang 2009, *Cutting plane algorithms for the inverse mixed integer
linear programming problem*). The weights are made rational, the rows are checked on them in whole
numbers, and the dual multipliers, made rational too, give a lower bound on every change.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import NoView
from milp_trees.common.exact import WHOLE
from milp_trees.common.plurals import counted
from milp_trees.explanations.inverse_program import Change, InverseProgram
from milp_trees.explanations.penalty import Solve
from milp_trees.explanations.reweighted import Reweighted, prices_of
from milp_trees.problems.problem import Problem
from milp_trees.results.json import json_safe, ratio_text
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    import pandas as pd

#: Largest denominator of the present weights.
FINEST = 10**6
#: Largest common denominator of changed weights, where costs are small numbers.
SENSIBLE = 10**8


@dataclass(frozen=True, eq=False)
class WeightChange:
    """The least change of row weights after which a model is optimal; `least_change` makes it.

    Parameters
    ----------
    total : Fraction or None
        Weight that is added or taken away in all; None if no such weights are known.
    bound : Fraction or None
        No change of less weight is enough.
    before, after : tuple of Fraction, length n
        Weight of every row of the data; empty if no change is known.
    impossible : bool
        Whether no weights at all make the model optimal.
    rivals : int
        Number of models that are compared with the given one in the linear programme.
    note : str
        Why no change is known.
    problem : Problem, optional
        The problem with the changed weights, in which the model is proven to be optimal.
    """

    total: Fraction | None
    bound: Fraction | None
    before: tuple[Fraction, ...] = ()
    after: tuple[Fraction, ...] = ()
    impossible: bool = False
    rivals: int = 0
    note: str = ""
    problem: Problem | None = None

    @property
    def proven(self) -> bool:
        """Whether the change is enough and none that is smaller by a share of 1e-5 is.

        It is also true if no change is enough.
        """
        if self.total is None or self.bound is None:
            return self.impossible
        return self.total - self.bound <= Fraction(1, 10**5) * max(Fraction(1), self.total)

    @property
    def exact(self) -> bool:
        """Whether `total` is the least change as a rational number."""
        return self.total is not None and self.total == self.bound

    @cached_property
    def changed(self) -> tuple[int, ...]:
        """The rows whose weight changes."""
        pairs = enumerate(zip(self.before, self.after, strict=True))
        return tuple(i for i, (old, new) in pairs if old != new)

    def frame(self) -> pd.DataFrame:
        """One line per row whose weight changes: row, before, after, change."""
        import pandas as pd

        rows = [
            (i, float(self.before[i]), float(self.after[i]), float(self.after[i] - self.before[i]))
            for i in self.changed
        ]
        return pd.DataFrame(rows, columns=["row", "before", "after", "change"])

    def to_json(self) -> dict[str, Any]:
        """Plain data; fractions are "p/q"."""
        plain: dict[str, Any] = json_safe(
            {
                "total": ratio_text(self.total),
                "bound": ratio_text(self.bound),
                "proven": self.proven,
                "exact": self.exact,
                "impossible": self.impossible,
                "rivals": self.rivals,
                "note": self.note,
                "rows": [
                    {
                        "row": i,
                        "before": ratio_text(self.before[i]),
                        "after": ratio_text(self.after[i]),
                    }
                    for i in self.changed
                ],
            }
        )
        return plain

    def __str__(self) -> str:
        if self.impossible:
            return f"optimal for no weights of the rows: for all of them one of {counted(self.rivals, 'other model')} is better"
        bound = f"; less than {float(self.bound or 0):.6g} is not" if self.bound else ""
        if self.total is None:
            return f"no weights are known that are enough to make it optimal ({self.note}){bound}"
        if not self.total:
            return "optimal with the weights as they are"
        all_ = float(sum(self.before, Fraction(0)))
        least = f"which is enough{bound}"
        if self.proven:
            least = "the least that is enough" + ("" if self.exact else ", to a share of 1e-5")
        return f"optimal if weights of {len(self.changed)} rows change by {float(self.total):.6g} of {all_:.6g} in all, {least}"


def least_change(problem: Problem, model: Any, solve: Solve) -> WeightChange:
    """The least change of row weights after which a model is optimal.

    Limits and side constraints stay as they are for the original rows, and so do penalties, as
    numbers of units of cost. Rows of weight 0 keep it.

    Parameters
    ----------
    problem : Problem
        The model satisfies its limits and constraints.
    model : Tree or RuleList
    solve : callable
        Solves one problem from a start.

    Returns
    -------
    WeightChange

    Raises
    ------
    NoView
        The task is no sum of action costs, or the model has tests that are none of the problem.
    """
    if not problem.task.offers(CostMatrix):
        raise NoView(
            f"Changed weights are derived for tasks that add up costs of actions, and {problem.task.name} is none of them."
        )
    return _Search(problem, model, solve).run()


class _Search:
    """Row generation for the least change."""

    def __init__(self, problem: Problem, model: Any, solve: Solve) -> None:
        self.problem, self.model, self.solve = problem, model, solve
        view = self.view = problem.view(CostMatrix)
        data = problem.dataset
        self.counts = np.asarray(data.row_counts)
        self.weight = self._weights()
        used = np.array([w > 0 for w in self.weight])
        self.group = _groups(view, self.weight, used)
        n = int(self.group.max(initial=-1)) + 1
        self.total = [Fraction(0)] * n
        self.unit_costs: list[tuple[Fraction, ...]] = [()] * n
        for i in np.flatnonzero(used).tolist():
            g = int(self.group[i])
            self.total[g] += self.weight[i]
            self.unit_costs[g] = self.unit_costs[g] or tuple(
                Fraction(int(c)) / self.weight[i] for c in view.costs[i]
            )
        self.rows = [np.flatnonzero(self.group == g) for g in range(n)]
        self.own = self._seen(model)
        self.program = InverseProgram(tuple(self.total), self._finest())

    def _finest(self) -> int:
        """The largest factor of all costs that a sum in 64 bits allows, up to a sensible one."""
        view = self.view
        largest = sum(map(int, np.abs(view.costs).max(axis=1, initial=0)))
        prices = view.n_rows * max(1, view.leaf_cost + int(view.split_costs.max(initial=0)))
        whole = lcm(1, *{w.denominator for w in self.weight})
        return int(max(1, min(SENSIBLE, WHOLE // (8 * whole * max(1, largest, prices)))))

    def _weights(self) -> list[Fraction]:
        """Weight of every row of the data, which stands for all its original rows."""
        from milp_trees.common.exact import fraction

        data = self.problem.dataset
        own = data.row_weights if self.problem.task.weighs_rows else np.ones(data.n_rows)
        weights = [fraction(w) for w in own.tolist()]
        if max((w.denominator for w in weights), default=1) > FINEST:
            raise NoView(
                "The weights of the rows have more than six digits; round them, so that changed weights are exact."
            )
        return [w * int(c) for w, c in zip(weights, self.counts, strict=True)]

    def _seen(self, model: Any) -> tuple[list[int], int]:
        """The action of every group, and what leaves and questions cost."""
        routes = model.routes(self.problem.dataset)
        try:
            prices = prices_of(self.view, routes)
        except KeyError:
            raise NoView("The model has tests that are none of the problem's.") from None
        return [int(routes.action[rows[0]]) for rows in self.rows], prices

    def run(self) -> WeightChange:
        view, program = self.view, self.program
        if view.n_features and not self._tells_groups_apart():
            raise NoView("The model tells rows apart that answer all tests of the problem alike.")
        while True:
            change = program.solve()
            if change is None:
                return self._unsolved("the linear programme was not solved")
            if change.impossible:
                return WeightChange(
                    None, None, impossible=True, rivals=len(program.rows), note=change.note
                )
            if change.note:
                return self._unsolved(change.note, change)
            after = self._spread(change.weights)
            problem = self._problem(after)
            result = self.solve(problem, self.model)
            own = problem.value(self.model)
            if result.value is not None and result.value.better_than(own):
                program.add(*self._row(result.predictor))
            elif result.optimal:
                return self._answer(change, after, problem)
            else:
                why = f"{result.limit.value} limit" if result.limit else result.message
                return self._unsolved(why, change)

    def _tells_groups_apart(self) -> bool:
        """Whether all rows of every group get the same action from the model."""
        action = self.model.routes(self.problem.dataset).action
        return all((action[rows] == action[rows[0]]).all() for rows in self.rows)

    def _row(self, model: Any) -> tuple[list[Fraction], Fraction]:
        """What a model costs more than the given one per unit of weight, and must at least."""
        actions, prices = self._seen(model)
        more = [
            costs[a] - costs[o]
            for costs, a, o in zip(self.unit_costs, actions, self.own[0], strict=True)
        ]
        return more, Fraction(self.own[1] - prices)

    def _spread(self, weights: tuple[Fraction, ...]) -> list[Fraction]:
        """Weights of all rows for weights of the groups.

        A group gets more on its first row, and less from its last rows on, so that few rows change
        and no denominators arise from the number of rows.
        """
        after = list(self.weight)
        for new, old, rows in zip(weights, self.total, self.rows, strict=True):
            left = Fraction(0) if new is old else new - old
            if left > 0:
                after[rows[0]] += left
            for i in rows[::-1].tolist() if left < 0 else ():
                change = max(left, -after[i])
                after[i], left = after[i] + change, left - change
        return after

    def _problem(self, after: list[Fraction]) -> Problem:
        """The problem with other weights of the rows."""
        shares = [
            new / old if new is not old and old else Fraction(1)
            for new, old in zip(after, self.weight, strict=True)
        ]
        unit = lcm(1, *{s.denominator for s in shares})
        factors = np.array([int(s * unit) for s in shares], dtype=object)
        task = Reweighted(self.problem.task, self.view, factors, unit)
        return Problem(self.problem.dataset, task, self.problem.space)

    def _answer(self, change: Change, after: list[Fraction], problem: Problem) -> WeightChange:
        """The answer, once no model is better than the given one."""
        return WeightChange(
            change.total,
            change.bound,
            tuple(self.weight),
            tuple(after),
            rivals=len(self.program.rows),
            problem=problem,
        )

    def _unsolved(self, why: str, change: Change | None = None) -> WeightChange:
        bound = None if change is None else change.bound
        return WeightChange(None, bound, rivals=len(self.program.rows), note=why)


def _groups(view: CostMatrix, weight: list[Fraction], used: np.ndarray) -> np.ndarray:
    """The group of every row; -1 for rows without weight."""
    from milp_trees.tasks.grouping import equal_rows, packed

    pattern = equal_rows(packed(view.X))[1] if view.n_features else np.zeros(view.n_rows, int)
    known: dict[tuple[Any, ...], int] = {}
    group = np.full(view.n_rows, -1)
    for i in np.flatnonzero(used).tolist():
        costs = tuple(Fraction(c) / weight[i] for c in view.costs[i].tolist())
        group[i] = known.setdefault((int(pattern[i]), costs), len(known))
    return group
