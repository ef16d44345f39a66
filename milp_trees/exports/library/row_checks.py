"""Contradictions within a registry, and between its rows and what is known of what they name."""

from __future__ import annotations

import gzip
import re
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from milp_trees.common.errors import MilpTreesError
from milp_trees.exports.library.proofs import STATEMENT
from milp_trees.exports.library.registry import ROUNDING, Instance, gap_to, instance_name, near
from milp_trees.exports.library.sources import USERS_COPY, known_licence
from milp_trees.mip.registry import registry
from milp_trees.results.result import Status
from milp_trees.studies.planning.recipes import kinds

#: Statuses of a solver that has settled a file.
SETTLED = (Status.OPTIMAL.value, Status.INFEASIBLE.value)


def of_row(one: Instance) -> Iterator[str]:
    """Contradictions between the columns of one row."""
    name = one.instance
    settled = [solver for solver, run in one.runs.items() if run["status"] in SETTLED]
    proven = one.claim in ("opt", "inf")
    status = "easy" if settled else "hard" if proven else "open"
    if one.status != status:
        yield f"{name} is called {one.status}, but by what the registry says of its solvers and proofs it is {status}."
    if (one.objective is None) != (one.claim in ("inf", "unkn")) or (one.objective is None) != (
        not one.solution_sha256
    ):
        yield f"{name} has the claim ={one.claim}=, which does not fit its objective and its solution."
    if one.claim == "opt" and one.objective != one.bound:
        yield f"{name} is called optimal with the objective {one.objective} and the bound {one.bound}."
    if proven and not one.proved_by:
        yield f"{name} is called proven, and nobody is named who proved it."
    if one.proof_sha256 and one.claim != "opt":
        yield f"{name} is called ={one.claim}=, and its proof is about an optimum."
    if (one.evidence == "proved by file") != bool(proven and one.proof_sha256):
        yield f"{name} is called {one.evidence!r}, and it has {'a' if one.proof_sha256 else 'no'} proof file."
    derived = proven and one.derived_by and not one.proof_sha256
    if (one.evidence == "derived again") != bool(derived):
        yield f"{name} is called {one.evidence!r}, but derived by {one.derived_by or 'nobody'}."
    for what, bound, gap in (
        ("integrality_gap", one.lp_bound, one.integrality_gap),
        ("root_gap", one.root_bound, one.root_gap),
    ):
        if gap_to(one.objective, bound) != gap:
            yield f"{name} has the {what} {gap}, but its objective and bound give {gap_to(one.objective, bound)}."
    if one.objective is not None:
        for what, bound in (
            ("bound", one.bound),
            ("lp_bound", one.lp_bound),
            ("root_bound", one.root_bound),
        ):
            if (
                bound is not None
                and bound > one.objective
                and not near(bound, one.objective, one.tolerance)
            ):
                yield f"{name} has the {what} {bound:.12g} above its objective {one.objective:.12g}."
        if not one.value:
            yield f"{name} has an objective and no value."
            return
        natural = float(Fraction(one.offset) + Fraction(one.scale) * Fraction(one.objective))
        if not near(natural, float(Fraction(one.value))):
            yield f"{name} has the value {one.value}, but its objective means {natural:.12g}."


def of_problems(instances: Sequence[Instance]) -> Iterator[str]:
    """Contradictions between the forms of one problem, which have one answer."""
    first: dict[str, Instance] = {}
    for one in instances:
        easy = [o.formulation for o in instances if o.problem == one.problem and o.status == "easy"]
        if sorted(filter(None, one.easy_as.split("; "))) != sorted(
            [] if one.status == "easy" else easy
        ):
            yield f"{one.instance} is called easy as {one.easy_as or 'nothing else'}, and the problem is easy as {', '.join(easy) or 'nothing'}."
    for one in instances:
        other = first.setdefault(one.problem, one)
        if one.claim != other.claim:
            yield f"{one.instance} is ={one.claim}= and {other.instance} is ={other.claim}=, but they are the same problem."
        elif (
            one.value
            and other.value
            and not near(float(Fraction(one.value)), float(Fraction(other.value)), one.tolerance)
        ):
            yield f"{one.instance} has the value {one.value} and {other.instance} has {other.value}, but they are the same problem."


def of_names(one: Instance, solvers: Collection[str]) -> Iterator[str]:
    """Contradictions between what a row names and what is known."""
    name = one.instance
    known = known_licence(one.source)
    if known is not None and one.licence != known:
        yield f"{name} has the licence {one.licence!r}, and that of {one.source} is {known!r}."
    if one.published != (known is not None or one.licence != USERS_COPY):
        yield f"{name} has the licence {one.licence!r}, and is {'' if one.published else 'not '}called published."
    if one.unit == "" or one.sense not in ("min", "max"):
        yield f"{name} has the unit {one.unit!r} and the sense {one.sense!r}."
    for prover in filter(None, (one.proved_by, *one.derived_by.split("; "))):
        yield from _of_prover(one, prover)
    message = [part.partition(" ")[0] for part in one.solvers.split("; ") if part]
    if message != list(one.runs):
        yield f"{name} names the solvers {', '.join(message) or 'none'}, and has runs of {', '.join(one.runs) or 'none'}."
    if instance_name(one.problem, one.formulation) != name:
        yield f"{name} is not the name of the problem {one.problem!r} as {one.formulation!r}."
    if one.kind not in kinds():
        yield f"{name} is of the kind {one.kind!r}, which there is not."
    exact = bool(one.value) and not set(".e") & set(one.value)
    if one.tolerance < 0 or (exact and one.tolerance > 0):
        yield f"{name} has the tolerance {one.tolerance}, and {'an exact' if exact else 'the'} value {one.value}."
    if (one.proof_seconds or 0) < 0:
        yield f"{name} has the seconds {one.proof_seconds}."
    roots = [run["root_bound"] for run in one.runs.values() if run.get("root_bound") is not None]
    root = max(roots, default=None)
    if root is not None and one.objective is not None:
        root = min(root, one.objective)
    if one.runs and root != one.root_bound:
        yield f"{name} has the root_bound {one.root_bound}, and its runs give {root}."
    for solver, run in one.runs.items():
        if solver not in solvers:
            yield f"{name} has a run of {solver}, which is no solver of this library."
        yield from _of_run(one, solver, run)


def _of_prover(one: Instance, prover: str) -> Iterator[str]:
    """A prover is a method, or a solver that settled the file of a formulation."""
    label, at, solver = prover.rpartition("@")
    if prover.startswith("the data"):
        return
    try:
        registry.method(prover)
    except MilpTreesError:
        yield f"{one.instance} is said to be proved by {prover!r}, and there is no such method."
        return
    settled = one.runs.get(solver, {}).get("status") in SETTLED
    if at and label == one.formulation and one.runs and not settled:
        yield f"{one.instance} is said to be proved by {prover}, whose run did not settle it."


def _of_run(one: Instance, solver: str, run: Any) -> Iterator[str]:
    """What a run says, against what is claimed."""
    who = f"{one.instance} has a run of {solver}"
    if run["status"] not in [status.value for status in Status]:
        yield f"{who} with the status {run['status']!r}."
    if run["status"] == Status.INFEASIBLE.value and one.claim != "inf":
        yield f"{who} that proves it infeasible, and is called ={one.claim}=."
    if run["status"] == Status.OPTIMAL.value and one.claim != "opt":
        yield f"{who} that proves an optimum, and is called ={one.claim}=."
    if run["status"] in SETTLED and run.get("limit") is not None:
        yield f"{who} that settled it, and was stopped by its {run['limit']} limit."
    if min(run.get("seconds") or 0, run.get("nodes") or 0) < 0:
        yield f"{who} with {run.get('seconds')} seconds and {run.get('nodes')} nodes."
    found, bound = run.get("objective"), run.get("bound")
    slack = max(one.tolerance, ROUNDING * max(1.0, abs(one.objective or 0)))
    if run["status"] == Status.OPTIMAL.value and found is not None and one.objective is not None:
        if not near(found, one.objective, one.tolerance):
            yield f"{who} with the optimum {found:.12g}, and the objective {one.objective:.12g}."
    elif found is not None and one.bound is not None and found < one.bound - slack:
        yield f"{who} with the objective {found:.12g}, below the bound {one.bound:.12g}."
    if bound is not None and one.objective is not None and bound > one.objective + slack:
        yield f"{who} with the bound {bound:.12g}, above the objective {one.objective:.12g}."


def of_comments(one: Instance, folder: Path) -> Iterator[str]:
    """What the model file says of itself, against the row."""
    message = comments(folder / one.model)
    direction = {"min": "minimised", "max": "maximised"}.get(one.sense)
    value = f"Value in {one.unit} ({direction}) = {one.offset} + {one.scale} * objective"
    formulation = f"Formulation: {one.formulation.partition(':')[0]}"
    for what, text in (("value", value), ("formulation", formulation)):
        if _plain(text) not in message:
            yield f"{one.model} does not state the {what} of the registry, {text!r}."
    if one.proof and _plain(f"{STATEMENT} {one.statement_sha256}") not in message:
        yield f"{one.proof} proves another statement than that of {one.model}."


def comments(path: Path) -> str:
    """The comments of a model file, without spaces, because long ones are wrapped."""
    with gzip.open(path, "rt", encoding="ascii", errors="replace") as file:
        return _plain("".join(line[1:] for line in file if line.startswith("*")))


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", text.encode("ascii", "backslashreplace").decode())
