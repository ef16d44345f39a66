"""One run of a study, with its start, its reference, its agreement and its row.

`compare` and the workers of a study make every run here. They differ only in where they keep the
runs that help others: in the study itself, or in a folder that several workers share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from milp_trees.common.limits import Limits
from milp_trees.methods.method import Method
from milp_trees.methods.start import Start
from milp_trees.mip.registry import registry
from milp_trees.models.ensemble import Ensemble
from milp_trees.models.shown import Shown
from milp_trees.results.result import Result, TracePoint
from milp_trees.solving.agreement import choose_reference, reference_of, with_agreement
from milp_trees.solving.attempt import (
    AUTO,
    attempt,
    default_start,
    find_start,
    named_method,
    start_from,
)
from milp_trees.studies.identity import problem_key, run_key

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem

#: Roles of stored runs: rows of the study, and runs that help (references and starts). A run of one
#: role is never used in place of the other.
RUN, HELPER = "run", "reference"

#: Adds a proof to a result, from its method, the fingerprint of the run and its limits.
Prove = Callable[[Method, Result, str, Limits], Result]
#: Called with a point of the trace while a run searches; first with None, when it begins.
Tell = Callable[[TracePoint | None], Any]


class RunStore(Protocol):
    """Where finished runs are kept and found again."""

    def recall(self, problem: Problem, key: str, role: str) -> Result | None:
        """The finished run with a key and a role."""

    def keep(self, result: Result, key: str, role: str, seed: int) -> None:
        """Keep a finished run."""


@dataclass(frozen=True)
class RunRequest:
    """What the runs on one problem share.

    Parameters
    ----------
    problem : Problem
    limits : Limits
        For the runs that help; the runs of the study have their own seeds.
    start : str, Tree, RuleList, Ensemble or None
        What formulations begin with: a predictor, or the method that makes it; "auto" for the
        default one.
    reference : str or None
        Method with which answers are compared; "auto" for the first by `reference_rank`.
    rivals : tuple of str
        Labels of the methods that are compared. A reference that is no formulation of them is
        preferred.
    test : Dataset, optional
        Rows left out of the problem, for the scores.
    """

    problem: Problem
    limits: Limits
    start: str | Shown | Ensemble | None = None
    reference: str | None = None
    rivals: tuple[str, ...] = ()
    test: Dataset | None = None


@dataclass(frozen=True)
class CompletedRun:
    """A run with its identity; `fresh` if it was made now and not found on the shelf."""

    result: Result
    key: str
    seed: int
    fresh: bool
    origin: dict[str, str] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """The row of a study."""
        return {
            **self.result.to_json(),
            "seed": self.seed,
            "problem_key": problem_key(self.result.problem),
            "key": self.key,
        }


class RunContext:
    """Makes the runs of one case; its start and its reference are made once.

    Parameters
    ----------
    case : Case
    shelf : Shelf
        Where finished runs are found and kept.
    judged_by : Bench, optional
        The same problem with its rows and columns in another order, whose reference judges these
        runs too.
    prove : callable, optional
        Adds proofs to the results of the runs.
    """

    def __init__(
        self,
        case: RunRequest,
        run_store: RunStore,
        compared_with: RunContext | None = None,
        prove: Prove | None = None,
    ) -> None:
        self.case = case
        self.run_store = run_store
        self.compared_with = compared_with
        self.prove = prove
        self._reference: tuple[Result | None] | None = None
        self._start: tuple[Start] | None = None
        self._other: tuple[Result | None] | None = None

    @property
    def reference(self) -> Result | None:
        """The result of the reference; None if there is none."""
        if self.compared_with is not None:
            return self.compared_with.reference
        if self._reference is None:
            case = self.case
            formulations = tuple(n for n in case.rivals if not registry.is_engine(n))
            name = choose_reference(case.problem, case.reference, without=formulations)
            self._reference = (None if name is None else self._helper(name),)
        return self._reference[0]

    @property
    def start(self) -> Start:
        """The start; it is the reference's own predictor if the same method is to make it."""
        if self._start is None:
            self._start = (self._make_start(),)
        return self._start[0]

    def _make_start(self) -> Start:
        case = self.case
        start = default_start(case.problem) if case.start == AUTO else case.start
        oracle = self.reference if self.compared_with is None else None
        if oracle is not None and oracle.method == start:
            return start_from(oracle)
        if not isinstance(start, str):
            return find_start(case.problem, start, case.limits)
        return start_from(self._helper(start))

    def _helper(self, name: str) -> Result:
        """A run that helps other runs, kept apart from the rows."""
        case, method = self.case, named_method(name)
        key = run_key(case.problem, method, case.limits, Start(), case.test)
        found = self.run_store.recall(case.problem, key, HELPER)
        if found is None:
            found = attempt(method, case.problem, case.limits, test_data=case.test)
            if found.limit is not None and found.limit.by_user:
                raise KeyboardInterrupt
            self.run_store.keep(found, key, HELPER, case.limits.seed)
        return found

    def prepare(self, name: str) -> None:
        """Make what a run of the method needs: the reference, and the start of a formulation."""
        if self._of(self.reference, named_method(name).label) is None:
            _ = self._reference_of_reference
        if not registry.is_engine(name):
            _ = self.start

    def run(
        self,
        name: str,
        seed: int,
        options: Mapping[str, Any] | None = None,
        tell: Tell | None = None,
        key: str | None = None,
    ) -> CompletedRun:
        """One run of a method, compared with the reference."""
        case = self.case
        modelled = not registry.is_engine(name)
        method = named_method(name, options if modelled else None)
        limits = replace(case.limits, seed=seed)
        # Engines and heuristics get no start.
        begin = self.start if modelled else Start()
        key = key or run_key(case.problem, method, limits, begin, case.test)
        result = self.run_store.recall(case.problem, key, RUN)
        fresh = result is None
        if result is None:
            if tell is not None:
                tell(None)
            result = attempt(method, case.problem, limits, begin, tell, case.test)
        if self.prove is not None:
            proved = self.prove(method, result, key, limits)
            fresh = fresh or proved is not result
            result = proved
        oracle = self._of(self.reference, result.method)
        result = with_agreement(
            result, oracle if oracle is not None else self._reference_of_reference
        )
        return CompletedRun(result, key, seed, fresh, origin(method, case.problem))

    @staticmethod
    def _of(reference: Result | None, label: str) -> Result | None:
        """The reference for a method; None if it is the method itself."""
        return reference if reference is None or reference.method != label else None

    @property
    def _reference_of_reference(self) -> Result | None:
        """The result with which the reference itself is compared."""
        if self.compared_with is not None:
            return self.compared_with._reference_of_reference
        if self._other is None:
            name = (
                None
                if self.reference is None
                else reference_of(self.reference.method, self.case.problem)
            )
            self._other = (None if name is None else self._helper(name),)
        return self._other[0]


def origin(method: Method, problem: Problem) -> dict[str, str]:
    """The packages of third parties, with versions, whose plug-ins a run uses."""
    used = [
        method,
        getattr(method, "formulation", None),
        getattr(method, "solver", None),
        problem.task,
    ]
    found: dict[str, str] = {}
    for plugin in used:
        found |= registry.origin(type(plugin))
    return found
