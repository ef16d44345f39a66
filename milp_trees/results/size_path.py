"""`SizePath`: the best tree of every number of leaves.

It also gives the penalties per leaf for which each tree is the best of all. The trees that are best
for some penalty are the corners of the lower convex hull of loss against leaves (Breiman, Friedman,
Olshen, Stone 1984, *Classification and Regression Trees*, prune one grown tree in this way; here
every tree is the optimal one of its size).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, SolverFailure
from milp_trees.common.exact import fraction
from milp_trees.models.tree import Tree
from milp_trees.results.result import Limit
from milp_trees.tasks.base import Value, heading
from milp_trees.tasks.comparing import crosses, exact_value

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.problems.problem import Problem


@dataclass(frozen=True)
class Point:
    """The best tree with at most a given number of leaves.

    Parameters
    ----------
    leaves : int
        Largest number of leaves; `predictor` has fewer if more do not improve the value.
    predictor : Tree
        The tree.
    value : Value
        Recomputed from the tree.
    bound : Fraction, float or None
        No tree with at most `leaves` leaves is better (natural units).
    loss : Fraction
        The number to which a penalty per leaf is added: a rate, or one minus a score (with the
        task's own penalties). For a task without such penalties it is the value, negative if it
        is maximised.
    tolerance : float, default=0.0
        Two values with at most this difference are equal (natural units). It is 0 unless the costs
        are measured numbers, which methods round to integers.
    """

    leaves: int
    predictor: Tree
    value: Value
    bound: Fraction | float | None
    loss: Fraction
    tolerance: float = 0.0

    @property
    def n_leaves(self) -> int:
        return self.predictor.n_leaves

    @property
    def proven(self) -> bool:
        """Whether no tree of this size is better."""
        if self.bound is None:
            return False
        left = exact_value(self.value) - Fraction(self.bound)
        return (left if self.value.sense == "min" else -left) <= Fraction(self.tolerance)

    @classmethod
    def of(cls, problem: Problem, leaves: int, tree: Tree, bound: Fraction | float | None) -> Point:
        """The point of a tree; its value and loss are recomputed on the data."""
        value = problem.value(tree)
        if crosses(bound, value, problem.scale):
            raise SolverFailure(
                f"A bound of {float(bound or 0):.12g} is claimed for {leaves} leaves, but its own model has {value.number:.12g}. Please report this problem."
            )
        loss = _loss(problem, tree, value)
        return cls(
            leaves, tree.on(problem.dataset, problem.task), value, bound, loss, _tolerance(problem)
        )


def _tolerance(problem: Problem) -> float:
    """The tolerance of the problem's scale in natural units."""
    scale = problem.scale
    if not scale.tolerance:
        return 0.0
    return float(abs(scale.tolerance / (scale.from_value(1) - scale.from_value(0))))


def _loss(problem: Problem, tree: Tree, value: Value) -> Fraction:
    task: Any = problem.task
    if hasattr(task, "leaf_penalty"):  # one more penalty per leaf turns every value into a loss
        one = replace(task, leaf_penalty=task.leaf_penalty + 1).value(
            tree.routes(problem.dataset), problem.dataset
        )
        return exact_value(one) - tree.n_leaves
    return exact_value(value) if value.sense == "min" else -exact_value(value)


@dataclass(frozen=True, eq=False)
class SizePath:
    """The best trees of all sizes up to a largest one.

    Parameters
    ----------
    problem : Problem
        The problem.
    points : tuple of Point
        Ordered by number of leaves, from 1 on (sizes without a feasible tree are left out).
    method : str
        Method that found them.
    limit : Limit or None
        Why the search stopped early; then `proven` of a point tells whether it is optimal.
    seconds : float
        Time of the search.

    Examples
    --------
    >>> import milp_trees as mt
    >>> problem = mt.Problem(mt.load("planted:rows=60,depth=2"), mt.Accuracy(), mt.Trees(max_depth=3))
    >>> path = mt.size_path(problem, max_leaves=6)
    >>> path.at_leaves(6).value.number
    0.0
    """

    problem: Problem
    points: tuple[Point, ...]
    method: str = ""
    limit: Limit | None = None
    seconds: float = 0.0

    @property
    def of_lists(self) -> bool:
        """Whether the models are rule lists, which are counted in rules: one less than leaves."""
        return self.problem.space.counts_rules

    @property
    def proven(self) -> bool:
        """Whether every tree is optimal for its size."""
        return all(p.proven for p in self.points)

    @cached_property
    def improving(self) -> tuple[Point, ...]:
        """One point for each size that is better than all smaller ones."""
        out: list[Point] = []
        for point in self.points:
            if not out or point.value.better_than(out[-1].value):
                out.append(point)
        return tuple(out)

    @cached_property
    def hull(self) -> tuple[Point, ...]:
        """The points that are best for some penalty per leaf of at least 0, by number of leaves."""
        out: list[Point] = []
        by_leaves: dict[int, Point] = {}
        for point in self.points:
            known = by_leaves.get(point.n_leaves)
            if known is None or point.loss < known.loss:
                by_leaves[point.n_leaves] = point
        for point in (by_leaves[k] for k in sorted(by_leaves)):
            if out and point.loss >= out[-1].loss:
                continue
            while len(out) >= 2 and _slope(out[-2], out[-1]) <= _slope(out[-1], point):
                out.pop()
            out.append(point)
        return tuple(out)

    @cached_property
    def penalties(self) -> tuple[Fraction, ...]:
        """Penalties per leaf at which the best tree changes, in decreasing order.

        At `penalties[i]`, `hull[i]` and `hull[i + 1]` are equally good.
        """
        return tuple(_slope(a, b) for a, b in zip(self.hull, self.hull[1:], strict=False))

    def interval(self, point: Point) -> tuple[Fraction, Fraction | None] | None:
        """Penalties for which a point is the best: (least, most).

        The value None for `most` means that there is no limit. The result is None if there is no
        such penalty.
        """
        if point not in self.hull:
            return None
        i = self.hull.index(point)
        return (
            self.penalties[i] if i < len(self.penalties) else Fraction(0),
            self.penalties[i - 1] if i else None,
        )

    # -- questions ---------------------------------------------------------------------------------

    def at_length(self, k: int) -> Point:
        """The best rule list with at most k rules."""
        return self.at_leaves(k + 1)

    def at_leaves(self, k: int) -> Point:
        """The best tree with at most k leaves."""
        fitting = [p for p in self.points if p.leaves <= k]
        if not fitting:
            raise DataError(
                f"The path has no tree with at most {k} leaves; its smallest has {self.points[0].n_leaves if self.points else 'none'}."
            )
        return fitting[-1]

    def at_penalty(self, penalty: Any) -> Point:
        """The tree with the smallest loss + penalty · leaves; of equal ones the smallest.

        It is the best of all trees up to the path's largest size; for a penalty near 0 a larger
        tree might be better.
        """
        each = fraction(penalty, "penalty")
        if each < 0:
            raise DataError(f"A penalty per leaf must not be negative; got {penalty!r}.")
        if not self.points:
            raise DataError("The path is empty: no tree is feasible.")
        return min(self.hull, key=lambda p: (p.loss + each * p.n_leaves, p.n_leaves))

    def without_rows(self) -> SizePath:
        """The same path without the rows of its problem."""
        problem = self.problem.without_rows()
        points = tuple(
            replace(p, predictor=p.predictor.on(problem.dataset, problem.task)) for p in self.points
        )
        return replace(self, problem=problem, points=points)

    # -- output ------------------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """One mapping per size that improves the value.

        Keys are leaves (of rule lists also rules), value, exact, bound, proven, depth, penalty_from
        and penalty_to (Fractions), which are per leaf or per rule.
        """
        out = []
        for p in self.improving:
            between = self.interval(p)
            out.append(
                {
                    **({"rules": p.n_leaves - 1} if self.of_lists else {}),
                    "leaves": p.n_leaves,
                    "value": p.value.number,
                    "exact": p.value.exact,
                    "bound": p.bound,
                    "proven": p.proven,
                    "depth": p.predictor.depth,
                    "penalty_from": between and between[0],
                    "penalty_to": between and between[1],
                    "on_hull": between is not None,
                }
            )
        return out

    def frame(self) -> pd.DataFrame:
        """`rows` as a DataFrame; of rule lists without `leaves` and `depth`.

        `penalty_to` is empty for the smallest model, and both penalties are empty for models that
        are not on the hull.
        """
        import pandas as pd

        size = ["rules"] if self.of_lists else ["leaves"]
        shape = [] if self.of_lists else ["depth"]
        proof = ["value", "exact", "bound", "proven"]
        columns = [*size, *proof, *shape, "penalty_from", "penalty_to", "on_hull"]
        return pd.DataFrame(self.rows(), columns=columns)

    def to_json(self) -> dict[str, Any]:
        """Plain data: the rows with their trees, fractions as "p/q"."""
        from milp_trees.results.json import json_safe

        rows = [
            {**row, "predictor": p.predictor.to_json()}
            for row, p in zip(self.rows(), self.improving, strict=True)
        ]
        first = self.points[0].value if self.points else None
        out: dict[str, Any] = json_safe(
            {
                "method": self.method,
                "proven": self.proven,
                "limit": None if self.limit is None else self.limit.value,
                "seconds": self.seconds,
                "unit": None if first is None else first.unit,
                "sense": None if first is None else first.sense,
                "sizes": rows,
                "penalties": list(self.penalties),
                "problem": self.problem.spec(),
            }
        )
        return out

    def plot(self, ax: Any = None) -> Any:
        """Plot value against leaves, or rules; the result is the matplotlib axes.

        Models that are best for some penalty have filled markers.
        """
        import matplotlib.pyplot as plt

        ax = ax if ax is not None else plt.subplots(figsize=(5, 3.5))[1]
        points = self.improving
        line = ax.plot(
            [p.n_leaves - self.of_lists for p in points],
            [p.value.number for p in points],
            "o-",
            mfc="white",
            drawstyle="steps-post",
        )[0]
        corners = [p for p in points if p in self.hull]
        ax.plot(
            [p.n_leaves - self.of_lists for p in corners],
            [p.value.number for p in corners],
            "o",
            color=line.get_color(),
            label=f"best for some penalty per {'rule' if self.of_lists else 'leaf'}",
        )
        ax.set_xlabel("rules" if self.of_lists else "leaves")
        ax.set_ylabel(heading(points[0].value.unit) if points else "")
        ax.legend(frameon=False)
        return ax

    def _repr_html_(self) -> str:
        """The table of sizes, and the largest of the models."""
        picture = "".join(p.predictor._repr_html_() for p in self.improving[-1:])
        form: dict[str, Any] = {"index": False, "border": 0, "na_rep": "–"}
        table = self.frame().to_html(float_format="{:.6g}".format, **form)
        return (
            f'<div style="overflow-x:auto"><p>{escape(repr(self)[1:-1])}</p>{table}{picture}</div>'
        )

    def __repr__(self) -> str:
        known = "proven" if self.proven else "not all proven"
        sizes = ", ".join(
            f"{p.n_leaves - self.of_lists}: {p.value.number:.6g}" for p in self.improving
        )
        what = "rules" if self.of_lists else "leaves"
        return f"<SizePath by {self.method}, {known}; {what} {sizes}>"


def _slope(a: Point, b: Point) -> Fraction:
    """Loss that is saved by each leaf from a to b."""
    return (a.loss - b.loss) / (b.n_leaves - a.n_leaves)
