r"""How many prefixes remain to be evaluated: the remaining search space, as base-10 logarithms.

With M antecedents, an incumbent :math:`R^c`, and the prefixes :math:`d` in the queue :math:`Q`,
of length :math:`L` and bound :math:`b(d)` (Angelino et al. 2018, Theorem 7), at most

.. math:: \sum_{d\in Q}\sum_{k=0}^{f(d)}\frac{(M-L)!}{(M-L-k)!},\qquad
   f(d)=\min\Bigl(\Bigl\lfloor\frac{R^c-b(d)}{\lambda}\Bigr\rfloor,\ M-L\Bigr)

remain (*fine*). With the lengths of the prefixes alone (*coarse*), :math:`f(d)` is
:math:`K-L`, where :math:`K=\min(\lfloor R^c/\lambda\rfloor,M)` is the largest length of a list that
can still be better. Here λ is the smallest price of a rule; lists are at most as long as the space
allows. The sums are far beyond floating-point numbers, so they are added as logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache


@cache
def log_extensions(left: int, most: int) -> float:
    """Logarithm of the number of sequences of up to `most` of `left` antecedents."""
    return add_logs(
        (math.lgamma(left + 1) - math.lgamma(left - k + 1), 1) for k in range(min(left, most) + 1)
    )


def add_logs(terms: Iterable[tuple[float, int]]) -> float:
    """Logarithm of a sum of positive numbers, given as logarithms and how often each occurs."""
    logs = [log + math.log(times) for log, times in terms if times]
    if not logs:
        return -math.inf
    top = max(logs)
    return top + math.log(math.fsum(math.exp(log - top) for log in logs))


def log10_space(counts: Iterable[tuple[int, int, int]], n_antecedents: int) -> float | None:
    """log10 of the remaining search space; None if nothing remains."""
    total = add_logs(
        (log_extensions(n_antecedents - length, max(0, most)), times)
        for length, most, times in counts
    )
    return None if total == -math.inf else total / math.log(10)
