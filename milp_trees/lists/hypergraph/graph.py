"""The hypergraph of states of rule lists behind the formulation state-flow.

Compiled code enumerates it breadth-first.

A state is the set of (merged) rows that no rule has captured yet, with the number of rules that are
left. Prefixes that leave the same rows are one state. Its columns: *stop*, where the default rule
takes an action for all rows of the state; *rule*, an antecedent with the action of the rows that it
captures, into the state of the others; and with one rule left *last rule*, which is a rule and the
default rule at once. Every rule captures a row, and leaves one to the rules after it.

Some columns are left out, because an optimum exists without them: of the columns of one state that
lead to the same next state with the same side numbers all but the cheapest; last rules that cost no
less than a stop with the same side numbers; and every column for which the least cost of the rules
before it, its own, and the cheapest action of every row after it are together more than a bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.engines.hypergraph.all_states import assemble
from milp_trees.engines.hypergraph.graph import LAST, SPLIT, STOP, States
from milp_trees.engines.kit.compile import compile_once, tiny_view
from milp_trees.lists.rule_list import Rule, RuleList
from milp_trees.tasks.captured_share import DefaultOnly
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.lists.hypergraph.levels import Rules


@dataclass(frozen=True, eq=False)
class Chains(States):
    """States and columns of rule lists; state 0 is the root.

    The fields are those of `States`, with these meanings: `depth_left` is the number of rules that
    are left, and a split is a rule. `test` is its antecedent, `action_right` the action of the rows
    that it captures, and `child_left` the state of the others; `child_right` is -1. A last rule has
    the action of the default rule in `action_left`.

    Parameters
    ----------
    known : RuleList, optional
        A list that satisfies all constraints; more expensive ones need not be in the
        hypergraph.
    """

    known: RuleList | None = None

    noun: ClassVar[str] = "list"

    def predictor(self, on: Iterable[int], view: CostMatrix) -> RuleList:
        """The list that columns describe, one for every state that it passes."""
        chosen = {int(self.state[c]): c for c in on}
        rules: list[Rule] = []
        s = 0
        while True:
            c = chosen[s]
            if self.kind[c] != STOP:
                antecedent = view.antecedents[int(self.test[c])]
                rules.append(Rule(antecedent, int(self.action_right[c])))
            if self.kind[c] != SPLIT:
                return RuleList(tuple(rules), int(self.action_left[c]), view.actions)
            s = int(self.child_left[c])

    def words(self, c: int, view: CostMatrix) -> str:
        """A column in words."""
        here, end = f"state {self.state[c]}: ", view.actions[self.action_left[c]]
        if self.kind[c] == STOP:
            return f"{here}the default rule says {end}"
        rule = f"{here}if {view.features[self.test[c]].name}: {view.actions[self.action_right[c]]}"
        if self.kind[c] == LAST:
            return f"{rule}, else: {end}"
        return f"{rule}, else to state {self.child_left[c]}"

    def follow(self, predictor: Any, view: CostMatrix) -> list[int]:
        """Columns of a list, or of an equivalent one.

        The other list costs no more, is no longer, and has the same side numbers. In the given list
        every rule captures a row and leaves one.
        """
        out: list[int] = []
        s, rows = 0, np.arange(view.n_rows)
        for rule in predictor.rules:
            f = view.index[rule.antecedent]
            held = view.X[rows, f] == 1
            if self.depth_left[s] == 1:
                end = (LAST, f, predictor.default, rule.action)
                out.append(self._column(s, end, rows, held, view))
                return out
            out.append(self._column(s, (SPLIT, f, -1, rule.action), rows, held, view))
            s, rows = int(self.child_left[out[-1]]), rows[~held]
        end = (STOP, -1, predictor.default, predictor.default)
        out.append(self._column(s, end, rows, np.zeros(len(rows), dtype=bool), view))
        return out

    def _column(
        self,
        s: int,
        wanted: tuple[int, int, int, int],
        rows: np.ndarray,
        held: np.ndarray,
        view: CostMatrix,
    ) -> int:
        """The column of a state with a kind, antecedent and actions, or one with its effect."""
        kind, test, left, right = wanted
        exact = self._exactly(s, kind, test, left, right)
        if exact is not None:
            return exact
        here = np.arange(*self.columns_of(s).indices(self.n_columns))
        if not merges(view):  # another column has another effect
            return self._cheapest(here[:0])
        side = [
            int(row.coefs[rows[held], right].sum())
            + (int(row.coefs[rows[~held], left].sum()) if kind != SPLIT else 0)
            for row in view.side
        ]
        fits = (self.kind[here] == kind) | ((self.kind[here] == STOP) & (kind == LAST))
        fits &= (self.side[here] == np.array(side, dtype=np.int64)).all(axis=1)
        if kind == SPLIT:
            fits &= (view.X[np.ix_(rows, self.test[here])] == held[:, None]).all(axis=0)
        return self._cheapest(here[fits])


def merges(view: CostMatrix) -> bool:
    """Whether columns with the same rows, cost and side numbers are interchangeable."""
    return all(isinstance(part, DefaultOnly) for part in view.structure)


def enumerate_chains(
    view: CostMatrix,
    rules: Rules,
    most: int | None = None,
    priced: CostMatrix | None = None,
    max_states: int = 400_000,
    max_columns: int = 3_000_000,
    merge: bool = True,
) -> Chains:
    """All states and columns of rule lists within a bound."""
    warm_up()
    from milp_trees.lists.hypergraph.levels import ListStates

    run = ListStates(view, rules, priced, most, max_states, max_columns, merge)
    return assemble(run, Chains)


def warm_up() -> None:
    """Compile the kernels, once per process; later processes read them from files."""

    def enumerate_tiny() -> None:
        from milp_trees.engines.hypergraph.row_sets import SetTable
        from milp_trees.lists.hypergraph.levels import Rules

        enumerate_chains(tiny_view(side=True), Rules(1, 1))
        SetTable.of(1, 1).with_room(2)

    compile_once("the enumeration of rule lists", enumerate_tiny)
