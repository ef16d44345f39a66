"""Solving a model that a user changed: all limits, and no claim about the problem.

The solver's bounds are about the changed model, whose objective may be another one and whose
constraints may exclude the best tree. So bounds, starts and answers of other methods are not mixed
in: a start is used only if it is a point of the changed model, and the result says what the decoded
tree is worth in the problem, and beside it what the solver claims about the model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import Unsupported
from milp_trees.methods.finish import Clock, finish, versions
from milp_trees.methods.trace import Progress, Trace
from milp_trees.mip.building import look_at_memory
from milp_trees.mip.changed_run import GAP, ChangedRun, linear_matrix, part_of, with_integers
from milp_trees.mip.formulation import Stage
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.method import FEASIBILITY, FormulationMethod
from milp_trees.mip.own_parts import changes
from milp_trees.mip.reading_back import broken, read_back
from milp_trees.mip.run import Run, _infeasible_says, _settings, _sizes, _total_nodes, solved
from milp_trees.mip.run import claim_tolerance as tolerance_of
from milp_trees.mip.solver import Answer, Job
from milp_trees.results.changed import ChangedModel
from milp_trees.results.result import Result, Status

if TYPE_CHECKING:
    from milp_trees.common.limits import Limits
    from milp_trees.methods.watch import Watch
    from milp_trees.mip.built import Built
    from milp_trees.mip.solver import Solver
    from milp_trees.problems.problem import Problem

#: Largest share of the time for values of added variables that complete a start, and seconds.
COMPLETING, COMPLETING_SECONDS = 0.1, 10.0


class BuiltMethod(FormulationMethod):
    """A built model together with a solver.

    Parameters
    ----------
    built : Built
    solver : Solver
    options : mapping, optional
        Solver options, as of `FormulationMethod`.
    values_as_start : bool, default=False
        Whether the values that the variables of the model have are the start.
    """

    def __init__(
        self,
        built: Built,
        solver: Solver,
        options: Mapping[str, Any] | None = None,
        values_as_start: bool = False,
    ) -> None:
        super().__init__(built.formulation, solver, options)
        self.built = built
        self.values_as_start = values_as_start
        self.exact = False  # a greedy tree over all tests is no answer of the changed model

    def unsupported(self, problem: Problem) -> str | None:
        return None  # it was supported when the model was built

    def search(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None
    ) -> Result:
        try:
            found = super().search(problem, limits, start, progress)
        except _Unchanged as same:
            plain = FormulationMethod(self.formulation, self.solver, self.options)
            left = limits.after(same.seconds)
            found = plain.search(problem, left, start, progress)
            times = {"compare": same.seconds, **found.times}
            found = replace(found, times=times, seconds=found.seconds + same.seconds)
            if found.predictor is not None:
                self.built.encode(found.predictor)
        return found

    def _run_of(self, problem: Problem, limits: Limits, progress: Progress | None) -> Run:
        return ChangedRun(problem, limits, Clock(), Trace(progress))

    # -- stages --------------------------------------------------------------------------------------

    def _prepare(self, run: Run, start: Any, watch: Watch) -> str | None:
        assert isinstance(run, ChangedRun)
        built = self.built
        run.view = built.view
        run.units = self.formulation.objective_unit(run.view)
        run.stage = Stage(built.model)
        if not built.complete and built.whole is not built.model:
            raise Unsupported(
                f"The cuts of {self.formulation.label} are found while its model is solved alone, and here it is a part of another one; take a formulation that is complete."
            )
        with run.clock("hand_over"):
            now = linear_matrix(built)
            look_at_memory(watch)
        with run.clock("compare"):
            run.changes = changes(now, [part_of(one) for one in built.parts])
        if not run.changes:
            raise _Unchanged(run.clock.seconds)
        run.compiled = with_integers(now, run.changes)
        look_at_memory(watch)
        why = self.solver.unsupported(run.matrix)
        if not why:
            with run.clock("encode"):
                self._take_start(run, start)
        return why

    def _take_start(self, run: ChangedRun, tree: Any) -> None:
        """Begin with a tree, or with the values of the model, if that is a point of the model."""
        if self.values_as_start:
            values = [v.value for v in run.matrix.columns]
            run.start_info = {"method": "the values of the model", "accepted": None}
        elif tree is not None:
            run.start_info = {"accepted": None, "value": run.problem.value(tree).number}
            before = [v.value for v in run.matrix.columns]
            try:
                self.built.encode(tree)
            except Unsupported as why:
                run.start_info |= {"accepted": False, "reason": str(why)}
                return
            ours = self._ours(run)
            values = [v.value if ours[j] else before[j] for j, v in enumerate(run.matrix.columns)]
        else:
            return
        if None in values:
            self._complete_start(run, values)
            return
        point = np.array(values, dtype=float)
        wrong = broken(run.matrix, point)
        if wrong and not self.values_as_start and not self._ours(run).all():
            # Added variables may have other values for this tree.
            self._complete_start(
                run, [x if o else None for x, o in zip(values, self._ours(run), strict=True)]
            )
        elif wrong:
            run.start_info |= {"accepted": False, "reason": wrong[0]}
        else:
            run.start = point

    def _ours(self, run: ChangedRun) -> np.ndarray:
        """Which columns are the formulation's."""
        assert run.changes is not None
        ours = np.zeros(run.matrix.n_variables, dtype=bool)
        ours[run.changes.ours] = True
        return ours

    def _complete_start(self, run: ChangedRun, values: list[float | None]) -> None:
        """Values of the variables that have none, by the solver, within a share of the time."""
        known = np.array([x is not None for x in values])
        fixed = np.array([0.0 if x is None else x for x in values])
        model = run.matrix
        wrong = _bounds_broken(model, known, fixed)
        if wrong:
            run.start_info |= {"accepted": False, "reason": wrong}
            return
        lower, upper = np.where(known, fixed, model.lower), np.where(known, fixed, model.upper)
        left = run.deadline.left
        time = COMPLETING_SECONDS if left is None else min(COMPLETING * left, COMPLETING_SECONDS)
        limits = replace(run.limits, time=time, abs_gap=GAP, log_file=None)
        job = Job(replace(model, lower=lower, upper=upper), limits, None, self.solver_options(run))
        answer = solved(self.solver.name, job, None)
        if answer.x is not None and not broken(model, model.rounded(answer.x)):
            run.start = model.rounded(answer.x)
            return
        reason = f"{self.solver.name} found no values of the other variables for it in {time:.3g} seconds."
        if answer.status is Status.INFEASIBLE:
            reason = "It breaks the changed model, whatever the added variables are."
        run.start_info |= {"accepted": False, "reason": reason}

    def encode_known(self, run: Run, start: Any) -> None:
        assert isinstance(run, ChangedRun)
        if run.point is not None:
            run.start = run.point

    def _solve(self, run: Run) -> None:
        from milp_trees.mip.cut_loop import solve_by_cuts

        separator = None if self.built.complete else self._separator(run)
        with run.clock("solve"):
            if separator is None:
                self.solve_once(run)
            else:
                solve_by_cuts(self, run, separator)

    def _separator(self, run: Run) -> Any:
        return self.formulation.separator(run.m, run.matrix)

    def keep_bound(self, run: Run, answer: Answer, relax: bool, finished: bool) -> None:
        assert answer.bound is not None
        if answer.bound >= run.bound:
            run.bound, run.prover = answer.bound, f"{self.solver.name} {answer.version}".strip()

    def decode(self, run: Run, answer: Answer) -> None:
        """Keep a solver's point if it satisfies the changed model; its tree is read at the end."""
        assert isinstance(run, ChangedRun)
        assert answer.x is not None
        x = run.matrix.rounded(answer.x)
        violation = run.matrix.violation(x)
        if violation > FEASIBILITY:
            run.message = f"{self.solver.name} returned a point that breaks a row by {violation:g}; it is not used."
        elif run.objective(x) < run.incumbent_cost and (
            self.built.complete or self._complete(run, answer.x)
        ):
            run.point, run.incumbent_cost = x, run.objective(x)

    # -- the result ----------------------------------------------------------------------------------

    def _better(self, run: Run) -> Any:
        # A tree is a point only of a model without other variables and without cuts to come.
        assert isinstance(run, ChangedRun)
        return super()._better(run) if self.built.complete and self._ours(run).all() else None

    def _keep(self, run: Run) -> None:
        """A model that the user changed is not kept for other problems."""

    def _result_of(self, run: Run) -> Result:
        assert isinstance(run, ChangedRun)
        tree, wrong, note = None, "", ""
        if run.point is not None:
            with run.clock("decode"):
                what = run.changes
                priced = what is not None and what.other_costs and not what.loosened
                read = [read_back(one, run.matrix, run.point, priced) for one in self.built.parts]
            tree, note = read[0].predictor, read[0].note
            wrong, costs = next((r.wrong for r in read if r.wrong), ""), self._dearer(run, tree)
            if run.changes is not None and run.changes.loosened:
                note = note or f"{costs} {run.changes.loosened[0]}".strip() * bool(costs)
            else:
                wrong = wrong or costs
        status = _status(run)
        what = run.changes
        message = wrong or run.message or note or self._why_none(run, status)
        accepted = [a.start_accepted for a in run.answers if a.start_accepted is not None]
        if run.start_info.get("accepted", False) is None:
            run.start_info["accepted"] = accepted[-1] if accepted else None
        last = run.answers[-1] if run.answers else None
        result = finish(
            run.problem,
            self.name,
            tree,
            bound=None,
            claims_optimal=False,
            proved_by=None,
            clock=run.clock,
            limit=run.stopped,
            model_size=_sizes(run),
            trace=run.trace,
            nodes=_total_nodes(run.answers),
            start=run.start_info,
            log="\n".join(a.log for a in run.answers if a.log),
            message=message,
            options=_settings(self, run),
            versions=versions(**{self.solver.name: last.version if last else ""}),
        )
        changed = ChangedModel(
            status,
            objective=run.incumbent_cost if run.point is not None else None,
            bound=run.bound if math.isfinite(run.bound) else None,
            proved_by=_prover(self.solver.name, run, status),
            constraints=() if what is None else what.constraints,
            variables=() if what is None else what.variables,
            changes=() if what is None else what.sentences,
            objective_changed=what is not None and what.objective,
            values=_added_values(run),
            kept=None if run.point is None else not wrong,
        )
        if result.status is Status.ERROR and what is not None and what.loosened and not wrong:
            message = f"The changed model allows what the problem does not: {' '.join(run.problem.violations(tree))} ({what.loosened[0]})"
            result = replace(result, status=Status.NO_SOLUTION, message=message, solutions=())
        elif wrong or status is Status.ERROR:
            result = replace(result, status=Status.ERROR, message=message)
        return replace(result, changed=changed)

    def _dearer(self, run: ChangedRun, tree: Any) -> str:
        """The sentence that a tree costs more than the model says, if its objective is the same."""
        assert run.changes is not None
        if run.changes.objective:
            return ""
        claimed = run.incumbent_cost * run.units
        actual = run.view.objective(tree)
        if actual <= claimed + tolerance_of(run.view, claimed):
            return ""
        return f"The model's objective is {claimed:.9g} but the decoded {run.problem.space.noun} costs {actual}."

    def _why_none(self, run: ChangedRun, status: Status) -> str:
        """The sentence for a run without a point, and the solver's messages of any other."""
        said = next((a.message for a in reversed(run.answers) if a.message), "")
        if status is not Status.INFEASIBLE:
            return said
        by = _infeasible_says(self.solver.name, run.answers[-1])
        cause = run.changes.restricts if run.changes is not None else ""
        added = f"; what was added is {cause}" if cause else ""
        return " ".join(
            filter(
                None,
                [
                    f"No point of the changed model is feasible, says {by}{added}; built.why_infeasible() names rows that contradict each other.",
                    said,
                ],
            )
        )


class _Unchanged(Exception):
    """The model is the one that was built, so that it is solved like any other of its kind."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


def _bounds_broken(model: MatrixModel, known: np.ndarray, values: np.ndarray) -> str:
    """The sentence that a known value is out of its bounds; empty if none is."""
    out = known & ((values < model.lower - 1e-9) | (values > model.upper + 1e-9))
    if not out.any():
        return ""
    j = int(out.argmax())
    return f"The variable {model.columns[j].name} would be {values[j]:g}, out of its bounds."


def _status(run: ChangedRun) -> Status:
    """What is known about the changed model."""
    answers = run.answers
    if any(a.status is Status.ERROR for a in answers):
        return Status.ERROR
    if not answers:
        return Status.NO_SOLUTION
    if run.point is None:
        return Status.INFEASIBLE if answers[-1].status is Status.INFEASIBLE else Status.NO_SOLUTION
    last = answers[-1].status is Status.OPTIMAL and run.stopped is None
    return Status.OPTIMAL if last else Status.FEASIBLE


def _prover(solver: str, run: ChangedRun, status: Status) -> str | None:
    if status is Status.INFEASIBLE:
        return _infeasible_says(solver, run.answers[-1])
    return run.prover if math.isfinite(run.bound) else None


def _added_values(run: ChangedRun) -> dict[str, float]:
    """Values of the added variables at the point."""
    if run.point is None or run.changes is None:
        return {}
    # A zero has no sign.
    return {
        run.matrix.columns[j].name: float(run.point[j]) + 0.0 for j in run.changes.added.tolist()
    }
