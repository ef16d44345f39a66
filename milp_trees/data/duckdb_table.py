"""A table that DuckDB groups: Parquet files, a database, or a relation of the caller.

Only answers come into memory: the columns, extremes and thresholds, and one row per group.
"""

from __future__ import annotations

import glob
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common import scratch
from milp_trees.common.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.rules import Rule

#: Kinds of columns that can be used; the kind of any other column is DuckDB's name of its type.
BOOL, WHOLE, NUMBER, TEXT = "bool", "whole", "number", "text"
KINDS = (BOOL, WHOLE, NUMBER, TEXT)
#: Columns of what `group` returns: for the j-th feature column its code and, if it has thresholds,
#: its smallest and largest value in the group; the k-th label; the number of rows of the group.
CODE, LOW, HIGH, LABEL, COUNT = "code{}", "low{}", "high{}", "label{}", "rows"

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_KINDS = {
    "BOOLEAN": BOOL,
    "VARCHAR": TEXT,
    "FLOAT": NUMBER,
    "DOUBLE": NUMBER,
    **{f"{sign}{name}": WHOLE for name in _WHOLE for sign in ("", "U")},
}


@dataclass(frozen=True)
class Extent:
    """What one column holds.

    Parameters
    ----------
    missing, infinite : int
        Number of missing values, and of infinite ones.
    low, high : float
        Smallest and largest number; 0 for texts.
    """

    missing: int
    infinite: int
    low: float
    high: float


def _library() -> Any:
    try:
        import duckdb
    except ImportError:
        raise DataError(
            "Grouping rows outside of memory needs duckdb; install it with: pip install 'milp-trees[grouped]'"
        ) from None
    return duckdb


class DuckTable:
    """A relation of DuckDB.

    The code of a row for a feature column is: for thresholds the number of them below the value,
    for categories the position of the value among them (their number for any other value), and for
    a 0/1 column the value.

    Parameters
    ----------
    relation : DuckDBPyRelation
        The table.
    query : str, optional
        One statement SELECT, in which `source` names the relation.
    folder : Path, optional
        A temporary folder of the connection, which is removed with this table.

    Attributes
    ----------
    columns : mapping of str to str
        The kind of every column, in the order of the table.
    version : str
        The version of DuckDB.
    """

    def __init__(self, relation: Any, query: str | None = None, folder: Path | None = None) -> None:
        if folder is not None:
            weakref.finalize(self, scratch.remove, folder)
        self.duckdb = _library()
        self.version = str(self.duckdb.__version__)
        self.relation = relation
        if query is not None:
            self.relation = self._said(query)
            if self.relation is None or not hasattr(self.relation, "types"):
                raise DataError(f"The query must be one statement SELECT; got {query!r}.")
        _check_names([str(name) for name in self.relation.columns])
        self.columns = {
            str(name): _kind(str(type_))
            for name, type_ in zip(self.relation.columns, self.relation.types, strict=True)
        }

    @classmethod
    def of_files(
        cls, files: Sequence[Path], query: str | None, settings: Mapping[str, Any]
    ) -> DuckTable:
        """The table of Parquet files, or the only table of a database.

        Whatever the query says, nothing but these files can be read, and nothing can be written.
        """
        duckdb = _library()
        database = files[0] if files[0].suffix in DATABASES else None
        folder = scratch.make()
        config = {
            **settings,
            "autoinstall_known_extensions": False,
            "temp_directory": str(folder),
        }
        names = [str(f.resolve()) for f in files]
        patterns = _texts([glob.escape(name) for name in names])  # each matches its file alone
        try:
            if database is not None:
                connection = duckdb.connect(names[0], read_only=True, config=config)
            else:
                connection = duckdb.connect(":memory:", config=config)
            connection.execute(f"SET allowed_paths = {_texts(names)} || {patterns}")
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            if database is None:
                one = f"FROM parquet_schema({patterns}) GROUP BY file_name, lower(name)"
                alike = f"SELECT unnest(list(DISTINCT name)) {one} HAVING count(DISTINCT name) > 1"
                _check_names([row[0] for row in connection.execute(alike).fetchall()])
                # Without it, values are rounded to the types of the first file.
                rows = connection.sql(
                    f"SELECT * FROM read_parquet({patterns}, union_by_name = true)"
                )
                return cls(rows, query, folder)
            if query is not None:
                return cls(connection.sql(query), None, folder)
            tables = [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
        except duckdb.Error as error:
            raise _refused(error) from None
        if len(tables) != 1:
            known = ", ".join(tables[:8]) or "none"
            raise DataError(
                f"{database} holds {len(tables)} tables ({known}); say which rows with query= (--query), for example 'SELECT * FROM people'."
            )
        return cls(connection.table(tables[0]), None, folder)

    def _said(self, sql: str) -> Any:
        """The relation of a statement about `source`."""
        try:
            return self.relation.query("source", sql)
        except self.duckdb.Error as error:
            raise _refused(error) from None

    def _rows(self, sql: str) -> list[Any]:
        try:
            return list(self._said(sql).fetchall())
        except self.duckdb.Error as error:
            raise _refused(error) from None

    def n_rows(self) -> int:
        """Number of rows."""
        return int(self._rows("SELECT count(*) FROM source")[0][0])

    def extents(self, names: Sequence[str]) -> dict[str, Extent]:
        """The extent of every named column."""
        requested = ["count(*)"]
        for name in names:
            kind, column = self.columns[name], _name(name)
            requested.append(f"count({column})")
            if kind == TEXT:
                requested += ["0", "0", "0"]
            elif kind == NUMBER:
                finite = f"FILTER (isfinite({_double(name)}))"
                requested.append(f"count({column}) - count({column}) {finite}")
                requested += [f"min({_double(name)}) {finite}", f"max({_double(name)}) {finite}"]
            else:
                requested += ["0", f"min({column})", f"max({column})"]
        n, *found = self._rows(f"SELECT {', '.join(requested)} FROM source")[0]
        parts = zip(names, *(found[k::4] for k in range(4)), strict=True)
        return {
            name: Extent(n - present, infinite, float(low or 0), float(high or 0))
            for name, present, infinite, low, high in parts
        }

    def distinct(self, name: str, most: int) -> list[Any] | None:
        """All values of a column (texts of a column of texts), sorted; None if more than `most`."""
        value = f"{_name(name)}::VARCHAR" if self.columns[name] == TEXT else _double(name)
        rows = self._rows(f"SELECT DISTINCT {value} FROM source LIMIT {most + 1}")
        return sorted(row[0] for row in rows) if len(rows) <= most else None

    def ranked(self, name: str, ranks: Sequence[int]) -> list[tuple[float, float]]:
        """For each rank k the k-th smallest number (from 0) and the next larger value.

        The next larger value of the largest is infinite.
        """
        n, value = self.n_rows(), _double(name)
        # The k-th of n values is the discrete quantile of every share in (k/n, (k+1)/n].
        shares = ", ".join(f"{(k + 0.5) / n!r}::DOUBLE" for k in ranks)
        at = self._rows(f"SELECT quantile_disc({value}, [{shares}]) FROM source")[0][0]
        above = ", ".join(f"min({value}) FILTER ({value} > {_number(v)})" for v in at)
        following = self._rows(f"SELECT {above} FROM source")[0]
        return [
            (float(v), float("inf") if w is None else float(w))
            for v, w in zip(at, following, strict=True)
        ]

    def group(self, rules: Mapping[str, Rule], labels: Sequence[str], most: int) -> pd.DataFrame:
        """One row per group of rows with the same codes and the same labels."""
        keys, found = [], [f"count(*) AS {COUNT}"]
        for j, (name, rule) in enumerate(rules.items()):
            keys.append(f"{_code(name, rule)} AS {CODE.format(j)}")
            if isinstance(rule, list):
                value = _double(name)
                found += [f"min({value}) AS {LOW.format(j)}", f"max({value}) AS {HIGH.format(j)}"]
        keys += [f"{_name(name)} AS {LABEL.format(k)}" for k, name in enumerate(labels)]
        sql = f"SELECT {', '.join(keys + found)} FROM source GROUP BY ALL LIMIT {most + 1}"
        try:
            frame: pd.DataFrame = self._said(sql).df()
        except self.duckdb.Error as error:
            raise _refused(error) from None
        return frame


#: Endings of the names of databases.
DATABASES = (".duckdb", ".ddb", ".db")


def _check_names(names: Sequence[str]) -> None:
    """Refuse columns that DuckDB does not tell apart, because it ignores capital letters."""
    seen: dict[str, str] = {}
    for name in names:
        if name.lower() in seen:
            raise DataError(
                f"The columns {seen[name.lower()]!r} and {name!r} have the same name for DuckDB, which ignores capital letters; rename one of them."
            )
        seen[name.lower()] = name


def _kind(type_: str) -> str:
    if type_.startswith("DECIMAL"):
        return NUMBER
    return TEXT if type_.startswith("ENUM") else _KINDS.get(type_, type_)


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _texts(values: Sequence[str]) -> str:
    return "[" + ", ".join(map(_text, values)) + "]"


def _double(column: str) -> str:
    return f"{_name(column)}::DOUBLE"


def _number(value: float) -> str:
    """A double; written as a text, which is read without an error of rounding."""
    return f"{_text(repr(float(value)))}::DOUBLE"


def _code(name: str, rule: Rule) -> str:
    """The code of a row for one column; see `DuckTable`."""
    if rule == "0/1":
        return f"{_name(name)}::UTINYINT"
    if isinstance(rule, list):
        above = " + ".join(f"({_double(name)} > {_number(t)})::INTEGER" for t in rule)
        return above or "0"
    cases = "".join(f" WHEN {_text(c)} THEN {k}" for k, c in enumerate(rule["categories"]))
    other = len(rule["categories"])
    return f"CASE {_name(name)}::VARCHAR{cases} ELSE {other} END" if cases else "0"


def _refused(error: Exception) -> DataError:
    """What DuckDB says against a statement, as one sentence."""
    message = str(error).splitlines()[0].strip().rstrip(".")
    return DataError(f"DuckDB refused the data or the query: {message}.")
