r"""`tangents`: exact search whose bounds are sums over leaves, for areas and for metrics of errors.

Neither an area under the ROC curve nor a metric of false positives and false negatives is a sum
over leaves. But each lies below sums that touch it, as a curve lies below its tangents, and the
largest sum of all trees is found quickly: two levels follow from counts of pairs of tests. This
engine shares no code with the engines that answer by default, and no idea with the search over
fronts; it is there to confirm what they find.

**A tangent** is a list of steps of width w and height h. What it gives for a leaf with p positives
and q negatives is the sum of max(0, w · p − h · q) over its steps. Splitting a leaf never lowers it.

*Areas.* The hull of a tree is the smallest concave curve above its labellings, so it is
:math:`y(x)=\min_{t\ge0}\,\bigl(t\,x+\sum_\text{leaves}\max(0,\,p-t\,q)\bigr)`. Any slope t may be
taken at any x; that gives an upper bound. Taken are the slopes of a *curve of reference*, which are
constant on its steps (from X to X + w, with the slope h / w):

.. math:: \int_0^{\theta N^-}\!\!y\;\le\;\sum_\text{steps} h\,\Bigl(X+\frac w2\Bigr)
   +\sum_\text{leaves}\,\sum_\text{steps}\max(0,\,w\,p-h\,q).

For the tree whose own curve is the reference this is an equation. As a rule of mixed areas: the
area of A is at most 2 V(A, B) − V(B), for any B (Minkowski). The best reference is the mixture of
trees with the largest area.

*Errors.* One step is a pair of weights: the sum is b · N⁺ less the fewest a · FP + b · FN. A better
tree than the best one has at most the errors of a *corner*, and a corner is left out once the
fewest weighted errors exceed its own for one pair of weights. No weights leave out what lies above
the hull of all (FP, FN). Where the metric is positive, Cohen's kappa and F-scores have straight
level lines, and Matthews' coefficient is quasiconvex: it is at least u > 0 where the linear
N⁺ · TN − N⁻ · FN is at least u times a square root of a concave function. So their optima are
vertices of the hull, and weights suffice. The geometric mean is quasiconcave, and its optimum may
lie inside the hull.

**Search.** Under some tangents, each test at the root of an open part has a largest sum over all
trees with it, and is left out if this sum is not enough to be better than the best tree. Of the
tests that remain in one part, each makes a child in which it is fixed; so what lies between the
tangents and the objective is divided until it vanishes. The tree with the largest sum under every
tangent is a candidate for the best.

If a penalty or a limit makes the number of leaves matter, there is a largest sum for each number.
All sums are whole numbers below 2⁵³, in doubles, and all comparisons are exact.

References: Lin, Zhong, Hu, Rudin, Seltzer (2020, *GOSDT*) for the objectives; Demirović, Stuckey
(2021, *Optimal decision trees for nonlinear metrics*) for errors of two kinds; Frank, Wolfe (1956)
and Aneja, Nair (1979) for the choice of tangents. The tangents of areas and the search are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common.compiling import run_clock
from milp_trees.common.limits import Limits, one_thread
from milp_trees.common.registering import register
from milp_trees.engines.kit.compile import compile_once, tiny_problem
from milp_trees.engines.kit.run import Run, infeasible
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.work import Sizes, usual_seconds
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import full_leaves
from milp_trees.models.tree import Tree
from milp_trees.results.result import Result
from milp_trees.tasks.count_views import LeafCounts, PairCounts
from milp_trees.tasks.surd import Surd

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Largest estimate of the work: less than half a minute for each tangent of all trees.
MOST_WORK = 1_000_000_000
#: What a part costs beside its pairs of tests, in pairs; rows that cost as much as the tangents.
PART_WORK, ROWS_WORK = 2000, 1000
#: How many times as long as one search the searches below a test take, beyond the third level.
LEVEL = 5
#: Seconds between two computations of the bound, and their largest share of the time.
REPORT_EVERY, REPORT_SHARE = 0.2, 0.05


@register
class Tangents(Method):
    """Exact search by sums that are nowhere below the objective."""

    name = "tangents"
    title: ClassVar[str] = (
        "Bounds by sums over leaves that touch areas and metrics of errors, compiled"
    )
    verification_rank: ClassVar[int] = 25
    needs = (LeafCounts, PairCounts)
    default_rank: ClassVar[int | None] = 93
    reference_rank: ClassVar[int | None] = 40

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.first_view(self.needs)
        tests, rows = view.errors.n_features, len(view.is_positive)
        depth = min(problem.trees.depth, tests, 60)
        work = (2 * tests) ** max(depth - 2, 0) * (tests**2 + PART_WORK)
        work = work * (ROWS_WORK + rows) // ROWS_WORK
        if work > MOST_WORK:
            return f"tangents is for problems with few tests or levels: (2 · tests)^(depth − 2) · (tests² + {PART_WORK}) · (1 + rows / {ROWS_WORK}) may be at most {MOST_WORK:,}; here it is {_rounded(work)}."
        return _objective(view).unsupported(view)

    def expected_seconds(self, sizes: Sizes) -> float:
        """The usual seconds up to three levels; parts of further levels have their own tangents."""
        further = max(sizes.depth - 3, 0)
        return usual_seconds(sizes) * float(2 * LEVEL * max(sizes.tests, 1)) ** min(further, 60)

    def warm_up(self) -> None:
        """Compile the kernels."""
        from milp_trees.tasks.ranking import AUC

        tiny, limits = tiny_problem(AUC()), Limits(time=None)
        compile_once(self.name, lambda: self.search(tiny, limits, None, None))

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        view = problem.first_view(self.needs)
        if len(view.is_positive) < problem.trees.min_samples_leaf:
            return infeasible(self.name, problem, clock)
        with clock("prepare"):
            run = TangentsRun(self.name, problem, limits, progress, clock)
            run.prepare(view)
        with clock("solve"), one_thread():
            run.solve(start)
        return run.result(
            run.tree(),
            run.number(run.bound()),
            model_size=run.sizes(),
            nodes=run.search.expanded,
        )


def _objective(view: LeafCounts | PairCounts) -> Any:
    """The class of the objective in `tangent_search`."""
    from milp_trees.engines.tangents.areas import Areas
    from milp_trees.engines.tangents.errors import Errors

    return Areas if isinstance(view, LeafCounts) else Errors


def _rounded(work: int) -> str:
    """A whole number of any size in a few characters."""
    return f"{work:.3g}" if work < 10**300 else "more than 10^300"


class TangentsRun(Run):
    """One run: the search, its bound, and finally the tree."""

    #: A given tree while it is the best.
    given: Tree | None = None
    #: The bound in units, and the time at which it is to be computed again.
    known: Any = None
    due = 0.0

    def prepare(self, view: LeafCounts | PairCounts) -> None:
        """Make the search."""
        from milp_trees.engines.tangents.rows import TangentRows
        from milp_trees.engines.tangents.search import TangentsSearch

        self.view, space, rows = view, self.problem.trees, len(view.is_positive)
        depth = min(space.depth, view.errors.n_features, rows - 1)
        most = min(full_leaves(depth), rows, space.max_leaf_nodes or rows)
        counted = bool(view.leaf_penalty) or space.limits_leaves
        objective = _objective(view)(view, range(1, most + 1) if counted else (0,))
        self.search = TangentsSearch(
            objective,
            TangentRows(view, space.min_samples_leaf),
            depth,
            most + 1 if counted else 1,
            self.watch.check,
            self.report,
        )

    def solve(self, start: Tree | None) -> None:
        """Search until all is searched or a limit is reached."""
        self.search.begin()
        self.attempt(lambda: self._search(start))

    def _search(self, start: Tree | None) -> None:
        self.search.offer_leaf()
        if start is not None:
            self.offer_start(start)
        self.search.run(self.pause)

    def offer_start(self, tree: Tree) -> None:
        """Make a given tree, with its best labels, the best tree if it is better than a leaf."""
        from milp_trees.engines.tangents.sums import LeafAt

        leaf, ones = tree.routes(self.view.errors).leaf, self.view.is_positive
        counts = [
            (int((ones & (leaf == k)).sum()), int((~ones & (leaf == k)).sum()))
            for k in range(tree.n_leaves)
        ]
        if self.search.offer({}, [LeafAt(k, p, q) for k, (p, q) in enumerate(counts)]):
            labels = iter(self.search.tree[1].values())
            self.given = Tree(self._relabelled(tree.root, labels), self.view.actions)

    def _relabelled(self, node: Node, labels: Iterator[bool]) -> Node:
        if isinstance(node, Leaf):
            return self._leaf(next(labels))
        left = self._relabelled(node.left, labels)
        return Branch(node.test, left, self._relabelled(node.right, labels))

    # -- limits and reports --------------------------------------------------------------------------

    def pause(self) -> None:
        """Check limits and report; called between two partial trees."""
        self.check()
        self.check_nodes(self.search.expanded)
        if run_clock() > self.due:
            self.bound()
            self.add_point()

    def report(self) -> None:
        """Called for every better tree."""
        self.given = None
        if self.known is None:
            self.bound()
        self.add_point()

    def add_point(self) -> None:
        """Report the best tree, and the bound as it was last computed."""
        self.note(*map(self.view.to_value, (self.search.objective.best, self.known)))

    def bound(self) -> Any:
        """The best bound so far, in units; it is computed for a small share of the time only."""
        began = run_clock()
        now = self.search.bound()
        self.known = now if self.known is None else min(self.known, now)
        ended = run_clock()
        self.due = ended + max(REPORT_EVERY, (ended - began) / REPORT_SHARE)
        return self.known

    def number(self, units: Any) -> Fraction | float:
        """Units in natural units, as a rational if they are one."""
        value = self.view.to_value(units)
        if not isinstance(value, Surd):
            return value
        return float(value) if value.exact is None else value.exact

    def sizes(self) -> dict[str, int]:
        search = self.search
        return {
            "expanded": search.expanded,
            "tangents": search.tangents,
            "parts": len(search.rows.parts),
            "open": len(search.heap),
        }

    # -- the tree ------------------------------------------------------------------------------------

    def tree(self) -> Tree:
        """The best tree."""
        if self.given is not None:
            return self.given
        return Tree(self._node(1), self.view.actions)

    def _node(self, node: int) -> Node:
        tests, labels = self.search.tree
        if node not in tests:
            return self._leaf(labels[node])
        test = self.view.errors.features[self.search.rows.columns[tests[node]]]
        return Branch(test, self._node(2 * node), self._node(2 * node + 1))

    def _leaf(self, is_positive: bool) -> Leaf:
        return Leaf(self.view.positive if is_positive else 1 - self.view.positive)
