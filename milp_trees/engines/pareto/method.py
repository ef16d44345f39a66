"""`pareto`: the exact front of false positives and false negatives, for metrics that are no sums.

The search is that of van der Linden, de Weerdt, Demirović (2023, *STreeD*).

A metric that falls in false positives and in false negatives is best at a point of the Pareto front
of the two. The front of a set of rows consists of sums of a point for one side and a point for the
other side, over all tests; the last two levels are made from pair counts in one compiled call. If a
penalty or a limit makes the number of leaves matter, it is a third coordinate.

**Bounds.** Errors elsewhere can only make a tree worse. So a point of a part is dropped if the
metric with its errors alone is no better than the incumbent's (B.1 of Lin et al. 2020, for each
kind of errors). A table finds this without evaluating the metric: it holds the most useful false
negatives for every number of false positives and leaves. Until the search ends, the bound is that
of equal rows: they get one label, so at least E errors are made, and the metric is at most its best
value with FP + FN = E.

**Three levels.** Trees with the fewest a · FP + b · FN are found much faster than fronts. For some
weights a, b these minima of both sides of a root test are made first. They leave out most of the
root tests, and most of the tests below the others (`lines.py`).

**Question `front`.** Without an incumbent nothing is dropped, and the front of all rows is the
answer, with a tree for each of its points.

Since one front serves all these metrics, this engine also checks F1 and other ratios, which are
solved by sequences of linear problems.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from milp_trees.common.limits import Limit, Limits, Stopped
from milp_trees.common.registering import register
from milp_trees.engines.kit.compile import compile_once, tiny_problem
from milp_trees.engines.kit.run import Run, infeasible
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.models.space import Trees, full_leaves
from milp_trees.models.tree import Tree
from milp_trees.problems.questions import Front
from milp_trees.results.result import Result
from milp_trees.tasks.count_views import PairCounts
from milp_trees.tasks.surd import Surd

if TYPE_CHECKING:
    from milp_trees.engines.fronts.search import Point, Split
    from milp_trees.problems.problem import Problem


#: Leaves (or 0) and false positives of a point → the split at the root.
Origins = dict[tuple[int, int], "Split"]


@register
class ParetoFront(Method):
    """Exact search for metrics of false positives and false negatives."""

    name = "pareto"
    title: ClassVar[str] = (
        "Pareto front of false positives and negatives over sets of rows, compiled"
    )
    shared_components: ClassVar[frozenset[str]] = frozenset({"two classes", "fronts"})
    verification_rank: ClassVar[int] = 20
    needs = PairCounts
    questions: ClassVar[frozenset[str]] = frozenset({"best", "front"})
    default_rank = 50

    def unsupported_view(self, problem: Problem) -> str | None:
        if getattr(problem.question, "against", None) is not None:
            return "pareto finds the front of false positives and false negatives, not one against another quantity; leave out against= (--against)."
        return None

    def warm_up(self) -> None:
        """Compile the kernels, by searches for trees of one level and of four."""
        from milp_trees.tasks.monotone import Matthews

        tiny, limits = tiny_problem(Matthews()), Limits(time=None)
        problems = (replace(tiny, space=Trees(1)), tiny)
        compile_once(self.name, lambda: [self.search(p, limits, None, None) for p in problems])

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        space = problem.trees
        with clock("prepare"):
            whole = problem.view(PairCounts)
            view = replace(whole, errors=whole.errors.reduce(merge_rows=False))
        if len(view.is_positive) < space.min_samples_leaf:
            return infeasible(self.name, problem, clock)
        run = ParetoRun(self.name, problem, limits, progress, clock)
        run.prepare(view)
        with clock("solve"):
            if isinstance(problem.question, Front):
                run.attempt(run.whole_front)
            else:
                run.solve(start)
        if isinstance(problem.question, Front):
            return run.front(run.trees, model_size=run.sizes)
        return run.result(run.tree, _number(view.to_value(run.bound)), model_size=run.sizes)


class ParetoRun(Run):
    """One run: incumbent and bound."""

    best: Surd | None = None
    tree: Tree | None = None
    #: The best metric of a point that was found, if its tree may not be made yet.
    aim: Surd | None = None

    def prepare(self, view: PairCounts) -> None:
        """Make the search."""
        from milp_trees.engines.pareto.search import ErrorFronts

        space = self.problem.trees
        self.view, self.trees = view, list[Tree]()
        self.depth = min(space.depth, view.errors.n_features, len(view.is_positive) - 1)
        most = min(full_leaves(self.depth), len(view.is_positive))
        counts_leaves = bool(view.leaf_penalty) or space.limits_leaves
        self.fronts = ErrorFronts(
            view,
            space.min_samples_leaf,
            min(most, space.max_leaf_nodes or most) if counts_leaves else None,
            self.check,
            self.watch.beside,
        )
        self.bound = view.units(0, 0, 1)  # no errors at all

    @property
    def sizes(self) -> dict[str, int]:
        found = self.fronts
        return {"fronts": len(found.memo), "reused": found.reused, "sums": found.sums}

    def whole_front(self) -> None:
        """A tree for every point of the front, or for those of the last depth that was finished."""
        for depth in sorted({0, min(self.depth, 2), self.depth}):
            tests: Origins = {}
            if depth <= 2:
                front = self.fronts.front(self.fronts.root, depth)
            else:
                front, tests = self.deepen(depth)
            self.trees = [self.tree_of(depth, tuple(p), tests) for p in front.tolist()]

    def check(self) -> None:
        super().check()
        most = self.limits.memory_mb
        if most is not None and self.fronts.bytes > most * 2**20:
            raise Stopped(Limit.MEMORY)

    def solve(self, start: Tree | None) -> None:
        """Search for the best point, level by level."""
        self.attempt(lambda: self._search(start))
        if self.limit is not None:
            self.bound = _unavoidable(self.view)
            return
        assert self.best is not None
        self.bound = self.best
        self.report()

    def _search(self, start: Tree | None) -> None:
        root = self.fronts.root
        self.take(self.fronts.front(root, 0), {}, 0)
        if start is not None:
            self.offer_start(start)
        if self.depth:
            self.take(self.fronts.front(root, min(self.depth, 2)), {}, min(self.depth, 2))
        if self.depth > 2 and not self.fronts.unit:
            self.cut_off()
        for depth in range(3, self.depth + 1):
            self.take(*self.deepen(depth), depth)

    def deepen(self, depth: int) -> tuple[np.ndarray, Origins]:
        """The front of all trees of a depth, and the root test of every point that is new."""
        from milp_trees.engines.pareto import kernels

        fronts = self.fronts
        table = fronts.empty.copy()
        origins: Origins = {}
        for leaves, fp, fn in fronts.front(fronts.root, min(depth - 1, 2)).tolist():
            table[leaves, fp] = fn
        fronts.cut(table)
        try:
            before, root = table.copy(), fronts.root
            for split in fronts.three_levels(root, table) if depth == 3 else fronts.splits(root):
                if depth > 3:
                    fronts.merge(table, split, *fronts.sides(split, depth - 1))
                new = [(int(x), int(fp)) for x, fp in np.argwhere(table != before)]
                origins.update(dict.fromkeys(new, split))
                fronts.cut(table)
                if self.best is not None and new:
                    if depth > 3:
                        self.take(kernels.front_of(table.copy(), table.shape[1]), origins, depth)
                    else:
                        self.aim_at([(*where, int(table[where])) for where in new])
                before = table.copy()
        except (Stopped, KeyboardInterrupt):
            if self.best is not None:
                self.take(kernels.front_of(table, table.shape[1]), origins, depth)
            raise
        return kernels.front_of(table, table.shape[1]), origins

    def aim_at(self, points: list[Point]) -> None:
        """Cut off what is no better than the best of some points; its tree is made later."""
        assert self.aim is not None
        units = max(self.view.units(fp, fn, leaves) for leaves, fp, fn in points)
        if units > self.aim:
            self.aim = units
            self.cut_off()

    def cut_off(self) -> None:
        """Cut off what is no better than the best metric that was found."""
        aim = self.aim
        assert aim is not None
        self.fronts.allow(lambda fp, fn, leaves: self.view.units(fp, fn, leaves) > aim)

    def tree_of(self, depth: int, point: Point, origins: Origins) -> Tree:
        """A tree with the numbers of a point of the front of all rows."""
        fronts = self.fronts
        split = origins.get((point[0], point[1]))
        node = fronts.read(fronts.root, min(depth, 2) if split is None else depth, point, split)
        return Tree(node, self.view.actions)

    def take(self, front: np.ndarray, origins: Origins, depth: int) -> None:
        """Make the best point of a front of all rows the incumbent, if it is better."""
        points: list[Point] = [tuple(row) for row in front.tolist()]
        if not points:
            return
        best = max(points, key=lambda x: self.view.units(x[1], x[2], x[0]))
        units = self.view.units(best[1], best[2], best[0])
        if self.best is None or units > self.best:
            self.keep(units, self.tree_of(depth, best, origins), depth > 3)

    def offer_start(self, tree: Tree) -> None:
        """Make a given tree the incumbent if it is better than a leaf."""
        placed = self.view.errors.canonical(tree)
        found, ones = placed.routes(self.view.errors).action, self.view.is_positive
        positive = found == self.view.positive
        errors = (int((positive & ~ones).sum()), int((~positive & ones).sum()))
        units = self.view.units(*errors, placed.n_leaves)
        assert self.best is not None
        if units > self.best:
            self.keep(units, placed)

    def keep(self, units: Surd, tree: Tree, cut: bool = False) -> None:
        """Make a tree the incumbent."""
        self.best = self.aim = units
        self.tree = tree
        if cut or self.fronts.unit:
            self.cut_off()
        self.report()

    def report(self) -> None:
        assert self.best is not None
        self.note(self.view.to_value(self.best), self.view.to_value(self.bound))


def _unavoidable(view: PairCounts) -> Surd:
    """The best metric in one leaf with the errors that equal rows of different classes force."""
    merged = view.errors.reduce(drop_tests=False)
    errors, (positives, negatives) = int(merged.costs.min(axis=1).sum()), view.totals
    return max(
        view.units(fp, errors - fp, 1)
        for fp in range(min(errors, negatives) + 1)
        if errors - fp <= positives
    )


def _number(value: Surd) -> Fraction | float:
    exact = value.exact
    return float(value) if exact is None else exact
