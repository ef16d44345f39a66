"""`Lines`: a table of text.

It finds where the header ends, what separates fields, which lines are short, and which are labels.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.chunks import joined
from milp_trees.data.encodings import as_utf8
from milp_trees.data.formats import decimal_of
from milp_trees.data.reading import SPACE, Reading
from milp_trees.data.separators import guess, is_number

if TYPE_CHECKING:
    import pandas as pd

#: Texts that stand for a missing value.
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]
#: Name of the target in files without a header.
TARGET = "target"
#: A field that is a whole number written with leading zeros, anywhere in a text.
_PADDED = re.compile(rb'(?:^|[,;|\s"])[+-]?0\d+(?=[,;|\s"]|$)', re.MULTILINE)
#: What may stand before its zero, by byte; and bytes that are searched at once.
_BEFORE = np.isin(np.arange(256), list(b',;|\n\t "+-'))
_CHUNK = 1 << 20
#: What the names of rows are called, the first one that is free.
_ROW_NAMES = ("row names", *(f"row names {k}" for k in range(2, 9)))
#: Records that are counted to see whether rows have one field more than the header.
_COUNTED = 20
_STATED = re.compile(rb'"?sep=([,;|\t])"?\n')
_SOMETHING = re.compile(rb"\S")
#: Most columns of a table, and bytes of its first line.
MOST_COLUMNS, MOST_HEADER = 100_000, 8 * 2**20
#: Rows from which the decimal mark is found, and bytes in which the first line is looked for.
_SAMPLE, _HEAD = 1000, 1 << 16
#: Bytes of a table that are read at once.
_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Lines:
    """A text table: the names of its columns and the lines below the header.

    Parameters
    ----------
    file : Path
        The file, for messages.
    names : list of str
        Names of the columns, each another one.
    header : bool
        Whether the names were read from the file.
    open_end : bool
        Whether the header ends with a separator, so that its last column may not be there.
    reading : Reading
        With the separator and encoding that were stated or found, and the decimal mark if known.
    data : bytes
        The file as UTF-8.
    begin : int
        Where in `data` the lines below the header begin.
    repeated : mapping of str to str
        The name that a later column got in place of one that the header has already → that one.
    row_names : bool
        Whether the first field of every row is a name of the row, for which the header has none.
    """

    file: Path
    names: list[str]
    header: bool
    open_end: bool
    reading: Reading
    data: bytes
    begin: int
    repeated: dict[str, str]
    row_names: bool = False

    @classmethod
    def of(cls, raw: bytes, file: Path, reading: Reading | None = None) -> Lines:
        """Find the header, the separator, the encoding and the decimal mark of a file."""
        reading = reading or Reading()
        data, encoding = as_utf8(raw, file, reading.encoding)
        begin = len(data) - len(data.lstrip(b"\n"))
        if stated := _STATED.match(data, begin):  # a line by which spreadsheets know the separator
            reading, begin = reading.found(sep=stated[1].decode("ascii")), stated.end()
        if _SOMETHING.search(data, begin) is None:
            raise DataError(f"{file} is empty.")
        head, first, whole = _first_record(data, begin, file)
        sep = reading.sep or guess(head, whole)
        reading = reading.found(sep=sep, encoding=encoding)
        fields = next(_records(first.strip(" \n"), sep))
        decimal = "." if sep == "," else None
        marks = [reading.decimal or decimal] if reading.decimal or decimal else [".", ","]
        header = not any(all(is_number(f, str(mark)) for f in fields) for mark in marks)
        names, repeated = (
            _named(fields, file)
            if header
            else ([TARGET, *(str(j) for j in range(len(fields) - 1))], {})
        )
        open_end = header and len(fields) > 1 and not fields[-1].strip()
        below = begin + (len(first.encode()) if header else 0)
        longer = header and not open_end and _rows_are_longer(data, below, sep, len(names))
        if longer:
            names = [next(n for n in _ROW_NAMES if n not in names), *names]
        lines = cls(file, names, header, open_end, reading, data, below, repeated, longer)
        decimal = decimal or lines._decimal()
        return replace(lines, reading=reading.found(decimal=decimal)) if decimal else lines

    @property
    def _empty(self) -> bool:
        return _SOMETHING.search(self.data, self.begin) is None

    def _decimal(self) -> str | None:
        """The decimal mark of the first rows; None if they do not tell."""
        if self.reading.decimal is not None or self._empty:
            return None
        try:
            return decimal_of(self._read(nrows=_SAMPLE, dtype=str))
        except (ValueError, OverflowError, csv.Error):
            return None  # what is wrong is said when the whole table is read

    def frame(self) -> pd.DataFrame:
        """All columns, each with the type that all its cells have."""
        import pandas as pd

        if self._empty:
            return pd.DataFrame({n: [] for n in self.names})
        # pandas 3 always reads every digit of a float and warns of the option; pandas 2 needs it.
        exact = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
        try:
            frame = self._in_chunks(low_memory=False, **exact)
            if frame is None:
                frame = self._read(low_memory=False, **exact)
        except (pd.errors.ParserError, pd.errors.EmptyDataError, OverflowError, csv.Error) as error:
            self._refuse_ragged()
            where = str(error).split("error: ")[-1].strip()
            raise DataError(
                f"{self.file} is not a table: {where} (counted from the first data row)."
            ) from None
        ends = frame.shape[1] - len(self.names)
        if ends == 1 or (ends == 0 and self.open_end):
            # Lines that end with a separator have an empty field more, which is no column.
            frame = frame.iloc[:, :-1] if frame.iloc[:, -1].isna().all() else frame
        if len(self.names) == 1 and b"\n\n" in self.data[self.begin :].strip(b"\n"):
            raise DataError(
                f'{self.file} has one column and a blank line, which may be a missing value or no row; write "" for a missing value, or leave the line out.'
            )
        names = self.names[: frame.shape[1]] if self.open_end else self.names
        # pandas fills a row with too few fields with missing values at its end.
        if frame.shape[1] != len(names) or frame.iloc[:, -1].isna().any():
            self._refuse_ragged()
        if frame.shape[1] != len(names):
            raise DataError(
                f"{self.file} is not a table: its first line has {len(names)} fields and a later one {frame.shape[1]}."
            )
        frame.columns = pd.Index(names)
        if not self.row_names:
            return frame
        if not frame[names[0]].is_unique or frame[names[0]].isna().any():
            raise DataError(
                f"{self.file} is not a table: its first line has {len(names) - 1} fields and the others {len(names)}, and their first one is no name of the row; name all columns."
            )
        return frame.drop(columns=names[0])

    def _in_chunks(self, **options: Any) -> pd.DataFrame | None:
        """All columns of a large table in little memory; None if they must be read at once."""
        import pandas as pd

        size = len(self.data) - self.begin
        if size <= _AT_ONCE or int(pd.__version__.split(".")[0]) < 3:
            return None
        rows = self.data.count(b"\n", self.begin) + 1
        try:
            with self._read(chunksize=max(1, rows * _AT_ONCE // size), **options) as parts:
                return joined(parts, rows)
        except (ValueError, OverflowError, csv.Error):
            return None  # what is wrong is said when the table is read at once

    def _read(self, **options: Any) -> Any:
        import pandas as pd

        text = io.BytesIO(self.data)  # shares its memory
        text.seek(self.begin)
        sep = self.reading.sep
        return pd.read_csv(
            text,
            sep=r"\s+" if sep == SPACE else sep,
            decimal=self.reading.decimal or ".",
            header=None,
            keep_default_na=False,
            na_values=_MISSING,
            skipinitialspace=sep != "\t",
            **options,
        )

    def _refuse_ragged(self) -> None:
        """Raise DataError for the first row that has more or fewer fields than the first line."""
        expected, above = len(self.names), self.data.count(b"\n", 0, self.begin)
        records = _records(self.data[self.begin :].decode("utf-8"), str(self.reading.sep))
        try:
            for fields in records:
                if len(fields) == expected or not any(fields):
                    continue
                if len(fields) == expected + 1 and not fields[-1].strip():
                    continue
                if not (self.open_end and len(fields) == expected - 1):
                    kind = "short" if len(fields) < expected else "long"
                    raise DataError(
                        f"{self.file} is not a table: line {above + records.line_num} is {kind}, it has {len(fields)} fields and the first line "
                        f"{expected}; correct it or leave it out."
                    )
        except csv.Error:
            return

    def written(self, names: Sequence[str]) -> pd.DataFrame:
        """Some columns as the file has them: every cell is a text, or missing."""
        places = [self.names.index(n) for n in names]
        found = self._read(usecols=places, dtype=str)
        return found[places].set_axis(list(names), axis=1)

    def spell(
        self, frame: pd.DataFrame, labels: Sequence[str], text: Sequence[str]
    ) -> tuple[str, ...]:
        """Replace cells that pandas has read as numbers by the text that the file holds.

        A column of text is always replaced; a column of labels only if one of its cells has leading
        zeros, and any other column of whole numbers only if it holds codes: cells of the same
        length, at least two digits, some of which begin with zero.
        """
        names = [str(c) for c in frame.columns]
        requested = [n for n in names if n in text and frame[n].dtype.kind in "biuf"]
        padded = [n for n in names if n not in text and frame[n].dtype.kind in "iuf"]
        zeros: list[str] = []
        if padded and _has_padded(self.data, self.begin):
            cells = self.written(padded)
            zeros = [n for n in padded if _has_zeros(cells[n], n in labels)]
            for name in zeros:
                frame[name] = cells[name].astype(object)
        if requested:
            cells = self.written(requested)
            for name in requested:
                frame[name] = cells[name].astype(object)
        return tuple(n for n in zeros if n not in labels)


def _has_padded(data: bytes, begin: int) -> bool:
    """Whether some field may be a whole number with leading zeros.

    Zeros before a digit are found by NumPy, eight times as fast as by the expression.
    """
    if _PADDED.match(data, begin):
        return True
    for at in range(begin, len(data) - 2, _CHUNK):
        signs = np.frombuffer(data, np.uint8, min(_CHUNK + 2, len(data) - at), at)
        found = signs[1:-1] == ord("0")
        found &= (signs[2:] - np.uint8(ord("0"))) < 10
        found &= _BEFORE[signs[:-2]]
        if found.any() and _PADDED.search(data, max(begin, at - 2), at + _CHUNK + 40):
            return True
    return False


def _has_zeros(cells: pd.Series, label: bool) -> bool:
    """Whether a column of whole numbers holds labels, or codes, that begin with zero."""
    if not cells.str.match(r"[+-]?0\d").any():
        return False
    held = cells.dropna()
    return label or bool(held.str.fullmatch(r"\d\d+").all() and held.str.len().nunique() == 1)


def _named(fields: list[str], file: Path) -> tuple[list[str], dict[str, str]]:
    """Names of the columns, and which of them replace a name that an earlier column has.

    A column without a name is called by its place.
    """
    if len(fields) > MOST_COLUMNS:
        raise DataError(
            f"{file} has {len(fields)} columns, and at most {MOST_COLUMNS} are read; take fewer of them."
        )
    given = [" ".join(f.split("\n")).strip() for f in fields]
    given = [name or f"column {j}" for j, name in enumerate(given, 1)]
    names: list[str] = []
    repeated: dict[str, str] = {}
    taken, there = set(given), set()
    for name in given:
        if name not in there:
            names.append(name)
            there.add(name)
            continue
        if is_number(name):
            word = next(f for f in fields if not is_number(f))
            raise DataError(
                f"The header of {file} names the column {name!r} twice; rename one (if the file has no header, {word!r} in its first line must be a number)."
            )
        again = next(
            f"{name}.{k}" for k in range(2, len(given) + 2) if f"{name}.{k}" not in taken | there
        )
        names.append(again)
        there.add(again)
        repeated[again] = name
    return names, repeated


def _records(text: str, sep: str) -> Any:
    """The fields of every line; quoted fields may contain separators and ends of lines."""
    if sep != SPACE:
        return csv.reader(
            io.StringIO(text, newline=""), delimiter=sep, skipinitialspace=sep != "\t"
        )
    lines = (line.strip() + "\n" for line in io.StringIO(text.replace("\t", " "), newline="\n"))
    return csv.reader(lines, delimiter=" ", skipinitialspace=True)


def _rows_are_longer(data: bytes, begin: int, sep: str, size: int) -> bool:
    """Whether rows have one field more than a header of a given size, as R writes tables."""
    text = data[begin : begin + _HEAD].decode("utf-8", "ignore")
    try:
        found = [f for _, f in zip(range(_COUNTED), _records(text, sep), strict=False) if any(f)]
    except csv.Error:
        return False
    found = found if begin + _HEAD >= len(data) or len(found) == _COUNTED else found[:-1]
    longer = all(len(f) == size + 1 and f[0].strip() for f in found)
    return len(found) > 1 and longer and any(f[-1].strip() for f in found)


def _first_record(data: bytes, begin: int, file: Path) -> tuple[str, str, bool]:
    """The beginning of a table, its first record, and whether the beginning is all of it.

    The record has several lines if a quoted name contains line ends.
    """
    size, most = _HEAD, csv.field_size_limit()
    while True:
        whole = begin + size >= len(data)
        if size > MOST_HEADER:
            raise DataError(
                f"The first line of {file} has more than {MOST_HEADER} bytes, so it is no table of columns; a quote in it may never be closed."
            )
        head = data[begin : begin + size].decode("utf-8", "ignore")
        reader = csv.reader(io.StringIO(head, newline=""), skipinitialspace=True)
        try:
            next(reader)
        except csv.Error:
            raise DataError(
                f"{file} is not a table: a quote in its first line is never closed, or a name has more than {most} characters."
            ) from None
        parts = head.split("\n", reader.line_num)
        record = "\n".join(parts[: reader.line_num]) + "\n" * (len(parts) > reader.line_num)
        if whole or len(record) < len(head):
            break
        size *= 8
    if reader.line_num > 1 and record.count('"') % 2:
        raise DataError(f"{file} is not a table: a quote in its first line is never closed.")
    return head, record, whole
