"""`dp-sizes`: the best trees of every number of leaves, from one run of the dynamic programme.

The search is in `milp_trees.engines.dp.by_leaves.fronts`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Deadline, Limits
from milp_trees.common.registering import register
from milp_trees.engines.kit.run import Run, infeasible
from milp_trees.methods.finish import Clock
from milp_trees.methods.greedy_tree import greedy_prunings
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import GREEDY, GREEDY_SHARE, RESERVED, Watch
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import BySize
from milp_trees.results.result import Result, Solution
from milp_trees.results.size_path import Point, SizePath
from milp_trees.tasks.comparing import crosses
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.engines.dp.by_leaves.fronts import Size

#: How many times as long as to score a point it takes to compare it with a greedy tree, too.
LARGER = 1.5
#: Seconds after the time limit in which trees are still scored.
READING = 0.2


@register
class DynamicProgrammeBySize(Method):
    """Exact search for trees with at most 1, 2, …, L leaves at once.

    For a problem that asks for the best tree alone, the answer is the best tree with at most L
    leaves.
    """

    name = "dp-sizes"
    needs: ClassVar[tuple[type, ...]] = (CostMatrix, LeafSums)
    title: ClassVar[str] = "Dynamic programme for the best trees of every number of leaves"
    shared_components: ClassVar[frozenset[str]] = frozenset({"dp"})
    verification_rank: ClassVar[int] = 60
    questions: ClassVar[frozenset[str]] = frozenset({"best", "by-size"})
    takes_any_depth = True
    default_rank = 85
    takes_min_weight = True
    takes_min_treatment = True

    def unsupported_view(self, problem: Problem) -> str | None:
        view, space = problem.first_view(self.needs), limited(problem)
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            return "dp-sizes takes penalties and test costs of at least 0; some are negative."
        if space.max_depth is None and space.max_leaf_nodes is None:
            return "dp-sizes needs a limit on the size of trees; give max_leaf_nodes (--leaves) or max_depth (--depth)."
        from milp_trees.engines.dp.arrays import surely_fits

        if not surely_fits(view):
            from milp_trees.engines.dp.by_leaves.limits import prepare_sizes

            try:
                prepare_sizes(problem.presolved_view(), space)
            except Unsupported as why:
                return str(why)
        return None

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        from milp_trees.engines.dp.by_leaves.limits import memo_bytes
        from milp_trees.engines.dp.by_leaves.turns import solve_sizes

        clock = Clock()
        with clock("prepare"):
            view, space = problem.presolved_view(), limited(problem)
        run = Run(self.label, problem, limits, progress, clock, fallback=space is problem.trees)
        least = float(view.to_bound(view.unavoidable))

        def improved(found: tuple[int | None, ...]) -> None:
            if found[-1] is not None:
                run.note(view.to_value(found[-1]), least)

        greedy: list[Tree] = []
        until = Deadline.after(limits.time, clock.begin).later(READING)
        with clock("solve"):
            if space is not problem.trees:  # a greedy tree has no more leaves than are asked for
                run.watch = Watch(limits, clock.begin, replace(problem, space=space))
                if limits.time is not None:
                    greedy, seconds = _beforehand(problem, view, space, run.watch)
                    run.watch.deadline = run.watch.deadline.later(-seconds)
            fronts = solve_sizes(view, space, run.watch, improved, memo_bytes(limits))
            sizes, run.limit = fronts.sizes, fronts.limit
            if run.limit is not None:
                sizes = _with_greedy(view, sizes, greedy, until)
        last = sizes[-1]
        tree, bound = last.tree, view.to_bound(last.bound, last.leaves)
        if start is not None and (last.Z is None or view.objective(start) < last.Z):
            tree = start  # the start is better than what was found in time
        if tree is None and run.limit is None:
            return infeasible(self.label, problem, clock)
        if run.limit is None:
            run.note(bound, bound)
        result = run.result(tree, bound, model_size=fronts.counters)
        if not isinstance(problem.question, BySize):
            return result
        return with_path(result, _points(problem, view, sizes, until), run)


def _points(
    problem: Problem, view: LeafSums, sizes: tuple[Size, ...], until: Deadline
) -> tuple[Point, ...]:
    """The points of a path; a tree that is the best one of several sizes is scored once.

    When the time is over, a smaller tree stands for those that are not scored, but for the last.
    """
    points: list[Point] = []
    last = None
    for size in sizes:
        if size.tree is None:
            continue
        bound = view.to_bound(size.bound, size.leaves)
        same = size.tree is last or (until.passed and size is not sizes[-1])
        if same and points and not crosses(bound, points[-1].value, problem.scale):
            points.append(replace(points[-1], leaves=size.leaves, bound=bound))
        else:
            points.append(Point.of(problem, size.leaves, size.tree, bound))
        last = size.tree
    return tuple(points)


def _beforehand(
    problem: Problem, view: LeafSums, space: Trees, watch: Watch
) -> tuple[list[Tree], float]:
    """For a run whose time is limited: greedy trees of every size, and what scoring takes.

    The latter are the seconds in which the trees of all sizes are scored, in which the search must
    not be under way.
    """
    most = space.max_leaf_nodes or 1
    trees = list(greedy_prunings(view, space, most, watch.deadline.share(GREEDY_SHARE, GREEDY)))
    if not trees or problem.violations(trees[-1]):
        return [], 0.0
    began = run_clock()
    Point.of(problem, most, trees[-1], None)
    each = run_clock() - began
    left = max(0.0, watch.deadline.at - run_clock())
    return trees, min(LARGER * each * most, RESERVED * left)


def _with_greedy(
    view: LeafSums, sizes: tuple[Size, ...], trees: list[Tree], until: Deadline
) -> tuple[Size, ...]:
    """The sizes of a run that was stopped, with greedy trees where they are better.

    They are compared as far as the time allows.
    """
    out = list(sizes)
    for tree in reversed(trees):  # the largest is the answer of the run
        if until.passed and tree is not trees[-1]:
            break
        Z = view.objective(tree)
        for k in range(tree.n_leaves - 1, len(out)):
            known = out[k].Z
            if known is None or known > Z:
                out[k] = replace(out[k], Z=Z, tree=tree)
    return tuple(out)


def with_path(result: Result, points: tuple[Point, ...], run: Run) -> Result:
    """A result with the best trees of every number of leaves."""
    path = SizePath(run.problem, points, run.label, run.limit, run.clock.seconds)
    solutions = tuple(Solution(p.predictor, p.value) for p in reversed(path.improving))
    return replace(result, curve=path, solutions=solutions)


def limited(problem: Problem) -> Trees:
    """The space, with the number of leaves of the question as a limit."""
    question, space = problem.question, problem.trees
    if not isinstance(question, BySize):
        return space
    most = (
        question.max_leaves
        if space.max_leaf_nodes is None
        else min(question.max_leaves, space.max_leaf_nodes)
    )
    return replace(space, max_leaf_nodes=most)
