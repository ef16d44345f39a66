r"""Trees without a limit on their depth, as witnesses: a deep shape, and actions for its leaves.

Where depth is not limited a tree can tell apart all rows that differ in a feature. So with leaves of
a single row there is a tree that keeps the side rows if and only if actions :math:`k_\ell` of the sets
:math:`\ell` of equal rows keep

.. math:: l_j\le\sum_\ell a_{j\ell k_\ell}\le u_j

for every side row j. Set by set, the totals that can be reached are listed. If they are too many, some
are left out, and then there is no proof. With larger leaves some shapes give trees, and no proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from milp_trees.common.limits import Deadline
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.constraint_base import TreeConstraint

#: Trees with more leaves are not looked at; totals that are kept; shapes that are tried.
MOST_LEAVES, STATES, SHAPES = 1000, 30_000, 4
#: Stands for no bound.
FAR = 2**61
#: Features that are looked at for one split.
LOOKED_AT = 30
#: Who proves that no tree of any depth exists.
PROVER = "all totals of sets of equal rows"


def deep_trees(problem: Problem, deadline: Deadline) -> Iterator[Tree | None]:
    """Deep trees that keep the side rows of a problem; None: it is proven that there are none.

    Parameters
    ----------
    problem : Problem
        Its space has no limit on depth. Nothing is given if its models are no trees that choose
        among actions, or if the number of their leaves is limited.
    deadline : Deadline
    """
    space: Any = problem.space
    if space.predictor() is not Tree or problem.task.predicts_numbers or space.max_leaf_nodes:
        return
    least = max(space.min_samples_leaf, space.min_samples_treatment)
    alone = least <= 1 and not space.min_weight_leaf and not space.min_samples_treatment
    rules = getattr(problem.task, "constraints", ())
    alone = alone and not any(isinstance(rule, TreeConstraint) for rule in rules)
    features = space.candidates(problem.dataset)
    for seed in range(1 if least <= 1 else SHAPES):
        rng = np.random.default_rng(seed)
        shape = _shape(problem, np.arange(problem.dataset.n_rows), features, least, rng)
        tree = Tree(shape, problem.task.actions(problem.dataset))
        if tree.n_leaves > MOST_LEAVES:
            return
        found, impossible = _labelled(tree, problem, deadline)
        if found is not None or (impossible and alone):
            yield found


def _shape(problem: Problem, rows: np.ndarray, features: np.ndarray, least: int, rng: Any) -> Node:
    """A shape that is split as long as both sides have enough rows, as evenly as possible."""
    data, best = problem.dataset, (least - 1, -1)
    counts = data.row_counts[rows]
    total = int(counts.sum())
    order = rng.permutation(features)
    for at, f in enumerate(order.tolist() if total >= 2 * least else ()):
        if at >= LOOKED_AT and best[1] >= 0:
            break
        ones = int(counts[data.outcome(f, rows).astype(bool)].sum())
        best = max(best, (min(ones, total - ones), f))
    if best[0] < max(least, 1) or best[1] < 0:
        return Leaf(0)
    side = data.outcome(best[1], rows).astype(bool)
    left, right = (_shape(problem, rows[s], features, least, rng) for s in (~side, side))
    return Branch(data.features[best[1]], left, right)


def _labelled(tree: Tree, problem: Problem, deadline: Deadline) -> tuple[Tree | None, bool]:
    """The tree with actions that keep all side rows, and whether there are proven to be none.

    Leaf by leaf, all totals of the side rows that may still end within their bounds are kept.
    """
    data, n, K = problem.dataset, tree.n_leaves, len(tree.actions)
    leaf = problem.routes(tree).leaf
    rules = getattr(problem.task, "constraints", ())
    rows = [row for rule in rules for row in rule.rows(data, tree.actions)]
    sums = np.zeros((n, K, len(rows)), dtype=np.int64)
    for j, row in enumerate(rows):
        np.add.at(sums[:, :, j], leaf, row.coefs)
    lower = np.array([-FAR if row.lower is None else row.lower for row in rows], dtype=np.int64)
    upper = np.array([FAR if row.upper is None else row.upper for row in rows], dtype=np.int64)
    least, most = sums.min(axis=1), sums.max(axis=1)
    low, high = least.sum(axis=0), most.sum(axis=0)
    distinct = _Distinct(lower, upper, sums)
    order = np.argsort(-np.bincount(leaf, minlength=n), kind="stable").tolist()
    states, whole, rng = np.zeros((1, len(rows)), dtype=np.int64), distinct.exact, None
    steps: list[tuple[np.ndarray, np.ndarray]] = []
    for at in order:
        if deadline.passed:
            return None, False
        low, high = low - least[at], high - most[at]
        totals = (states[:, None] + sums[at][None]).reshape(len(states) * K, len(rows))
        fits = (totals + low <= upper).all(axis=1) & (totals + high >= lower).all(axis=1)
        kept = np.flatnonzero(fits)
        kept = kept[distinct.first(totals[kept])]
        if len(kept) > STATES:
            rng = rng or np.random.default_rng(0)
            kept, whole = rng.choice(kept, STATES, replace=False), False
        if not len(kept):
            return None, whole
        states = totals[kept]
        steps.append((kept // K, kept % K))
    labels, state = np.zeros(n, dtype=np.int64), 0
    for at, (before, action) in zip(order[::-1], steps[::-1], strict=True):
        labels[at], state = action[state], int(before[state])
    return Tree(with_actions(tree.root, iter(labels.tolist())), tree.actions), False


class _Distinct:
    """Which of several totals are worth keeping: of equal ones the first.

    If a row has one bound only, totals that differ in nothing else are worth no more than the one
    that is farthest from the bound.

    Parameters
    ----------
    lower, upper : int64 arrays of shape (J,)
    sums : int64 array of shape (L, K, J)
        What every leaf can add to the totals.
    """

    def __init__(self, lower: np.ndarray, upper: np.ndarray, sums: np.ndarray) -> None:
        ranges = [
            int(one) + 1
            for one in np.maximum(sums.max(axis=1), 0).sum(axis=0)
            - np.minimum(sums.min(axis=1), 0).sum(axis=0)
        ]
        open_ = [j for j in range(len(lower)) if upper[j] == FAR or lower[j] == -FAR]
        self.worth = max(open_, key=lambda j: ranges[j], default=None)
        self.sign = -1 if self.worth is not None and upper[self.worth] == FAR else 1
        self.strides, stride = np.zeros(len(lower), dtype=np.int64), 1
        #: Whether two totals have one number only if they are equal.
        self.exact = True
        for j, wide in enumerate(ranges):
            if j != self.worth:
                self.exact = self.exact and stride * wide < FAR
                self.strides[j] = stride if self.exact else 1 + 2 * j
                stride *= wide

    def first(self, totals: np.ndarray) -> np.ndarray:
        """Positions of the totals that are worth keeping."""
        if not len(totals):
            return np.zeros(0, dtype=np.int64)
        number = totals @ self.strides
        if self.worth is None:
            first: np.ndarray = np.unique(number, return_index=True)[1]
            return first
        order = np.lexsort((self.sign * totals[:, self.worth], number))
        ordered = number[order]
        return order[np.append(True, ordered[1:] != ordered[:-1])]


def with_actions(node: Node, labels: Iterator[int]) -> Node:
    """A shape with actions for its leaves, from left to right."""
    if isinstance(node, Leaf):
        return Leaf(next(labels))
    left = with_actions(node.left, labels)
    return Branch(node.test, left, with_actions(node.right, labels))
