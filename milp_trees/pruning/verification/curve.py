"""Verification of a stored curve of prunings.

Every corner is scored on the data, and a flow proves that it is optimal for its λ; the flow is
checked by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import VerificationError
from milp_trees.common.limits import Deadline
from milp_trees.common.plurals import counted
from milp_trees.pruning.engines.min_cut.curve import PruningCurve, prune_curve
from milp_trees.pruning.verification.flows import proved_curve
from milp_trees.results.json import json_safe
from milp_trees.results.restore import restore
from milp_trees.verification.claims import as_fraction
from milp_trees.verification.fields import (
    amount,
    check_times,
    complete,
    count,
    each,
    listed,
    name,
    objects,
    sensible,
    stated_proof,
    text,
    truth,
)
from milp_trees.verification.proved import check_facts
from milp_trees.verification.statement import statement_of
from milp_trees.verification.verdict import Verdict, Verification

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem

#: Every field of a stored curve except `budget`, which only some have: its check, and the same in
#: words.
FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "schema": (count, "a whole number"),
    "kind": (name, "a name"),
    "exact": (truth, "true or false"),
    "trees": (count, "a whole number"),
    "breakpoints": (listed(text), "a list of fractions"),
    "vertices": (listed(objects), "a list of corners"),
    "rank": (listed(count), "a list of whole numbers"),
    "problem": (objects, "an object"),
    "method": (name, "a name"),
    "seconds": (amount, "a number of at least 0"),
    "times": (each(amount), "numbers of at least 0 by name"),
    "sizes": (each(amount), "numbers of at least 0 by name"),
}
#: Fields that only some curves have.
FURTHER = {"budget", "proof"}
#: Parts of a curve that cannot be recomputed here.
HISTORY = ("method", "seconds", "times", "sizes")


def verify_curve(
    data: Mapping[str, Any],
    dataset: Dataset | None = None,
    *,
    path: str | Path | None = None,
    time_limit: float = 60.0,
    expect: Mapping[str, Any] | None = None,
    proof: str | Path | None = None,
) -> Verification:
    """Recompute what a curve states, and derive it again."""
    from milp_trees.verification.damage import refusing_damage, told

    with refusing_damage():
        complete(data, FIELDS, "curve")
        sensible(data, FIELDS)
        check_times(data)
        restored = restore(data["problem"], dataset, path, question="by-price")
        problem = restored.problem
        statement = statement_of(problem)
        statement.require(expect or {})
        curve = prune_curve(problem, merge=False)
        checked = [*restored.checked, _check_corners(data, problem), _derive_again(data, curve)]
        if "budget" in data:
            checked.append(_check_budget(data["budget"], curve))
        unknown = [key for key in data if key not in FIELDS and key not in FURTHER]
        facts = data.get("proof")
        if facts is not None and not stated_proof(facts):
            raise VerificationError(f"The curve states {facts!r} about its proof.")
        loose = (
            *HISTORY,
            *check_facts(facts, proof),
            *unknown,
            *restored.not_verified,
            "problem.space.ensemble.source",
        )
        verdict, by, sentence = (
            _prove(curve, data["method"], time_limit)
            if proof is None
            else proved_curve(curve, proof)
        )
        return Verification(
            verdict,
            "curve",
            data["method"],
            by,
            (*checked, *told(loose), sentence),
            loose,
            statement,
        )


def _check_corners(data: Mapping[str, Any], problem: Problem) -> str:
    """Check error and cost of every stored pruning, by the leaves that the rows reach."""
    ensemble: Any = problem.space.ensemble  # type: ignore[attr-defined]
    rank, corners = np.array(data["rank"], dtype=np.int64), data["vertices"]
    if rank.shape != (ensemble.n_nodes,) or not corners:
        raise VerificationError(
            f"The curve must say of each of {ensemble.n_nodes} nodes when it goes, and have a corner."
        )
    for i, corner in enumerate(corners):
        pruned = ensemble.pruned(rank < int(rank.max()) - i)
        task: Any = problem.task
        found = dict(
            zip(
                ("error", "cost"),
                task.parts(pruned.routes(problem.dataset), problem.dataset),
                strict=True,
            ),
            splits=pruned.n_splits,
        )
        for what, value in found.items():
            stated = (
                as_fraction(corner[what], what) if isinstance(corner[what], str) else corner[what]
            )
            if not (
                value == stated
                if data["exact"]
                else abs(float(value) - float(stated)) <= 1e-6 * max(1.0, abs(float(value)))
            ):
                raise VerificationError(
                    f"Corner {i} states {what} {corner[what]}; its pruning has {value}."
                )
    return f"Error, cost and splits of {counted(len(corners), 'corner')} were recomputed from the prunings."


def _derive_again(data: Mapping[str, Any], curve: PruningCurve) -> str:
    """Derive the same curve without merging features that are needed together."""
    again = curve.to_json()
    for what, own in again.items():
        if data[what] != own:
            size = f", and there are {len(own)}" if isinstance(own, list) else f": it is {own!r}"
            raise VerificationError(
                f"The stated {what} of the curve are not those of the problem; computed again they differ{size}."
            )
    return f"All {len(again['breakpoints'])} breakpoints and all ranks were computed again, without merging purchases."


def _check_budget(stated: Any, curve: PruningCurve) -> str:
    """Check that the point below a budget follows from the curve."""
    own = json_safe(curve.below(as_fraction(stated["budget"], "budget")).to_json())
    for what in sorted({*stated, *own}):
        if what not in own or what not in stated or stated[what] != own[what]:
            shown = (
                "" if isinstance(own.get(what), dict) else f"; recomputed it is {own.get(what)!r}"
            )
            raise VerificationError(
                f"The point below the budget states another {what} than the curve has{shown}."
            )
    return "The point below the budget, its bound and its pruning were recomputed from the curve."


def _prove(curve: PruningCurve, maker: str, time_limit: float) -> tuple[Verdict, str | None, str]:
    """Prove by flows that the pruning of each corner is optimal where its interval begins.

    At the breakpoint between two corners both have the same value, so the first is optimal at both
    ends of its interval; values are linear in between. The last corner has the least possible cost,
    so it remains optimal for all larger λ.
    """
    corners, deadline = curve.vertices, Deadline.after(time_limit)
    for here, after in pairwise(corners):
        price = after.lambda_from
        if here.error + price * here.cost != after.error + price * after.cost:
            raise VerificationError(
                f"The corners {here.index} and {after.index} are not equally good at the breakpoint {price} between them."
            )
    if corners[-1].cost != curve.view.cost_offset:
        raise VerificationError("The last corner is not the cheapest pruning.")
    for done, corner in enumerate(corners):
        if deadline.passed:
            why = (
                f"flows proved {done} of {counted(len(corners), 'corner')} within {time_limit:g} s"
            )
            return (
                Verdict.RECOMPUTED,
                None,
                f"Recomputed: the same algorithm found the curve again; {why}.",
            )
        curve.certificate(corner.lambda_from)
    how = "a flow proves its pruning optimal, and the check of a flow shares nothing with"
    return (
        Verdict.DERIVED,
        "flows",
        f"Derived: for every one of {counted(len(corners), 'corner')} {how} {maker}.",
    )


#: The kind of stored file, and the function that verifies it.
CURVES = ("pruning-curve", verify_curve)

__all__ = ["CURVES", "verify_curve"]
