"""Many trees at a time as witnesses: some shapes, each with all actions of its leaves.

A shape has few leaves, so the totals of all choices of actions are a product of two small matrices.
Only trees that keep a set of demands which no known model keeps are made and checked exactly.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from milp_trees.explanations.deep import with_actions
from milp_trees.explanations.feasible import Feasibility
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree

#: Choices of actions that are looked at for one shape, and random shapes.
LABELLINGS, SHAPES = 256, 30
#: Depth of random shapes if there is no limit.
DEEP = 3


class Pool:
    """Shapes of trees, as witnesses for the questions of a `Feasibility`.

    Parameters
    ----------
    ask : Feasibility
        Of a problem about trees whose task chooses among actions.
    """

    def __init__(self, ask: Feasibility) -> None:
        self.ask, problem = ask, ask.demands.problem
        self.data = problem.dataset
        self.actions = problem.task.actions(self.data)
        self.depth = min(getattr(problem.space, "max_depth", None) or DEEP, DEEP)
        self.rows = {
            i: demand.rule.rows(self.data, self.actions)
            for i, demand in enumerate(ask.demands.all)
            if demand.rule is not None
        }
        self.rows = {i: rows for i, rows in self.rows.items() if rows}

    def draw(self, seed: int = 0) -> None:
        """Look at random shapes, as deep as the problem allows or one level deeper."""
        rng = np.random.default_rng(seed)
        everything = np.arange(self.data.n_rows)
        for at in range(SHAPES):
            self.look(self._random(everything, self.depth + at % 2, rng))

    def look(self, shape: Node) -> None:
        """Look at all choices of actions for the leaves of a shape."""
        ask, tree = self.ask, Tree(shape, self.actions)
        needed, routes = ask.demands.needed(tree), ask.demands.problem.routes(tree)
        chosen, leaves = self._labellings(routes.n_leaves), np.arange(routes.n_leaves)
        member = (routes.leaf == leaves[:, None]).astype(np.int64)
        kept = np.tile(np.array(needed.kept), (len(chosen), 1))
        for i, rows in self.rows.items():
            kept[:, i] = True
            for row in rows:
                total = (member @ row.coefs)[leaves, chosen].sum(axis=1)
                kept[:, i] &= row.lower is None or total >= row.lower
                kept[:, i] &= row.upper is None or total <= row.upper
        _, first = np.unique(kept, axis=0, return_index=True)
        for at in sorted(first.tolist(), key=lambda k: -int(kept[k].sum())):
            here = np.flatnonzero(kept[at]).tolist()
            if not any(known.keeps(here) for known in ask.witnesses):
                labels = iter(chosen[at].tolist())
                ask.learn([Tree(with_actions(shape, labels), self.actions)])

    def _labellings(self, n: int) -> np.ndarray:
        """Choices of actions for some leaves: all of them, or as many as are looked at."""
        K = len(self.actions)
        if K**n <= LABELLINGS:
            return np.array(list(product(range(K), repeat=n)), dtype=np.int64).reshape(-1, n)
        return np.random.default_rng(n).integers(0, K, (LABELLINGS, n))

    def _random(self, rows: np.ndarray, depth: int, rng: np.random.Generator) -> Node:
        """A random shape of some depth on some rows."""
        for f in rng.permutation(self.data.n_features)[:8].tolist() if depth else ():
            side = self.data.outcome(f, rows).astype(bool)
            if side.any() and not side.all():
                left, right = (self._random(rows[s], depth - 1, rng) for s in (~side, side))
                return Branch(self.data.features[f], left, right)
        return Leaf(0)


def pool_of(ask: Feasibility) -> Pool | None:
    """The pool for some questions; None if the models are no trees that choose among actions."""
    problem: Any = ask.demands.problem
    trees = problem.space.predictor() is Tree
    if not trees or problem.task.predicts_numbers:
        return None
    return Pool(ask)
