"""What stands behind the answer of a row: a proof file, another method, or a claim alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from milp_trees.common.plurals import counted
from milp_trees.models.space import Space, space_class

#: The words, the strongest first, with what each says of a row.
BELIEFS: dict[str, str] = {
    "proved by file": "a checker accepted the proof file of the run",
    "derived again": "proven twice, by methods that share nothing",
    "claimed": "a bound that one program states",
    "recomputed": "a value without a claim of a bound",
    "contradicted": "it does not agree with the reference",
}


def evidence(row: Mapping[str, Any]) -> str | None:
    """The word for what stands behind a row's answer; None for a row without an answer."""
    if row["agrees"] is False:
        return "contradicted"
    if row["status"] in ("unsupported", "error"):
        return None
    if (row.get("proof") or {}).get("checked"):
        return "proved by file"
    # Rows of earlier versions say that they agree with the reference, and not who that is.
    if row.get("derived_by") or (row["agrees"] and "derived_by" not in row):
        return "derived again"
    if row["bound"] is not None or row["status"] == "infeasible":
        return "claimed"
    return "recomputed" if row["objective"] is not None and row["checked"] else None


def words(row: Mapping[str, Any]) -> str:
    """The word with the file or the method that it rests on, as in `Verification.words`.

    It is "proved by file NAME", "derived again by METHOD", "claimed by METHOD", "recomputed",
    "contradicted", or empty for a row without an answer.
    """
    found = evidence(row)
    if found == "proved by file":
        return f"{found} {row['proof']['file']}"
    if found == "derived again":
        return f"{found} by {row.get('derived_by') or 'the reference'}"
    return f"claimed by {row['method']}" if found == "claimed" else found or ""


def proof_text(row: Mapping[str, Any]) -> str:
    """The proof file of a row with its size; empty if there is none."""
    facts = row.get("proof")
    if not facts:
        return ""
    space = space_class(row["problem"].get("space", {}).get("name", "")) or Space
    lines = counted(facts["claims"], space.claim)
    message = f"{facts['file']}: {lines}, {counted(facts['bytes'], 'byte')}"
    if not facts.get("checked"):
        return message
    return f"{message}; checked {facts.get('checked_at') or 'by an earlier version'}, SHA-256 {facts['sha256']}"
