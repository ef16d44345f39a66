"""The data that a stored result was computed from, read again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.common.registering import families
from milp_trees.data.binarize import Binarizer
from milp_trees.data.dataset import Dataset
from milp_trees.data.grouped import load_grouped
from milp_trees.data.load import load_columns, load_split
from milp_trees.data.numeric import load_numeric_columns
from milp_trees.data.permute import permuted
from milp_trees.data.roles import Columns


def reload(
    source: Mapping[str, Any], path: str | Path | None = None, binarizer: Binarizer | None = None
) -> tuple[Dataset, Dataset | None]:
    """The training and test rows that a result's `source` describes, read again."""
    train, test = _read(source, path, binarizer)
    return permuted(train, source.get("permutation", 0)), test


def _read(
    source: Mapping[str, Any], path: str | Path | None, binarizer: Binarizer | None
) -> tuple[Dataset, Dataset | None]:
    """The rows in the order of their source."""
    if "path" not in source:
        raise DataError(
            "The result was made from arrays in memory; give the dataset to check it against."
        )
    if "grouped" in source:
        if binarizer is None:
            binarizer = Binarizer.from_json(source["binarizer"])
        there = source["grouped"]
        return load_grouped(
            path or source["path"],
            query=there["query"],
            binarizer=binarizer,
            max_distinct=there["max_distinct"],
            **source["columns"],
        ), None
    split = source.get("split") or {}
    options: dict[str, Any] = {"test_size": split.get("test_size"), "seed": split.get("seed", 0)}
    for generator in families.parts("generators"):
        if generator.key not in source:
            continue
        if path is not None:
            raise DataError(
                "The result's data were generated, not read; leave out the path of a file."
            )
        train, test, _ = generator.from_spec(source[generator.key]).make()
        return train, test
    if source.get("numeric"):
        return load_numeric_columns(
            path or source["path"],
            Columns.of(source["columns"], stored=source),
            source["regression"],
            **options,
        )
    if "binarizer" in source:
        columns = Columns.of(source["columns"], stored=source)
        chosen = binarizer or Binarizer.from_json(source["binarizer"])
        train, test = load_columns(path or source["path"], columns, chosen, **options)
        if "actions" in source:  # of a policy file, whose rows need not have them all
            stated = {"actions": source["actions"]}
            train = train.with_(actions=tuple(source["actions"]), source={**train.source, **stated})
        return train, test
    return load_split(path or source["path"], **options)
