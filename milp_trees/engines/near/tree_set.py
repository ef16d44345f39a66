"""`TreeSet`: all trees near the best, which can be counted, listed, drawn and summarised.

See Xin et al. (2022) and Fisher, Rudin, Dominici (2019).
"""

from __future__ import annotations

import random
import sys
from bisect import bisect_right
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, overload

from milp_trees.models.tree import Tree
from milp_trees.results.result import Limit, Solution
from milp_trees.tasks.base import Value
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.engines.near.graph import Graph
    from milp_trees.problem import Problem


class TreeSet:
    """All trees within a slack of the optimum; `near_best` makes it.

    A sequence of `Solution` (tree and exact value), best first. Trees of equal value have a fixed
    order: a leaf is first, then the test at the root decides, then the value of its left side, and
    so on downwards. `trees[i]` is found without the trees before it, for any i.

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

    def __init__(
        self,
        problem: Problem,
        graph: Graph,
        offset: int,
        optimum: int,
        asked: Fraction,
        covered: int | None,
        limit: Limit | None,
    ) -> None:
        from milp_trees.engines.near.lookup import Lookup

        self.problem, self.limit = problem, limit
        self._graph, self._offset, self._lookup = graph, offset, Lookup(graph)
        self._view = problem.view(CostMatrix)
        self._keys = list(graph.root.table)
        self._ends = list(accumulate(graph.root.table.values()))
        self._optimum = optimum
        self.slack = asked
        self.covered = asked if covered is None else covered * abs(self._view.scale)
        self.complete = covered is None

    # -- numbers ---------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        return self._ends[-1]

    @property
    def optimum(self) -> Value:
        """The best value."""
        return self._value(self._optimum)

    def values(self) -> dict[Fraction, int]:
        """Number of trees per value, best first."""
        out: dict[Fraction, int] = {}
        for key, count in self._graph.root.table.items():
            value = self._natural(key // self._graph.base)
            out[value] = out.get(value, 0) + count
        return out

    def __len__(self) -> int:
        """Number of trees.

        Raises
        ------
        OverflowError
            It is larger than Python allows here; `count` has no limit.
        """
        if self.count > sys.maxsize:
            raise OverflowError(
                f"There are {self.count:.3e} trees, more than len() can say; use .count.".replace(
                    "e+", "e"
                )
            )
        return self.count

    # -- trees -----------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, i: int) -> Solution: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Solution, ...]: ...
    def __getitem__(self, i: int | slice) -> Solution | tuple[Solution, ...]:
        """The i-th best tree, or a tuple of trees."""
        if isinstance(i, slice):
            begin, end, step = (
                _clipped(v, self.count) if v is not None else None for v in (i.start, i.stop, None)
            )
            step = 1 if i.step is None else int(i.step)
            whole = range(self.count)[slice(begin, end, step)]
            return tuple(self[j] for j in whole)
        if not -self.count <= i < self.count:
            raise IndexError(f"There are {self.count} trees; got the number {i}.")
        i += self.count if i < 0 else 0
        at = bisect_right(self._ends, i)
        key = self._keys[at]
        node = self._lookup.tree(self._graph.root, key, i - (self._ends[at - 1] if at else 0))
        return Solution(Tree(node, self._view.actions), self._value(key // self._graph.base))

    def __iter__(self) -> Iterator[Solution]:
        """All trees, best first; each is made when the loop reaches it."""
        i = 0
        while i < self.count:
            yield self[i]
            i += 1

    def sample(self, n: int = 1, seed: int = 0) -> list[Solution]:
        """Trees drawn uniformly from the set, with replacement."""
        draw = random.Random(seed)
        return [self[draw.randrange(self.count)] for _ in range(n)]

    # -- summaries -------------------------------------------------------------------------------------------

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

    def plot(self, axes: Any = None, most: int = 15) -> Any:
        """Plot the number of trees per value, and the share of the trees that use each test.

        The second picture shows the `most` used tests. Returns the figure.
        """
        import matplotlib.pyplot as plt

        if axes is None:
            figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
        else:
            figure = axes[0].figure
        values = self.values()
        shown = [float(v) for v in values]
        gaps = [abs(a - b) for a, b in pairwise(shown)]
        axes[0].bar(
            shown,
            [float(c) for c in values.values()],
            width=max(0.8 * min(gaps, default=1.0), (max(shown) - min(shown)) / 200),
            color="C0",
        )
        axes[0].set(
            xlabel=self.problem.task.unit,
            ylabel="trees",
            title=f"{_count(self.count)} trees within {float(self.covered):g} of the best",
        )
        if max(values.values()) > 100 * min(values.values()):
            axes[0].set_yscale("log", nonpositive="clip")
            axes[0].set_ylim(bottom=0.7)
        if min(gaps, default=0) >= 1:
            axes[0].xaxis.get_major_locator().set_params(integer=True)
        used = self.importance().head(most).iloc[::-1]
        axes[1].barh(used["test"].tolist(), used["share"].astype(float).tolist(), color="C1")
        axes[1].set(
            xlim=(0, 1), xlabel="share of the trees that use the test", title="use of tests"
        )
        return figure

    def to_json(self) -> dict[str, Any]:
        """Counts and values; `frame`, `sample` or a number give the trees themselves."""
        from milp_trees.results.json import json_safe

        plain: dict[str, Any] = json_safe(
            {
                "count": self.count,
                "complete": self.complete,
                "limit": None if self.limit is None else self.limit.value,
                "slack": self.slack,
                "covered": self.covered,
                "optimum": self.optimum.number,
                "optimum_exact": self.optimum.exact,
                "unit": self.optimum.unit,
                "values": [
                    {"value": float(v), "exact": v, "count": c} for v, c in self.values().items()
                ],
            }
        )
        return plain

    def _natural(self, regret: int) -> Fraction:
        return self._view.to_value(regret + self._offset)

    def _value(self, regret: int) -> Value:
        exact, task = self._natural(regret), self.problem.task
        return Value(float(exact), exact, task.unit, task.sense)

    def __repr__(self) -> str:
        part = (
            ""
            if self.complete
            else f", complete only up to {float(self.covered):g} ({self.limit.value if self.limit else 'stopped'})"
        )
        return f"<{_count(self.count)} tree{'' if self.count == 1 else 's'} within {float(self.slack):g} of {self.optimum}{part}>"


def _count(count: int) -> str:
    """A count as text for users; above a quadrillion its magnitude."""
    if count < 10**15:
        return f"{count:,}".replace(",", " ")
    digits = str(count)
    return f"{digits[0]}.{digits[1:3]}e{len(digits) - 1}"


def _clipped(i: int, count: int) -> int:
    return max(-count, min(count, int(i)))
