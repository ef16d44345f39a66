"""`build`: a formulation's model of a problem, to be changed in Pyomo."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, Unsupported
from milp_trees.common.limits import MAX_NONZEROS
from milp_trees.methods.thresholds import is_open
from milp_trees.mip.built import Built
from milp_trees.mip.incomplete import marked_incomplete
from milp_trees.mip.open_thresholds import for_models
from milp_trees.mip.registry import registry
from milp_trees.mip.whole_models import others_that_hold
from milp_trees.problems.problem import Problem

if TYPE_CHECKING:
    from milp_trees.mip.formulation import Formulation

#: The values of `presolve`.
PRESOLVE = ("rows", True, False)


def build(
    formulation: str | Formulation,
    problem: Problem,
    *,
    presolve: str | bool = "rows",
    block: Any = None,
    incomplete: bool = False,
    max_nonzeros: int | None = MAX_NONZEROS,
) -> Built:
    """A formulation's model of a problem in Pyomo, to which own parts can be added.

    Constraints, variables and terms of the objective are added in Pyomo. `mt.solve(built)` solves
    the changed model under all limits; a solver of Pyomo can solve it too (`built.decode()`).

    Parameters
    ----------
    formulation : str or Formulation
        Its name, with options if there are any (`flow-oct:sinks=multi`).
    problem : Problem
    presolve : {"rows", True, False}, default="rows"
        `"rows"` merges rows with equal tests and keeps every test, so that each index means one
        test. True also drops tests that are constant on the rows, or equal or opposite to others: an
        index then stands for all tests that are equal. False does neither.
    block : Block, optional
        A block of the user's model that gets the components; several trees fit into one model. Its
        objective is deactivated: the user's is made of `built.cost` of each.
    incomplete : bool, default=False
        As for `Formulation.build`: whether a model whose cuts are found while it is solved is left
        open to other programs.
    max_nonzeros : int or None, default=20 million
        Larger models are not built.

    Returns
    -------
    Built

    Raises
    ------
    Unsupported
        The formulation cannot take the problem, or its model leaves out trees that are no better
        than others, so that an added constraint would exclude more than it says.
    UnknownName
        There is no such formulation.
    DataError
        An argument is not what it has to be.

    Examples
    --------
    At most one test of the column `f1`:

    >>> import milp_trees as mt
    >>> import pyomo.environ as pyo
    >>> data = mt.load("planted:rows=60,tests=5,depth=2")
    >>> built = mt.build("oct-binary", mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2)))
    >>> m, column = built.model, data.features[0].column
    >>> tested = sum(m.a[f, v] for f in built.tests_of(column) for v in m.branch)
    >>> m.once = pyo.Constraint(expr=tested <= 1)
    >>> mt.solve(built, start=None).changed.constraints
    ('once',)
    """
    chosen = _formulation(formulation)
    if not isinstance(problem, Problem):
        raise DataError(
            f"mt.build takes a Problem, such as mt.Problem(mt.load('people.csv'), mt.Accuracy(), mt.Trees(max_depth=2)); got {type(problem).__name__}."
        )
    if problem.by_steps(chosen):
        raise Unsupported(
            f"{chosen.label} solves this problem in steps, by one model after the other, so there is no model to change; build that of one step, with a task that is a sum over rows."
        )
    chosen = _presolved(chosen, presolve)
    chosen.check_buildable(problem, max_nonzeros)
    if chosen.leaves_out:
        raise Unsupported(
            f"{chosen.name} {chosen.leaves_out}, so that a constraint of yours would exclude more than it says; take a formulation that holds them all{others_that_hold(problem)}, or build it as it is by mt.registry.formulation({chosen.name!r}).build(problem)."
        )
    if is_open(problem):
        problem = for_models(problem)
    whole = chosen.whole(problem)
    if block is not None and not whole and not incomplete:
        raise Unsupported(
            f"The cuts of {chosen.label} are found while it is solved alone, so its model cannot be a block of another one; take a formulation that is complete{others_that_hold(problem)}."
        )
    if block is not None and not hasattr(block, "add_component"):
        raise DataError(
            f"block is a Pyomo block of your model, such as m.tree = pyo.Block(); got {type(block).__name__}."
        )
    m = chosen.assemble(problem, block, templates=False)
    if block is not None:
        m.objective.deactivate()
    elif not whole and not incomplete:
        marked_incomplete(m, chosen.name)
    m.built = Built(problem, chosen, m, whole)
    found: Built = m.built
    return found


def _formulation(given: Any) -> Formulation:
    """The formulation of a name; the solver is named when the model is solved."""
    from milp_trees.mip.formulation import Formulation

    if isinstance(given, Formulation):
        return given
    if not isinstance(given, str):
        raise DataError(
            f"A formulation is named by a text such as 'flow-oct'; got {type(given).__name__}."
        )
    name, _, solver = given.partition("@")
    if solver:
        raise DataError(
            f"A model is built without a solver: write mt.build({name!r}, …), and mt.solve(built, solver={solver!r})."
        )
    found: Formulation = registry.spelled("formulations", name)
    return found


def _presolved(formulation: Any, presolve: Any) -> Any:
    """The formulation with the presolve that was asked for."""
    if not any(presolve is known or presolve == known for known in PRESOLVE):
        raise DataError(f"presolve is 'rows', True or False; got {presolve!r}.")
    known = {f.name for f in fields(formulation)}
    off = {} if presolve is True else {"drop_tests": False}
    off |= {"merge_rows": False} if presolve is False else {}
    return replace(formulation, **{name: value for name, value in off.items() if name in known})
