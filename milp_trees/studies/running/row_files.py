"""Files of finished rows: one writer appends lines, any number of readers follow."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from milp_trees.common.errors import DamagedRowWarning


class Appender:
    """Appends rows to the file of one worker; a row is on the disk when `append` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None

    def append(self, entry: Mapping[str, Any]) -> None:
        line = json.dumps(entry, allow_nan=False).encode() + b"\n"
        if self._file is None:
            self._file = open(self.path, "ab")  # noqa: SIM115 (it is open as long as the worker lives)
        self._file.write(line)
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class Rows:
    """Reads the rows of one worker from where the last reading ended.

    A last line without its end was torn when its process was killed; it is not read. Another line
    that is no row (the disk was full, or the file was changed) is left out with a warning, and its
    run is made again.

    Parameters
    ----------
    path : Path
    offset : int, default=0
        Bytes that were read before.

    Attributes
    ----------
    seen : set of (str, int)
        Keys and attempts of the rows that were read.
    """

    def __init__(self, path: Path, offset: int = 0) -> None:
        self.path = path
        self.offset = offset
        self.seen: set[tuple[str, int]] = set()

    def read(self) -> list[dict[str, Any]]:
        """The new rows."""
        try:
            if self.path.stat().st_size <= self.offset:
                return []
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                block = file.read()
        except FileNotFoundError:
            return []
        whole = block[: block.rfind(b"\n") + 1]
        self.offset += len(whole)
        entries = [self._entry(line) for line in whole.splitlines()]
        found = [entry for entry in entries if entry is not None]
        self.seen |= {(entry["key"], entry["attempt"]) for entry in found}
        return found

    def _entry(self, line: bytes) -> dict[str, Any] | None:
        try:
            entry = json.loads(line)
            _ = entry["key"], entry["attempt"]
        except (ValueError, TypeError, KeyError):
            sentence = f"A line of {self.path} is damaged and is left out; its run is made again."
            warnings.warn(sentence, DamagedRowWarning, stacklevel=3)
            return None
        return dict(entry)
