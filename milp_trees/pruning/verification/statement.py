"""The statement of a proof about prunings, for `check_flow.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from milp_trees.common.errors import Unsupported
from milp_trees.pruning.view import NodeGains

if TYPE_CHECKING:
    from fractions import Fraction

    from milp_trees.methods.claims import Claims
    from milp_trees.models.ensemble import Ensemble
    from milp_trees.problems.problem import Problem
    from milp_trees.pruning.engines.min_cut.curve import PruningCurve
    from milp_trees.results.result import Result


def pruning_statement(problem: Problem, result: Result, claims: Claims) -> dict[str, Any]:
    """What a proof about prunings is about: the first line of its file."""
    view = problem.view(NodeGains)
    if result.curve is not None:
        return curve_statement(view, result.curve)
    if result.predictor is None:
        raise Unsupported("there is no pruning to prove.")
    if view.budget is not None:
        raise Unsupported("a flow proves no optimum under a budget; leave out max_cost.")
    a, b, _ = view.step
    keep = cast("Ensemble", result.predictor).kept
    Z = view.Z(keep)
    return {
        **_network("prunings", view),
        "errors_count": a,
        "prices_count": b,
        "offset": _ratio(view.offset),
        "scale": _ratio(view.scale),
        "unit": result.value.unit if result.value else "",
        "keep": np.flatnonzero(keep).tolist(),
        "value": Z,
        "denominator": claims.denominator,
        "bound": claims.notes.get("bound", Z),
    }


def curve_statement(view: NodeGains, curve: PruningCurve) -> dict[str, Any]:
    """The first line of a proof about all prunings that are best for some λ."""
    return {
        **_network("curve", view),
        "error_unit": _ratio(view.error_unit),
        "cost_unit": _ratio(view.cost_unit),
        "cost_offset": _ratio(view.cost_offset),
        "rank": curve.rank.tolist(),
    }


def _network(kind: str, view: NodeGains) -> dict[str, Any]:
    """The nodes with what they gain and need."""
    needs: list[list[int]] = [[] for _ in range(view.n_nodes)]
    for node, begin, end in zip(view.first, view.start, view.start[1:], strict=False):
        needs[node] = view.need[begin:end].tolist()
    return {
        "format": "milp-trees-proof",
        "version": 1,
        "kind": kind,
        "parent": view.parent.tolist(),
        "gain": view.gain.tolist(),
        "keep_cost": view.keep_cost.tolist(),
        "needs": needs,
        "price": view.price.tolist(),
        "above": view.above.tolist(),
        "root_error": view.root_error,
    }


def _ratio(number: Fraction) -> str:
    return f"{number.numerator}/{number.denominator}"
