"""Files that a command is asked to write: what must not be replaced is refused before it begins."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.common.limits import LOG_HEAD
from milp_trees.common.writing import replacing, special

#: Files of JSON that commands and estimators write, by fields that each of them has.
STORED = (
    {"schema", "method", "problem"},
    {"schema", "kind", "problem"},
    {"sizes", "penalties", "proven"},
    {"guessed", "problems", "columns"},
    {"relative_gap", "optimum", "unit"},
    {"answer", "certificate"},
    {"runs", "totals"},
    {"total", "done", "said"},
    {"norm", "prediction_before", "proved_by"},
)
#: How the proof file of a result begins, and a line of a table that was written to a file.
PROOF = b'{"format": "milp-trees-proof"'
TABLE = "Written by milp-trees table."
#: What every page holds.
PAGE = '<meta name="generator" content="milp-trees">'
#: The name that every picture states as its program.
PICTURE = b"Matplotlib"
#: The first line of predictions: what names the rows, the label, and probabilities.
PREDICTIONS = re.compile(r'("([^"\n]|"")*"|[^",\n]*),prediction(,"?probability [^\n]*)?\n')

#: Endings of names that promise something else than JSON.
NO_JSON = frozenset(
    [
        ".csv",
        ".tsv",
        ".xls",
        ".xlsx",
        ".parquet",
        ".html",
        ".htm",
        ".tex",
        ".md",
        ".png",
        ".svg",
        ".pdf",
        ".jpg",
        ".py",
        ".pkl",
    ]
)

#: Options that name outputs.
WRITTEN = frozenset({"--out", "--plot", "--log", "--proof", "--store", "--write-rules"})
#: The values of the options and arguments of the command that runs, by what the user calls them.
GIVEN: ContextVar[Mapping[str, Any] | None] = ContextVar("GIVEN", default=None)


@contextmanager
def given_values(values: Mapping[str, Any]) -> Iterator[None]:
    """While a command runs, `writable` knows what else it was given."""
    token = GIVEN.set(values)
    try:
        yield
    finally:
        GIVEN.reset(token)


def writable(**named: str | Path | None) -> None:
    """Refuse files that cannot be written, or would replace what is no earlier output.

    It is called before a long computation begins.

    Parameters
    ----------
    **named : path or None
        Files by their kind, a key of `KINDS`; kinds of which there are several are told apart by a
        number, `picture_2`.

    Raises
    ------
    DataError
        A place cannot be written to, is named twice, is a file that the command reads, or holds
        something that no command of this package has written.
    """
    files = {kind: Path(given) for kind, given in named.items() if given}
    for kind, path in files.items():
        _refuse_place(path)
        if kind == "json" and path.suffix.lower() in NO_JSON:
            raise DataError(
                f"{path} would hold JSON; name a file that ends in .json. The rows of a comparison or study are also written as CSV, by compare or study --out ROWS.csv."
            )
        if kind == "predictions" and path.suffix.lower() == ".json":
            raise DataError(f"{path} would hold CSV; name a file that ends in .csv, or use --json.")
        if any(_same(path, other) for k, other in files.items() if k != kind):
            raise DataError(f"{path} is named for two outputs; name another file for one of them.")
        if special(path):
            continue
        _refuse_input(path, list(files.values()))
        _refuse_foreign(path, KINDS[kind.partition("_")[0]])


def rows_to(out: Path | None) -> dict[str, Path | None]:
    """The file for rows of a comparison by its kind, as `writable` takes it: a table, or JSON."""
    return {"table" if is_csv(out) else "json": out}


def is_csv(out: Path | None) -> bool:
    """Whether rows are to be written as CSV."""
    return out is not None and out.suffix.lower() == ".csv"


def _refuse_place(path: Path) -> None:
    """Refuse a folder, and a place where nothing can be made."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file in it.")
    if not path.absolute().parent.is_dir():
        raise DataError(
            f"{path} cannot be written: there is no folder {path.parent}. Make it first."
        )
    folder = path.resolve().parent  # a link is kept, and what it leads to is replaced
    places = [path] if special(path) else [folder, *([path] if path.exists() else [])]
    if not all(os.access(place, os.W_OK) for place in places):
        raise DataError(f"{path} cannot be written: permission is denied. Name another file.")


def _refuse_input(path: Path, outputs: list[Path]) -> None:
    """Refuse a file that another option or argument of the command names."""
    for called, value in (GIVEN.get() or {}).items():
        for text in _texts(value):
            if called in WRITTEN and text in map(str, outputs):
                continue  # the option that names the output
            if any(_same(path, part) for part in _parts(text)):
                raise DataError(
                    f"{path} is also named by {called}, and would be replaced; name another file for the output."
                )


def _texts(value: Any) -> Iterator[str]:
    """The texts and paths of the value of an option."""
    if isinstance(value, (str, Path)):
        yield str(value)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _texts(one)


def _parts(text: str) -> Iterable[str]:
    """A text, and the parts of it that could name files: `NAME=FILE`, `task:file=FILE`, `A,B`."""
    ends = [text[found.end() :] for found in re.finditer(r"[=:]", text)]
    return [text, *ends, *(part for end in [text, *ends] for part in end.split(",") if "," in end)]


def _same(a: str | Path, b: str | Path) -> bool:
    """Whether two paths name one file, also by a link; the file need not exist."""
    try:
        return os.path.realpath(a) == os.path.realpath(b) or os.path.samefile(a, b)
    except (OSError, ValueError):  # one does not exist, or is no path
        return False


def _refuse_foreign(path: Path, known: Callable[[bytes], bool]) -> None:
    """Refuse to replace a file that this package has not written."""
    if not path.exists():
        return
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path} exists and cannot be read: {error.strerror}. Name another file."
        ) from None
    if content.strip() and not known(content):
        raise DataError(
            f"{path} exists and is no such output of milp-trees, so it is not replaced; name another file, or remove it."
        )


def draw(figure: Any, path: Path, **options: Any) -> None:
    """Write a picture, whole or not at all."""
    with replacing(path) as draft:
        figure.savefig(draft, **options)


# -- kinds of files ----------------------------------------------------------------------------------


def _is_json(content: bytes) -> bool:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return False
    first = data[0] if isinstance(data, list) and data else data
    return first == [] or (isinstance(first, dict) and any(set(first) >= one for one in STORED))


def _beginning(content: bytes, most: int) -> bytes:
    """The first bytes of a file, unpacked if it is gzipped."""
    if not content.startswith(b"\x1f\x8b"):
        return content[:most]
    try:
        return zlib.decompressobj(31).decompress(content, most)
    except zlib.error:
        return b""


def holds(mark: str) -> Callable[[bytes], bool]:
    """A test whether a file holds a text."""
    return lambda content: mark.encode() in content


def _is_table(content: bytes) -> bool:
    """Whether a table was written to this file: it has a remark, or as CSV known columns only."""
    from milp_trees.studies.paper.tables import is_csv_head

    if TABLE.encode() in content:
        return True
    return is_csv_head(content.partition(b"\n")[0].decode("utf-8", "replace"))


#: Tests whether the content of a file is an output of a kind.
KINDS: dict[str, Callable[[bytes], bool]] = {
    "json": _is_json,
    "proof": lambda content: _beginning(content, len(PROOF)) == PROOF,
    "page": holds(PAGE),
    "picture": lambda content: PICTURE in content,
    "predictions": lambda content: bool(PREDICTIONS.match(content.decode("utf-8", "replace"))),
    "table": _is_table,
    "log": lambda content: content.startswith(LOG_HEAD.encode()),
    "model": lambda content: b"Written by milp-trees" in _beginning(content, 10_000),
    # What is in these is compared when they are written, or by SQLite.
    "rules": lambda content: True,
    "store": lambda content: content.startswith(b"SQLite format 3\0"),
}


def exported(path: Path | None, mark: str) -> None:
    """`writable` for a file of a format of `export`, which is known by its mark."""
    if path is not None:
        writable(rules=path)
        if not special(path):
            _refuse_foreign(path, holds(mark))
