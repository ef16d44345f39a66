"""Options of the command line and small files as what they stand for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from milp_trees.errors import DataError


def split(text: str) -> list[str]:
    """`a, b` as a list."""
    return [part.strip() for part in text.split(",") if part.strip()]


def pairs(given: list[str] | None, flag: str, form: str) -> list[tuple[str, str]]:
    """`name=value` options as pairs."""
    out = []
    for item in given or ():
        name, equals, value = item.rpartition("=")
        if not equals or not name:
            raise DataError(f"{flag} must be written {form}; got {item!r}.")
        out.append((name, value))
    return out


def whole(text: str, flag: str) -> int:
    if not text.isdecimal():
        raise DataError(f"{flag} needs a whole number; got {text!r}.")
    return int(text)


def read_costs(path: Path) -> list[list[str]]:
    """The cost matrix at the beginning of a file: lines of numbers; what comes after the first
    other line is not used.
    """
    rows: list[list[str]] = []
    rest = 0
    for line in _text(path).splitlines():
        words = line.replace(",", " ").split()
        if words and not rest and all(_is_number(w) for w in words):
            rows.append(words)
        elif words:
            rest += 1
    if not rows or any(len(r) != len(rows) for r in rows):
        raise DataError(
            f"{path} must begin with a square cost matrix: one line per true class, one number per predicted class."
        )
    if rest:
        typer.echo(
            f"{path}: the {rest} lines after the cost matrix are not used; --feature-costs takes costs of splits.",
            err=True,
        )
    return rows


def read_feature_costs(path: Path) -> dict[str, str]:
    """Lines `COLUMN COST`."""
    out: dict[str, str] = {}
    for line in filter(str.strip, _text(path).splitlines()):
        name, _, cost = line.strip().rpartition("," if "," in line else " ")
        name = name.strip().strip('"')
        if not name or (not re.fullmatch(r"\d+/\d+", cost.strip()) and not _is_number(cost)):
            raise DataError(f"{path} must hold lines 'COLUMN COST'; one is {line.strip()!r}.")
        if name in out:
            raise DataError(f"{path} has two costs for {name!r}; keep one of them.")
        out[name] = cost.strip()
    return out


def _text(path: Path) -> str:
    """What a file says; it is read as UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{path} is no text file in UTF-8; save it as one.") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def solver_options(given: list[str] | None) -> dict[str, Any]:
    """`NAME=VALUE` with numbers and on/off as what they are."""
    return {name: _value(value) for name, value in pairs(given, "--option", "NAME=VALUE")}


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)


def whole_numbers(text: str) -> list[int]:
    try:
        numbers = [int(t) for t in split(text)]
    except ValueError:
        numbers = []
    if not numbers:
        raise DataError(f"--seeds takes whole numbers separated by commas; got {text!r}.")
    return numbers
