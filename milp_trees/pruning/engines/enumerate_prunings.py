"""`enumerate-prunings`: the oracle for tiny ensembles, which scores every pruning with the view.

It is as simple as possible, and slow.

No code is shared with the minimum cut that it checks: the path is the lower convex hull of the
points (cost, error) of all prunings (Andrew 1979).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.problems.questions import ByPrice
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.view import NodeGains
from milp_trees.results.result import Result

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Largest number of prunings that is accepted: seconds, not minutes.
MOST = 200_000


@register
class PruningEnumerator(Method):
    """All prunings of a tiny ensemble."""

    name = "enumerate-prunings"
    title: ClassVar[str] = "Enumeration of all prunings, for tiny ensembles"
    verification_rank: ClassVar[int] = 5
    default_rank: ClassVar[int | None] = 90
    reference_rank: ClassVar[int | None] = 50
    space: ClassVar[type] = PrunedEnsembles
    needs: ClassVar[type | tuple[type, ...]] = NodeGains
    questions: ClassVar[frozenset[str]] = frozenset({"best", "by-price"})

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.view(NodeGains)
        number = count(view)
        if number > MOST:
            return f"enumerate-prunings is for tiny ensembles, of at most {MOST:,} prunings; this one has about 10^{len(str(number)) - 1}. Use min-cut."
        if view.budget is not None and isinstance(problem.question, ByPrice):
            return "enumerate-prunings takes no budget (max_cost) with the question path."
        return None

    def search(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None
    ) -> Result:
        clock = Clock()
        view = problem.view(NodeGains)
        ensemble = problem.space.ensemble  # type: ignore[attr-defined]
        watch = Watch(limits, clock.begin)

        def score() -> list[tuple[int, int, int, np.ndarray]]:
            points = []
            for keep in prunings(view):
                watch.check()
                points.append((*view.totals(keep), int(keep.sum()), keep))
            return points

        with clock("solve"):
            points, limit = watch.until(score)
        if points is None:
            from milp_trees.pruning.engines.min_cut.stopped import unfinished

            return unfinished(problem, self.name, view, start, clock, limit)
        with clock("solve"):
            feasible = [p for p in points if view.budget is None or p[1] <= view.budget]
            a, b, _ = view.step
            best = min(feasible, key=lambda p: (a * p[0] + b * p[1], p[2]), default=None)
        sizes = {"prunings": len(points)}
        if best is None:
            return finish(
                problem,
                self.name,
                None,
                bound=None,
                claims_optimal=False,
                proved_by=self.name,
                clock=clock,
                infeasible=True,
                model_size=sizes,
            )
        result = finish(
            problem,
            self.name,
            ensemble.pruned(best[3]),
            bound=view.to_value(a * best[0] + b * best[1]),
            claims_optimal=True,
            proved_by=self.name,
            clock=clock,
            model_size=sizes,
        )
        if not isinstance(problem.question, ByPrice):
            return result
        corners = hull(points)
        gains = [p[0] - q[0] for p, q in pairwise(corners)]
        costs = [q[1] - p[1] for p, q in pairwise(corners)]
        rank = np.full(view.n_nodes, len(corners), dtype=np.int32)
        for k in range(len(corners) - 1, -1, -1):
            rank[corners[k][3]] = k
        return replace(result, curve=_curve(view, rank, gains, costs, corners[0], ensemble))


def _curve(
    view: NodeGains,
    rank: np.ndarray,
    gains: list[int],
    costs: list[int],
    cheapest: tuple[int, int, int, np.ndarray],
    ensemble: Any,
) -> Any:
    """Corners as a curve.

    The splits of the cheapest corner cost nothing; if there are any, they are a piece of their own.
    """
    from milp_trees.pruning.engines.min_cut.curve import PruningCurve

    if cheapest[2]:
        gains, costs = [view.root_error - cheapest[0], *gains], [0, *costs]
    else:
        rank = rank - 1
    return PruningCurve(view, rank, tuple(gains), tuple(costs), ensemble, {})


def count(view: NodeGains) -> int:
    """Number of prunings."""
    number = [1] * view.n_nodes
    for h in view.splits[::-1].tolist():
        number[h] = 1 + number[view.left[h]] * number[view.right[h]]
    return math.prod(number[h] for h in view.roots.tolist())


def prunings(view: NodeGains) -> Iterator[np.ndarray]:
    """All prunings, as bool arrays of shape (M,)."""

    def below(h: int) -> list[tuple[int, ...]]:
        if view.left[h] < 0:
            return [()]
        return [
            (),
            *(
                (h, *left, *right)
                for left in below(int(view.left[h]))
                for right in below(int(view.right[h]))
            ),
        ]

    for trees in product(*(below(h) for h in view.roots.tolist())):
        keep = np.zeros(view.n_nodes, dtype=bool)
        keep[[h for tree in trees for h in tree]] = True
        yield keep


def hull(points: list[tuple[int, int, int, np.ndarray]]) -> list[tuple[int, int, int, np.ndarray]]:
    """Corners of the lower hull of (C, E) as far as E falls, by rising C.

    Of prunings with equal C and E, the one with the fewest splits is kept.
    """
    out: list[tuple[int, int, int, np.ndarray]] = []
    for point in sorted(points, key=lambda p: (p[1], p[0], p[2])):
        if out and point[0] >= out[-1][0]:
            continue
        while len(out) >= 2 and _slope(out[-2], out[-1]) <= _slope(out[-1], point):
            out.pop()
        out.append(point)
    return out


def _slope(p: tuple[int, int, int, np.ndarray], q: tuple[int, int, int, np.ndarray]) -> Fraction:
    """Errors that each unit of cost between p and q saves."""
    return Fraction(p[0] - q[0], q[1] - p[1])
