"""How much work an enumeration may take, and the sentence for problems that are too large."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milp_trees.tasks.views import LeafSums


def too_much_work(name: str, view: LeafSums, depth: int, most: int) -> str | None:
    """The sentence if rows · (2 · tests)^depth is more than an enumeration may take, or None."""
    # Far above the limit, the exact power is of no interest; it may have millions of digits.
    work = view.n_rows * (2 * view.n_features) ** min(depth, 24)
    if work <= most:
        return None
    digits = math.log10(view.n_rows) + depth * math.log10(2 * view.n_features)
    here = f"{work:.3g}" if digits < 12 else f"about 10^{int(digits)}"
    return f"{name} is for tiny problems: rows · (2 · tests)^depth may be at most {most:,}; here it is {here}."
