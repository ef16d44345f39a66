"""Deliberately wrong variants of the models of rule lists; none of them is registered."""

from dataclasses import replace

import numpy as np
import pyomo.environ as pyo

from milp_trees import RuleList
from milp_trees.mip.registry import registry

Position = type(registry.formulation("position"))
StateFlow = type(registry.formulation("state-flow"))


class CapturedByNoRule(Position):
    """Rows are captured at positions whose rule does not hold on them."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.holds.deactivate()


class CapturedLater(Position):
    """A row may pass a rule that holds on it."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.first.deactivate()


class DefaultOfEveryRow(Position):
    """The default rule gives every row the action that the row likes best."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.default.deactivate()


class RandomDefault(Position):
    """The default rule may take every action by a fraction, which satisfies side rows."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        for q in m.q.values():
            q.domain = pyo.UnitInterval


class TwoRulesInOne(Position):
    """Two rules stand at one position."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.one_rule.deactivate()


class NeverTheLastAction(Position):
    """The rule at the last position never takes the last action."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        K, c = len(m.positions), view.n_actions - 1
        if len(m.x):
            last = sum(m.x[K, j, c] for j in m.features)
            m.never = pyo.Constraint(expr=last <= 0, doc="too tight")


class ShorterLists(Position):
    """The longest lists are forbidden."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        if len(m.x):
            used = sum(m.x.values())
            m.shorter = pyo.Constraint(expr=used <= len(m.positions) - 1, doc="too tight")


class FreeRules(Position):
    """Rules have no price."""

    def declare(self, m, view, space):
        free = replace(view, split_costs=0 * view.split_costs, leaf_cost=0)
        super().declare(m, free, space)
        m.objective.expr += view.leaf_cost


class ComplementsCapture(Position):
    """A rule captures the rows on which its antecedent does not hold."""

    def declare(self, m, view, space):
        super().declare(m, replace(view, X=1 - view.X), space)


class RowsOfOneAnother(Position):
    """Merged rows count once in the size of a rule."""

    def declare(self, m, view, space):
        super().declare(m, replace(view, counts=np.ones_like(view.counts)), space)


class ReadBackwards(Position):
    """The rules are decoded in the opposite order."""

    def decode(self, m):
        found = super().decode(m)
        return RuleList(found.rules[::-1], found.default, found.actions)


class ForgetsTheBox(Position):
    """Every rule may leave its rows to the black box."""

    def declare(self, m, view, space):
        super().declare(m, replace(view, structure=()), space)


class LostRules(StateFlow):
    """No list begins with the first rule of the best one."""

    name = "lost-rules"  # its hypergraph is kept apart

    def _hypergraph(self, view, space):
        from milp_trees.engines.hypergraph.parts import alive

        h = super()._hypergraph(view, space)
        first = h.follow(h.known, view)[0]
        return alive(h, (h.state != 0) | (h.test != h.test[first]) | (h.test < 0))


class WrongState(StateFlow):
    """Every rule leads to the last state that a rule leads to."""

    name = "wrong-state"  # its hypergraph is kept apart

    def _hypergraph(self, view, space):
        h = super()._hypergraph(view, space)
        at = (h.child_left >= 0) & (h.depth_left[h.state] == h.depth_left[0])
        last = h.child_left[at].max(initial=-1)
        return replace(h, child_left=np.where(at, last, h.child_left))


class RulesWithoutSideNumbers(StateFlow):
    """Only the default rule counts in the side rows."""

    name = "rules-without-side-numbers"  # its hypergraph is kept apart

    def _hypergraph(self, view, space):
        h = super()._hypergraph(view, space)
        return replace(h, side=np.where((h.child_left >= 0)[:, None], 0, h.side))


class BoxAnywhere(StateFlow):
    """As above, for states."""

    name = "box-anywhere"  # its hypergraph is kept apart

    def _hypergraph(self, view, space):
        free = replace(view, structure=())
        return super()._hypergraph(free, space)


#: Wrong model → a problem of the suite that shows the fault.
WRONG = {
    CapturedByNoRule: "two_rules_in_one",
    CapturedLater: "order_matters",
    DefaultOfEveryRow: "two_rules_in_one",
    RandomDefault: "parity",
    TwoRulesInOne: "two_rules_in_one",
    NeverTheLastAction: "two_rules_in_one",
    ShorterLists: "two_rules_in_one",
    FreeRules: "parity",
    ComplementsCapture: "two_rules_in_one",
    RowsOfOneAnother: "copies_make_a_rule_large",
    ReadBackwards: "order_matters",
    ForgetsTheBox: "no_rule_is_the_black_box",
    LostRules: "two_rules_in_one",
    WrongState: "complement_first",
    RulesWithoutSideNumbers: "capacity",
    BoxAnywhere: "no_rule_is_the_black_box",
}
