"""Names of columns and rows that every reader of MPS and LP files accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: CBC's LP reader rejects names of more than 100 characters. The rest is kept for suffixes that
#: make names different.
LONGEST = 90

#: Words of the two formats: some reader would interpret each of them as the beginning of a section,
#: a bound or a number.
RESERVED = frozenset(
    {
        "min",
        "minimum",
        "minimize",
        "minimise",
        "max",
        "maximum",
        "maximize",
        "maximise",
        "multi-objectives",
        "obj",
        "st",
        "s.t",
        "s.t.",
        "st.",
        "subject",
        "such",
        "to",
        "that",
        "constraints",
        "lazy",
        "user",
        "cuts",
        "bound",
        "bounds",
        "free",
        "inf",
        "infinity",
        "nan",
        "gen",
        "general",
        "generals",
        "int",
        "integer",
        "integers",
        "bin",
        "binary",
        "binaries",
        "semi",
        "semis",
        "semi-continuous",
        "sec",
        "sos",
        "sos1",
        "sos2",
        "pwlobj",
        "end",
        "name",
        "rows",
        "columns",
        "rhs",
        "bnd",
        "rng",
        "ranges",
        "marker",
        "endata",
        "objsense",
    }
)
_OTHER = re.compile(r"[^A-Za-z0-9_.]")
#: Characters that a reader may interpret as a number: digits, a period, and the letter of exponents
#: (`3 e1` is 30 for some).
_NUMERIC = re.compile(r"[0-9.eE]")


def safe_names(wanted: Iterable[str], prefix: str) -> list[str]:
    """Different names for file formats, as similar to the given names as possible.

    ASCII letters, digits, `_` and `.` are kept, and every other character becomes `_`. A name that
    is a word of a format, or that begins like a number, gets the prefix; a long name is cut; of
    equal names all but the first get `__` and a number.
    """
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    return [_unused(_safe(name, prefix), seen, numbers) for name in wanted]


def _safe(name: str, prefix: str) -> str:
    plain = _OTHER.sub("_", name).strip("_")
    if not plain or plain.lower() in RESERVED or _NUMERIC.match(plain):
        plain = f"{prefix}_{plain}".rstrip("_")
    return plain[:LONGEST]


def _unused(name: str, seen: set[str], numbers: dict[str, int]) -> str:
    free = name
    while free in seen:
        numbers[name] = numbers.get(name, 1) + 1
        free = f"{name}__{numbers[name]}"
    seen.add(free)
    return free
