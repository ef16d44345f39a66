"""All instances of one problem: its models are written, solved from their files, and registered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from milp_trees.common.errors import Unsupported, VerificationError
from milp_trees.common.limits import Limits
from milp_trees.exports.library.known import Known, from_file, known_of
from milp_trees.exports.library.proofs import STATEMENT, statement_hash
from milp_trees.exports.library.registry import ROUNDING, Instance, gap_to, instance_name, sha256
from milp_trees.exports.library.solving import read_and_solve, relaxation_bound
from milp_trees.exports.library.sources import source_of
from milp_trees.exports.model_files.export import Export, prepare
from milp_trees.mip.linear.solutions import write_solution
from milp_trees.mip.solver import Answer
from milp_trees.results.result import Result, Status
from milp_trees.tasks.comparing import solver_slack, units
from milp_trees.verification.checking import check_file
from milp_trees.verification.proof_files import statement, write_proof

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


@dataclass(frozen=True)
class Effort:
    """What a build may use.

    Parameters
    ----------
    solver_seconds : float, default=10
        For each solver on each file; also the limit that the classes of difficulty refer to.
    proof_seconds : float, default=30
        For each method that is asked for the answer of a problem, and for each linear relaxation.
    memory_mb : int or None, default=4000
    """

    solver_seconds: float = 10.0
    proof_seconds: float = 30.0
    memory_mb: int | None = 4000

    @property
    def limits(self) -> Limits:
        """The limits of a solver on a file; it has to close the gap."""
        return Limits(time=self.solver_seconds, memory_mb=self.memory_mb, abs_gap=0.0)


class About(NamedTuple):
    """What a specification says about a problem; `licence` is that of its data, if stated."""

    name: str
    group: str
    kind: str
    licence: str = ""


@dataclass(frozen=True, eq=False)
class Made:
    """The instances of a problem, and the formulations that could not be written, with reasons."""

    instances: tuple[Instance, ...]
    refused: tuple[Mapping[str, str], ...]


@dataclass(eq=False)
class Draft:
    """One instance while its problem is being worked on."""

    export: Export
    formulation: str
    path: Path
    lp_bound: float | None
    answers: dict[str, Answer]
    solution: Path | None = None
    proof: Path | None = None
    objective: float | None = None
    notes: list[str] = field(default_factory=list)


def make_problem(
    about: About,
    problem: Problem,
    formulations: Iterable[str],
    folder: Path,
    effort: Effort,
    say: Callable[[str], None] = lambda news: None,
) -> Made:
    """Write, solve and describe all instances of a problem."""
    say("proving")
    known = known_of(problem, effort.proof_seconds, effort.memory_mb)
    stated = _statement(known)
    drafts, refused = [], []
    for formulation in formulations:
        say(formulation)
        try:
            export = prepare(problem, formulation, effort.limits)
        except Unsupported as why:
            refused.append({"problem": about.name, "formulation": formulation, "reason": str(why)})
            continue
        path = folder / f"{instance_name(about.name, formulation)}.mps.gz"
        if stated:
            export.described["comment"] = f"{STATEMENT} {stated}"
        export.write(path)
        answers = read_and_solve(export.file, path, effort.limits)
        longer = replace(effort.limits, time=max(effort.solver_seconds, effort.proof_seconds))
        bound = relaxation_bound(export.file, longer)
        draft = Draft(export, formulation, path, bound, answers)
        drafts.append(draft)
        for solver, answer in answers.items():
            known.take(_as_result(draft, solver, answer))
    for draft in drafts:
        _write_best(draft, known)
    easy = [draft.formulation for draft in drafts if _solved(draft)]
    rows = [_instance(about, draft, known, easy, stated) for draft in drafts]
    return Made(tuple(rows), tuple(refused))


def _as_result(draft: Draft, solver: str, answer: Answer) -> Result:
    """A solver's answer to a file, with its point decoded and the value recomputed."""
    export = draft.export
    if answer.status is Status.ERROR:
        raise VerificationError(f"{solver} failed on {draft.path.name}: {answer.message}")
    predictor = None
    if answer.x is not None:
        x = export.file.model.rounded(answer.x)[: export.matrix.n_variables]
        if export.matrix.violation(x) <= ROUNDING * 100:
            export.matrix.load(x)
            predictor = export.problem.space.simplify(
                export.formulation.decode(export.m), export.m.view
            )
    status = answer.status
    if status is Status.OPTIMAL and predictor is None:
        status = Status.NO_SOLUTION
    natural = None if answer.bound is None else Fraction(export.m.view.to_value(answer.bound))
    found = from_file(
        export.problem, draft.formulation, solver, predictor, status, natural, answer.seconds
    )
    if found.value is not None and status is Status.OPTIMAL:
        cost, claimed = float(units(found.value, export.m.view)), answer.objective
        assert claimed is not None
        if abs(cost - claimed) > solver_slack(export.m.view, claimed):
            raise VerificationError(
                f"{solver} proves the optimum {claimed:.12g} of {draft.path.name}, but its point decodes to a model of {cost:.12g}."
            )
    return found


def _write_best(draft: Draft, known: Known) -> None:
    """Write the best known solution of a file, if there is one."""
    target = draft.path.with_name(draft.path.name.removesuffix(".mps.gz") + ".sol")
    for old in (target, target.with_suffix(".proof")):
        old.unlink(missing_ok=True)
    if known.best is None or known.best.predictor is None:
        return
    point = draft.export.point(known.best)
    write_solution(draft.export.file, point, target)
    draft.solution, draft.objective = target, draft.export.file.model.objective(point)
    if known.claims is not None:
        proof = target.with_suffix(".proof")
        write_proof(proof, known.problem, known.best, known.claims, rows=True)
        if not check_file(proof).proved:
            raise VerificationError(f"{proof.name} does not prove the optimum that it states.")
        draft.proof = proof


def _solved(draft: Draft) -> list[str]:
    return [
        solver
        for solver, answer in draft.answers.items()
        if answer.status in (Status.OPTIMAL, Status.INFEASIBLE)
    ]


def _statement(known: Known) -> str:
    """The hash of what the proof of an answer is about; empty without a proof."""
    if known.claims is None or known.best is None:
        return ""
    return statement_hash(statement(known.problem, known.best, known.claims, rows=True))


def _instance(about: About, draft: Draft, known: Known, easy: list[str], stated: str) -> Instance:
    """The row of the registry."""
    export, model = draft.export, draft.export.file.model
    binary = model.integer & (model.lower >= 0) & (model.upper <= 1)
    status = "easy" if _solved(draft) else "hard" if known.proven else "open"
    described = export.described["objective"]
    best, source = known.best, source_of(export.problem.dataset.source, about.licence)
    value = None if best is None else best.value
    roots = [a.root_bound for a in draft.answers.values() if a.root_bound is not None]
    root = max(roots, default=None)
    if root is not None and draft.objective is not None:
        root = min(root, draft.objective)  # above it, it only means that nothing better exists
    return Instance(
        instance=draft.path.name.removesuffix(".mps.gz"),
        status=status,
        claim=known.claim,
        objective=draft.objective,
        bound=_bound(draft, known),
        variables=model.n_variables,
        binaries=int(binary.sum()),
        integers=int((model.integer & ~binary).sum()),
        continuous=int((~model.integer).sum()),
        constraints=model.n_rows,
        nonzeros=int(model.A.nnz),
        lp_bound=draft.lp_bound,
        root_bound=root,
        integrality_gap=gap_to(draft.objective, draft.lp_bound),
        root_gap=gap_to(draft.objective, root),
        solvers="; ".join(_said(solver, answer) for solver, answer in draft.answers.items()),
        easy_as="" if status == "easy" else "; ".join(f for f in easy if f != draft.formulation),
        value=""
        if value is None
        else repr(value.number)
        if value.exact is None
        else str(value.exact),
        unit=export.problem.task.unit,
        sense=export.problem.task.sense,
        offset=described["offset"],
        scale=described["scale"],
        tolerance=float(export.m.view.tolerance),
        proved_by=known.proved_by,
        proof_seconds=round(best.seconds, 3) if best is not None and known.proven else None,
        evidence=known.evidence,
        derived_by="; ".join(known.derived_by),
        group=about.group,
        kind=about.kind,
        problem=about.name,
        formulation=draft.formulation,
        source=source.text,
        licence=source.licence,
        published=source.published,
        tags=" ".join(_tags(about.kind, export)),
        bytes=draft.path.stat().st_size,
        model_sha256=sha256(draft.path),
        solution_sha256="" if draft.solution is None else sha256(draft.solution),
        proof_sha256="" if draft.proof is None else sha256(draft.proof),
        statement_sha256="" if draft.proof is None else stated,
        runs={solver: _run(answer) for solver, answer in draft.answers.items()},
    )


def _bound(draft: Draft, known: Known) -> float | None:
    """The best bound of the file: that of the problem, or of the solvers on this file."""
    if known.claim == "inf":
        return None
    if known.proven:
        return draft.objective
    bounds = [a.bound for a in draft.answers.values() if a.bound is not None]
    if known.bound is not None:
        scale = draft.export.problem.scale
        view, low = draft.export.m.view, known.bound
        # From the units of the problem to those of the file; both are minimised.
        zero, one = (Fraction(scale.from_value(view.to_value(k))) for k in (0, 1))
        bounds.append(float((low - zero) / (one - zero)))
    if draft.lp_bound is not None:
        bounds.append(draft.lp_bound)
    return max(bounds, default=None)


def _said(solver: str, answer: Answer) -> str:
    if answer.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return f"{solver} {answer.seconds:.2g} s"
    limit = answer.limit.value if answer.limit is not None else answer.status.value
    return f"{solver} {limit} limit" if answer.limit is not None else f"{solver} {limit}"


def _run(answer: Answer) -> dict[str, Any]:
    return {
        "status": answer.status.value,
        "limit": None if answer.limit is None else answer.limit.value,
        "objective": answer.objective,
        "bound": answer.bound,
        "root_bound": answer.root_bound,
        "seconds": round(answer.seconds, 3),
        "nodes": answer.nodes,
        "version": answer.version,
    }


def _tags(kind: str, export: Export) -> list[str]:
    problem, plugin = export.problem, export.formulation
    side = getattr(export.m.view, "side", ())
    depth = getattr(problem.space, "max_depth", None)
    return [
        kind,
        problem.task.name,
        *([f"depth{depth}"] if depth is not None else []),
        *(["side-constraints"] if len(side) else []),
        *(
            ["integral-relaxation"]
            if plugin.has_integral_relaxation(export.m.view, problem.space)
            else []
        ),
        *(["dp-derived"] if plugin.dp_derived else []),
    ]
