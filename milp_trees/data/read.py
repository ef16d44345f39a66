"""Reading tables: one rule for every file.

A byte-order mark is removed. A comma in the first line (outside quotes) means that commas separate
the fields; otherwise whitespace does. Fields may be quoted, also over several lines (in a name,
such an end of line is read as a space). Lines end with LF, CR LF or CR. If all fields of the first
line are numbers, there is no header, the target comes first, and columns are named by position (`0`
is the first feature); otherwise the first line is the header and the target comes last. A `.gz`
file is unpacked, and it is also found if only `PATH.gz` exists. A `.parquet` file has a header. A
`.out` file that begins with a brace, or has a file of labels beside it, holds rules as columns, and
the labels are the target (`milp_trees.data.rule_files`). The extension decides nothing else.

If a cell of a column of labels is written with leading zeros (`01`), the whole column is text, so
`01` and `1` are two labels.
"""

from __future__ import annotations

import difflib
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.data.files import contents, find
from milp_trees.data.lines import TARGET as TARGET
from milp_trees.data.lines import Lines
from milp_trees.data.rule_files import RuleTable, holds_rules, read_rules
from milp_trees.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


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
    """

    frame: pd.DataFrame
    target: str
    header: bool
    source: Mapping[str, Any] = field(default_factory=dict)
    classes: tuple[str, ...] = ()

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
) -> Table:
    """Read a text table (plain or gzipped) or a Parquet file by the one rule of this module.

    Parameters
    ----------
    path : str or Path
        The file, or a path to which `.gz` must be added.
    target : str, optional
        The target column, if it is not the first (no header) or the last (header).
    alone : bool, default=False
        Whether one column is enough: a table of rows to predict needs no target.
    labels : sequence of str
        Further columns that hold labels: they stay text where a label has leading zeros. Names
        that the table does not have are ignored.
    text : sequence of str
        Columns whose cells are always text, even if they look like numbers.
    numeric_target : bool, default=False
        Whether the target is a number (or no column is a target), so that its cells are no labels.
    label : str or Path, optional
        The file of labels of a file of rules (`.out`), if it is not the one beside it.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        The file is absent, empty, not text or not a table; one sentence says what to do.
    """
    file = find(Path(path))
    raw = contents(file)
    source = {"path": str(path), "sha256": hashlib.sha256(raw).hexdigest()}
    if holds_rules(raw, file, label):
        return _rules(read_rules(raw, file, label, alone), target, source)
    if label is not None:
        raise DataError(
            f"--label belongs to a file of rules (.out), and {file} has its target in a column; leave it out."
        )
    lines = None if file.suffix in (".parquet", ".pq") else Lines.of(raw, file)
    frame, header = (_parquet(raw, file), True) if lines is None else (lines.frame(), lines.header)
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
    if lines is not None:
        lines.spell(frame, [*labels, *([] if numeric_target else [chosen])], text)
    return Table(frame, chosen, header, source)


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
    frame.columns = [str(c) for c in frame.columns]
    return frame


def column(frame: pd.DataFrame, name: str, role: str) -> str:
    """The column with the given name.

    Parameters
    ----------
    frame : DataFrame
        The table.
    name : str
        Name of the column.
    role : str
        The option that names the column (`--target`), for the message.

    Returns
    -------
    str
        The name.

    Raises
    ------
    DataError
        There is no such column; the message names close matches.
    """
    names = [str(c) for c in frame.columns]
    if str(name) in names:
        return str(name)
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    raise DataError(
        f"{role} names the column {name!r}, which the data do not have.{hint} Columns: {shown}."
    )
