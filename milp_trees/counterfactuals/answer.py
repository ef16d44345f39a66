"""`Counterfactual`: the nearest row with another prediction, and who says that none is nearer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import VerificationError
from milp_trees.common.plurals import counted
from milp_trees.counterfactuals.columns import Column, Found
from milp_trees.counterfactuals.enumeration import least_distance
from milp_trees.counterfactuals.given import Given
from milp_trees.counterfactuals.target import Target
from milp_trees.results.json import json_safe, plain_number, ratio_text
from milp_trees.results.result import Limit, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

#: Who proves the answer of a tree or rule list: exact arithmetic over the boxes of its leaves.
BOXES = "boxes"
#: How the norms are called in sentences.
NORM_WORDS = {"l1": "distance", "l0": "number of changes", "weighted": "weighted distance"}


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """The nearest row with a wanted prediction.

    Parameters
    ----------
    model : Given
        The model that was asked.
    given : DataFrame of one row
        The row that was asked about.
    columns : mapping of str to Column
        What each column of the model may hold, and the prices.
    norm : {"l1", "l0", "weighted"}
    target : Target
        The wanted predictions.
    status : Status
        OPTIMAL, FEASIBLE (a row was found and a limit stopped the proof), INFEASIBLE (no row that is
        allowed has a wanted prediction) or NO_SOLUTION.
    values : mapping of str to Found, or None
        The new value of every column of the model.
    bound : Fraction or None
        No row with a wanted prediction is nearer than this.
    proved_by : str
        Who says so: `"boxes"`, exact arithmetic over the boxes of the leaves; or the solver.
    nodes : int or None
        Nodes of the search.
    limit : Limit or None
        What stopped the search.
    seconds : float
    """

    model: Given
    given: pd.DataFrame
    columns: Mapping[str, Column]
    norm: str
    target: Target
    status: Status = Status.NO_SOLUTION
    values: Mapping[str, Found] | None = None
    bound: Fraction | None = None
    proved_by: str = ""
    nodes: int | None = None
    limit: Limit | None = None
    seconds: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the bound is exact; that of a solver holds up to its tolerances."""
        return self.proved_by == BOXES

    @property
    def found(self) -> bool:
        """Whether there is a row."""
        return self.values is not None

    @cached_property
    def row(self) -> pd.DataFrame | None:
        """The new row, with all columns of the given one; None if there is none."""
        if self.values is None:
            return None
        frame = self.given.copy()
        for name, one in self.values.items():
            if one.changed:
                frame[name] = [one.value]
        return frame

    @property
    def distance_exact(self) -> Fraction | None:
        """The distance as a rational."""
        if self.values is None:
            return None
        return sum((one.price for one in self.values.values()), Fraction(0))

    @property
    def distance(self) -> float | None:
        """The distance, by the norm."""
        exact = self.distance_exact
        return None if exact is None else float(exact)

    @property
    def gap(self) -> float | None:
        """Distance minus bound; None if one of both is missing."""
        exact = self.distance_exact
        return None if exact is None or self.bound is None else float(exact - self.bound)

    @cached_property
    def prediction_before(self) -> Any:
        """What the model predicts of the given row."""
        return self.model.label(self.given)

    @cached_property
    def prediction(self) -> Any:
        """What the model predicts of the new row; None if there is none."""
        return None if self.row is None else self.model.label(self.row)

    @property
    def changes(self) -> pd.DataFrame:
        """The changed columns by falling price; its columns are column, from, to and price."""
        import pandas as pd

        changed = [(n, one) for n, one in (self.values or {}).items() if one.changed]
        changed.sort(key=lambda pair: -pair[1].price)
        rows = [
            (name, self.columns[name].original_own, one.value, float(one.price))
            for name, one in changed
        ]
        return pd.DataFrame(rows, columns=["column", "from", "to", "price"], dtype=object).astype(
            {"column": str, "price": float}
        )

    # -- checks ------------------------------------------------------------------------------------

    def verify(self) -> list[str]:
        """Recompute what is stated; return a sentence for each thing that holds.

        The new row is predicted by the model itself, and its distance is added up again. The bound
        of a tree or rule list is derived again from all of its leaves, by another way than that of
        the search: every column tries the values around all thresholds. The bound of a solver is
        not derived again.

        Returns
        -------
        list of str

        Raises
        ------
        VerificationError
            Something does not hold.
        """
        held: list[str] = []
        if self.row is not None:
            if not self.model.wants(self.row, self.target):
                raise VerificationError(
                    f"The new row is predicted as {self.prediction}, which is not wanted; please report this."
                )
            held.append(f"The model itself predicts {self.prediction} for the new row.")
        if not self.exact:
            return [*held, f"The bound is a claim of {self.proved_by}, which is not derived again."]
        least = least_distance(self.model.model, self.columns, self.target)
        if least != (self.distance_exact if self.found else None):
            raise VerificationError(
                f"The least distance over all leaves is {least}, and {self.distance_exact} is stated; please report this."
            )
        what = (
            "no leaf has such a row" if least is None else f"none is nearer than {float(least):g}"
        )
        return [*held, f"All leaves were enumerated again: {what}."]

    # -- words -------------------------------------------------------------------------------------

    def to_text(self) -> str:
        """The answer in words.

        Returns
        -------
        str
        """
        lines = [f"now        {_shown(self.prediction_before)}"]
        if self.values is None:
            if self.status is Status.INFEASIBLE:
                lines.append(f"none       no row that is allowed is {self.target.words}")
            else:
                lines.append(f"none       no row was found that is {self.target.words}")
        else:
            lines.append(f"then       {_shown(self.prediction)}")
            table = self.changes
            for name, old, new in zip(table["column"], table["from"], table["to"], strict=True):
                lines.append(f"change     {name}: {_shown(old)} -> {_shown(new)}")
            if not len(table):
                lines.append("change     none, the row is predicted so already")
            lines.append(f"distance   {self.distance:.6g} ({NORM_WORDS[self.norm]})")
        lines.append(f"proof      {self.evidence}")
        return "\n".join(lines)

    @property
    def evidence(self) -> str:
        """Who says that no row is nearer, in a sentence without a point."""
        how = (
            f"exact, over the boxes of the leaves ({counted(self.nodes or 0, 'node')})"
            if self.exact
            else f"claimed by {self.proved_by}, up to its tolerances"
        )
        if self.status is Status.INFEASIBLE:
            return f"there is none, {how}"
        if self.status is Status.OPTIMAL:
            return f"none is nearer, {how}"
        if self.bound is None:
            return "none within the limits"
        return f"none is nearer than {float(self.bound):.6g}, {how}"

    def __str__(self) -> str:
        return self.to_text()

    def to_json(self) -> dict[str, Any]:
        """The answer as plain data.

        Returns
        -------
        dict
        """
        rows = self.changes.to_dict("records")
        exact = self.distance_exact
        return {
            "kind": "counterfactual",
            "status": self.status.value,
            "limit": None if self.limit is None else self.limit.value,
            "norm": self.norm,
            "target": self.target.words,
            "prediction_before": json_safe(self.prediction_before),
            "prediction": json_safe(self.prediction),
            "changes": [{k: json_safe(v) for k, v in row.items()} for row in rows],
            "row": None
            if self.row is None
            else {str(c): json_safe(self.row[c].tolist()[0]) for c in self.row.columns},
            "distance": plain_number(self.distance, exact),
            "distance_exact": ratio_text(exact),
            "bound": plain_number(None if self.bound is None else float(self.bound), self.bound),
            "bound_exact": ratio_text(self.bound) if self.exact else None,
            "proved_by": self.proved_by,
            "exact": self.exact,
            "nodes": self.nodes,
            "seconds": round(self.seconds, 3),
        }

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.to_text())}</pre>"

    def plot(self, ax: Any = None) -> Any:
        """Draw the price of every change as a bar.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure.

        Returns
        -------
        matplotlib axes
        """
        import matplotlib.pyplot as plt

        table = self.changes.iloc[::-1]
        ax = ax or plt.subplots(figsize=(6, 1 + 0.45 * max(1, len(table))))[1]
        names = [
            f"{n}: {_shown(a)} → {_shown(b)}"
            for n, a, b in zip(table["column"], table["from"], table["to"], strict=True)
        ]
        ax.barh(names, table["price"].to_numpy(dtype=float), color="#8bbede")
        ax.set_xlabel(f"price of the change ({NORM_WORDS[self.norm]})")
        ax.set_title(f"{_shown(self.prediction_before)} → {_shown(self.prediction)}", loc="left")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        return ax


def _shown(value: Any) -> str:
    """A value for people; a float in full, so that what is shown is what is meant."""
    if value is None or value != value:
        return "missing"
    if hasattr(value, "isoformat"):
        return str(value.isoformat(sep=" ")).removesuffix(" 00:00:00")
    return repr(float(value)) if isinstance(value, float) else str(value)
