"""The statement of a proof about prunings, for `check_flow.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from milp_trees.errors import Unsupported
from milp_trees.tasks.pruning_view import NodeGains

if TYPE_CHECKING:
    from milp_trees.methods.claims import Claims
    from milp_trees.models.ensemble import Ensemble
    from milp_trees.problem import Problem
    from milp_trees.results.result import Result


def pruning_statement(problem: Problem, result: Result, claims: Claims) -> dict[str, Any]:
    """What a proof about prunings is about: the first line of its file.

    Parameters
    ----------
    problem : Problem
        Of the space `PrunedEnsembles`.
    result : Result
        Its pruning is the model of the statement.
    claims : Claims
        The flow, with the bound that it proves as a note; without a note it is the model's value.

    Returns
    -------
    dict

    Raises
    ------
    Unsupported
        There is no pruning, or the problem has a budget.
    """
    if result.predictor is None:
        raise Unsupported("there is no pruning to prove.")
    view = problem.view(NodeGains)
    if view.budget is not None:
        raise Unsupported("a flow proves no optimum under a budget; leave out max_cost.")
    a, b, _ = view.step
    needs: list[list[int]] = [[] for _ in range(view.n_nodes)]
    for node, begin, end in zip(view.first, view.start, view.start[1:], strict=False):
        needs[node] = view.need[begin:end].tolist()
    keep = cast("Ensemble", result.predictor).kept
    Z = view.Z(keep)
    return {
        "format": "milp-trees-proof",
        "version": 1,
        "kind": "prunings",
        "parent": view.parent.tolist(),
        "gain": view.gain.tolist(),
        "keep_cost": view.keep_cost.tolist(),
        "needs": needs,
        "price": view.price.tolist(),
        "above": view.above.tolist(),
        "root_error": view.root_error,
        "errors_count": a,
        "prices_count": b,
        "offset": f"{view.offset.numerator}/{view.offset.denominator}",
        "scale": f"{view.scale.numerator}/{view.scale.denominator}",
        "unit": result.value.unit if result.value else "",
        "keep": np.flatnonzero(keep).tolist(),
        "value": Z,
        "denominator": claims.denominator,
        "bound": claims.notes.get("bound", Z),
    }
