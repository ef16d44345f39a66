"""What the rest of a table holds that some of its rows lack: gaps, and numbers beside 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from milp_trees.data.table_columns import as_frame, different_values, present_in

if TYPE_CHECKING:
    import pandas as pd


def held_elsewhere(
    present: Mapping[str, pd.Series], frame: pd.DataFrame, table: Any
) -> tuple[set[str], set[str]]:
    """Which columns of a table have missing values, and which hold more numbers than 0 and 1."""
    gaps = {c for c, held in present.items() if len(held) < len(frame)}
    if table is None:
        return gaps, set()
    whole = as_frame(table)
    held = {str(c): present_in(whole[c]) for c in whole.columns if str(c) in present}
    gaps |= {c for c, values in held.items() if len(values) < len(whole)}
    return gaps, {c for c, v in held.items() if len(v) and different_values(c, v) is not None}
