"""Techniques of the search over partial trees that can be switched off. Does not load numba."""

from __future__ import annotations

from dataclasses import dataclass

from milp_trees.common.errors import DataError


@dataclass(frozen=True)
class PartialTreesSwitches:
    """The techniques that the search uses; every combination finds the same optimum.

    Parameters
    ----------
    hulls : int
        Largest depth for which open leaves are bounded by the curve around all their trees
        (0: never).
    equal_rows : bool
        Bound deeper trees by groups of equal rows; otherwise by perfect separation (Theorem 2.1).
    look_ahead, apart, leaf_limit, permutations, dominance, refinement, plunge : bool
        See `milp_trees.engines.partial_trees.method`.
    """

    hulls: int = 3
    equal_rows: bool = True
    look_ahead: bool = True
    apart: bool = True
    leaf_limit: bool = True
    permutations: bool = True
    dominance: bool = True
    refinement: bool = True
    plunge: bool = True

    def __post_init__(self) -> None:
        if self.hulls < 0:
            raise DataError(f"partial-trees:hulls is a depth of at least 0; got {self.hulls}.")
