"""`Antecedents`: what the rules of a list may ask, mined from a dataset."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.data.antecedent import Antecedent, Literal
from milp_trees.data.dataset import BinaryFeature
from milp_trees.lists.mining import conjunctions, packed

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

#: Most antecedents of a table, and most entries (rows × antecedents) of its matrix: a gigabyte.
MOST_ANTECEDENTS, MOST_ENTRIES = 200_000, 2**30


@dataclass(frozen=True, eq=False)
class AntecedentTable:
    """Antecedents with the rows on which they hold.

    Parameters
    ----------
    antecedents : tuple of Antecedent, length M
    X : uint8 array of shape (n, M)
        1 where an antecedent holds.
    """

    antecedents: tuple[Antecedent, ...]
    X: np.ndarray

    @cached_property
    def index(self) -> dict[Antecedent, int]:
        """Column of `X` for each antecedent."""
        return {a: j for j, a in enumerate(self.antecedents)}


@dataclass(frozen=True)
class Antecedents:
    """What may be an antecedent of a rule.

    These are all conjunctions of at most `max_literals` literals, within the limits on their
    support. Those that hold on no row or on all rows are left out. Of several that hold on the same
    rows one stays: the shortest, and of these the first, where the features come in the order of
    the dataset and negated ones after all others. A problem whose prices or constraints are about
    features keeps them all, because it matters there which one is asked. An antecedent and its
    complement are different rules, which are interchangeable only as the last rule of a list, so
    both stay.

    Parameters
    ----------
    max_literals : int, default=1
        Largest number of literals in an antecedent.
    negations : bool, default=False
        Whether a literal may be a negated feature.
    min_support, max_support : number, default=0, 1
        Smallest and largest share of the rows on which an antecedent may hold, an exact rational
        (a text such as "1/200" too); every row counts once.
    most : int, optional
        Number of antecedents to keep: those that tell the classes of the target apart best, that
        is, after which the Gini impurity of the rows is smallest; of equal ones the shorter and
        then the earlier. An optimal list is then optimal among the lists of these antecedents.
    keep_equal : bool, default=False
        Keep all antecedents that hold on the same rows. A `Problem` sets it where its task needs
        that.
    fixed : sequence of Antecedent, optional
        The antecedents themselves, which are not mined then (`Antecedents.given`).

    Examples
    --------
    >>> import milp_trees as mt
    >>> data = mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1]], [BinaryFeature("a"), BinaryFeature("b")])
    >>> [a.name for a in Antecedents(max_literals=2).of(data).antecedents]
    ['a', 'b', 'a and b']
    """

    max_literals: int = 1
    negations: bool = False
    min_support: Any = 0
    max_support: Any = 1
    most: int | None = None
    keep_equal: bool = False
    fixed: tuple[Antecedent, ...] | None = None

    def __post_init__(self) -> None:
        for name, number in (("max_literals", self.max_literals), ("most", self.most)):
            whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
            if not (whole and number >= 1) and not (name == "most" and number is None):  # type: ignore[operator]
                raise DataError(f"{name} must be a whole number of at least 1; got {number!r}.")
        if not isinstance(self.negations, (bool, np.bool_)):
            raise DataError(f"negations must be True or False; got {self.negations!r}.")
        for name in ("min_support", "max_support"):
            share = exact.fraction(getattr(self, name), name)
            if not 0 <= share <= 1:
                raise DataError(
                    f"{name} must be a share of the rows between 0 and 1; got {getattr(self, name)!r}."
                )
            object.__setattr__(self, name, share)
        if self.min_support > self.max_support:
            raise DataError(
                f"min_support {self.min_support} is above max_support {self.max_support}, so no antecedent is left; exchange them."
            )
        if self.fixed is not None:
            object.__setattr__(self, "fixed", tuple(dict.fromkeys(self.fixed)))

    @classmethod
    def given(cls, antecedents: Iterable[Antecedent | Literal | BinaryFeature]) -> Antecedents:
        """These antecedents and no others; none of them is left out, whatever its rows."""
        return cls(
            fixed=tuple(
                a if isinstance(a, Antecedent) else Antecedent((a,))  # type: ignore[arg-type]
                for a in antecedents
            )
        )

    def of(self, dataset: Dataset, columns_not_allowed: Collection[str] = ()) -> AntecedentTable:
        """The antecedents on a dataset.

        Parameters
        ----------
        dataset : Dataset
            Rows with their binary features.
        columns_not_allowed : collection of str
            Columns that no antecedent may ask for, such as the column of the protected group.

        Returns
        -------
        AntecedentTable

        Raises
        ------
        DataError
            No antecedent is left, or there are too many, or a given one asks for a feature that
            the dataset does not have.
        """
        if self.fixed is not None:
            return self._fixed(dataset, self.fixed, columns_not_allowed)
        literals = [
            Literal(t, value)
            for value in ((True, False) if self.negations else (True,))
            for t in dataset.features
            if t.column not in columns_not_allowed
        ]
        n = dataset.n_rows
        if self.min_support > 0 or self.max_support < 1 or self.most is not None:
            dataset.refuse_counts("A support or purity of antecedents")
        members, bits, count = conjunctions(
            packed(_values(literals, dataset)),
            n,
            min(int(self.max_literals), len(literals)),
            max(1, math.ceil(self.min_support * n)),
            self.keep_equal,
        )
        chosen = np.flatnonzero(count <= math.floor(self.max_support * n))
        if self.most is not None and len(chosen) > self.most:
            purity = _purity(bits[chosen], count[chosen], dataset)
            chosen = np.sort(chosen[np.argsort(-purity, kind="stable")[: self.most]])
        if not len(chosen):
            raise DataError(
                f"No antecedent is left: of {len(literals)} literals, no conjunction of at most {self.max_literals} holds on a share of the {n} rows between "
                f"{self.min_support} and {self.max_support} and not on all of them; lower min_support, or use other features."
            )
        if len(chosen) > (limit := min(MOST_ANTECEDENTS, MOST_ENTRIES // n)):
            raise DataError(
                f"There are {len(chosen)} antecedents on {n} rows, of which at most {limit} are taken; raise min_support, lower max_literals, or keep the best with most."
            )
        X = np.empty((n, len(chosen)), dtype=np.uint8)
        for k in range(0, len(chosen), 256):
            block = bits[chosen[k : k + 256]].view(np.uint8)
            X[:, k : k + 256] = np.unpackbits(block, axis=1, count=n).T
        return AntecedentTable(
            tuple(Antecedent(tuple(literals[j] for j in members[i])) for i in chosen.tolist()), X
        )

    def _fixed(
        self, dataset: Dataset, fixed: tuple[Antecedent, ...], columns: Collection[str]
    ) -> AntecedentTable:
        allowed = tuple(a for a in fixed if not set(a.columns) & set(columns))
        for a in allowed:
            for t in a.features:
                if t not in dataset.index:
                    raise DataError(
                        f"The antecedent {a.name!r} asks for {t.name!r}, which is no feature of the data; use features of this dataset."
                    )
        if not allowed:
            raise DataError("No antecedent is left; give at least one that may be asked for.")
        return AntecedentTable(allowed, np.column_stack([a.evaluate(dataset) for a in allowed]))

    def spec(self) -> dict[str, Any]:
        """JSON description; `from_spec` reads it."""
        if self.fixed is not None:
            return {"fixed": [a.to_json() for a in self.fixed]}
        return {
            "max_literals": int(self.max_literals),
            "negations": bool(self.negations),
            "min_support": str(self.min_support),
            "max_support": str(self.max_support),
            "most": None if self.most is None else int(self.most),
            **({"keep_equal": True} if self.keep_equal else {}),
        }

    @classmethod
    def from_spec(cls, data: Mapping[str, Any]) -> Antecedents:
        """The statement that `spec` described."""
        if data.get("fixed") is not None:
            return cls.given(Antecedent.from_json(a) for a in data["fixed"])
        return cls(**data)


def _purity(bits: np.ndarray, count: np.ndarray, dataset: Dataset) -> np.ndarray:
    """Rows minus Gini impurity, if the rows are divided once by each antecedent; float, (M,)."""
    y = dataset.require("y", "The limit most")
    purity = np.zeros(len(count))
    for k, total in enumerate(np.bincount(y)):
        of_class = packed((y == k).astype(np.uint8)[:, None])
        held = np.bitwise_count(bits & of_class).sum(axis=1, dtype=np.int64)
        purity += held**2 / count + (total - held) ** 2 / (dataset.n_rows - count)
    return purity


def _values(literals: list[Literal], dataset: Dataset) -> np.ndarray:
    """1 where a literal holds, uint8 of shape (n, L)."""
    out = np.empty((dataset.n_rows, len(literals)), dtype=np.uint8)
    for j, x in enumerate(literals):
        held = dataset.outcome(dataset.index[x.feature])
        out[:, j] = held if x.value else 1 - held
    return out
