"""Rows that stand for several equal original rows."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.ranked import MaybeRanked


class Counted(MaybeRanked):
    """Mixin of a Dataset: `counts` says how many equal original rows each row stands for."""

    #: Whether the rows were left out (`milp_trees.data.outline`).
    left_out: ClassVar[bool] = False

    counts: np.ndarray | None

    @cached_property
    def row_counts(self) -> np.ndarray:
        """`counts`, or ones; int64, shape (n,)."""
        return np.ones(self.n_rows, dtype=np.int64) if self.counts is None else self.counts

    @cached_property
    def total_rows(self) -> int:
        """Number of original rows."""
        return self.n_rows if self.counts is None else int(self.counts.sum())

    @property
    def sizes(self) -> dict[str, int]:
        """Numbers of original rows and of features, and of distinct rows if they have counts."""
        distinct = {} if self.left_out or self.counts is None else {"distinct_rows": self.n_rows}
        return {"rows": self.total_rows, **distinct, "tests": self.n_features}

    def refuse_counts(self, what: str) -> None:
        """Raise DataError if rows are grouped, for something that needs each of them by itself."""
        if self.counts is not None:
            raise DataError(
                f"{what} needs every original row by itself, and equal rows of these data are grouped; load a sample without grouping."
            )

    def refuse_for(self, parts: Any) -> str | None:
        """The sentence that a task or constraint is not defined on grouped rows, or None."""
        if self.left_out or self.counts is None:
            return None
        for part in parts:
            if not part.takes_counts:
                return f"{part.name} is not defined on grouped rows, because it needs every original row; load the data without grouping, or take a task that counts rows, such as accuracy."
        return None
