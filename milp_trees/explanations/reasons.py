"""The reasons under a result without a model: three lines, in a bounded time."""

from __future__ import annotations

from dataclasses import replace

from milp_trees.common.limits import Limits
from milp_trees.explanations.explanation import explain
from milp_trees.methods.callback import without_callback
from milp_trees.problems.questions import Best, Front, NearBest
from milp_trees.results.result import Result, Status

#: Largest share of the time limit of a run, and most seconds, for the reasons.
SHARE, MOST = 0.25, 10.0
#: Questions that have no answer only if no model is feasible: they do not limit models themselves.
ASKED = (Best, Front, NearBest)


def with_reasons(result: Result, limits: Limits) -> Result:
    """The result, whose message says why nothing is feasible.

    Any other result is returned as it is. The reasons are no part of the answer: what is not found
    in time is said to be open, and a failure is named in the message and changes nothing else.

    Parameters
    ----------
    result : Result
    limits : Limits
        Those of the whole run; at most a quarter of its time, and at most ten seconds, are for the
        reasons.

    Returns
    -------
    Result
    """
    stopped = result.limit is not None and result.limit.by_user
    if (
        result.status is not Status.INFEASIBLE
        or not isinstance(result.problem.question, ASKED)
        or stopped
    ):
        return result
    seconds = MOST
    if limits.time is not None:
        seconds = min(MOST, SHARE * limits.time, max(0.0, limits.time - result.seconds))
    try:
        with without_callback():
            found = explain(result.problem, replace(limits, time=seconds, log_file=None), result)
        if not found.demands:
            return result
        message = found.to_text()
    except KeyboardInterrupt:  # the answer stands
        message = "Which constraints conflict was not found: interrupted."
    except Exception as error:
        message = f"Which constraints conflict was not found: {type(error).__name__}: {error}"
    return replace(result, message=f"{result.message}\n{message}".strip())
