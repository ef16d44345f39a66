"""Breadth-first enumeration of the states of rule lists, level by level, on the kit of trees."""

from __future__ import annotations

from typing import Any, NamedTuple

from milp_trees.engines.hypergraph.columns import FAR, StateColumns, StateWork
from milp_trees.engines.hypergraph.levels import Enumeration, StateLevel, data_of
from milp_trees.lists.hypergraph.kernels import chain_columns
from milp_trees.tasks.views import CostMatrix


class Rules(NamedTuple):
    """What the lists of a hypergraph have in common, beside the view.

    Parameters
    ----------
    length : int
        Largest number of rules.
    least : int
        Smallest number of original rows that a rule captures, at least 1.
    only_default : int
        The action that only the default rule may take; -1 if there is none.
    """

    length: int
    least: int
    only_default: int = -1


class ListStates(Enumeration):
    """States and columns of the lists that cost at most `most`.

    Parameters
    ----------
    view : CostMatrix
    rules : Rules
    priced : CostMatrix or None
        The view at the prices at which `most` bounds the cost above its `base`; without prices
        the view itself.
    most : int or None
    max_states, max_columns : int
    merge : bool
        Whether of columns with the same effect only the cheapest is kept.
    """

    def __init__(
        self,
        view: CostMatrix,
        rules: Rules,
        priced: CostMatrix | None,
        most: int | None,
        max_states: int,
        max_columns: int,
        merge: bool = True,
    ) -> None:
        priced = None if priced is view else priced
        data = data_of(view, [view.counts], [rules.least], priced, rules.only_default, merge)
        allowance = FAR if most is None else min(most, FAR)
        super().__init__(data, rules.length, max_states, max_columns, allowance=allowance)

    def _add_columns(self, level: StateLevel, parts: list[StateColumns]) -> None:
        data, last = self.data, level.depth <= 1
        if not level.depth:  # no antecedent matters
            data = data._replace(X=data.X[:, :0].copy(), truth=data.truth[:0])
        F, K = len(data.truth), data.n_actions
        work = StateWork.of(data, K + F * K * (K if last else 1))

        def columns(begin: int, out: StateColumns) -> Any:
            table = self._make_room(level, F)
            return chain_columns(level.sets, level.allowance, begin, last, data, table, work, out)

        self._fill(parts, columns, (0, len(level.sets)), work.most)
        self._make_room(level, 0)
