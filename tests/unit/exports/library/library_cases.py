"""Tiny problems as a SPEC states them, for libraries that are built within a second."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from milp_trees.decisions.testing.problems import decision_problem
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.testing import problem

MAKERS = {
    "trees": problem,
    "decisions": decision_problem,
    "pruned": lambda name: EXAMPLES[name](),
}


@dataclass(frozen=True)
class Tiny:
    """A stated problem: a tiny problem of the package by its name."""

    name: str
    kind: str = "trees"
    group: str = "tiny"
    recipe: Mapping[str, Any] = field(default_factory=dict)

    def build(self):
        return MAKERS[self.kind](self.name), None


def tiny_entries():
    """An optimum in two forms, a formulation that is no file, an infeasible problem, a pruning."""
    from milp_trees.exports.library.build import Entry

    return [
        Entry(Tiny("xor"), ("flow-oct", "benders-oct", "state-flow")),
        Entry(Tiny("cannot_hold"), ("flow-oct",)),
        Entry(Tiny("groups", "pruned"), ("ip3",)),
    ]
