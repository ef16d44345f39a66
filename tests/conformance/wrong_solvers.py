"""Adapters that break the contract of solvers, and one that keeps it with few words. None is registered."""

from dataclasses import replace

from milp_trees.solvers.highs import Highs

from milp_trees.common.limits import Limits
from milp_trees.plugins import SolverFailure, Status


class Few(Highs):
    """It reads time limits and options, and nothing else of a job."""

    name = "few"
    capabilities = frozenset({"lp", "mip", "continuous", "general-integers"})

    def solve(self, job, emit, stop):
        job = replace(job, limits=Limits(time=job.limits.time, rel_gap=0.0), start=None)
        answer = super().solve(job, lambda event: None, stop)
        return replace(answer, log="", root_bound=None, nodes=None, duals=None)


class IgnoresStop(Highs):
    name = "ignores-stop"

    def solve(self, job, emit, stop):
        return super().solve(job, emit, lambda: False)


class IgnoresGaps(Highs):
    name = "ignores-gaps"

    def solve(self, job, emit, stop):
        exact = replace(job.limits, rel_gap=0.0, abs_gap=0.0)
        return super().solve(replace(job, limits=exact), emit, stop)


class KnowsNoGaps(Highs):
    """The status of a search that ended within its gaps is not mapped."""

    name = "knows-no-gaps"

    def solve(self, job, emit, stop):
        answer = super().solve(job, emit, stop)
        if answer.status is Status.OPTIMAL and answer.bound < answer.objective - 1:
            raise SolverFailure("code 14")
        return answer


class ClaimsOptimum(Highs):
    """A solution within the gaps is called the optimum itself."""

    name = "claims-optimum"

    def solve(self, job, emit, stop):
        answer = super().solve(job, lambda event: None, stop)
        return replace(answer, bound=answer.objective if answer.x is not None else answer.bound)


class IgnoresStarts(Highs):
    name = "ignores-starts"

    def solve(self, job, emit, stop):
        return super().solve(replace(job, start=None), emit, stop)


class AcceptsEveryStart(Highs):
    name = "accepts-every-start"

    def solve(self, job, emit, stop):
        answer = super().solve(job, emit, stop)
        return replace(answer, start_accepted=None if job.start is None else True)


class IgnoresPoints(Highs):
    """It sends points and takes none."""

    name = "ignores-points"

    def solve(self, job, emit, stop):
        if job.exchange is not None:
            job.exchange.send(job.model.lower)
        return super().solve(replace(job, exchange=None), emit, stop)


class OtherSeeds(Highs):
    """Every search takes another seed."""

    name = "other-seeds"
    times = 0

    def solve(self, job, emit, stop):
        OtherSeeds.times += 1  # in the process of the solver
        limits = replace(job.limits, seed=OtherSeeds.times)
        return super().solve(replace(job, limits=limits), emit, stop)


class RootIsTheEnd(Highs):
    """The last bound is called the root's, with an offset that it lacks."""

    name = "root-is-the-end"

    def solve(self, job, emit, stop):
        answer = super().solve(job, emit, stop)
        return replace(answer, root_bound=None if answer.bound is None else answer.bound + 5)


#: The claim whose check finds each.
WRONG = {
    IgnoresStop: "ends when told",
    IgnoresGaps: "gaps",
    KnowsNoGaps: "gaps",
    ClaimsOptimum: "gaps",
    IgnoresStarts: "start",
    AcceptsEveryStart: "start",
    IgnoresPoints: "points found on the way",
    OtherSeeds: "repeated search",
    RootIsTheEnd: "root bound",
}
