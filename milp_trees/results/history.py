"""The history of a search: what it knew and held at moments of its run.

A history is a dict of equally long lists, one entry per moment, so that it is stored as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from milp_trees.results.json import number

if TYPE_CHECKING:
    import pandas as pd

#: Columns of a history. Value and bound are in natural units; all others are counts or base-10
#: logarithms.
COLUMNS = {
    "seconds": "time since the run began",
    "incumbent": "value of the best model so far",
    "bound": "lower bound of the optimum (upper, if the value is maximised)",
    "prefixes": "prefixes whose extensions have been evaluated",
    "queue": "prefixes in the queue",
    "map": "entries of the map that finds equivalent prefixes",
    "longest": "largest length of a prefix so far",
    "best_length": "length of the best list",
    "log10_space_coarse": "log10 of the remaining search space, by prefix lengths alone",
    "log10_space_fine": "log10 of the remaining search space, by the bound of every prefix",
}
#: The column that holds a list at every moment: prefixes that may still be extended, by length.
BY_LENGTH = "queue_by_length"


def is_history(value: Any) -> bool:
    """Whether a stored value is a history: known columns, equally long, with numbers or nulls."""
    if not isinstance(value, Mapping) or not set(value) <= {*COLUMNS, BY_LENGTH}:
        return False
    if not all(isinstance(column, list) for column in value.values()):
        return False
    return len({len(column) for column in value.values()}) <= 1 and all(
        _counts(entry) if name == BY_LENGTH else entry is None or number(entry)
        for name, column in value.items()
        for entry in column
    )


def _counts(entry: Any) -> bool:
    return entry is None or (
        isinstance(entry, list) and all(type(n) is int and n >= 0 for n in entry)
    )


def history_frame(history: Mapping[str, list[Any]] | None) -> pd.DataFrame:
    """A history as a table: a row per moment, and a column `length k` per prefix length."""
    import pandas as pd

    if history is None:
        return pd.DataFrame(columns=list(COLUMNS))
    lengths = [entry or [] for entry in history.get(BY_LENGTH, [])]
    most = max(map(len, lengths), default=0)
    by_length = {
        f"length {k}": [entry[k] if k < len(entry) else 0 for entry in lengths] for k in range(most)
    }
    plain = {name: column for name, column in history.items() if name != BY_LENGTH}
    return pd.DataFrame({**plain, **by_length})
