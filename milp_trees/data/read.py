"""Reading tables: one rule for every file.

The encoding, the separator (comma, semicolon, tab, bar, or any number of spaces and tabs) and the
decimal mark are found from the file, unless a `Reading` states them. Fields may be quoted, also
over several lines (in a name, such an end of line is read as a space). Lines end with LF, CR LF or
CR, and blank lines are left out. If all fields of the first line are numbers, there is no
header, the target comes first, and columns are named by position (`0` is the first feature);
otherwise the first line is the header and the target comes last. A `.gz` file is unpacked, and it
is also found if only `PATH.gz` exists. A `.parquet` file has a header. A `.out` file that begins
with a brace, or has a file of labels beside it, holds rules as columns, and the labels are the
target (`milp_trees.data.rule_files`). The extension decides nothing else.

Columns of texts that are numbers (with a unit, or marks for thousands) or dates become numbers or
dates (`milp_trees.data.formats`); labels stay what they are. If a cell of a column of labels is
written with leading zeros (`01`), the whole column is text, so `01` and `1` are two labels. Other
columns of whole numbers are text if they hold codes: cells of one length, some of which begin with
zero.
"""

from __future__ import annotations

import difflib
import hashlib
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError
from milp_trees.data import numbers
from milp_trees.data.files import contents, find, refuse_foreign_table
from milp_trees.data.formats import PLAIN, open_mark, told
from milp_trees.data.lines import TARGET as TARGET
from milp_trees.data.lines import Lines
from milp_trees.data.names import as_pandas
from milp_trees.data.problems import FEW_ROWS, Problem
from milp_trees.data.reading import Reading
from milp_trees.data.rule_files import RuleTable, holds_rules, read_rules

if TYPE_CHECKING:
    import pandas as pd


#: What is wrong with a column that is missing on every row.
NO_VALUE = "holds no value"


@dataclass(frozen=True)
class Table:
    """A table that was read from a file.

    Parameters
    ----------
    frame : DataFrame
        All columns, including the target.
    target : str
        Name of the target column.
    header : bool
        Whether the file has a header; without one, columns are named by position.
    source : mapping
        `path` as it was given and `sha256` of the file's bytes.
    classes : tuple of str
        The classes of the target in the order of a file of labels; empty for other files, where
        they are sorted.
    reading : Reading
        How it was read, as stated and as found.
    problems : tuple of Problem
        Columns that cannot be used as they are.
    unknown : mapping of column to tuple of str
        Texts that were taken as missing values in columns of numbers or dates.
    codes : tuple of str
        Columns of whole numbers that stay text because of their leading zeros.
    repeated : mapping of str to str
        The name that a later column got in place of one that an earlier column has → that one.
    row_names : bool
        Whether names of the rows, for which the header has no name, were left out.
    """

    frame: pd.DataFrame
    target: str
    header: bool
    source: Mapping[str, Any] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    reading: Reading = field(default_factory=Reading)
    problems: tuple[Problem, ...] = ()
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    codes: tuple[str, ...] = ()
    repeated: Mapping[str, str] = field(default_factory=dict)
    row_names: bool = False

    @property
    def read_as(self) -> dict[str, Any]:
        """How it was read, for the description of the data; empty if that goes without saying."""
        found = self.reading.to_json()
        twice = {"repeated": dict(self.repeated)} if self.repeated else {}
        return {**({"reading": found} if found else {}), **twice}

    @property
    def features(self) -> list[str]:
        return [str(c) for c in self.frame.columns if c != self.target]


def read_table(
    path: str | Path,
    target: str | None = None,
    alone: bool = False,
    *,
    labels: Sequence[str] = (),
    text: Sequence[str] = (),
    numeric_target: bool = False,
    label: str | Path | None = None,
    reading: Reading | None = None,
) -> Table:
    """Read a text table (plain or gzipped) or a Parquet file by the one rule of this module."""
    file = find(Path(path))
    refuse_foreign_table(file)
    raw = contents(file)
    source = {"path": str(path), "sha256": hashlib.sha256(raw).hexdigest()}
    if holds_rules(raw, file, label):
        return _rules(read_rules(raw, file, label, alone), target, source)
    if label is not None:
        raise DataError(
            f"--label belongs to a file of rules (.out), and {file} has its target in a column; leave it out."
        )
    reading = reading or Reading()
    lines = None if file.suffix in (".parquet", ".pq") else Lines.of(raw, file, reading)
    frame, header = (_parquet(raw, file), True) if lines is None else (lines.frame(), lines.header)
    del raw  # a large file is in memory once
    if frame.shape[0] == 0:
        raise DataError(f"{file} has a header but no data rows.")
    if frame.shape[1] < 2 and not alone:
        only = frame.columns[0]
        raise DataError(
            f"{file} has one column only ({only!r}); a target and at least one feature are needed, separated by commas or spaces."
        )
    chosen = (
        str(frame.columns[-1] if header else frame.columns[0])
        if target is None
        else column(frame, target, "--target")
    )
    table = Table(frame, chosen, header, source, (), reading)
    if lines is None:
        return table
    text = [*text, *reading.text]
    kept = [*labels, *([] if numeric_target else [chosen])]
    codes = lines.spell(frame, kept, text)
    table = replace(table, codes=codes, repeated=lines.repeated, row_names=lines.row_names)
    return _typed(table, lines, {*kept, *text, *codes})


def _typed(table: Table, lines: Lines, kept: Collection[str]) -> Table:
    """The table with its columns of texts as numbers or dates where they are; `kept` are not."""
    frame, reading = table.frame, lines.reading
    usual = reading.decimal
    stated = None if "decimal" in reading.guessed else usual
    # Fields that commas separate have rather a decimal point; fractions among them show it.
    sure = reading.sep != "," or any(_has_fractions(c) for _, c in frame.items())
    formats, unknown = dict(reading.formats), {}
    problems = [
        Problem(name, f"has the same name as an earlier one, {first!r}", "rename it in the file")
        for name, first in lines.repeated.items()
    ]
    problems += _unnamed(frame, lines)
    shown: set[Any] = set()  # marks that columns show themselves, and columns that do not
    read: dict[str, str] = {}
    for name in [str(c) for c in frame.columns if c not in kept]:
        column = frame[name]
        if column.isna().all():
            problems.append(Problem(name, NO_VALUE))
            continue
        known = reading.formats.get(name)
        undecided = known is None or (known.decimal is None and known.kind == "number")
        open_ = undecided and column.dtype.kind == "f" and reading.sep != "," and usual is None
        if column.dtype.kind == "f":
            read[name] = usual or "."
        if column.dtype.kind in "biuf":
            plain = known is None or (not known.unit and known.decimal in (None, usual or "."))
            if plain and (known is None or known.kind == "number") and not open_:
                continue
            column = lines.written([name])[name]
        elif known == PLAIN and _are_answers(column):
            continue
        found = told(
            column, stated=stated, usual=usual, sure=sure, order=reading.dates, known=known
        )
        if found.problem:
            problems.append(Problem(name, found.problem, found.remedy))
        elif found.format is not None and not open_:
            frame[name], formats[name] = found.values, found.format
            if found.own:
                shown.add(found.format.decimal)
                read.pop(name, None)
            elif found.format.decimal and known in (None, PLAIN):
                read[name] = found.format.decimal
            if found.unknown:
                unknown[name] = found.unknown
    if stated is None:
        for name in [n for n, mark in read.items() if shown - {mark}]:
            if what := open_mark(lines.written([name])[name]):
                problems.append(Problem(name, what, numbers.SAY_MARK))
    return replace(
        table,
        reading=replace(reading, formats=formats),
        problems=tuple(problems),
        unknown=unknown,
    )


def _are_answers(column: pd.Series) -> bool:
    """Whether a column holds true and false, beside missing values."""
    from pandas.api import types

    return types.infer_dtype(column, skipna=True) == "boolean"


def _unnamed(frame: pd.DataFrame, lines: Lines) -> list[Problem]:
    """The problem of a first column without a name that numbers the rows, if there is one."""
    first = str(frame.columns[0])
    held = frame[first]
    nameless = lines.header and not lines.row_names and first == "column 1"
    if not nameless or held.dtype.kind not in "iu" or not held.is_unique:
        return []
    if not 2 <= len(held) < FEW_ROWS:  # of more rows, `identifiers` finds it
        return []
    what = "has no name, and another whole number in every row, as numbers of rows have"
    return [Problem(first, what, "give it a name in the file")]


def _has_fractions(column: pd.Series) -> bool:
    return column.dtype.kind == "f" and bool((column.head(1000) % 1 > 0).any())


def _rules(rules: RuleTable, target: str | None, source: dict[str, str]) -> Table:
    """The table of a file of rules; another column than the labels may be the target."""
    frame = rules.frame()
    chosen = TARGET if target is None else column(frame, target, "--target")
    if rules.label_sha256:
        source = {**source, "label_sha256": rules.label_sha256}
    return Table(frame, chosen, True, source, rules.classes if chosen == TARGET else ())


def _parquet(raw: bytes, file: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise DataError(
            f"Reading {file} needs pyarrow; install it with: pip install 'milp-trees[parquet]'"
        ) from None
    try:
        frame = pd.read_parquet(io.BytesIO(raw))
    except (OSError, ValueError) as error:
        raise DataError(f"{file} is not a Parquet file: {str(error).splitlines()[0]}") from None
    return _typed_frame(frame)


def _typed_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose columns have types already, with texts as names and days as dates."""
    import pandas as pd

    frame.columns = [str(c) for c in frame.columns]
    for name in [c for c in frame.columns if frame[c].dtype.kind == "O"]:
        if pd.api.types.infer_dtype(frame[name], skipna=True) == "date":
            frame[name] = pd.to_datetime(frame[name])
    return frame


def is_frame(given: Any) -> bool:
    """Whether something is a table in memory: of pandas, polars or pyarrow."""
    if hasattr(given, "iloc"):
        return hasattr(given, "columns")
    return hasattr(given, "to_pandas") or hasattr(given, "collect")


def frame_table(
    given: Any,
    target: str | None = None,
    *,
    labels: Sequence[str] = (),
    numeric_target: bool = False,
    label: str | Path | None = None,
    reading: Reading | None = None,
) -> Table:
    """A table in memory, as if it had been read from a Parquet file."""
    reading = reading or Reading()
    stated = [
        name for name in ("sep", "decimal", "encoding", "dates", "text") if getattr(reading, name)
    ]
    stated += ["label"] if label is not None else []
    if stated:
        raise DataError(
            f"{stated[0]}= is about text files, and a frame has its types already; leave it out."
        )
    frame = as_pandas(given)
    frame = frame.copy() if frame is given else frame
    names = [str(c) for c in frame.columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"Two columns of the frame are called {twice!r}; rename one.")
    if not len(frame):
        raise DataError("The frame has no rows.")
    if len(names) < 2:
        raise DataError(
            "The frame has one column only; a target and at least one feature are needed."
        )
    frame = _typed_frame(frame.reset_index(drop=True))
    chosen = names[-1] if target is None else column(frame, target, "--target")
    return Table(frame, chosen, True, {}, (), reading)


def column(frame: pd.DataFrame, name: str, role: str) -> str:
    """The column with the given name."""
    names = [str(c) for c in frame.columns]
    if str(name) in names:
        return str(name)
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    raise DataError(
        f"{role} names the column {name!r}, which the data do not have.{hint} Columns: {shown}."
    )
