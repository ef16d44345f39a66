"""What is known about the model of a page: checked while the page was made, or only as stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from milp_trees.common.plurals import counted
from milp_trees.results.evidence import proof_text, words
from milp_trees.results.tables import summary


@dataclass(frozen=True)
class Checks:
    """What was recomputed or checked while a page was made; by default nothing.

    Parameters
    ----------
    value : tuple of str
        Sentences about value, limits and claims; empty if the rows are not at hand.
    proof : str
        The sentence of the checker about the proof file, if it accepted one.
    optimum : bool
        Whether that file proves that no model is better.
    """

    value: tuple[str, ...] = ()
    proof: str = ""
    optimum: bool = False


def certificate(
    row: Mapping[str, Any], checks: Checks
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """What is known about a model, as pairs of a name and a text."""
    problem, data = row["problem"], row["problem"]["data"]
    facts = dict(summary(row, verbose=True))
    about = {
        "task": _spelled(problem["task"]),
        "space of models": _spelled(problem["space"]),
        "data": _data(data),
        "hash of the data (SHA-256)": str(data["arrays_sha256"]),
    }
    checked: dict[str, str] = {}
    if checks.value:
        checked = {"value": facts["value"], "recomputed": " ".join(checks.value), **about}
    if checks.proof:
        checked["evidence"] = words(row)
        checked["proof"] = f"{checks.proof} SHA-256 of the file: {row['proof']['sha256']}"
    stored = {
        **({} if checks.value else {"value": facts.get("value", ""), **about}),
        "method": str(row["method"]),
        "status": facts.get("status", ""),
        "bound": "" if checks.optimum else facts.get("bound", "no bound is known"),
        "evidence": "" if checks.proof else words(row),
        "proof file": "" if checks.proof else _file(row),
        "said to be checked": "; ".join(map(str, row["checked"])),
        **{n: facts.get(n, "") for n in ("agrees", "scores", "group", "tests", "note")},
        "software": ", ".join(f"{name} {version}" for name, version in row["versions"].items()),
    }
    return [(n, t) for n, t in checked.items() if t], [(n, t) for n, t in stored.items() if t]


def headline(row: Mapping[str, Any], model: Any, checks: Checks) -> list[str]:
    """What the model is, and what is known about how good it can be."""
    noun, facts = model.noun, dict(summary(row, verbose=True))
    size = (
        f"{counted(model.length, 'rule')} and a default rule"
        if hasattr(model, "rules")
        else f"depth {model.depth} and {counted(model.n_leaves, 'leaf', 'leaves')}"
    )
    how = (
        "recomputed from the data when this page was written"
        if checks.value
        else "as stored and not checked"
    )
    value = facts.get("value", "unknown")
    first = f"A {noun} of {size} for {_data(row['problem']['data'])}. Its value, {how}: {value}."
    if checks.proof:
        end = "It is optimal." if checks.optimum else ""
        return [first, f"{checks.proof} {end}".strip()]
    if row["bound"] is None:
        return [first, f"How much better another {noun} could be is not known."]
    who = row["proved_by"] or row["method"]
    than = "" if row["status"] == "optimal" else f" than {row['bound']:g}"
    return [
        first,
        f"Not checked when this page was written: {who} claims that no {noun} of the space has a better value{than}.",
    ]


def _file(row: Mapping[str, Any]) -> str:
    """The proof file that a row names."""
    if not row.get("proof"):
        return ""
    return f"{proof_text(row)}; not checked here; milp-trees check takes it with the data"


def _spelled(part: Mapping[str, Any]) -> str:
    """The name of a task or space with its parameters."""
    given = {k: v for k, v in part.items() if k not in ("name", "ensemble", "antecedents", "fixed")}
    message = [
        f"{k.replace('_', ' ')} {_value(v)}" for k, v in given.items() if v not in (None, (), [])
    ]
    return f"{str(part['name']).replace('-', ' ')}{': ' if message else ''}{', '.join(message)}"


def _value(value: Any) -> str:
    text = {True: "yes", False: "no"}.get(value) if isinstance(value, bool) else None
    text = str(value) if text is None else text
    return text if len(text) <= 200 else f"{text[:200]}…"


def _data(data: Mapping[str, Any]) -> str:
    name = str(data.get("path") or "arrays in memory").replace("\\", "/").rpartition("/")[2]
    return f"{name}: {data['rows']} rows, {data['tests']} binary features"
