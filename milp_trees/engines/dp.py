"""`dp`: exact search over sets of rows, for tasks that are sums of action costs, with or without a
depth limit.

The best tree of depth d on a set of rows is the best leaf, or the best root test with the best
trees of depth d - 1 on both sides. Sets are remembered under collision-safe keys; the last two
levels are evaluated for all pairs of tests at once from counts over bit-packed rows, one child
counted and the other one derived (Demirović et al. 2022, *MurTree*; Aglin, Nijssen, Schaus 2020,
*DL8.5*; van der Linden, de Weerdt, Demirović 2023, *STreeD*). With a penalty per leaf or split no
depth limit is needed (Lin et al. 2020, *GOSDT*). Any number of actions and any integer costs,
smallest leaves by rows and by weight; limits on the number of leaves go to `sizes.fronts`.

A run that is stopped keeps its tree and an honest bound. All arithmetic is in integers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.compiling import compiling
from milp_trees.engines.dynamic.switches import Switches
from milp_trees.errors import DataError, SolverFailure, Unsupported
from milp_trees.limits import Limits, Stopped
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress, Trace
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.registering import register
from milp_trees.results.result import Limit, Result
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.engines.dynamic.arrays import Instance
    from milp_trees.engines.dynamic.runs import Outcome
    from milp_trees.problem import Problem

ORDERS = ("auto", "depth-first", "best-first", "limited-discrepancy")
TIES = ("auto", "fewest-leaves", "first")
#: Bytes of the table when the caller gives no memory limit.
_TABLE_BYTES = 2**30


@register
@dataclass(frozen=True)
class DynamicProgramme(Switches, Method):
    """Exact search over sets of rows.

    Parameters
    ----------
    order : {"auto", "depth-first", "best-first", "limited-discrepancy"}
        Order in which root tests are searched: by their first score to the end; always the one with
        the lowest bound, in steps, so that the bound rises steadily; or first with few departures
        from the best-scored tests. `auto` is best-first where splits or leaves cost something, else
        depth-first.
    ties : {"auto", "fewest-leaves", "first"}
        Which of several optimal trees: one with the fewest leaves, or the first found. `auto` is
        `fewest-leaves` where leaves or splits cost something.
    lookahead : int, default=0
        If positive a heuristic: every split is the root of an optimal tree of at most this depth on
        the rows it sees. Never called optimal.
    merge_rows, drop_tests : bool, default=True
        Presolve: equal rows become one, which carries the equivalent-points bound; constant, equal
        and complementary tests go.
    cache, cache_two, similarity, per_test, sibling, larger_first, gini, look_ahead, smaller_counted : bool, default=True
        Techniques of the search (`engines.dynamic.switches.Switches`); the optimum never depends on
        them. `larger_first` is the larger side first where splits are free and the smaller one
        where they cost something; off, the other way round.

    References
    ----------
    See the module.
    """

    name: ClassVar[str] = "dp"  # type: ignore[misc]
    title: ClassVar[str] = "Exact search over sets of rows, compiled"
    effort: ClassVar[int] = 10
    takes_any_depth: ClassVar[bool] = True
    default_rank: ClassVar[int | None] = 20
    judge_rank: ClassVar[int | None] = 10
    takes_min_weight: ClassVar[bool] = True

    order: str = "auto"
    ties: str = "auto"
    lookahead: int = 0
    merge_rows: bool = True
    drop_tests: bool = True

    def __post_init__(self) -> None:
        for name, allowed in (("order", ORDERS), ("ties", TIES)):
            if getattr(self, name) not in allowed:
                raise DataError(
                    f"dp:{name} is one of {', '.join(allowed)}; got {getattr(self, name)!r}."
                )
        if self.lookahead < 0:
            raise DataError(
                f"dp:lookahead is a depth of at least 1, or 0 for an exact search; got {self.lookahead}."
            )

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether it proves what it returns."""
        return self.lookahead == 0

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.view(CostMatrix)
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            return "dp takes penalties and test costs of at least 0; some are negative."
        space = problem.trees
        if space.limits_leaves and self.lookahead:
            return "dp:lookahead takes no largest number of leaves; dp without it does."
        return self._too_large(problem, view)

    def _too_large(self, problem: Problem, view: CostMatrix) -> str | None:
        """The sentence that sums for all pairs of tests, costs or the depth are too large, or None.
        Problems far from all three cost no time here.
        """
        from milp_trees.engines.dynamic.arrays import INFINITY, MOST_BYTES, UNLIMITED

        space = problem.trees
        sums = 3 * (view.n_actions + 1) * (view.n_features + 32) ** 2
        if (
            view.ranked is not None and 2 * sums > MOST_BYTES
        ):  # thresholds that are all different: presolve drops none, and would make them a matrix
            return f"dp keeps sums for all pairs of tests; {view.n_features} tests are too many. Use dp-sorted, or fewer thresholds."
        costs = float(view.regret.sum(dtype=float)) * 16 * view.n_rows
        if 8 * sums < MOST_BYTES and costs < INFINITY and (space.max_depth or 0) < UNLIMITED:
            return None
        try:
            instance, whole = (
                problem.presolved_view(self.merge_rows, self.drop_tests),
                not self.lookahead,
            )
            if space.limits_leaves:
                from milp_trees.engines.sizes.limits import prepare_sizes

                prepare_sizes(instance, space)
            elif whole:
                _Run(self, instance, space, Limits(), None, None).prepare()
        except Unsupported as why:
            return str(why)
        return None

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        with clock("prepare"):
            view = problem.presolved_view(self.merge_rows, self.drop_tests)
        run = _Run(self, view, problem.trees, limits, start, progress)
        clock.begin += run.load()
        with clock("prepare"):
            run.prepare()
        clock.begin += run.compile()
        watch = Watch(limits, clock.begin, problem)
        with clock("solve"):
            run.begin(clock.begin, watch)
            run.go()
        clock.begin += run.compiling
        clock.times["solve"] -= run.compiling
        infeasible = run.tree is None and run.limit is None
        return finish(
            problem,
            self.label,
            run.tree,
            bound=None if infeasible or not self.exact else view.to_value(run.bound),
            claims_optimal=self.exact and run.limit is None,
            proved_by=self.label,
            clock=clock,
            limit=run.limit,
            infeasible=infeasible,
            model_size=run.sizes,
            trace=run.trace,
            watch=watch,
        )


class _Run:
    """One run on one view: incumbent, bound, trace."""

    def __init__(
        self,
        method: DynamicProgramme,
        view: CostMatrix,
        space: Trees,
        limits: Limits,
        start: Tree | None,
        progress: Progress | None,
    ) -> None:
        self.method, self.view, self.space, self.limits = method, view, space, limits
        self.start = None if start is None else view.canonical(start)
        self.tree: Tree | None = None
        self.value: int | None = None
        # What no tree can avoid: the cheapest action of every row, and one leaf.
        self.bound = int(view.base.sum()) + view.leaf_cost
        self.limit: Limit | None = None
        self.sizes: dict[str, int] = {}
        self.trace = Trace(progress)
        self.began = time.perf_counter()
        self.whole: Instance | None = None
        #: Seconds of compilation during the search, which it is not charged.
        self.compiling = 0.0
        self.penalised = bool(
            view.leaf_cost or (view.split_costs.min(initial=1) > 0 and view.n_features)
        )

    def load(self) -> float:
        """Load numba; returns the seconds it took, which no run is charged."""
        began = time.perf_counter()
        if not self.space.limits_leaves:
            from milp_trees.engines.dynamic import runs  # noqa: F401
        return time.perf_counter() - began

    def prepare(self) -> None:
        """The arrays of the search."""
        if not self.space.limits_leaves and not self.method.lookahead:
            self.whole = self.instance(self.view, self.space)

    def compile(self) -> float:
        """Compile what this run needs; returns the seconds it took, which no run is charged."""
        return warm_up(self.whole) if self.whole else 0.0

    def instance(self, view: CostMatrix, space: Trees) -> Instance:
        from milp_trees.engines.dynamic.arrays import prepare

        ties = self.method.ties
        return prepare(
            view,
            space,
            fewest_leaves=ties == "fewest-leaves" or (ties == "auto" and self.penalised),
        )

    def begin(self, began: float, watch: Watch | None = None) -> None:
        """Set the clock; the watch is asked several times a second whether a limit was reached."""
        self.began, self.watch = began, watch

    def go(self) -> None:
        if self.start is not None:
            self.keep(self.view.objective(self.start), self.start)
        if self.method.lookahead:
            self.look_ahead()
        elif self.space.limits_leaves:
            self.fronts()
        else:
            self.exact()
        if self.limit is None and self.tree is not None and self.method.exact:
            assert self.value is not None
            self.bound = self.value
            self.note()

    # -- ways to search --------------------------------------------------------------------------------------

    def exact(self) -> None:
        from milp_trees.engines.dynamic.arrays import INFINITY

        inst = self.whole or self.instance(self.view, self.space)
        upper = INFINITY
        if self.start is not None and self.value is not None:
            upper = (self.value - inst.constant) * inst.unit + (
                self.start.n_leaves if inst.unit > 1 else 0
            )

        def report(value: int, tests: np.ndarray | None, bound: int) -> None:
            self.bound = max(self.bound, inst.to_Z(bound))
            if tests is not None and (self.value is None or inst.to_Z(value) < self.value):
                self.value = inst.to_Z(value)
            self.note()

        outcome = self.search(inst, upper, report)
        self.bound = (
            max(self.bound, inst.to_Z(outcome.bound)) if outcome.bound < INFINITY else self.bound
        )
        self.limit, self.sizes = (
            outcome.limit,
            {"rows": self.view.n_rows, "tests": self.view.n_features, **outcome.counters},
        )
        if outcome.tests is not None and outcome.value < upper:
            self.tree = tree_of(outcome.tests, self.view)
            self.value = self.view.objective(self.tree)
            if self.value > inst.to_Z(outcome.value):
                raise SolverFailure(
                    f"dp found the value {inst.to_Z(outcome.value)}, but its tree has {self.value}. Please report this problem."
                )

    def search(self, inst: Instance, upper: int, report: Any) -> Outcome:
        from milp_trees.engines.dynamic.runs import Search

        method, order = self.method, self.method.order
        if order == "auto":
            order = "best-first" if self.penalised else "depth-first"
        memory = (
            _TABLE_BYTES if self.limits.memory_mb is None else self.limits.memory_mb * 2**19
        )  # half of what is allowed
        return Search(inst, method, order, max(1, self.limits.threads), memory, report).solve(
            upper=upper, watch=self.watch
        )

    def fronts(self) -> None:
        from milp_trees.engines.sizes.fronts import solve_sizes

        def progress(values: Any) -> None:
            found = [Z for Z in values if Z is not None]
            if found and (self.value is None or min(found) < self.value):
                self.value = min(found)
                self.note()

        memory: dict[str, Any] = (
            {} if self.limits.memory_mb is None else {"memory_bytes": self.limits.memory_mb * 2**19}
        )
        fronts = solve_sizes(self.view, self.space, self.watch, progress=progress, **memory)
        self.compiling = fronts.compiling
        last = fronts.sizes[-1]
        self.limit, self.sizes = fronts.limit, dict(fronts.counters)
        self.bound = max(self.bound, last.bound)
        if (
            last.tree is not None
            and last.Z is not None
            and (self.tree is None or self.view.objective(self.tree) >= last.Z)
        ):
            self.tree, self.value = last.tree, last.Z

    def look_ahead(self) -> None:
        """Split by split, each the root of an optimal tree of limited depth."""
        root = self._grown(self.view, self.space.max_depth)
        if root is None:
            return
        tree = Tree(root, self.view.actions)
        if self.value is None or self.view.objective(tree) < self.value:
            self.keep(self.view.objective(tree), tree)

    def _grown(self, view: CostMatrix, depth: int | None) -> Node | None:
        """The tree on some rows; None if they are too few for a leaf."""
        ahead = self.method.lookahead if depth is None else min(self.method.lookahead, depth)
        inst = self.instance(view, replace(self.space, max_depth=ahead))
        outcome = self.search(inst, 2**62, None)
        self.limit = self.limit or outcome.limit
        if outcome.tests is None:
            return None
        root = tree_of(outcome.tests, view).root
        if isinstance(root, Leaf) or self.limit:
            return root
        true = view.X[:, view.index[root.test]] == 1
        below = None if depth is None else depth - 1
        left, right = (self._grown(_part(view, side), below) for side in (~true, true))
        assert left is not None
        assert right is not None
        return Branch(root.test, left, right)

    # -- what has been found ---------------------------------------------------------------------------------

    def keep(self, Z: int, tree: Tree) -> None:
        self.value, self.tree = Z, tree
        self.note()

    def note(self) -> None:
        """A point of the trace."""
        if self.value is None:
            return
        self.trace.add(
            time.perf_counter() - self.began,
            float(self.view.to_value(self.value)),
            float(self.view.to_value(min(self.bound, self.value))),
        )


def _part(view: CostMatrix, kept: np.ndarray) -> CostMatrix:
    """Some rows of a view."""
    return replace(
        view,
        X=np.ascontiguousarray(view.X[kept]),
        costs=view.costs[kept],
        counts=view.counts[kept],
        rows=view.rows[kept],
        row_weight=None if view.row_weight is None else view.row_weight[kept],
    )


def tree_of(tests: np.ndarray, view: CostMatrix) -> Tree:
    """The tree with these tests in preorder (-1: a leaf), each leaf with its cheapest action;
    leaves of one action below a split are joined.
    """
    order: Iterator[int] = iter(tests.tolist())

    def grow(rows: np.ndarray) -> Node:
        f = next(order)
        if f < 0:
            return Leaf(int(view.costs[rows].sum(axis=0).argmin()))
        true = view.X[rows, f] == 1
        left, right = grow(rows[~true]), grow(rows[true])
        return (
            left
            if isinstance(left, Leaf) and left == right
            else Branch(view.features[f], left, right)
        )

    return Tree(grow(np.arange(view.n_rows)), view.actions)


def solve_view(
    view: CostMatrix, space: Trees, watch: Watch | None = None, ties: str = "auto"
) -> tuple[int, Tree] | tuple[None, None]:
    """Optimum of a view without side rows.

    Parameters
    ----------
    view : CostMatrix
        As the task gives it or reduced.
    watch : Watch, optional
        Says when to give up.
    ties : str
        See `DynamicProgramme`.

    Returns
    -------
    Z : int
        Integer objective; None if no tree is feasible.
    tree : Tree

    Raises
    ------
    Stopped
        The watch ended the search before the optimum was proven.
    """
    if view.side:
        raise ValueError("The dynamic programme takes no side constraints; use state-flow.")
    method = DynamicProgramme(ties=ties)
    run = _Run(method, view.reduce(), space, Limits(time=None), None, None)
    run.prepare()
    run.compile()
    run.begin(time.perf_counter(), watch)
    run.go()
    if run.limit is Limit.INTERRUPTED:
        raise KeyboardInterrupt
    if run.limit is not None:
        raise Stopped(run.limit)
    return (None, None) if run.tree is None or run.value is None else (run.value, run.tree)


_warm: set[tuple[bool, str, bool, bool, bool]] = set()


def warm_up(instance: Instance) -> float:
    """Compile or load the kernels for an instance's kind, once per process; returns the seconds it
    took.
    """
    began = time.perf_counter()
    kind = (instance.depth <= 2, *instance.kernel_kind)
    if kind not in _warm:
        from milp_trees.engines.dynamic.buffers import kernels_of
        from milp_trees.engines.dynamic.warm import compile_search

        with compiling("the exact search"):
            compile_search(instance.depth)
            kernels_of(instance)
        _warm.add(kind)
    return time.perf_counter() - began
