"""Reading tables: one rule for every file.

Strip a byte-order mark; a comma in the first line means comma-separated fields (they may be quoted), otherwise whitespace separates them.
If all fields of the first line are numbers there is no header, the target comes first, and columns are named by position (`0` is the
first feature); otherwise the first line is the header and the target comes last. `.gz` is read as it is, also where only `PATH.gz`
exists; `.parquet` files have a header. The extension decides nothing else.
"""

from __future__ import annotations

import csv
import difflib
import gzip
import hashlib
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

#: What files write for a missing value.
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]
#: Name of the target in files without a header.
TARGET = "target"


@dataclass(frozen=True)
class Table:
    """A table as it was read.

    Parameters
    ----------
    frame : DataFrame
        All columns, the target among them.
    target : str
        Name of the target column.
    header : bool
        Whether the file had one; without, columns are named by position.
    source : mapping
        `path` as it was given and `sha256` of the file's bytes.
    """

    frame: pd.DataFrame
    target: str
    header: bool
    source: Mapping[str, Any] = field(default_factory=dict)

    @property
    def features(self) -> list[str]:
        return [str(c) for c in self.frame.columns if c != self.target]


def read_table(path: str | Path, target: str | None = None, alone: bool = False) -> Table:
    """Read a text table (plain or gzipped) or a Parquet file by the one rule of this module.

    Parameters
    ----------
    target : str, optional
        The target column, where it is not the first (no header) or the last (header).
    alone : bool, default=False
        Whether one column is enough: a table to predict on needs no target.

    Raises
    ------
    DataError
        The file is absent, empty, not text or not a table; one sentence with the remedy.
    """
    file = _find(Path(path))
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}.") from None
    source = {"path": str(path), "sha256": hashlib.sha256(raw).hexdigest()}
    if file.suffix in (".parquet", ".pq"):
        frame, header = _parquet(raw, file), True
    else:
        frame, header = _text(raw, file)
    if frame.shape[0] == 0:
        raise DataError(f"{file} has a header but no data rows.")
    if frame.shape[1] < 2 and not alone:
        only = frame.columns[0]
        raise DataError(f"{file} has one column only ({only!r}); a target and at least one feature are needed, separated by commas or spaces.")
    table = Table(frame, str(frame.columns[-1] if header else frame.columns[0]), header, source)
    if target is None:
        return table
    return Table(frame, column(table.frame, target, "--target"), header, source)


def _find(path: Path) -> Path:
    if path.is_file():
        return path
    zipped = path.with_name(path.name + ".gz")
    if zipped.is_file():
        return zipped
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file in it.")
    close = difflib.get_close_matches(path.name, [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else [], n=1)
    hint = f" Did you mean {path.parent / close[0]}?" if close else ""
    raise DataError(f"There is no file {path}.{hint}")


def _text(raw: bytes, file: Path) -> tuple[pd.DataFrame, bool]:
    """Frame and whether there was a header."""
    import pandas as pd

    try:
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{file} is not UTF-8 text; convert it first, for example with iconv.") from None
    except (OSError, EOFError):
        raise DataError(f"{file} is a damaged gzip file; fetch it again.") from None
    text = text.lstrip("\r\n")
    first = text.split("\n", 1)[0].strip()
    if not first:
        raise DataError(f"{file} is empty.")
    commas = "," in first
    fields = next(csv.reader([first], skipinitialspace=True)) if commas else first.split()
    header = not all(_is_number(f) for f in fields)
    names = [f.strip() for f in fields] if header else [TARGET, *(str(j) for j in range(len(fields) - 1))]
    if len(set(names)) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        word = next(f for f in fields if not _is_number(f))
        remedy = f"rename one (if the file has no header, {word!r} in its first line must be a number)"
        raise DataError(f"The header of {file} names the column {twice!r} twice; {remedy}.")
    body = text.split("\n", 1)[1] if header and "\n" in text else "" if header else text
    if not body.strip():
        return pd.DataFrame({n: [] for n in names}), header
    # pandas 3 reads every digit of a float and warns of the option; pandas 2 needs it.
    exact = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
    try:
        frame = pd.read_csv(
            io.StringIO(body), sep="," if commas else r"\s+", header=None, keep_default_na=False, na_values=_MISSING,
            skipinitialspace=True, low_memory=False, **exact,
        )  # fmt: skip
    except pd.errors.ParserError as error:
        where = str(error).split("error: ")[-1].strip()
        raise DataError(f"{file} is not a table: {where} (counted from the first data row).") from None
    if frame.shape[1] != len(names):
        raise DataError(f"{file} is not a table: its first line has {len(names)} fields and a later one {frame.shape[1]}.")
    frame.columns = pd.Index(names)
    return frame, header


def _parquet(raw: bytes, file: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise DataError(f"Reading {file} needs pyarrow; install it with: pip install 'milp-trees[parquet]'") from None
    try:
        frame = pd.read_parquet(io.BytesIO(raw))
    except (OSError, ValueError) as error:
        raise DataError(f"{file} is not a Parquet file: {str(error).splitlines()[0]}") from None
    frame.columns = [str(c) for c in frame.columns]
    return frame


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def column(frame: pd.DataFrame, name: str, role: str) -> str:
    """The column of that name; a sentence with close matches if there is none."""
    names = [str(c) for c in frame.columns]
    if str(name) in names:
        return str(name)
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    raise DataError(f"{role} names the column {name!r}, which the data do not have.{hint} Columns: {shown}.")
