r"""The nearest row by an integer program over the embedding of a model.

The thresholds of a column divide its numbers into intervals, and a model predicts the same for all
numbers of one. So the program chooses an interval (or category) per column:

.. math::
   \min\sum_{c,j}p_{cj}a_{cj}\quad\text{s.t.}\quad\sum_ja_{cj}=1,\quad k_c=\sum_jja_{cj},

and the embedded model, whose thresholds are the numbers of the intervals, has a wanted prediction at
k. Here :math:`p_{cj}` is the exact price of the nearest value in interval j. The comparisons are
those of whole numbers, which the tolerances of a solver cannot confuse.

Limits of sums over several trees are relaxed by a little more than these tolerances, so the bound
holds for all rows; a row that the model itself predicts otherwise is cut off, and the program solved
again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import SolverFailure
from milp_trees.common.limits import Limit, Limits
from milp_trees.counterfactuals.columns import Choices, Column, Found
from milp_trees.counterfactuals.given import Given
from milp_trees.counterfactuals.target import Target
from milp_trees.embedding.forest import NUMBER, TEXT, YES_NO, Forest, Question, Split
from milp_trees.results.result import Status

if TYPE_CHECKING:
    from collections.abc import Callable

#: By how much limits of sums are relaxed, relative to the largest sum: more than the tolerance of
#: solvers, so that no row is lost; each row that is found is predicted by the model itself.
RELAXED = 1e-5
#: Smaller coefficients of such rows are rounding of differences, relative to the largest sum.
ROUNDING = 1e-9


@dataclass
class Search:
    """What the rounds of solving have found.

    Parameters
    ----------
    status : Status
    values : mapping of str to Found, or None
    bound : Fraction or None
    nodes : int
    limit : Limit or None
    cuts : int
        Rows that were cut off because the model predicts them otherwise.
    """

    status: Status = Status.NO_SOLUTION
    values: Mapping[str, Found] | None = None
    bound: Fraction | None = None
    nodes: int = 0
    limit: Limit | None = None
    cuts: int = 0


def nearest_by_program(
    given: Given,
    columns: Mapping[str, Column],
    target: Target,
    accepts: Callable[[Mapping[str, Found]], bool],
    solver: str,
    limits: Limits,
) -> Search:
    """The nearest row with a wanted prediction, by a solver.

    Parameters
    ----------
    given : Given
    columns : mapping of str to Column
        What every column that is asked for may hold.
    target : Target
    accepts : callable
        Whether the model itself predicts a row, given by its values, as wanted.
    solver : str
    limits : Limits

    Returns
    -------
    Search

    Raises
    ------
    SolverFailure
        The solver failed.
    """
    from milp_trees.mip import runner
    from milp_trees.mip.linear.matrix import compile_model
    from milp_trees.mip.solver import Job

    began, out = time.perf_counter(), Search()
    limits = replace(limits, rel_gap=0.0, abs_gap=0.0)
    parts = {name: column.parts(given.tests[name]) for name, column in columns.items()}
    alone = len(given.forest.roots) == 1 and not given.wanted_leaves(target)
    if alone or target.labels == frozenset() or not all(parts.values()):
        return replace(out, status=Status.INFEASIBLE)
    m = model_of(given, columns, parts, target)
    while True:
        matrix = compile_model(m)
        left = limits.after(time.perf_counter() - began)
        answer = runner.run(solver, Job(matrix, left))
        if answer.status is Status.ERROR:
            raise SolverFailure(f"{solver} failed: {answer.message}")
        out.nodes += answer.nodes or 0
        out.limit = answer.limit
        if answer.bound is not None and math.isfinite(answer.bound):
            out.bound = max(out.bound or Fraction(0), Fraction(answer.bound))
        if answer.x is None:
            if answer.status is Status.INFEASIBLE:
                out.status, out.bound = Status.INFEASIBLE, None
            return out
        matrix.load(answer.x)
        chosen = {
            name: max(found, key=lambda k, name=name: m.at[name, k].value)  # type: ignore[misc]
            for name, found in parts.items()
        }
        values = {name: parts[name][k] for name, k in chosen.items()}
        if accepts(values):
            out.values, out.status = values, answer.status
            exact = sum((one.price for one in values.values()), Fraction(0))
            out.bound = None if out.bound is None else min(out.bound, exact)
            return out
        if out.limit is not None:
            return out
        out.cuts += 1
        m.cuts.add(sum(m.at[name, k] for name, k in chosen.items()) <= len(chosen) - 1)


def model_of(
    given: Given,
    columns: Mapping[str, Column],
    parts: Mapping[str, Mapping[Any, Found]],
    target: Target,
) -> Any:
    """The Pyomo model of a question.

    Parameters
    ----------
    given : Given
    columns : mapping of str to Column
    parts : mapping of str to mapping of part to Found
        The parts of every column that have a value, with the nearest value of each.
    target : Target

    Returns
    -------
    ConcreteModel
    """
    import pyomo.environ as pyo

    m = pyo.ConcreteModel(name="counterfactual")
    m.columns = pyo.Set(initialize=list(parts))
    index = [(name, k) for name, found in parts.items() for k in found]
    m.at = pyo.Var(index, domain=pyo.Binary, doc="a[c,j] 1 if column c has its value in part j")

    m.one = pyo.Constraint(
        m.columns,
        rule=lambda m, c: sum(m.at[c, k] for k in parts[c]) == 1,
        doc="sum_j a[c,j] = 1: every column has one value",
    )
    numbered = [c for c in parts if not isinstance(columns[c], Choices)]
    m.cell = pyo.Var(
        numbered,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, c: (0, max((k for k in parts[c] if k is not None), default=0)),
        doc="k[c] number of the interval of column c",
    )

    m.number = pyo.Constraint(
        numbered,
        rule=lambda m, c: m.cell[c] == sum(k * m.at[c, k] for k in parts[c] if k is not None),
        doc="k[c] = sum_j j a[c,j]",
    )
    inputs = {c: _input(m, c, columns[c], parts[c], given) for c in parts}
    m.trees = _embedded(given.forest, inputs)
    below = getattr(m.trees, "below", {})
    answered = {c for c, _ in below}
    for name, k in index:
        if name in answered and k is not None:  # integral where the answers are
            m.at[name, k].domain = pyo.UnitInterval

    m.answers = pyo.Constraint(
        list(below),
        rule=lambda m, c, k: (
            below[c, k] == sum(m.at[c, j] for j in parts[c] if j is not None and j < k)
        ),
        doc="u[c,k] = sum of a[c,j] over j < k: the answers follow from a",
    )
    _want(m, given, target)
    m.cuts = pyo.ConstraintList(doc="rows that the model itself predicts otherwise")
    m.price = pyo.Objective(
        expr=sum(float(parts[c][k].price) * m.at[c, k] for c, k in index),
        doc="sum of p[c,j] a[c,j]: the distance of the row",
    )
    return m


def _input(m: Any, c: str, column: Column, parts: Mapping[Any, Found], given: Given) -> Any:
    """A column as the embedding takes it."""
    absent = [k for k, found in parts.items() if found.value is None]
    there = [k for k in parts if k not in absent]
    value: Any = 0
    if not isinstance(column, Choices):
        value = m.cell[c]
    elif any(t.kind == "is" for t in given.tests[c]):
        value = sum(int(parts[k].value) * m.at[c, k] for k in there)
    elif any(t.kind == "==" for t in given.tests[c]):
        value, left = {}, set(there)
        for test in given.tests[c]:
            if test.kind == "==" and str(test.value) not in value:
                yes = [k for k in there if test.answer(parts[k].value)]
                value[str(test.value)] = sum((m.at[c, k] for k in yes), 0)
                left -= set(yes)
        value[None] = sum((m.at[c, k] for k in sorted(left)), 0)
    if not absent:
        return value
    return value, sum(m.at[c, k] for k in absent)


def _embedded(forest: Forest, inputs: Mapping[str, Any]) -> Any:
    """The block of a forest whose thresholds are numbers of intervals."""
    from milp_trees.embedding.block import make_block
    from milp_trees.embedding.embed import TOLERANCE, chosen
    from milp_trees.embedding.inputs import bind
    from milp_trees.embedding.trees import Trees

    ranks: dict[str, dict[float, float]] = {}
    for name, questions in forest.questions.items():
        numbers = {q.value for q in questions if q.holds not in (TEXT, YES_NO, "")}
        ranks[name] = {t: float(k) for k, t in enumerate(sorted(numbers))}

    def ranked(question: Question) -> Question:
        if question.value not in ranks[question.column] or question.holds in (TEXT, YES_NO, ""):
            return question
        rank = ranks[question.column][question.value]
        return Question(question.column, NUMBER, rank, question.missing)

    def walk(node: Any) -> Any:
        if not isinstance(node, Split):
            return node
        literals = tuple((ranked(q), answer) for q, answer in node.literals)
        return Split(literals, walk(node.no), walk(node.yes))

    cells = Forest(tuple(map(walk, forest.roots)), forest.output, forest.model, forest.columns)
    bounds = {c: (0, 1) for c in cells.questions if cells.holds(c) == YES_NO}
    trees = Trees(cells, bind(cells, inputs, bounds, TOLERANCE))
    return make_block(trees, chosen("auto", trees))


def _want(m: Any, given: Given, target: Target) -> None:
    """Demand a wanted prediction; of sums, up to a little more than a solver's tolerance."""
    import pyomo.environ as pyo

    from milp_trees.embedding.rows import linear

    forest, block = given.forest, m.trees
    if len(forest.roots) == 1:
        m.wanted = pyo.Constraint(
            expr=sum(block.leaf[leaf] for leaf in sorted(given.wanted_leaves(target))) >= 1,
            doc="a leaf with a wanted prediction is reached",
        )
        return
    values, output = forest.output.leaf_values, forest.output
    sums = getattr(block, output.kind)
    size = max(1.0, sum(float(np.abs(v).max()) for v in values))
    if given.names is None:
        low = None if target.at_least is None else target.at_least - RELAXED * size
        high = None if target.at_most is None else target.at_most + RELAXED * size
        m.wanted = pyo.Constraint(expr=(low, sums, high), doc="the sum lies within the limits")
        return
    # The block's own indicators leave out rows near a tie, which are wanted here.
    block.votes.deactivate()
    wanted = sorted(target.labels or ())
    m.label = pyo.Var(wanted, domain=pyo.Binary, doc="b[k] 1 for the label that is predicted")
    m.some = pyo.Constraint(expr=sum((m.label[k] for k in wanted), 0) == 1, doc="sum_k b[k] = 1")
    if values[0].shape[1] == 1:  # the second of two labels where the sum is positive
        low, high = (float(sum(end(v) for v in values)) for end in (np.min, np.max))
        constant = 0.0 if output.base is None else float(output.base[0])
        rows = {
            0: lambda b: sums <= RELAXED * size + max(0.0, high + constant) * (1 - b),
            1: lambda b: sums >= -RELAXED * size + min(0.0, low + constant) * (1 - b),
        }
        m.wanted = pyo.Constraint(
            wanted, rule=lambda m, k: rows[k](m.label[k]), doc="the sum has the sign of the label"
        )
        return
    labels, base = range(len(given.names)), output.base

    def largest(m: Any, k: int, j: int) -> Any:
        if j == k:
            return pyo.Constraint.Skip
        least = sum(float((v[:, k] - v[:, j]).min()) for v in values)
        least += 0.0 if base is None else float(base[k] - base[j])
        # Differences that are only rounding are left out; they are far below what is relaxed.
        terms = [
            (float(v[leaf, k] - v[leaf, j]), block.leaf[t, leaf])
            for t, v in enumerate(values)
            for leaf in range(len(v))
        ]
        kept = [(c, z) for c, z in terms if abs(c) > ROUNDING * size]
        off = linear(kept, 0.0 if base is None else float(base[k] - base[j]))
        return off >= -RELAXED * size + min(0.0, least) * (1 - m.label[k])

    m.wanted = pyo.Constraint(
        wanted,
        labels,
        rule=largest,
        doc="s[k] - s[j] >= -e - M (1 - b[k]): no other label has a larger sum",
    )
