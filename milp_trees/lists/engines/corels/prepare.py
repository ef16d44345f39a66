"""A cost matrix as arrays for the compiled search over prefixes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.common.errors import Unsupported
from milp_trees.lists.engines.corels import records as r
from milp_trees.lists.engines.corels.switches import CorelsOptions
from milp_trees.tasks.grouping import equal_rows, group_sums, packed
from milp_trees.tasks.views import CostMatrix

#: Costs of all rows and rules together stay below this.
LARGEST = 2**61
#: Two sums that stay below this share a word.
_HALF = 2**31
#: Bytes that the tables of sums may take.
MOST_BYTES = 2**30


class PreparedPrefixes(NamedTuple):
    """What a run searches, and how its numbers become objectives of the view.

    Parameters
    ----------
    instance : PrefixInstance
    settings : Settings
    constant : int
        The objective of a list is this plus the regret of all rows plus the prices of its rules.
    rows_apart : int
        What equal rows cost at least together beyond what each costs at least by itself.
    """

    instance: r.PrefixInstance
    settings: r.Settings
    constant: int
    rows_apart: int


def surely_fits(view: CostMatrix) -> bool:
    """Whether costs and data are far from the limits, so that nothing need be prepared to know."""
    small = view.n_rows * (view.n_actions + 3) * 8 * 256 < MOST_BYTES
    largest = int(np.abs(view.costs).max(initial=0)) if view.costs.size else 0
    price = int(view.split_costs.max(initial=0)) + view.leaf_cost
    return small and 4 * largest * view.n_rows + price * view.n_features < LARGEST


def prepare(
    view: CostMatrix, max_length: int | None, min_rows: int, options: CorelsOptions
) -> PreparedPrefixes:
    """The instance of a view; equal rows are merged here."""
    from milp_trees.engines.kit.rowsets import all_rows, pack

    prices = view.split_costs.astype(np.int64) + view.leaf_cost
    largest = view.regret.max(axis=1, initial=0).astype(object).sum() + prices.astype(object).sum()
    if largest + abs(view.base.astype(object).sum()) > LARGEST:
        raise Unsupported(
            "corels adds costs in 64 bits, and those of this problem are too large; divide them by a common factor or round them."
        )
    classes, group = equal_rows(packed(view.X)) if view.n_rows else (np.zeros(0, np.int64),) * 2
    total = group_sums(group, len(classes)) if view.n_rows else np.asarray
    costs, counts, apart = total(view.costs), total(view.counts), total(view.base)
    base = costs.min(axis=1) if len(classes) else apart
    regret = costs - base[:, None]
    named = {
        r.WORST: regret.max(axis=1, initial=0) if view.n_actions != 2 else None,
        r.ROWS: counts if min_rows > 1 or options.policy == "curiosity" else None,
        r.EXCESS: None if options.equivalent_points else base - apart,
    }
    amounts = np.full(3, -1, dtype=np.int64)
    columns = list(regret.T)
    for place, column in named.items():
        if column is not None:
            amounts[place] = len(columns)
            columns.append(column)
    values = np.stack(columns, axis=1).astype(np.int64)
    narrow = bool((values.astype(object).sum(axis=0) < _HALF).all()) if len(values) else True
    words = _packed(values) if narrow else values
    full = all_rows(len(classes))
    # Without antecedents, the price of a rule is more than any incumbent.
    cheapest = np.cumsum([0, *sorted(prices.tolist())] if len(prices) else [0, LARGEST])
    n_antecedents = len(prices)
    most = n_antecedents if max_length is None else min(max_length, n_antecedents)
    instance = r.PrefixInstance(
        columns=pack(view.X[classes]),
        full=full,
        tables=_tables(words, len(full)),
        amounts=amounts,
        prices=prices,
        cheapest=cheapest,
        keys=np.random.default_rng(0).integers(0, 2**63, n_antecedents, dtype=np.uint64),
    )
    rows_apart = int((base - apart).sum())
    start = int(regret.sum(axis=0).min(initial=0)) if len(classes) else 0
    settings = r.Settings(
        n_actions=view.n_actions,
        n_rows=view.total_rows,
        packed=int(narrow),
        min_rows=min_rows,
        max_length=most,
        limited=int(max_length is not None and max_length < n_antecedents),
        policy=r.POLICIES.index(options.policy),
        seed=options.seed,
        curiosity=2.0**60 / max(1, largest, start),
        map=r.MAPS.index(options.map),
        hierarchical=int(options.hierarchical),
        look_ahead=int(options.look_ahead),
        length_bound=int(options.length_bound),
        support=int(options.support),
        correct_support=int(options.correct_support),
        rejection=int(options.rejection),
        equivalent_points=int(options.equivalent_points),
        similar_support=int(options.similar_support),
        floor=0 if options.equivalent_points else -rows_apart,
    )
    return PreparedPrefixes(instance, settings, int(base.sum()) + view.leaf_cost, rows_apart)


def _packed(values: np.ndarray) -> np.ndarray:
    """Two columns in each word."""
    even = np.zeros((len(values), values.shape[1] + values.shape[1] % 2), dtype=np.int64)
    even[:, : values.shape[1]] = values
    return even[:, 0::2] + (even[:, 1::2] << 32)


def _tables(values: np.ndarray, words: int) -> np.ndarray:
    """Sums of the columns of `values` for every byte of a set and each of its 256 values."""
    n, width = values.shape
    if width * words * 8 * 256 * 8 > MOST_BYTES:
        raise Unsupported(
            f"corels keeps tables of sums over {n} classes of equal rows, which would take more than {MOST_BYTES >> 20} MB here; mine fewer antecedents."
        )
    wide = np.zeros((words * 64, width), dtype=np.int64)
    wide[:n] = values
    out = np.zeros((width, words * 8, 256), dtype=np.int64)
    for bit in range(8):
        here = wide[bit::8].T[:, :, None]
        out[:, :, 1 << bit : 2 << bit] = out[:, :, : 1 << bit] + here
    return out.reshape(width, -1)
