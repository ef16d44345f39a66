r"""`partial-trees`: branch and bound over partial trees, for areas under the ROC curve.

The method is that of Lin, Zhong, Hu, Rudin, Seltzer (2020, *GOSDT*), and for accuracy of Hu, Rudin,
Seltzer (2019, *OSDT*).

A partial tree is a set of leaves, of which some stay leaves and some may still be split. The most
promising one is taken, one of its open leaves chosen, and a child made for the leaf that stays and
for each of its splits. Nothing is additive here: what a split gains depends on all other leaves.

**Bounds.** Write a leaf with p positives and q negatives as the vector (q, p). The ROC hull of a
tree is the sequence of its vectors by falling slope, which is the upper boundary of their zonotope
(the Minkowski sum of the segments from 0 to the vectors), and the area under it grows with the
zonotope. Minkowski sums preserve inclusion. So if every tree on an open leaf has its zonotope
inside a convex body, fixed leaves and the bodies of open leaves added up contain every tree that
the partial tree can become, and the area of the sum, up to θ for the partial AUC, is a bound. A
body is given by its upper boundary, a *curve*, and curves are added by sorting their steps. All
published bounds are of this kind, with bodies from weak to strong:

- *perfect separation* (Theorems 2.1 and 2.2): the rectangle, curve (0, p), (q, 0). It holds for
  every child, since the rectangle contains all;
- *equal rows* (B.9 for this loss, C.3; `equal_rows`): every group of equal rows is a leaf of its
  own, as no tree can split it;
- *hulls* (ours; `hulls`): the convex hull of all points (false, true positives) that trees of the
  remaining depth reach when their leaves are labelled. A zonotope's vertices are such points, so it
  lies inside; and the hull of all trees of depth d is the hull over all tests of the sums of both
  sides' hulls of depth d − 1, as sums and hulls commute. At depth one and two it comes from pair
  counts.

With a penalty λ per leaf (`look_ahead`; B.2 and more): a tree with e further leaves splits no open
leaf deeper than e levels, so its value is at most that of the hulls of depth min(d, e) less the
penalty of H + e leaves; the bound is the best over all e ≥ 1, and e = 0 is a tree, whose value is
known. With `apart` (ours) the bound depends on which open leaves are split: if t of them are split,
each takes one of the e, so none is deeper than e - t + 1, and the others stay leaves. The best such
set gives the bound (see `apart`). `leaf_limit` (B.4, B.5): H + e leaves beat the incumbent
only if e · λ is below the gain that the hulls allow; the printed form of B.5,
H' < H + ⌊(R − b)/λ⌋, cuts off optima. It limits the depth of every open leaf to e too, which gives
a depth where no depth limit is given.

**Branching.** `dominance`: on the last level, a split whose vector lies in the triangle of another
split's vector can be replaced by that split. `refinement`: without a penalty and a limit on leaves,
splitting never lowers the area, so an open leaf that can be split need not stay. `permutations`
(B.8): a tree is the set of its leaves; a set that was met before is dropped. `plunge`: the best
child is expanded at once, to find incumbents; otherwise the search is best first.

Bound B.3 (a subtree alone is worse than the incumbent) needs a sum over leaves and is not valid
here.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from milp_trees.common.limits import Deadline, Limits, Stopped
from milp_trees.common.registering import register
from milp_trees.engines.kit.compile import compile_once, tiny_problem
from milp_trees.engines.kit.run import Run, infeasible
from milp_trees.engines.partial_trees.switches import PartialTreesSwitches
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.results.result import Limit, Result
from milp_trees.tasks.count_views import LeafCounts

if TYPE_CHECKING:
    from milp_trees.engines.partial_trees.nodes import Units
    from milp_trees.engines.partial_trees.parts import RowPart
    from milp_trees.engines.partial_trees.search import PartialTreesSearch
    from milp_trees.problems.problem import Problem

log = logging.getLogger("milp_trees")

#: Seconds between points of the trace that only report a better bound.
REPORT_EVERY = 0.05
#: Trees of these depths are searched first, for an incumbent; each search gets at most this share
#: of the time and so many partial trees.
SHALLOW, SHALLOW_SHARE, SHALLOW_NODES = (2, 3), 0.1, 1000
#: Estimated bytes of a partial tree, and of a part without its rows.
NODE_BYTES, PART_BYTES = 900, 2500


@register
@dataclass(frozen=True)
class PartialTrees(PartialTreesSwitches, Method):
    """Exact search for areas under the ROC curve.

    Parameters
    ----------
    hulls, equal_rows, look_ahead, apart, leaf_limit, permutations, dominance, refinement, plunge
        See `switches.PartialTreesSwitches`; the optimum does not depend on them.
    """

    name: ClassVar[str] = "partial-trees"  # type: ignore[misc]
    title: ClassVar[str] = "Branch and bound over partial trees, for AUC and partial AUC"
    shared_components: ClassVar[frozenset[str]] = frozenset({"two classes"})
    verification_rank: ClassVar[int] = 20
    default_rank: ClassVar[int | None] = 40
    needs: ClassVar[type | tuple[type, ...]] = LeafCounts
    takes_any_depth: ClassVar[bool] = True

    def warm_up(self) -> None:
        """Compile the kernels, by a search with all bounds."""
        from milp_trees.tasks.ranking import AUC

        tiny, limits = tiny_problem(AUC(leaf_penalty="1/50")), Limits(time=None)
        compile_once(self.name, lambda: PartialTrees().search(tiny, limits, None, None))

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        space = problem.trees
        with clock("prepare"):
            from dataclasses import replace

            whole = problem.view(LeafCounts)
            view = replace(whole, errors=whole.errors.reduce(merge_rows=False))
        if len(view.is_positive) < space.min_samples_leaf:
            return infeasible(self.label, problem, clock)
        run = PartialTreesRun(self.label, problem, limits, progress, clock)
        run.prepare(view, self)
        with clock("solve"):
            run.solve(start)
            tree = run.tree()
        return run.result(
            tree,
            view.to_value(run.exact(run.search.bound)),
            model_size=run.sizes(),
            nodes=run.search.counters.expanded,
            root_bound=run.root_bound,
        )


class PartialTreesRun(Run):
    """One run: the search, its reports, and finally the tree."""

    start: tuple[Units, Tree] | None = None
    root_bound: float | None = None

    def prepare(self, view: LeafCounts, switches: PartialTreesSwitches) -> None:
        """Make the search."""
        from milp_trees.engines.partial_trees.parts import RowParts
        from milp_trees.engines.partial_trees.search import PartialTreesSearch

        self.view, space = view, self.problem.trees
        # A path has at most as many useful tests as there are tests, or as are needed to separate
        # all rows.
        most = min(view.errors.n_features, len(view.is_positive) - 1)
        depth = most if space.max_depth is None else min(space.max_depth, most)
        self.parts = RowParts(
            view,
            space.min_samples_leaf,
            switches.hulls,
            switches.equal_rows,
            switches.dominance,
            self.check,
            self.watch.beside,
        )
        self.search: PartialTreesSearch = PartialTreesSearch(
            view, self.parts, depth, space.max_leaf_nodes, switches, self.report
        )

    def solve(self, start: Tree | None) -> None:
        """Search, first shallow trees, until all is searched or a limit is reached."""
        self.search.begin()
        if start is not None:
            self.offer_start(start)
        self.attempt(self._search)
        self.report()

    def _search(self) -> None:
        for depth in SHALLOW:
            if depth < self.search.depth:
                self.shallow(depth)
        self.search.run(self.pause)

    def shallow(self, depth: int) -> None:
        """Find an incumbent among trees of less depth, whose bounds are much closer.

        So the search that follows begins with a good tree.
        """
        from milp_trees.engines.partial_trees.search import PartialTreesSearch

        whole = self.search
        limit = self.limits.time
        share = Deadline.after(None if limit is None else limit * SHALLOW_SHARE)

        def pause() -> None:
            self.check()
            if first.counters.expanded >= SHALLOW_NODES or share.passed:
                raise Stopped(Limit.NODES)

        def improved() -> None:
            if first.best is not None and whole.best is not None and first.best > whole.best:
                whole.offer(first.best, first.made)

        first = PartialTreesSearch(
            self.view, self.parts, depth, whole.max_leaves, whole.switches, improved
        )
        first.begin()
        if whole.best is not None and first.best is not None and whole.best > first.best:
            first.best, first.made = whole.best, whole.made
        try:
            first.run(pause)
        except Stopped:
            self.check()  # if it is the run's own limit, the run ends here
            log.debug("trees of depth %d were not finished", depth)

    def offer_start(self, tree: Tree) -> None:
        """Make a given tree the incumbent if it is better than a leaf."""
        placed = self.view.errors.canonical(tree)
        leaf, ones = placed.routes(self.view.errors).leaf, self.view.is_positive
        counts = [
            (int((ones & (leaf == l)).sum()), int((~ones & (leaf == l)).sum()))
            for l in range(placed.n_leaves)
        ]
        units = self.view.units(counts)
        value = (int(units // 1), float(units % 1))
        if value > (self.search.best or value):
            self.start = (value, placed)
            self.search.offer(value, None)

    # -- limits and reports ------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Check limits and report; called between two partial trees."""
        search = self.search
        if self.root_bound is None:
            self.root_bound = float(self.view.to_value(self.exact(search.bound)))
        self.check()
        self.check_nodes(search.counters.expanded)
        if self.limits.memory_mb is not None and self.bytes() > self.limits.memory_mb * 2**20:
            raise Stopped(Limit.MEMORY)
        points = self.trace.points
        if not points or self.seconds - points[-1].seconds > REPORT_EVERY:
            self.report()

    def bytes(self) -> int:
        """Estimated bytes of everything that the search holds."""
        parts = len(self.parts.by_rows)
        return parts * (2 * self.parts.root.rows.nbytes + PART_BYTES) + NODE_BYTES * (
            len(self.search.heap) + len(self.search.seen)
        )

    def report(self) -> None:
        search = self.search
        if search.best is not None:
            self.note(
                *(self.view.to_value(self.exact(units)) for units in (search.best, search.bound))
            )

    def exact(self, units: Units) -> Fraction:
        """Units as a rational: the fraction's denominator is at most the number of negatives."""
        return units[0] + Fraction(units[1]).limit_denominator(self.view.totals[1])

    def sizes(self) -> dict[str, int]:
        return {
            **asdict(self.search.counters),
            "dominated": self.parts.dominated,
            "parts": len(self.parts.by_rows),
            "open": len(self.search.heap),
        }

    # -- the tree ----------------------------------------------------------------------------------------------

    def tree(self) -> Tree:
        """The incumbent, its leaves labelled by their majority."""
        if self.start is not None and self.search.best == self.start[0]:
            return self.start[1]
        splits: dict[int, int] = {}
        made = self.search.made
        while made is not None:
            splits[made[0]] = made[1]
            made = made[2]
        return Tree(self._node(self.parts.root, splits), self.view.actions)

    def _node(self, part: RowPart, splits: dict[int, int]) -> Node:
        if part.number not in splits:
            counts = (part.q, part.p) if self.view.positive == 1 else (part.p, part.q)
            return Leaf(int(counts[1] > counts[0]))
        test = splits[part.number]
        true = part.rows & self.parts.tests[test]
        left, right = self.parts.part(part.rows & ~true), self.parts.part(true)
        return Branch(
            self.view.errors.features[test], self._node(left, splits), self._node(right, splits)
        )
