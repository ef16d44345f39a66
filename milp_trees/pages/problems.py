"""The problems of a study as a page shows them: names, sizes, and what was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from milp_trees.results.json import json_safe
from milp_trees.studies.columns import flat
from milp_trees.studies.same_problems import brief

#: What a page says of a run that served as a reference.
_REFERENCE = ("method", "status", "objective", "bound", "proved_by", "seconds", "sense", "belief")


def problems(
    rows: Sequence[Mapping[str, Any]],
    references: Sequence[Mapping[str, Any]],
    shown: Mapping[str, str],
) -> dict[str, dict[str, Any]]:
    """What a page says of every problem, by the fingerprint under which it is shown.

    Parameters
    ----------
    rows : sequence of mappings
        Rows of the study.
    references : sequence of mappings
        Rows of runs that only served as references.
    shown : mapping
        What `same_problems` gave.

    Returns
    -------
    dict
        Names, sizes, and what was asked, without arrays.
    """
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        key = shown[row["problem_key"]]
        if key not in found:
            found[key] = _problem(row)
    for row in references:
        if row["problem_key"] in shown:
            one = flat(row)
            own = found[shown[row["problem_key"]]]["references"]
            own.append({name: one[name] for name in _REFERENCE})
    _tell_apart(found)
    return json_safe(found)  # type: ignore[no-any-return]


def _problem(row: Mapping[str, Any]) -> dict[str, Any]:
    spec, run, one = row["problem"], row.get("run") or {}, flat(row)
    data = spec["data"]
    return {
        "name": run.get("name") or _name(one, spec),
        "group": one["group"],
        "kind": one["kind"],
        "data": Path(str(one["data"] or "")).name,
        "rows": data.get("rows"),
        "tests": data.get("tests"),
        "task": brief(spec["task"]),
        "space": brief(spec["space"]),
        "question": brief(spec.get("question", "best")),
        "loss": data.get("loss") or "",
        "unit": row["unit"],
        "sense": row["sense"],
        "references": [],
    }


def _name(one: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    """A readable name for a problem that has none, such as `iris, accuracy, trees, max depth 2`."""
    limits = [
        f"{name.replace('_', ' ')} {value}"
        for name, value in spec["space"].items()
        if type(value) is int and (name.startswith("max") or value != 1)
    ]
    data = Path(str(one["data"] or "")).name or "data in memory"
    return ", ".join([data, str(one["task"]), str(spec["space"].get("name", "")), *limits])


def _tell_apart(found: dict[str, dict[str, Any]]) -> None:
    """Add the beginning of the fingerprint to names that several problems have."""
    names = [one["name"] for one in found.values()]
    for key, one in found.items():
        if names.count(one["name"]) > 1:
            one["name"] = f"{one['name']} ({key[:6]})"
