"""Names as people write them: in capitals, in part, or misspelt."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def same_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that differs in capitals only, or has _ where it has -; None if none does."""
    wanted = name.lower().replace("_", "-")
    return next((one for one in known if one.lower().replace("_", "-") == wanted), None)


def hint(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'NAME'?`, or nothing.

    It is the name that contains what was given as a word, or else the one that is spelt most alike.
    """
    names = list(known)
    parts = [one for one in names if name.lower() in one.lower().split("-")]
    close = parts or get_close_matches(name.lower(), names, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
