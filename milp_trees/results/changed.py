"""`ChangedModel`: what a solver claims about a model to which a user added something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from milp_trees.results.json import relative_gap
from milp_trees.results.status import Status


@dataclass(frozen=True)
class ChangedModel:
    """The answer for a model as a user changed it; numbers are in units of its objective.

    Nothing in it is a claim about the problem: an added constraint may exclude the best model of
    the problem, and an added term of the objective changes what "best" means.

    Parameters
    ----------
    status : Status
        What the solver claims about the changed model.
    objective : float or None
        The objective of the solver's point, recomputed from the matrix.
    bound : float or None
        No point of the changed model has a lower objective, says the solver.
    proved_by : str or None
        The solver that claims the bound, or that nothing is feasible, with its version.
    constraints, variables : tuple of str
        Names of the constraints and variables that were added, each with the number of its rows or
        entries if there are several.
    changes : tuple of str
        A sentence for each other change: fixed variables, a changed objective, constraints that
        were taken away.
    objective_changed : bool
        Whether the objective is another one than that of the formulation.
    values : mapping of str to float
        Values of the added variables by their names.
    kept : bool or None
        Whether the decoded tree, written into the model again, keeps all rows. If it does not, a
        constraint rests on variables that do not follow from the tree. None without a point.
    """

    status: Status
    objective: float | None = None
    bound: float | None = None
    proved_by: str | None = None
    constraints: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    objective_changed: bool = False
    values: Mapping[str, float] = field(default_factory=dict)
    kept: bool | None = None

    @property
    def optimal(self) -> bool:
        """Whether the solver calls its point an optimum of the changed model."""
        return self.status is Status.OPTIMAL

    @property
    def gap(self) -> float | None:
        """`|objective - bound| / |objective|`; 0 if they are equal, None if one is unknown."""
        return relative_gap(self.objective, self.bound)

    @property
    def line(self) -> str:
        """Status, objective and bound of the changed model in one line."""
        objective = "" if self.objective is None else f", objective {self.objective:.10g}"
        bound = "" if self.bound is None else f", bound {self.bound:.10g}"
        return f"the changed model: {self.status.value}{objective}{bound}"

    def to_json(self) -> dict[str, Any]:
        """Plain values by the names of the fields."""
        return {
            "status": self.status.value,
            "objective": self.objective,
            "bound": self.bound,
            "proved_by": self.proved_by,
            "constraints": list(self.constraints),
            "variables": list(self.variables),
            "changes": list(self.changes),
            "objective_changed": self.objective_changed,
            "values": dict(self.values),
            "kept": self.kept,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ChangedModel:
        """What `to_json` described."""
        listed = {name: tuple(data[name]) for name in ("constraints", "variables", "changes")}
        return cls(**{**data, **listed, "status": Status(data["status"])})
