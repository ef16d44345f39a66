"""`scipy-milp`: SciPy's `milp`, which runs a HiGHS of its own and reports when it ends."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from milp_trees.plugins import (
    Answer,
    Availability,
    Event,
    Job,
    Limit,
    Solver,
    SolverFailure,
    Status,
    register,
)

#: Options of `scipy.optimize.milp` that a user may set.
OPTIONS = {"presolve"}


@register
class ScipyMilp(Solver):
    """`scipy.optimize.milp`."""

    name: ClassVar[str] = "scipy-milp"
    title: ClassVar[str] = "SciPy's milp"
    capabilities: ClassVar[frozenset[str]] = frozenset(
        {"lp", "mip", "general-integers", "continuous"}
    )
    # What it runs is the same program: neither can confirm what the other claims.
    shared_components: ClassVar[frozenset[str]] = frozenset({"highs"})
    install: ClassVar[str] = "pip install scipy"
    cannot_stop: ClassVar[str] = "SciPy's milp takes no callback, so it ends at its time limit."
    notes: ClassVar[str] = "reports neither a trace nor a log"

    def availability(self) -> Availability:
        return Availability(True, version=importlib.metadata.version("scipy"))

    def solve(self, job: Job, emit: Callable[[Event], None], stop: Callable[[], bool]) -> Answer:
        from scipy.optimize import Bounds, LinearConstraint, milp

        unknown = set(job.options) - OPTIONS
        if unknown:
            raise SolverFailure(
                f"scipy-milp has no option {min(unknown)!r}; it has {', '.join(sorted(OPTIONS))}."
            )
        m = job.model
        limits: dict[str, Any] = {"mip_rel_gap": job.limits.rel_gap, **job.options}
        if job.limits.time is not None:
            limits["time_limit"] = job.limits.time
        found = milp(
            m.c,
            integrality=np.zeros(len(m.c)) if job.relax else m.integer.astype(int),
            bounds=Bounds(m.lower, m.upper),
            constraints=LinearConstraint(m.A, m.row_lower, m.row_upper),
            options=limits,
        )
        return self.answer(job, found)

    def answer(self, job: Job, found: Any) -> Answer:
        """SciPy's statuses: 0 optimal, 1 the time limit, 2 infeasible, 3 unbounded, 4 anything else."""
        m, x = job.model, found.x
        dual = getattr(found, "mip_dual_bound", None)
        bound = None if dual is None or not np.isfinite(dual) else float(dual) + m.offset
        if found.status == 0:
            value = float(found.fun) + m.offset
            whole = job.relax or not m.integer.any()
            return Answer(
                Status.OPTIMAL,
                x=x,
                objective=value,
                bound=value if whole else bound,
                nodes=getattr(found, "mip_node_count", None),
            )
        if found.status == 2:
            return Answer(Status.INFEASIBLE)
        if found.status == 1:
            status = Status.NO_SOLUTION if x is None else Status.FEASIBLE
            value = None if x is None else float(found.fun) + m.offset
            return Answer(
                status, Limit.TIME, x, value, bound, nodes=getattr(found, "mip_node_count", None)
            )
        raise SolverFailure(f"scipy-milp: {found.message}")
