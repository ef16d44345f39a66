"""Options of `corels`: its bounds, each with a switch, the map and the policy. No numba here."""

from __future__ import annotations

from dataclasses import dataclass, fields

from milp_trees.common.errors import DataError
from milp_trees.lists.engines.corels.records import MAPS, POLICIES


@dataclass(frozen=True)
class CorelsSwitches:
    """The bounds; the optimum never depends on them."""

    hierarchical: bool = True
    look_ahead: bool = True
    length_bound: bool = True
    support: bool = True
    correct_support: bool = True
    rejection: bool = True
    equivalent_points: bool = True
    similar_support: bool = True
    collection: bool = True


@dataclass(frozen=True)
class CorelsOptions(CorelsSwitches):
    """Policy, map, and the seed of the policy `stochastic`."""

    policy: str = "bound"
    map: str = "captured"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, allowed in (("policy", POLICIES), ("map", MAPS)):
            if getattr(self, name) not in allowed:
                raise DataError(
                    f"corels:{name} is one of {', '.join(allowed)}; got {getattr(self, name)!r}."
                )
        if not isinstance(self.seed, int) or not 0 <= self.seed < 2**31:
            raise DataError(
                f"corels:seed is a whole number from 0 to 2147483647; got {self.seed!r}."
            )


BOUNDS = tuple(f.name for f in fields(CorelsSwitches))
