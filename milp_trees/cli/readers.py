"""Options of the command line and small files as what they stand for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from milp_trees.errors import DataError
from milp_trees.tasks.written import is_number, text_of


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


def read_feature_costs(path: Path) -> dict[str, str]:
    """Lines `COLUMN COST`."""
    out: dict[str, str] = {}
    for line in filter(str.strip, text_of(path).splitlines()):
        name, _, cost = line.strip().rpartition("," if "," in line else " ")
        name = name.strip().strip('"')
        if not name or (not re.fullmatch(r"\d+/\d+", cost.strip()) and not is_number(cost)):
            raise DataError(f"{path} must hold lines 'COLUMN COST'; one is {line.strip()!r}.")
        if name in out:
            raise DataError(f"{path} has two costs for {name!r}; keep one of them.")
        out[name] = cost.strip()
    return out


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
