"""`look`: what a table holds, how it was read, and which binary features it would give.

Nothing is refused here: what keeps columns from being used is listed, all of it at once.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.checks import nested
from milp_trees.data.load import ROLES, has_target, meanings, read_named
from milp_trees.data.problems import Problem, counts_up
from milp_trees.data.read import Table
from milp_trees.data.reading import Reading
from milp_trees.data.role_problems import is_measured, measurement, role_problems
from milp_trees.data.roles import Columns
from milp_trees.data.rules import features_of
from milp_trees.data.table_columns import as_frame, kind_of
from milp_trees.data.targets import SURVIVAL, problems_of_targets
from milp_trees.data.usable import many_categories, problems, regroup

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.binarize import Binarizer

#: Examples of values and of features that are shown of a column.
_SHOWN = 3
#: Characters in a line of text, at most in a cell of it, and at least for an example.
WIDTH, _WIDEST, _EXAMPLE = 80, 24, 14


@dataclass(frozen=True, eq=False)
class Look:
    """What was found in a table; it prints as text, and as HTML in a notebook.

    Parameters
    ----------
    name : str
        The table.
    rows : int
        Number of rows.
    columns : DataFrame
        A row per column of the table: its name, role, type, numbers of missing and of different
        values, examples, number of binary features and the first of them.
    guessed : tuple of str
        What was found out about the table and not stated, in sentences.
    problems : tuple of Problem
        What keeps columns from being used, with a remedy for each.
    """

    name: str
    rows: int
    columns: pd.DataFrame
    guessed: tuple[str, ...]
    problems: tuple[Problem, ...]

    def __str__(self) -> str:
        lines = [self._head(), "", *_table(self.columns)]
        for title, stated in (("Guessed", self.guessed), ("Problems", self.problems)):
            if stated:
                lines += ["", f"{title}:"]
                lines += [fill(f"- {one}", WIDTH, subsequent_indent="  ") for one in stated]
        return "\n".join(lines)

    def _head(self) -> str:
        features = int(self.columns["features"].sum())
        return f"{self.name}: {self.rows} rows, {len(self.columns)} columns, {features} binary features"

    def _repr_html_(self) -> str:
        parts = [f"<p>{html.escape(self._head())}</p>", self.columns.to_html(index=False)]
        for title, stated in (("Guessed", self.guessed), ("Problems", self.problems)):
            if stated:
                items = "".join(f"<li>{html.escape(str(one))}</li>" for one in stated)
                parts.append(f"<p>{title}</p><ul>{items}</ul>")
        return "\n".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "name": self.name,
            "rows": self.rows,
            "columns": self.columns.to_dict("records"),
            "guessed": list(self.guessed),
            "problems": [vars(problem) for problem in self.problems],
        }


def look(data: Any, *, binarizer: str | Binarizer = "auto", **columns: Any) -> Look:
    """Show what a table holds, how it is read, and which binary features it gives.

    Parameters
    ----------
    data : str, Path, DataFrame or mapping of columns
        A file, a built-in name, or a table in memory.
    binarizer : str or Binarizer, default="auto"
        As for `load`.
    **columns
        Roles of columns and options of reading, as for `load`.

    Returns
    -------
    Look

    Raises
    ------
    DataError
        The file is no table, or an option names a column that it does not have.

    Examples
    --------
    >>> import milp_trees as mt
    >>> print(mt.look({"age": [20, 30, 40], "smoker": ["no", "yes", "no"], "ill": [0, 1, 0]}))
    the table: 3 rows, 3 columns, 3 binary features
    <BLANKLINE>
    column  role     type          missing  distinct  features  for example
    age     feature  whole number        0         3         2  age <= 25
    smoker  feature  text                0         2         1  smoker == yes
    ill     target   0/1                 0         2         0  0, 1
    """
    from milp_trees.data.binarize import Binarizer

    given = Columns.of(columns)
    table = _read(data, given)
    meaning, features = meanings(table, given)
    chosen = binarizer if isinstance(binarizer, Binarizer) else Binarizer.from_name(binarizer)
    if given.reading.max_categories is not None:
        chosen.max_categories = given.reading.max_categories
    if given.reading.category_sets is not None:
        chosen.category_sets = given.reading.category_sets
    found = problems(table, given, features, chosen.max_categories)
    found += [p for p in table.problems if p.column not in features]
    roles = _roles(meaning, features, given)
    held = {c: role for c, role in roles.items() if role not in ("feature", "dropped")}
    found += role_problems(table.frame, held)
    if given.predicted and not any(p.column in meaning["targets"] for p in found):
        found += problems_of_targets(table.frame, meaning, given)
    table = replace(table, frame=_with_texts(table.frame))
    good = [c for c in features if c not in {p.column for p in found}]
    made, more = _features(table, given, good, meaning, chosen)
    rows = [
        _row(str(c), table, roles.get(str(c), "dropped"), made.get(str(c), []))
        for c in table.frame.columns
    ]
    import pandas as pd

    return Look(
        str(table.source.get("path", "the table")),
        len(table.frame),
        pd.DataFrame(rows),
        (*_guesses(table, given), *more),
        tuple(found),
    )


def _read(data: Any, given: Columns) -> Table:
    """The table of a file or of a frame."""
    if isinstance(data, (str, Path)):
        return read_named(
            data,
            given.target,
            labels=[c for c in (given.group, given.factor, given.treatment) if c],
            numeric_target=not has_target(given),
            label=given.label,
            reading=given.reading,
        )
    frame = as_frame(data)
    if not frame.shape[1]:
        raise DataError("The table has no columns.")
    return Table(frame.rename(columns=str), given.target or str(frame.columns[-1]), True)


def _with_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with lists and mappings in single rows as texts, which can be counted and shown."""
    several = [c for c in frame.columns if nested(frame[c])]
    return frame.assign(**{c: frame[c].map(repr, na_action="ignore") for c in several})


def _features(
    table: Table, given: Columns, good: list[str], meaning: Mapping[str, Any], chosen: Binarizer
) -> tuple[dict[str, list[str]], list[str]]:
    """Names of the binary features by column of the table, and what may be lost by them."""
    if not good:
        return {}, []
    y = table.frame[meaning["y"]].to_numpy() if "y" in meaning else None
    many = many_categories(table.frame, given, good, chosen.max_categories)
    every = np.arange(len(table.frame))
    frame, names, stated = regroup(table.frame, good, many, given, chosen.max_categories, y, every)
    if not hasattr(chosen, "rules_"):
        chosen.fit(frame[names], y)
    made: dict[str, list[str]] = {}
    for name in names:
        raw = next((c for c in many if name.endswith((f" of {c}", f" by {c}"))), name)
        rule = {name: chosen.rules_[name]} if name in chosen.rules_ else {}
        made.setdefault(raw, []).extend(f.name for f in features_of(rule))
    lost = [one for one in (chosen.threshold_note_, stated.get("regrouped", "")) if one]
    return made, [f"Features: {one}." for one in lost]


def _roles(meaning: Mapping[str, Any], features: list[str], given: Columns) -> dict[str, str]:
    """The role of every column that has one."""
    words = {field: role for role, field in ROLES.items()} | {"y": "target", "targets": "target"}
    out = dict.fromkeys(features, "feature")
    for field, names in meaning.items():
        for name in [names] if isinstance(names, str) else names:
            out[name] = words.get(field, field)
    if given.time:
        out |= dict(zip(meaning["targets"], SURVIVAL, strict=True))
    return out


def _row(name: str, table: Table, role: str, made: list[str]) -> dict[str, Any]:
    """What is told about one column."""
    column = table.frame[name]
    held = column.dropna()
    examples = ", ".join(map(_shown, held.unique()[:_SHOWN].tolist()))
    return {
        "column": name,
        "role": role,
        "type": _type(name, column, table.reading),
        "missing": int(column.isna().sum()),
        "distinct": int(held.nunique()),
        "features": len(made),
        "examples": examples,
        "first features": ", ".join(made[:_SHOWN]),
    }


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).removesuffix(" 00:00:00")


def _type(name: str, column: pd.Series, reading: Reading) -> str:
    """The type of a column in a word or two."""
    form = reading.formats.get(name)
    try:
        kind = kind_of(name, column)
    except DataError:
        return str(column.dtype)
    if form is not None and form.kind == "number":
        return {"%": "percent", "": "number"}.get(form.unit, f"amount, {form.unit}")
    if kind == "numbers":
        values = set(column.dropna().unique()[:_SHOWN].tolist())
        whole = column.dtype.kind in "iu"
        return "0/1" if values <= {0, 1} else "whole number" if whole else "number"
    words = {"bool": "0/1", "dates": "date", "ordered": "ordered category"}
    return words.get(kind, "text")


def _guesses(table: Table, given: Columns) -> list[str]:
    """Sentences on what was found out about a table."""
    reading, out = table.reading, []
    words = {"\t": "tabs", "space": "spaces and tabs", ",": "commas", ";": "semicolons"}
    if "sep" in reading.guessed:
        sep = str(reading.sep)
        out.append(f"Fields are separated by {words.get(sep, repr(sep))} (--sep).")
    if "decimal" in reading.guessed:
        mark = "a comma" if reading.decimal == "," else "a point"
        out.append(f"The decimal mark is {mark} (--decimal).")
    if "encoding" in reading.guessed:
        out.append(f"The encoding is {reading.encoding} (--encoding).")
    if not table.header:
        out.append("There is no header, because all fields of the first line are numbers.")
    if table.row_names:
        out.append(
            "The header has one name less than the rows have fields, as R writes tables, so the first field of a row is its name and no column."
        )
    if has_target(given) and given.target is None:
        place = "last" if table.header else "first"
        out.append(f"The target is {table.target!r}, the {place} column (--target).")
    if has_target(given):
        out += _meant(table)
    for name, form in reading.formats.items():
        out.append(f"{name!r} holds {form}; --text {name} keeps it as it is written.")
    for name, texts in table.unknown.items():
        shown = ", ".join(map(repr, texts))
        out.append(f"In {name!r}, {shown} stands for a missing value.")
    out += _about_columns(table, given)
    for name in table.codes:
        out.append(f"{name!r} holds codes with leading zeros, which are kept as text.")
    return out


def _about_columns(table: Table, given: Columns) -> list[str]:
    """Sentences on what single columns hold."""
    out = []
    for name in table.frame.columns:
        target = has_target(given) and name == table.target
        if table.frame[name].nunique(dropna=False) == 1 and not target:
            out.append(f"{str(name)!r} holds one value only, so it gives no feature.")
        if table.frame[name].dtype.kind in "OTU":
            texts = table.frame[name].dropna().astype(str).drop_duplicates()
            if texts.str.strip().str.casefold().duplicated().any():
                out.append(f"{str(name)!r} holds texts that differ in spaces or capitals only.")
        if counts_up(table.frame[name]):
            out.append(f"{str(name)!r} counts up from row to row, as identifiers do.")
    return out


def _meant(table: Table) -> list[str]:
    """The sentence that a target is measured numbers, and what is done with it."""
    held = table.frame[table.target].dropna()
    if held.dtype.kind not in "iuf" or not is_measured(held.to_numpy(), len(table.frame)):
        return []
    message = f"{table.target!r} holds {held.nunique()} different numbers, so solve takes a task of regression"
    return [message + ("." if measurement(held) else "; --task accuracy takes them as classes.")]


def _table(frame: pd.DataFrame) -> list[str]:
    """The rows of a Look as text; the last column is cut to what is left of the width."""
    heads = ["column", "role", "type", "missing", "distinct", "features"]
    rows = [[*heads, "for example"]]
    for row in frame.to_dict("records"):
        example = row["first features"].split(", ")[0] or row["examples"]
        rows.append([*(str(row[h]) for h in heads), example])
    sizes = [min(max(len(r[j]) for r in rows), _WIDEST) for j in range(len(heads))]
    # Names give way to the rest of the line, and examples to names.
    sizes[0] = min(sizes[0], WIDTH - _EXAMPLE - 2 * len(sizes) - sum(sizes[1:]))
    left = WIDTH - sum(sizes) - 2 * len(sizes)
    out = []
    for row in rows:
        cells = [
            _cut(c, s).rjust(s) if j >= 3 else _cut(c, s).ljust(s)
            for j, (c, s) in enumerate(zip(row, sizes, strict=False))
        ]
        out.append("  ".join([*cells, _cut(row[-1], left)]).rstrip())
    return out


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"
