"""How much work an enumeration takes on: what enumerators say of problems that are too large, and
nothing of how they enumerate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milp_trees.tasks.views import CostMatrix


def too_much_work(name: str, view: CostMatrix, depth: int, most: int) -> str | None:
    """The sentence that rows · (2 · tests)^depth is more than an enumeration takes on, or None."""
    # Far beyond what is taken on the exact power, which may have millions of digits, is of no
    # interest.
    work = view.n_rows * (2 * view.n_features) ** min(depth, 24)
    if work <= most:
        return None
    digits = math.log10(view.n_rows) + depth * math.log10(2 * view.n_features)
    here = f"{work:.3g}" if digits < 12 else f"about 10^{int(digits)}"
    return f"{name} is for tiny problems: rows · (2 · tests)^depth may be at most {most:,}; here it is {here}."
