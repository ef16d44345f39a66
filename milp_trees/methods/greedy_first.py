"""A greedy tree before everything else, where the limit may end a run before it has a tree.

Preparing large data takes long, and so does the first call of compiled code, which is not stopped
in the middle. A run whose time is short for its data would have nothing but a leaf after it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from milp_trees.common.compiling import interruptible
from milp_trees.common.errors import MilpTreesError
from milp_trees.common.limits import Deadline, Limit, Limits, Stopped
from milp_trees.methods.greedy_tree import ANY_DEPTH, KINDS, greedy_tree
from milp_trees.methods.watch import Watch, sigint_scope
from milp_trees.models.space import Trees
from milp_trees.problems.questions import Best

if TYPE_CHECKING:
    from milp_trees.methods.finish import Clock
    from milp_trees.problems.problem import Problem

#: Seconds per row, test (or column of thresholds) and level of a greedy tree. It comes first if the
#: limit is less than so many times its seconds, if it takes at least so many seconds, and has this
#: share of the limit.
PACE, TIGHT, LEAST, SHARE = 2e-9, 20.0, 0.005, 0.9


def is_tight(problem: Problem, limits: Limits) -> bool:
    """Whether the time limit is short for the data, for a best tree by sums over leaves."""
    data, space = problem.dataset, problem.space
    fits = isinstance(space, Trees) and isinstance(problem.question, Best)
    if limits.time is None or not fits:
        return False
    levels = ANY_DEPTH if space.levels is None else min(space.levels, ANY_DEPTH)
    width = data.n_features if data.ranked is None else data.ranked.codes.shape[1]
    seconds = PACE * data.n_rows * width * max(1, levels)
    return seconds > max(LEAST, limits.time / TIGHT) and any(map(problem.task.offers, KINDS))


def greedy_first(problem: Problem, limits: Limits, clock: Clock) -> None:
    """Give the problem a watch with a greedy tree, where the time limit is short for the data."""
    if not is_tight(problem, limits):
        return
    deadline = Deadline.after(SHARE * (limits.time or 0.0), clock.begin)
    watch = Watch(limits, clock.begin, problem)
    tree: Any = None
    try:
        with (
            sigint_scope(),
            interruptible(),
            suppress(MilpTreesError),
        ):  # the run says what is wrong
            tree = greedy_tree(problem.first_view(KINDS), problem.trees, deadline)
            if tree is not None and not problem.violations(tree):
                watch.has_answer(tree)
    except KeyboardInterrupt:
        raise Stopped(Limit.INTERRUPTED) from None
    if watch.fallback is not None:
        Deadline.after(limits.time, clock.begin).check()
