"""Techniques of the search that can be switched off. No numba here."""

from __future__ import annotations

from dataclasses import dataclass, fields


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

    def flags(self) -> dict[str, int]:
        """1 where a technique is on."""
        return {f.name: int(getattr(self, f.name)) for f in fields(Switches)}
