"""From a table of problems in a SPEC to named recipes: lists become products."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

from milp_trees.common.registering import families
from milp_trees.studies.planning.lines import Path
from milp_trees.studies.planning.plan import PlannedProblem
from milp_trees.studies.planning.recipes import PATHS
from milp_trees.studies.planning.tasks import exact

#: Keys whose value is a list as a whole, and no list of alternatives.
WHOLE = frozenset({"features", "drop", "values", "text", "groups", "members"})
#: What a key is called in the names of problems.
SHORT = {
    "max_depth": "depth",
    "max_leaf_nodes": "leaves",
    "min_samples_leaf": "leaf",
    "max_length": "length",
    "min_samples_rule": "rule",
    "max_literals": "literals",
    "test_size": "test",
    "split_seed": "split",
}
#: Keys that are a part of every name, so that a name stays the same when a value is added.
ALWAYS = ("max_depth", "max_length", "lam")


class Choice(NamedTuple):
    """One value of a dimension: what the recipe says, the part of the name, and its place."""

    value: Any
    label: str
    path: Path


class Stated(NamedTuple):
    """A problem of the SPEC, with the places of the parts that name something."""

    problem: PlannedProblem
    places: Mapping[str, Path]


def count(table: Any) -> int:
    """The number of problems of a table, without making them."""
    return math.prod(
        sum(math.prod(map(len, _lists(_dumped(entry)).values())) for entry in getattr(table, name))
        for name in _dimensions(table)
    )


def _dimensions(table: Any) -> list[str]:
    """The fields of a table whose alternatives are multiplied with one another."""
    return [name for name in table.dimensions if hasattr(table, name)]


def stated(table: Any, path: Path, folder: str) -> Iterator[Stated]:
    """The problems of a table."""
    dimensions = {
        name: _data(table.data, (*path, name))
        if name == "data"
        else _choices(getattr(table, name), (*path, name))
        for name in _dimensions(table)
    }
    for chosen in itertools.product(*dimensions.values()):
        parts = dict(zip(dimensions, chosen, strict=True))
        data, labels = dict(parts["data"].value), {n: c.label for n, c in parts.items()}
        if "binarize" in parts:
            if "generator" not in data and "policy" not in data:
                data["binarize"] = parts["binarize"].value
            elif parts["binarize"] is not dimensions["binarize"][0]:
                continue  # generated rows and policy files are binary already
            else:
                data["binarize"], labels["binarize"] = "auto", ""
        others: dict[str, Any] = {
            n: part.value for n, part in parts.items() if n not in ("data", "binarize")
        }
        name = "/".join(filter(None, [table.name, *labels.values()]))
        yield Stated(
            PlannedProblem(
                name, table.group, table.kind, labels["data"], {"data": data, **others}, folder
            ),
            {name: choice.path for name, choice in parts.items()},
        )


def _dumped(entry: Any) -> dict[str, Any]:
    """The keys that an entry states, and those of `ALWAYS`; a text is a name."""
    if isinstance(entry, str):
        return {"name": entry}
    always = {name: getattr(entry, name) for name in ALWAYS if name in type(entry).model_fields}
    return {n: v for n, v in {**always, **entry.model_dump(exclude_unset=True)}.items() if v != []}


def _lists(given: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The alternatives of every key."""
    return {name: value if _several(name, value) else [value] for name, value in given.items()}


def _several(name: str, value: Any) -> bool:
    """Whether a value is a list of alternatives.

    The constraints of a task are a list as a whole; a list of such lists are alternatives.
    """
    if not isinstance(value, list) or name in WHOLE:
        return False
    return name != "constraints" or all(isinstance(one, list) for one in value)


def _products(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    lists = _lists(given)
    for values in itertools.product(*lists.values()):
        yield dict(zip(lists, values, strict=True))


def _choices(entries: list[Any], path: Path) -> list[Choice]:
    """The alternatives of a dimension; its labels hold what tells them apart."""
    variants = [(i, values) for i, one in enumerate(entries) for values in _products(_dumped(one))]
    out = []
    for i, values in variants:
        alias = values.pop("alias", None)
        alike = [other for j, other in variants if j == i or alias is None]
        label = _label(values, alias, _differing(alike), len(variants) > 1, path[-1])
        out.append(Choice(_recipe(entries[i], values, path[-1]), label, (*path, i)))
    return out


def _label(
    values: Mapping[str, Any], alias: str | None, differ: set[str], several: bool, dimension: Any
) -> str:
    """The part of a problem's name for one alternative of a dimension."""
    base = values.get("name", values.get("kind")) if dimension in ("task", "binarize") else None
    if base is None and alias is None:
        return _told(values, [name for name in values if name in differ or name in ALWAYS])
    reported = _told(
        values, [name for name in values if name in differ - {"name", "kind", "alias"}]
    )
    if alias is None and not several:
        return ""
    return f"{alias or base}{':' if reported else ''}{reported}"


def _recipe(entry: Any, values: dict[str, Any], dimension: Any) -> Any:
    """What the recipe says for an alternative."""
    if dimension == "binarize" and isinstance(entry, str):
        return entry
    if dimension == "space":
        return {name: None if v == "none" else exact(v) for name, v in values.items()}
    return values


def _differing(variants: list[dict[str, Any]]) -> set[str]:
    """Keys that do not have the same value in all variants."""
    keys = {key for values in variants for key in values}
    absent = object()
    first = variants[0]
    return {
        key
        for key in keys
        if any(values.get(key, absent) != first.get(key, absent) for values in variants)
    }


def _told(values: Mapping[str, Any], names: list[str]) -> str:
    return ",".join(f"{SHORT.get(name, name)}={_text(values[name])}" for name in names)


def _text(value: Any) -> str:
    """A value in the name of a problem."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        return "+".join(f"{name}:{_text(v)}" for name, v in value.items())
    if isinstance(value, list):
        return "+".join(map(_text, value))
    return str(value)


# -- data ----------------------------------------------------------------------------------------


def _data(entries: list[Any], path: Path) -> list[Choice]:
    """The alternatives of the data: their description, and the short name of each."""
    out = []
    for i, entry in enumerate(entries):
        place = (*path, i)
        if isinstance(entry, str):
            out.append(Choice(*_of_text(entry), place))
            continue
        variants = list(_products(_dumped(entry)))
        differ = _differing(variants)
        for values in variants:
            name = values.pop("name", None)
            shown = [key for key in values if key in differ]
            out.append(Choice(*_of_table(values, name, shown), place))
    return out


def _of_text(text: str) -> tuple[dict[str, Any], str]:
    """Data that a text names: built in, generated, or a file."""
    from milp_trees.data.builtin import BUILTIN

    kind, _, given = text.partition(":")
    if text in BUILTIN or not set("./:") & set(text):
        return {"name": text}, text
    if kind in generators() or (given and "=" in given and "/" not in kind):
        return {"generator": kind, "given": given}, text
    return {"file": text}, _stem(text)


def _of_table(
    values: dict[str, Any], name: str | None, shown: list[str]
) -> tuple[dict[str, Any], str]:
    """Data that a table describes, and its short name."""
    if "generator" in values:
        kind = values.pop("generator")
        rows: dict[str, Any] = {
            key: values.pop(key) for key in ("test_size", "split_seed") if key in values
        }
        reported = _told(values, [key for key in values if name is None or key in shown])
        label = f"{name or kind}{':' if reported else ''}{reported}"
        more = _told(rows, [key for key in rows if key in shown])
        given = ",".join(f"{key}={_text(value)}" for key, value in values.items())
        return {"generator": kind, "given": given, **rows}, label + (f",{more}" if more else "")
    reported = _told(values, shown)
    source = values.pop("builtin", None)
    base = name or source or _stem(next(values[key] for key in PATHS if key in values))
    if source is not None:
        values = {"name": source, **values}
    return values, f"{base}{':' if reported else ''}{reported}"


def generators() -> tuple[str, ...]:
    """Names of the generators of all kinds of problems."""
    from milp_trees.data.generate import GENERATORS

    return (*GENERATORS, *(name for one in families.parts("generators") for name in one.kinds))


def _stem(file: str) -> str:
    """The name of a file or folder without its ending and `.gz`."""
    name = PurePath(file.removesuffix(".gz"))
    return name.stem or file
