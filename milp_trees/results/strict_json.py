"""The one reader of stored JSON.

Another program may have written the text, so it is read strictly; an error is one sentence.
"""

from __future__ import annotations

import json
import math
import stat
from pathlib import Path
from typing import Any, NoReturn

from milp_trees.common.errors import DataError

#: Largest depth of nested brackets. A tree nests once per level, and reading it is recursive.
MOST_LEVELS = 300
#: Largest number of digits of an integer. Only the number of near-optimal trees may be long.
MOST_DIGITS = 1000


def read_json(
    path: str | Path, remedy: str = "give a file that solve or compare wrote with --out or --json"
) -> Any:
    """The content of a JSON file."""
    try:
        mode = Path(path).stat().st_mode
        content = b"" if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) else Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise DataError(f"{path} is a device, not a file; {remedy}.")
    return parse_json(content, str(path), remedy)


def parse_json(text: str | bytes, what: str, remedy: str = "write it again") -> Any:  # noqa: C901
    """The content of a JSON text, by the letter of RFC 8259, and with each name once."""

    def refuse(why: str) -> NoReturn:
        raise DataError(f"{what} {why}; {remedy}.")

    def constant(name: str) -> NoReturn:
        refuse(f"holds {name}, which is no number in JSON")

    def real(digits: str) -> float:
        number = float(digits)
        if not math.isfinite(number):
            refuse(f"holds the number {_short(digits)}, which is too large")
        return number

    def whole(digits: str) -> int:
        if len(digits) > MOST_DIGITS:
            refuse(
                f"holds a whole number of {len(digits)} digits, where at most {MOST_DIGITS} are read"
            )
        return int(digits)

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(items)
        if len(made) < len(items):
            names = [name for name, _ in items]
            refuse(
                f"names {_short(next(n for n in names if names.count(n) > 1))!r} twice in one object"
            )
        return made

    try:
        text = text if isinstance(text, str) else text.decode("utf-8-sig")
    except UnicodeDecodeError:
        refuse("is not text in UTF-8")
    if not text.strip():
        refuse("is empty")
    try:
        found = json.loads(
            text,
            parse_constant=constant,
            parse_float=real,
            parse_int=whole,
            object_pairs_hook=pairs,
        )
    except DataError:
        raise
    except RecursionError:
        refuse(f"has more than {MOST_LEVELS} levels of brackets")
    except ValueError:
        refuse("is not JSON")
    if _levels(found) > MOST_LEVELS:
        refuse(f"has more than {MOST_LEVELS} levels of brackets")
    if "\\ud" in text.lower():
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            refuse("holds half a surrogate pair, which is no text")
    return found


def refuse_newer(schema: Any, newest: int, what: str) -> None:
    """Raise DataError for a layout of a later version, or without a version."""
    if type(schema) is not int or schema < 1:
        raise DataError(
            f"{what} has the layout {schema!r}; this version of milp-trees reads layout {newest}. Solve again."
        )
    if schema > newest:
        raise DataError(
            f"{what} has layout {schema}, which a newer version of milp-trees wrote; this one reads layouts up to {newest}. "
            "Install the newer version."
        )


def _levels(value: Any) -> int:
    """Depth of nested lists and objects; counting stops at one level above the limit."""
    level, here = 0, [value]
    while level <= MOST_LEVELS:
        inner = [v for v in here if isinstance(v, (dict, list))]
        if not inner:
            return level
        here = [x for v in inner for x in (v.values() if isinstance(v, dict) else v)]
        level += 1
    return level


def _short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
