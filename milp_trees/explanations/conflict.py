r"""The smallest set of demands that no model keeps together.

By implicit hitting sets (Reiter 1987, "A theory of diagnosis from first principles"; Ignatiev,
Previti, Liffiton, Marques-Silva 2015, "Smallest MUS extraction with minimal hitting set dualization"):
every conflict contains a demand of each *correction set*, the demands that some model violates. The
smallest set with a demand of each correction set that is known is asked for; if no model keeps it,
it is a smallest conflict, and otherwise a model gives another correction set.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from milp_trees.explanations.feasible import Feasibility
from milp_trees.explanations.pool import Pool


class Conflict(NamedTuple):
    """A set of demands that no model keeps together.

    Parameters
    ----------
    members : tuple of int
        Positions of the demands.
    by : str
        Who proved it.
    smallest : bool
        Whether it is proven that no smaller set conflicts.
    open : tuple of tuples of int
        Smaller sets of which it is not known whether they conflict.
    """

    members: tuple[int, ...]
    by: str
    smallest: bool
    open: tuple[tuple[int, ...], ...] = ()


def smallest_conflict(ask: Feasibility, pool: Pool | None = None) -> Conflict | None:
    """The smallest conflict of all demands.

    Parameters
    ----------
    ask : Feasibility
        It knows that all demands together conflict.
    pool : Pool, optional
        It looks at the other actions of every tree that is found.

    Returns
    -------
    Conflict or None
        None if a model keeps all demands.
    """
    n = len(ask.demands)
    undecided: list[tuple[int, ...]] = []
    for size in range(n + 1):
        for chosen in _hitting(ask, size):
            found = ask.ask(chosen, share=0.25 if size < n else 1.0)
            if found.impossible:
                return Conflict(chosen, found.by, not undecided, tuple(undecided))
            if found.witness is None:
                undecided.append(chosen)
            elif pool is not None:
                pool.look(found.witness.tree.root)
    return None


def _hitting(ask: Feasibility, size: int) -> Iterator[tuple[int, ...]]:
    """The sets of some size with a demand of every correction set that is known by then."""
    for chosen in combinations(range(len(ask.demands)), size):
        if not any(needed.keeps(chosen) for needed in ask.witnesses):
            yield chosen
