"""`ModelSet`: all models near the best, which can be counted, listed, drawn and summarised.

See Xin et al. (2022) and Fisher, Rudin, Dominici (2019).
"""

from __future__ import annotations

import html
import random
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, overload

from milp_trees.common.limits import Limit
from milp_trees.results.result import Solution
from milp_trees.tasks.base import Value
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.problems.problem import Problem


#: Lines of each table that a notebook shows.
MOST_SHOWN = 12


class ModelSet(ABC):
    """All models within a slack of the optimum: a sequence of `Solution`, best first.

    Parameters
    ----------
    problem : Problem
    optimum : int
        The best regret, in integer units.
    offset : int
        Cost of every model besides its regret.
    asked : Fraction
        The requested slack, in the task's unit.
    covered : int, Fraction or None
        The slack that was reached, in units of the view; None is all of it.
    limit : Limit or None
        Why not all of the slack was reached.
    """

    #: What a model is called, and a question that it asks.
    noun: ClassVar[str]
    question: ClassVar[str]

    def __init__(
        self,
        problem: Problem,
        optimum: int,
        offset: int,
        asked: Fraction,
        covered: int | Fraction | None,
        limit: Limit | None,
    ) -> None:
        self.problem, self.limit = problem, limit
        self._view: Any = problem.first_view((CostMatrix, LeafSums))
        self._optimum, self._offset = optimum, offset
        self.slack = asked
        self.covered = asked if covered is None else covered * abs(self._view.scale)
        self.complete = covered is None

    # -- numbers ---------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of models, exact and possibly too large for `len`."""

    @abstractmethod
    def values(self) -> dict[Fraction, int]:
        """Number of models per value, best first."""

    @property
    def optimum(self) -> Value:
        """The best value."""
        return self._value(self._optimum)

    def __len__(self) -> int:
        """Number of models.

        Raises
        ------
        OverflowError
            It is larger than Python allows here; `count` has no limit.
        """
        if self.count > sys.maxsize:
            raise OverflowError(
                f"There are {self.count:.3e} {self.noun}s, more than len() can say; use .count.".replace(
                    "e+", "e"
                )
            )
        return self.count

    # -- models ----------------------------------------------------------------------------------------------

    @abstractmethod
    def _model(self, i: int) -> Solution:
        """The model of a number from 0 to `count` - 1."""

    @overload
    def __getitem__(self, i: int) -> Solution: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Solution, ...]: ...
    def __getitem__(self, i: int | slice) -> Solution | tuple[Solution, ...]:
        """The i-th best model, or a tuple of models."""
        if isinstance(i, slice):
            begin, end, step = (
                _clipped(v, self.count) if v is not None else None for v in (i.start, i.stop, None)
            )
            step = 1 if i.step is None else int(i.step)
            whole = range(self.count)[slice(begin, end, step)]
            return tuple(self[j] for j in whole)
        if not -self.count <= i < self.count:
            raise IndexError(f"There are {self.count} {self.noun}s; got the number {i}.")
        return self._model(i + self.count if i < 0 else i).on(
            self.problem.dataset, self.problem.task
        )

    def __iter__(self) -> Iterator[Solution]:
        """All models, best first; each is made when the loop reaches it."""
        i = 0
        while i < self.count:
            yield self[i]
            i += 1

    def sample(self, n: int = 1, seed: int = 0) -> list[Solution]:
        """Models drawn uniformly from the set, with replacement."""
        draw = random.Random(seed)
        return [self[draw.randrange(self.count)] for _ in range(n)]

    # -- summaries -------------------------------------------------------------------------------------------

    @abstractmethod
    def frame(self, n: int = 100) -> pd.DataFrame:
        """The first n models, one in each row."""

    @abstractmethod
    def importance(self) -> pd.DataFrame:
        """How many of the models ask each question, and the best value without it."""

    def plot(self, axes: Any = None, most: int = 15) -> Any:
        """Plot the number of models per value, and the share of them that ask each question.

        The second picture shows the `most` used questions. Returns the figure.
        """
        import matplotlib.pyplot as plt

        if axes is None:
            figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
        else:
            figure = axes[0].figure
        values = self.values()
        shown = [float(v) for v in values]
        gaps = [abs(a - b) for a, b in pairwise(shown)]
        axes[0].bar(
            shown,
            [float(c) for c in values.values()],
            width=max(
                0.8 * min(gaps, default=1.0), (max(shown, default=0) - min(shown, default=0)) / 200
            ),
            color="C0",
        )
        axes[0].set(
            xlabel=self.problem.task.unit,
            ylabel=f"{self.noun}s",
            title=f"{_count(self.count)} {self.noun}s within {float(self.covered):g} of the best",
        )
        if values and max(values.values()) > 100 * min(values.values()):
            axes[0].set_yscale("log", nonpositive="clip")
            axes[0].set_ylim(bottom=0.7)
        if min(gaps, default=0) >= 1:
            axes[0].xaxis.get_major_locator().set_params(integer=True)
        used = self.importance().head(most).iloc[::-1]
        axes[1].barh(used[self.question].tolist(), used["share"].astype(float).tolist(), color="C1")
        axes[1].set(
            xlim=(0, 1),
            xlabel=f"share of the {self.noun}s that use the {self.question}",
            title=f"use of {self.question}s",
        )
        return figure

    def to_json(self) -> dict[str, Any]:
        """Counts and values; `frame`, `sample` or a number give the models themselves."""
        from milp_trees.results.json import json_safe

        plain: dict[str, Any] = json_safe(
            {
                "count": self.count,
                "complete": self.complete,
                "limit": None if self.limit is None else self.limit.value,
                "slack": self.slack,
                "covered": self.covered,
                "optimum": self.optimum.number,
                "optimum_exact": self.optimum.exact,
                "unit": self.optimum.unit,
                "values": [
                    {"value": float(v), "exact": v, "count": c} for v, c in self.values().items()
                ],
            }
        )
        return plain

    def _natural(self, regret: int) -> Fraction:
        value: Fraction = self._view.to_value(regret + self._offset)
        return value

    def _value(self, regret: int) -> Value:
        exact, task = self._natural(regret), self.problem.task
        return Value(float(exact), exact, task.unit, task.sense)

    def _repr_html_(self) -> str:
        """The number of models, their values, the use of their questions, and the best model."""
        import pandas as pd

        values = [(float(v), c) for v, c in self.values().items()]
        unit = self.problem.task.unit
        tables = [
            pd.DataFrame(values[:MOST_SHOWN], columns=[unit, f"{self.noun}s"]),
            self.importance().head(MOST_SHOWN),
        ]
        form: dict[str, Any] = {"index": False, "border": 0, "na_rep": "–"}
        shown = "".join(t.to_html(float_format="{:.6g}".format, **form) for t in tables)
        best = self[0].predictor._repr_html_() if self.count else ""
        heading = f"<p>{html.escape(repr(self)[1:-1])}</p>"
        beside = f'<div style="display:flex;gap:2em;align-items:flex-start">{shown}</div>'
        caption = f"<p>The best {self.noun}:</p>" if best else ""
        return f'<div style="overflow-x:auto">{heading}{beside}{caption}{best}</div>'

    def __repr__(self) -> str:
        part = (
            ""
            if self.complete
            else f", complete only up to {float(self.covered):g} ({self.limit.value if self.limit else 'stopped'})"
        )
        return f"<{_count(self.count)} {self.noun}{'' if self.count == 1 else 's'} within {float(self.slack):g} of {self.optimum}{part}>"


def _count(count: int) -> str:
    """A count as text for users; above a quadrillion its magnitude."""
    if count < 10**15:
        return f"{count:,}".replace(",", " ")
    digits = str(count)
    return f"{digits[0]}.{digits[1:3]}e{len(digits) - 1}"


def _clipped(i: int, count: int) -> int:
    return max(-count, min(count, int(i)))
