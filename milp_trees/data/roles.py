"""`Columns`: which columns of a table have which role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from milp_trees.errors import DataError

#: What may hold several names.
LISTS = (list, tuple, set, frozenset, np.ndarray)


@dataclass(frozen=True)
class Columns:
    """The columns of a table by their role; names are those of the header, or positions.

    Parameters
    ----------
    target, group, factor, weights, treatment, outcome, propensity : str, optional
        The column with this role.
    values : sequence of str
        Columns with the value (or cost) of every action, in the order of the actions.
    features, drop : sequence of str
        Columns to split on and columns not to split on; `*` and `?` are wildcards. By default every
        column without another role.
    label : str, optional
        The file of labels of a file of rules (`NAME.out`), by default `NAME.label`.
    """

    target: str | None = None
    group: str | None = None
    factor: str | None = None
    weights: str | None = None
    treatment: str | None = None
    outcome: str | None = None
    propensity: str | None = None
    values: Sequence[str] = ()
    features: Sequence[str] = ()
    drop: Sequence[str] = ()
    label: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Columns:
        """The columns of keyword arguments; None stands for an argument that was not given.

        Raises
        ------
        DataError
            There is no such role, or a column is named by something that is no name.
        """
        known = list(cls.__dataclass_fields__)
        roles: dict[str, Any] = {}
        for role, value in given.items():
            if role not in known:
                raise DataError(f"Columns have no role {role!r}; known are {', '.join(known)}.")
            if value is None:
                continue
            several = role in ("values", "features", "drop")
            names = list(value) if several and isinstance(value, LISTS) else [value]
            for name in names:
                if not isinstance(name, (str, Integral, Path)) or isinstance(name, bool):
                    raise DataError(
                        f"{role}= takes {'names of columns, in a list' if several else 'the name of a column'}; got {name!r}."
                    )
            roles[role] = tuple(map(str, names)) if several else str(value)
        return cls(**roles)
