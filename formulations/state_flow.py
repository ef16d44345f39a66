r"""State-flow: one block of the model per *set of rows* instead of per row.

A **state** is the set of rows that reach a node together with the remaining depth; paths that lead
to the same rows are one state. In a state the tree does one of three things, each a 0/1 **column**
whose cost is a sum of costs of rows (no subproblem is optimised):

* *stop* with an action k;
* *split* by a test f into two states with one level less;
* with one level left, *last split*: the test and the actions of both leaves together, so that
  leaves need no states.

With :math:`x_c` for column c, :math:`\operatorname{out}(s)` the columns that leave state s and
:math:`\operatorname{in}(s)` the splits that enter it,

.. math::
   \min \sum_c \mathrm{cost}_c x_c,\qquad
   \sum_{c\in\operatorname{out}(s)}x_c-\sum_{c\in\operatorname{in}(s)}x_c
     =[s\text{ is the root}]\quad\forall s,\qquad
   \ell\le\sum_c a_cx_c\le u .

A split enters both children, so the columns form a directed hypergraph. Without side rows the
relaxation has an integral optimum (dynamic programmes as linear programmes: Martin, Rardin,
Campbell 1990, "Polyhedral characterization of discrete dynamic programming"). Any linear function
of the leaves' actions is one number per column, so side constraints are rows. Of columns of one
kind in one state with equal side numbers only the cheapest is kept; of tests that divide a state in
the same way, too. Constraints on the tree itself (`_state_structure`) need all of them.

**Leaves that cost a function of sums** (squared error, likelihoods). The best leaf of a state is a
constant, so there is one stop, and the relaxation is integral as before. Costs are exact integers of
up to 51 bits; the model has them in units of a power of two, as doubles. A solver's answer is a
claim within its tolerances: the value is that of the decoded tree, and the bound follows from the
solver's duals, rounded to integers and lowered where a row of the dual asks for it.

**Rule lists.** A list is a tree of which one side ends at every node, so the same model takes them:
a state is the set of rows that no rule has captured, with the number of rules left; *split* is a
rule, an antecedent with the action of the rows that it captures, into the one state of the others;
*stop* is the default rule, and *last split* the last rule with the default rule. Prefixes that leave
the same rows are one state. A column is left out if the cheapest rules before it, its own cost and
the cheapest action of every row after it are together more than the cost U of a list that is known
(the equivalent-points and look-ahead bounds of Angelino et al. 2018; a beam search finds the list,
and the solver starts with it). Where nothing else limits the length, U does: a list of L rules
costs at least the cheapest action of every row, and L + 1 leaves and L rules at their lowest price.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression
from scipy import sparse

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import DataError, Unsupported
from milp_trees.common.limits import Deadline
from milp_trees.common.registering import register
from milp_trees.lists.space import RuleLists
from milp_trees.methods.claims import Claims
from milp_trees.mip.formulation import ModelSize, Stage
from milp_trees.mip.linear.matrix import matrix_rows
from milp_trees.mip.tree_formulation import TreeFormulation
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.leaf_order import LeafOrder
from milp_trees.tasks.views import CostMatrix, LeafSums

from ._leaf_order import OrderCuts
from ._state_structure import KINDS, groups, restricted, structure_rows, unsupported_lists

STOP = 0
#: The largest loss in units of the objective is at most this: far above the absolute tolerances of
#: solvers, far below their infinities.
LARGEST_LOSS = 2**20
#: Error of a solver's dual, in units of the objective, that is made good in integers.
DUAL_ERROR = 2.0**-10


def _tolerance(h: Any) -> dict[str, float]:
    """The option that keeps HiGHS exact on side rows with large coefficients.

    A variable that is integral up to 1e-6 changes a row with a coefficient of 1e8 by 100, and the
    rounded point then breaks the row.
    """
    largest = float(np.abs(h.side).max(initial=0)) if h.side is not None else 0.0
    return {} if largest <= 1e5 else {"mip_feasibility_tolerance": max(1e-10, 0.1 / largest)}


@register
@dataclass(frozen=True)
class StateFlow(TreeFormulation):
    """The state-flow model.

    Parameters
    ----------
    max_states : int
        Problems with more states are unsupported; the sentence says how many were counted.
    max_columns : int
        The same for columns.
    """

    name = "state-flow"
    title = "State-flow (hypergraph of row sets)"
    shared_components = frozenset()
    verification_rank = 50
    reference = "docs/reference/formulations.md"
    redundant = {
        "node_rates": "the side rows bound the whole tree, which up to depth 2 is the only state that is split into states; deeper trees need it"
    }
    integral_relaxation = True
    proves = True
    has_full_tree = False
    takes_min_weight = True
    takes_min_treatment = True
    default_rank = 70
    reference_rank = 60
    takes_structure = KINDS
    changeable = frozenset({"side", "leaves"})
    leaves_out = "keeps one of several splits with the same rows on each side, and the cheapest action of a leaf"
    space = (Trees, RuleLists)
    needs = (CostMatrix, LeafSums)

    max_states: int = 400_000
    max_columns: int = 3_000_000

    def __post_init__(self) -> None:
        if self.max_states < 1 or self.max_columns < 1:
            raise DataError(
                f"state-flow takes max_states and max_columns of at least 1; got {self.max_states} and {self.max_columns}."
            )

    def warm_up(self, space: Any = None) -> None:
        from milp_trees.engines.hypergraph import all_states as states
        from milp_trees.lists.hypergraph import graph as chains

        if not isinstance(space, RuleLists):
            states.warm_up()
        if not isinstance(space, Trees):
            chains.warm_up()

    def unsupported_view(self, view: Any, space: Any) -> str | None:
        lists = isinstance(space, RuleLists)
        if why := self._unsupported_sums(view, lists):
            return why
        if lists and (why := unsupported_lists(self.name, view)):
            return why
        try:
            self._states(view, space)
        except OverflowError as too_many:
            less = (
                "length or the number of antecedents" if lists else "depth or the number of tests"
            )
            return f"{self.name}: {too_many}; lower the {less}, or raise max_states."
        return None

    def _unsupported_sums(self, view: LeafSums, lists: bool) -> str | None:
        """Why leaves that cost a function of sums cannot be taken, or None."""
        if lists and not isinstance(view, CostMatrix):
            return f"{self.name} takes rule lists whose rules choose among actions; ask for a tree (--depth)."
        return None

    def objective_unit(self, view: LeafSums) -> int:
        if isinstance(view, CostMatrix):
            return 1
        return 2 ** max(0, math.ceil(math.log2(max(1, view.size / LARGEST_LOSS))))

    def bound_from(self, view: LeafSums, space: Any, duals: Mapping[str, np.ndarray]) -> int | None:
        from milp_trees.engines.hypergraph import dual

        if view.side or view.structure or space.limits_leaves or "balance" not in duals:
            return None
        h = self._states(view, space)
        error = math.ceil(DUAL_ERROR * self.objective_unit(view))
        return dual.bound_of(h, duals["balance"], error) + view.fixed_cost

    def _states(self, view: LeafSums, space: Any) -> Any:
        """The hypergraph, made once per view and space."""
        name, key = f"states of {self.label}", (space, self._extent(view, space))
        if view.memo.get(name, (None,))[0] != key:
            found: Any
            began = run_clock()
            try:
                found = restricted(self._hypergraph(view, space), view)
            except OverflowError as too_many:
                found = too_many
            view.memo[name] = key, found
            view.memo["states-seconds"] = run_clock() - began
        found = view.memo[name][1]
        if isinstance(found, OverflowError):
            raise found
        return found

    def _extent(self, view: LeafSums, space: Any) -> Any:
        """What decides how much of the hypergraph is made, beside the space."""
        return None

    def hand_on(self, m: Any, view: LeafSums, space: Any) -> None:
        # Neither the bounds of side rows nor the limit on leaves decide what a state can do.
        key = (space, self._extent(view, space))
        view.memo[f"states of {self.label}"] = key, m.hypergraph
        view.memo["states-seconds"] = 0.0

    def _hypergraph(self, view: LeafSums, space: Any) -> Any:
        from milp_trees.engines.hypergraph.all_states import enumerate_states
        from milp_trees.lists.hypergraph.bounded import bounded_chains

        if isinstance(space, RuleLists):
            assert isinstance(view, CostMatrix)
            return bounded_chains(view, space, self.max_states, self.max_columns)
        merge = not view.structure
        return enumerate_states(view, space, self.max_states, self.max_columns, merge)

    def stage(self, problem: Problem) -> Stage:
        model = self.assemble(problem)
        seconds = model.view.memo.get("states-seconds", 0.0)
        return Stage(
            model,
            incumbent=self._known(model.view, model.space),
            seconds={"enumerate": seconds},
            sizes={"states": int(model.hypergraph.n_states)},
        )

    def _known(self, view: LeafSums, space: Any) -> Any:
        """A feasible predictor that was found with the hypergraph; None if there is none."""
        return self._states(view, space).known if isinstance(space, RuleLists) else None

    def declare(self, m: Any, view: LeafSums, space: Any) -> None:
        h = self._states(view, space)
        m.hypergraph = h
        m.states = pyo.RangeSet(
            0, h.n_states - 1, doc="states s: sets of rows with a remaining depth"
        )
        m.columns = pyo.RangeSet(
            0, h.n_columns - 1, doc="columns c: stop, split or last split in a state"
        )
        m.x = pyo.Var(
            m.columns, domain=pyo.Binary, doc="x[c] = 1 iff the tree does c in the state of c"
        )
        x = list(m.x.values())
        m.balance = matrix_rows(
            x,
            h.incidence(),
            *[(np.arange(h.n_states) == 0).astype(float)] * 2,
            doc="columns that leave a state - splits that enter it = 1 at the root, else 0",
        )
        if view.side:
            lower = np.array([-np.inf if r.lower is None else r.lower for r in view.side])
            upper = np.array([np.inf if r.upper is None else r.upper for r in view.side])
            m.side = matrix_rows(
                x,
                sparse.csr_matrix(h.side.T.astype(float)),
                lower,
                upper,
                doc="side constraints on the actions",
            )
        if space.limits_leaves:
            splits = sparse.csr_matrix((h.kind != STOP).astype(float)[None, :])
            m.most_splits = matrix_rows(
                x,
                splits,
                np.array([-np.inf]),
                np.array([float(space.max_splits)]),
                doc="at most max_leaf_nodes - 1 splits",
            )
        self._declare_structure(m, x, h, view)
        used = np.flatnonzero(h.cost).tolist()
        unit = self.objective_unit(view)
        costs = (h.cost[used] if unit == 1 else h.cost[used] / unit).tolist()
        m.objective = pyo.Objective(
            expr=LinearExpression(
                constant=view.fixed_cost, linear_coefs=costs, linear_vars=[x[c] for c in used]
            ),
            doc="cost of the columns above the cost that no tree avoids",
        )

    def _declare_structure(self, m: Any, x: list[Any], h: Any, view: LeafSums) -> None:
        """Rows for constraints on the tree itself, with an indicator per group of features."""
        every = groups(view)
        if every:
            m.groups = pyo.RangeSet(
                0, len(every) - 1, doc="groups g of tests that constraints count"
            )
            m.u = pyo.Var(
                m.groups, domain=pyo.Binary, doc="u[g] = 1 iff the tree tests the group g"
            )
        both = [*x, *(m.u.values() if every else ())]
        for rows in structure_rows(h, view):
            block = matrix_rows(both, rows.matrix, rows.lower, rows.upper, doc=rows.doc)
            setattr(m, rows.name, block)

    def separator(self, m: Any, matrix: Any) -> OrderCuts | None:
        """Cuts for monotone trees, since a path is more than the rows at its end."""
        orders = tuple(part for part in m.view.structure if isinstance(part, LeafOrder))
        return (
            OrderCuts(m.hypergraph, m.view.features, orders, matrix.n_variables) if orders else None
        )

    @property
    def complete(self) -> bool:
        return True

    def whole(self, problem: Problem) -> bool:
        structure = self.presolved_view(problem).structure
        return not any(isinstance(part, LeafOrder) for part in structure)

    def options_for(self, solver: str, view: LeafSums, space: Any) -> Mapping[str, Any]:
        if solver != "highs" or self.has_integral_relaxation(view, space):
            return {}
        # Presolve spends its time in probing.
        return {"presolve": "off", **_tolerance(self._states(view, space))}

    def relaxation_options_for(self, solver: str, view: LeafSums, space: Any) -> Mapping[str, Any]:
        if solver != "highs" or not self.has_integral_relaxation(view, space):
            return self.options_for(solver, view, space)
        # Interior point is faster if there are many states.
        return {"solver": "ipm" if self._states(view, space).n_states > 8000 else "simplex"}

    def has_integral_relaxation(self, view: LeafSums, space: Any) -> bool:
        return self.integral_relaxation and not (view.side or view.structure or space.limits_leaves)

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        h, view, every = m.hypergraph, m.view, groups(m.view)
        left = "rules" if isinstance(m.space, RuleLists) else "depth"
        return {
            "columns": lambda c: str(h.words(c, view)),
            "states": lambda s: f"{left} left {h.depth_left[s]}",
            "groups": lambda g: " or ".join(view.features[f].name for f in every[g]),
            "side": lambda j: str(view.side[j].name),
        }

    def claims(
        self, problem: Problem, duals: Callable[[], Mapping[str, np.ndarray]], deadline: Deadline
    ) -> Claims:
        from milp_trees.engines.hypergraph import dual

        if why := self.unproved(problem):
            raise Unsupported(why)
        view, space = self.presolved_view(problem), problem.space
        h, side = self._states(view, space), duals()["side"] if view.side else None
        return dual.claims(h, view, problem.view(CostMatrix), side, deadline)

    def unproved(self, problem: Problem) -> str | None:
        if not self.proves:
            return super().unproved(problem)
        if not problem.task.offers(CostMatrix):
            return f"{self.name} writes no proofs for leaves that cost a function of sums."
        view, space = problem.view(CostMatrix), problem.space
        why = ""
        if isinstance(space, RuleLists):
            why = "of rule lists, because its states hold only lists that may be better than a known one"
        elif view.structure or problem.trees.limits_leaves:
            why = "under limits on the leaves or constraints on the tree itself, because no multiplier stands for them"
        elif view.leaf_cost < 0 or (view.split_costs < 0).any():
            why = "for penalties below 0"
        return f"{self.name} writes no proofs {why}." if why else None

    def decode(self, m: Any) -> Any:
        on = [c for c in m.columns if m.x[c].value > 0.5]
        return m.hypergraph.predictor(on, m.view)

    def encode(self, predictor: Any, m: Any) -> None:
        h, view = m.hypergraph, m.view
        try:
            on = set(h.follow(view.canonical(predictor).prune_empty(view), view))
        except LookupError:
            known = self._known(view, m.space)
            if known is None:
                raise
            # The given one costs more than this one.
            on = set(h.follow(view.canonical(known).prune_empty(view), view))
        for c, x in m.x.items():
            x.set_value(int(c in on), skip_validation=True)
        tested = {int(h.test[c]) for c in on}
        for g, group in enumerate(groups(view)):
            m.u[g].set_value(int(not tested.isdisjoint(group)), skip_validation=True)

    def model_size(self, view: LeafSums, space: Any) -> ModelSize:
        h = self._states(view, space)
        entered = int((h.child_left >= 0).sum() + (h.child_right >= 0).sum())
        rows, nonzeros = h.n_states, h.n_columns + entered
        for j in range(len(view.side)):
            rows, nonzeros = rows + 1, nonzeros + int((h.side[:, j] != 0).sum())
        if space.limits_leaves:
            rows, nonzeros = rows + 1, nonzeros + int((h.kind != STOP).sum())
        variables = h.n_columns + len(groups(view))
        for block in structure_rows(h, view):
            rows, nonzeros = rows + block.matrix.shape[0], nonzeros + int(block.matrix.nnz)
        return ModelSize(variables, variables, rows, nonzeros)
