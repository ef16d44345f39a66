"""The one reader of stored JSON: what another program may have written is read strictly, and
refused in one sentence.
"""

from __future__ import annotations

import json
import math
import stat
from pathlib import Path
from typing import Any, NoReturn

from milp_trees.errors import DataError

#: Levels of brackets inside one another. A tree nests once per level; what reads it recurses.
MOST_LEVELS = 300
#: Digits of a whole number. The number of near-optimal trees may be long; nothing else is.
MOST_DIGITS = 1000


def read_json(
    path: str | Path, remedy: str = "give a file that solve or compare wrote with --out or --json"
) -> Any:
    """What a JSON file holds.

    Parameters
    ----------
    path : str or Path
    remedy : str
        What to do instead, for the end of the sentences.

    Raises
    ------
    DataError
        The file cannot be read, is no text, or `parse_json` refuses it.
    """
    try:
        mode = Path(path).stat().st_mode
        content = b"" if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) else Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise DataError(f"{path} is a device, not a file; {remedy}.")
    return parse_json(content, str(path), remedy)


def parse_json(text: str | bytes, what: str, remedy: str = "write it again") -> Any:
    """What a JSON text says, by the letter of RFC 8259, and with each name once.

    Parameters
    ----------
    text : str or bytes
    what : str
        What the text is, for the beginning of the sentences.
    remedy : str
        What to do instead, for the end of the sentences.

    Raises
    ------
    DataError
        It is not JSON, or holds NaN or an infinity, a number that no float holds, a whole number of
        more than 1000 digits, one name twice in an object, half a surrogate pair, or more than 300
        levels of brackets.
    """

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
    """Refuse what a later version wrote, and what has no version.

    Parameters
    ----------
    schema : object
        What is stored as the version of the layout.
    newest : int
        The layout that this program writes.
    what : str
        What is read, for the sentence.

    Raises
    ------
    DataError
    """
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
    """How deep lists and objects lie in one another; counts no further than one level too many."""
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
