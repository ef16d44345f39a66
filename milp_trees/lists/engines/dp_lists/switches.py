"""What `dp-lists` can be told."""

from __future__ import annotations

from dataclasses import dataclass

from milp_trees.common.errors import DataError

#: Sums of costs stay below this.
LARGEST = 2**60
TOO_LARGE = (
    "dp-lists sums costs in 64 bits, and those of this problem are too large; take larger units."
)


@dataclass(frozen=True)
class DpListsSwitches:
    """Options of the search; the optimum does not depend on them.

    Parameters
    ----------
    tables : int, default=64
        Number of tables of lower bounds that are kept; 0 leaves the price of one rule as the only
        bound.
    rows : int, default=16
        Rows of a table, at most 20; each one more doubles its size. Where tables have layers for
        the number of rules that are left, they have up to three rows less.
    share : int, default=100
        Work on new tables, in percent of the work on prefixes.
    dive : int, default=32
        Of so many expanded prefixes one is followed to the end of a list.
    """

    tables: int = 64
    rows: int = 16
    share: int = 100
    dive: int = 32

    def __post_init__(self) -> None:
        for name, least, most in (
            ("tables", 0, 4096),
            ("rows", 1, 20),
            ("share", 0, 10_000),
            ("dive", 1, 10**9),
        ):
            given = getattr(self, name)
            if not isinstance(given, int) or not least <= given <= most:
                raise DataError(
                    f"{name} must be a whole number from {least} to {most}; got {given!r}."
                )
