"""Statements of proofs about squared error, for `check_loss.py`.

Bounds of the claims are in units of 2^shift units of the view; the statement says how many of these
are a squared unit of the targets.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import Unsupported
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.verification import check_loss
from milp_trees.verification.proof_data import data_of_squares

if TYPE_CHECKING:
    from milp_trees.methods.claims import Claims
    from milp_trees.problems.problem import Problem
    from milp_trees.results.result import Result

#: `kind` in the statements of such proofs.
KIND = "squared error"


def no_loss_proof(view: LossSums) -> str | None:
    """Why there are no proofs about a loss, in a sentence, or None."""
    if view.exact_loss() is None:
        return "A proof is about costs of actions or squared error; leave it out for other losses."
    return None


def loss_statement(
    problem: Problem,
    view: LossSums,
    result: Result,
    claims: Claims,
    minima: list[dict[str, Any]],
    rows: bool = False,
) -> dict[str, Any]:
    """The first line of a proof about a squared error."""
    exact = view.exact_loss()
    if exact is None:
        raise Unsupported(no_loss_proof(view) or "")
    prices = [str(price) for price in exact.split_penalties]
    model, space = result.predictor, problem.space
    named = None if model is None else view.canonical(model)
    stated = {
        "format": "milp-trees-proof",
        "version": 1,
        "kind": KIND,
        "depth": space.levels,
        "leaves": getattr(space, "max_leaf_nodes", None),
        "leaf_penalty": str(exact.leaf_penalty),
        "split_penalties": prices[0] if len(set(prices)) == 1 else prices,
        "minima": minima,
        **data_of_squares(problem, view, exact.squares, rows),
        "share": exact.share,
        "power": 0,
        "predictions": [],
        "model": None,
        "value": None,
        "bound": int(claims.items[-1][0]),
    }
    power = claims.notes.get("power")  # of a file that is checked
    if power is None:
        if "shift" not in claims.notes:
            raise Unsupported("its method writes claims about costs of actions alone.")
        data = str(problem.dataset.source["path"]) if stated["data"]["kind"] == "table" else None
        units = check_loss.Stated(json.dumps(stated), data)
        power = _power(units.scale / (view.scale * 2 ** claims.notes["shift"]))
        _refuse_coarse(units, stated["bound"], power, result)
    value = None if result.value is None else result.value.exact
    return {
        **stated,
        "power": power,
        "predictions": [] if named is None else [_numbers(action) for action in named.actions],
        "model": None if named is None else named.numbered(view.index),
        "value": None if value is None else f"{value.numerator}/{value.denominator}",
    }


def _power(ratio: Fraction) -> int:
    """The power of two that a ratio is."""
    power = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    if ratio != Fraction(2) ** power:
        raise Unsupported("a unit of the search is no power of two of the squared targets' unit.")
    return power


def _refuse_coarse(stated: check_loss.Stated, bound: int, power: int, result: Result) -> None:
    """Refuse a proof of less than the tolerance, which is no proof of an optimum."""
    value = result.value
    if value is None or value.exact is None:
        raise Unsupported("the value of the tree is no exact fraction.")
    least = stated.scale * bound / Fraction(2) ** power
    if value.exact - least > stated.tolerance:
        share = float((value.exact - least) / (stated.tolerance or 1))
        raise Unsupported(
            f"the whole numbers of the checker are too coarse for these rows: its bound would leave {share:.3g} times the tolerance. Fewer rows, or targets without outliers, can be proved."
        )


def _numbers(action: Any) -> list[float]:
    """A prediction as a list of doubles."""
    return [float(x) for x in (action if isinstance(action, (list, tuple)) else (action,))]
