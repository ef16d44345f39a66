"""`Lines`: a table of text.

It finds where the header ends, what separates the fields, which lines have too few fields and
which cells are labels.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.data.files import decoded
from milp_trees.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

#: Texts that stand for a missing value.
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"]
#: Name of the target in files without a header.
TARGET = "target"
#: A field that is a whole number written with leading zeros, anywhere in a text.
_PADDED = re.compile(r'(?:^|[,\s"])[+-]?0\d', re.MULTILINE)


@dataclass(frozen=True)
class Lines:
    """A text table: the names of its columns and the lines below the header.

    Parameters
    ----------
    file : Path
        The file, for messages.
    names : list of str
        Names of the columns.
    header : bool
        Whether the names were read from the file.
    commas : bool
        Whether commas separate fields, instead of spaces and tabs.
    body : str
        The lines below the header.
    above : int
        Number of lines of the file above `body`.
    """

    file: Path
    names: list[str]
    header: bool
    commas: bool
    body: str
    above: int

    @classmethod
    def of(cls, raw: bytes, file: Path) -> Lines:
        text = decoded(raw, file)
        begin = len(text) - len(text.lstrip("\n"))
        text = text[begin:]
        if not text.split("\n", 1)[0].strip():
            raise DataError(f"{file} is empty.")
        used = _lines_of_first_record(text, file)
        first = "\n".join(text.split("\n", used)[:used]).strip()
        _refuse_semicolons(first, file)
        commas = len(_fields(first, ",")) > 1
        fields = next(_records(first, commas))
        header = not all(_is_number(f) for f in fields)
        names = (
            [" ".join(f.split("\n")).strip() for f in fields]
            if header
            else [TARGET, *(str(j) for j in range(len(fields) - 1))]
        )
        if len(set(names)) != len(names):
            twice = next(n for n in names if names.count(n) > 1)
            word = next(f for f in fields if not _is_number(f))
            remedy = f"rename one (if the file has no header, {word!r} in its first line must be a number)"
            raise DataError(f"The header of {file} names the column {twice!r} twice; {remedy}.")
        rest = text.split("\n", used)
        body = (rest[used] if len(rest) > used else "") if header else text
        return cls(file, names, header, commas, body, begin + (used if header else 0))

    def frame(self) -> pd.DataFrame:
        """All columns, each with the type that all its cells have."""
        import pandas as pd

        if not self.body.strip():
            return pd.DataFrame({n: [] for n in self.names})
        # pandas 3 always reads every digit of a float and warns of the option; pandas 2 needs it.
        exact = {} if int(pd.__version__.split(".")[0]) >= 3 else {"float_precision": "round_trip"}
        try:
            frame = self._read(low_memory=False, **exact)
        except (pd.errors.ParserError, pd.errors.EmptyDataError, OverflowError, csv.Error) as error:
            self._refuse_ragged()
            where = str(error).split("error: ")[-1].strip()
            raise DataError(
                f"{self.file} is not a table: {where} (counted from the first data row)."
            ) from None
        # pandas fills a row with too few fields with missing values at its end.
        if frame.shape[1] != len(self.names) or frame.iloc[:, -1].isna().any():
            self._refuse_ragged()
        if frame.shape[1] != len(self.names):
            raise DataError(
                f"{self.file} is not a table: its first line has {len(self.names)} fields and a later one {frame.shape[1]}."
            )
        frame.columns = pd.Index(self.names)
        return frame

    def _read(self, **options: Any) -> pd.DataFrame:
        import pandas as pd

        return pd.read_csv(
            io.StringIO(self.body),
            sep="," if self.commas else r"\s+",
            header=None,
            keep_default_na=False,
            na_values=_MISSING,
            skipinitialspace=True,
            **options,
        )

    def _refuse_ragged(self) -> None:
        """Raise DataError for the first row that has more or fewer fields than the first line."""
        records, expected = _records(self.body, self.commas), len(self.names)
        try:
            for fields in records:
                if len(fields) != expected and any(fields):
                    kind = "short" if len(fields) < expected else "long"
                    raise DataError(
                        f"{self.file} is not a table: line {self.above + records.line_num} is {kind}, it has {len(fields)} fields and the first line "
                        f"{expected}; correct it or leave it out."
                    )
        except csv.Error:
            return

    def spell(self, frame: pd.DataFrame, labels: Sequence[str], text: Sequence[str]) -> None:
        """Replace cells that pandas has read as numbers by the text that the file holds.

        A column of text is always replaced; a column of labels only if one of its cells has leading
        zeros.

        Parameters
        ----------
        frame : DataFrame
            The table that `frame()` gave; it is changed in place.
        labels : sequence of str
            Names of the columns of labels.
        text : sequence of str
            Names of the columns whose cells are texts.
        """
        asked = [
            n for n in self.names if n in text or (n in labels and frame[n].dtype.kind in "iuf")
        ]
        if not asked or (not set(asked) & set(text) and not _PADDED.search(self.body)):
            return
        places = [self.names.index(n) for n in asked]
        written = self._read(usecols=places, dtype=str)
        for place, name in zip(places, asked, strict=True):
            cells = written[place].astype(object)
            if name in text or cells.str.match(r"[+-]?0\d").any():
                frame[name] = cells


def _records(text: str, commas: bool) -> Any:
    """The fields of every line; quoted fields may contain separators and ends of lines."""
    if commas:
        return csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    lines = (line.strip() + "\n" for line in io.StringIO(text.replace("\t", " "), newline="\n"))
    return csv.reader(lines, delimiter=" ", skipinitialspace=True)


def _lines_of_first_record(text: str, file: Path) -> int:
    """Number of lines of the first record; more than one if a quoted name contains line ends."""
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    try:
        next(reader)
    except csv.Error:
        most = csv.field_size_limit()
        raise DataError(
            f"{file} is not a table: a quote in its first line is never closed, or a name has more than {most} characters."
        ) from None
    record = "\n".join(text.split("\n", reader.line_num)[: reader.line_num])
    if reader.line_num > 1 and record.count('"') % 2:
        raise DataError(f"{file} is not a table: a quote in its first line is never closed.")
    return reader.line_num


def _fields(first: str, separator: str) -> list[str]:
    """The fields of the first record; a separator inside quotes does not separate."""
    return next(
        csv.reader(io.StringIO(first, newline=""), delimiter=separator, skipinitialspace=True)
    )


def _refuse_semicolons(first: str, file: Path) -> None:
    """Raise DataError if semicolons separate the fields.

    This is so where no comma separates fields, or where the commas belong to decimal numbers.
    """
    fields = _fields(first, ";")
    if len(fields) > 1 and (
        len(_fields(first, ",")) == 1 or all(_is_number(f.replace(",", ".")) for f in fields)
    ):
        raise DataError(
            f"{file} separates its fields by semicolons; commas or spaces are read. Write it with commas (and decimal points) instead."
        )


def _is_number(text: str) -> bool:
    try:
        return text.isascii() and "_" not in text and math.isfinite(float(text))
    except ValueError:
        return False
