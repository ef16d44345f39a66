"""Techniques of the search that can be switched off. No numba here."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Switches:
    """The optimum never depends on them. Their order is that of `nodes.CACHE`, `nodes.CACHE_TWO`, …"""

    cache: bool = True
    cache_two: bool = True
    similarity: bool = True
    per_test: bool = True
    sibling: bool = True
    larger_first: bool = True
    gini: bool = True
    look_ahead: bool = True
    upper: bool = True
    smaller_counted: bool = True

    def flags(self) -> list[int]:
        """1 where a technique is on."""
        return [int(getattr(self, f.name)) for f in fields(Switches)]
