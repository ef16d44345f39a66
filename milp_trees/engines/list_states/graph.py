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

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.compiling import compiling
from milp_trees.engines.states.graph import LAST, SPLIT, STOP, States
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.engines.list_states.levels import Rules

_warm: set[str] = set()


@dataclass(frozen=True, eq=False)
class Chains(States):
    """States and columns of rule lists; state 0 is the root.

    The fields are those of `States`, with these meanings: `depth_left` is the number of rules that
    are left, and a split is a rule. `test` is its antecedent, `action_right` the action of the rows
    that it captures, and `child_left` the state of the others; `child_right` is -1. A last rule has
    the action of the default rule in `action_left`.
    """


def enumerate_chains(
    view: CostMatrix,
    rules: Rules,
    most: int | None = None,
    priced: CostMatrix | None = None,
    max_states: int = 400_000,
    max_columns: int = 3_000_000,
    merge: bool = True,
) -> Chains:
    """All states and columns of rule lists within a bound.

    Parameters
    ----------
    view : CostMatrix
        It is best if its rows are merged.
    rules : Rules
    most : int, optional
        Largest cost of a list above `view.base`; by default there is no bound.
    priced : CostMatrix, optional
        If given, `most` bounds the cost in this view above its own `base`. It has the same rows and
        antecedents; its costs are those at prices of the side rows.
    max_states, max_columns : int
        The enumeration ends with an error if there are more.
    merge : bool, default=True
        Leave out all but the cheapest of columns with the same effect (see the module).

    Returns
    -------
    Chains

    Raises
    ------
    OverflowError
        There are more; the message says how many were counted.
    """
    warm_up()
    from milp_trees.engines.list_states.levels import UNBOUNDED, Enumeration

    run = Enumeration(
        view,
        rules,
        view if priced is None else priced,
        UNBOUNDED if most is None else most,
        max_states,
        max_columns,
        merge,
    )
    left, infos, sides = [], [], []
    for level, info, side in run.levels():
        left.append(np.full(len(level.sets), level.rules_left))
        for part, numbers in zip(info, side, strict=True):
            part[:, 0] += level.first
            part[part[:, 6] >= 0, 6] += level.first + len(level.sets)
            infos.append(part)
            sides.append(numbers)
    field = np.ascontiguousarray(np.concatenate(infos).T)
    return Chains(
        depth_left=np.concatenate(left),
        state=field[0],
        kind=field[1],
        test=field[2],
        action_left=field[3],
        action_right=field[4],
        child_left=field[6],
        child_right=np.full(field.shape[1], -1),
        cost=field[5],
        side=np.concatenate(sides),
    )


def warm_up() -> None:
    """Compile the kernels, once per process; later processes read them from files."""
    if _warm:
        return
    _warm.add("chains")
    with compiling("the enumeration of rule lists"):
        from milp_trees.data.dataset import BinaryFeature
        from milp_trees.engines.list_states.levels import Rules
        from milp_trees.engines.states import row_sets
        from milp_trees.engines.states.graph import _tiny
        from milp_trees.tasks.views import SideRow

        enumerate_chains(_tiny(BinaryFeature, SideRow), Rules(1, 1))
        row_sets.rehash(np.zeros(1, dtype=np.uint64), 1, np.full(2, -1, dtype=np.int64))
