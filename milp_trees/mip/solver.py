"""`Solver`: takes one sparse matrix, answers in one vocabulary. Adapters are one file each in
`solvers/`.

An adapter's `solve` runs in a child process (`milp_trees.mip.worker`), so that a crash, a memory
limit or a hang costs one row and nothing else; `milp_trees.mip.runner` is the parent's side and
enforces the limits from outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.limits import Limits
from milp_trees.results.result import Limit, Status

if TYPE_CHECKING:
    from milp_trees.linear.matrix import MatrixModel, Separator


@dataclass(frozen=True)
class Availability:
    """Whether a solver can be used here, and if not, why not and how to get it."""

    found: bool
    version: str = ""
    reason: str = ""


def availability_of(solver: Solver) -> Availability:
    """Whether a solver can be used here; one that fails to say so, as a third party's may, cannot."""
    try:
        return solver.availability()
    except Exception as error:
        said = " ".join(str(error).split())[:200].rstrip(".")
        return Availability(
            False,
            reason=f"Looking for {solver.name} failed ({type(error).__name__}{': ' * bool(said)}{said}); mend or remove its plug-in.",
        )


@dataclass(frozen=True, eq=False)
class Event:
    """News from a running solver, in units of the model's objective. `x` comes with a new incumbent
    where the solver gives it.
    """

    seconds: float
    incumbent: float | None = None
    bound: float | None = None
    nodes: int | None = None
    x: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver claims. Nothing in it is believed before it is checked."""

    status: Status
    limit: Limit | None = None
    x: np.ndarray | None = None
    objective: float | None = None
    bound: float | None = None
    root_bound: float | None = None
    nodes: int | None = None
    start_accepted: bool | None = None
    log: str = ""
    version: str = ""
    message: str = ""
    events: tuple[Event, ...] = ()
    seconds: float = 0.0
    cuts: int = 0


@dataclass(frozen=True, eq=False)
class Job:
    """One solve, as it travels to the child process."""

    model: MatrixModel
    limits: Limits
    start: np.ndarray | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    lazy: Separator | None = None
    relax: bool = False


#: What a solver can say that it can do; a word that is not here is an error when it registers.
CAPABILITIES: Mapping[str, str] = {
    "lp": "solves linear programs, and relaxations alone",
    "mip": "solves mixed-integer programs and proves optima",
    "start": "takes a complete point to begin with",
    "trace": "reports incumbents and bounds while it runs",
    "nodes": "keeps a limit on branch-and-bound nodes",
    "root-bound": "reports the bound of the root node",
    "seed": "takes a seed",
    "threads": "runs in several threads",
    "gap": "keeps a relative and an absolute gap",
    "memory": "keeps a memory limit by itself",
    "lazy": "takes rows that are found while it runs",
    "general-integers": "takes integer variables that are not binary",
    "continuous": "takes continuous variables",
}


class Solver(ABC):
    """Base of all solver adapters."""

    registry_group: ClassVar[str] = "solvers"

    name: ClassVar[str]
    title: ClassVar[str] = ""
    #: What it can do: words of `CAPABILITIES`.
    capabilities: ClassVar[frozenset[str]] = frozenset()
    #: Names of solvers that it may run itself: one of them cannot confirm what it claims.
    shares: ClassVar[frozenset[str]] = frozenset()
    #: Place among the solvers for formulations that nobody named one for: the smallest number is
    #: taken. None: only when named.
    default_rank: ClassVar[int | None] = None
    #: What there is to know before it is chosen; for its row in docs/solvers.md.
    notes: ClassVar[str] = ""
    #: How to get it, for the reason when it is absent.
    install: ClassVar[str] = ""
    #: Model files that the program behind it cannot read by itself: ending → why, with what to
    #: write for it.
    cannot_read: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def check_class(cls) -> None:
        """Refuse a class that declares a capability which is not in `CAPABILITIES`.

        Raises
        ------
        TypeError
        """
        unknown = sorted(set(cls.capabilities) - set(CAPABILITIES))
        if unknown:
            raise TypeError(
                f"The solver {cls.name} declares the capability {unknown[0]!r}, which is not known; known are {', '.join(CAPABILITIES)}."
            )

    @abstractmethod
    def availability(self) -> Availability:
        """Found and which version, or the reason why not. Must not import what clashes with other
        solvers.
        """

    @abstractmethod
    def solve(self, job: Job, emit: Callable[[Event], None], stop: Callable[[], bool]) -> Answer:
        """Solve in this process. Emits events; returns early, with what it has, once `stop()` is
        true.

        Raises
        ------
        SolverFailure
            The solver reported something this adapter does not know.
        """

    def unsupported(self, model: MatrixModel) -> str | None:
        """Why this solver cannot take a model (continuous variables, fractional coefficients), or
        None.
        """
        return None
