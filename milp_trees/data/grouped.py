"""`load_grouped`: a Dataset of the distinct rows of a table that need not fit into memory.

Equal rows (in the same cell of all thresholds, with the same target, group, weight, …) share their
leaf in every tree, so they are one row with a count. An engine binarizes and groups the table; here
come the distinct rows. Values, bounds and limits are those of all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.action_columns import actions_of
from milp_trees.data.binarize import Binarizer
from milp_trees.data.dataset import Dataset
from milp_trees.data.duckdb_table import CODE, COUNT, HIGH, LABEL, LOW, DuckTable
from milp_trees.data.engine_rules import check_columns, check_given, fit_there
from milp_trees.data.engine_sources import opened
from milp_trees.data.load import check_any_weight, meanings
from milp_trees.data.parameters import Whole
from milp_trees.data.ranked import RankedTests, gaps
from milp_trees.data.read import Table, column
from milp_trees.data.roles import Columns
from milp_trees.data.rules import Rule, features_of, ranked_features
from milp_trees.data.targets import target_fields
from milp_trees.data.teachers import check_teachers

if TYPE_CHECKING:
    import pandas as pd

#: Largest number of distinct rows that come into memory by default.
MOST_DISTINCT = 5_000_000
#: Largest number of distinct rows with all thresholds for which "auto" takes them.
MOST_OPEN = 100_000
#: Fields of the Dataset that hold numbers.
_NUMBERS = ("weights", "outcomes", "propensities", "values", "targets")


def load_grouped(
    source: Any,
    *,
    query: str | None = None,
    binarizer: str | Binarizer = "auto",
    max_distinct: int = MOST_DISTINCT,
    memory_mb: int | None = None,
    threads: int | None = None,
    **columns: Any,
) -> Dataset:
    """A Dataset whose equal rows were grouped by DuckDB, outside of memory.

    Parameters
    ----------
    source : str, Path or DuckDB relation
        A Parquet file, a folder of them, a pattern such as `"sales/*.parquet"`, a DuckDB database
        (`.duckdb`, `.ddb`, `.db`), or a table that is open already.
    query : str, optional
        One statement SELECT of DuckDB on the files, which it calls `source`, or on the tables of
        the database. It may leave out rows and make columns.
    binarizer : str or Binarizer, default="auto"
        As for `load`. DuckDB computes quantiles and distinct values, exactly; `buckets` and
        `tree-guess` need all rows and are refused, but a Binarizer that is fitted is taken. `auto`
        takes all thresholds of columns with at most 1000 values if they leave at most 100 000
        distinct rows, otherwise quantiles.
    max_distinct : int, default=5 million
        Largest number of distinct rows.
    memory_mb, threads : int, optional
        Limits of DuckDB, which writes what does not fit to a temporary folder.
    **columns
        `target=`, `targets=`, `event=`, `time=`, `group=`, `factor=`, `weights=`, `treatment=`,
        `outcome=`, `propensity=`, `values=`, `features=`, `drop=`: see `Columns`. Rows must agree in all of them to be equal.

    Returns
    -------
    Dataset
        Its `counts` say how many rows of the table each row stands for.

    Raises
    ------
    DataError
        The table cannot be read or used, or has too many distinct rows; one sentence says why.

    Examples
    --------
    >>> import milp_trees as mt
    >>> data = mt.load_grouped("sales/*.parquet", target="bought")  # doctest: +SKIP
    >>> mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=4)))  # doctest: +SKIP
    """
    if not Whole(1).allows(max_distinct):
        raise DataError(f"max_distinct must be {Whole(1)}; got {max_distinct!r}.")
    limits = {"memory_limit": memory_mb and f"{memory_mb}MB", "threads": threads}
    config = {name: value for name, value in limits.items() if value is not None}
    given = Columns.of(columns)
    check_teachers(given, "needs rows one by one, and these are grouped; estimate before grouping")
    table, where = opened(source, query, config)
    stated = set(given.reading.to_json()) - {"max_categories"}
    if stated:
        raise DataError(
            f"The option {sorted(stated)[0]} is for tables in memory, and these rows are read by an engine; leave it out."
        )
    meaning, features = meanings(_header(table, given.target), given)
    labels = list(dict.fromkeys(c for names in meaning.values() for c in _several(names)))
    numbers = {c for field in _NUMBERS for c in _several(meaning.get(field, ()))}
    extents = check_columns(table, features, labels, numbers)
    chosen = binarizer if isinstance(binarizer, Binarizer) else Binarizer.from_name(binarizer)
    fitted = hasattr(chosen, "rules_")
    if given.reading.max_categories is not None:
        chosen.max_categories = given.reading.max_categories
    found = None
    if not fitted:
        fit_there(chosen, table, features, extents)
        if chosen.kind == "auto":
            # All thresholds make many small groups; quantiles are for tables with more of them.
            found = table.group(chosen.rules_, labels, MOST_OPEN)
            if len(found) > MOST_OPEN:
                found, chosen = (
                    None,
                    Binarizer(kind="quantiles", max_categories=chosen.max_categories),
                )
                fit_there(chosen, table, features, extents)
    if missing := [c for c in features if c not in chosen.rules_]:
        raise DataError(f"The binarizer has no rule for the column {missing[0]!r}; drop it.")
    rules = {c: chosen.rules_[c] for c in features}
    check_given(rules, table, extents)
    if found is None:
        found = table.group(rules, labels, max_distinct)
    found = _in_order(found, max_distinct)
    import pandas as pd

    label = {c: found[LABEL.format(k)].to_numpy() for k, c in enumerate(labels)}
    fields: dict[str, Any] = {f: label[c] for f, c in meaning.items() if not isinstance(c, tuple)}
    if meaning.get("values"):
        fields["values"] = np.column_stack([label[c] for c in meaning["values"]])
        fields["actions"] = actions_of(meaning["values"], fields.get("treatments"), True)
    fields |= target_fields(pd.DataFrame(label), meaning, given)
    check_any_weight(fields.get("weights"), np.arange(len(found)))
    where["grouped"]["max_distinct"] = max_distinct
    about = {
        **where,
        "columns": given.to_json() | {"target": meaning.get("y")},
        "features": features,
        "width": len(table.columns),
        "binarizer": {**chosen.to_json(), "given": fitted},
        **({"threshold_note": chosen.threshold_note_} if chosen.threshold_note_ else {}),
    }
    every = 0 if fitted else getattr(chosen, "n_thresholds_", 0)
    if every:
        about["thresholds"] = {"used": every, "of": every}
    ranked: Any = _ranked(rules, found)
    counts = found[COUNT].to_numpy(dtype=np.int64)
    group = meaning.get("groups")
    return Dataset(
        ranked,
        features_of(rules),
        group_column=group,
        source=about,
        counts=counts,
        open_thresholds=bool(every) and chosen.kind == "auto",
        **fields,
    )


def _values(rule: Rule, held: pd.Series) -> np.ndarray:
    """A value of a column for every group, from what `DuckTable.group` returned."""
    if rule == "0/1" or isinstance(rule, list):
        return held.to_numpy()
    texts = [*rule["categories"], "\0 any other text"]
    return np.array(texts, dtype=object)[held.to_numpy()]


def _several(names: Any) -> tuple[str, ...]:
    return names if isinstance(names, tuple) else (names,)


def _header(table: DuckTable, target: str | None) -> Table:
    """The columns of the table as those of a file with a header: the target comes last."""
    import pandas as pd

    frame = pd.DataFrame(columns=list(table.columns))
    if len(table.columns) < 2:
        raise DataError(
            "The table has one column only; a target and at least one feature are needed."
        )
    last = str(frame.columns[-1])
    return Table(frame, last if target is None else column(frame, target, "--target"), True)


def _in_order(found: pd.DataFrame, most: int) -> pd.DataFrame:
    """The groups in an order that does not depend on the engine."""
    if len(found) > most:
        raise DataError(
            f"The table has more than {most} distinct rows; take fewer thresholds (such as quantiles:4) or columns, or raise max_distinct."
        )
    if not len(found):
        raise DataError("The table has no rows; at least one is needed.")
    keys = [c for c in found.columns if c.startswith((CODE.format(""), LABEL.format("")))]
    place = np.zeros(len(found), dtype=np.int64)
    for name in keys:  # keys are packed into one number, which is quick to sort
        levels, code = np.unique(found[name].to_numpy(), return_inverse=True)
        if (int(place.max()) + 1) * len(levels) >= 2**62:
            place = np.unique(place, return_inverse=True)[1]
        place = place * len(levels) + code
    return found.iloc[np.argsort(place, kind="stable")]


def _ranked(rules: Mapping[str, Rule], found: pd.DataFrame) -> RankedTests:
    """The features of the groups, made from the values that the groups hold."""
    import pandas as pd

    sides = []
    for side in (HIGH, LOW):
        frame = {
            c: _values(rule, found[(side if isinstance(rule, list) else CODE).format(j)])
            for j, (c, rule) in enumerate(rules.items())
        }
        sides.append(ranked_features(rules, pd.DataFrame(frame, index=range(len(found)))))
    high, low = sides
    if not np.array_equal(high.codes, low.codes):
        raise DataError(
            "The engine grouped rows whose features differ; report this with the version of the engine."
        )
    ends = []
    for j, rule in enumerate(rules.values()):
        if isinstance(rule, list):
            values = np.concatenate([found[side.format(j)].to_numpy() for side in (LOW, HIGH)])
            ends.append(gaps(values, np.array(rule, dtype=float)))
        else:
            size = 1 if rule == "0/1" else len(rule["categories"])
            ends.append(np.full((size, 2), np.nan))
    return RankedTests(high.codes, high.column, high.cut, np.vstack([np.empty((0, 2)), *ends]))
