"""Prices of attributes: what it costs to find out the value of an attribute of a row.

An attribute may have several columns: a path through a tree pays once for all of them. Attributes
may form groups: once an attribute of a group is paid, the others of the group cost their discounted
price. Published cost files (Lomax 2013, as binarised for van der Linden, de Weerdt, Demirović 2023)
hold such prices beside a matrix of misclassification costs; `read_cost_file` reads them, and
`class_costs` and `standard_cost` are the equations (59) and (60) of the second paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.common.exact import fraction
from milp_trees.data.names import entries_by_name
from milp_trees.tasks.written import is_number, text_of

#: Misclassification costs of a level are made from the price of all attributes divided by this.
LEVELS = {"low": 6, "middle": 3, "high": 1}
#: The group name in cost files for attributes without a group.
_NO_GROUP = "x"
#: Columns that an attribute of a cost file may have at most.
_MOST_COLUMNS = 10**6


@dataclass(frozen=True)
class Attribute:
    """What is measured at one time, and its price per row.

    Parameters
    ----------
    name : str
        Name of the attribute.
    cost : number
        Price of the attribute for a row, at least 0.
    discount : number, optional
        Price once another attribute of the same group was paid; by default, and at most, `cost`.
    group : str, optional
        Name of the group.
    columns : sequence of str or int, optional
        The columns of the table that the attribute gives, by name or by position from 0; by default
        the one with its own name.
    """

    name: str
    cost: Any
    discount: Any = None
    group: str | None = None
    columns: Sequence[str | int] = ()

    def __post_init__(self) -> None:
        cost = fraction(self.cost, f"The cost of {self.name}")
        less = (
            cost
            if self.discount is None
            else fraction(self.discount, f"The discounted cost of {self.name}")
        )
        if cost < 0:
            raise DataError(
                f"The attribute {self.name!r} costs {self.cost}; a price must be at least 0."
            )
        if not 0 <= less <= cost:
            raise DataError(
                f"The attribute {self.name!r} costs {self.cost}, and {self.discount} with a discount; the second must be between 0 and the first."
            )
        columns = (self.columns,) if isinstance(self.columns, (str, int)) else self.columns
        for field, value in (
            ("cost", cost),
            ("discount", less if self.group is not None else cost),
            ("columns", tuple(columns) or (self.name,)),
        ):
            object.__setattr__(self, field, value)

    def spec(self) -> dict[str, Any]:
        """JSON description; `attributes_of` reads it."""
        out = {"name": self.name, "cost": str(self.cost), "columns": list(self.columns)}
        if self.group is not None:
            out |= {"discount": str(self.discount), "group": self.group}
        return out


def attributes_of(given: Any) -> tuple[Attribute, ...]:
    """Attributes as they are given to a task."""
    given = entries_by_name(given, "attributes")
    if isinstance(given, Mapping):
        given = [Attribute(str(name), cost) for name, cost in given.items()]
    try:
        items = () if given is None else given
        found = tuple(a if isinstance(a, Attribute) else Attribute(**a) for a in items)
    except TypeError:
        raise DataError(
            f"attributes must be a list of mt.tasks.Attribute(name, cost, discount, group, columns) or a mapping of columns to prices; got {given!r}."
        ) from None
    named: list[str | int] = [a.name for a in found]
    for what, names in (
        ("named", named),
        ("with the column", [c for a in found for c in a.columns]),
    ):
        twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            raise DataError(f"There are two attributes {what} {twice!r}; keep one of them.")
    return found


def by_column(attributes: Sequence[Attribute], columns: Sequence[str]) -> dict[str, int]:
    """The attribute of every column that has one, as its index."""
    out: dict[str, int] = {}
    for a, attribute in enumerate(attributes):
        for column in attribute.columns:
            exists = (
                0 <= column < len(columns)
                if isinstance(column, int) and not isinstance(column, bool)
                else column in columns
            )
            if not exists:
                raise DataError(
                    f"The attribute {attribute.name!r} has the column {column!r}, which the data do not have; they have {len(columns)} columns, from {columns[0]!r} to {columns[-1]!r}."
                )
            name = columns[column] if isinstance(column, int) else column
            if name in out:
                raise DataError(
                    f"The column {name!r} belongs to the attributes {attributes[out[name]].name!r} and {attribute.name!r}; it can have one."
                )
            out[name] = a
    return out


class PaidAttributes:
    """What a path has paid so far; `pay` gives the price of the next attribute."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self.attributes = attributes
        self.paid: set[int] = set()
        self.groups: set[str] = set()

    def pay(self, attribute: int | None) -> Fraction:
        """The price of an attribute for a row on this path, which is paid now."""
        if attribute is None or attribute in self.paid:
            return Fraction(0)
        bought = self.attributes[attribute]
        price: Fraction = bought.discount if bought.group in self.groups else bought.cost
        self.paid.add(attribute)
        if bought.group is not None:
            self.groups.add(bought.group)
        return price


def price_of_all(attributes: Iterable[Attribute]) -> Fraction:
    """Price of all attributes of a row, bought in their order."""
    bought = list(attributes)
    paid_attributes = PaidAttributes(bought)
    return sum((paid_attributes.pay(a) for a in range(len(bought))), Fraction(0))


# -- the published experiments -----------------------------------------------------------------------


@dataclass(frozen=True)
class CostFile:
    """What a cost file says.

    Parameters
    ----------
    matrix : tuple of tuple of str
        Cost of every prediction (column) for every true class (row), in the order of the classes.
    attributes : tuple of Attribute
        The attributes, whose columns are positions in the table without its target.
    """

    matrix: tuple[tuple[str, ...], ...]
    attributes: tuple[Attribute, ...]


def read_cost_file(path: str | Path) -> CostFile:
    """Read misclassification costs and prices of attributes.

    The file begins with a square matrix, one line per true class. If more follows, it is a line of
    titles, and a line per attribute: name, price, discounted price, group (x: none), first and last
    of its columns, counted from 0.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    CostFile

    Raises
    ------
    DataError
        The file cannot be read, or a line has another form.
    """
    lines = [
        line.replace(",", " ").split()
        for line in filter(str.strip, text_of(Path(path)).splitlines())
    ]
    size = next((i for i, line in enumerate(lines) if not all(map(is_number, line))), len(lines))
    if not size or any(len(line) != size for line in lines[:size]):
        raise DataError(
            f"{path} must begin with a square cost matrix: one line per true class, one number per predicted class."
        )
    if lines[size:] and _is_attribute(lines[size]):
        raise DataError(
            f"{path} lacks the line of titles between the cost matrix and the first attribute, {lines[size][0]!r}; add one, such as 'NAME PRICE DISCOUNTED GROUP FIRST LAST'."
        )
    attributes = [_attribute(path, line) for line in lines[size + 1 :]]
    return CostFile(tuple(map(tuple, lines[:size])), attributes_of(attributes))


def _is_attribute(words: list[str]) -> bool:
    """Whether a line has the form of an attribute."""
    return len(words) == 6 and words[4].isdecimal() and words[5].isdecimal()


def _attribute(path: str | Path, words: list[str]) -> Attribute:
    """An attribute from its line."""
    if not _is_attribute(words) or int(words[4]) > int(words[5]):
        raise DataError(
            f"{path}: an attribute is written 'NAME PRICE DISCOUNTED GROUP FIRST LAST', the last two being its columns counted from 0; got {' '.join(words)!r}."
        )
    name, cost, discount, group, first, last = words
    if int(last) >= _MOST_COLUMNS:
        raise DataError(
            f"{path}: the last column of the attribute {name!r} is {last}; it must be less than {_MOST_COLUMNS}."
        )
    return Attribute(
        name,
        cost,
        discount,
        None if group == _NO_GROUP else group,
        tuple(range(int(first), int(last) + 1)),
    )


def class_costs(
    attributes: Iterable[Attribute], counts: Sequence[int], level: str
) -> tuple[tuple[int, ...], ...]:
    """The matrix of misclassification costs of the published experiments, equation (59).

    Parameters
    ----------
    attributes : sequence of Attribute
    counts : sequence of int
        Number of rows of every class in all data, training and test rows together.
    level : {"low", "middle", "high"}
        A sixth of the price of all attributes, a third, or all of it.

    Returns
    -------
    tuple of tuple of int
        Row = true class; an error on a rare class costs more.

    Raises
    ------
    DataError
        There is no such level.
    """
    if level not in LEVELS:
        raise DataError(f"The level must be one of {', '.join(LEVELS)}; got {level!r}.")
    C, n, K = price_of_all(attributes) / LEVELS[level], sum(counts), len(counts)
    costs = [floor(C * n / (K * c)) if c else 0 for c in counts]
    return tuple(tuple(0 if i == j else costs[i] for j in range(K)) for i in range(K))


def standard_cost(
    attributes: Iterable[Attribute], matrix: Sequence[Sequence[Any]], counts: Sequence[Any]
) -> Fraction:
    """Cost of a row that average costs are divided by, equation (60).

    It is the price of all attributes, plus the largest misclassification cost times the share of
    the rows outside of the most frequent class.

    Parameters
    ----------
    attributes : sequence of Attribute
    matrix : square sequence of sequences of numbers
        Misclassification costs.
    counts : sequence of number
        Rows (or their weight) of every class among the rows that are evaluated.

    Returns
    -------
    Fraction
    """
    weights = [fraction(c, "a count") for c in counts]
    dearest = max(fraction(v, "a cost") for row in matrix for v in row)
    return price_of_all(attributes) + (1 - max(weights) / sum(weights)) * dearest
