"""`Claims`: what a proof of a lower bound consists of, as a method hands it over.

The format of proof files and the rules by which one claim follows from others are in
`docs/guide/proofs.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Claims:
    """Claims about sets of rows, each of which follows from the data and from earlier claims.

    Parameters
    ----------
    items : sequence of tuple
        `(bound, depth, path, helps, leaves)` each; the last two may be absent. No model of at most
        `depth` further tests (None: any number) and at most `leaves` leaves (None: any number)
        costs less than `bound` on the rows of the path. A path holds `f + 1` for the answer yes to
        feature f of the problem's view before presolve, and `-(f + 1)` for the answer no. `helps`
        are positions of earlier claims about similar sets. The last claim is about all rows.
    multipliers : tuple of int, default=()
        Multipliers of the side rows, over `denominator`; then bounds are about priced costs.
    denominator : int, default=1
    notes : mapping, default={}
        Counts and seconds for benchmarks.
    """

    items: Sequence[tuple[Any, ...]]
    multipliers: tuple[int, ...] = ()
    denominator: int = 1
    notes: Mapping[str, Any] = field(default_factory=dict)
