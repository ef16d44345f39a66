"""`TreeSet`: all trees near the best."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

from milp_trees.models.tree import Tree
from milp_trees.results.model_set import ModelSet
from milp_trees.results.result import Limit, Solution
from milp_trees.tasks.base import Value
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.engines.near_best.graph import TreeGraph
    from milp_trees.problems.problem import Problem


class TreeSet(ModelSet):
    """All trees within a slack of the optimum; `near_best` makes it.

    A sequence of `Solution` (tree and exact value), best first. Trees of equal value have a fixed
    order: a leaf is first, then the test at the root decides, then the value of its left side, and
    so on downwards. `trees[i]` is found without the trees before it, for any i.

    Where leaves cost a function of sums, values are those of leaves that predict exactly what is
    best for their rows; the predictions of a tree are the nearest doubles. If the function takes
    logarithms, values are rounded to units, and so is the edge of the slack.

    Attributes
    ----------
    problem : Problem
    count : int
        Number of trees, exact and possibly too large for `len`.
    complete : bool
        Whether every tree within the requested slack is here. If not, `limit` has the reason, and
        every tree within the slack `covered` is here.
    slack, covered : Fraction
        The requested slack and the one that was reached, in the task's unit.
    """

    noun: ClassVar[str] = "tree"
    question: ClassVar[str] = "test"

    def __init__(
        self,
        problem: Problem,
        graph: TreeGraph,
        offset: int,
        optimum: int,
        asked: Fraction,
        covered: Fraction | None,
        limit: Limit | None,
    ) -> None:
        from milp_trees.engines.near_best.lookup import Lookup

        super().__init__(problem, optimum, offset, asked, covered, limit)
        self._graph, self._lookup = graph, Lookup(graph)
        self._keys = list(graph.root.table)
        self._ends = list(accumulate(graph.root.table.values()))

    @property
    def count(self) -> int:
        return self._ends[-1]

    def values(self) -> dict[Fraction, int]:
        """Number of trees per value, best first."""
        out: dict[Fraction, int] = {}
        for key, count in self._graph.root.table.items():
            value = self._natural(key // self._graph.base)
            out[value] = out.get(value, 0) + count
        return out

    def _model(self, i: int) -> Solution:
        at = bisect_right(self._ends, i)
        key = self._keys[at]
        node = self._lookup.tree(self._graph.root, key, i - (self._ends[at - 1] if at else 0))
        value = self._value(key // self._graph.base)
        if isinstance(self._view, CostMatrix):
            return Solution(Tree(node, self._view.actions), value)
        return Solution(self._view.decided(Tree(node, (None,))), value)

    def _natural(self, regret: int) -> Fraction:
        exact = self._graph.exact
        return super()._natural(regret) if exact is None else exact.natural(regret)

    def _value(self, regret: int) -> Value:
        value = super()._value(regret)
        rounded = self._graph.exact is None and not isinstance(self._view, CostMatrix)
        return replace(value, exact=None) if rounded else value

    def frame(self, n: int = 100) -> pd.DataFrame:
        """The first n trees, one in each row.

        The columns are `rank`, `value`, `leaves`, `depth`, `tests` (names of the tests it uses) and
        `tree`.
        """
        import pandas as pd

        rows = [
            {
                "rank": rank,
                "value": s.value.number,
                "leaves": s.predictor.n_leaves,
                "depth": s.predictor.depth,
                "tests": tuple(dict.fromkeys(t.name for t in s.predictor.splits)),
                "tree": s.predictor,
            }
            for rank, s in enumerate(self[: max(0, n)])
        ]
        return pd.DataFrame(rows, columns=["rank", "value", "leaves", "depth", "tests", "tree"])

    def importance(self) -> pd.DataFrame:
        """How many of the trees use each test, and the best value without it.

        Returns
        -------
        DataFrame
            A row per test that some tree uses, most used first: `test`, `column`, `trees` (exact
            count), `share`, `best_with` and `best_without`: the best value among trees that use the
            test and that do not (missing if every tree near the best uses it).
        """
        import pandas as pd

        graph, table = self._graph, self._graph.root.table
        rows = []
        for j, without in zip(graph.splits.number.tolist(), self._lookup.without(), strict=True):
            used = {key: count - without.get(key, 0) for key, count in table.items()}
            trees = sum(used.values())
            if not trees:
                continue
            best = [
                next(
                    (float(self._natural(key // graph.base)) for key in table if of.get(key, 0)),
                    None,
                )
                for of in (used, without)
            ]
            test = self._view.features[j]
            rows.append(
                {
                    "test": test.name,
                    "column": test.column,
                    "trees": trees,
                    "share": trees / self.count,
                    "best_with": best[0],
                    "best_without": best[1],
                }
            )
        rows.sort(key=lambda row: -row["trees"])
        frame = pd.DataFrame(
            rows, columns=["test", "column", "trees", "share", "best_with", "best_without"]
        )
        return frame.astype({"trees": object, "best_with": float, "best_without": float})
