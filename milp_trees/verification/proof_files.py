"""Proof files: the statement of a problem, and a file that holds it with its claims.

`docs/guide/proofs.md` defines the format.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import DataError, NoView, Unsupported, worded
from milp_trees.common.limits import Limit, Limits, Stopped, collector_off
from milp_trees.common.writing import write_whole
from milp_trees.mip.registry import registry
from milp_trees.problems.questions import Best
from milp_trees.results.result import Status
from milp_trees.solving.attempt import default_method, named_method
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.views import CostMatrix, LeafSums
from milp_trees.verification import proof_reading
from milp_trees.verification.loss_proofs import loss_statement, no_loss_proof
from milp_trees.verification.proof_data import data_of
from milp_trees.verification.proof_kinds import kind_of
from milp_trees.verification.proof_sizes import too_large

if TYPE_CHECKING:
    import numpy as np

    from milp_trees.methods.claims import Claims
    from milp_trees.methods.method import Method
    from milp_trees.mip.formulation import Formulation
    from milp_trees.problems.problem import Problem
    from milp_trees.results.result import Result

#: Compression: higher levels make files a tenth smaller and take several times as long.
LEVEL = 6
#: Why there is no proof if the user ended the pass that collects the claims.
INTERRUPTED = "it was interrupted."
#: How the pass that collects the claims ends before it has them.
ENDED = {
    Limit.TIME: "the time limit (raise --time-limit) ended it.",
    Limit.MEMORY: "the memory limit (raise --memory-limit) ended it.",
}


def write_proof(
    path: str | Path, problem: Problem, result: Result, claims: Claims, rows: bool = False
) -> dict[str, Any]:
    """Write a proof file."""
    began = run_clock()
    with collector_off():  # there may be tens of thousands of features and claims
        stated = statement(problem, result, claims, rows)
        lines = [json.dumps(stated, ensure_ascii=False)]
        lines += map(json.JSONEncoder(separators=(",", ":")).encode, claims.items)
    if "count" in claims.notes:  # a further line, for check_count.py
        lines.append(json.dumps(claims.notes["count"]))
    if "closed" in claims.notes:  # for check_gap.py
        lines.append(json.dumps({"closed": True}))
    raw = gzip.compress(("\n".join(lines) + "\n").encode(), LEVEL, mtime=0)
    try:
        write_whole(path, raw)
    except OSError as error:
        raise DataError(f"The proof cannot be written to {path}: {error.strerror}.") from None
    return {
        "claims": sum(not isinstance(item, dict) for item in claims.items),
        "bytes": len(raw),
        "seconds": run_clock() - began,
        "data": stated["data"]["kind"] if "data" in stated else "rows",
    }


def read_statement(path: str | Path) -> dict[str, Any]:
    """The statement of a proof file."""
    try:
        first = proof_reading.unpacked(path).decode().split("\n", 1)[0]
        stated = json.loads(first, object_pairs_hook=proof_reading.once)
    except FileNotFoundError:
        raise DataError(f"There is no proof file {path}.") from None
    except (*proof_reading.FAULTS, proof_reading.Wrong) as error:
        raise DataError(
            f"{path} is no proof that can be read ({error}); name a file that solve wrote with --proof. Results are verified by milp-trees verify."
        ) from None
    if not isinstance(stated, dict) or stated.get("format") != "milp-trees-proof":
        raise DataError(f"{path} is no proof: its first line is not the statement of one.")
    return stated


def statement(
    problem: Problem, result: Result, claims: Claims, rows: bool = False
) -> dict[str, Any]:
    """What a proof is about: the first line of its file."""
    space = problem.space
    if own := kind_of(problem):
        return own.statement(problem, result, claims)
    view = problem.first_view((CostMatrix, LeafSums))
    model = result.predictor
    if isinstance(view, LossSums):
        return loss_statement(problem, view, result, claims, _minima(view, space), rows)
    if why := too_large(view, _least(view, space), claims):
        raise Unsupported(why)
    split = view.split_costs.tolist()
    bound = _proven(view, claims)
    return {
        "format": "milp-trees-proof",
        "version": 1,
        "kind": space.in_proofs,
        "depth": space.levels,
        "leaves": getattr(space, "max_leaf_nodes", None),
        "leaf_cost": view.leaf_cost,
        "split_costs": split[0] if len(set(split)) == 1 else split,
        "minima": _minima(view, space),
        **data_of(problem, view, rows),
        "side": [
            {
                "name": row.name,
                "coefs": {"kind": "listed", "values": row.coefs.tolist()},
                "lower": row.lower,
                "upper": row.upper,
            }
            for row in view.side
        ],
        "multipliers": list(claims.multipliers) or [0] * len(view.side),
        "denominator": claims.denominator,
        "actions": [str(a) for a in view.actions],
        "offset": _ratio(view.offset),
        "scale": _ratio(view.scale),
        "unit": result.value.unit if result.value else "",
        "model": None if model is None else view.canonical(model).numbered(view.index),
        "value": None if model is None else view.objective(model),
        "bound": bound,
    }


def _proven(view: CostMatrix, claims: Claims) -> int:
    """The bound on Z that the last claim gives, with multipliers of the side rows."""
    least = int(claims.items[-1][0])
    for mu, row in zip(claims.multipliers, view.side, strict=False):
        least -= mu * int((row.upper if mu > 0 else row.lower) or 0)
    return -(-least // claims.denominator)


def _ratio(number: Any) -> str:
    return f"{number.numerator}/{number.denominator}"


def _minima(view: LeafSums, space: Any) -> list[dict[str, Any]]:
    """Smallest leaves (or rules); amounts per row of the view, which are rows of the data."""
    return [
        {
            "least": least,
            "amounts": "rows"
            if amounts is view.counts and bool((amounts == 1).all())
            else {"listed": amounts.tolist()},
        }
        for least, amounts in _least(view, space)
    ]


def _least(view: LeafSums, space: Any) -> list[tuple[int, np.ndarray]]:
    """The least sum in a leaf (or rule) of every amount that has one, with the amount per row."""
    rows = [(space.least_rows, view.counts)] if space.least_rows > 1 else []
    return [*rows, *((int(least), amounts) for amounts, least in view.leaf_minima)]


def prove(
    method: Any, problem: Problem, result: Result, path: str | Path, limits: Limits
) -> Result:
    """The result with a proof of its bound in a file.

    If there is no proof, the result says why in its message.
    """
    began = run_clock()
    try:
        _refuse_unfinished(result)
        found = write_proof(path, problem, result, method.prove(problem, result, limits))
    except (Unsupported, DataError) as error:  # a full disk, too: the answer is not lost
        return _without(result, str(error))
    except Stopped as stopped:
        return _without(result, worded(ENDED.get(stopped.limit, INTERRUPTED)))
    except MemoryError:
        return _without(result, worded(ENDED[Limit.MEMORY]))
    except KeyboardInterrupt:
        return _without(result, INTERRUPTED)
    facts = {
        "file": Path(path).name,
        "sha256": sha256(path),
        "claims": found["claims"],
        "bytes": found["bytes"],
        "seconds": run_clock() - began,
        "checked": False,
    }
    return replace(result, proof=facts)


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file, as results state it of their proof files."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _refuse_unfinished(result: Result) -> None:
    """Refuse a result without a bound to prove, or of a run that was ended or outdone."""
    if result.status is Status.INFEASIBLE:
        raise Unsupported("no model is feasible, and a proof is about a best one.")
    if result.limit is not None and result.limit.by_user:
        raise Unsupported("the run was interrupted.")
    if result.found_by:
        raise Unsupported(
            f"the answer is {result.found_by}, and the proof is about fewer thresholds."
        )


def _without(result: Result, why: str) -> Result:
    return with_remark(result, f"No proof was written: {why}")


def with_remark(result: Result, said: str) -> Result:
    """The result whose message ends with a sentence, unless it has the sentence already."""
    if said in result.message:
        return result
    return replace(result, message=f"{result.message} {said}".strip())


def prover(method: str | Method | Formulation | None, problem: Problem, path: str | Path) -> Method:
    """The method of this name, which must be able to prove what it returns."""
    _refuse_place(Path(path), problem.dataset.source.get("path"))
    if why := unprovable(problem):
        raise Unsupported(why)
    chosen = named_method(method or default_method(problem))
    if chosen.proves:
        return chosen
    names = _provers(problem)
    instead = f", or take one of {', '.join(names)}" if names else "; no method proves such answers"
    raise Unsupported(f"{chosen.label} writes no proofs; leave out the proof{instead}.")


def unprovable(problem: Problem) -> str | None:
    """The sentence why no answer to a problem has a proof file, or None."""
    if kind_of(problem):
        return None
    try:
        view = problem.first_view((CostMatrix, LeafSums))
    except NoView as reason:
        return f"A proof is about costs of actions, so leave it out here. {reason}"
    if isinstance(view, LossSums):
        return no_loss_proof(view)
    why = too_large(view, _least(view, problem.space))
    return f"No proof can be checked here, so leave it out: {why}" if why else None


def _provers(problem: Problem) -> list[str]:
    """Labels of the methods that take a problem and prove answers to it."""
    classes: dict[str, Any] = registry.classes("methods")
    able = [registry.method(name) for name, one in classes.items() if one.proves]
    names = [one.label for one in able if not (one.unsupported(problem) or one.unproved(problem))]
    if not isinstance(problem.question, Best):
        return names
    fitting = [registry.formulation(name) for name in registry.formulations_for(problem)]
    return names + [f"{one.name}@SOLVER" for one in fitting if one.unproved(problem) is None]


def _refuse_place(path: Path, data: Any) -> None:
    """Refuse, before a long computation, a file that no proof can be written to."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file in it for the proof.")
    if not path.absolute().parent.is_dir():
        raise DataError(f"There is no folder {path.parent} for the proof; make it first.")
    if data is not None and path.resolve() == Path(str(data)).resolve():
        raise DataError(f"{path} holds the data; name another file for the proof.")


__all__ = [
    "prove",
    "prover",
    "read_statement",
    "sha256",
    "statement",
    "unprovable",
    "with_remark",
    "write_proof",
]
