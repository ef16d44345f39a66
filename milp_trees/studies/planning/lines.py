"""Lines of a TOML text: where each key and each entry of a list stands.

`tomllib` gives values without their places. The tokens are those of Pygments' lexer for TOML, and
the text is known to be valid, so a walk over the tokens is enough.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

#: The path of a value: keys of tables and positions in lists.
Path = tuple[str | int, ...]


class Token(NamedTuple):
    """A token that matters: its line, whether it belongs to a string, and its text."""

    line: int
    string: bool
    text: str


def lines_of(text: str) -> dict[Path, int]:
    """The line of every table, key and entry of a list of a valid TOML text, from 1 on."""
    return _Walk(list(_tokens(text))).lines()


def line_at(lines: Mapping[Path, int], path: Path) -> int:
    """The line of a path, or of the longest part of it that has one."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def _tokens(text: str) -> Iterator[Token]:
    from pygments.lexers.configs import TOMLLexer
    from pygments.token import Comment, String

    continued = False
    for place, kind, part in TOMLLexer(stripnl=False, ensurenl=False).get_tokens_unprocessed(text):
        line = text.count("\n", 0, place) + 1
        # For the lexer, the break after a \ at the end of a line of a string is no string.
        if kind in String or (continued and not part.strip()):
            continued = part == "\\"
            yield Token(line, True, part)
        elif kind not in Comment and not part.strip():
            if "\n" in part:
                yield Token(line, False, "\n")
        elif kind not in Comment:
            yield Token(line, False, part.strip())


class _Walk:
    """A walk over the tokens that keeps the path of the current table."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.place = 0
        self.found: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}

    def lines(self) -> dict[Path, int]:
        table: Path = ()
        while (token := self._next_after_breaks()) is not None:
            if token.text in ("[", "[[") and not token.string:
                self.place += 1
                table = self._table(self._key("]", "]]"), token)
                self.place += 1
            else:
                self._pair(table)
        return self.found

    def _next_after_breaks(self) -> Token | None:
        while self.place < len(self.tokens) and self.tokens[self.place].text == "\n":
            self.place += 1
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def _table(self, key: list[str], token: Token) -> Path:
        """The path of a table's head; lists of tables count their entries."""
        path: Path = ()
        for i, part in enumerate(key):
            path = (*path, part)
            last = i == len(key) - 1
            if last and token.text == "[[":
                self.counts[path] = self.counts.get(path, -1) + 1
            if path in self.counts:
                path = (*path, self.counts[path])
        self.found[path] = token.line
        self.found.setdefault(path[:-1], token.line)
        return path

    def _key(self, *ends: str) -> list[str]:
        """The parts of a key up to one of the ends, which is not consumed."""
        text = ""
        while (token := self.tokens[self.place]).string or token.text not in ends:
            text += token.text
            self.place += 1
        return _parts(text)

    def _pair(self, table: Path) -> None:
        line = self.tokens[self.place].line
        path = table
        for part in self._key("="):
            path = (*path, part)
            self.found.setdefault(path, line)
        self.place += 1
        self._value(path)

    def _value(self, path: Path) -> None:
        """Pass a value; entries of lists and keys of inline tables get their lines."""
        opening = self._next_after_breaks()
        assert opening is not None
        if opening.string or opening.text not in ("[", "{", "[["):
            self._plain()
            return
        self.place += 1
        number = 0
        while True:
            token = self._next_after_breaks()
            assert token is not None
            if not token.string and token.text in ("]", "}"):
                self.place += 1
                return
            if not token.string and token.text == ",":
                self.place += 1
            elif opening.text == "{":
                self._pair(path)
            else:
                self.found[(*path, number)] = token.line
                self._value((*path, number))
                number += 1

    def _plain(self) -> None:
        """Pass a string (of several tokens), a number, a date or a truth value."""
        kind = self.tokens[self.place].string
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            if token.string != kind or (not kind and token.text in (",", "]", "}", "\n")):
                return
            self.place += 1


def _parts(text: str) -> list[str]:
    """The parts of a dotted key, whose parts may be quoted."""
    table: Any = tomllib.loads(f"{text} = 0")
    parts = []
    while isinstance(table, dict):
        ((part, table),) = table.items()
        parts.append(part)
    return parts
