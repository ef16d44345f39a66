r"""The position model of rule lists: which antecedent with which action stands at which position.

With antecedents j that hold on row i where :math:`A_{ij}=1`, positions :math:`k=1..K`, actions c
and the default rule as position 0: :math:`x_{kjc}=1` iff the rule at position k is j with action c,
:math:`q_c=1` iff the default rule takes action c, :math:`v_{ikc}=1` iff row i is captured at
position k and gets action c. With :math:`h_{ik}=\sum_{j:A_{ij}=1}\sum_cx_{kjc}`, which says whether
the rule at position k holds on row i,

.. math::
   \min\ & \sum_{i,k,c}r_{ic}v_{ikc}+\sum_{k,j,c}\mathrm{price}_jx_{kjc}\\
   & \textstyle\sum_{j,c}x_{kjc}\le1,\quad \sum_{j,c}x_{kjc}\le\sum_{j,c}x_{k-1,j,c},\quad
     \sum_{k,c}x_{kjc}\le1,\quad \sum_cq_c=1,\\
   & \textstyle\sum_{k\ge0,c}v_{ikc}=1,\quad v_{ikc}\le\sum_{j:A_{ij}=1}x_{kjc}\ (k\ge1),\quad
     v_{i0c}\le q_c,\quad \sum_{1\le q\le k}\sum_cv_{iqc}\ge h_{ik},\\
   & \textstyle\ell\le\sum_{i,k,c}a_{ic}v_{ikc}\le u,\quad
     \sum_{i,c}n_iv_{ikc}\ge N_{\min}\sum_{j,c}x_{kjc}.

With integer x and q the other variables are 0 or 1: the fourth row of the second group forces row i
to the first position whose rule holds on it. Rules with pre-mined antecedents at ordered positions
go back to Rudin and Ertekin (2018), "Learning customized and optimized lists of rules with
mathematical programming", doi:10.1007/s12532-018-0143-8, whose model ranks rules by heights; here a
position is a 0/1 choice. There, one variable per row says whether it is wrong; v with an action
takes any costs and side rows instead.

There are as many positions as a list may have rules. Where that number is not limited, the cost of
a list that is known limits it, as for `state-flow`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.common.registering import register
from milp_trees.lists.rule_list import Rule, RuleList
from milp_trees.lists.space import RuleLists
from milp_trees.mip.formulation import ModelSize
from milp_trees.mip.tree_formulation import TreeFormulation
from milp_trees.problems.problem import Problem
from milp_trees.tasks.captured_share import DefaultOnly
from milp_trees.tasks.views import CostMatrix

from . import _tree_structure as ts
from ._state_structure import unsupported_lists


@register
@dataclass(frozen=True)
class Position(TreeFormulation):
    """The position model."""

    name = "position"
    title = "Position model of rule lists"
    reference = "https://doi.org/10.1007/s12532-018-0143-8"
    space = RuleLists
    shared_components = TreeFormulation.shared_components | {
        "state-flow"
    }  # the limit on the length, from a beam search
    default_rank = 100  # the last resort: its relaxation is weak
    implied_integer = True
    has_full_tree = False
    takes_structure = frozenset({DefaultOnly.kind})
    leaves_out = "has no more positions than a list has that is better than a known one"
    redundant = {
        "in_order": "an empty position between two rules means the same as one at the end; without the row every list has many copies",
        "once": "a rule with an antecedent that an earlier one has captures nothing, and has a price of at least 0",
    }

    def unsupported_view(self, view: CostMatrix, space: Any) -> str | None:
        return unsupported_lists(self.name, view)

    def templates(self, view: CostMatrix, space: Any) -> bool:
        return bool(_length(view, space)) and view.n_features > 0

    def declare(self, m: Any, view: CostMatrix, space: RuleLists) -> None:
        K = _length(view, space)
        m.positions = pyo.RangeSet(1, K, doc="positions k of rules")
        m.later = pyo.Set(initialize=range(2, K + 1), doc="positions after the first")
        m.places = pyo.RangeSet(0, K, doc="positions, and 0 for the default rule")
        m.rows = pyo.RangeSet(0, view.n_rows - 1, doc="rows i (merged rows count once)")
        m.features = pyo.RangeSet(0, view.n_features - 1 if K else -1, doc="antecedents j")
        m.actions = pyo.RangeSet(0, view.n_actions - 1, doc="actions c")
        m.before = pyo.Set(
            m.positions,
            initialize=lambda m, k: range(1, k + 1),
            domain=pyo.Any,
            doc="positions up to k",
        )
        m.true = pyo.Set(
            m.rows,
            initialize=lambda m, i: np.flatnonzero(view.X[i]).tolist(),
            domain=pyo.Any,
            doc="antecedents that hold on row i",
        )
        m.x = pyo.Var(
            m.positions,
            m.features,
            m.actions,
            domain=pyo.Binary,
            doc="x[k,j,c] = 1 iff the rule at position k has antecedent j and action c",
        )
        m.q = pyo.Var(m.actions, domain=pyo.Binary, doc="q[c] = 1 iff the default action is c")
        m.v = pyo.Var(
            m.rows,
            m.places,
            m.actions,
            domain=pyo.NonNegativeReals,
            doc="v[i,k,c] = 1 iff row i is captured at position k and gets action c",
        )
        _rules(m)
        _captures(m)
        ts.add_side_rows(m, view, lambda i, c: [m.v[i, k, c] for k in m.places])
        _limits(m, view, space)
        _objective(m, view)

    def meanings(self, m: Any, problem: Problem) -> Mapping[str, Callable[[Any], str]]:
        rule = {"positions": lambda k: f"rule {k}", "later": lambda k: f"rule {k}"}
        place = {"places": lambda k: f"rule {k}" if k else "the default rule"}
        return {**super().meanings(m, problem), **rule, **place}

    def decode(self, m: Any) -> RuleList:
        view = m.view
        chosen = sorted(key for key, x in m.x.items() if x.value > 0.5)
        rules = tuple(Rule(view.antecedents[j], c) for _, j, c in chosen)
        return RuleList(rules, next(c for c in m.actions if m.q[c].value > 0.5), view.actions)

    def encode(self, predictor: RuleList, m: Any) -> None:
        view = m.view
        rules = view.canonical(predictor).prune_empty(view)
        if rules.length > len(m.positions):
            raise LookupError("The model has fewer positions than the list has rules.")
        stands = {
            (k, view.index[rule.antecedent], rule.action)
            for k, rule in enumerate(rules.rules, start=1)
        }
        for key, x in m.x.items():
            x.set_value(int(key in stands), skip_validation=True)
        for c in m.actions:
            m.q[c].set_value(int(c == rules.default), skip_validation=True)
        routes = rules.routes(view)
        place = np.where(routes.leaf < rules.length, routes.leaf + 1, 0).tolist()
        action = routes.action.tolist()
        for (i, k, c), v in m.v.items():
            v.set_value(int(k == place[i] and c == action[i]), skip_validation=True)

    def model_size(self, view: CostMatrix, space: RuleLists) -> ModelSize:
        n, F, C = view.n_rows, view.n_features, view.n_actions
        K, held = _length(view, space), int(view.X.sum())
        rows, nonzeros = 2 * K - (K > 0), (3 * K - 2) * F * C if K else 0  # one_rule, in_order
        if K and F:
            rows, nonzeros = rows + F, nonzeros + F * K * C  # once
        elif not F:
            rows = 0
        rows, nonzeros = rows + 1, nonzeros + C  # one_default
        rows, nonzeros = rows + n, nonzeros + n * (K + 1) * C  # captured
        rows, nonzeros = rows + n * C * (K + 1), nonzeros + n * C * (K + 2) + K * C * held
        first = K * (K + 1) // 2
        rows, nonzeros = rows + n * K, nonzeros + n * C * first + K * C * held
        for side in view.side:
            rows, nonzeros = rows + 1, nonzeros + (K + 1) * int((side.coefs != 0).sum())
        if space.min_samples_rule > 1 and K:
            rows, nonzeros = rows + K, nonzeros + K * C * (n + F)
        if view.structure and K:
            rows, nonzeros = rows + 1, nonzeros + K * F
        return ModelSize(K * F * C + C + n * (K + 1) * C, K * F * C + C, rows, nonzeros)


def _length(view: CostMatrix, space: RuleLists) -> int:
    from milp_trees.lists.hypergraph.bounded import longest

    return longest(view, space)


def _rules(m: Any) -> None:
    """The rules: at most one per position, without gaps, and no antecedent twice."""

    @m.Constraint(m.positions, doc="at most one rule per position")
    def one_rule(m: Any, k: Any) -> Any:
        return sum(m.x[k, j, c] for j in m.features for c in m.actions) <= 1

    @m.Constraint(m.later, doc="no empty position before a rule")
    def in_order(m: Any, k: Any) -> Any:
        return sum(m.x[k, j, c] for j in m.features for c in m.actions) <= sum(
            m.x[k - 1, j, c] for j in m.features for c in m.actions
        )

    @m.Constraint(m.features, doc="an antecedent stands at most at one position")
    def once(m: Any, j: Any) -> Any:
        return sum(m.x[k, j, c] for k in m.positions for c in m.actions) <= 1

    m.one_default = pyo.Constraint(
        expr=sum(m.q[c] for c in m.actions) == 1, doc="the default rule has one action"
    )


def _captures(m: Any) -> None:
    """Every row is captured by the first rule that holds on it."""

    @m.Constraint(m.rows, doc="every row is captured once, or left to the default rule")
    def captured(m: Any, i: Any) -> Any:
        return sum(m.v[i, k, c] for k in m.places for c in m.actions) == 1

    @m.Constraint(m.rows, m.positions, m.actions, doc="only by a rule that holds on it")
    def holds(m: Any, i: Any, k: Any, c: Any) -> Any:
        return m.v[i, k, c] <= sum(m.x[k, j, c] for j in m.true[i])

    @m.Constraint(m.rows, m.actions, doc="the default rule gives its action")
    def default(m: Any, i: Any, c: Any) -> Any:
        return m.v[i, 0, c] <= m.q[c]

    @m.Constraint(m.rows, m.positions, doc="not after the first rule that holds on it")
    def first(m: Any, i: Any, k: Any) -> Any:
        return sum(m.v[i, p, c] for p in m.before[k] for c in m.actions) >= sum(
            m.x[k, j, c] for j in m.true[i] for c in m.actions
        )


def _limits(m: Any, view: CostMatrix, space: RuleLists) -> None:
    """The smallest number of rows of a rule, and actions that only the default rule takes."""
    least = space.min_samples_rule
    if least > 1:
        m.count = pyo.Param(
            m.rows,
            initialize=dict(enumerate(view.counts.tolist())),
            doc="original rows that row i stands for",
        )

        @m.Constraint(m.positions, doc="a rule captures at least min_samples_rule rows")
        def rule_size(m: Any, k: Any) -> Any:
            return sum(m.count[i] * m.v[i, k, c] for i in m.rows for c in m.actions) >= least * sum(
                m.x[k, j, c] for j in m.features for c in m.actions
            )

    if view.structure and len(m.x):
        action = view.structure[0].action  # several would be unsupported
        m.only_default = pyo.Constraint(
            expr=sum(m.x[k, j, action] for k in m.positions for j in m.features) <= 0,
            doc="only the default rule takes this action",
        )


def _objective(m: Any, view: CostMatrix) -> None:
    prices = (view.split_costs + view.leaf_cost).tolist()
    rules = [(prices[j], x) for (_, j, _), x in m.x.items() if prices[j]]
    rows = [
        (int(view.regret[i, c]), m.v[i, k, c])
        for i, c in np.argwhere(view.regret).tolist()
        for k in m.places
    ]
    ts.minimise(
        m,
        [cost for cost, _ in rows + rules],
        [variable for _, variable in rows + rules],
        int(view.base.sum()) + view.leaf_cost,
        "cost of the chosen actions, and prices of the rules",
    )
