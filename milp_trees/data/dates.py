"""Dates: how a column of texts writes them, and thresholds between them that can be read.

A threshold is an ISO text, `2021-03-05` or `2021-03-05T12:30`, and is compared as time.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

_TIME = r"(?P<time>[T ]\d{1,2}:\d{2}(?P<second>:\d{2}(?P<part>\.\d+)?)?(?P<half> ?[AaPp][Mm])?(?P<zone> ?Z| ?[+-]\d{2}:?\d{2})?)?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
#: A year beside a month alone, where other numbers of four digits are likelier to be codes.
_YEAR = r"(?:1[5-9]|2[01])\d{2}(?P<time>)"
#: Form of a date → the letters of `strftime` for it; `S` stands for the separator.
_FORMS = {
    re.compile(r"(?P<y>\d{4})(?P<S>[-/.])\d{1,2}(?P=S)\d{1,2}" + _TIME): ("%YS%mS%d",),
    re.compile(r"\d{1,2}(?P<S>[-/.])\d{1,2}(?P=S)\d{4}" + _TIME): ("%dS%mS%Y", "%mS%dS%Y"),
    re.compile(rf"\d{{1,2}}(?P<S>[- ]){_MONTH}(?P=S)\d{{4}}" + _TIME): ("%dS%bS%Y",),
    re.compile(r"\d{1,2}(?P<S>[- ])[A-Z][a-z]{3,8}(?P=S)\d{4}" + _TIME): ("%dS%BS%Y",),
    re.compile(rf"{_MONTH}(?P<S> )\d{{1,2}},? \d{{4}}" + _TIME): ("%bS%d, %Y", "%bS%d %Y"),
    re.compile(r"[A-Z][a-z]{3,8}(?P<S> )\d{1,2},? \d{4}" + _TIME): ("%BS%d, %Y", "%BS%d %Y"),
    # A month without a day is its first day.
    re.compile(rf"{_YEAR}(?P<S>[-/])(?:0?[1-9]|1[0-2])"): ("%YS%m",),
    re.compile(rf"(?:0?[1-9]|1[0-2])(?P<S>[-/]){_YEAR}"): ("%mS%Y",),
}
#: Names of the letters, for people.
_SPELLED = {
    "%Y": "YYYY",
    "%m": "MM",
    "%d": "DD",
    "%b": "Mon",
    "%B": "Month",
    "%H": "hh",
    "%I": "hh",
    "%M": "mm",
    "%S": "ss",
    "%f": "f",
    "%p": "AM/PM",
    "%z": "zone",
}
#: A date whose year has two digits; which of its numbers is the year cannot be known.
_SHORT_YEAR = r"(?:0?[1-9]|[12]\d|3[01])([./-])(?:0?[1-9]|[12]\d|3[01])\1\d\d"
#: Number of texts whose forms are tried on all of them.
_FIRST = 20
#: Units of time in which thresholds are written, the coarsest first, and the letters of each text.
_UNITS = ("D", "h", "m", "s", "ms", "us")


class Guess(NamedTuple):
    """How the dates of a column are written, or why that cannot be told."""

    pattern: str
    problem: str = ""
    remedy: str = ""


def guess(cells: Any, rows: np.ndarray, order: str | None) -> Guess | None:
    """How texts, most of which are dates, write them; None if too few are dates."""
    patterns: dict[str, None] = {}
    for text in cells.head(_FIRST):
        for form, letters in _FORMS.items():
            if match := form.fullmatch(text):
                patterns |= dict.fromkeys(
                    p.replace("S", match["S"]) + _time(match) for p in letters
                )
    read = {p: values(cells, p) for p in patterns}
    good = {p: int(rows[~np.isnat(v)].sum()) for p, v in read.items()}
    best = max(good, key=lambda p: good[p], default="")
    if not best or not good[best]:
        short = cells.str.fullmatch(_SHORT_YEAR).to_numpy(dtype=bool)
        if rows[short].sum() < 0.9 * rows.sum() or len(cells) <= _FIRST // 2:
            return None
        return Guess(
            "",
            f"seems to hold dates with two digits for the year, such as {cells[short].iloc[0]!r}",
            "write years with four digits, keep the column as text with --text",
        )
    other = _other_order(best)
    if good[best] != good.get(other) or np.array_equal(read[best], read[other], equal_nan=True):
        return Guess(best)
    first = cells[~np.isnat(read[best])].iloc[0]
    if order is not None:
        month_first = best.startswith("%m")
        return Guess(best if month_first == (order == "month-first") else other)
    if good[best] < rows.sum():
        return Guess(
            best,
            f"holds dates such as {first!r}, some with the day first and some with the month first",
            "write all of them as 2021-03-05",
        )
    return Guess(
        best,
        f"holds dates such as {first!r}, in which day and month cannot be told apart",
        "say which comes first with --dates day-first or --dates month-first",
    )


def _other_order(pattern: str) -> str:
    """The pattern with day and month exchanged."""
    return re.sub("^%([dm])(.)%([dm])", r"%\3\2%\1", pattern)


def _time(match: re.Match[str]) -> str:
    """The letters for the time of day of a text."""
    if not match["time"]:
        return ""
    half = match["half"]
    text = match["time"][0] + ("%I:%M" if half else "%H:%M")
    text += (":%S" if match["second"] else "") + (".%f" if match["part"] else "")
    text += "" if not half else " %p" if half.startswith(" ") else "%p"
    zone = match["zone"] or ""
    return text + (" %z" if zone.startswith(" ") else "%z" if zone else "")


def values(cells: Any, pattern: str) -> np.ndarray:
    """The times of texts that are written by a pattern; NaT for other texts.

    Times with a zone are given in UTC.
    """
    import pandas as pd

    found = pd.to_datetime(
        pd.Series(cells, dtype=object).to_numpy(),
        format=pattern,
        errors="coerce",
        utc="%z" in pattern,
    )
    return np.asarray(found.tz_localize(None).to_numpy())


def ordered(pattern: str, order: str) -> str:
    """The pattern with the day first or the month first, if one of both comes first in it."""
    first = {"month-first": "%m", "day-first": "%d"}[order]
    return pattern if pattern.startswith(first) else _other_order(pattern)


def spelled(pattern: str) -> str:
    """A pattern in letters that people use: `DD.MM.YYYY`."""
    return re.sub("%[a-zA-Z]", lambda m: _SPELLED[m[0]], pattern)


# -- thresholds ----------------------------------------------------------------------------------


def microseconds(times: np.ndarray) -> np.ndarray:
    """Times in whole microseconds, as thresholds are; a finer one is the next of them.

    So a time is at most a threshold if and only if its microseconds are.
    """
    out: np.ndarray = times.astype("datetime64[us]")
    return out + (out < times) * np.timedelta64(1, "us")


def seconds(values: Any) -> np.ndarray:
    """Times as seconds since 1970; missing times are NaN."""
    times = microseconds(np.asarray(values, dtype="datetime64"))
    whole = times.astype("datetime64[s]")
    rest = (times - whole) / np.timedelta64(1, "s")
    out = whole.astype(np.int64).astype(float) + np.where(np.isnat(times), 0.0, rest)
    return np.where(np.isnat(times), np.nan, out)


def between(low: Any, high: Any, days: bool) -> str:
    """A threshold from `low` to just before `high`, as short as possible near their middle."""
    low, high = (np.datetime64(t, "us") for t in (low, high))
    middle = low + (high - low) // 2
    for unit in _UNITS:
        at = middle.astype(f"datetime64[{unit}]").astype("datetime64[us]")
        if low <= at < high:
            break
    return text(at, days)


def text(time: Any, days: bool) -> str:
    """A time as ISO text, without what is zero at its end."""
    if days and time == time.astype("datetime64[D]"):
        return str(np.datetime_as_string(time, unit="D"))
    for unit in ("m", "s", "ms", "us"):
        if time == time.astype(f"datetime64[{unit}]"):
            return str(np.datetime_as_string(time, unit=unit))
    return str(np.datetime_as_string(time, unit="us"))


def is_threshold(value: Any) -> bool:
    """Whether a value is an ISO text that a threshold between times may be."""
    try:
        return isinstance(value, str) and not np.isnat(np.datetime64(value, "us"))
    except ValueError:
        return False


def thresholds_at(times: np.ndarray, cuts: np.ndarray) -> list[str]:
    """A threshold between `times[k-1]` and `times[k]`, for every cut k with times on both sides."""
    days = bool((times == times.astype("datetime64[D]")).all())
    return [between(times[k - 1], times[k], days) for k in cuts.tolist() if 0 < k < len(times)]
