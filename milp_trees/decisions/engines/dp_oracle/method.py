r"""`dp-oracle`: exact search for decision trees whose leaves get their decision from an oracle.

These are the SPO trees; the decisions need not be listed.

Rows i have cost vectors :math:`v_i` (times weights) and a leaf with rows I loses
:math:`\varphi(I)=\zeta(I)-\sum_{i\in I}b_i` with :math:`\zeta(I)=z^*(\sum_{i\in I}v_i)`,
:math:`z^*(v)=\min_{w\in S}w^\top v` and :math:`b_i=z^*(v_i)` (Elmachtoub, Liang, McNellis 2020,
*Decision trees for decision-making under the predict-then-optimize framework*): a function of the
set of rows, additive over leaves. So the best tree of depth d on I is

.. math:: T(I,d)=\min\{\varphi(I)+\lambda,\ \min_f\ c_f+T(I_f,d-1)+T(I\setminus I_f,d-1)\}

with the penalties :math:`\lambda` per leaf and :math:`c_f` per split. The search uses these facts:

(a) *Superadditivity*: :math:`\zeta(I\cup J)\ge\zeta(I)+\zeta(J)` for disjoint I, J, because one w
    for both is also a possible choice for each alone. Hence
    :math:`\varphi(I\cup J)\ge\varphi(I)+\varphi(J)`, :math:`\varphi\ge0`, and splitting never
    increases the loss.
(b) *Pool*: :math:`\zeta(I)\le w^\top\sum_{i\in I}v_i` for every w in S. The decisions of the best
trees so far bound all splits of many sets from above by one
    product of matrices; the value is that of a tree, so it is a valid one to beat.
(c) *Nested sets*: :math:`T(I\cup R,d)\ge T(I,d)`: the best tree for the larger set is a tree for
the smaller one and loses, by (a) in every leaf, no more there.
    Smallest leaves break this, because that tree may have leaves that are too small on I; therefore
    every search returns two bounds, one for its own set, and one over trees with leaves of any
    size, and only the latter is used for other sets.
(d) *Similarity*: :math:`T(I,d)\ge T(I\cup R,d)-\sum_{i\in R}r_i` with the worst regret
    :math:`r_i=\max_{w\in S}w^\top v_i-b_i`: the rows R, added to the best tree for I,
    cost at most that much, whichever leaves they reach.
(e) *Intervals*: thresholds t of one column give nested sets. With L and H for the best losses of
the two sides, all splits with lo < t < hi lose at least
    :math:`L(lo)+H(hi)` by (c), and at least :math:`L(hi)+H(lo)-\sum_{lo<i\le hi}r_i` by (d) for
    both sides: the rows between are missing once on either side. (For classification such intervals
    are in Brița, van der Linden, Demirović 2025, *Optimal classification trees for continuous
    feature data*.)
(f) *Blocks*: rows with equal tests share every leaf, so they become one row with :math:`b=\zeta` of
the block; by (a) that is never less.

The last level is searched for many sets at once: sums of cost vectors over all tests are prefix
sums over histograms that grow along a column (:math:`O(npd)` for all thresholds of the root,
whatever their number), the open interval of every column of every set is halved, and the oracle is
asked about all middles in one batch. The last two levels work on batches of root thresholds in the
same way. Deeper levels go best first, one threshold at a time, and remember the bounds of sets of
rows. A run that is stopped keeps its tree, and as bound the least bound of the open sets.

Arithmetic is in floating point; differences below the view's tolerance count neither as an
improvement nor as a proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.decisions.engines.greedy_spo.method import GreedySPO
from milp_trees.engines.kit.compile import compile_once
from milp_trees.engines.kit.run import Run, infeasible, wrong_value
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.results.result import Result
from milp_trees.tasks.decision_view import LeafOracle

if TYPE_CHECKING:
    from milp_trees.decisions.engines.dp_oracle.instance import OracleInstance
    from milp_trees.decisions.engines.dp_oracle.search import OracleSearch
    from milp_trees.decisions.engines.dp_oracle.two_splits import Found, Shape
    from milp_trees.problems.problem import Problem


#: Searches of at least this depth begin with the greedy tree; shallower searches end before it
#: helps.
GREEDY_FIRST = 3


@register
@dataclass(frozen=True)
class OracleProgramme(Method):
    """Exact search over sets of rows with an oracle at the leaves.

    Parameters
    ----------
    pool : int, default=-1
        Number of decisions that are kept for upper bounds; -1 is 16 if the oracle's answers are
        worth remembering (`DecisionSet.cache_answers`), and otherwise 0.
    similarity, merge_rows : bool, default=True
        Bounds from supersets; merging of equal rows. The optimum does not depend on them.

    References
    ----------
    See the module.
    """

    name: ClassVar[str] = "dp-oracle"  # type: ignore[misc]
    title: ClassVar[str] = "Exact search with an oracle at the leaves, for trees that decide"
    verification_rank: ClassVar[int] = 10
    needs: ClassVar[type] = LeafOracle
    libraries: ClassVar[tuple[str, ...]] = ("numpy", "numba", "highspy", "networkx")
    # Even listed decisions are found faster through their oracle.
    default_rank: ClassVar[int | None] = 10
    reference_rank: ClassVar[int | None] = 20
    takes_min_weight: ClassVar[bool] = True

    pool: int = -1
    similarity: bool = True
    merge_rows: bool = True

    def __post_init__(self) -> None:
        if self.pool < -1:
            raise DataError(
                f"dp-oracle:pool is a number of decisions, or -1 for as many as pay; got {self.pool}."
            )

    def unsupported_view(self, problem: Problem) -> str | None:
        if problem.trees.limits_leaves:
            return "dp-oracle cannot limit the number of leaves; give max_depth or leaf_penalty, or use dp where the decisions are listed, and spot@highs where they are not."
        return None

    def warm_up(self) -> None:
        """Compile the sums, and the greedy tree with which deep searches begin."""
        GreedySPO().warm_up()

        def work() -> None:
            from milp_trees.decisions.engines.dp_oracle.tables import fill

            codes, one = np.zeros((1, 1), dtype=np.int32), np.zeros(1, dtype=np.int64)
            low, high, out = np.zeros((2, 5)), np.zeros((2, 5)), np.zeros((2, 2, 5))
            fill(one, codes, np.zeros((1, 5)), np.arange(2), 0, one, low, high, out)

        compile_once("the sums of cost vectors", work)

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        from milp_trees.decisions.engines.dp_oracle.instance import prepare

        clock = Clock()
        with clock("prepare"):
            view = problem.view(LeafOracle)
            pool = self.pool if self.pool >= 0 else 16 if view.decisions.cache_answers else 0
            inst = prepare(
                view, problem.dataset, problem.trees, pool, self.similarity, self.merge_rows
            )
        if not inst.may_be_leaf(inst.sums.sum(axis=0)):
            return infeasible(self.label, problem, clock)
        run = OracleRun(self.label, problem, limits, progress, clock)
        run.prepare(view, inst)
        with clock("solve"):
            run.solve(start)
            tree = run.tree()
        done = run.limit is None or run.best - run.lower <= view.step
        bound: Any = run.natural(run.lower)
        if done:
            value = problem.value(tree)
            bound = value.number if value.exact is None else value.exact
            if abs(float(bound) - run.natural(run.best)) > view.natural(float(view.step)):
                raise wrong_value(self.name, run.natural(run.best), value)
        sizes = {"rows": inst.n_rows, "tests": inst.n_features, **inst.counters}
        return run.result(tree, bound, proven=done, model_size=sizes)


class OracleRun(Run):
    """One run: the best tree and the bound."""

    def prepare(self, view: LeafOracle, inst: OracleInstance) -> None:
        """Begin without a tree."""
        self.view, self.inst = view, inst
        # A path has at most as many useful tests as are needed to separate all rows.
        self.depth = min(self.problem.trees.depth, max(0, inst.n_rows - 1))
        # Every level may lose this much on each of its sides by rounding.
        inst.eps = max(float(view.step) / 2 ** (min(self.depth, 40) + 2), inst.rounding)
        self.best, self.lower, self.shape = np.inf, 0.0, None
        self.start: Tree | None = None

    def solve(self, start: Tree | None) -> None:
        """Search the whole depth, from a leaf, a given tree or the greedy one."""
        from milp_trees.decisions.engines.dp_oracle.search import OracleSearch

        rows = np.arange(self.inst.n_rows)
        search = OracleSearch(self.inst, lambda: None)
        alone = search.solve(rows, 0, np.inf)
        self.report(alone.value, None, min(self.inst.leaf_cost, alone.value))
        if start is not None:
            self.begin_with(start)
        search.check = self.check
        found = self.attempt(lambda: self.search(search, rows, start is None))
        if found is not None:
            self.report(found.value, found.shape, found.own)
            # Nothing below `best` was found, so no better tree is left.
            self.lower = min(self.best, found.own)

    def search(self, search: OracleSearch, rows: np.ndarray, alone: bool) -> Found:
        """The best tree below the incumbent, which is the greedy one where none was given."""
        if alone and self.depth >= GREEDY_FIRST:
            self.begin_with(self.greedy())
        return search.solve(rows, self.depth, self.best, self.report)

    def begin_with(self, start: Tree) -> None:
        """Make a tree the incumbent if it is better than the present one."""
        loss = self.view.loss(start) - self.inst.constant
        if loss < self.best:
            self.report(loss, None, None)
            self.start = start

    def greedy(self) -> Tree:
        """The greedy tree, grown for at most a quarter of the time that is left."""
        left = self.watch.deadline.share(0.25).left
        before = self.view.decisions.calls
        found = GreedySPO().search(self.problem, Limits(time=left), None, None)
        self.inst.counters["oracle_calls"] += self.view.decisions.calls - before
        return found.tree

    def report(self, value: float, shape: Shape, lower: float | None) -> None:
        if value < self.best:
            self.best, self.shape, self.start = value, shape, None
        self.lower = max(self.lower, min(self.best, -np.inf if lower is None else lower))
        self.note(self.natural(self.best), self.natural(self.lower))

    def natural(self, loss: float) -> float:
        return self.view.natural(loss + self.inst.constant)

    # -- the tree --------------------------------------------------------------------------------------------

    def tree(self) -> Tree:
        """The best tree, with the oracle's decisions for the original rows."""
        from milp_trees.decisions.engines.dp_oracle.two_splits import leaf_sets

        if self.start is not None:
            return self.start
        parts = leaf_sets(self.inst, np.arange(self.inst.n_rows), self.shape)
        names, leaf = self.view.decided(
            np.array([self.inst.sums[rows, : self.inst.dimension].sum(axis=0) for rows in parts])
        )
        order = iter(leaf)

        def grow(shape: Shape) -> Node:
            if shape is None:
                return Leaf(next(order))
            low, high = grow(shape[1]), grow(shape[2])
            # Rows for which the test is true go right; sibling leaves with one decision are joined.
            return (
                low
                if isinstance(low, Leaf) and low == high
                else Branch(self.view.features[self.inst.test[shape[0]]], high, low)
            )

        return Tree(grow(self.shape), names)
