"""`Columns`: which columns of a table have which role, and how the table is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.reading import Reading

#: What may hold several names.
LISTS = (list, tuple, set, frozenset, np.ndarray)


@dataclass(frozen=True)
class Columns:
    """The columns of a table by their role; names are those of the header, or positions.

    Parameters
    ----------
    target, group, factor, weights, treatment, outcome, propensity : str, optional
        The column with this role.
    targets : sequence of str
        Columns of numbers that are predicted together.
    event, time : str, optional
        Of survival data: whether the event was seen (1) or the row is censored (0), and after which
        time.
    values : sequence of str
        Columns with the value (or cost) of every action, in the order of the actions.
    propensity_model, outcome_model : str, optional
        Models that estimate propensities (`logistic`, `forest`, `share`) and the outcome of every
        treatment (`ridge`, `forest`, `mean`), cross-fitted, in the place of columns.
    features, drop : sequence of str
        Columns to split on and columns not to split on; `*` and `?` are wildcards. By default every
        column without another role.
    label : str, optional
        The file of labels of a file of rules (`NAME.out`), by default `NAME.label`.
    reading : Reading
        How the table is read; each of its options is a keyword of its own in `of`.
    stored : mapping
        Source of the data of a stored result, which are read again: its features are used, and how
        it was read is not found out anew.
    """

    target: str | None = None
    group: str | None = None
    factor: str | None = None
    weights: str | None = None
    treatment: str | None = None
    outcome: str | None = None
    propensity: str | None = None
    targets: Sequence[str] = ()
    event: str | None = None
    time: str | None = None
    values: Sequence[str] = ()
    propensity_model: str | None = None
    outcome_model: str | None = None
    features: Sequence[str] = ()
    drop: Sequence[str] = ()
    label: str | None = None
    reading: Reading = field(default_factory=Reading)
    stored: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def roles(cls) -> dict[str, Any]:
        """Defaults of all roles, keywords of `load`: None, or () for several names."""
        own = ("label", "reading", "stored")
        return {one.name: one.default for one in fields(cls) if one.name not in own}

    @classmethod
    def of(cls, given: Mapping[str, Any], stored: Mapping[str, Any] | None = None) -> Columns:
        """The columns of keyword arguments; None stands for an argument that was not given.

        `stored` is the source of a stored result's data, if these are read again.
        """
        known = [*cls.roles(), "label"]
        options = Reading.options()
        stored = stored or {}
        roles: dict[str, Any] = {}
        how: dict[str, Any] = {}
        for role, value in given.items():
            if role not in (*known, *options):
                raise DataError(
                    f"There is no option {role!r}; columns have the roles {', '.join(known)}, and tables are read with {', '.join(options)}."
                )
            if value is None:
                continue
            if role in options and role != "text":
                how[role] = value
                continue
            several = role in ("targets", "values", "features", "drop", "text")
            names = list(value) if several and isinstance(value, LISTS) else [value]
            for name in names:
                if not isinstance(name, (str, Integral, Path)) or isinstance(name, bool):
                    raise DataError(
                        f"{role}= takes {'names of columns, in a list' if several else 'the name of a column'}; got {name!r}."
                    )
            into = how if role in options else roles
            into[role] = tuple(map(str, names)) if several else str(value)
        _check_targets(roles)
        reading = Reading.from_json(stored["reading"]) if "reading" in stored else Reading.of(how)
        return cls(**roles, reading=reading, stored=stored)

    @property
    def predicted(self) -> tuple[str, ...]:
        """The columns of several targets: those of `targets`, or time and event."""
        return (self.time, self.event) if self.time and self.event else tuple(self.targets)

    def to_json(self) -> dict[str, Any]:
        """The roles that were given, as names and lists of names."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
            if name not in ("reading", "stored") and value not in (None, ())
        }


def _check_targets(roles: Mapping[str, Any]) -> None:
    """Raise DataError if the roles of targets do not fit together."""
    for one, other in (("event", "time"), ("time", "event")):
        if one in roles and other not in roles:
            what = {"time": "the time after which it was seen", "event": "whether it was seen"}
            raise DataError(
                f"Survival data have two columns: --{one} is given without --{other}, {what[other]}."
            )
    given = [name for name in ("target", "targets", "time") if roles.get(name)]
    if len(given) > 1:
        words = ["--event and --time" if name == "time" else f"--{name}" for name in given]
        raise DataError(
            f"What is predicted is named twice, by {' and by '.join(words)}; name it once."
        )
