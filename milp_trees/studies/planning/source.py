"""A SPEC, of a file or a mapping: its values, and errors that name the line or the key."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError, MilpTreesError
from milp_trees.studies.planning import lines as places

if TYPE_CHECKING:
    from milp_trees.studies.planning.schema import Spec

#: What stands in errors for the file of a SPEC that is a mapping.
MAPPING = "The SPEC"


class SpecError(DataError):
    """A SPEC cannot be run as it is; the sentence begins with the file and the line."""


#: Largest SPEC, and largest number of parts of a dotted name, whose reading takes the square of it.
MOST_CHARACTERS, MOST_PARTS = 10_000_000, 50
_DEEP = re.compile(rf"(?<![\w\"'-])(?:[\w\"'-]+[ \t]*\.[ \t]*){{{MOST_PARTS}}}")


class Source:
    """The text of a SPEC with the lines of its values.

    Parameters
    ----------
    text : str
        TOML.
    name : str
        The file, for errors.
    """

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text.replace("\r\n", "\n"), name
        if len(self.text) > MOST_CHARACTERS or re.search(_DEEP, self.text):
            raise SpecError(
                f"{name} has more than {MOST_CHARACTERS} characters or a name of more than {MOST_PARTS} parts, so it is no SPEC; write problems as tables."
            )
        try:
            self.values: dict[str, Any] = tomllib.loads(self.text)
        except RecursionError:
            raise SpecError(f"{name} is nested too deeply; write problems as tables.") from None
        except tomllib.TOMLDecodeError as error:
            raise SpecError(self._syntax(str(error))) from None
        self._lines: dict[places.Path, int] | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Source:
        """The SPEC of a mapping; errors name the key, as in `problems[0].data`."""
        try:
            text = json.dumps(values, indent=1, default=_plain)
        except (TypeError, ValueError) as error:
            raise SpecError(
                f"{MAPPING}: {error}; a SPEC holds texts, numbers, Booleans, lists and tables."
            ) from None
        source = cls("", MAPPING)
        source.text, source.values = text, json.loads(text)
        source._lines = _order(source.values)
        return source

    @classmethod
    def read(cls, path: Path) -> Source:
        """The SPEC in a file."""
        from milp_trees.data.files import contents, decoded, find

        file = find(path)
        return cls(decoded(contents(file), file), str(path))

    @property
    def title(self) -> str:
        """The title of a SPEC that states none."""
        return "study" if self.name == MAPPING else Path(self.name).stem

    def _syntax(self, said: str) -> str:
        found = re.search(r"\s*\((?:at line (\d+), column (\d+)|at end of document)\)$", said)
        line = found[1] if found and found[1] else str(self.text.count("\n") + 1)
        what = said[: found.start()] if found else said
        column = f", column {found[2]}" if found and found[2] else ""
        return f"{self.name}, line {line}{column}: this is no TOML: {what}."

    def line(self, path: places.Path) -> int:
        """The line of a value."""
        if self._lines is None:
            self._lines = places.lines_of(self.text)
        return places.line_at(self._lines, path)

    def where(self, path: places.Path) -> str:
        """The line of a value, or its key in a mapping, as sentences name it."""
        if self.name != MAPPING:
            return f"line {self.line(path)}"
        while path and path not in (self._lines or {}):  # a single value that stands for a list
            path = path[:-1]
        keys = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
        return keys.removeprefix(".") or "the whole"

    def error(self, path: places.Path, sentence: str) -> SpecError:
        """An error about the value at a path."""
        return SpecError(f"{self.name}, {self.where(path)}: {sentence}")

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """Give every error of the package inside the line of a value."""
        try:
            yield
        except SpecError:
            raise
        except MilpTreesError as error:
            raise self.error(path, str(error)) from error

    def checked(self) -> Spec:
        """The values, after a check of all keys and types."""
        from pydantic import ValidationError

        from milp_trees.studies.planning.schema import Spec

        known: dict[int, tuple[str, ...]] = {}
        try:
            return Spec.model_validate(self.values, context=known)
        except ValidationError as error:
            raise self._wrong(error.errors(include_url=False), known) from None

    def _wrong(self, errors: list[Any], known: Mapping[int, tuple[str, ...]]) -> SpecError:
        """The first unknown key, which may explain what is missing, or else the first error."""
        found = []
        # A table that is wrong is no text either; only what is wrong in it is said.
        inside = [
            e for e in errors if e["type"] != "string_type" or not isinstance(e["input"], dict)
        ]
        for error in inside or errors:
            path, table = self._place(error["loc"])
            if error["type"] == "union_tag_invalid":
                path = (*path, "kind")
            found.append(
                (
                    error["type"] != "extra_forbidden",
                    self.line(path),
                    path,
                    error,
                    known.get(id(table), ()),
                )
            )
        found.sort(key=lambda one: one[:2])
        _, _, path, error, keys = found[0]
        return self.error(path, _said(path, error, keys))

    def _place(self, loc: tuple[str | int, ...]) -> tuple[places.Path, Any]:
        """The path of an error in the file, and the innermost table there.

        Parts that name a member of a union are no keys; the position in a list that was written as
        a single value is none either.
        """
        value: Any = self.values
        table = value
        path: places.Path = ()
        for part, after in zip(loc, (*loc[1:], None), strict=True):
            inside = isinstance(part, str) and isinstance(value, dict) and part in value
            if inside and isinstance(after, str) and not isinstance(value[part], (dict, list)):
                continue  # the name of a member of a union, which is a key of that member too
            listed = isinstance(part, int) and isinstance(value, list) and part < len(value)
            if inside or listed:
                table = value if isinstance(value, dict) else table
                value, path = value[part], (*path, part)
        return path, value if isinstance(value, dict) and path != loc else table


def _plain(value: Any) -> Any:
    """What TOML would say for a path, a range, or a number or array of NumPy."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, range):
        return list(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} is of the type {type(value).__name__}")


def _order(values: Any, path: places.Path = (), found: Any = None) -> dict[places.Path, int]:
    """The positions of all values of a mapping, as lines of a text would give them."""
    found = {} if found is None else found
    found[path] = len(found) + 1
    inside: Iterable[tuple[str | int, Any]] = values.items() if isinstance(values, Mapping) else ()
    inside = enumerate(values) if isinstance(values, (list, tuple)) else inside
    for part, value in inside:
        _order(value, (*path, part), found)
    return found


#: What options of commands are called in a SPEC.
OPTIONS = {"depth": "max_depth", "leaves": "max_leaf_nodes"}


def _said(path: places.Path, error: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """A sentence for an error of pydantic."""
    names = [part for part in path if isinstance(part, str)]
    key = repr(names[-1]) if names else "the SPEC"
    kind, given = error["type"], error.get("input")
    if kind in ("too_short", "string_too_short"):
        return f"{key} must not be empty."
    if kind in ("model_type", "model_attributes_type"):
        return f"{key} must be a table; got {_brief(given)}."
    if kind == "extra_forbidden":
        close = difflib.get_close_matches(names[-1], keys, n=1)
        close = [OPTIONS[names[-1]]] if OPTIONS.get(names[-1]) in keys else close
        hint = f" Did you mean {close[0]!r}?" if close else ""
        if not close and names[-1] in OPTIONS:
            hint = f" It belongs to space, as in space = {{ {OPTIONS[names[-1]]} = 2 }}."
        return f"There is no key {key} here.{hint} Known: {', '.join(keys)}."
    if kind == "missing":
        return f"The key {error['loc'][-1]!r} is missing here."
    if kind == "union_tag_invalid":
        return f"'kind' is one of {error['ctx']['expected_tags']}; got {error['ctx']['tag']!r}.".replace(
            "''", "'"
        )
    message = error["msg"].removeprefix("Input ").replace("should", "must")
    message = message.replace("input was not", "must be")
    return f"{key} {message[0].lower() + message[1:]}; got {_brief(given)}."


def _brief(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= 60 else f"{text[:57]}…"
