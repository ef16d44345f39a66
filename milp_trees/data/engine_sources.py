"""Where tables of DuckDB come from: Parquet files, databases, and open relations."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.data.duckdb_table import DATABASES, DuckTable

PARQUET = (".parquet", ".pq")


def needs_engine(name: str | Path) -> bool:
    """Whether a name can only be read by an engine: a folder, a pattern or a database."""
    path = Path(name)
    try:
        if path.is_file():
            return path.suffix in DATABASES
        return path.is_dir() or (glob.has_magic(str(name)) and path.suffix in PARQUET)
    except (OSError, ValueError):  # a name that no file can have
        return False


def opened(
    source: Any,
    query: str | None = None,
    config: Mapping[str, Any] | None = None,
) -> tuple[DuckTable, dict[str, Any]]:
    """The table of a source, and where it came from, as results state it."""
    if query is not None and not isinstance(query, str):
        raise DataError(f"query= takes one statement SELECT as text; got {query!r}.")
    about: dict[str, Any] = {}
    if isinstance(source, (str, Path)):
        files = _files(source)
        about = {"path": str(source), "sha256": digest(files)}
        table = DuckTable.of_files(files, query, config or {})
    elif hasattr(source, "query") and hasattr(source, "types"):
        files, table = [], DuckTable(source, query)
    else:
        raise DataError(
            f"A folder, Parquet files, or a DuckDB database or relation is needed; got {type(source).__name__}."
        )
    stated: dict[str, Any] = {"engine": "duckdb", "version": table.version, "query": query}
    if files:
        stated["files"] = len(files)
    return table, {**about, "grouped": stated}


def _files(source: str | Path) -> list[Path]:
    """The files of a name: one database, or at least one Parquet file, sorted."""
    path = Path(source)
    if path.is_dir():
        found = [f for f in path.rglob("*") if f.suffix in PARQUET]
        what = f"The folder {source} holds no Parquet file (.parquet, .pq)"
    elif glob.has_magic(str(source)) and not path.is_file():
        found = [Path(f) for f in glob.glob(str(source), recursive=True)]
        found = [f for f in found if f.is_file()]
        what = f"No file matches {source}"
    else:
        found, what = [path] if path.is_file() else [], f"There is no file or folder {source}"
    if not found:
        raise DataError(f"{what}; name a folder, a pattern, a Parquet file or a DuckDB database.")
    for file in found:
        if file.suffix not in (*PARQUET, *DATABASES):
            raise DataError(
                f"{file} is neither a Parquet file (.parquet, .pq) nor a database ({', '.join(DATABASES)}); write it as Parquet first."
            )
    if len(found) > 1 and any(file.suffix in DATABASES for file in found):
        raise DataError(f"{source} names several files, among them a database; name it alone.")
    return sorted(found)


def digest(files: list[Path]) -> str:
    """SHA-256 of one file; of several files, that of the lines `SHA-256 NAME` of each."""
    each = []
    for file in files:
        with file.open("rb") as stream:
            each.append(hashlib.file_digest(stream, "sha256").hexdigest())
    if len(files) == 1:
        return each[0]
    lines = [f"{one} {file.name}\n" for one, file in zip(each, files, strict=True)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
