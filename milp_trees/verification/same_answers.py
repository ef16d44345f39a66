"""Whether the checker's reader gives stated features the answers that a problem has.

Thresholds of one column are compared by rank, so that tens of thousands of them need no table of
rows by features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.verification import proof_reading

if TYPE_CHECKING:
    from milp_trees.data.ranked import RankedTests
    from milp_trees.tasks.views import LeafSums


def same_answers(table: proof_reading.Table, features: list[Any], view: LeafSums) -> bool:
    """Whether every feature has the answers of the view on all rows."""
    if view.ranked is None:
        return np.array_equal(table.features(features), np.asarray(view.X, dtype=bool))
    groups: dict[Any, list[int]] = {}
    single: list[int] = []
    for f, (literals, place) in enumerate(zip(features, view.ranked.column.tolist(), strict=True)):
        if len(literals) == 1 and literals[0][1] == "<=" and literals[0][4]:
            groups.setdefault((literals[0][0], literals[0][3], place), []).append(f)
        else:
            single.append(f)
    for members in groups.values():
        same = _same_ranks(table, [features[f][0] for f in members], view.ranked, members)
        if same is None:
            single += members
        elif not same:
            return False
    return all(
        np.array_equal(table.features([features[f]])[:, 0], view.ranked.outcome(f)) for f in single
    )


def _same_ranks(
    table: proof_reading.Table, literals: list[Any], ranked: RankedTests, members: list[int]
) -> bool | None:
    """Whether thresholds of one column have the answers of the tests `members`; None: unknown.

    In the order of the thresholds, a row answers yes from a certain place on, and the same is true
    of the stored ranks in the order of their cuts. If one order fits both, the answers are equal if
    and only if these places are. If none does, the features must be compared one by one. A feature
    that the checker would refuse has no answers.
    """
    values = [value for _, _, value, _, _ in literals]
    column, _, _, missing, _ = literals[0]
    # The literals differ in their values alone, so the shape of one shows that of the others.
    plain = {*map(type, values)} == {float} and (np.abs(values) < 1e300).all()
    if not plain or not proof_reading.fits([literals[:1]], "Conjunctions"):
        return False
    numbers, gone = table.column(column)
    if missing is None and gone.any():
        return False
    thresholds, cuts = np.array(values), ranked.cut[members]
    order = np.lexsort((cuts, thresholds))
    thresholds, cuts = thresholds[order], cuts[order]
    if (np.diff(cuts) < 0).any():
        return None
    stated = np.searchsorted(thresholds, numbers, side="left")
    stated[gone] = 0 if missing == "yes" else len(thresholds)
    stored = np.searchsorted(cuts, ranked.codes[:, ranked.column[members[0]]], side="left")
    return np.array_equal(stated, stored)
