"""In words: which thresholds an answer covers, and what is known of all thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from milp_trees.common.plurals import spaced
from milp_trees.tasks.base import Value


def covered(row: Mapping[str, Any]) -> str:
    """Which thresholds a result covers: `over all 119 thresholds`, `over 34 of 119 thresholds`."""
    counts = row["problem"]["data"].get("thresholds")
    if not counts:
        return ""
    used, every = counts["used"], counts["of"]
    noun = "threshold" if every == 1 else "thresholds"
    if used == every:
        return f"over the only {noun}" if every == 1 else f"over all {spaced(every)} {noun}"
    return f"over {spaced(used)} of {spaced(every)} {noun}"


def sentence(row: Mapping[str, Any]) -> str:
    """What the tests of a result cover, how they were chosen, and what is known of the others.

    For example `over 34 of 119 thresholds (of the optimal tree, the greedy tree and quantiles);
    greedy over all: 6 errors`. Empty if there is nothing to say.
    """
    data = row["problem"]["data"]
    counts, notes = data.get("thresholds") or {}, _notes(data)
    if not counts:
        return f"claims are about these tests only: {notes}" if notes else ""
    if counts["used"] == counts["of"] and not notes:
        return covered(row)
    how = _listed(counts["from"]) if "from" in counts else notes
    message = [f"{covered(row)} ({how})" if how else covered(row)]
    if "optimum" in counts:
        best = _quantity(counts["optimum"], row["unit"])
        message.append(f"optimum over all: {best} ({counts['proved_by']})")
    if "greedy_tree" in counts:
        message.append(f"greedy over all: {_quantity(counts['greedy_tree'], row['unit'])}")
    if "from" in counts and data.get("regrouped"):
        message.append(str(data["regrouped"]))
    return "; ".join(message)


def _quantity(number: float, unit: str) -> str:
    return str(Value(number, None, unit, "min"))


def _notes(data: Mapping[str, Any]) -> str:
    """What thresholds and groups of categories may miss, as `Dataset.threshold_note`."""
    return "; ".join(str(data[name]) for name in ("threshold_note", "regrouped") if data.get(name))


def _listed(sources: list[str]) -> str:
    """Where chosen thresholds come from: `of a, b and c`."""
    *first, last = sources
    return f"those of {', '.join(first)} and {last}" if first else f"those of {last}"
