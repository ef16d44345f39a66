"""Files: found by their path, with or without `.gz`, and read as bytes or as text."""

from __future__ import annotations

import difflib
import gzip
import zlib
from pathlib import Path

from milp_trees.common.errors import DataError


def find(path: Path) -> Path:
    """The file of a path, or the file to whose path `.gz` was not added."""
    try:
        if path.is_file():
            return path
        if path.is_dir():
            raise DataError(f"{path} is a folder; name a file in it.")
        if path.exists():
            raise DataError(
                f"{path} is no regular file; write what it holds to a file, which can then be read again."
            )
        zipped = path.with_name(path.name + ".gz")
        if zipped.is_file():
            return zipped
        beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    except DataError:
        raise
    except (
        OSError,
        ValueError,
    ) as error:  # a name that is too long, a folder that is closed, a zero byte
        raise DataError(
            f"{str(path)[:200]!r} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from None
    close = difflib.get_close_matches(path.name, beside, n=1)
    hint = f" Did you mean {path.parent / close[0]}?" if close else ""
    raise DataError(f"There is no file {path}.{hint}")


#: Files of tables that are read by pandas alone: what they are, and pandas's function.
OF_PANDAS = {
    ".xlsx": ("an Excel workbook", "read_excel"),
    ".xls": ("an Excel workbook", "read_excel"),
    ".ods": ("a spreadsheet", "read_excel"),
    ".json": ("JSON", "read_json"),
    ".jsonl": ("JSON lines", "read_json"),
    ".feather": ("a Feather file", "read_feather"),
    ".dta": ("a file of Stata", "read_stata"),
    ".sav": ("a file of SPSS", "read_spss"),
    ".sas7bdat": ("a file of SAS", "read_sas"),
    ".pkl": ("a pickle", "read_pickle"),
}


def refuse_foreign_table(file: Path) -> None:
    """Refuse a table that is no text and no Parquet, and say how pandas turns it into one."""
    if file.suffix.lower() not in OF_PANDAS:
        return
    what, function = OF_PANDAS[file.suffix.lower()]
    lines = ", lines=True" if file.suffix.lower() == ".jsonl" else ""
    csv = file.with_suffix(".csv").name
    raise DataError(
        f"{file} is {what}, and tables here are CSV, text or Parquet; pandas converts it: "
        f"python -c \"import pandas; pandas.{function}('{file}'{lines}).to_csv('{csv}', index=False)\". "
        f"In Python, mt.load takes the frame that pandas.{function} returns."
    )


def contents(file: Path) -> bytes:
    """The bytes of a file, as they are stored."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}.") from None


def decoded(raw: bytes, file: Path) -> str:
    """The text of a file; its lines end with LF."""
    try:
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(
            f"{file} is not UTF-8 text; convert it first, for example with iconv."
        ) from None
    except (OSError, EOFError, zlib.error):
        raise DataError(f"{file} is a damaged gzip file; fetch it again.") from None
    if "\0" in text:
        raise DataError(
            f"{file} is not UTF-8 text: it holds zero bytes; convert it first, for example with iconv."
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")
