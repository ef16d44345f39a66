"""`min-cut`: prunings of an ensemble by minimum cuts, for one λ or for all λ at once.

For one λ a flow is the certificate (see `milp_trees.pruning.engines.min_cut`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from milp_trees.common.errors import SolverFailure, Unsupported
from milp_trees.common.limits import Limits, collector_off
from milp_trees.common.registering import register
from milp_trees.engines.kit.compile import compile_once
from milp_trees.engines.kit.run import Run
from milp_trees.methods.claims import Claims
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.problems.questions import ByPrice
from milp_trees.pruning.engines.min_cut.curve import prune_curve
from milp_trees.pruning.engines.min_cut.stopped import unfinished
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.view import NodeGains
from milp_trees.results.result import Result, Status

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem
    from milp_trees.pruning.engines.min_cut.certificate import Links

#: Memory of a curve per first use, with a margin (measured: 21).
BYTES = 50
#: Seconds per first use for reading a pruning and its value after the search; the search is stopped
#: earlier by this time.
READING = 2e-7


@register
@dataclass(frozen=True)
class MinCut(Method):
    """Exact prunings by minimum cuts in integers.

    Parameters
    ----------
    cut : {"push-relabel", "ortools", "scipy", "networkx"}
        The program that solves the cuts: the compiled kernel, which gives a certificate too, or a
        library.
    merge : bool, default=True
        Join purchases that the same splits need; the optimum does not depend on it.

    Examples
    --------
    >>> from milp_trees.pruning.engines.min_cut.method import MinCut
    >>> MinCut(cut="ortools").label
    'min-cut:cut=ortools'
    """

    name: ClassVar[str] = "min-cut"  # type: ignore[misc]
    title: ClassVar[str] = "Minimum cut of the closure problem, for one λ or for all"
    shared_components: ClassVar[frozenset[str]] = frozenset({"closure"})
    verification_rank: ClassVar[int] = 10
    space: ClassVar[type] = PrunedEnsembles
    default_rank: ClassVar[int | None] = 60
    reference_rank: ClassVar[int | None] = 40
    needs: ClassVar[type | tuple[type, ...]] = NodeGains
    libraries: ClassVar[tuple[str, ...]] = ("numpy", "numba", "scipy", "networkx", "ortools")
    questions: ClassVar[frozenset[str]] = frozenset({"best", "by-price"})
    proves: ClassVar[bool] = True

    cut: str = "push-relabel"
    merge: bool = True

    def __post_init__(self) -> None:
        from milp_trees.pruning.engines.min_cut.libraries import cut_by

        cut_by(self.cut)

    def unsupported_view(self, problem: Problem) -> str | None:
        if problem.view(NodeGains).budget is not None:
            return (
                "min-cut takes no budget (max_cost): a minimum cut gives the corners of the hull only. ip3-closure proves an optimum; "
                "mt.prune_curve(problem).below(budget) gives the hull point below it."
            )
        return None

    def warm_up(self) -> None:
        """Compile the kernels."""

        def work() -> None:
            from milp_trees.pruning.engines.min_cut.frontier import warm_up

            warm_up()

        compile_once("the minimum cut", work)

    def search(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None
    ) -> Result:
        clock = Clock()
        with clock("prepare"):
            view = problem.view(NodeGains)
        needed = len(view.need) * BYTES // 2**20
        if limits.memory_mb is not None and needed > limits.memory_mb:
            raise Unsupported(
                f"{self.name} needs about {needed} MB for {len(view.need):,} first uses; raise --memory-limit (memory_mb=)."
            )
        limits = limits.after(READING * len(view.need))
        run = Run(self.label, problem, limits, progress, clock, fallback=False)
        if isinstance(problem.question, ByPrice):
            return self._path(run, view, start)
        with clock("solve"):
            found = run.attempt(lambda: self._best(view, run.watch))
        if found is None:
            return unfinished(problem, self.label, view, start, clock, run.limit)
        keep, sizes, proof = found
        best = problem.space.ensemble.pruned(keep)  # type: ignore[attr-defined]
        result = run.result(best, view.to_value(view.Z(keep)), model_size=sizes)
        checked = (*result.certificate.checked, proof)
        return replace(result, certificate=replace(result.certificate, checked=checked))

    def prove(self, problem: Problem, result: Result, limits: Limits) -> Claims:
        """A flow as large as the cut; for a curve one in every piece that disappears at once.

        Its items are `(split, amount)` to the split's parent and `(split, purchase, amount)`.
        """
        if result.status is not Status.OPTIMAL:
            raise Unsupported("min-cut proves optimal prunings; this run was stopped before.")
        from milp_trees.pruning.engines.min_cut.certificate import certify, certify_curve
        from milp_trees.pruning.engines.min_cut.closure import closure_of

        view, watch, curve = problem.view(NodeGains), Watch(limits), result.curve
        closure = closure_of(view, self.merge)

        def links(stop: np.ndarray) -> Links:
            if curve is not None:
                pairs = zip(curve.gains, curve.costs, strict=True)
                slopes = [Fraction(g, c) if c else None for g, c in pairs]
                return certify_curve(view, closure, curve.rank, slopes, stop)
            unit, price, _ = view.step
            flow = certify(view, closure, price, unit, stop)
            return flow.up, flow.up_amount, flow.node, flow.purchase, flow.amount

        up, up_amount, *bought = (column.tolist() for column in watch.beside(links))
        watch.check()
        with collector_off():  # a flow may have a hundred thousand amounts
            return Claims([*zip(up, up_amount, strict=True), *zip(*bought, strict=True)])

    def _best(self, view: NodeGains, watch: Watch) -> tuple[np.ndarray, dict[str, int], str]:
        """Splits to keep, sizes, and the name of the check."""
        from milp_trees.pruning.engines.min_cut.certificate import certify, check_certificate
        from milp_trees.pruning.engines.min_cut.closure import closure_of
        from milp_trees.pruning.engines.min_cut.libraries import cut_by

        unit, price, _ = view.step
        closure = closure_of(view, self.merge)
        watch.check()
        sizes = {
            "splits": closure.n_splits,
            "merged_purchases": closure.n_items - closure.n_splits,
            "arcs": closure.n_arcs,
        }
        if self.cut == "push-relabel":
            certificate = watch.beside(lambda stop: certify(view, closure, price, unit, stop))
            watch.check()
            check_certificate(view, certificate)
            return (
                certificate.keep,
                sizes,
                "a flow of the value of the cut, checked on every split and purchase",
            )
        weights = closure.weights(price, unit)
        side, capacity = cut_by(self.cut, watch.check)(closure, weights)
        keep = np.zeros(view.n_nodes, dtype=bool)
        keep[closure.splits[side[: closure.n_splits]]] = True
        won = unit * view.root_error - view.Z(keep)
        if won != int(np.maximum(weights, 0).sum()) - capacity:
            raise SolverFailure(
                f"The flow of {self.cut} has the value {capacity}, but the pruning it gives wins {won}; use cut=push-relabel."
            )
        return keep, sizes, f"the value of the pruning against that of the flow of {self.cut}"

    def _path(self, run: Run, view: NodeGains, start: Any) -> Result:
        """The whole curve; the model of the result is the optimum for the task's own λ."""
        problem, clock = run.problem, run.clock
        with clock("solve"):
            curve = run.attempt(lambda: prune_curve(problem, self.cut, self.merge, run.watch))
        if curve is None:
            return unfinished(problem, self.label, view, start, clock, run.limit)
        with clock("solve"):
            keep = curve.keep(view.lam)
        point, best = curve.at(view.lam), cast(Any, curve.pruned(view.lam))
        result = run.result(best, view.to_value(view.Z(keep)), model_size=curve.sizes)
        E, C = view.totals(keep)
        if (E * view.error_unit, C * view.cost_unit + view.cost_offset) != (
            point.error,
            point.cost,
        ):
            raise SolverFailure(
                "The curve's error and cost are not those of its pruning; please report this."
            )
        return replace(result, curve=curve)
