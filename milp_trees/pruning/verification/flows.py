"""Proof files of prunings: flows, which `check_flow` checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, VerificationError
from milp_trees.common.limits import one_thread
from milp_trees.methods.claims import Claims
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.verification import check_flow
from milp_trees.pruning.verification.statement import curve_statement, pruning_statement
from milp_trees.pruning.view import NodeGains
from milp_trees.verification import proof_reading
from milp_trees.verification.derive import Derivation
from milp_trees.verification.proof_files import read_statement
from milp_trees.verification.proof_kinds import Checked, ProofKind
from milp_trees.verification.proved import proved_with
from milp_trees.verification.verdict import Verdict

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem
    from milp_trees.pruning.engines.min_cut.curve import PruningCurve
    from milp_trees.results.result import Result


class Flows(ProofKind):
    """A flow from splits to what they need, for a pruning or for all prunings of a curve."""

    space = PrunedEnsembles.name

    def takes(self, stated: dict[str, Any]) -> bool:
        return stated.get("kind") in check_flow.KEYS

    def check(
        self, proof: str | Path, stated: dict[str, Any], data: str | Path | None, slowly: bool
    ) -> Checked:
        if slowly:
            why = "The second checker knows no flows; leave out --slowly."
            raise proof_reading.Unreadable(why)  # type: ignore[no-untyped-call]
        text = proof_reading.unpacked(proof).decode().split("\n")
        with one_thread():
            found = check_flow.check([line for line in text if line.strip()])
        return Checked(found.proved, found.bound, found.value, found.sentence)

    def statement(self, problem: Problem, result: Result, claims: Claims) -> dict[str, Any]:
        return pruning_statement(problem, result, claims)

    def proved_by(self, result: Result, proof: str | Path) -> Derivation | str:
        if result.curve is not None:
            return _of_curve(result, proof)
        return proved_with(result, proof, _checked)


FLOWS = Flows()


def _checked(result: Result, proof: str | Path, lines: list[str]) -> tuple[NodeGains, Any, str]:
    """The checker's verdict on the flow of a pruning."""
    view, file = result.problem.view(NodeGains), read_statement(proof)
    claims = Claims([], denominator=file["denominator"], notes={"bound": file["bound"]})
    stated = pruning_statement(result.problem, result, claims)
    found = check_flow.check([json.dumps(stated), *lines])
    return view, found, f"the flow of {Path(proof).name} keeps to the gains and prices"


def _of_curve(result: Result, proof: str | Path) -> Derivation:
    """The pruning of a result with a curve is the one that the curve has for the λ of the task."""
    verdict, name, message = proved_curve(result.curve, proof)
    view, kept = result.problem.view(NodeGains), result.predictor.kept  # type: ignore[union-attr]
    if view.Z(kept) != view.Z(result.curve.keep(view.lam)):
        raise VerificationError(
            f"The pruning of the result is not that of its curve for λ = {view.lam}."
        )
    return Derivation(verdict, "optimal", message, name, True)


def proved_curve(curve: PruningCurve, proof: str | Path) -> tuple[Verdict, str, str]:
    """Check a proof file about all prunings of a curve, on its own gains and prices."""
    name = Path(proof).name
    if not Path(proof).is_file():
        raise DataError(f"There is no proof file {proof}.")
    try:
        lines = proof_reading.unpacked(proof).decode().split("\n")[1:]
        own = curve_statement(curve.view, curve)
        found = check_flow.check([json.dumps(own), *lines])
    except proof_reading.Wrong as wrong:
        raise VerificationError(
            f"The proof {proof} does not hold for this curve: {wrong}"
        ) from None
    except proof_reading.FAULTS as error:
        raise VerificationError(f"The proof {proof} cannot be read: {error}") from None
    if found.bound != len(curve.vertices):
        raise VerificationError(
            f"The proof {proof} is about {found.bound} prunings, and the curve has {len(curve.vertices)}."
        )
    message = f"Proved by file: the flows of {name} keep to the gains and prices of this ensemble, and prove each of the {found.bound} prunings optimal for its λ."
    return Verdict.PROVED, name, message
