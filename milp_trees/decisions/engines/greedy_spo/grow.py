"""Growing one tree from the root, and the tree as parallel arrays over its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from milp_trees.common.compiling import compiling, interruptible
from milp_trees.common.limits import NEVER, Deadline
from milp_trees.decisions.engines.greedy_spo import kernels
from milp_trees.decisions.engines.greedy_spo.columns import Columns
from milp_trees.decisions.engines.greedy_spo.criteria import Criterion, Lots, Split
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

#: Levels below which nothing is split, so that a tree can be walked, copied and pickled by
#: recursion; only rows peeled off one by one get there.
DEEPEST = 200


@dataclass(frozen=True)
class Rules:
    """Limits of growing.

    Parameters
    ----------
    max_depth : int or None
    min_samples_leaf : int, default=1
        Fewest rows in a leaf.
    min_weight_leaf : int, default=0
        Smallest whole weight in a leaf, in the units of `Sample.row_weight`.
    quantiles : int, default=0
        Q > 0: thresholds of a node are Q-quantiles of its distinct values where it has more of
        them; 0: all.
    max_features : int or None
        Features drawn at every node; None: all.
    price : float array of shape (C,), optional
        What a split on each coded column costs beside its loss.
    deadline : Deadline
        When nodes are no longer split.
    """

    max_depth: int | None = None
    min_samples_leaf: int = 1
    min_weight_leaf: int = 0
    quantiles: int = 0
    max_features: int | None = None
    price: np.ndarray | None = None
    deadline: Deadline = NEVER


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A binary tree as parallel arrays; a parent comes before its children.

    Attributes
    ----------
    column, cut : int64 arrays of shape (nodes,)
        Test of a node (-1 at leaves): true, and the row goes right, where the code of the column is
        at most the cut.
    left, right, parent : int64 arrays of shape (nodes,)
        -1 where there is none.
    loss : float array of shape (nodes,)
        Criterion of a node as a leaf.
    slack : float
        Rounding error of a loss: two that are closer are equal.
    rows : list of int arrays
        Rows that reach each node.
    """

    column: np.ndarray
    cut: np.ndarray
    left: np.ndarray
    right: np.ndarray
    parent: np.ndarray
    loss: np.ndarray
    slack: float
    rows: list[np.ndarray] = field(repr=False)

    @property
    def n_nodes(self) -> int:
        return len(self.column)

    @property
    def leaves(self) -> np.ndarray:
        """Indices of the leaves."""
        return np.flatnonzero(self.left < 0)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of rows' values in every node, shape (nodes, …)."""
        return np.array([values[rows].sum(axis=0) for rows in self.rows])

    def apply(self, codes: np.ndarray) -> np.ndarray:
        """Leaf (index of its node) of every row; codes of shape (C, n)."""
        leaf: np.ndarray = kernels.descend(
            np.ascontiguousarray(codes), self.column, self.cut, self.left, self.right
        )
        return leaf

    def cut_back(self, stop: np.ndarray) -> GrownTree:
        """The tree in which the first nodes with `stop` on every path are leaves.

        `stop` is a bool array of shape (nodes,); other paths keep their leaves.
        """
        kept: list[int] = []
        number = np.full(self.n_nodes, -1, dtype=np.int64)
        for t in range(self.n_nodes):
            p = self.parent[t]
            if p < 0 or (number[p] >= 0 and not stop[p]):
                number[t] = len(kept)
                kept.append(t)
        at = np.array(kept)
        leaf = stop[at] | (self.left[at] < 0)

        def moved(links: np.ndarray) -> np.ndarray:
            return np.where(leaf, -1, number[links[at]])

        parent = np.where(self.parent[at] < 0, -1, number[self.parent[at]])
        return GrownTree(
            np.where(leaf, -1, self.column[at]),
            np.where(leaf, -1, self.cut[at]),
            moved(self.left),
            moved(self.right),
            parent,
            self.loss[at],
            self.slack,
            [self.rows[t] for t in kept],
        )

    def to_tree(
        self, tests: Sequence[Sequence[Any]], names: Sequence[Any], labels: tuple[Any, ...] = ()
    ) -> Tree:
        """As a `Tree`."""
        labels = labels or tuple(dict.fromkeys(names[t] for t in self.leaves))
        place = {label: k for k, label in enumerate(labels)}
        nodes: list[Node] = [Leaf(place.get(name, 0)) for name in names]
        for t in range(self.n_nodes - 1, -1, -1):
            if self.left[t] >= 0:
                nodes[t] = Branch(
                    tests[self.column[t]][self.cut[t]], nodes[self.left[t]], nodes[self.right[t]]
                )
        return Tree(nodes[0], labels)


@dataclass(frozen=True, eq=False)
class Sample:
    """How many rows each row stands for (0: left out), and its whole weight; shapes (n,)."""

    counts: np.ndarray
    row_weight: np.ndarray


def grow(
    columns: Columns,
    order: np.ndarray,
    sample: Sample,
    criterion: Criterion,
    rules: Rules,
    rng: np.random.Generator | None = None,
) -> GrownTree:
    """The greedy tree: every node gets its best split.

    Growing ends at the depth, the leaf sizes, or a loss of zero. A split may gain nothing.
    """
    with interruptible():
        return _Grower(columns, order, sample, criterion, rules, rng).grow()


class _Grower:
    """The arrays of a tree under way."""

    def __init__(
        self,
        columns: Columns,
        order: np.ndarray,
        sample: Sample,
        criterion: Criterion,
        rules: Rules,
        rng: np.random.Generator | None,
    ) -> None:
        self.columns, self.order, self.sample, self.criterion, self.rules, self.rng = (
            columns,
            order,
            sample,
            criterion,
            rules,
            rng,
        )
        self.n = order.shape[1]
        self.price = (
            np.zeros(len(columns.tests))
            if rules.price is None
            else np.asarray(rules.price, dtype=float)
        )
        self.depth = min(DEEPEST, DEEPEST if rules.max_depth is None else rules.max_depth)
        self.everything = np.arange(len(columns.tests))
        self.spare = np.empty(self.n, dtype=np.int32)
        self.nodes: list[tuple[int, int, int]] = []  # column, cut, parent
        self.children: list[list[int]] = []
        self.loss: list[float] = []
        self.rows: list[np.ndarray] = []

    def grow(self) -> GrownTree:
        stack, coarsest = [(0, self.n, 0, -1)], 0.0
        while stack:
            begin, end, depth, parent = stack.pop()
            t = len(self.nodes)
            rows = (
                np.sort(self.order[0, begin:end])
                if len(self.order)
                else np.flatnonzero(self.sample.counts)
            )
            loss, slack, node = self.criterion.enter(rows)
            coarsest = max(coarsest, slack)
            open_ = depth < self.depth and loss > slack and not self.rules.deadline.passed
            split = self._split(begin, end, rows, slack, node) if open_ else None
            self.nodes.append(
                (-1, -1, parent) if split is None else (split.column, split.cut, parent)
            )
            self.children.append([])
            self.loss.append(loss)
            self.rows.append(rows)
            if parent >= 0:
                self.children[parent].append(t)
            if split is not None:
                middle = kernels.divide(
                    self.columns.codes, self.order, begin, end, split.column, split.cut, self.spare
                )
                stack += [(middle, end, depth + 1, t), (begin, middle, depth + 1, t)]
        return _arrays(self.nodes, self.children, np.array(self.loss), coarsest, self.rows)

    def _split(
        self, begin: int, end: int, rows: np.ndarray, slack: float, node: object
    ) -> Split | None:
        """Best split of a node.

        If features are drawn, further features are tried one by one until one can be split on.
        """
        counts, row_weight, rules = self.sample.counts, self.sample.row_weight, self.rules
        lots = Lots(
            self.columns.codes,
            self.order,
            begin,
            end,
            counts,
            row_weight,
            int(counts[rows].sum()),
            int(row_weight[rows].sum()),
            rules.min_samples_leaf,
            rules.min_weight_leaf,
            rules.quantiles,
            self.price,
        )
        if rules.max_features is None or rules.max_features >= self.columns.n_features:
            return (
                self.criterion.best(lots, self.everything, slack, node)
                if len(self.everything)
                else None
            )
        assert self.rng is not None
        drawn = self.rng.permutation(self.columns.n_features)
        for last in range(rules.max_features, len(drawn) + 1):
            first = 0 if last == rules.max_features else last - 1
            here = np.flatnonzero(np.isin(self.columns.feature, drawn[first:last]))
            split = self.criterion.best(lots, here, slack, node) if len(here) else None
            if split is not None:
                return split
        return None


def grown_from(tree: Tree, columns: Columns) -> GrownTree:
    """A tree on tests of the columns as arrays, with rows in its nodes; losses are zeros."""
    place = {test: (c, k) for c, tests in enumerate(columns.tests) for k, test in enumerate(tests)}
    nodes: list[tuple[int, int, int]] = []
    links: list[list[int]] = []
    rows: list[np.ndarray] = []
    stack: list[tuple[Node, np.ndarray, int]] = [(tree.root, np.arange(columns.codes.shape[1]), -1)]
    while stack:
        node, here, parent = stack.pop()
        t = len(nodes)
        if parent >= 0:
            links[parent].append(t)
        links.append([])
        rows.append(here)
        column, cut = place[node.test] if isinstance(node, Branch) else (-1, -1)
        nodes.append((column, cut, parent))
        if isinstance(node, Branch):
            true = columns.codes[column, here] <= cut
            stack += [(node.right, here[true], t), (node.left, here[~true], t)]
    return _arrays(nodes, links, np.zeros(len(nodes)), 0.0, rows)


def _arrays(
    nodes: list[tuple[int, int, int]],
    links: list[list[int]],
    loss: np.ndarray,
    slack: float,
    rows: list[np.ndarray],
) -> GrownTree:
    """The tree of a list of nodes (column, cut, parent) and their children."""
    column, cut, parent = np.array(nodes, dtype=np.int64).T.copy()
    left, right = np.array([c or [-1, -1] for c in links], dtype=np.int64).T.copy()
    return GrownTree(column, cut, left, right, parent, loss, slack, rows)


_compiled = False


def compile_kernels() -> None:
    """Compile or load the kernels, once per process, on four rows; returns at once later."""
    global _compiled
    if _compiled:
        return
    from milp_trees.decisions.engines.greedy_spo.criteria import ListedLoss, SquaredError

    ones = np.ones(4, dtype=np.int64)
    columns = Columns(np.arange(4, dtype=np.int32)[None, :], np.zeros(1, dtype=np.int64), ((),))
    costs = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    with compiling("greedy trees"):
        for criterion in (ListedLoss(costs, np.eye(2)), SquaredError(costs, np.ones(4))):
            grow(columns, columns.order(), Sample(ones, ones), criterion, Rules(1)).apply(
                columns.codes
            )
        lots = (0, 4, np.zeros(1, dtype=np.int64), costs, ones, ones, 4, 4, 1, 0, 0)
        kernels.true_sides(columns.codes, columns.order(), *lots)
    _compiled = True
