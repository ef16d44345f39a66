"""`Solver`: takes one sparse matrix and answers with fixed words; its adapters are in `solvers/`.

Every adapter is one file. Its `solve` runs in a child process (`milp_trees.mip.worker`), so that a
crash, a memory limit or a hang costs one row and nothing else. `milp_trees.mip.runner` is the
parent's part and enforces the limits from outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from milp_trees.common.limits import Limits
from milp_trees.results.result import Limit, Status

if TYPE_CHECKING:
    from milp_trees.mip.linear.matrix import MatrixModel, NewRows, Separator


@dataclass(frozen=True)
class Availability:
    """Whether a solver can be used here, and if not, the reason and how to get it."""

    found: bool
    version: str = ""
    reason: str = ""


def availability_of(solver: Solver) -> Availability:
    """Whether a solver can be used here; it cannot if asking the adapter raises an error."""
    try:
        return solver.availability()
    except Exception as error:
        sentence = " ".join(str(error).split())[:200].rstrip(".")
        return Availability(
            False,
            reason=f"Looking for {solver.name} failed ({type(error).__name__}{': ' * bool(sentence)}{sentence}); mend or remove its plug-in.",
        )


@dataclass(frozen=True, eq=False)
class Event:
    """News from a running solver, in units of the model's objective.

    With a new incumbent comes its point `x`, if the solver gives it.
    """

    seconds: float
    incumbent: float | None = None
    bound: float | None = None
    nodes: int | None = None
    x: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver claims; every claim is checked before it is used."""

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
    #: Duals of the rows, of linear programs that are solved by a solver with the capability duals.
    duals: np.ndarray | None = None
    seconds: float = 0.0
    cuts: int = 0
    #: Rows that were found, and stay, where a relaxation is solved with its cuts.
    rows: NewRows | None = None
    #: The objective that the solver itself reports for its point; `objective` is computed from the
    #: point, and the two are compared (`milp_trees.mip.checked`).
    claimed: float | None = None


class Exchange(Protocol):
    """Points that a running solver sends and gets (`milp_trees.mip.rounding` makes them)."""

    def send(self, x: np.ndarray) -> None:
        """Send a point that may break integrality, as soon as the one before is answered."""
        ...

    def take(self) -> np.ndarray | None:
        """The newest feasible point that came and was not taken; None if there is none."""
        ...


@dataclass(frozen=True, eq=False)
class Job:
    """One solve, in the form in which it is sent to the child process.

    With `file` the solver reads the model from this `.mps` file by itself, and branches on it;
    `model` is then what the file should hold, in the same order of columns, whose names in the file
    are `names`. Only solvers that can do `files` are given such jobs. With `relax` and `lazy` the
    relaxation is solved again and again, with the rows that `lazy` finds; solvers that can do
    `lp-cuts` are given such jobs.

    The child process fills in `exchange`, if points are exchanged while the solver searches.
    """

    model: MatrixModel
    limits: Limits
    start: np.ndarray | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    lazy: Separator | None = None
    relax: bool = False
    #: No point is below this objective by more than the tolerances, so the search may end at a point
    #: that has it; solvers that cannot do that go on.
    target: float | None = None
    file: str | None = None
    names: tuple[str, ...] = ()
    exchange: Exchange | None = None


#: What a solver can declare as its capabilities; any other word is an error at registration.
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
    "lp-cuts": "keeps a linear program to which violated rows are added, round by round",
    "points": "takes points that are found while it runs",
    "general-integers": "takes integer variables that are not binary",
    "continuous": "takes continuous variables",
    "files": "reads model files by itself",
    "duals": "gives the duals of the rows of linear programs",
}


class Solver(ABC):
    """Base of all solver adapters."""

    registry_group: ClassVar[str] = "solvers"

    name: ClassVar[str]
    title: ClassVar[str] = ""
    #: Its capabilities: words of `CAPABILITIES`.
    capabilities: ClassVar[frozenset[str]] = frozenset()
    #: Names of solvers that it may run itself; these cannot confirm its claims.
    shared_components: ClassVar[frozenset[str]] = frozenset()
    #: Rank among the solvers for formulations without a named solver: the smallest rank is used.
    #: None: the solver is used only when it is named.
    default_rank: ClassVar[int | None] = None
    #: What a user should know before choosing it; printed in docs/reference/solvers.md.
    notes: ClassVar[str] = ""
    #: How to get it; added to the reason when it is not installed.
    install: ClassVar[str] = ""
    #: Model files that the program behind it cannot read by itself: the ending of the file name,
    #: the reason, and which file to write for it.
    cannot_read: ClassVar[Mapping[str, str]] = {}
    #: Why it cannot end early when told, in a sentence. Its process is then ended from outside, and
    #: what it has found and not reported is lost.
    cannot_stop: ClassVar[str] = ""

    @classmethod
    def check_class(cls) -> None:
        """Refuse a class that declares a capability which is not in `CAPABILITIES`.

        Raises
        ------
        TypeError
            A capability is not one of `CAPABILITIES`.
        """
        unknown = sorted(set(cls.capabilities) - set(CAPABILITIES))
        if unknown:
            raise TypeError(
                f"The solver {cls.name} declares the capability {unknown[0]!r}, which is not known; known are {', '.join(CAPABILITIES)}."
            )

    @classmethod
    def reaches(cls, name: str) -> str:
        """How to run a solver that is no plug-in through this one; empty if it cannot.

        Parameters
        ----------
        name : str
            The solver as the user called it.

        Returns
        -------
        str
            A sentence.
        """
        return ""

    @abstractmethod
    def availability(self) -> Availability:
        """Whether it is installed and in which version, or the reason why it cannot be used.

        It must not import anything that conflicts with other solvers.
        """

    @abstractmethod
    def solve(self, job: Job, emit: Callable[[Event], None], stop: Callable[[], bool]) -> Answer:
        """Solve a model in this process.

        Parameters
        ----------
        job : Job
            The model, its limits and the options.
        emit : callable
            To be called with an `Event` for every new incumbent or bound.
        stop : callable
            To be called often; once it returns True, `solve` returns early with what it has. A
            solver that cannot do this says so in `cannot_stop`.

        Returns
        -------
        Answer

        Raises
        ------
        SolverFailure
            The solver reported something that this adapter cannot interpret.
        """

    def unsupported(self, model: MatrixModel) -> str | None:
        """Why this solver cannot take a model (for example continuous variables), or None."""
        return None
