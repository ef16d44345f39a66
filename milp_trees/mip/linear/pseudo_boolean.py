"""Pseudo-Boolean problems (OPB), and VeriPB proofs of bounds that are one sum of their rows.

The proof is a dual solution. With multipliers of the rows, whole numbers over a common divisor q,
the sum of the rows is a lower bound of q times the objective once what is missing of a coefficient
is added as a multiple of x >= 0, or of 1 - x >= 0; then it is divided by q, and the right-hand side
is rounded up. In the format this is one line, `pol`, in reverse Polish notation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from milp_trees.common.errors import Unsupported

if TYPE_CHECKING:
    from milp_trees.mip.linear.matrix import MatrixModel

#: The first line of a proof, and its version of the format.
HEADER = "pseudo-Boolean proof version 3.0"
#: Common divisors of multipliers that are tried.
DIVISORS = tuple(10**k for k in range(7))
#: Numbers above this are not exact in a matrix of floating-point numbers.
MOST = 2**53


class Constraint(NamedTuple):
    """A constraint of the file: terms (coefficient, column) and the least sum; of a model's row."""

    row: int
    sign: int
    terms: list[tuple[int, int]]
    least: int


def pseudo_boolean(model: MatrixModel) -> MatrixModel:
    """A model whose columns are all 0 or 1; columns that are fixed get a row at the end."""
    name = model.name
    if why := model.contradiction():
        raise Unsupported(why)
    fixed = (model.lower == model.upper) & np.isin(model.lower, (0, 1))
    binary = model.integer & (model.lower >= 0) & (model.upper <= 1)
    if not (fixed | binary).all():
        raise Unsupported(
            f"{name} has variables that are not 0 or 1, which a pseudo-Boolean problem cannot express; write it as .mps."
        )
    sides = np.concatenate([model.row_lower, model.row_upper])
    numbers = np.concatenate([model.c, model.A.data, sides[np.isfinite(sides)]])
    if (numbers != np.rint(numbers)).any() or np.abs(numbers).max(initial=0) >= MOST:
        raise Unsupported(
            f"{name} has numbers that are not whole, or too large, for a pseudo-Boolean problem; write it as .mps."
        )
    at = np.flatnonzero(fixed)
    own = sparse.csr_matrix(
        (np.ones(len(at)), (np.arange(len(at)), at)), shape=(len(at), model.n_variables)
    )
    return replace(
        model,
        A=sparse.csr_matrix(sparse.vstack([model.A, own], format="csr")),
        row_lower=np.concatenate([model.row_lower, model.lower[at]]),
        row_upper=np.concatenate([model.row_upper, model.upper[at]]),
        lower=np.zeros(model.n_variables),
        upper=np.ones(model.n_variables),
        integer=np.ones(model.n_variables, dtype=bool),
        columns=[],
        row_labels=[],
        row_indices=[],
    )


def constraints(model: MatrixModel) -> Iterator[Constraint]:
    """The constraints of the file, all of the form `sum >= least`; an equation is two of them.

    Rows without terms are left out: `pseudo_boolean` has refused those that nothing satisfies.
    """
    A = model.A.tocsr()
    starts = A.indptr.tolist()
    coefs, columns = np.rint(A.data).astype(np.int64).tolist(), A.indices.tolist()
    sides = zip(model.row_lower.tolist(), model.row_upper.tolist(), strict=True)
    for i, (low, up) in enumerate(sides):
        here = slice(starts[i], starts[i + 1])
        terms = [(a, j) for a, j in zip(coefs[here], columns[here], strict=True) if a]
        if terms and np.isfinite(low):
            yield Constraint(i, 1, terms, round(low))
        if terms and np.isfinite(up):
            yield Constraint(i, -1, [(-a, j) for a, j in terms], -round(up))


def opb_text(model: MatrixModel, columns: Sequence[str]) -> str:
    """The text of an OPB file."""

    def terms(some: Iterable[tuple[int, int]]) -> str:
        return " ".join(f"{a:+d} {columns[j]}" for a, j in some)

    costs = np.rint(model.c).astype(np.int64).tolist()
    used = [(a, j) for j, a in enumerate(costs) if a] or [(0, 0)]
    lines = [f"min: {terms(used)} ;"]
    lines += [f"{terms(row.terms)} >= {row.least} ;" for row in constraints(model)]
    return "\n".join([*lines, ""])


class Bound(NamedTuple):
    """Multipliers of the rows over a divisor, and the bound of the objective that they prove."""

    multipliers: list[int]
    divisor: int
    bound: int
    #: What is missing of the coefficients of the objective, times the divisor.
    missing: list[int]


def best_bound(model: MatrixModel, duals: np.ndarray) -> Bound:
    """The best bound that duals prove after they are rounded, with the smallest divisor."""
    y = np.where(np.isfinite(duals), duals, 0.0)
    y = np.where((y > 0) & np.isinf(model.row_lower), 0.0, y)
    y = np.where((y < 0) & np.isinf(model.row_upper), 0.0, y)
    tried = [_rounded(model, y, divisor) for divisor in DIVISORS]
    return max(tried, key=lambda b: (b.bound, -b.divisor))


def _rounded(model: MatrixModel, y: np.ndarray, divisor: int) -> Bound:
    number = [round(value * divisor) for value in y.tolist()]
    missing = [divisor * round(cost) for cost in model.c.tolist()]
    total = 0
    for row in constraints(model):
        times = row.sign * number[row.row]
        if times > 0:
            total += times * row.least
            for a, j in row.terms:
                missing[j] -= times * a
    total += sum(less for less in missing if less < 0)
    return Bound(number, divisor, -(-total // divisor), missing)


def proof_text(model: MatrixModel, columns: Sequence[str], bound: Bound, point: np.ndarray) -> str:
    """The text of a VeriPB proof: a bound as one line, and a solution."""
    words: list[str] = []

    def add(what: str, times: int) -> None:
        first = not words
        words.extend([what] if times == 1 else [what, str(times), "*"])
        words.extend([] if first else ["+"])

    rows = list(constraints(model))
    for number, row in enumerate(rows, 1):
        times = row.sign * bound.multipliers[row.row]
        if times > 0:
            add(str(number), times)
    for name, less in zip(columns, bound.missing, strict=True):
        if less:
            add(name if less > 0 else f"~{name}", abs(less))
    if not words:
        words = [columns[0], "s"]  # the objective is empty: x1 >= 0, saturated, is 0 >= 0
    if bound.divisor > 1:
        words += [str(bound.divisor), "d"]
    taken = np.rint(point).astype(np.int64).tolist()
    literals = [name if value else f"~{name}" for name, value in zip(columns, taken, strict=True)]
    value = sum(round(cost) * x for cost, x in zip(model.c.tolist(), taken, strict=True))
    lines = [
        HEADER,
        f"f {len(rows)};",
        f"pol {' '.join(words)};",
        "output NONE;",
        f"conclusion BOUNDS {bound.bound} : {len(rows) + 1} {value} : {' '.join(literals)};",
        "end pseudo-Boolean proof;",
    ]
    return "\n".join([*lines, ""])
