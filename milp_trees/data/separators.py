"""What separates the fields of a text table, found from its first lines."""

from __future__ import annotations

import csv
import io
import math
import re

from milp_trees.data.reading import SPACE

#: Characters that may separate fields, the more usual one first.
CANDIDATES = (",", ";", "\t", "|")
#: The separator of a table of one column whose cells have spaces: a character that no text has.
NONE = "\x1f"
#: Number of lines that are looked at.
_LINES = 50
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")


def guess(head: str, whole: bool) -> str:
    """What separates the fields: a character, or SPACE for any number of spaces and tabs.

    A character separates if all lines have the same number of fields by it, at least two. Of
    several that do, the one counts whose fields hold fewest others, except in decimal numbers. If
    there is none, the first line decides: a comma, or the character that gives most fields.
    """
    tables = {c: _table(head, c, whole) for c in CANDIDATES if c in head}
    fit = {c: t for c, t in tables.items() if t and _even(t)}
    spaces = [line.split() for line in head.split("\n")[:_LINES] if line.strip()]
    spaces = spaces if whole or len(spaces) < 2 else spaces[:-1]
    by_space = bool(spaces) and len(spaces[0]) > 1 and len({len(s) for s in spaces}) == 1
    if "\t" in fit and by_space and not all(name.strip() for name in fit["\t"][0][:-1]):
        del fit["\t"]  # the columns are aligned by several tabs
    if fit:
        return min(fit, key=lambda c: (_strange(fit[c], c), -len(fit[c][0]), CANDIDATES.index(c)))
    first = {c: len(t[0]) for c, t in tables.items() if t and len(t[0]) > 1}
    if "," in first and max(first.values()) == first[","]:
        return ","
    if by_space or (not first and not _one_column(head, whole)):
        return SPACE
    if not first:
        return NONE
    return max(first, key=lambda c: first[c])


def _one_column(head: str, whole: bool) -> bool:
    """Whether lines are cells of one column: its name is one word, and a cell has several.

    A first word in quotes is rather the name of a row, as R writes it.
    """
    rows = _table(head, " ", whole)
    if len(rows) < 2 or len(rows[0]) != 1 or all(len(row) == 1 for row in rows):
        return False
    lines = [line for line in head.split("\n") if line.strip()]
    of_r = all(len(row) == 2 for row in rows[1:]) and all(x.startswith('"') for x in lines[:-1])
    return not of_r


def _table(head: str, separator: str, whole: bool) -> list[list[str]]:
    """The fields of the first lines that are not blank; empty if quotes do not fit."""
    records: list[list[str]] = []
    reader = csv.reader(
        io.StringIO(head, newline=""), delimiter=separator, skipinitialspace=separator != "\t"
    )
    try:
        for record in reader:
            if record and (len(record) > 1 or record[0].strip()):
                records.append(record)
            if len(records) > _LINES:
                break
    except csv.Error:
        return []
    cut = len(records) > 1 and (not whole or len(records) > _LINES)
    return records[:-1] if cut else records


def _even(table: list[list[str]]) -> bool:
    """Whether all lines have as many fields, two at least; one more may be empty at the end."""
    sizes = {len(record) for record in table}
    if len(sizes) == 2 and max(sizes) == min(sizes) + 1:
        longer = [record for record in table if len(record) == max(sizes)]
        if not any(record[-1].strip() for record in longer):
            return min(sizes) > 1
    return len(sizes) == 1 and max(sizes) > 1


def _strange(table: list[list[str]], separator: str) -> int:
    """Number of fields that hold another candidate and are no number with a decimal comma."""
    others = [c for c in CANDIDATES if c != separator]
    return sum(
        any(c in field for c in others)
        and not (separator != "," and _DECIMAL_COMMA.fullmatch(field.strip()))
        for record in table
        for field in record
    )


def is_number(text: str, decimal: str = ".") -> bool:
    """Whether a field is a finite number, written with this decimal mark."""
    if decimal == "," and "." not in text:
        text = text.replace(",", ".", 1)
    try:
        return text.isascii() and "_" not in text and math.isfinite(float(text))
    except ValueError:
        return False
