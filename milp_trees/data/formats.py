"""How texts of a column are turned into numbers or dates: `12.5 %`, `1.200,50 €`, `05.03.2021`.

A format is found from the different texts of a whole column, and only if nearly all of them have
it. What it cannot read is told, and never left out quietly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data import dates, numbers

if TYPE_CHECKING:
    import pandas as pd

#: Texts that stand for a missing value in a column of numbers or dates, in small letters.
UNKNOWN = frozenset(
    [
        "na",
        "n/a",
        "n.a.",
        "n.a",
        "nan",
        "none",
        "null",
        "nil",
        "?",
        "??",
        "-",
        "--",
        "---",
        "–",
        "—",
        ".",
        "..",
        "missing",
        "unknown",
        "unk",
        "(blank)",
        "<na>",
        "nat",
        "#n/a",
        "#na",
        "#null!",
        "#div/0!",
        "#value!",
        "#ref!",
        "#num!",
        "#name?",
        "not available",
        "not known",
        "no data",
        "0000-00-00",
        "",
    ]
)
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
#: A number whose point stands before no group of three digits.
_POINT = re.compile(r"[-+]?(\d*\.\d{1,2}|\d*\.\d{4,}|0\.\d+|\d{4,}\.\d+)([eE][-+]?\d+)?")
#: Largest share of other texts in a column that was meant to hold numbers or dates.
SPOILT = 0.1
#: Such a column has more different numbers or dates than this; otherwise it is text.
MANY = 10
#: Cells that are looked at before all of them are.
_SAMPLE = 500


@dataclass(frozen=True)
class Format:
    """How the texts of a column are read.

    Parameters
    ----------
    kind : {"number", "date"}
    decimal : str, optional
        The decimal mark of numbers; None if they have none.
    unit : str
        What stands before or after every number: `%`, a sign of a currency, or nothing.
    pattern : str
        The form of dates in the letters of `strftime`.
    """

    kind: str
    decimal: str | None = None
    unit: str = ""
    pattern: str = ""

    def values(self, cells: Any) -> np.ndarray:
        """Numbers (NaN) or dates (NaT) of texts, missing where a text has another form."""
        if self.kind == "date":
            return dates.values(cells, self.pattern)
        return numbers.values(cells, self.decimal, self.unit)

    def __str__(self) -> str:
        if self.kind == "date":
            return f"dates written {dates.spelled(self.pattern)}"
        words = {None: "", ",": " with decimal comma", ".": " with decimal point"}
        what = f"amounts in {self.unit}" if self.unit not in ("", "%") else "numbers"
        return f"{'percent' if self.unit == '%' else what}{words[self.decimal]}"

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value}

    @classmethod
    def from_json(cls, data: Any) -> Format:
        known = isinstance(data, Mapping) and set(data) <= set(cls.__dataclass_fields__)
        texts = known and all(isinstance(value, str) for value in data.values())
        if not texts or data.get("kind") not in ("number", "date"):
            raise DataError(f"The stored format {data!r} of a column is damaged; solve again.")
        return cls(**data)


#: Numbers whose decimal mark is not known.
PLAIN = Format("number")


@dataclass(frozen=True)
class Told:
    """What a column of texts holds.

    Parameters
    ----------
    values : array of shape (n,), optional
        Its numbers or dates; None if it stays text.
    format : Format, optional
    unknown : tuple of str
        Texts that were taken as missing values.
    problem : str
        What is wrong with the column; empty if nothing is.
    remedy : str
        What the user can do about it.
    own : bool
        Whether numbers show their decimal mark themselves.
    """

    values: Any = None
    format: Format | None = None
    unknown: tuple[str, ...] = ()
    problem: str = ""
    remedy: str = ""
    own: bool = False


def open_mark(column: pd.Series) -> str:
    """A number of a column of texts in which both marks may be the decimal one.

    Empty if a number of the column shows which one it is.
    """
    cells = _clean(column.dropna().unique())
    cells = cells[~_unknown(cells)]
    found = numbers.guess(cells, np.ones(len(cells), int), None, None)
    return "" if found is None or not found.problem else found.problem


def decimal_of(sample: pd.DataFrame) -> str | None:
    """The decimal mark that the columns of a table, all texts, have; None if they do not tell."""
    seen: set[str] = set()
    for _, column in sample.items():
        texts = column.dropna().unique().tolist()
        if not any("," in text for text in texts):  # a point, if anything; without a slow look
            seen |= _plain_point(texts)
            continue
        cells = _clean(texts)
        seen |= numbers.marks(cells[~_unknown(cells)])
    return seen.pop() if len(seen) == 1 else None


def _plain_point(texts: list[str]) -> set[str]:
    """The decimal point, if all texts are numbers and one has no meaning without it."""
    known = [text for text in texts if text.strip().lower() not in UNKNOWN]
    if not any(_POINT.fullmatch(text.strip()) for text in known):
        return set()
    return {"."} if all(_NUMBER.fullmatch(text.strip()) for text in known) else set()


def told(
    column: pd.Series,
    *,
    stated: str | None = None,
    usual: str | None = None,
    sure: bool = True,
    order: str | None = None,
    known: Format | None = None,
) -> Told:
    """Find out what a column of texts holds, and read it."""
    import pandas as pd

    if known is None and not _has_digits(column):
        return Told()
    codes, texts = pd.factorize(column)
    cells = _clean(texts)
    missing = _unknown(cells)
    held, rows = cells[~missing], np.bincount(codes[codes >= 0], minlength=len(cells))[~missing]
    if not len(held):
        return Told()
    format, guess = known, None
    if known is None:
        date = dates.guess(held, rows, order)
        guess = numbers.guess(held, rows, stated, usual, sure) if date is None else None
        if date is not None:
            format = Format("date", pattern=date.pattern)
        elif guess is not None:
            format = Format("number", guess.decimal, guess.unit)
    elif known.kind == "number" and known.decimal is None:
        guess = numbers.guess(held, rows, stated, usual, sure)
        if guess is not None and guess.remedy == numbers.SAY_MARK:
            return Told(None, None, (), guess.problem, guess.remedy)
        format = replace(known, decimal=guess and guess.decimal)
    if format is None:
        return Told()
    values = format.values(held)
    bad = np.asarray(pd.isna(values))
    if known is None:
        spoilt = rows[bad].sum() > SPOILT * rows.sum() or len(np.unique(values[~bad])) <= MANY
        for found in (date, guess):
            if found is not None and found.problem:
                return Told(None, None, (), found.problem, found.remedy)
        if bad.any() and spoilt:
            return Told()
    if bad.any():
        return Told(None, None, (), *_spoilt(column, held[bad], rows, bad, format))
    every = np.full(len(cells) + 1, np.nan if format.kind == "number" else "NaT", values.dtype)
    every[:-1][~missing] = values
    out = every[codes]  # -1, for a missing cell, is the last one
    own = guess is not None and guess.own
    return Told(out, format, tuple(sorted({str(w) for w in cells[missing]})), own=own)


def _has_digits(column: pd.Series) -> bool:
    """Whether nearly all cells of a sample that are not missing hold a digit."""
    held = column.dropna()
    few = _clean(held.iloc[:: max(1, len(held) // _SAMPLE)])
    few = few[~_unknown(few)]
    return bool(len(few) and few.str.contains(r"\d").mean() >= 1 - SPOILT)


def _spoilt(
    column: pd.Series, wrong: Any, rows: np.ndarray, bad: np.ndarray, format: Format
) -> tuple[str, str]:
    """The problem of a column in which some texts have another form, and its remedy."""
    texts = column.astype(str).str.strip()
    row = int(texts.isin(set(wrong.astype(str))).to_numpy().argmax())
    return (
        f"holds {format} but for {int(rows[bad].sum())} of {int(rows.sum())} entries, such as {texts.iloc[row]!r} in row {row}",
        "correct them, drop those rows, keep the column as text with --text",
    )


def _clean(cells: Any) -> pd.Series:
    """Texts without spaces at their ends; every kind of space is the usual one."""
    import pandas as pd

    series = pd.Series(np.asarray(cells, dtype=object)).astype(str)
    return series.str.replace(r"[\u00a0\u2007\u2009\u202f]", " ", regex=True).str.strip()


def _unknown(cells: pd.Series) -> Any:
    """Which texts stand for a missing value."""
    return cells.str.lower().isin(UNKNOWN).to_numpy(dtype=bool)
