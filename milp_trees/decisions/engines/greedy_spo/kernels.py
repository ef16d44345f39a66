"""Compiled loops over the rows of a node, which lie in the order of every column.

Rows with a code of at most `cut` are the side on which the test is true (the right child). A scan
walks the rows of a column upwards and values every cut that leaves enough rows and weight on both
sides; a cut must beat the best so far by more than the rounding error of sums, so that of equal
cuts the first in the first column is taken.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
import numpy as np

from milp_trees.common.compiling.kernels import kernel


@kernel(nogil=True)
def positions(
    codes,
    order,
    begin,
    end,
    counts,
    row_weight,
    rows,
    weight,
    min_samples_leaf,
    min_weight_leaf,
    quantiles,
    where,
    cuts,
):
    """Write the allowed cuts of one column; return their number.

    `where[q]` becomes the end of the true side in `order`, `cuts[q]` its cut.

    With `quantiles` = Q > 0 and m > Q distinct values u in the node, only the values u[ceil(k (m -
    1) / Q)], k = 1..Q-1, begin a false side, and the cut is just below that value; otherwise every
    value does, and the cut is the value before it.
    """
    steps = 0
    if quantiles > 0:
        for i in range(begin + 1, end):
            if codes[order[i]] != codes[order[i - 1]]:
                steps += 1
    thin = quantiles > 0 and quantiles - 1 < steps
    found, here, n, w = 0, 0, 0, 0
    for i in range(begin + 1, end):
        before = order[i - 1]
        n += counts[before]
        w += row_weight[before]
        code = codes[order[i]]
        if code == codes[before]:
            continue
        here += 1
        if thin:
            k = min(here * quantiles // steps, quantiles - 1)
            if k < 1 or k * steps <= (here - 1) * quantiles:
                continue
        if (
            n < min_samples_leaf
            or rows - n < min_samples_leaf
            or w < min_weight_leaf
            or weight - w < min_weight_leaf
        ):
            continue
        where[found] = i
        cuts[found] = code - 1 if quantiles > 0 else codes[before]
        found += 1
    return found


@kernel(nogil=True)
def scan_listed(
    codes,
    order,
    begin,
    end,
    columns,
    regret,
    total,
    counts,
    row_weight,
    rows,
    weight,
    min_samples_leaf,
    min_weight_leaf,
    quantiles,
    price,
    slack,
):
    """Best cut by the cheapest vertex on both sides: (value, column, cut).

    The column is -1 if no cut is allowed.
    """
    K = regret.shape[1]
    prefix = np.empty(K)
    where = np.empty(end - begin, np.int64)
    cuts = np.empty(end - begin, np.int64)
    best, best_column, best_cut = np.inf, -1, -1
    for c in columns:
        row_codes, row_order = codes[c], order[c]
        m = positions(
            row_codes,
            row_order,
            begin,
            end,
            counts,
            row_weight,
            rows,
            weight,
            min_samples_leaf,
            min_weight_leaf,
            quantiles,
            where,
            cuts,
        )
        for k in range(K):
            prefix[k] = 0.0
        i = begin
        for q in range(m):
            while i < where[q]:
                r = row_order[i]
                for k in range(K):
                    prefix[k] += regret[r, k]
                i += 1
            low, high = prefix[0], total[0] - prefix[0]
            for k in range(1, K):
                low = min(low, prefix[k])
                high = min(high, total[k] - prefix[k])
            value = low + high + price[c]
            if value < best - slack:
                best, best_column, best_cut = value, c, cuts[q]
    return best, best_column, best_cut


@kernel(nogil=True)
def scan_squared(
    codes,
    order,
    begin,
    end,
    columns,
    vectors,
    shares,
    total,
    share,
    counts,
    row_weight,
    rows,
    weight,
    min_samples_leaf,
    min_weight_leaf,
    quantiles,
    price,
    slack,
):
    """Best cut by squared error around the means of both sides, up to a constant.

    `shares` are the rows' weights; `vectors` are weighted and centred.
    """
    d = vectors.shape[1]
    prefix = np.empty(d)
    where = np.empty(end - begin, np.int64)
    cuts = np.empty(end - begin, np.int64)
    best, best_column, best_cut = np.inf, -1, -1
    for c in columns:
        row_codes, row_order = codes[c], order[c]
        m = positions(
            row_codes,
            row_order,
            begin,
            end,
            counts,
            row_weight,
            rows,
            weight,
            min_samples_leaf,
            min_weight_leaf,
            quantiles,
            where,
            cuts,
        )
        for k in range(d):
            prefix[k] = 0.0
        i, part = begin, 0.0
        for q in range(m):
            while i < where[q]:
                r = row_order[i]
                part += shares[r]
                for k in range(d):
                    prefix[k] += vectors[r, k]
                i += 1
            low, high = 0.0, 0.0
            for k in range(d):
                low += prefix[k] * prefix[k]
                rest = total[k] - prefix[k]
                high += rest * rest
            value = price[c]
            if part > 0.0:
                value -= low / part
            if share - part > 0.0:
                value -= high / (share - part)
            if value < best - slack:
                best, best_column, best_cut = value, c, cuts[q]
    return best, best_column, best_cut


@kernel(nogil=True)
def true_sides(
    codes,
    order,
    begin,
    end,
    columns,
    vectors,
    counts,
    row_weight,
    rows,
    weight,
    min_samples_leaf,
    min_weight_leaf,
    quantiles,
):
    """All allowed cuts: (sums of the vectors on the true side, column, cut) in order."""
    d = vectors.shape[1]
    most = (end - begin) * len(columns)
    where = np.empty(end - begin, np.int64)
    cuts = np.empty(end - begin, np.int64)
    sums = np.empty((most, d))
    column_of = np.empty(most, np.int64)
    cut_of = np.empty(most, np.int64)
    prefix = np.empty(d)
    found = 0
    for c in columns:
        row_codes, row_order = codes[c], order[c]
        m = positions(
            row_codes,
            row_order,
            begin,
            end,
            counts,
            row_weight,
            rows,
            weight,
            min_samples_leaf,
            min_weight_leaf,
            quantiles,
            where,
            cuts,
        )
        for k in range(d):
            prefix[k] = 0.0
        i = begin
        for q in range(m):
            while i < where[q]:
                r = row_order[i]
                for k in range(d):
                    prefix[k] += vectors[r, k]
                i += 1
            for k in range(d):
                sums[found, k] = prefix[k]
            column_of[found] = c
            cut_of[found] = cuts[q]
            found += 1
    return sums[:found], column_of[:found], cut_of[:found]


@kernel(nogil=True)
def divide(codes, order, begin, end, column, cut, spare):
    """Move rows on which the test is false to the front, in every column's order.

    Returns the position where the other rows begin.
    """
    test = codes[column]
    middle = begin
    for c in range(order.shape[0]):
        row_order = order[c]
        front, back = begin, 0
        for i in range(begin, end):
            r = row_order[i]
            if test[r] > cut:
                row_order[front] = r
                front += 1
            else:
                spare[back] = r
                back += 1
        for i in range(back):
            row_order[front + i] = spare[i]
        middle = front
    return middle


@kernel(nogil=True)
def descend(codes, column, cut, left, right):
    """Leaf that every row reaches; codes of shape (columns, n)."""
    n = codes.shape[1]
    out = np.empty(n, np.int64)
    for i in range(n):
        t = 0
        while left[t] >= 0:
            t = right[t] if codes[column[t], i] <= cut[t] else left[t]
        out[i] = t
    return out


@kernel(nogil=True)
def weakest_links(parent, left, right, loss, slack):
    """The parameter at which every node becomes a leaf in weakest-link pruning.

    It is at least 0, and infinite for leaves (`left` < 0).


    `loss` is each node's loss as a leaf. A parent comes before its children. All links within
    `slack` of the weakest are collapsed together.
    """
    n = len(parent)
    at = np.full(n, np.inf)
    below = np.empty(n)
    leaves = np.empty(n, np.int64)
    alpha = 0.0
    while left[0] >= 0 and at[0] == np.inf:
        weakest = np.inf
        for t in range(n - 1, -1, -1):
            if left[t] < 0 or at[t] < np.inf:
                below[t], leaves[t] = loss[t], 1
            else:
                below[t] = below[left[t]] + below[right[t]]
                leaves[t] = leaves[left[t]] + leaves[right[t]]
        for t in range(n):  # what hangs below a collapsed node is gone
            if left[t] >= 0 and at[t] == np.inf:
                weakest = min(weakest, (loss[t] - below[t]) / (leaves[t] - 1))
        alpha = max(alpha, weakest)
        for t in range(n):
            gone = t > 0 and at[parent[t]] < np.inf
            if (
                left[t] >= 0
                and at[t] == np.inf
                and (gone or loss[t] - below[t] <= (alpha + slack) * (leaves[t] - 1))
            ):
                at[t] = alpha
    return at
