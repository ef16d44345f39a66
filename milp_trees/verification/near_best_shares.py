"""How many models of a stored set ask each question: counted by the method, run anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from milp_trees.common.errors import VerificationError
from milp_trees.common.limits import Limits
from milp_trees.common.plurals import counted
from milp_trees.results.near_best import near_best_json
from milp_trees.verification.derive import methods_for, run_again
from milp_trees.verification.value import same

if TYPE_CHECKING:
    from milp_trees.verification.near_best_set import NearBestSet


def check_shares(of: NearBestSet, seconds: float) -> tuple[str, bool]:
    """Count again how many models ask each question."""
    what = f"how many {of.models} use each {of.asked[:-1]}"
    question = replace(of.question, slack=of.covered, relative=None)
    problem = replace(of.problem, question=question)
    independent, sharing = methods_for(problem, of.data["method"])
    name = next(iter([*independent, *sharing]), "")
    if not name:
        return f"Only claimed: no method here counts {what}.", False
    again = run_again(name, problem, Limits(time=seconds))
    if isinstance(again, str) or again.trees is None or again.trees.covered != of.covered:
        why = again if isinstance(again, str) else f"{name} did not finish within {seconds:g} s"
        return f"Only claimed: {what} was not counted again ({why.rstrip('.')}).", False
    found = near_best_json(again)
    if found["count"] != of.data["count"]:
        raise VerificationError(
            f"The count {of.data['count']} is wrong: {name} counts {counted(found['count'], of.models[:-1])}."
        )
    same(of.asked, of.data[of.asked], found[of.asked])
    return f"Recomputed: {name}, run anew, counts alike {what}.", True
