"""Parameters of tasks as they are written in a label: `weighted:class_weight=ill=5;well=1`."""

from __future__ import annotations

import logging
import re
from pathlib import Path

from milp_trees.common.errors import DataError

log = logging.getLogger(__name__)


def mapping(text: str) -> dict[str, str]:
    """`ill=5;well=1` as a mapping; the numbers stay texts, which tasks read exactly."""
    out: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, value = part.rpartition("=")
        if not equals or not name or name in out:
            raise DataError(
                f"A mapping is written NAME=NUMBER with semicolons between, each name once, for example ill=5;well=1; got {text!r}."
            )
        out[name] = value
    return out


def listed_names(text: str) -> list[str]:
    """`ill;well` as a list of names."""
    names = [name.strip() for name in text.split(";")]
    if not all(names) or len(set(names)) < len(names):
        raise DataError(
            f"Names are written with semicolons between, each once, for example ill;well; got {text!r}."
        )
    return names


def cost_matrix(path: str) -> list[list[str]]:
    """The cost matrix at the beginning of a file, as lines of numbers.

    The first other line and all lines after it are ignored.
    """
    rows: list[list[str]] = []
    rest = 0
    for line in text_of(Path(path)).splitlines():
        words = line.replace(",", " ").split()
        if words and not rest and all(is_number(w) for w in words):
            rows.append(words)
        elif words:
            rest += 1
    if not rows or any(len(r) != len(rows) for r in rows):
        raise DataError(
            f"{path} must begin with a square cost matrix: one line per true class, one number per predicted class."
        )
    if rest:
        log.warning(
            "%s: the %d lines after the cost matrix are not used; --feature-costs takes costs of splits.",
            path,
            rest,
        )
    return rows


def read_feature_costs(path: Path) -> dict[str, str]:
    """Prices of columns from a file of lines `COLUMN COST`."""
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


def text_of(path: Path) -> str:
    """The content of a text file, which must be UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{path} is no text file in UTF-8; save it as one.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be used: {error.strerror}.") from None


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
