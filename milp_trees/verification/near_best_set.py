"""A stored set of near-best models with its problem: what of it is recomputed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import VerificationError
from milp_trees.common.plurals import counted
from milp_trees.models.space import Trees
from milp_trees.problems.questions import NearBest
from milp_trees.tasks.views import CostMatrix
from milp_trees.verification.claims import as_fraction
from milp_trees.verification.fields import count
from milp_trees.verification.value import same

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


class NearBestSet:
    """A stored set with its problem.

    Parameters
    ----------
    data : mapping
        Its fields have the right kinds.
    problem : Problem
    """

    def __init__(self, data: Mapping[str, Any], problem: Problem) -> None:
        self.data, self.problem, self.view = data, problem, problem.view(CostMatrix)
        self.trees = isinstance(problem.space, Trees)
        self.models = "trees" if self.trees else "lists"
        self.asked = "tests" if self.trees else "antecedents"
        self.question = _question(data["question"])
        self.optimum = as_fraction(data["optimum_exact"], "optimum_exact")
        self.covered = as_fraction(data["covered"], "covered")
        self.values = {as_fraction(one["exact"], "exact"): one["count"] for one in data["values"]}

    def cost(self, value: Fraction) -> int:
        """A value in whole units of the view."""
        found = self.view.from_value(value)
        if found.denominator != 1:
            raise VerificationError(f"No model of this problem has the value {value}.")
        return int(found)

    @property
    def allowance(self) -> int:
        """The largest cost of a model of the set."""
        return self.cost(self.optimum) + int(self.covered / abs(self.view.scale))

    # -- what is recomputed ------------------------------------------------------------------------

    def check_numbers(self) -> str:
        """Check that slack, optimum, values and their counts fit each other."""
        data, slack = self.data, as_fraction(self.data["slack"], "slack")
        if not self.view.exact:
            raise VerificationError("Models are counted by exact values, and this task has none.")
        same("unit", data["unit"], self.problem.task.unit)
        same("optimum", float(data["optimum"]), float(self.optimum))
        same("slack", slack, self.question.allowance(self.optimum))
        if not 0 <= self.covered <= slack or data["complete"] != (self.covered == slack):
            raise VerificationError(
                f"The set covers {self.covered} of the slack {slack}, and says that it is {'' if data['complete'] else 'not '}complete."
            )
        costs = [self.cost(value) for value in self.values]
        within_slack = all(self.cost(self.optimum) <= Z <= self.allowance for Z in costs)
        if costs != sorted(costs) or len(costs) < len(data["values"]) or not within_slack:
            raise VerificationError(
                "The values are not those of a set: each stands once, best first, within the slack of the optimum."
            )
        counts = list(self.values.values())
        if not all(count(n) and n > 0 for n in counts) or sum(counts) != data["count"]:
            raise VerificationError(f"The counts per value do not add up to {data['count']}.")
        for value, one in zip(self.values, data["values"], strict=True):
            same("value", float(one["value"]), float(value))
        return "Slack, optimum, values and counts are consistent."

    def check_models(self) -> list[str]:
        """Check every listed and drawn model: its value, its limits and its place."""
        first = [self._check_model(one) for one in self.data[self.models]]
        drawn = [self._check_model(one) for one in self.data["sample"]]
        texts = [
            json.dumps(one[self.models[:-1]], sort_keys=True) for one in self.data[self.models]
        ]
        if len(set(texts)) < len(texts):
            raise VerificationError(f"Two of the listed {self.models} are the same.")
        left = dict(self.values)
        for value in first:
            best = next((v for v, n in left.items() if n), None)
            if value != best:
                raise VerificationError(
                    f"The {self.models} are listed best first, so that the next one has the value {best}; it has {value}."
                )
            left[value] -= 1
        if not first and not drawn:
            return []
        every = counted(len(first) + len(drawn), self.models[:-1])
        return [
            f"Value and limits of {every} were recomputed; no other is better than those listed."
        ]

    def _check_model(self, stated: Mapping[str, Any]) -> Fraction:
        model = self.problem.space.read(stated[self.models[:-1]])
        value = self.problem.value(model)
        if wrong := self.problem.violations(model):
            raise VerificationError(f"A model of the set is not feasible: {wrong[0]}.")
        if value.exact is None or str(value.exact) != stated["exact"]:
            raise VerificationError(f"A model states the value {stated['exact']}; it has {value}.")
        same("value", float(stated["value"]), value.number)
        if value.exact not in self.values:
            raise VerificationError(f"A model has the value {value}, which the set does not have.")
        return value.exact

    @property
    def said(self) -> str:
        """The number of models with their values, for sentences."""
        number = counted(self.data["count"], self.models[:-1])
        return f"{number} within {self.covered} of the optimum {self.optimum}"


def _question(stated: Mapping[str, Any]) -> NearBest:
    """The question that a set answers."""
    if set(stated) != {"slack", "relative", "trivial", "equal_tests"}:
        raise VerificationError(
            "The question of a set has slack, relative, trivial and equal_tests."
        )
    if type(stated["trivial"]) is not bool:
        raise VerificationError(f"trivial is true or false; it is {stated['trivial']!r}.")
    slack, relative = (
        None if stated[key] is None else as_fraction(stated[key], key)
        for key in ("slack", "relative")
    )
    return NearBest(slack, relative, stated["trivial"], stated["equal_tests"])
