"""The problem of a result in full, as text and as JSON.

It holds data, tests, task, penalties, constraints and space; parts of the JSON can be required.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, VerificationError
from milp_trees.common.exact import fraction
from milp_trees.common.plurals import counted
from milp_trees.problems.questions import Front
from milp_trees.results.json import json_safe

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: A longer list is stated by its length and SHA-256.
MOST_LISTED = 24
#: Parameters of tasks that are stated as penalties.
PENALTIES = ("leaf_penalty", "split_penalty", "feature_costs", "lam", "costs", "max_cost")


@dataclass(frozen=True)
class Statement:
    """The problem of a result in plain data.

    Parameters
    ----------
    data : mapping
        `path`, `sha256` (of the file), `arrays_sha256`, `rows`, `part` of a split, `tests`,
        `features` that they are made of, `candidates` (number of columns that could be features),
        `columns` with a meaning, `thresholds`, `threshold_note`, …; None if it is unknown.
    task, penalties, constraints, space : mappings (a list of mappings for constraints)
        With all parameters, also those that have their default values.
    unit, sense : str
    fingerprint : str
        SHA-256 of everything but the path: two results with equal fingerprints answer the same
        problem.
    question : mapping, optional
        The question with its parameters, if it is not that for one best model.
    """

    data: Mapping[str, Any]
    task: Mapping[str, Any]
    penalties: Mapping[str, Any]
    constraints: list[Any]
    space: Mapping[str, Any]
    unit: str
    sense: str
    fingerprint: str
    question: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data, by the names of the parameters."""
        plain: dict[str, Any] = json_safe({f.name: getattr(self, f.name) for f in fields(self)})
        return plain

    def lines(self) -> list[str]:
        """A line of text per part of the problem."""
        data = self.data
        where = (
            [f"SHA-256 {data['sha256']}"]
            if data["sha256"]
            else [f"arrays with SHA-256 {data['arrays_sha256']}"]
        )
        rows = f"{data['rows']} rows" + (f" (part {data['part']})" if data["part"] else "")
        columns = data["features"] or []
        of = (
            f"{len(columns)} of {data['candidates']} columns"
            if data["candidates"]
            else counted(len(columns), "column")
        )
        lines = [
            ("data", f"{data['path'] or 'in memory'}: {rows}, {', '.join(where)}"),
            ("grouped", _grouped(data.get("grouped"))),
            (
                "features",
                f"{of}, {data['tests']} tests" + (f": {_some(columns)}" if columns else ""),
            ),
            (
                "tests",
                "; ".join(
                    filter(
                        None,
                        (
                            data["thresholds"],
                            data["threshold_note"]
                            and f"claims are about these tests only: {data['threshold_note']}",
                        ),
                    )
                ),
            ),
            (
                "task",
                f"{_words(self.task)}, {'smallest' if self.sense == 'min' else 'largest'} {self.unit}",
            ),
            ("penalties", _words(self.penalties) or "none"),
            ("constraints", "; ".join(map(_words, self.constraints)) or "none"),
            ("space", _words(self.space)),
            ("question", _words(self.question or {})),
        ]
        return [printable(f"{name:<11} {text}") for name, text in lines if text]

    def require(self, expected: Mapping[str, Any]) -> None:
        """Refuse a problem that is not the expected one."""
        for place, value in expected.items():
            found: Any = self.to_json()
            for name in place.split("."):
                if not isinstance(found, Mapping) or name not in found:
                    known = ", ".join(found) if isinstance(found, Mapping) else "nothing below it"
                    raise DataError(
                        f"A problem states no {place!r}; where {name!r} stands, it states {known}."
                    )
                found = found[name]
            if not _equal(found, value):
                shown = "none" if _is_none(found) else _brief(found)
                raise VerificationError(
                    f"The result answers another problem: its {place} is {shown!r}; expected is {value!r}."
                )


def statement_of(problem: Problem, thresholds: str = "") -> Statement:
    """State a problem."""
    dataset, source, task = problem.dataset, problem.dataset.source, problem.task
    split = source.get("split") or {}
    data = {
        "path": source.get("path"),
        "sha256": source.get("sha256"),
        "arrays_sha256": dataset.sha256,
        "rows": dataset.total_rows,
        "part": f"{split.get('part')} of test_size={split.get('test_size')}, seed={split.get('seed')}"
        if split
        else None,
        "tests": dataset.n_features,
        "features": source.get("features")
        or list(dict.fromkeys(t.column for t in dataset.features))
        or list(dataset.columns or ()),
        "candidates": _candidates(source),
        "columns": source.get("columns"),
        "group_column": dataset.group_column,
        "thresholds": thresholds,
        "threshold_note": dataset.threshold_note,
        "generated": source.get("decision_data"),
    }
    if dataset.counts is not None:
        data["grouped"] = {**source.get("grouped", {}), "distinct_rows": dataset.n_rows}
    stated = {**_parameters(task), **task.spec()}
    constraints = [
        {**_parameters(c), **spec}
        for c, spec in zip(
            getattr(task, "constraints", ()), stated.pop("constraints", ()), strict=True
        )
    ]
    penalties = {name: stated.pop(name) for name in PENALTIES if name in stated}
    parts: dict[str, Any] = {
        "data": {
            name: json_safe(value) if name in ("features", "columns") else _summary(value)
            for name, value in data.items()
        },
        "task": _summary(stated),
        "penalties": _summary(penalties),
        "constraints": _summary(constraints),
        "space": _summary({**_parameters(problem.space), **_space(problem)}),
        "unit": task.unit,
        "sense": task.sense,
    }
    if problem.question.name == Front.name:
        parts["question"] = _summary(problem.question.spec())
    hashed = {
        **parts,
        "data": {
            name: value
            for name, value in parts["data"].items()
            if name not in ("path", "thresholds")
        },
    }
    return Statement(
        **parts, fingerprint=hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()
    )


def _grouped(stated: Mapping[str, Any] | None) -> str:
    """What was grouped where, in words; empty if rows are as they were."""
    if stated is None:
        return ""
    engine = f"by {stated['engine']} {stated['version']} " if "engine" in stated else ""
    query = f": {stated['query']}" if stated.get("query") else ""
    return f"{engine}into {stated['distinct_rows']} distinct rows with counts{query}"


def _candidates(source: Mapping[str, Any]) -> int | None:
    """Number of columns of the table that have no other meaning."""
    if source.get("width") is None:
        return None
    roles = {
        k: v
        for k, v in (source.get("columns") or {}).items()
        if k not in ("features", "drop") and v is not None
    }
    taken = {
        name for role in roles.values() for name in (role if isinstance(role, list) else [role])
    }
    # The column of the group may be split on, so it can be among the features.
    return int(source["width"]) - len(taken - set(source.get("features") or ()))


def _parameters(thing: Any) -> dict[str, Any]:
    """All parameters of a task, constraint or space by name, with those that its `spec` omits."""
    if not is_dataclass(thing):
        return {}
    return {
        f.name: getattr(thing, f.name)
        for f in fields(thing)
        if f.name not in ("ensemble", "decisions")
    }


def _space(problem: Problem) -> dict[str, Any]:
    """The spec of a space; an ensemble is stated by its size and SHA-256."""
    spec = problem.space.spec()
    ensemble: Any = getattr(problem.space, "ensemble", None)
    if ensemble is None:
        return spec
    splits = int((ensemble.left >= 0).sum())
    return {
        "name": spec["name"],
        "trees": ensemble.n_trees,
        "splits": splits,
        "ensemble_sha256": ensemble.sha256,
        "grown": dict(ensemble.source).get("grown"),
    }


def _summary(value: Any) -> Any:
    """Plain data, with short forms.

    Long lists become their length and SHA-256; objects become mappings of their parameters.
    """
    if hasattr(value, "spec") and not isinstance(value, Mapping):
        value = value.spec()
    if isinstance(value, Mapping):
        return {str(k): _summary(v) for k, v in value.items()}
    plain = json_safe(value)
    if isinstance(plain, list):
        text = json.dumps(plain)
        if len(plain) > MOST_LISTED or len(text) > 20 * MOST_LISTED:
            return f"{len(plain)} entries with SHA-256 {hashlib.sha256(text.encode()).hexdigest()}"
        return [_summary(v) for v in plain]
    return plain


def _words(parts: Mapping[str, Any]) -> str:
    """`name, key=value, …`, without entries that are empty, zero or false."""
    shown = [
        f"{k}={_brief(v)}"
        for k, v in parts.items()
        if k != "name" and v not in (None, (), [], {}, "", 0, "0", "0/1", False)
    ]
    return ", ".join(([str(parts["name"])] if "name" in parts else []) + shown)


def _brief(value: Any) -> Any:
    if isinstance(value, Mapping):
        return f"({_words(value)})"
    return f"[{_some(value)}]" if isinstance(value, list) else value


def _some(names: Any, most: int = 12) -> str:
    shown = [str(_brief(n)) for n in names]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def _is_none(found: Any) -> bool:
    """Whether `lines` writes "none" for it, since nothing is there or all of it is zero."""
    return found is None or found == [] or (isinstance(found, Mapping) and not _words(found))


def _equal(found: Any, expected: Any) -> bool:
    """Whether a stated value is the expected one, which may be text from a command line."""
    if found == expected or (
        isinstance(found, (str, int, float, bool)) and str(found).lower() == str(expected).lower()
    ):
        return True
    if _is_none(found):
        return str(expected).lower() in ("none", "null", "")
    if isinstance(found, list):
        return [str(f) for f in found] == [part.strip() for part in str(expected).split(",")]
    try:
        return fraction(str(found)) == fraction(str(expected))
    except DataError:
        return False


def printable(text: str) -> str:
    """Text from a file, without control characters of a terminal and without line breaks."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
