"""A large table of text, read some rows at a time into columns that are allocated once.

pandas keeps the place of every field while it reads, which takes several times the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def joined(parts: Iterable[pd.DataFrame], most: int) -> pd.DataFrame | None:
    """The table of which the parts hold the rows, as if pandas had read it at once."""
    import pandas as pd

    columns: list[_Column] = []
    for part in parts:
        columns = columns or [_Column(most) for _ in range(part.shape[1])]
        if len(columns) != part.shape[1]:
            return None
        for j, column in enumerate(columns):
            if not column.add(part.iloc[:, j]):
                return None
    return pd.DataFrame({j: column.whole() for j, column in enumerate(columns)}, copy=False)


class _Column:
    """A column that grows: numbers in one array, texts as the parts that were read."""

    def __init__(self, most: int) -> None:
        self.most, self.rows = most, 0
        self.numbers: np.ndarray | None = None
        self.texts: list[Any] = []
        self.empty = True

    def add(self, part: pd.Series) -> bool:
        """Take the cells of the next rows; False if they do not fit to those before."""
        begin, self.rows = self.rows, self.rows + len(part)
        kind = part.dtype.kind
        # A part without any value is read as floating-point numbers, whatever the column holds.
        missing = kind == "f" and bool(part.isna().all())
        if kind == "O" or (missing and self.texts):
            if not self.empty or (kind == "O" and part.dtype == object):
                return False  # Python objects: truth values with gaps
            if self.numbers is not None:
                self.texts.append(self._missing(begin))
                self.numbers = None
            self.texts.append(part if kind == "O" else self._missing(len(part)))
            return True
        if self.texts or kind not in "if":
            return False
        self.empty &= missing
        if self.numbers is None:
            self.numbers = np.empty(self.most, dtype=part.dtype)
        elif kind == "f" and self.numbers.dtype.kind == "i":
            before, self.numbers = self.numbers, np.empty(self.most)
            self.numbers[:begin] = before[:begin]
        self.numbers[begin : self.rows] = part.to_numpy()
        return True

    def _missing(self, rows: int) -> pd.Series:
        import pandas as pd

        return pd.Series([None] * rows, dtype="str")

    def whole(self) -> Any:
        """All cells."""
        import pandas as pd

        if self.texts:
            texts, self.texts = self.texts, []
            return pd.concat(texts, ignore_index=True)
        assert self.numbers is not None
        return self.numbers[: self.rows]
