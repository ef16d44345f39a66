r"""State-flow on the columns that bounds leave over.

With multipliers :math:`\lambda` of the side rows :math:`\ell\le a(T)\le u` every feasible tree T
costs at least its Lagrangian value,

.. math:: Z(T)\ \ge\ L_\lambda(T)=Z(T)+\sum_j\lambda_j\bigl(a_j(T)-b_j\bigr),\qquad
   b_j=u_j\text{ if }\lambda_j>0,\ \ell_j\text{ otherwise},

so a feasible tree that costs at most U is among the trees with :math:`L_\lambda(T)\le U`. For fixed
multipliers :math:`L_\lambda` is a sum over leaves without side rows: its optimal values below and
above every state are those of a dynamic programme, and a column of `state-flow` is kept iff the
best tree with it has :math:`L_\lambda\le U`. Side rows and constraints on the tree itself are then
those of `state-flow`; they do not enter the bound, which stays valid without them.

The whole model takes for U the value of the best feasible tree that the search for the multipliers
met (without one it is all of `state-flow`). A run begins with smaller U, near the bound: if the
model has no solution, every tree costs more than U, and U is raised.

For rule lists the states are enumerated with the bound of `state-flow` at prices, and on them the
best multipliers, and what the best list with each column costs, are passes over the columns.

The model is derived by dynamic programming (`dp-derived`) and compared apart from formulations
proper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from milp_trees.common.errors import Unsupported
from milp_trees.common.registering import register
from milp_trees.lists.space import RuleLists
from milp_trees.mip.formulation import Stage
from milp_trees.problems.problem import Problem

from ._state_structure import unsupported_lists
from .state_flow import StateFlow

#: With no more columns, the whole model is made first, and the stages are parts of it.
SMALL = 100_000
#: Parts of the gap, or of the bound where no feasible tree is known, that the first stage covers.
OF_GAP, OF_BOUND = 16, 64


@register
@dataclass(frozen=True)
class StateFlowReduced(StateFlow):
    """State-flow, reduced by the Lagrangian bound.

    Parameters
    ----------
    max_states, max_columns : int
        A model with more is not built; the sentence says how many were counted.
    """

    name = "state-flow-reduced"
    title = "State-flow, reduced by the Lagrangian bound (dp-derived)"
    shared_components = frozenset({"dp", "state-flow"})
    verification_rank = 30
    changeable = frozenset()  # the bounds and the limits decide what is left out
    reference = "docs/reference/formulations.md"
    integral_relaxation = False
    proves = False
    default_rank = 65
    reference_rank = None
    dp_derived = True
    derived_by = "lagrangian and dp"
    quick_size = False

    max_columns: int = 1_000_000

    def warm_up(self, space: Any = None) -> None:
        from milp_trees.engines.hypergraph.within_bound import warm_up
        from milp_trees.engines.lagrangian.warm import compile_kernels

        super().warm_up(space)
        warm_up()
        compile_kernels()

    def unsupported_view(self, view: Any, space: Any) -> str | None:
        if why := self._unsupported_sums(view, isinstance(space, RuleLists)):
            return why
        if isinstance(space, RuleLists):
            return self._unsupported_lists(view, space)
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            return f"{self.name} takes penalties and test costs of at least 0; some are negative."
        from milp_trees.engines.dp.arrays import prepare, surely_fits
        from milp_trees.engines.lagrangian.multipliers import Multipliers

        if surely_fits(view):
            return None
        try:
            prepare(Multipliers.none(len(view.side)).view_at(view), space, every_row=True)
        except Unsupported as why:
            return f"{self.name}: {why}"
        return None

    def _unsupported_lists(self, view: Any, space: RuleLists) -> str | None:
        why = unsupported_lists(self.name, view)
        if why:
            return why
        try:
            self._bounding(view, space)
        except OverflowError as too_many:
            return f"{self.name}: {too_many}; lower the length or the number of antecedents."
        except Unsupported as too_large:
            return f"{self.name}: {too_large}"
        return None

    def stages(self, problem: Problem) -> Iterator[Stage]:
        view, space = self.presolved_view(problem), problem.space
        known = self._bounding(view, space)
        last = self._whole(view, space)
        if known.bound is not None:
            parts = (last - known.bound) // OF_GAP if known.tree else known.bound // OF_BOUND
            upper, step = known.bound, known.unit * max(1, parts // known.unit)
            while upper < last:
                yield self._up_to(upper, problem, view)
                upper, step = upper + step, 2 * step
        yield self._up_to(last, problem, view)
        view.memo.pop("extent", None)

    def _up_to(self, upper: int, problem: Problem, view: Any) -> Stage:
        view.memo["extent"] = upper
        return self.stage(problem)

    def stage(self, problem: Problem) -> Stage:
        stage = super().stage(problem)
        view, space = stage.model.view, stage.model.space
        known, covers = self._bounding(view, space), self._extent(view, space)
        return replace(
            stage,
            bound=known.bound,
            proved_by="lagrangian",
            covers=None if covers >= known.most else covers,
        )

    def _known(self, view: Any, space: Any) -> Any:
        return self._bounding(view, space).tree

    def _states(self, view: Any, space: Any) -> Any:
        try:
            return super()._states(view, space)
        except OverflowError as too_many:
            upper = float(view.to_value(self._extent(view, space)))
            less = (
                "length or the number of antecedents"
                if isinstance(space, RuleLists)
                else "depth or the number of tests"
            )
            raise Unsupported(
                f"{self.name} up to the value {upper:g}: {too_many}; lower the {less}, or raise max_columns."
            ) from None

    # -- how much of the hypergraph ----------------------------------------------------------------

    def _bounding(self, view: Any, space: Any) -> Any:
        """Multipliers, bound and a feasible tree, once per view and space."""
        from milp_trees.engines.lagrangian.bounding import bounding
        from milp_trees.lists.hypergraph.reduced import bounded_lists

        key = ("bounding", space)
        if key not in view.memo and isinstance(space, RuleLists):
            view.memo[key], view.memo["lists", space] = bounded_lists(view, space)
        elif key not in view.memo:
            view.memo[key] = bounding(view, space)
        return view.memo[key]

    def _whole(self, view: Any, space: Any) -> int:
        """The largest value of a tree in the whole model."""
        known = self._bounding(view, space)
        if known.bound is None:  # no tree satisfies the side rows
            return view.fixed_cost - 1
        return int(known.most if known.value is None else known.value)

    def _extent(self, view: Any, space: Any) -> int:
        return int(view.memo.get("extent", self._whole(view, space)))

    def _hypergraph(self, view: Any, space: Any) -> Any:
        from milp_trees.engines.hypergraph.shrink import shrink
        from milp_trees.engines.hypergraph.within_bound import TreesWithin

        known, key = self._bounding(view, space), ("reduction", space, self.label)
        upper, last = self._extent(view, space), self._whole(view, space)
        if isinstance(space, RuleLists):
            h = shrink(view.memo["lists", space], view, [known.multipliers], upper)
            if h.n_columns > self.max_columns:
                raise OverflowError(
                    f"it has {h.n_columns:,} columns, where at most {self.max_columns:,} are allowed"
                )
            return h
        if key not in view.memo:
            merge = not view.structure
            grown = TreesWithin(
                view,
                space,
                known.multipliers,
                merge=merge,
                max_states=self.max_states,
                max_columns=self.max_columns,
            )
            view.memo[key] = grown, _small(grown, last) if known.tree and upper < last else None
        grown, whole = view.memo[key]
        # To grow takes longer than to shrink what is grown.
        return (
            grown.within(upper)
            if whole is None
            else shrink(whole, view, [known.multipliers], upper)
        )


def _small(grown: Any, upper: int) -> Any:
    """The hypergraph up to a value, or None if it is not small."""
    most, grown.max_columns = grown.max_columns, min(SMALL, grown.max_columns)
    try:
        return grown.within(upper)
    except OverflowError:
        return None
    finally:
        grown.max_columns = most
