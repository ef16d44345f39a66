"""`RuleListSet`: all rule lists near the best."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from milp_trees.lists.recover import cheapest_list
from milp_trees.results.model_set import ModelSet
from milp_trees.results.result import Limit, Solution

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.lists.engines.near_best_lists.graph import Listed
    from milp_trees.problems.problem import Problem
    from milp_trees.tasks.views import CostMatrix


class RuleListSet(ModelSet):
    """All rule lists within a slack of the optimum, permutations once; `near_best` makes it.

    A sequence of `Solution` (list and exact value), best first. Of lists of equal value the shorter
    is first, then the one whose antecedents come first among those of the problem. `NearBest`
    defines which lists count as one; of those, the first in this order is here.

    Attributes
    ----------
    problem : Problem
    count : int
        Number of lists.
    complete : bool
        Whether every list within the requested slack is here. If not, `limit` has the reason, and
        every list within the slack `covered` is here.
    slack, covered : Fraction
        The requested slack and the one that was reached, in the task's unit.
    """

    noun: ClassVar[str] = "rule list"
    question: ClassVar[str] = "antecedent"

    def __init__(
        self,
        problem: Problem,
        listed: Listed,
        merged: CostMatrix,
        offset: int,
        optimum: int,
        asked: Fraction,
        covered: int | None,
        limit: Limit | None,
    ) -> None:
        super().__init__(problem, optimum, offset, asked, covered, limit)
        self._listed, self._merged = listed, merged

    @property
    def count(self) -> int:
        return len(self._listed.cost)

    def values(self) -> dict[Fraction, int]:
        """Number of lists per value, best first."""
        costs, counts = np.unique(self._listed.cost, return_counts=True)
        return {
            self._natural(cost): count
            for cost, count in zip(costs.tolist(), counts.tolist(), strict=True)
        }

    def _model(self, i: int) -> Solution:
        rules = self._listed.rules[i]
        made = cheapest_list(self._merged, rules[rules >= 0].tolist())
        return Solution(made, self._value(int(self._listed.cost[i])))

    def frame(self, n: int = 100) -> pd.DataFrame:
        """The first n lists, one in each row.

        The columns are `rank`, `value`, `rules` (their number, without the default rule),
        `antecedents` (their names in order) and `list`.
        """
        import pandas as pd

        rows = [
            {
                "rank": rank,
                "value": s.value.number,
                "rules": s.predictor.length,
                "antecedents": tuple(a.name for a in s.predictor.splits),
                "list": s.predictor,
            }
            for rank, s in enumerate(self[: max(0, n)])
        ]
        return pd.DataFrame(rows, columns=["rank", "value", "rules", "antecedents", "list"])

    def importance(self) -> pd.DataFrame:
        """How many of the lists use each antecedent, and the best value without it.

        Returns
        -------
        DataFrame
            A row per antecedent that some list uses, most used first: `antecedent`, `columns` (the
            columns that it asks for), `lists` (exact count), `share`, `best_with` and
            `best_without`: the best value among lists that use it and that do not (missing if every
            list near the best uses it).
        """
        import pandas as pd

        cost, rules = self._listed
        M = len(self._merged.antecedents)
        used = np.bincount(rules[rules >= 0], minlength=M)
        rows = []
        for a in np.argsort(-used, kind="stable")[: np.count_nonzero(used)].tolist():
            has = (rules == a).any(axis=1)
            best = [
                float(self._natural(int(cost[k]))) if (k := int(of.argmax())) or of[0] else None
                for of in (has, ~has)
            ]
            antecedent = self._merged.antecedents[a]
            rows.append(
                {
                    "antecedent": antecedent.name,
                    "columns": antecedent.columns,
                    "lists": int(used[a]),
                    "share": int(used[a]) / self.count,
                    "best_with": best[0],
                    "best_without": best[1],
                }
            )
        columns = ["antecedent", "columns", "lists", "share", "best_with", "best_without"]
        frame = pd.DataFrame(rows, columns=columns)
        return frame.astype({"best_with": float, "best_without": float})
