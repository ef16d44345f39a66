"""`why_not`: why a problem has no answer, or why not another model."""

from __future__ import annotations

from typing import Any, overload

from milp_trees.common.limits import Limits
from milp_trees.explanations.explanation import Explanation, explain
from milp_trees.explanations.rather import WhyNotModel, why_not_model
from milp_trees.problems.problem import Problem


@overload
def why_not(
    problem: Problem,
    tree: None = None,
    *,
    time_limit: float | None = 60.0,
    memory_mb: int | None = None,
    threads: int = 1,
) -> Explanation: ...
@overload
def why_not(
    problem: Problem,
    tree: Any,
    *,
    time_limit: float | None = 60.0,
    memory_mb: int | None = None,
    threads: int = 1,
) -> WhyNotModel: ...
def why_not(
    problem: Problem,
    tree: Any = None,
    *,
    time_limit: float | None = 60.0,
    memory_mb: int | None = None,
    threads: int = 1,
) -> Explanation | WhyNotModel:
    """Why no model satisfies the constraints of a problem, or why another model is not its answer.

    Parameters
    ----------
    problem : Problem
        Its question is ignored.
    tree : Tree, RuleList, fitted estimator or str, optional
        Another model, as for `gap_of`: what it violates or costs, and at which penalties per leaf
        and for which change of row weights it would be the answer.
    time_limit : float or None, default=60
        Seconds for everything together. What is not proven by then is said to be open.
    memory_mb, threads
        As for `milp_trees.solve`.

    Returns
    -------
    Explanation or WhyNotModel
        Without `tree`, the smallest set of constraints that conflict, what each would have to be loosened to, and
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

    >>> data = mt.load("planted:rows=60,depth=2")
    >>> small, large = (mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=d)) for d in (1, 2))
    >>> why = mt.why_not(large, mt.solve(small).tree)
    >>> float(why.cost), float(why.weights.total), str(why.penalty.least)
    (14.0, 14.0, '7/60')
    """
    limits = Limits.asked(time_limit=time_limit, memory_mb=memory_mb, threads=threads)
    if tree is not None:
        return why_not_model(problem, tree, limits=limits)
    return explain(problem, limits)
