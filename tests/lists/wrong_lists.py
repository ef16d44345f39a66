"""Deliberately wrong variants of the position model, and wrong methods for rule lists: what the checks
of rule lists are tested with. None of them is registered.
"""

from dataclasses import replace

import pyomo.environ as pyo

from milp_trees.lists.rule_list import RuleList
from milp_trees.lists.space import RuleLists
from milp_trees.methods.method import Method
from milp_trees.mip.registry import registry
from milp_trees.tasks.views import CostMatrix

Position = type(registry.formulation("position"))


def without(*names):
    """The model without some of its constraints."""

    class Without(Position):
        def declare(self, m, view, space):
            super().declare(m, view, space)
            for name in names:
                if m.component(name) is not None:
                    m.component(name).deactivate()

    return Without


class AnyRuleCaptures(without("holds")):
    """A rule captures rows on which it does not hold."""


class LaterRuleCaptures(without("first")):
    """A row may pass by a rule that holds on it."""


class ManyRulesAtOnce(without("one_rule")):
    """Several rules at one position."""


class SmallRules(without("rule_size")):
    """Rules may capture too few rows."""


class FreeRules(Position):
    """Rules cost nothing."""

    def declare(self, m, view, space):
        super().declare(m, replace(view, leaf_cost=0, split_costs=0 * view.split_costs), space)


class OneRuleLess(Position):
    """Lists are one rule too short."""

    def declare(self, m, view, space):
        less = max(0, (space.max_length or 3) - 1)
        super().declare(m, view, replace(space, max_length=less))


class DefaultIsNotFirst(Position):
    """The default rule never takes the first action."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        m.never = pyo.Constraint(expr=m.q[0] <= 0, doc="too tight")


class OneComplement(Position):
    """The first antecedent is read as its complement."""

    def declare(self, m, view, space):
        X = view.X.copy()
        X[:, :1] = 1 - X[:, :1]
        super().declare(m, replace(view, X=X), space)


class Reversed(Position):
    """The rules come out in the reverse order."""

    def decode(self, m):
        found = super().decode(m)
        return RuleList(found.rules[::-1], found.default, found.actions)


class OtherDefault(Position):
    """The default rule comes out with the first action."""

    def decode(self, m):
        found = super().decode(m)
        return RuleList(found.rules, 0, found.actions)


class MergedCounts(Position):
    """Merged rows count once where rules must capture enough rows."""

    def declare(self, m, view, space):
        super().declare(m, replace(view, counts=view.counts.clip(max=1)), space)

    def templates(self, view, space):
        return False  # the changed counts may leave no position


REJECTED = [
    AnyRuleCaptures,
    LaterRuleCaptures,
    ManyRulesAtOnce,
    SmallRules,
    FreeRules,
    OneRuleLess,
    DefaultIsNotFirst,
    OneComplement,
    Reversed,
    OtherDefault,
    MergedCounts,
]


class Other(Method):
    """A method of another author: the exact search for lists, whose answers it may spoil."""

    name = "another author's"
    title = "Exact search by another author"
    space = RuleLists
    needs = CostMatrix

    def unsupported_view(self, problem):
        return registry.method("dp-lists").unsupported(problem)

    def asked(self, problem):
        """The problem that it solves."""
        return problem

    def answer(self, result, problem):
        """The result that it gives."""
        return result

    def search(self, problem, limits, start, progress):
        found = registry.method("dp-lists").run(self.asked(problem), limits)
        return self.answer(replace(found, problem=problem, method=self.name), problem)


class NoPrices(Other):
    """It forgets the prices of rules."""

    def asked(self, problem):
        most = problem.space.longest(problem.view(CostMatrix))
        task = replace(problem.task, split_penalty=0, feature_costs=None)
        return replace(problem, task=task, space=replace(problem.space, max_length=most))


class SmallerRules(Other):
    """It forgets the smallest number of rows of a rule."""

    def asked(self, problem):
        return replace(problem, space=replace(problem.space, min_samples_rule=1))


class Proud(Other):
    """It stops at a single rule and calls that optimal."""

    def asked(self, problem):
        most = problem.space.max_length
        return replace(
            problem, space=replace(problem.space, max_length=1 if most is None else min(1, most))
        )


class HighBound(Other):
    """Its bound is above the optimum."""

    def answer(self, result, problem):
        return replace(result, root_bound=result.objective + 1)


WRONG_METHODS = [NoPrices, SmallerRules, Proud, HighBound]
