"""Points that a solver gets while it searches: its own points, rounded to trees and improved.

A solver sends a point: of a relaxation, or a new incumbent. Trees are read from it: a feasible point
describes one, and of a fractional one the tests with the largest values are taken, where the
formulation says what these are (`weights_of_tests`). Below these tests the best subtrees are put: each is
a problem of its own over the rows that get there, which an engine solves. The best tree is encoded,
compared with all rows of the model, kept as an incumbent of the run, and sent back.

This is the rounding of a relaxation of Berthold (2006), *Primal heuristics for mixed integer
programs*, with the subtrees of Demirović et al. (2022), "MurTree", arXiv:2007.12652.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.compiling import run_clock
from milp_trees.common.limits import Deadline, Limits, Stopped
from milp_trees.common.registering import plugins
from milp_trees.methods.deadline import within
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.methods.method import Method
    from milp_trees.mip.formulation import Formulation
    from milp_trees.mip.run import Run

#: Levels of the subtrees that are exchanged. The tests above them stay those of the point, at least
#: the one at the root if the tree may have more than one level.
LEVELS = 2
#: Number of tests that are tried at the root, by the values of one point.
ROOTS = 8
#: Rows of the first subtree, with which engines are compiled.
FEW = 8
#: Largest share of the seconds of a run that trees from points may take, and the seconds of the
#: first of them.
SHARE, FIRST = 0.1, 2.0
#: Largest violation of a row of the model by a point that is sent.
FEASIBILITY = 1e-6


class Rounding:
    """Makes trees from the points of one run.

    Parameters
    ----------
    formulation : Formulation
    run : Run
        Its model is built; its incumbent is replaced by better trees.
    """

    def __init__(self, formulation: Formulation, run: Run) -> None:
        self.formulation, self.run = formulation, run
        self.space = run.problem.trees
        self.seconds = 0.0
        run.exchanged |= {"points": 0, "better_points": 0}
        self._tests_above: set[Any] = set()
        # What the solver does not have, it may get again.
        self._best = math.inf if run.start is None else run.incumbent_cost
        self._engine: Method | None = None
        if isinstance(run.view, CostMatrix) and run.view.n_rows:
            # Engines are compiled when they are used first: before the solver starts.
            rows = np.arange(min(run.view.n_rows, FEW))
            self._engine = _engine_for(self._part(rows, 1, None))
            self._subtree(rows, self.space.depth - self._kept, None)

    def __call__(self, x: np.ndarray) -> np.ndarray | None:
        """A point that is better than all before; None if there is none, or no time for it."""
        left = max(FIRST, SHARE * self.run.clock.seconds) - self.seconds
        if left <= 0:
            return None
        began = run_clock()
        self.run.exchanged["points"] += 1
        try:
            return within(left, lambda: self._better(x, Deadline.after(left / 2, began)))
        except Stopped:  # the loop that waits for the solver looks at the limits itself
            return None
        finally:
            self.seconds += run_clock() - began

    def _better(self, x: np.ndarray, deadline: Deadline) -> np.ndarray | None:
        run = self.run
        run.matrix.load(x)
        found: list[tuple[int, Tree]] = []
        for tree in self._trees(self._read(x)):
            tree = self.space.simplify(tree, run.view)
            cost = run.view.objective(tree)
            if cost < self._best and not run.problem.violations(tree):
                found.append((cost, tree))
            if deadline.passed:
                break
        for cost, tree in sorted(found, key=lambda entry: entry[0]):
            point = self._encoded(tree)
            if point is not None:
                self._best = cost
                run.exchanged["better_points"] += 1
                run.offer(tree, point)
                return point
        return None

    def _encoded(self, tree: Tree) -> np.ndarray | None:
        """The point of a tree, if the model has it."""
        run = self.run
        try:
            self.formulation.encode(tree, run.m)
        except LookupError:
            return None
        point = run.matrix.values()
        return point if run.matrix.violation(point) <= FEASIBILITY else None

    # -- trees -------------------------------------------------------------------------------------

    @property
    def _kept(self) -> int:
        """Levels of tests that stay those of the point."""
        depth = self.space.depth
        return max(0, min(depth - 1, 1), depth - LEVELS)

    def _read(self, x: np.ndarray) -> Iterator[Tree]:
        """The tree of a feasible point, and trees whose upper tests have large values."""
        run = self.run
        if run.matrix.violation(x) <= FEASIBILITY:
            run.matrix.load(run.matrix.rounded(x))
            # Models with a test in every node hold small trees as larger ones.
            yield self.space.simplify(self.formulation.decode(run.m), run.view)
        weights = self.formulation.weights_of_tests(run.m)
        if weights is not None and run.view.n_features:
            first = weights[1]
            for f in np.argsort(-first, kind="stable")[:ROOTS].tolist():
                if first[f] > FEASIBILITY:
                    yield Tree(self._largest(weights, 1, self._kept, f), run.view.actions)

    def _largest(
        self, weights: Mapping[int, np.ndarray], v: int, levels: int, f: int | None = None
    ) -> Node:
        """The tests of the largest values in the first levels from a node."""
        if levels == 0:
            return Leaf(0)
        f = int(weights[v].argmax()) if f is None else f
        left, right = (self._largest(weights, u, levels - 1) for u in (2 * v, 2 * v + 1))
        return Branch(self.run.view.features[f], left, right)

    def _trees(self, read: Iterator[Tree]) -> Iterator[Tree]:
        """Every tree that was read, with optimal subtrees, and as it is."""
        view, space = self.run.view, self.space
        for tree in read:
            above = _upper(tree.root, self._kept)
            if above in self._tests_above:  # its subtrees are known
                continue
            self._tests_above.add(above)
            if self._engine is not None:
                spare = _spare(space, tree)
                yield Tree(self._with_subtrees(tree.root, self._kept, spare), view.actions)
            yield tree

    def _with_subtrees(self, root: Node, kept: int, spare: int | None) -> Node:
        view, depth = self.run.view, self.space.depth

        def walk(node: Node, rows: np.ndarray, level: int) -> Node:
            nonlocal spare
            if level == kept or isinstance(node, Leaf):
                leaves = None if spare is None else spare + _leaves(node)
                better = self._subtree(rows, depth - kept, leaves)
                if better is None:
                    return node
                if leaves is not None:
                    spare = leaves - _leaves(better)
                return better
            right = view.X[rows, view.index[node.test]] == 1
            left = walk(node.left, rows[~right], level + 1)
            return Branch(node.test, left, walk(node.right, rows[right], level + 1))

        return walk(root, np.arange(view.n_rows), 0)

    def _subtree(self, rows: np.ndarray, levels: int, leaves: int | None) -> Node | None:
        """The best tree of some rows; None if there is none."""
        if not len(rows) or self._engine is None or (leaves is not None and leaves < 1):
            return None
        problem = self._part(rows, levels, leaves)
        tree = self._engine.search(problem, Limits(time=FIRST), None, None).tree
        return None if tree is None else tree.root

    def _part(self, rows: np.ndarray, levels: int, leaves: int | None) -> Any:
        """The costs of some rows as a problem of its own, without side constraints."""
        from milp_trees.data.dataset import Dataset
        from milp_trees.problems.problem import Problem
        from milp_trees.tasks.policy import ActionCostMatrix

        view, space = self.run.view, self.space
        values = view.regret[rows]
        if space.min_samples_leaf > 1:
            # Equal rows share a leaf, so that one of them may cost what all of them do.
            counts = view.counts[rows]
            first = np.concatenate([[0], np.cumsum(counts)[:-1]])
            rows, spread = np.repeat(rows, counts), np.zeros((counts.sum(), view.n_actions))
            spread[first] = values
            values = spread
        price = view.leaf_cost + int(view.split_costs.min(initial=0))
        task = ActionCostMatrix(leaf_penalty=Fraction(price, len(rows)))
        data = Dataset(view.X[rows], view.features, values=values)
        return Problem(data, task, Trees(levels, leaves, space.min_samples_leaf))


def _engine_for(problem: Any) -> Method:
    """The first exact method by `default_rank` that takes a problem."""
    ranks = plugins.values("methods", "default_rank")
    for name in sorted((n for n, rank in ranks.items() if rank is not None), key=ranks.__getitem__):
        method: Method = plugins.get("methods", name)()
        if method.exact and method.unsupported(problem) is None:
            method.warm_up()
            return method
    raise LookupError("No exact method takes costs of actions.")


def _upper(node: Node, levels: int) -> Any:
    """The tests of the first levels of a tree."""
    if levels == 0 or isinstance(node, Leaf):
        return None
    return node.test, _upper(node.left, levels - 1), _upper(node.right, levels - 1)


def _spare(space: Trees, tree: Tree) -> int | None:
    """How many leaves a tree may have more; None if only the depth limits them."""
    return None if space.max_leaf_nodes is None else space.max_leaf_nodes - tree.n_leaves


def _leaves(node: Node) -> int:
    return 1 if isinstance(node, Leaf) else _leaves(node.left) + _leaves(node.right)
