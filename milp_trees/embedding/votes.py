r"""The class of an ensemble: the first of the largest sums, as `predict` chooses it.

With sums :math:`s_k` and indicators :math:`a_k`,

.. math::
   \sum_ka_k=1,\qquad s_k-s_j\ge g_{kj}-(M_{kj}+g_{kj})(1-a_k)\quad(j\ne k),

where :math:`M_{kj}` is the largest value of :math:`s_j-s_k`, and :math:`g_{kj}` a margin, which tells
a smaller sum from an equal one. A tie goes to the first class; so the margin of an earlier class is
0, if the votes add up without rounding. Otherwise equal sums may be rounded to either side, and
points nearer to a tie than the margin are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.embedding.rows import Rows, Size, Sum
from milp_trees.embedding.trees import Trees

#: Least difference of two sums that are told apart, relative to the largest sum.
GAP = 1e-5


def exact_sums(values: list[np.ndarray]) -> bool:
    """Whether sums of one value per tree are free of rounding: multiples of a power of two."""
    size = sum(float(np.abs(v).max()) for v in values)
    if not size:
        return True
    unit = 2.0 ** (np.floor(np.log2(size)) - 44)
    return all(bool((v / unit == np.rint(v / unit)).all()) for v in values)


def votes_size(trees: Trees) -> Size:
    """What the classes of an ensemble add to a block, by formula."""
    output = trees.forest.output
    if not output.actions or output.leaf_action is not None:
        return Size(0, 0, 0, 0)
    K, values = len(output.actions), output.leaf_values
    if K == 2 and values[0].shape[1] == 1:
        rows, nonzeros = 3, 2 + 2 * (1 + sum(int((v != 0).sum()) for v in values))
    else:
        pairs = [(k, j) for k in range(K) for j in range(K) if j != k]
        terms = sum(int((v[:, k] != v[:, j]).sum()) for v in values for k, j in pairs)
        rows, nonzeros = 1 + len(pairs), K + len(pairs) + terms
    return Size(K, K, rows, nonzeros)


def declare_votes(b: Any, trees: Trees) -> None:
    """Add the indicators of the classes of an ensemble, and the rows between their sums."""
    output = trees.forest.output
    n = len(output.leaf_values)
    # Votes that are shares of the trees are compared before they are divided by their number.
    scale = n if output.kind != "score" or output.base is None or not output.base.any() else 1
    values = [np.asarray(v * scale) for v in output.leaf_values]
    rounded = [np.where(np.abs(v - np.rint(v)) < 1e-12, np.rint(v), v) for v in values]
    exact = exact_sums(rounded) and not output.base.any()  # type: ignore[union-attr]
    counts, labels = trees.forest.n_leaves, list(output.actions)
    K = len(labels)
    size = max(1.0, sum(float(np.abs(v).max()) for v in values))
    gap = GAP * size
    base = np.zeros(K) if output.base is None else output.base * scale
    b.action = pyo.Var(labels, domain=pyo.Binary, doc="a[k] 1 for the class that is predicted")
    rows = Rows(b)
    rows.equal_zero(Sum([(1.0, b.action[k]) for k in labels], -1.0))
    if K == 2 and values[0].shape[1] == 1:  # two classes by the sign of one sum
        total = [
            (float(values[t][leaf, 0]), b.leaf[trees.key(t, leaf)])
            for t, m in enumerate(counts)
            for leaf in range(m)
        ]
        low = float(base[0] + sum(v.min() for v in values))
        high = float(base[0] + sum(v.max() for v in values))
        constant = float(base[0])
        rows.at_least_zero(Sum([*total, (-(gap - low), b.action[labels[1]])], constant - low))
        rows.at_most_zero(Sum([*total, (gap + high, b.action[labels[0]])], constant - high))
    else:
        for k in range(K):
            for j in range(K):
                if j == k:
                    continue
                least = float(base[k] - base[j] + sum((v[:, k] - v[:, j]).min() for v in values))
                g = 0.0 if exact and k < j else gap
                terms = [
                    (float(values[t][leaf, k] - values[t][leaf, j]), b.leaf[trees.key(t, leaf)])
                    for t, m in enumerate(counts)
                    for leaf in range(m)
                ]
                # s_k - s_j >= g - (g - least) (1 - a_k)
                terms.append((-(g - least), b.action[labels[k]]))
                rows.at_least_zero(Sum(terms, float(base[k] - base[j]) - least))
    b.margins["votes"] = gap / scale
    rows.add(
        "votes",
        "s[k] - s[j] >= g - (M + g)(1 - a[k]); the class has the largest sum, the first of equal ones",
    )
