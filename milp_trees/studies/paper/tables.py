"""Tables of a study as LaTeX (booktabs), Markdown and CSV."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from milp_trees.common.errors import DataError
from milp_trees.studies.columns import COLUMNS
from milp_trees.studies.measures.summary import MEASURES, how_counted, summary
from milp_trees.studies.study import Study

#: Columns of a table of rows if nothing else is asked; those that say the same everywhere are left
#: out.
ROW_COLUMNS = (
    "environment",
    "variant",
    "seed",
    "permutation",
    "objective",
    "bound",
    "gap",
    "status",
    "seconds",
    "evidence",
)
#: Columns that a table of rows shows only where they tell rows apart.
_ONLY_IF_DIFFERENT = {"environment", "seed", "permutation"}


@dataclass(frozen=True)
class PaperTable:
    """A table with what its reader has to know.

    Parameters
    ----------
    frame : DataFrame
        The cells as they are.
    headings : mapping of str to str
        Heading of every column.
    texts : mapping of str to str
        What every column is.
    note : str
        Sentences below the table or in its caption.
    settings : mapping of str to str or float
        How the numbers were made, for further columns of a CSV file.
    """

    frame: pd.DataFrame
    headings: Mapping[str, str]
    texts: Mapping[str, str]
    note: str
    settings: Mapping[str, str | float] = field(default_factory=dict)


def row_table(study: Study, columns: Sequence[str] = ()) -> PaperTable:
    """The rows of a study.

    Parameters
    ----------
    study : Study
    columns : sequence of str, optional
        Columns of `Study.frame()`, or patterns of them (`*_seconds`); by default the usual ones.

    Raises
    ------
    DataError
        There is no such column.
    """
    frame = _in_order(study.frame())
    chosen = [name for given in columns for name in _matching(given, frame)]
    if not columns:
        named = bool((frame["name"] != frame["problem"]).any())
        chosen = [
            name
            for name in (*(("name",) if named else ("data", "task", "depth")), *ROW_COLUMNS)
            if name not in _ONLY_IF_DIFFERENT or frame[name].nunique(dropna=False) > 1
        ]
    texts = {name: COLUMNS.get(name, "score on test rows") for name in chosen}
    headings = {name: name.replace("_", " ") for name in chosen}
    return PaperTable(frame[list(dict.fromkeys(chosen))], headings, texts, f"{len(frame)} runs.")


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows in the order of the plan; those of plain comparisons come last, as they are."""
    return frame.sort_values("number", kind="stable")


def _matching(pattern: str, frame: pd.DataFrame) -> list[str]:
    found = [name for name in frame if fnmatchcase(name, pattern)]
    if not found:
        raise DataError(f"The rows have no column {pattern!r}; they have {', '.join(frame)}.")
    return found


def aggregate_table(
    study: Study, by: Sequence[str], measures: Sequence[str], timeouts: str, shift: float
) -> PaperTable:
    """Aggregates of a study.

    Parameters
    ----------
    study : Study
    by, measures, timeouts, shift
        As `milp_trees.studies.measures.summary.summary` takes them.

    Returns
    -------
    PaperTable
    """
    whole = _in_order(study.frame())
    frame = summary(whole, study.traces(), by, measures, timeouts, shift)
    keys = [name for name in frame if name not in measures]
    note = how_counted(timeouts, shift)
    if "environment" in keys:
        note += " Runs of different environments are apart: their times are not averaged."
    mixed = whole.groupby(keys, dropna=False)["variant"].nunique() if len(whole) else pd.Series()
    if "method" in keys and (mixed > 1).any():
        note += " Runs of one method with several starts or solver options are averaged."
    headings = {name: name.replace("_", " ") for name in keys}
    texts = {name: COLUMNS.get(name, "score on test rows") for name in keys}
    headings |= {name: MEASURES[name].title for name in measures}
    texts |= {name: MEASURES[name].text for name in measures}
    return PaperTable(frame, headings, texts, note, {"timeouts": timeouts, "shift": shift})


# -- writing -------------------------------------------------------------------------------------------------


def latex(table: PaperTable) -> str:
    """The table as LaTeX for the package booktabs; what columns are is in comments above it."""
    texts = [f"% {table.headings[n]}: {t}" for n, t in table.texts.items()]
    rows = [[latex_text(cell) for cell in row] for row in cells(table.frame)]
    kinds = "".join("r" if _numeric(table.frame[name]) else "l" for name in table.frame)
    head = " & ".join(latex_text(table.headings[name]) for name in table.frame)
    lines = [
        *map(_one_line, texts),
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_text(table.note)}}}",
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        rf"{head} \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def markdown(table: PaperTable) -> str:
    """The table as Markdown (GitHub's pipes), with what columns are below it."""
    marks = ["--:" if _numeric(table.frame[name]) else ":--" for name in table.frame]
    rows = [
        [markdown_text(table.headings[name]) for name in table.frame],
        marks,
        *([markdown_text(cell) for cell in row] for row in cells(table.frame)),
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    texts = [
        f"- {markdown_text(table.headings[n])}: {markdown_text(t)}" for n, t in table.texts.items()
    ]
    return "\n".join([*lines, "", markdown_text(table.note), "", *texts]) + "\n"


def csv(table: PaperTable) -> str:
    """The cells unrounded, under the names of their columns, and how they were made."""
    return table.frame.assign(**table.settings).to_csv(index=False, lineterminator="\n")


def is_csv_head(line: str) -> bool:
    """Whether a line names nothing but columns and measures that `csv` writes."""
    names = {*COLUMNS, *MEASURES, "timeouts", "shift"}
    found = line.strip().split(",")
    return len(found) > 1 and all(n in names or n.startswith("score_") for n in found)


#: Writers by style.
STYLES: dict[str, Callable[[PaperTable], str]] = {
    "latex": latex,
    "csv": csv,
    "markdown": markdown,
}

_LATEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",  # the command for it is unknown to LaTeX's usual encoding of fonts
    # At the beginning of a row these would be arguments of the end of the row before.
    "[": "{[}",
    "*": "{*}",
    "−": "$-$",
    "λ": r"$\lambda$",
    "–": "--",
    "≤": r"$\le$",
    "≥": r"$\ge$",
}


def latex_text(text: str) -> str:
    """A text in which nothing is a command of LaTeX."""
    return "".join(_LATEX.get(c, c) for c in _one_line(text))


def markdown_text(text: str) -> str:
    """A text in which nothing is Markdown or HTML."""
    escaped = html.escape(_one_line(text), quote=False)
    return "".join(f"\\{c}" if c in "\\`*_[]|#~" else c for c in escaped)


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in " ".join(text.split()))


def _numeric(column: pd.Series) -> bool:
    known = column.dropna()
    return len(known) > 0 and all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in known.tolist()
    )


def cells(frame: pd.DataFrame) -> list[list[str]]:
    """The cells as texts: whole numbers whole, others with four digits that count."""
    columns = [[_cell(value) for value in frame[name].tolist()] for name in frame]
    return [list(row) for row in zip(*columns, strict=True)]


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        value = 0.0 if abs(value) < 1e-12 else value
        if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return str(value)
