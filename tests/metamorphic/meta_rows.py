"""Tables for metamorphic tests: columns of numbers and text, and everything that belongs to a row."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

#: With `MILP_TREES_METAMORPHIC=thorough` every relation is tried on many more tables.
THOROUGH = os.environ.get("MILP_TREES_METAMORPHIC") == "thorough"
SEEDS = range(int(os.environ.get("MILP_TREES_METAMORPHIC_SEEDS", "12")) if THOROUGH else 1)


@dataclass(frozen=True)
class Rows:
    """Rows of a table.

    Parameters
    ----------
    X : DataFrame, or another container of the columns
    roles : dict
        Everything else that has an entry per row, by the name of the role.
    """

    X: Any
    roles: dict[str, Any]

    @property
    def n(self) -> int:
        return len(next(iter(self.roles.values())))

    def take(self, index: Any) -> Rows:
        """Select rows of a DataFrame and of all roles."""
        parts = {name: taken(part, index) for name, part in self.roles.items()}
        return Rows(self.X.iloc[index], parts)

    def with_(self, X: Any = None, **roles: Any) -> Rows:
        """The same rows with another table, or with other roles."""
        return replace(self, X=self.X if X is None else X, roles=self.roles | roles)


def taken(part: Any, index: Any) -> Any:
    """Rows of an array, a Series or a DataFrame by position."""
    return part.iloc[index] if hasattr(part, "iloc") else part[index]


def table(seed: int = 0, gaps: bool = False, text: bool = True, n: int = 26) -> Rows:
    """A random table in which whole numbers, halves, 0 and 1, and words decide together.

    Parameters
    ----------
    seed : int
    gaps : bool
        Whether some numbers and words are missing.
    text : bool
        Whether there is a column of words.
    n : int
        Number of rows; unlike any number of columns, classes or leaves.
    """
    rng = np.random.default_rng(seed)
    columns = {
        "a": rng.integers(0, 10, n),
        "b": rng.integers(-6, 7, n) / 2,
        "c": rng.integers(0, 2, n),
        "d": rng.choice(["u", "v", "w"], n),
    }
    noise = rng.random(n) < 0.2
    up = (columns["a"] >= 5) ^ (columns["d"] == "u") ^ noise
    third = (columns["b"] > 1.5) & (columns["c"] == 1)
    labels = np.where(third, 2, up.astype(int))
    labels[:3], binary = [0, 1, 2], up.astype(int)
    binary[:2] = [0, 1]
    X = pd.DataFrame(columns)
    if gaps:
        X["b"] = X["b"].mask(rng.random(n) < 0.25)
        X["d"] = X["d"].mask(rng.random(n) < 0.25)
    actions = ["p", "q", "r"]
    treatments = rng.choice(actions, n)
    treatments[:6] = actions * 2
    group = rng.choice(["f", "m", "x"], n)
    group[:6] = ["f", "m", "x"] * 2
    best = np.where(labels[:, None] == np.arange(3), 6, 0)
    roles = {
        "labels": labels,
        "binary": binary,
        "weights": rng.integers(1, 4, n),
        "group": group,
        "pair": pd.DataFrame({"sex": group, "old": rng.integers(0, 2, n)}),
        "factor": np.where(rng.random(n) < 0.5, "low", "high"),
        "treatments": treatments,
        "outcomes": rng.integers(-4, 5, n) / 2 + 2 * (treatments == "q") * up,
        "propensities": rng.choice([0.25, 0.5], n),
        "values": pd.DataFrame(best + rng.integers(0, 4, (n, 3)), columns=actions),
        "costs": pd.DataFrame(8 - best + rng.integers(0, 4, (n, 3)), columns=actions),
        "prices": pd.DataFrame(rng.integers(1, 5, (n, 3)), columns=["a", "b", "c"]),
    }
    amounts = up * 2.5 + third + rng.integers(0, 9, n) / 8
    roles |= {
        "amounts": amounts,
        "pairs": pd.DataFrame({"in": amounts, "out": 3 - amounts * up}),
        "lives": pd.DataFrame({"died": rng.random(n) < 0.7, "days": 1 + 4 * amounts}),
    }
    return Rows(X if text else X.drop(columns="d"), roles)
