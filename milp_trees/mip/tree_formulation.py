"""`TreeFormulation`: what formulations of single trees have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from milp_trees.mip.formulation import Formulation
from milp_trees.models.space import Space, Trees
from milp_trees.problems.problem import Problem
from milp_trees.problems.support import unsupported_reason, unsupported_structure, who_can
from milp_trees.tasks.views import CostMatrix, LeafSums

#: Largest number of levels of a full tree in a model; for deeper trees the number of nodes is not
#: even computed.
DEEPEST = 60


@dataclass(frozen=True)
class TreeFormulation(Formulation):
    """Base of formulations of single trees.

    Parameters
    ----------
    merge_rows, drop_tests : bool, default=True
        Presolve: merge rows with equal tests; drop constant, equal and complementary tests.
    """

    space: ClassVar[type[Space] | tuple[type[Space], ...]] = Trees
    needs: ClassVar[type | tuple[type, ...]] = CostMatrix
    takes_side_rows: ClassVar[bool] = True
    takes_min_leaf: ClassVar[bool] = True
    #: Further sets, with which of `rows`, `tests`, `nodes` or `actions` their elements are:
    #: `{"scored": "rows"}`.
    sets_like: ClassVar[Mapping[str, str]] = {}
    #: Whether the model has variables for every node of a full tree; then its size doubles with
    #: each level.
    has_full_tree: ClassVar[bool] = True

    merge_rows: bool = True
    drop_tests: bool = True

    def presolved_view(self, problem: Problem) -> Any:
        return problem.presolved_view(self.merge_rows, self.drop_tests)

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        from milp_trees.mip.meanings import tree_words

        words = tree_words(m.view, problem)
        return {**words, **{name: words[like] for name, like in self.sets_like.items()}}

    def templates(self, view: LeafSums, space: Any) -> bool:
        return view.n_features > 0 and (space.most_leaves or 2) > 1

    def unsupported(self, problem: Problem) -> str | None:
        why = unsupported_reason(self, problem)
        if why:
            return why
        view, space = problem.first_view(self.needs), problem.space
        if view.side and not self.takes_side_rows:
            return (
                f"{self.name} cannot express side constraints{who_can(problem, 'takes_side_rows')}."
            )
        why = unsupported_structure(self, problem)
        if why:
            return why
        if isinstance(space, Trees) and (why := self._unsupported_trees(space, problem)):
            return why
        if not self.takes_any_costs and view.labels is None:
            return f"{self.name} needs costs that are equal for all wrong actions of a row{who_can(problem, 'takes_any_costs')}."
        return self.unsupported_view(self.presolved_view(problem), space)

    def _unsupported_trees(self, space: Trees, problem: Problem) -> str | None:
        if space.min_samples_leaf > 1 and not self.takes_min_leaf:
            return f"{self.name} cannot express a minimum leaf size{who_can(problem, 'takes_min_leaf')}."
        if self.has_full_tree and space.depth > DEEPEST:
            return f"{self.name} has variables for every node of a full tree, of at most {DEEPEST} levels{who_can(problem, 'takes_any_depth')}."
        return None
