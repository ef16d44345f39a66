"""A table that Dask groups: Parquet files, or a DataFrame of the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.engine_table import (
    BOOL,
    CODE,
    COUNT,
    HIGH,
    LABEL,
    LOW,
    NUMBER,
    TEXT,
    WHOLE,
    EngineTable,
    Extent,
)

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.rules import Rule


class DaskTable(EngineTable):
    """A DataFrame of Dask, whose partitions are pandas DataFrames."""

    engine: ClassVar[str] = "dask"

    def __init__(self, frame: Any) -> None:
        import dask

        self.version = str(dask.__version__)
        self.frame = frame.rename(columns=str)
        self.columns = {str(c): _kind(t) for c, t in frame.dtypes.items()}

    @classmethod
    def of_files(cls, files: Sequence[Path]) -> DaskTable:
        """The table of Parquet files."""
        try:
            import dask.dataframe as dd
        except ImportError:
            raise DataError(
                "Grouping rows with Dask needs dask and pyarrow; install them with: pip install 'milp-trees[cluster,parquet]'"
            ) from None
        try:
            return cls(dd.read_parquet([str(f) for f in files]))
        except (OSError, ValueError, TypeError) as error:
            said = str(error).splitlines()[0].rstrip(".")
            raise DataError(f"Dask cannot read the Parquet files: {said}.") from None

    def n_rows(self) -> int:
        return len(self.frame)

    def extents(self, names: Sequence[str]) -> dict[str, Extent]:
        kinds = [self.columns[name] for name in names]
        empty = _extents(self.frame._meta, names, kinds)
        parts = self.frame.map_partitions(_extents, names, kinds, meta=empty).compute()
        by = parts.groupby("column", sort=False)
        found = by.agg({"missing": "sum", "infinite": "sum", "low": "min", "high": "max"})
        return {
            name: Extent(int(row.missing), int(row.infinite), float(row.low), float(row.high))
            for name, row in found.iterrows()
        }

    def _counted(self, name: str) -> pd.Series:
        """How often every value of a column occurs, by increasing value."""
        column = self.frame[name]
        column = column.astype(str if self.columns[name] == TEXT else float)
        counted: pd.Series = column.value_counts().compute().sort_index()
        return counted

    def distinct(self, name: str, most: int) -> list[Any] | None:
        values = self._counted(name).index.tolist()
        return sorted(values) if len(values) <= most else None

    def ranked(self, name: str, ranks: Sequence[int]) -> list[tuple[float, float]]:
        counted = self._counted(name)
        values = [*counted.index.tolist(), float("inf")]
        at = np.searchsorted(np.cumsum(counted.to_numpy()), np.array(ranks), side="right")
        return [(float(values[k]), float(values[k + 1])) for k in at.tolist()]

    def group(self, rules: Mapping[str, Rule], labels: Sequence[str], most: int) -> pd.DataFrame:
        empty = _coded(self.frame._meta, rules, labels)
        coded = self.frame.map_partitions(_coded, dict(rules), list(labels), meta=empty)
        how = {c: _how(c) for c in empty.columns if _how(c)}
        keys = [c for c in empty.columns if c not in how]
        grouped: pd.DataFrame = coded.groupby(keys, sort=False).agg(how).compute().reset_index()
        return grouped.head(most + 1)


def _how(column: str) -> str | None:
    """How a column of `group` is made of the rows of a group; None for keys."""
    if column == COUNT:
        return "sum"
    word = column.rstrip("0123456789")
    return {LOW.format(""): "min", HIGH.format(""): "max"}.get(word)


def _kind(dtype: Any) -> str:
    from pandas.api import types

    if types.is_bool_dtype(dtype):
        return BOOL
    if types.is_integer_dtype(dtype):
        return WHOLE
    if types.is_float_dtype(dtype):
        return NUMBER
    return TEXT if types.is_string_dtype(dtype) or types.is_object_dtype(dtype) else str(dtype)


def _extents(frame: pd.DataFrame, names: Sequence[str], kinds: Sequence[str]) -> pd.DataFrame:
    """The extents of the columns of one partition, a row per column."""
    import pandas as pd

    rows = []
    for name, kind in zip(names, kinds, strict=True):
        present = frame[name].dropna()
        numbers = np.zeros(0) if kind == TEXT else present.to_numpy(dtype=float)
        finite = numbers[np.isfinite(numbers)]
        rows.append(
            {
                "column": name,
                "missing": int(len(frame) - len(present)),
                "infinite": int(len(numbers) - len(finite)),
                "low": float(finite.min(initial=np.inf)) if len(finite) else np.inf,
                "high": float(finite.max(initial=-np.inf)) if len(finite) else -np.inf,
            }
        )
    return pd.DataFrame(rows, columns=["column", "missing", "infinite", "low", "high"])


def _coded(frame: pd.DataFrame, rules: Mapping[str, Rule], labels: Sequence[str]) -> pd.DataFrame:
    """The codes, values and labels of the rows of one partition; see `EngineTable.group`."""
    import pandas as pd

    out: dict[str, Any] = {}
    for j, (name, rule) in enumerate(rules.items()):
        if rule == "0/1":
            out[CODE.format(j)] = frame[name].to_numpy(dtype=float).astype(np.uint8)
            continue
        if not isinstance(rule, list):
            place = {c: k for k, c in enumerate(rule["categories"])}
            texts = frame[name].astype(str).tolist()
            out[CODE.format(j)] = np.array([place.get(v, len(place)) for v in texts], np.int64)
            continue
        values = frame[name].to_numpy(dtype=float)
        code = np.searchsorted(np.sort(np.array(rule, dtype=float)), values, side="left")
        out |= {CODE.format(j): code, LOW.format(j): values, HIGH.format(j): values}
    out |= {LABEL.format(k): frame[name].to_numpy() for k, name in enumerate(labels)}
    out[COUNT] = np.ones(len(frame), dtype=np.int64)
    return pd.DataFrame(out)
