"""Models that stay built while numbers in them change.

The steps of a front, of a ratio and of a path of sizes are problems whose models differ in a few
numbers: the bounds of their side rows, the limit on leaves, the objective. A formulation declares
which of them it puts into one place of its model each (`Formulation.changeable`). Then the Pyomo
model and its matrix are built once, and every later step replaces these numbers in both; the matrix
is the one that building again would give. Rows that were found while an earlier step was solved
(cuts) stay, as long as the objective does.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.models.space import Trees

if TYPE_CHECKING:
    from milp_trees.mip.formulation import Formulation, Stage
    from milp_trees.mip.linear.matrix import MatrixModel
    from milp_trees.mip.run import Run
    from milp_trees.problems.problem import Problem

#: What may change in a model that stays built, and what that is.
CHANGEABLE = {
    "side": "bounds of the side rows, which are the rows `m.side`",
    "leaves": "the limit on leaves, which is the row `m.most_splits`",
    "costs": "costs that stand in the objective only, by `Formulation.reprice`",
}
#: Fields of views that only costs, and the translation of objectives into values, depend on.
_COSTS = frozenset({"costs", "leaf_cost", "split_costs", "offset", "scale", "exact", "rounding"})


@dataclass(frozen=True, eq=False)
class Kept:
    """A model that was built, with its matrix."""

    stage: Stage
    matrix: MatrixModel


def known_to_be_supported(formulation: Formulation, problem: Problem) -> bool:
    """Whether a problem's model is one built before, with other bounds and the same costs."""
    what = _changes_of(formulation, problem)
    return what is not None and "costs" not in what


def changed(formulation: Formulation, problem: Problem) -> Kept | None:
    """The model of a problem, made of one built before; None if it has to be built.

    The model built before is changed. It leaves the store in any case, so that it is not used again
    if this is interrupted, and takes no memory beside a new one.
    """
    what = _changes_of(formulation, problem)
    kept: Kept | None = None if problem.kept is None else problem.kept.pop(formulation.label, None)
    if what is None or kept is None:
        return None
    m, view, space = kept.stage.model, formulation.presolved_view(problem), problem.space
    if "costs" in what and not formulation.reprice(m, view, space):
        return None
    formulation.hand_on(m, view, space)
    matrix = kept.matrix
    if "side" in what:
        lower = np.array([-np.inf if r.lower is None else r.lower for r in view.side], dtype=float)
        upper = np.array([np.inf if r.upper is None else r.upper for r in view.side], dtype=float)
        m.side.set_bounds(lower, upper)
        matrix = matrix.with_bounds("side", lower, upper)
    if "leaves" in what:
        assert isinstance(space, Trees)
        most = np.array([float(space.max_splits)])
        _limit_splits(m.most_splits, most)
        matrix = matrix.with_bounds("most_splits", np.array([-np.inf]), most)
    if "costs" in what:
        matrix = matrix.without_cuts().with_objective(m)
    m.view, m.space = view, space
    return Kept(replace(kept.stage, seconds={}), matrix)


def keep(formulation: Formulation, run: Run) -> None:
    """Keep a model of trees for the problems that follow, if it is whole and nothing is wrong."""
    stage, matrix, problem = run.stage, run.compiled, run.problem
    if stage is None or matrix is None or run.wrong or problem.kept is None:
        return
    whole = (stage.covers, stage.bound, stage.incumbent) == (None, None, None)
    if formulation.changeable and whole and isinstance(problem.space, Trees):
        problem.kept[formulation.label] = Kept(stage, matrix)


def _changes_of(formulation: Formulation, problem: Problem) -> frozenset[str] | None:
    """What changes in the model that an earlier problem left; None if a new one is to be built."""
    kept: Kept | None = None if problem.kept is None else problem.kept.get(formulation.label)
    if kept is None:
        return None
    what = _changes(kept.stage.model, formulation.presolved_view(problem), problem.space)
    return what if what is not None and what <= formulation.changeable else None


def _changes(m: Any, view: Any, space: Any) -> frozenset[str] | None:
    """What differs between a model's problem and another: words of `CHANGEABLE`; None if more."""
    before = m.view
    if type(before) is not type(view):
        return None
    found = _changes_of_space(m.space, space)
    if found is None:
        return None
    for field in fields(view):
        old, new = getattr(before, field.name), getattr(view, field.name)
        if field.name == "side":
            if len(old) != len(new) or not all(
                _same(a.coefs, b.coefs) for a, b in zip(old, new, strict=True)
            ):
                return None
            if any((a.lower, a.upper) != (b.lower, b.upper) for a, b in zip(old, new, strict=True)):
                found |= {"side"}
        elif not _same(old, new):
            if field.name not in _COSTS:
                return None
            found |= {"costs"}
    return frozenset(found)


def _changes_of_space(before: Any, space: Any) -> set[str] | None:
    """As `_changes`, of the spaces alone."""
    if before == space:
        return set()
    if not (isinstance(before, Trees) and isinstance(space, Trees)):
        return None
    if replace(before, max_leaf_nodes=space.max_leaf_nodes) != space:
        return None
    if before.limits_leaves != space.limits_leaves:
        return None
    return {"leaves"} if space.limits_leaves else set()


def _same(a: Any, b: Any) -> bool:
    """Whether two fields are equal."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    return bool(a == b)


def _limit_splits(row: Any, most: np.ndarray) -> None:
    """Give the row that limits the leaves another right-hand side."""
    if hasattr(row, "set_bounds"):
        row.set_bounds(np.array([-np.inf]), most)
    else:
        row.set_value((None, row.body, int(most[0])))
