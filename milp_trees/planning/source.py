"""A SPEC file: its text, its values, and errors that name the line."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.errors import DataError, MilpTreesError
from milp_trees.planning import lines as places

if TYPE_CHECKING:
    from milp_trees.planning.schema import Spec


class SpecError(DataError):
    """A SPEC cannot be run as it is; the sentence begins with the file and the line."""


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
        try:
            self.values: dict[str, Any] = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise SpecError(self._syntax(str(error))) from None
        self._lines: dict[places.Path, int] | None = None

    @classmethod
    def read(cls, path: Path) -> Source:
        """The SPEC in a file.

        Raises
        ------
        DataError
            The file cannot be read, or is no TOML.
        """
        from milp_trees.data.files import contents, decoded, find

        file = find(path)
        return cls(decoded(contents(file), file), str(path))

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

    def error(self, path: places.Path, sentence: str) -> SpecError:
        """An error about the value at a path."""
        return SpecError(f"{self.name}, line {self.line(path)}: {sentence}")

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
        """The values, after a check of all keys and types.

        Raises
        ------
        SpecError
            The first value that is wrong, with its line.
        """
        from pydantic import ValidationError

        from milp_trees.planning.schema import Spec

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
        hint = f" Did you mean {close[0]!r}?" if close else ""
        return f"There is no key {key} here.{hint} Known: {', '.join(keys)}."
    if kind == "missing":
        return f"The key {error['loc'][-1]!r} is missing here."
    if kind == "union_tag_invalid":
        return f"'kind' is one of {error['ctx']['expected_tags']}; got {error['ctx']['tag']!r}.".replace(
            "''", "'"
        )
    said = error["msg"].removeprefix("Input ").replace("should", "must")
    said = said.replace("input was not", "must be")
    return f"{key} {said[0].lower() + said[1:]}; got {_brief(given)}."


def _brief(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= 60 else f"{text[:57]}…"
