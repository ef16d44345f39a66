"""Growing one tree for decisions, on rows in the order of every coded column. Loads numba."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from milp_trees.common.compiling import interruptible
from milp_trees.common.limits import NEVER, Deadline
from milp_trees.decisions.engines.greedy_spo.columns import Columns
from milp_trees.decisions.engines.greedy_spo.criteria import (
    Criterion,
    ListedLoss,
    OracleLoss,
    SquaredError,
)
from milp_trees.decisions.engines.greedy_spo.kernels import Lots, Table, divide_at
from milp_trees.engines.kit.compile import compile_once
from milp_trees.methods.growing.grow import Entered, Grower, Split
from milp_trees.methods.growing.tree import GrownTree
from milp_trees.models.nodes import Branch, Node
from milp_trees.models.tree import Tree


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
    grower = SortedGrower(columns, order, sample, criterion, rules, rng)
    with interruptible():
        tree = grower.grow(rules.max_depth, rules.deadline)
    return replace(tree, rows=grower.rows)


class SortedGrower(Grower[tuple[int, int]]):
    """Scans rows in the order of every column; a node is the range of its rows."""

    def __init__(
        self,
        columns: Columns,
        order: np.ndarray,
        sample: Sample,
        criterion: Criterion,
        rules: Rules,
        rng: np.random.Generator | None,
    ) -> None:
        self.columns, self.order, self.criterion = columns, order, criterion
        self.rules, self.rng = rules, rng
        least = (rules.min_samples_leaf, rules.min_weight_leaf, rules.quantiles)
        self.table = Table(columns.codes, order, sample.counts, sample.row_weight, *least)
        n, p = columns.codes.shape[1], len(columns.tests)
        self.price = np.zeros(p) if rules.price is None else np.asarray(rules.price, dtype=float)
        self.everything, self.n_features = np.arange(p), columns.n_features
        self.goes_first, self.spare = np.empty(n, dtype=bool), np.empty(n, dtype=np.int32)
        #: Rows of every node.
        self.rows: list[np.ndarray] = []

    def root(self) -> tuple[int, int]:
        return 0, self.order.shape[1]

    def enter(self, part: tuple[int, int]) -> Entered:
        begin, end = part
        if len(self.order):
            rows = np.sort(self.order[0, begin:end])
        else:
            rows = np.flatnonzero(self.table.counts)
        self.rows.append(rows)
        return self.criterion.enter(rows)

    def divide(
        self, part: tuple[int, int], split: Split
    ) -> tuple[tuple[int, int], tuple[int, int]]:
        begin, end = part
        codes, room = self.columns.codes[split.column], (self.goes_first, self.spare)
        middle = divide_at(self.order, begin, end, codes, split.cut, *room)
        return (begin, middle), (middle, end)

    def best(self, part: tuple[int, int], node: Entered, levels: int) -> Split | None:
        """Best split of a node.

        If features are drawn, further features are tried one by one until one can be split on.
        """
        table, rules, rows = self.table, self.rules, self.rows[-1]
        n, weight = int(table.counts[rows].sum()), int(table.row_weight[rows].sum())
        lots = Lots(table, *part, n, weight, self.price)
        if rules.max_features is None or rules.max_features >= self.n_features:
            return self._on(self.everything, lots, node)
        assert self.rng is not None
        drawn = self.rng.permutation(self.n_features)
        for last in range(rules.max_features, len(drawn) + 1):
            first = 0 if last == rules.max_features else last - 1
            wanted = np.zeros(self.n_features, dtype=bool)
            wanted[drawn[first:last]] = True
            split = self._on(np.flatnonzero(wanted[self.columns.feature]), lots, node)
            if split is not None:
                return split
        return None

    def _on(self, columns: np.ndarray, lots: Lots, node: Entered) -> Split | None:
        """The best split on some columns."""
        return self.criterion.best(lots, columns, node.slack, node.data) if len(columns) else None


def grown_from(tree: Tree, columns: Columns) -> GrownTree:
    """A tree on tests of the columns as arrays, with rows in its nodes; losses are zeros."""
    place = {test: (c, k) for c, tests in enumerate(columns.tests) for k, test in enumerate(tests)}
    nodes: list[tuple[int, int, int]] = []
    rows: list[np.ndarray] = []
    stack: list[tuple[Node, np.ndarray, int]] = [(tree.root, np.arange(columns.codes.shape[1]), -1)]
    while stack:
        node, here, parent = stack.pop()
        t = len(nodes)
        rows.append(here)
        column, cut = place[node.test] if isinstance(node, Branch) else (-1, -1)
        nodes.append((column, cut, parent))
        if isinstance(node, Branch):
            true = columns.codes[column, here] <= cut
            stack += [(node.right, here[true], t), (node.left, here[~true], t)]
    return replace(GrownTree.of(nodes, np.zeros(len(nodes)), 0.0), rows=rows)


def compile_kernels() -> None:
    """Compile or load the kernels, once per process, on four rows; returns at once later."""
    compile_once("greedy trees", _grow_tiny)


def _grow_tiny() -> None:
    """A tree of one split by every criterion."""
    from milp_trees.decisions.listed import ListedDecisions

    ones = np.ones(4, dtype=np.int64)
    columns = Columns(np.arange(4, dtype=np.int32)[None, :], np.zeros(1, dtype=np.int64), ((),))
    costs = np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    for criterion in (
        ListedLoss(costs, np.eye(2)),
        OracleLoss(costs, np.zeros(4), ListedDecisions(np.eye(2))),
        SquaredError(costs, np.ones(4)),
    ):
        tree = grow(columns, columns.order(), Sample(ones, ones), criterion, Rules(1))
        tree.apply(columns.codes)
