r"""`dantzig-wolfe`: column generation over the prunings of single trees.

The decomposition is that of Dantzig and Wolfe (1960), for pruning with feature costs by Nan, Wang,
Saligrama (ICML 2016).

The master programme chooses a convex combination of known prunings for every tree, and buys what
they need. Its duals are prices, for which the best pruning of each tree is computed by itself. That
pruning is a new column if it is better than those the tree has. Every round gives a Lagrangian
bound in integers (`engines.decomposition.coupling`), and an incumbent: the best pruning that needs
only what the master buys at least half of.

The closure programme behind it is totally unimodular: at an optimum of the master with the value v,
each level set of W is an optimal choice of purchases. So the incumbent has the value v too, and
bound and incumbent meet. Nothing is called optimal before that.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from milp_trees.common.errors import DataError, Unsupported
from milp_trees.common.limits import Limits, Stopped
from milp_trees.common.registering import register
from milp_trees.engines.kit.compile import compile_once
from milp_trees.methods.claims import Claims
from milp_trees.methods.finish import Clock, versions
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.view import NodeGains
from milp_trees.results.result import Limit, Result

if TYPE_CHECKING:
    from milp_trees.models.ensemble import Ensemble
    from milp_trees.problems.problem import Problem
    from milp_trees.pruning.engines.dantzig_wolfe.master import Master, MasterPoint
    from milp_trees.pruning.engines.dantzig_wolfe.run import PricingRun

#: A tree's pruning becomes a new column if it is better by more than so many units and by more than
#: this share of the largest objective.
REDUCED_COST, RELATIVE = 1e-6, 1e-13

#: Memory of a master programme per nonzero of its first columns, as measured on 100 trees with 4.8
#: million of them.
BYTES = 1000


class Decomposition(Method):
    """The common part of both decompositions: the space, the view, and where trees are priced."""

    space: ClassVar[type] = PrunedEnsembles
    needs: ClassVar[type | tuple[type, ...]] = NodeGains
    libraries: ClassVar[tuple[str, ...]] = ("numpy", "numba", "highspy", "networkx")

    jobs: int
    merge: bool
    cluster: Any

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise DataError(
                f"{self.name}:jobs is a number of threads of at least 1; got {self.jobs}."
            )

    def unsupported_view(self, problem: Problem) -> str | None:
        if problem.view(NodeGains).budget is not None:
            return f"{self.name} takes no budget (max_cost); ip3-closure does."
        return None

    def warm_up(self) -> None:
        """Compile the kernels; load HiGHS and joblib."""

        def work() -> None:
            from milp_trees.pruning.engines.dantzig_wolfe import coupling, master, pricing, run  # noqa: F401

            pricing.warm_up()
            coupling.warm_up()

        compile_once("the pricing of trees", work)

    def search(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None
    ) -> Result:
        clock = Clock()
        run, more = self._run(problem, limits, start, progress, clock)
        run.report()
        view = run.view
        return run.result(
            problem.space.ensemble.pruned(run.keep),  # type: ignore[attr-defined]
            view.to_value(run.value if run.closed and view.exact else run.bound),
            proven=run.closed,
            **more,
        )

    def _run(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None, clock: Clock
    ) -> tuple[PricingRun, dict[str, Any]]:
        """The rounds, from a given pruning, and further fields of the Result."""
        from milp_trees.pruning.engines.dantzig_wolfe.coupling import coupled
        from milp_trees.pruning.engines.dantzig_wolfe.run import PricingRun, place_for

        with clock("prepare"):
            view = problem.view(NodeGains)
            parts = coupled(view, self.merge)
            place = place_for(parts, max(self.jobs, limits.threads), self.cluster)
            run = PricingRun(view, parts, place, limits, progress, problem, self.label, clock)
            if start is not None:
                run.take(start.kept)
        try:
            with clock("solve"):
                return run, self.solve(run, limits)
        finally:
            place.close()

    @abstractmethod
    def solve(self, run: PricingRun, limits: Limits) -> dict[str, Any]:
        """Do the rounds, and return further fields of the Result."""


@register
@dataclass(frozen=True)
class DantzigWolfe(Decomposition):
    """Column generation over the prunings of single trees.

        Parameters
        ----------
        Threads that price trees; there are more if the limits allow more.
    merge : bool, default=True
        Purchases that the same splits need are joined, and what a single split needs becomes its
        own cost; this makes the master far smaller. Off: the master of the paper, with one row for
        every tree, feature and row of data.
    cluster : str or distributed.Client, default=""
        A Dask cluster that prices the trees instead: the address of its scheduler, as in
            `dantzig-wolfe:cluster=tcp://host:8786`, or a client.

        Examples
        --------
        >>> from milp_trees.pruning.engines.dantzig_wolfe.method import DantzigWolfe
        >>> DantzigWolfe(jobs=2).label
        'dantzig-wolfe:jobs=2'
    """

    name: ClassVar[str] = "dantzig-wolfe"  # type: ignore[misc]
    title: ClassVar[str] = "Column generation over prunings of single trees, master on HiGHS"
    shared_components: ClassVar[frozenset[str]] = frozenset({"closure", "@highs"})
    verification_rank: ClassVar[int] = 60
    proves: ClassVar[bool] = True

    jobs: int = 1
    merge: bool = True
    cluster: Any = ""

    def prove(self, problem: Problem, result: Result, limits: Limits) -> Claims:
        """A flow from the duals of the last rounds, which begin with the pruning of the result.

        Purchases are joined for it, whether the run joined them or not: the optimum is the same.
        """
        from milp_trees.pruning.engines.dantzig_wolfe.flows import flow_at

        start = cast("Ensemble", result.predictor)
        run, _ = replace(self, merge=True)._run(problem, limits, start, None, Clock())
        return flow_at(run.view, run.best_links, int(run.view.Z(start.kept)), run.check)

    def solve(self, run: PricingRun, limits: Limits) -> dict[str, Any]:
        from milp_trees.pruning.engines.dantzig_wolfe.master import Master, n_rows

        _check_size(self.name, run.coupled.n_links + 2 * len(run.coupled.above), limits)
        masters: list[Master] = []

        def rounds() -> None:
            run.check()  # building a master of millions of rows takes seconds, and gigabytes
            if (
                limits.memory_mb is not None
                and run.coupled.n_links * BYTES > limits.memory_mb * 2**20
            ):
                raise Stopped(Limit.MEMORY)
            masters.append(Master(run.coupled, limits.seed))
            run.check()
            _rounds(run, masters[0])

        run.attempt(rounds)
        columns = masters[0].n_columns if masters else 0
        sizes = {
            **run.sizes,
            "columns": columns,
            "master_rows": n_rows(run.coupled),
            "master_purchases": run.coupled.n_purchases,
        }
        message = ""
        if run.limit is None and not run.closed:
            message = (
                f"No tree has a better pruning at the prices of the master, but they leave a gap of {float(run.value - run.bound):.3g} whole units of costs that "
                f"add up to {run.coupled.total:.3g}: more digits than HiGHS tells apart. Round prices, weights and lam to fewer digits, or use min-cut."
            )
        return {
            "limit": run.limit,
            "model_size": sizes,
            "message": message,
            "versions": versions(highs=masters[0].version if masters else ""),
        }


def _rounds(run: PricingRun, master: Master) -> None:
    """Repeat: price, add columns, solve the master.

    It ends when bound and incumbent meet, or no tree has a better pruning.
    """
    trees = np.arange(run.coupled.n_trees)
    links, pairs = run.coupled.fair_duals()
    point: MasterPoint | None = None
    master.add(trees, np.zeros(run.view.n_nodes, dtype=bool))
    master.add(trees, run.keep)
    tolerance = REDUCED_COST + RELATIVE * run.coupled.total
    while True:
        _, values, keep, rest = run.price(links, pairs)
        if point is None:
            run.buy(rest <= 0)
        run.take(keep)
        run.report()
        if run.closed:
            return
        better = trees if point is None else np.flatnonzero(values < point.trees - tolerance)
        if not master.add(better, keep) and point is not None:
            return
        point = master.solve(run.watch.deadline.left)
        if point is None:
            raise Stopped(Limit.TIME)
        run.buy(point.W > 0.5)
        links, pairs = point.links, point.pairs


def _check_size(name: str, nonzeros: int, limits: Limits) -> None:
    if limits.nonzeros is not None and nonzeros > limits.nonzeros:
        raise Unsupported(
            f"{name} would begin with a master programme of {nonzeros:,} nonzeros, where at most {limits.nonzeros:,} are built; raise --max-nonzeros "
            "(max_nonzeros=), use min-cut, or use fewer trees or rows."
        )
