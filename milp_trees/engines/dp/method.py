"""`dp`: exact search over sets of rows, for tasks that are sums of action costs.

A depth limit is possible but not needed.

The best tree of depth d on a set of rows is the best leaf, or the best root test with the best
trees of depth d - 1 on both sides. Sets are remembered under keys that cannot collide. The last two
levels are evaluated for all pairs of tests at once, from counts over bit-packed rows; one child is
counted and the other one derived (Demirović et al. 2022, *MurTree*; Aglin, Nijssen, Schaus 2020,
*DL8.5*; van der Linden, de Weerdt, Demirović 2023, *STreeD*). With a penalty per leaf or split no
depth limit is needed (Lin et al. 2020, *GOSDT*). It takes any number of actions, any integer costs,
and smallest leaves by rows and by weight; limits on the number of leaves are left to
`by_leaves.fronts`.

A run that is stopped keeps its tree and a valid bound. All arithmetic is in integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limits, Stopped
from milp_trees.common.registering import register
from milp_trees.engines.dp.run import DpRun
from milp_trees.engines.dp.switches import Options
from milp_trees.methods.claims import Claims
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.loss_units import LossUnits
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.methods.work import Sizes
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.results.result import Limit, Result, Status
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


#: Seconds per row and combination of tests along a path, and how many times as long trees of every
#: number of leaves take, and sums of numbers, where leaves choose among no actions.
PACE, FRONTS, NUMBERS = 5e-13, 20, 60
#: Largest size of the sums for all pairs of tests where thresholds are open.
OPEN_BYTES = 2**28


@register
@dataclass(frozen=True)
class DynamicProgramme(Options, Method):
    """Exact search over sets of rows.

    Parameters
    ----------
    order : {"auto", "depth-first", "best-first", "limited-discrepancy"}
        Order in which root tests are searched. "depth-first": each is searched to its end, by its
        first score. "best-first": the one with the lowest bound is searched next, in steps, so the
        bound rises steadily. "limited-discrepancy": trees with few departures from the best-scored
        tests come first. `auto` is best-first if splits or leaves have a cost, and otherwise
        depth-first.
    ties : {"auto", "fewest-leaves", "first"}
        Which of several optimal trees is returned: one with the fewest leaves, or the first found.
        `auto` is `fewest-leaves` if leaves or splits have a cost.
    lookahead : int, default=0
        If positive, the method is a heuristic: every split is the root of an optimal tree of at
        most this depth on its rows. The result is never called optimal.
    merge_rows, drop_tests : bool, default=True
        Presolve: equal rows are merged, which gives the equivalent-points bound; constant, equal
        and complementary tests are dropped.
    cache, cache_two, similarity, per_test, sibling, larger_first, gini, look_ahead, smaller_counted, nested : bool, default=True
        Techniques of the search (`milp_trees.engines.dp.switches.Switches`); the optimum does not depend
        on them. With `larger_first` the larger side is searched first if splits have no cost, and
        the smaller one if they have; off, it is the other way round.

    References
    ----------
    See the module.
    """

    name: ClassVar[str] = "dp"  # type: ignore[misc]
    title: ClassVar[str] = "Exact search over sets of rows, compiled"
    needs: ClassVar[tuple[type, ...]] = (CostMatrix, LeafSums)
    verification_rank: ClassVar[int] = 10
    takes_any_depth: ClassVar[bool] = True
    default_rank: ClassVar[int | None] = 20
    reference_rank: ClassVar[int | None] = 10
    takes_min_weight: ClassVar[bool] = True
    takes_min_treatment: ClassVar[bool] = True
    proves: ClassVar[bool] = True

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether it proves what it returns."""
        return self.lookahead == 0

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.first_view(self.needs)
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            return "dp takes penalties and test costs of at least 0; some are negative."
        space = problem.trees
        if space.limits_leaves and self.lookahead:
            return "dp:lookahead takes no largest number of leaves; dp without it does."
        return self._too_large(problem, view)

    def expected_seconds(self, sizes: Sizes) -> float:
        if _bytes_of_pairs(sizes.tests, sizes.actions) > OPEN_BYTES:
            return math.inf
        sums = max(1, sizes.actions - 1) if sizes.actions else NUMBERS
        pairs = sizes.rows * sums * float(sizes.tests) ** sizes.depth
        return PACE * pairs * (FRONTS if sizes.few_leaves else 1) if self.exact else 0.0

    def _too_large(self, problem: Problem, view: LeafSums) -> str | None:
        """The sentence that pair sums, costs or the depth are too large, or None.

        For problems far from all three limits this takes no time.
        """
        from milp_trees.engines.dp.arrays import MOST_BYTES, UNLIMITED, surely_fits

        space = problem.trees
        sums = _bytes_of_pairs(view.n_features, view.sums.shape[1])
        if (
            view.ranked is not None and sums > MOST_BYTES
        ):  # all thresholds are different: presolve drops none, and would make them a matrix
            return f"dp keeps sums for all pairs of tests; {view.n_features} tests are too many. Use dp-sorted, or fewer thresholds."
        if surely_fits(view) and (space.max_depth or 0) < UNLIMITED:
            return None
        try:
            instance, whole = (
                problem.presolved_view(self.merge_rows, self.drop_tests),
                not self.lookahead,
            )
            if space.limits_leaves:
                from milp_trees.engines.dp.by_leaves.limits import prepare_sizes

                prepare_sizes(instance, space)
            elif whole:
                DpRun(self, instance, space, Limits(), None, None).prepare()
        except Unsupported as why:
            return str(why)
        return None

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        with clock("prepare"):
            view = problem.presolved_view(self.merge_rows, self.drop_tests)
        run = DpRun(self, view, problem.trees, limits, start, progress)
        run.load()
        with clock("prepare"):
            run.prepare()
        run.compile()
        watch = Watch(limits, clock.begin, problem)
        with clock("solve"):
            run.begin(clock.begin, watch)
            run.go()
        infeasible = run.tree is None and run.limit is None
        return finish(
            problem,
            self.label,
            run.tree,
            bound=None if infeasible or not self.exact else view.to_bound(run.bound),
            claims_optimal=self.exact and run.limit is None,
            proved_by=self.label,
            clock=clock,
            limit=run.limit,
            infeasible=infeasible,
            model_size=run.sizes,
            trace=run.trace,
            watch=watch,
        )

    def prove(self, problem: Problem, result: Result, limits: Limits) -> Claims:
        if result.status is not Status.OPTIMAL or result.value is None:
            raise Unsupported("dp proves optima; this run was stopped before it had one.")
        view, space = problem.first_view(self.needs), problem.trees
        reduced, Z = problem.presolved_view(), view.objective(result.predictor)
        if space.limits_leaves and isinstance(view, LossSums):
            return _few_leaves(view, reduced, space, Z)
        if space.limits_leaves:
            from milp_trees.engines.dp.proofs.leaves import prove_few_leaves as prove
        else:
            from milp_trees.engines.dp.proofs.trees import prove_trees as prove
        return prove(view, reduced, space, Z, Watch(limits))


def _few_leaves(view: LossSums, reduced: LossSums, space: Trees, Z: int) -> Claims:
    """The one claim about a loss where the checker finds the best trees by itself."""
    depth, leaves = space.max_depth, space.max_leaf_nodes
    if (depth is None or depth > 3) and (leaves is None or leaves > 4):
        raise Unsupported(
            "dp proves losses with a largest number of leaves up to three levels or four leaves; leave out max_leaf_nodes for larger trees."
        )
    return LossUnits(view, reduced).single(Z, depth, leaves)


def _bytes_of_pairs(tests: int, actions: int) -> int:
    """Bytes of the sums for all pairs of tests."""
    return 6 * (actions + 1) * (tests + 32) ** 2


def solve_view(
    view: LeafSums, space: Trees, watch: Watch | None = None, ties: str = "auto"
) -> tuple[int, Tree] | tuple[None, None]:
    """Optimum of a view without side rows."""
    if view.side:
        raise ValueError("The dynamic programme takes no side constraints; use state-flow.")
    method = DynamicProgramme(ties=ties)
    run = DpRun(method, view.reduce(), space, Limits(time=None), None, None)
    run.prepare()
    run.compile()
    run.begin(run_clock(), watch)
    run.go()
    if run.limit is Limit.INTERRUPTED:
        raise KeyboardInterrupt
    if run.limit is not None:
        raise Stopped(run.limit)
    return (None, None) if run.tree is None or run.value is None else (run.value, run.tree)
