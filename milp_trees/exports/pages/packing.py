"""Data of a page as short text: columns instead of rows, compressed, in base64."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any


def packed(value: Any) -> str:
    """JSON, compressed by gzip, in base64; the same value gives the same text."""
    text = (
        value
        if isinstance(value, str)
        else json.dumps(value, allow_nan=False, separators=(",", ":"))
    )
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)).decode()


def unpacked(text: str) -> Any:
    """What `packed` packed, if it was no text."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows as columns."""
    names = dict.fromkeys(name for row in rows for name in row)
    found = {name: _column([row.get(name) for row in rows]) for name in names}
    return {"count": len(rows), "columns": found}


def _column(values: list[Any]) -> dict[str, Any]:
    if not all(isinstance(value, Hashable) for value in values):
        return {"each": values}
    # 1, 1.0 and True are equal, but are not written alike
    keys = [(type(value), value) for value in values]
    if len(set(keys)) == 1:
        return {"all": values[0]}
    different = list(dict.fromkeys(key for key in keys if key[1] is not None))
    if 2 * len(different) > len(values):
        return {"each": values}
    place = {key: k for k, key in enumerate(different)}
    return {"of": [value for _, value in different], "at": [place.get(key, -1) for key in keys]}


class Shared:
    """Values that many runs have in common, each kept once; runs hold its number."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[str, int] = {}

    def number(self, value: Any) -> int:
        """The number of a plain value."""
        key = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]
