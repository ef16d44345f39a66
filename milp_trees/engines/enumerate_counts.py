"""`enumerate-counts`: the oracle for tiny problems on two classes whose value is no sum.

Such values are areas under ROC curves, and metrics of FP and FN.

For a set of rows and a depth it lists what every tree achieves: the counts of its leaves, or its
leaves, false positives and false negatives. Nothing is bounded, merged or cut, no code is shared
with the engines it checks, and the task itself scores a tree of each kind.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.enumeration_limit import too_much_work
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import full_leaves
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.results.result import Result
from milp_trees.tasks.base import Value
from milp_trees.tasks.count_views import LeafCounts, PairCounts

#: Largest n_rows · (2 · n_tests)^depth that is accepted: seconds, not minutes.
MOST_WORK = 100_000

#: What trees achieve, each with one such tree; the first entry of a key is the number of leaves.
Achieved = dict[tuple[Any, ...], Node]


@register
class CountEnumerator(Method):
    """All trees of a tiny problem on two classes."""

    name = "enumerate-counts"
    title: ClassVar[str] = (
        "Enumeration of what all trees achieve, for tiny problems on two classes that are no sums"
    )
    verification_rank: ClassVar[int] = 5
    default_rank: ClassVar[int | None] = 90
    reference_rank: ClassVar[int | None] = 70
    needs = (LeafCounts, PairCounts)

    def unsupported_view(self, problem: Problem) -> str | None:
        errors = problem.first_view(self.needs).errors
        return too_much_work(self.name, errors, problem.trees.depth, MOST_WORK)

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        view, space = problem.first_view(self.needs), problem.trees
        watch = Watch(limits, clock.begin, problem)
        with clock("solve"):
            made, limit = watch.until(
                lambda: enumerate_counts(
                    view,
                    space.depth,
                    space.min_samples_leaf,
                    isinstance(view, LeafCounts),
                    watch.check,
                )
            )
            achieved = {} if made is None else made
            most = space.max_leaf_nodes or full_leaves(space.depth)
            best: tuple[Tree, Value] | None = None

            def score() -> None:
                nonlocal best
                for kind, node in achieved.items():
                    watch.check()
                    tree = Tree(node, view.actions)
                    value = problem.value(tree)
                    if kind[0] <= most and (best is None or value.better_than(best[1])):
                        best = tree, value

            if limit is None:
                limit = watch.until(score)[1]
        if limit is not None:
            tree = start if best is None else best[0]
            return finish(
                problem,
                self.name,
                tree,
                bound=None,
                claims_optimal=False,
                proved_by=None,
                clock=clock,
                limit=limit,
                watch=watch,
            )
        sizes = {"achieved": len(achieved)}
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
        bound = best[1].number if best[1].exact is None else best[1].exact
        return finish(
            problem,
            self.name,
            best[0],
            bound=bound,
            claims_optimal=True,
            proved_by=self.name,
            clock=clock,
            model_size=sizes,
        )


def enumerate_counts(
    view: LeafCounts | PairCounts,
    max_depth: int,
    min_samples_leaf: int = 1,
    leaves_apart: bool = True,
    check: Callable[[], None] = lambda: None,
) -> Achieved:
    """What trees of at most a given depth achieve on all rows.

    A set of rows is an integer with a bit per row.
    """
    errors, ones = view.errors, view.is_positive.tolist()
    true = [
        sum(1 << i for i in range(errors.n_rows) if errors.X[i, f])
        for f in range(errors.n_features)
    ]
    join: Callable[[Any, Any], tuple[Any, ...]] = _together if leaves_apart else _added

    @cache
    def trees(rows: int, depth: int) -> Achieved:
        out: Achieved = {}
        members = [i for i in range(errors.n_rows) if rows >> i & 1]
        p = sum(ones[i] for i in members)
        q = len(members) - p
        if len(members) >= min_samples_leaf:
            positive, negative = Leaf(view.positive), Leaf(1 - view.positive)
            if leaves_apart:
                out[1, ((p, q),)] = positive if p > q else negative
            else:
                out[1, q, 0] = positive
                out[1, 0, p] = negative
        for f in range(errors.n_features if depth else 0):
            left, right = rows & ~true[f], rows & true[f]
            if left and right:
                for a, node_a in trees(left, depth - 1).items():
                    check()
                    for b, node_b in trees(right, depth - 1).items():
                        out.setdefault(join(a, b), Branch(errors.features[f], node_a, node_b))
        return out

    return trees((1 << errors.n_rows) - 1, max_depth)


def _together(a: tuple[int, Any], b: tuple[int, Any]) -> tuple[Any, ...]:
    return a[0] + b[0], tuple(sorted(a[1] + b[1]))


def _added(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(x + y for x, y in zip(a, b, strict=True))
