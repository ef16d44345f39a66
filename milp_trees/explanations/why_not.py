"""`why_not`: why a problem has no answer, or why not another model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milp_trees.common.limits import Limits
from milp_trees.explanations.explanation import explain
from milp_trees.problems.problem import Problem

if TYPE_CHECKING:
    from milp_trees.models.shown import Shown


def why_not(
    problem: Problem,
    tree: Shown | None = None,
    *,
    time_limit: float | None = 60.0,
    memory_mb: int | None = None,
    threads: int = 1,
) -> Any:
    """Why no model satisfies the constraints of a problem.

    Parameters
    ----------
    problem : Problem
        Its question is ignored.
    tree : Tree, optional
        Reserved for the question why another model is not the answer.
    time_limit : float or None, default=60
        Seconds for everything together. What is not proven by then is said to be open.
    memory_mb, threads
        As for `milp_trees.solve`.

    Returns
    -------
    Explanation
        The smallest set of constraints that conflict, what each would have to be loosened to, and
        the nearest model. Of a problem that has an answer, the answer.

    Raises
    ------
    Unsupported
        No method takes the problem.

    Examples
    --------
    >>> import milp_trees as mt
    >>> data = mt.Dataset([[0], [0], [1], [1]], y=["no", "yes", "no", "yes"])
    >>> limits = [mt.tasks.Capacity("yes", at_least=2), mt.tasks.Capacity("yes", at_most=1)]
    >>> why = mt.why_not(mt.Problem(data, mt.Accuracy(constraints=limits), mt.Trees(max_depth=1)))
    >>> [demand.words for demand in why.conflict]
    ['capacity (action yes, at_least 2)', 'capacity (action yes, at_most 1)']
    """
    limits = Limits.asked(time_limit=time_limit, memory_mb=memory_mb, threads=threads)
    return explain(problem, limits)
