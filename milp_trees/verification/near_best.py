"""Verification of a stored set of near-best models.

Every listed model is scored on the data. The number of all trees is proved by the proof file, or
counted again by the checker's own search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError
from milp_trees.problems.questions import NearBest
from milp_trees.results.json import number
from milp_trees.results.restore import restore
from milp_trees.verification.damage import refusing_damage, told
from milp_trees.verification.fields import (
    FIELDS,
    amount,
    complete,
    count,
    listed,
    name,
    objects,
    optional,
    sensible,
    text,
    truth,
)
from milp_trees.verification.near_best_count import derive_count, prove_count
from milp_trees.verification.near_best_set import NearBestSet
from milp_trees.verification.near_best_shares import check_shares
from milp_trees.verification.proved import check_facts
from milp_trees.verification.statement import statement_of
from milp_trees.verification.value import same
from milp_trees.verification.verdict import Verdict, Verification

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

#: Fields by which a set is recognised, also one of an earlier version.
MARKS = frozenset({"count", "covered", "optimum"})
#: Every field of a stored set except the lists of models and questions: its check, and the same in
#: words.
SET_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "schema": (count, "a whole number"),
    "kind": (name, "a name"),
    "method": (name, "a name"),
    "seconds": (amount, "a number of at least 0"),
    "question": (objects, "an object"),
    "problem": (objects, "an object"),
    "count": (count, "a whole number"),
    "complete": (truth, "true or false"),
    "limit": (optional(name), "a name or null"),
    "slack": (text, "a fraction"),
    "covered": (text, "a fraction"),
    "optimum": (number, "a number"),
    "optimum_exact": (text, "a fraction"),
    "unit": (text, "text"),
    "values": (listed(objects), "a list of values with their counts"),
    "sample": (listed(objects), "a list of models"),
}
#: Parts of a set that cannot be recomputed here.
HISTORY = ("method", "seconds", "limit")


def verify_near_best(
    data: Mapping[str, Any],
    dataset: Dataset | None = None,
    *,
    path: str | Path | None = None,
    time_limit: float = 60.0,
    expect: Mapping[str, Any] | None = None,
    proof: str | Path | None = None,
) -> Verification:
    """Recompute what a set of near-best models states, and prove or derive its count."""
    with refusing_damage():
        _known(data)
        restored = restore(data["problem"], dataset, path)
        problem = restored.problem
        stated = statement_of(problem, restored.thresholds)
        stated.require(expect or {})
        found = NearBestSet(data, problem)
        checked = [*restored.checked, found.check_numbers(), *found.check_models()]
        why = None if proof is None else prove_count(found, proof, time_limit)
        if proof is None or why:
            verdict, by, message = derive_count(found, time_limit)
        else:
            verdict, by = Verdict.PROVED, Path(proof).name
            message = f"Proved by file: {by} counts the {found.said}."
        shares = [found.asked] if found.asked in data else []
        counts, alike = check_shares(found, time_limit) if shares else ("", True)
        if not alike:  # the verdict is of all that the set states
            verdict, by = Verdict.CLAIMED, None
        known = {*SET_FIELDS, "proof", found.models, *(shares if alike else [])}
        unknown = [key for key in data if key not in known]
        loose = (*HISTORY, *unknown, *restored.not_verified)
        loose = (*loose, *check_facts(data.get("proof"), None if why else proof))
        last = [message, counts] if not alike else [counts, message]
        sentences = (*checked, *([why] if why else []), *told(loose), *filter(None, last))
        return Verification(verdict, "count", data["method"], by, sentences, loose, stated)


def _known(data: Mapping[str, Any]) -> None:
    """Refuse an object that lacks fields or has wrong kinds of them."""
    if "kind" not in data:
        raise DataError(
            f"The set of models near the best does not state its problem; store one with --out of milp-trees {NearBest.name}."
        )
    complete(data, set(SET_FIELDS), "set of models near the best")
    sensible(data, {**SET_FIELDS, "proof": FIELDS["proof"]})
    same("kind", data["kind"], NearBest.name)


__all__ = ["verify_near_best"]
