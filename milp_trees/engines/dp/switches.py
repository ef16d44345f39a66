"""Techniques of the search that can be switched off, and its options. No numba here."""

from __future__ import annotations

from dataclasses import dataclass, fields

from milp_trees.common.errors import DataError

ORDERS = ("auto", "depth-first", "best-first", "limited-discrepancy")
TIES = ("auto", "fewest-leaves", "first")


@dataclass(frozen=True)
class Switches:
    """The optimum never depends on them. The compiled search reads them as `work.cache`, …"""

    cache: bool = True
    cache_two: bool = True
    similarity: bool = True
    per_test: bool = True
    sibling: bool = True
    larger_first: bool = True
    gini: bool = True
    look_ahead: bool = True
    smaller_counted: bool = True
    free_bounds: bool = True
    nested: bool = True

    def flags(self) -> dict[str, int]:
        """1 where a technique is on."""
        return {name: int(getattr(self, name)) for name in _NAMES}


_NAMES = tuple(f.name for f in fields(Switches))


@dataclass(frozen=True)
class Options(Switches):
    """Order, ties, look-ahead and presolve of a run; `dp` describes them."""

    order: str = "auto"
    ties: str = "auto"
    lookahead: int = 0
    merge_rows: bool = True
    drop_tests: bool = True
    deepening: bool = True

    def __post_init__(self) -> None:
        for name, allowed in (("order", ORDERS), ("ties", TIES)):
            if getattr(self, name) not in allowed:
                raise DataError(
                    f"dp:{name} is one of {', '.join(allowed)}; got {getattr(self, name)!r}."
                )
        if self.lookahead < 0:
            raise DataError(
                f"dp:lookahead is a depth of at least 1, or 0 for an exact search; got {self.lookahead}."
            )
