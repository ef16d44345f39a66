"""How texts of a column are turned into numbers or dates: `12.5 %`, `1.200,50 €`, `05.03.2021`.

A format is found from the different texts of a whole column, and only if nearly all of them have
it. What it cannot read is told, and never left out quietly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.data import dates, numbers
from milp_trees.errors import DataError

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
#: Largest share of other texts in a column that was meant to hold numbers or dates.
SPOILT = 0.1
#: Such a column has more different numbers or dates than this; otherwise it is text.
MANY = 10
#: Different texts that are looked at before all of them are.
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
    """

    values: Any = None
    format: Format | None = None
    unknown: tuple[str, ...] = ()
    problem: str = ""
    remedy: str = ""


def decimal_of(sample: pd.DataFrame) -> str | None:
    """The decimal mark that the columns of a table, all texts, have; None if they do not tell."""
    seen = set()
    for _, column in sample.items():
        cells = _clean(column.dropna().unique())
        seen |= numbers.marks(cells[~_unknown(cells)])
    return seen.pop() if len(seen) == 1 else None


def told(
    column: pd.Series,
    *,
    stated: str | None = None,
    usual: str | None = None,
    order: str | None = None,
    known: Format | None = None,
) -> Told:
    """Find out what a column of texts holds, and read it.

    Parameters
    ----------
    column : Series
        Texts, some of which may be missing.
    stated, usual : str, optional
        The decimal mark that the user states, and that of other columns of the table.
    order : str, optional
        "day-first" or "month-first", for dates that do not decide it.
    known : Format, optional
        The format, if it was found before; what it cannot read is then a problem.

    Returns
    -------
    Told
    """
    import pandas as pd

    codes, texts = pd.factorize(column)
    cells = _clean(texts)
    missing = _unknown(cells)
    held, rows = cells[~missing], np.bincount(codes[codes >= 0], minlength=len(cells))[~missing]
    if not len(held):
        return Told()
    format, guess = known, None
    if known is None:
        few = held if len(held) <= _SAMPLE else held.iloc[:: len(held) // _SAMPLE]
        if few.str.contains(r"\d").mean() < 1 - SPOILT:
            return Told()
        date = dates.guess(held, rows, order)
        guess = numbers.guess(held, rows, stated, usual) if date is None else None
        if date is not None:
            format = Format("date", pattern=date.pattern)
        elif guess is not None:
            format = Format("number", guess.decimal, guess.unit)
    elif known.kind == "number" and known.decimal is None:
        guess = numbers.guess(held, rows, stated, usual)
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
    return Told(out, format, tuple(sorted({str(w) for w in cells[missing]})))


def _spoilt(
    column: pd.Series, wrong: Any, rows: np.ndarray, bad: np.ndarray, format: Format
) -> tuple[str, str]:
    """The problem of a column in which some texts have another form, and its remedy."""
    texts = column.astype(str).str.strip()
    row = int(texts.isin(set(wrong.astype(str))).to_numpy().argmax())
    return (
        f"holds {format} but for {int(rows[bad].sum())} of {int(rows.sum())} entries, such as {texts.iloc[row]!r} in row {row}",
        "correct them or drop those rows",
    )


def _clean(cells: Any) -> pd.Series:
    """Texts without spaces at their ends; every kind of space is the usual one."""
    import pandas as pd

    series = pd.Series(np.asarray(cells, dtype=object)).astype(str)
    return series.str.replace(r"[\u00a0\u2007\u2009\u202f]", " ", regex=True).str.strip()


def _unknown(cells: pd.Series) -> Any:
    """Which texts stand for a missing value."""
    return cells.str.lower().isin(UNKNOWN).to_numpy(dtype=bool)
