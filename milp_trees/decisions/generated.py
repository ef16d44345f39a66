"""Decision problems from generated data: noisy shortest paths, two roads, news.

There are training rows with candidate binary features, and test rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.exact import read_number
from milp_trees.data.binarize import Binarizer
from milp_trees.decisions.generate import news_data, news_decisions, shortest_path_data, two_roads

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.decisions.base import DecisionSet

KINDS = ("shortest-path", "two-roads", "news")
#: Larger requests are probably typing errors: `MOST` limits rows times (features and components of
#: costs), `MOST_NODES` the nodes of a grid.
MOST, MOST_NODES = 100_000_000, 100_000
#: Settings that only some kinds use.
OF_KIND = {
    **dict.fromkeys(("degree", "noise", "grid", "inner", "outer"), ("shortest-path",)),
    "features": ("shortest-path", "news"),
    "constraints": ("news",),
}


@dataclass(frozen=True)
class DecisionData:
    """How rows with cost vectors are generated and turned into binary features.

    Parameters
    ----------
    kind : {"shortest-path", "two-roads", "news"}
        Which data are generated.
    rows, test_rows : int
        Number of training rows, and of rows for test scores (0: none).
    degree, noise, grid, inner, outer, features
        Settings of the shortest paths, see `shortest_path_data`.
    constraints : int, default=10
        Seed of the news problem's constraint set.
    thresholds : int, default=100
        Quantiles of a feature's values that are candidate thresholds; 0: all midpoints.
    seed : int
        Seed of the rows.
    """

    #: The kinds by name, and the key of `Dataset.source` that holds the settings.
    kinds: ClassVar[tuple[str, ...]] = KINDS
    key: ClassVar[str] = "decision_data"

    kind: str = "shortest-path"
    rows: int = 200
    test_rows: int = 1000
    degree: float = 2
    noise: float = 0.25
    grid: tuple[int, int] = (4, 4)
    inner: float = 3.0
    outer: float = 1.0
    features: int = 5
    constraints: int = 10
    thresholds: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise DataError(f"The data are one of {', '.join(KINDS)}; got {self.kind!r}.")
        if self.rows < 1 or self.test_rows < 0 or self.thresholds < 0:
            raise DataError("rows must be at least 1, test_rows and thresholds at least 0.")
        if not 0 <= self.seed < 2**32 or not 0 <= self.constraints < 2**32:
            raise DataError(
                f"seed and constraints must be whole numbers from 0 to 4294967295; got {self.seed} and {self.constraints}."
            )
        nodes = (
            self.grid[0] * self.grid[1]
        )  # and up to twice as many edges, each of which has a cost on every row
        if (self.rows + self.test_rows) * (self.features + 2 * nodes) > MOST or nodes > MOST_NODES:
            raise DataError(
                f"At most {MOST} numbers fit into memory (rows times features and edges), and {MOST_NODES} nodes of a grid; take fewer rows or a smaller grid."
            )

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> DecisionData:
        """The settings that a Dataset's `source["decision_data"]` describes."""
        return cls(**{**spec, "grid": tuple(spec["grid"])})

    @classmethod
    def from_text(cls, text: str) -> DecisionData:
        """The settings that a text such as `shortest-path:rows=100,grid=4x4,seed=1` describes."""
        kind, _, given = text.partition(":")
        kinds: dict[str, Any] = {"int": int, "float": float}
        known = {f.name: kinds.get(str(f.type), tuple) for f in fields(cls) if f.name != "kind"}
        read: dict[str, Any] = {}
        for item in filter(None, given.split(",")):
            name, _, value = item.partition("=")
            if name not in known or kind not in OF_KIND.get(name, KINDS):
                close = get_close_matches(name, known, n=1)
                hint = f" Did you mean {close[0]!r}?" if close and close[0] != name else ""
                own = ", ".join(n for n in known if kind in OF_KIND.get(n, KINDS))
                raise DataError(f"The data {kind} have no setting {name!r}.{hint} Known: {own}.")
            if name in read:
                raise DataError(
                    f"The setting {name} of the data {kind} is given twice, as {read[name]!r} and {value!r}; give it once."
                )
            try:
                read[name] = (
                    tuple(map(int, value.lower().split("x")))
                    if known[name] is tuple
                    else read_number(known[name], value)
                )
            except ValueError:
                raise DataError(
                    f"The setting {name} of the data {kind} is {'written ROWSxCOLUMNS, such as 4x4' if known[name] is tuple else 'a number'}; got {value!r}."
                ) from None
        if len(read.get("grid", (1, 1))) != 2:
            raise DataError(f"grid is written ROWSxCOLUMNS, such as 4x4; got {given!r}.")
        return cls(kind, **read)

    def make(self) -> tuple[Dataset, Dataset | None, DecisionSet]:
        """Training rows, test rows and the set of decisions.

        Test rows are drawn after the training rows, from the same distribution.
        """
        n = self.rows + self.test_rows
        weights = None
        S: Any
        if self.kind == "shortest-path":
            made = shortest_path_data(
                n,
                self.features,
                self.degree,
                self.noise,
                self.grid,
                self.seed,
                self.inner,
                self.outer,
            )
            X, C, S = made.X, made.C, made.decisions
        elif self.kind == "two-roads":
            X, C, S = two_roads(n, self.seed)
        else:
            X, C, weights = news_data(n, self.features, seed=self.seed)
            S = news_decisions(self.constraints)
        names = [f"x{j}" for j in range(X.shape[1])]
        frame = {name: X[:, j] for j, name in enumerate(names)}
        binarizer = Binarizer.from_name(
            "midpoints" if not self.thresholds else f"quantiles:{self.thresholds + 1}"
        )
        binarizer.fit({name: column[: self.rows] for name, column in frame.items()})
        fields: dict[str, Any] = {"values": C, "actions": S.components}
        if weights is not None:
            fields["weights"] = weights
        made_by = dict(vars(self))
        source = {
            "path": f"{self.kind}: {', '.join(f'{k}={v}' for k, v in made_by.items() if k != 'kind')}",
            "decision_data": made_by,
        }
        whole = binarizer.dataset(frame, source=source, **fields)
        train = whole.subset(np.arange(self.rows))
        return train, whole.subset(np.arange(self.rows, n)) if self.test_rows else None, S
