"""The problems of a study as a page shows them: names, sizes, and what was asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from milp_trees.results.json import json_safe
from milp_trees.results.threshold_words import sentence
from milp_trees.studies.columns import flat
from milp_trees.studies.problem_groups import brief

#: What a page says of a run that served as a reference.
_REFERENCE = ("method", "status", "objective", "bound", "proved_by", "seconds", "sense", "evidence")


def problems(
    rows: Sequence[Mapping[str, Any]],
    references: Sequence[Mapping[str, Any]],
    shown: Mapping[str, str],
) -> dict[str, dict[str, Any]]:
    """What a page says of every problem, by the fingerprint under which it is shown."""
    found: dict[str, dict[str, Any]] = {}
    data = data_names(str(flat(row)["data"] or "") for row in rows)
    for row in rows:
        key = shown[row["problem_key"]]
        if key not in found:
            found[key] = _problem(row, data)
    for row in references:
        if row["problem_key"] in shown:
            one = flat(row)
            own = found[shown[row["problem_key"]]]["references"]
            message = {name: one[name] for name in _REFERENCE}
            own.append({**message, "is_exact": row["exact"] is not None})
    _tell_apart(found)
    return json_safe(found)  # type: ignore[no-any-return]


def data_names(data: Iterable[str]) -> dict[str, str]:
    """What a page calls files and other data: the file name, and the folders that tell it apart.

    A page is sent around, so it names no more folders of the machine than that.
    """
    parts = {}
    for one in data:
        path = PurePath(one)
        parts[one] = path.parts[1:] if path.anchor else path.parts
    names = {}
    for one, own in parts.items():
        rivals = [other for other in parts.values() if other != own]
        length = next(
            (k for k in range(1, len(own)) if all(own[-k:] != other[-k:] for other in rivals)),
            len(own),
        )
        names[one] = "/".join(own[-length:]) if own else ""
    return names


def _problem(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    spec, run, one = row["problem"], row.get("run") or {}, flat(row)
    data, name = spec["data"], names[str(one["data"] or "")]
    return {
        "name": run.get("name") or _name(one, spec, name),
        "group": one["group"],
        "kind": one["kind"],
        "data": name,
        "rows": data.get("rows"),
        "tests": data.get("tests"),
        "task": brief(spec["task"]),
        "space": brief(spec["space"]),
        "question": brief(spec.get("question", "best")),
        "thresholds": sentence(row),
        "chosen": bool(data.get("threshold_note")),
        "unit": row["unit"],
        "sense": row["sense"],
        "references": [],
    }


def _name(one: Mapping[str, Any], spec: Mapping[str, Any], data: str) -> str:
    """A readable name for a problem that has none, such as `iris, accuracy, trees, max depth 2`."""
    limits = [
        f"{name.replace('_', ' ')} {value}"
        for name, value in spec["space"].items()
        if type(value) is int and (name.startswith("max") or value != 1)
    ]
    return ", ".join(
        [data or "data in memory", str(one["task"]), str(spec["space"].get("name", "")), *limits]
    )


def _tell_apart(found: dict[str, dict[str, Any]]) -> None:
    """Add the beginning of the fingerprint to names that several problems have."""
    names = [one["name"] for one in found.values()]
    for key, one in found.items():
        if names.count(one["name"]) > 1:
            one["name"] = f"{one['name']} ({key[:6]})"
