"""A model as an SQL query with `CASE`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.exports._program import (
    Program,
    chain,
    encodable,
    fresh,
    number,
    texts_of,
    timestamp,
)
from milp_trees.models.exporting import Export
from milp_trees.models.nodes import Leaf

_NOTES = """\
-- A {noun}, written by milp-trees, in standard SQL; SQLite and DuckDB run it as it is.
-- PostgreSQL, Oracle: as it is (Oracle without AS before t; there an empty text is NULL, and columns
-- of numbers with more than 15 digits must be BINARY_DOUBLE).
-- MySQL, MariaDB: after SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'.
-- BigQuery: names in backquotes; \\ and ' inside texts are escaped by \\.
-- SQL Server: CASE may be nested 10 deep, which is enough for 500 leaves or any rule list.
-- Texts must be compared exactly: MySQL and SQL Server need a collation that ends in _bin or _BIN2.
-- A missing value is NULL, not NaN. The prediction is NULL where a value is missing that the model
-- needs, or where a 0/1 column holds something else. 0/1 columns are numbers: where yours is
-- BOOLEAN and the database refuses to compare it with 1, write CAST(t.x AS INTEGER).
"""


@register
class Sql(Export):
    """A query that adds the prediction to all columns of a table.

    A prediction of several numbers is several columns: `prediction_` with the name of each.

    Parameters
    ----------
    table : str, default="data"
        Name of the table.
    column : str, default="prediction"
        Name of the new column.
    dates : {"timestamp", "text"}
        How columns of dates are stored: as timestamps, or (in SQLite) as texts such as
        `2021-03-05` or `2021-03-05 12:30:00`.
    """

    name: ClassVar[str] = "sql"
    about: ClassVar[str] = "SQL query with CASE"
    suffix: ClassVar[str] = ".sql"
    mark: ClassVar[str] = "written by milp-trees"

    def __init__(
        self, table: str = "data", column: str = "prediction", dates: str = "timestamp"
    ) -> None:
        for option, given in (("table", table), ("column", column)):
            if not given:
                raise DataError(f"The {option} of an SQL query needs a name; got ''.")
        if dates not in ("timestamp", "text"):
            raise DataError(f"The option dates of SQL is timestamp or text; got {dates!r}.")
        self.table, self.column, self.dates = table, column, dates

    def write(self, model: Any) -> str:
        program = Program.of(model)
        encodable([*texts_of(program), self.table, self.column], self.name)
        taken = [c.name for c in program.columns]
        new = []
        for wanted, actions in _columns(program, self.column):
            taken.append(fresh(wanted, taken))
            one = replace(program, actions=actions)
            new.append(f" {self._column(one)} AS {name(taken[-1])}")
        columns = ",\n".join(new)
        return f"{_NOTES.format(noun=program.noun)}SELECT t.*,\n{columns}\nFROM {name(self.table)} AS t;\n"

    def _column(self, program: Program) -> str:
        """The expression of a new column."""
        case = _case(program, program.turned, 1, "TIMESTAMP " * (self.dates == "timestamp"))
        wrong = " OR ".join(filter(None, map(_wrong, program.columns)))
        return f"CASE WHEN {wrong} THEN NULL\n ELSE {case} END" if wrong else case


def _columns(program: Program, column: str) -> list[tuple[str, tuple[Any, ...]]]:
    """The new columns, each with what the leaves say of it."""
    if not program.outputs:
        return [(column, program.actions)]
    numbers = zip(*program.actions, strict=True)
    return [(f"{column}_{n}", tuple(a)) for n, a in zip(program.outputs, numbers, strict=True)]


def name(text: str) -> str:
    """A quoted name of a table or column."""
    return '"' + text.replace('"', '""') + '"'


def literal(value: Any, kind: type) -> str:
    """A label or category: a text, a number or TRUE and FALSE."""
    if kind is bool:
        return str(value).upper()
    if kind is str:
        return "'" + str(value).replace("'", "''") + "'"
    return str(value) if kind is int else _double(value)


def _double(value: Any) -> str:
    """A double: numbers without an exponent would be decimals, which some databases round."""
    text = number(value)
    return text if "e" in text else f"{text}e0"


def _texts(texts: Any) -> str:
    return ", ".join(literal(t, str) for t in texts)


def _of(column: str) -> str:
    # With the table in front, SQLite never takes the name of a missing column for a text.
    return f"t.{name(column)}"


def _wrong(column: Any) -> str:
    """The condition under which a column's value has no prediction."""
    x = _of(column.name)
    wrong = [] if column.may_be_missing else [f"{x} IS NULL"]
    if column.holds == "yes-no":
        wrong.append(f"{x} NOT IN (0, 1)")
    if column.order:
        wrong.append(f"{x} NOT IN ({_texts(column.order)})")
    return " OR ".join(wrong)


def _case(program: Program, node: Any, level: int, dated: str) -> str:
    """A node as a `CASE`; `dated` stands before texts that are dates."""
    if isinstance(node, Leaf):
        return literal(program.actions[node.action], program.labels_are)
    indent = "\n" + " " * level
    branches, last = chain(node)
    whens = "".join(
        f"{indent}WHEN {_condition(branch.test, dated)} THEN {_case(program, branch.right, level + 1, dated)}"
        for branch in branches
    )
    return f"CASE{whens}{indent}ELSE {_case(program, last, level + 1, dated)} END"


def _condition(test: Any, dated: str) -> str:
    return " AND ".join(_literal(one, dated) for one in test.literals)


def _literal(one: Any, dated: str) -> str:
    """A literal as a condition; a condition that is unknown counts as false."""
    feature, holds = one.feature, one.value
    x = _of(feature.column)
    if feature.kind == "missing":
        return f"{x} IS {'' if holds else 'NOT '}NULL"
    if feature.accepted:
        message = f"{x} {'' if holds else 'NOT '}IN ({_texts(feature.accepted)})"
    elif feature.kind == "<=":
        right = (
            dated + literal(timestamp(feature.value, " "), str)
            if feature.dated
            else _double(feature.value)
        )
        # Whole numbers that doubles round are rounded before they are compared.
        far = not feature.dated and abs(feature.place) >= 2.0**53
        message = f"{x}{' * 1e0' if far else ''} {'<=' if holds else '>'} {right}"
    else:
        right = literal(feature.value, str) if feature.kind == "==" else "1"
        message = f"{x} {'=' if holds else '<>'} {right}"
    return (
        f"({message} OR {x} IS NULL)"
        if (feature.missing == "yes") == holds and feature.missing
        else message
    )
