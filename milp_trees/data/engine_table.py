"""`EngineTable`: a table that stays in an engine, which groups its equal rows.

Only answers come into memory: the columns, extremes and thresholds, and one row per group.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.rules import Rule

#: Kinds of columns that can be used; the kind of any other column is the engine's name of its type.
BOOL, WHOLE, NUMBER, TEXT = "bool", "whole", "number", "text"
KINDS = (BOOL, WHOLE, NUMBER, TEXT)
#: Columns of what `group` returns: for the j-th feature column its code and, if it has thresholds,
#: its smallest and largest value in the group; the k-th label; the number of rows of the group.
CODE, LOW, HIGH, LABEL, COUNT = "code{}", "low{}", "high{}", "label{}", "rows"


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


class EngineTable(ABC):
    """A table in an engine.

    The code of a row for a feature column is: for thresholds the number of them below the value,
    for categories the position of the value among them (their number for any other value), and for
    a 0/1 column the value.

    Parameters
    ----------
    columns : mapping of str to str
        The kind of every column, in the order of the table.
    """

    #: Name of the engine, and its version.
    engine: ClassVar[str]
    version: str

    columns: Mapping[str, str]

    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def extents(self, names: Sequence[str]) -> dict[str, Extent]:
        """The extent of every named column."""

    @abstractmethod
    def distinct(self, name: str, most: int) -> list[Any] | None:
        """All values of a column (texts of a column of texts), sorted; None if more than `most`."""

    @abstractmethod
    def ranked(self, name: str, ranks: Sequence[int]) -> list[tuple[float, float]]:
        """For each rank k the k-th smallest number (from 0) and the next larger value.

        The next larger value of the largest is infinite.
        """

    @abstractmethod
    def group(self, rules: Mapping[str, Rule], labels: Sequence[str], most: int) -> pd.DataFrame:
        """One row per group of rows with the same codes and the same labels.

        Parameters
        ----------
        rules : mapping of column to rule
            How feature columns become codes (`milp_trees.data.rules`).
        labels : sequence of str
            Further columns whose values are compared as they are.
        most : int
            At most one more row than this is returned.

        Returns
        -------
        DataFrame
            With the columns that the templates of this module name, in any order of rows.
        """
