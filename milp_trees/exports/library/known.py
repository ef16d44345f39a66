"""What is known about the answer of a problem, before and after its model files are solved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from milp_trees.common.errors import Unsupported, VerificationError
from milp_trees.common.limits import Limits, Stopped
from milp_trees.methods.claims import Claims
from milp_trees.mip.registry import registry
from milp_trees.results.result import Certificate, Result, Solution, Status, bound_of
from milp_trees.solving.agreement import built_on, choose_reference
from milp_trees.solving.estimate import named_formulation
from milp_trees.tasks.comparing import crosses, meets, units
from milp_trees.verification.derive import (
    derive,
    methods_for,
    refuse_contradiction,
    run_again,
)
from milp_trees.verification.verdict import Verdict

if TYPE_CHECKING:
    from fractions import Fraction

    from milp_trees.problems.problem import Problem

#: How many methods are asked, one after the other, until one of them proves the answer.
MOST_ASKED = 3
#: Proof files hold the rows of the data; larger data get none.
MOST_CELLS = 1_000_000


@dataclass(eq=False)
class Known:
    """The best answer that is known to a problem, and who proved it by which means.

    Parameters
    ----------
    problem : Problem
    best : Result or None
        The proof, if there is one; otherwise the result with the best value.
    bound : Fraction or None
        The best proven bound of all methods, in units of the problem's scale, always minimised.
    bound_by : str
        The method that claims it.
    derived_by : list of str
        Methods that proved the same answer, and share nothing with the maker of `best`.
    claims : Claims or None
        A proof of the bound of `best`, for a proof file.
    """

    problem: Problem
    best: Result | None = None
    bound: Fraction | None = None
    bound_by: str = ""
    derived_by: list[str] = field(default_factory=list)
    claims: Claims | None = None

    @property
    def proven(self) -> bool:
        return self.best is not None and (
            self.best.optimal or self.best.status is Status.INFEASIBLE
        )

    @property
    def claim(self) -> str:
        """The word for the `.solu` file; see `registry.CLAIMS`."""
        if self.best is None:
            return "unkn"
        if self.best.status is Status.INFEASIBLE:
            return "inf"
        return "opt" if self.best.optimal else "best"

    @property
    def proved_by(self) -> str:
        if self.best is None or not self.proven:
            return self.bound_by
        return self.best.method

    @property
    def evidence(self) -> str:
        """The word for how the claim is known."""
        if not self.proven:
            return "nothing proved"
        if self.claims is not None:
            return "proved by file"
        return "derived again" if self.derived_by else "claimed"

    def take(self, result: Result) -> None:
        """Learn from another result, which must not contradict what is known."""
        best = self.best
        if best is not None:
            refuse_contradiction(best, result, result.method)
            refuse_contradiction(result, best, best.method)
        scale = self.problem.scale
        stated = bound_of(result)
        if stated is not None and result.status is not Status.INFEASIBLE:
            bound = scale.from_value(stated)
            if self.bound is None or bound > self.bound:
                self.bound, self.bound_by = bound, result.method
        proof = result.optimal or result.status is Status.INFEASIBLE
        if self.proven:
            assert best is not None
            if proof and not built_on(result.method) & built_on(best.method):
                self.derived_by = list(dict.fromkeys([*self.derived_by, result.method]))
            return
        better = result.value is not None and (
            best is None
            or best.value is None
            or units(result.value, scale) < units(best.value, scale)
        )
        if proof or better:
            self.best = result


def known_of(problem: Problem, seconds: float, memory_mb: int | None = None) -> Known:
    """Ask methods for the answer, and derive a proven answer again by an independent one."""
    known = Known(problem)
    limits = Limits(time=seconds, memory_mb=memory_mb)
    first = choose_reference(problem, models=False)
    others, _ = methods_for(problem, first or "")
    for name in dict.fromkeys([*([first] if first else []), *others][: MOST_ASKED + 1]):
        result = run_again(name, problem, limits)
        if isinstance(result, str):
            continue
        known.take(result)
        if known.proven:
            break
    if known.proven:
        assert known.best is not None
        again = derive(known.best, limits)
        if again.verdict is Verdict.DERIVED and again.by is not None:
            known.derived_by.append(again.by)
        known.claims = _claims_of(known.best, limits)
    return known


def _claims_of(best: Result, limits: Limits) -> Claims | None:
    """The proof of an optimum by the method that made it; None if it writes none."""
    method, data = registry.method(best.method), best.problem.dataset
    if not method.proves or not best.optimal or data.n_rows * data.n_features > MOST_CELLS:
        return None
    try:
        claims = method.prove(best.problem, best, limits)
    except (Unsupported, Stopped):
        return None
    # What side rows leave of the gap is no proof of the optimum.
    return None if claims.multipliers else claims


def from_file(
    problem: Problem,
    formulation: str,
    solver: str,
    predictor: object,
    status: Status,
    bound: Fraction | None,
    seconds: float,
) -> Result:
    """The answer of a solver to a model file as a result of the formulation with that solver."""
    label = f"{named_formulation(formulation).label}@{solver}"
    solutions: tuple[Solution, ...] = ()
    if predictor is not None:
        broken = problem.violations(predictor)
        if broken:
            raise VerificationError(
                f"The point of {label} decodes to a model that breaks a rule: {broken[0]}"
            )
        solutions = (Solution(predictor, problem.value(predictor)),)
    if solutions and status is Status.OPTIMAL and bound is not None:
        # The solver's float, up to its tolerances; an optimum whose bound is below it is none.
        own, scale = solutions[0].value, problem.scale
        if crosses(float(bound), own, scale):
            raise VerificationError(
                f"{label} claims the bound {float(bound):.12g}, but its own point decodes to a model of {own}."
            )
        status = status if meets(float(bound), own, scale) else Status.FEASIBLE
    value = solutions[0].value.exact if solutions else None
    exact = value if status is Status.OPTIMAL and value is not None else None
    stated = exact if exact is not None else bound
    return Result(
        problem,
        label,
        status,
        solutions=solutions,
        certificate=Certificate(
            None if stated is None else float(stated), exact, label, ("value recomputed",)
        ),
        seconds=seconds,
    )
