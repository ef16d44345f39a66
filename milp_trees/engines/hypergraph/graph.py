"""The hypergraph of states behind the formulation state-flow.

Compiled code enumerates it breadth-first.

A state is a set of (merged) rows with the depth left. Its columns: *stop* with an action, *split*
by a test into two states of one level less, and with one level left *last split*, a test and the
actions of both leaves. Sets are compared bit by bit, and not only by hash. Some columns are left
out, because an optimum exists without them: splits with an empty side or one with too few rows; of
the tests that divide a state into the same two sides all but the cheapest; last splits with equal
actions, or no cheaper than a stop with the same side numbers; without side rows, the splits of a
state whose stop costs no more than two leaves without errors.

Where leaves cost a function of sums (`LossSums`), a set of rows has one best leaf: there is one
action, with the number 0, and the prediction of every leaf is found when a tree is read.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from scipy import sparse

STOP, SPLIT, LAST = 0, 1, 2

log = logging.getLogger("milp_trees")


@dataclass(frozen=True, eq=False)
class States:
    """States and columns; state 0 is the root.

    All arrays are int64 and have one entry per column, unless another shape is given.

    Parameters
    ----------
    depth_left : int array, one entry per state
    state : array
        The state that a column leaves; columns are sorted by it.
    kind : array
        0 stop, 1 split, 2 last split.
    test : array
        Test of a split; -1 for a stop.
    action_left, action_right : arrays
        Actions of the leaves of a last split; a stop has its action in both; -1 for a split.
    child_left, child_right : arrays
        The states that a split enters; -1 for other kinds.
    cost : array
        Cost above `view.fixed_cost`: regrets or losses of the leaves, leaf and split costs.
    side : array of shape (n_columns, n_side)
        What the leaves of a column add to each side row.
    """

    depth_left: np.ndarray
    state: np.ndarray
    kind: np.ndarray
    test: np.ndarray
    action_left: np.ndarray
    action_right: np.ndarray
    child_left: np.ndarray
    child_right: np.ndarray
    cost: np.ndarray
    side: np.ndarray

    #: What a choice of columns describes.
    noun: ClassVar[str] = "tree"

    @property
    def n_states(self) -> int:
        return len(self.depth_left)

    @property
    def n_columns(self) -> int:
        return len(self.state)

    def incidence(self) -> sparse.csr_matrix:
        """States × columns: 1 where a column leaves a state, -1 where it enters one."""
        from scipy import sparse

        left, right = np.flatnonzero(self.child_left >= 0), np.flatnonzero(self.child_right >= 0)
        rows = np.concatenate([self.state, self.child_left[left], self.child_right[right]])
        columns = np.concatenate([np.arange(self.n_columns), left, right])
        data = np.concatenate([np.ones(self.n_columns), -np.ones(len(left) + len(right))])
        return sparse.csr_matrix((data, (rows, columns)), shape=(self.n_states, self.n_columns))

    def columns_of(self, state: int) -> slice:
        return slice(*np.searchsorted(self.state, [state, state + 1]).tolist())

    def predictor(self, on: Iterable[int], view: Any) -> Any:
        """The tree that columns describe, one for every state of its nodes."""
        chosen = {int(self.state[c]): c for c in on}

        def walk(s: int) -> Node:
            c = chosen[s]
            if self.kind[c] == STOP:
                return Leaf(int(self.action_left[c]))
            test = view.features[int(self.test[c])]
            if self.kind[c] == LAST:
                ends = Leaf(int(self.action_left[c])), Leaf(int(self.action_right[c]))
                return Branch(test, *ends)
            return Branch(test, walk(int(self.child_left[c])), walk(int(self.child_right[c])))

        if isinstance(view, CostMatrix):
            return Tree(walk(0), view.actions)
        return view.decided(Tree(walk(0), (None,)))

    def words(self, c: int, view: Any) -> str:
        """A column in words."""
        here = f"state {self.state[c]}: "
        chooses = isinstance(view, CostMatrix)
        if self.kind[c] == STOP:
            return (
                f"{here}stop with {view.actions[self.action_left[c]]}" if chooses else f"{here}stop"
            )
        if self.kind[c] == LAST:
            ends = (
                f"{view.actions[self.action_left[c]]} if false, {view.actions[self.action_right[c]]} if true"
                if chooses
                else "to two leaves"
            )
        else:
            ends = f"to state {self.child_left[c]} if false, {self.child_right[c]} if true"
        return f"{here}test {view.features[self.test[c]].name}, {ends}"

    def follow(self, tree: Any, view: Any) -> list[int]:
        """Columns of a tree, or of an equivalent one.

        The other tree costs no more, has no more leaves, and has the same side numbers. The given
        tree must use the view's tests, have no split with an empty side, and respect the limits for
        which the states were made.
        """
        out: list[int] = []

        def walk(node: Node, s: int, rows: np.ndarray) -> None:
            if isinstance(node, Leaf) or self.depth_left[s] == 1:
                out.append(self._leaves(s, node, rows, view))
                return
            found = self._split(s, view.index[node.test], view.X[rows])
            if found is None:
                if view.side:  # no stop stands for a split that is left out
                    raise LookupError(f"The hypergraph does not hold the {self.noun}.")
                out.append(self._cheapest_stop(s))
                return
            c, swapped = found
            out.append(c)
            true = view.X[rows, self.test[c]] == 1
            children = (node.right, node.left) if swapped else (node.left, node.right)
            walk(children[0], int(self.child_left[c]), rows[~true])
            walk(children[1], int(self.child_right[c]), rows[true])

        walk(tree.root, 0, np.arange(view.n_rows))
        return out

    def _numbers(self, node: Node, rows: np.ndarray, view: LeafSums) -> list[int]:
        """Side numbers of a subtree on some rows."""
        if not isinstance(view, CostMatrix):
            return []
        leaves = Tree(node, view.actions).routes(_Part(view, rows)).action
        return [int(row.coefs[rows, leaves].sum()) for row in view.side]

    def _leaves(self, s: int, node: Node, rows: np.ndarray, view: LeafSums) -> int:
        """The column of a leaf or last split, or the cheapest one with its side numbers."""
        here = self.columns_of(s)
        kind, test = STOP, -1
        ends: tuple[Any, Any] = node, node
        if not isinstance(node, Leaf):
            kind, test, ends = LAST, view.index[node.test], (node.left, node.right)
        chooses = isinstance(view, CostMatrix)
        wanted = test, *(end.action if chooses else 0 for end in ends)
        exact = self._exactly(s, kind, *wanted)
        if exact is not None:
            return exact
        numbers = self._numbers(node, rows, view)
        fits = ((self.kind[here] == STOP) | (self.kind[here] == kind)) & (
            self.side[here] == np.array(numbers, dtype=np.int64)
        ).all(axis=1)
        return self._cheapest(np.flatnonzero(fits) + here.start)

    def _exactly(self, s: int, kind: int, test: int, left: int, right: int) -> int | None:
        """The column of a state with a kind, test and actions, or None."""
        here = self.columns_of(s)
        is_it = (self.kind[here] == kind) & (self.test[here] == test)
        is_it &= (self.action_left[here] == left) & (self.action_right[here] == right)
        return int(is_it.argmax()) + here.start if is_it.any() else None

    def _cheapest(self, columns: np.ndarray) -> int:
        """The cheapest of some columns; there must be one."""
        if not len(columns):
            raise LookupError(f"The hypergraph does not hold the {self.noun}.")
        return int(columns[self.cost[columns].argmin()])

    def _cheapest_stop(self, s: int) -> int:
        here = self.columns_of(s)
        return self._cheapest(np.flatnonzero(self.kind[here] == STOP) + here.start)

    def _split(self, s: int, f: int, X: np.ndarray) -> tuple[int, bool] | None:
        """The split of a state into the two sides of a test, and whether the sides are exchanged.

        It is a split by the test itself, if there is one.

        None if the state is not split in this way.
        """
        here, truth = self.columns_of(s), X[:, f]
        splits = (self.kind[here] == SPLIT) & (self.test[here] == f)
        if splits.any():
            return int(splits.argmax()) + here.start, False
        for c in range(here.start, here.stop):
            if self.kind[c] == SPLIT:
                other = X[:, self.test[c]]
                if (other == truth).all():
                    return c, False
                if (other != truth).all():
                    return c, True
        return None


class _Part:
    """Some rows of a view."""

    def __init__(self, view: LeafSums, rows: np.ndarray) -> None:
        self.X, self.index = view.X[rows], view.index
