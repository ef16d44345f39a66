"""`Reading`: how a table is read, as a user states it and as it was found out.

This is the one list of the options of reading. The command line, a SPEC and the keywords of `load`
take their names, types and help texts from here.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.data import dates
from milp_trees.data.formats import Format
from milp_trees.data.parameters import Whole

#: The word for fields between which stand any number of spaces and tabs.
SPACE = "space"
#: Words that `sep` takes in place of a character that is hard to type.
WORDS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "whitespace": SPACE}
#: What is done with a text column of more than `max_categories` values.
CATEGORIES = ("refuse", "target", "hash")
#: How dates such as 03/04/2021 are read.
DATES = ("day-first", "month-first")
#: What is read if nothing else was stated or found.
USUAL = {"sep": (",", SPACE), "encoding": ("utf-8",)}


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class Reading:
    """How a table is read; None stands for what is to be found out.

    Parameters
    ----------
    sep : str, optional
        What separates the fields: one character, or `tab`, `comma`, `semicolon`, `pipe`, or `space`
        for any number of spaces and tabs.
    decimal : {".", ","}, optional
        The decimal mark.
    encoding : str, optional
        The encoding of the text by its name in Python, such as `cp1252`.
    dates : {"day-first", "month-first"}, optional
        How dates such as 03/04/2021 are read where their column does not decide it.
    text : sequence of str
        Columns that are read as text, whatever they look like.
    max_categories : int, optional
        Most different values of a text column, 100 by default.
    categories : {"refuse", "target", "hash"}
        What is done with text columns that have more: they are refused, replaced by the share of
        each class (computed out of fold), or their values are put into `max_categories` groups by
        a hash.
    category_sets : int, optional
        Text columns with 4 to so many values get a feature for every set of their values.
    ignore_bad_columns : bool
        Leave out columns that cannot be used, instead of refusing the table.
    formats : mapping of column to Format
        How texts of a column are turned into numbers or dates, where that was found out already.
    guessed : sequence of str
        Which of the parameters above were found out, and not stated.
    """

    sep: str | None = _option(
        None, "What separates fields: a character, tab, or space (any number). Default: guessed."
    )
    decimal: str | None = _option(None, "Decimal mark, '.' or ','. Default: guessed.")
    encoding: str | None = _option(None, "Encoding of the text, e.g. cp1252. Default: guessed.")
    dates: str | None = _option(
        None, "day-first or month-first, for dates like 03/04/2021 if their column leaves it open."
    )
    text: tuple[str, ...] = _option((), "Columns that are text, whatever they look like.")
    max_categories: int | None = _option(
        None, "Most different values of a text column. Default: 100."
    )
    categories: str = _option(
        "refuse",
        "Text columns with more values are: refuse (refused), target (replaced by the shares of the classes, out of fold) or hash (put into groups).",
    )
    category_sets: int | None = _option(
        None,
        "Text columns with up to so many values are asked for every set of values. Default: for each value.",
    )
    ignore_bad_columns: bool = _option(
        False, "Leave out the columns that cannot be used, instead of refusing the table."
    )
    formats: Mapping[str, Format] = field(default_factory=dict)
    guessed: tuple[str, ...] = ()

    @classmethod
    def options(cls) -> dict[str, tuple[Any, str]]:
        """Default and help text of every option that a user may state, by its name."""
        return {f.name: (f.default, f.metadata["help"]) for f in fields(cls) if f.metadata}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Reading:
        """The reading that keyword arguments state; None stands for what was not given."""
        stated = {name: value for name, value in given.items() if value is not None}
        if "sep" in stated:
            stated["sep"] = _separator(stated["sep"])
        for name, allowed in (
            ("decimal", (".", ",")),
            ("dates", DATES),
            ("categories", CATEGORIES),
        ):
            if name in stated and stated[name] not in allowed:
                raise DataError(
                    f"{name} is one of {', '.join(map(repr, allowed))}; got {stated[name]!r}."
                )
        if "encoding" in stated:
            try:
                codecs.lookup(stated["encoding"])
            except (LookupError, TypeError, ValueError):
                raise DataError(
                    f"There is no encoding {stated['encoding']!r}; write its name in Python, such as utf-8, cp1252, latin-1 or utf-16."
                ) from None
        if "max_categories" in stated and not Whole(1).allows(stated["max_categories"]):
            raise DataError(f"max_categories must be {Whole(1)}; got {stated['max_categories']!r}.")
        if "category_sets" in stated and not Whole(0).allows(stated["category_sets"]):
            raise DataError(f"category_sets must be {Whole(0)}; got {stated['category_sets']!r}.")
        if not isinstance(stated.get("ignore_bad_columns", False), bool):
            raise DataError(
                f"ignore_bad_columns must be True or False; got {stated['ignore_bad_columns']!r}."
            )
        return cls(**stated)

    def found(self, **what: str) -> Reading:
        """The same reading with what was found out, where the user did not state it."""
        new = {name: value for name, value in what.items() if getattr(self, name) is None}
        guessed = tuple(dict.fromkeys((*self.guessed, *new)))
        return replace(self, guessed=guessed, **new)  # type: ignore[arg-type]

    def elsewhere(self) -> Reading:
        """The reading of another file with the same columns.

        Its separator and its encoding are found out anew if they were found out for this one.
        """
        forgotten = {name: None for name in ("sep", "encoding") if name in self.guessed}
        return replace(self, **forgotten)  # type: ignore[arg-type]

    def stating(self, given: Mapping[str, Any]) -> Reading:
        """The same reading with what a user states for another file.

        A decimal mark and an order of day and month also count for columns whose form is known.
        """
        message = {name: value for name, value in given.items() if value is not None}
        stated = Reading.of(message)
        formats = dict(self.formats)
        for name, form in self.formats.items():
            if form.kind == "number" and stated.decimal:
                formats[name] = replace(form, decimal=None)
            if form.kind == "date" and stated.dates:
                formats[name] = replace(form, pattern=dates.ordered(form.pattern, stated.dates))
        new = {name: getattr(stated, name) for name in message}
        guessed = tuple(name for name in self.guessed if name not in message)
        return replace(self, formats=formats, guessed=guessed, **new)

    def to_json(self) -> dict[str, Any]:
        """What differs from the usual; empty for a table that needs no explanation."""
        out: dict[str, Any] = {}
        for name, (default, _) in self.options().items():
            value = getattr(self, name)
            usual = name in self.guessed and value in USUAL.get(name, ())
            if value != default and not usual:
                out[name] = list(value) if isinstance(value, tuple) else value
        if self.formats:
            out["formats"] = {c: f.to_json() for c, f in self.formats.items()}
        guessed = [name for name in self.guessed if name in out]
        return {**out, "guessed": guessed} if guessed else out

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Reading:
        """The reading that `to_json` described."""
        given = dict(data)
        formats, guessed = given.pop("formats", {}), given.pop("guessed", ())
        unknown = sorted(set(given) - set(cls.options()))
        if unknown or not isinstance(formats, Mapping):
            raise DataError(
                f"The stored way of reading is damaged: {unknown[0] if unknown else 'formats'!r} means nothing there; solve again."
            )
        given["text"] = tuple(given.get("text", ()))
        return replace(
            cls.of(given),
            formats={str(c): Format.from_json(f) for c, f in formats.items()},
            guessed=tuple(guessed),
        )


def _separator(given: Any) -> str:
    """The character, or SPACE, that a user's word stands for."""
    word = WORDS.get(given, given) if isinstance(given, str) else given
    if word == "\\t":
        return "\t"
    if word in (" ", SPACE):
        return SPACE
    if not isinstance(word, str) or len(word) != 1 or word.isalnum() or word in "\"'\n\r.-+_":
        raise DataError(
            f"sep is one character such as ';' or '|', or one of tab, comma, semicolon, pipe, space; got {given!r}."
        )
    return word
