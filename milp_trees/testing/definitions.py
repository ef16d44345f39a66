"""Definitions of the tasks that are independent of their code.

They are plain loops over rows that share no code with `milp_trees.tasks`. `definitions()` maps the
name of a task to a function of its description (`task.spec()`, read as text), the rows as
dictionaries, and the routes of a tree; it returns the value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from milp_trees.common.registering import families
from milp_trees.testing.definitions_of_losses import LOSSES
from milp_trees.testing.definitions_of_prices import prices_paid
from milp_trees.testing.seen import Row as Row
from milp_trees.testing.seen import Seen as Seen
from milp_trees.testing.seen import Spec as Spec

Definition = Callable[[Spec, Sequence[Row], Seen], float]


def penalty(spec: Spec, seen: Seen) -> Fraction | None:
    """Price of the tree's size, or None if the task has no penalty."""
    leaf, split, prices = (
        Fraction(spec.get("leaf_penalty", 0)),
        Fraction(spec.get("split_penalty", 0)),
        spec.get("feature_costs", {}),
    )
    if not (leaf or split or prices):
        return None
    return (
        leaf * seen.leaves
        + split * len(seen.columns)
        + sum(Fraction(prices.get(c, 0)) for c in seen.columns)
    )


def _number(value: Any) -> Fraction:
    return Fraction(str(value))


# -- sums over rows --------------------------------------------------------------------------------


def _accuracy(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    errors = sum(row["y"] != k for row, k in zip(rows, seen.said, strict=True))
    price = penalty(spec, seen)
    return errors if price is None else float(Fraction(errors, len(rows)) + price)


def _weighted(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    by_class = spec.get("class_weight", {})
    loss = [
        _number(row["weight"]) * Fraction(by_class.get(str(seen.actions[row["y"]]), 1))
        for row in rows
    ]
    wrong = sum(
        (w for row, k, w in zip(rows, seen.said, loss, strict=True) if row["y"] != k), Fraction(0)
    )
    price = penalty(spec, seen)
    return float(wrong) if price is None else float(wrong / sum(loss) + price)


def _balanced_accuracy(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    shares = []
    for c in {row["y"] for row in rows}:
        mine = [k == c for row, k in zip(rows, seen.said, strict=True) if row["y"] == c]
        shares.append(Fraction(sum(mine), len(mine)))
    mean, price = sum(shares, Fraction(0)) / len(shares), penalty(spec, seen)
    return float(mean) if price is None else float(1 - mean + price)


def _cost_matrix(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    total = sum(
        (
            _number(row["weight"]) * Fraction(spec["matrix"][row["y"]][k])
            for row, k in zip(rows, seen.said, strict=True)
        ),
        Fraction(0),
    )
    price = penalty(spec, seen)
    return (
        float(total)
        if price is None
        else float(total / sum(_number(row["weight"]) for row in rows) + price)
    )


def _cost_sensitive(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    weights, price = [_number(row["weight"]) for row in rows], penalty(spec, seen)
    total = _cost_matrix({"matrix": spec["matrix"]}, rows, seen)
    total += float(prices_paid(spec, weights, seen.asked))
    return total if price is None else total / float(sum(weights)) + float(price)


def _action_costs(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    total = math.fsum(row["values"][k] for row, k in zip(rows, seen.said, strict=True))
    price = penalty(spec, seen)
    return total if price is None else total / len(rows) + float(price)


def _policy(worth: Callable[[Row, int, Any], float]) -> Definition:
    def value(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
        mean = math.fsum(
            row["weight"] * worth(row, k, seen.actions[k])
            for row, k in zip(rows, seen.said, strict=True)
        ) / math.fsum(row["weight"] for row in rows)
        price = penalty(spec, seen)
        return mean if price is None else float(price) - mean

    return value


def _inverse_propensity(row: Row, k: int, action: Any) -> float:
    return row["outcome"] / row["propensity"] if str(row["treatment"]) == str(action) else 0.0


def _doubly_robust(row: Row, k: int, action: Any) -> float:
    worth = row["values"][k]
    return (
        worth + (row["outcome"] - worth) / row["propensity"]
        if str(row["treatment"]) == str(action)
        else worth
    )


def _estimated(row: Row, k: int, action: Any) -> float:
    return float(row["values"][k])


# -- two kinds of rows, two kinds of answers -------------------------------------------------------


def confusion(
    spec: Spec, rows: Sequence[Row], seen: Seen, weighed: bool = True
) -> dict[str, Fraction]:
    """Weight of the true and false positives and negatives.

    Parameters
    ----------
    spec : mapping
        Description of the task; the positive class is the last unless the task names one.
    rows : sequence of mappings
        The rows.
    seen : Seen
        Actions and leaves of the rows.
    weighed : bool, default=True
        Whether row weights count; otherwise each row counts 1.

    Returns
    -------
    dict
        Keys "TP", "FP", "FN" and "TN".
    """
    positive = _positive(spec, seen)
    found = dict.fromkeys(("TP", "FP", "FN", "TN"), Fraction(0))
    for row, k in zip(rows, seen.said, strict=True):
        name = ("T" if (row["y"] == positive) == (k == positive) else "F") + (
            "P" if k == positive else "N"
        )
        found[name] += _number(row["weight"]) if weighed else 1
    return found


def _positive(spec: Spec, seen: Seen) -> int:
    named = [
        k
        for k, a in enumerate(seen.actions)
        if "positive" in spec and str(a) == str(spec["positive"])
    ]
    return named[0] if named else len(seen.actions) - 1


def _ratio(
    parts: Callable[[Spec, Mapping[str, Fraction]], tuple[Fraction, Fraction]],
) -> Definition:
    def value(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
        over, under = parts(spec, confusion(spec, rows, seen))
        return _metric(spec, seen, over / under if under else Fraction(0))

    return value


def _metric(spec: Spec, seen: Seen, metric: Any) -> float:
    """The metric, or the loss with the penalty per leaf."""
    price = Fraction(spec.get("leaf_penalty", 0))
    return float(1 - metric + price * seen.leaves) if price else float(metric)


def _f1(spec: Spec, n: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
    return 2 * n["TP"], 2 * n["TP"] + n["FP"] + n["FN"]


def _f_beta(spec: Spec, n: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
    """The weighted harmonic mean of precision and recall: 1/F = (1/P + β²/R) / (1 + β²)."""
    square = Fraction(spec.get("beta", 1)) ** 2
    if not n["TP"]:
        return Fraction(0), Fraction(1)
    precision, recall = n["TP"] / (n["TP"] + n["FP"]), n["TP"] / (n["TP"] + n["FN"])
    return 1 + square, 1 / precision + square / recall


def _jaccard(spec: Spec, n: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
    return n["TP"], n["TP"] + n["FP"] + n["FN"]


def _precision(spec: Spec, n: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
    return n["TP"], n["TP"] + n["FP"]


def _count_ratio(spec: Spec, n: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
    over, under = (
        sum((Fraction(v) * n[k] for k, v in spec[part].items()), Fraction(0))
        for part in ("numerator", "denominator")
    )
    return over, under


def _matthews(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    """The correlation of two 0/1 variables."""
    n = confusion(spec, rows, seen, weighed=False)
    under = (n["TP"] + n["FP"]) * (n["TP"] + n["FN"]) * (n["TN"] + n["FP"]) * (n["TN"] + n["FN"])
    return _metric(
        spec,
        seen,
        float(n["TP"] * n["TN"] - n["FP"] * n["FN"]) / math.sqrt(under) if under else 0.0,
    )


def _geometric_mean(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    n = confusion(spec, rows, seen, weighed=False)
    return _metric(
        spec, seen, math.sqrt(n["TP"] / (n["TP"] + n["FN"]) * n["TN"] / (n["TN"] + n["FP"]))
    )


def _kappa(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    """Agreement above that of independent answers with the same shares."""
    n = confusion(spec, rows, seen, weighed=False)
    total = sum(n.values())
    observed = (n["TP"] + n["TN"]) / total
    chance = (
        (n["TP"] + n["FP"]) * (n["TP"] + n["FN"]) + (n["TN"] + n["FN"]) * (n["TN"] + n["FP"])
    ) / total**2
    return _metric(spec, seen, (observed - chance) / (1 - chance) if chance != 1 else Fraction(0))


# -- rankings --------------------------------------------------------------------------------------


def _auc(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    """Share of pairs of a positive and a negative row that the leaves rank correctly.

    The positive row must be in a leaf with a larger share of positives; equal shares count one
    half.
    """
    counts = _counts(spec, rows, seen)
    share = {t: Fraction(up, up + down) for t, (up, down) in counts.items()}
    won = sum(
        (
            up
            * down
            * (
                Fraction(1)
                if share[s] > share[t]
                else Fraction(1, 2)
                if share[s] == share[t]
                else Fraction(0)
            )
        )
        for s, (up, _) in counts.items()
        for t, (_, down) in counts.items()
    )
    return _metric(
        spec,
        seen,
        Fraction(won)
        / (sum(up for up, _ in counts.values()) * sum(down for _, down in counts.values())),
    )


def _partial_auc(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    """Area under the ROC curve of the leaves, up to the false positive rate theta.

    Leaves are sorted by decreasing share of positives.
    """
    counts = sorted(
        _counts(spec, rows, seen).values(), key=lambda pair: Fraction(-pair[0], sum(pair))
    )
    ups, downs, theta = (
        sum(up for up, _ in counts),
        sum(down for _, down in counts),
        Fraction(spec.get("theta", 1)),
    )
    area, x, y = Fraction(0), Fraction(0), Fraction(0)
    for up, down in counts:
        wide, high = Fraction(down, downs), Fraction(up, ups)
        part = min(wide, theta - x)
        if wide and part > 0:
            area += part * (y + high * part / wide / 2)
        x, y = x + wide, y + high
    return _metric(spec, seen, area)


def _counts(spec: Spec, rows: Sequence[Row], seen: Seen) -> dict[int, list[int]]:
    """Positives and negatives of every leaf."""
    positive, counts = _positive(spec, seen), {t: [0, 0] for t in seen.leaf}
    for row, t in zip(rows, seen.leaf, strict=True):
        counts[t][int(row["y"] != positive)] += 1
    return counts


def _absolute_error(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    def target(row: Row) -> Fraction:
        (given,) = row["targets"].values() if "targets" in row else (row["label"],)
        return _number(given)

    def distance(predicted: Sequence[Fraction]) -> Fraction:
        pairs = zip(rows, predicted, strict=True)
        return sum((_number(row["weight"]) * abs(target(row) - p) for row, p in pairs), Fraction(0))

    total = distance([_number(seen.actions[k]) for k in seen.said])
    price = penalty(spec, seen)
    if price is None:
        return float(total)
    whole = min(distance([target(row)] * len(rows)) for row in rows)
    return float(total / (whole or 1) + price)


#: Definition of each task of the core by its name.
DEFINITIONS: dict[str, Definition] = {
    "accuracy": _accuracy,
    "weighted": _weighted,
    "balanced-accuracy": _balanced_accuracy,
    "cost-matrix": _cost_matrix,
    "cost-sensitive": _cost_sensitive,
    "action-costs": _action_costs,
    "action-values": _policy(_estimated),
    "policy-dm": _policy(_estimated),
    "policy-ipw": _policy(_inverse_propensity),
    "policy-dr": _policy(_doubly_robust),
    "f1": _ratio(_f1),
    "f-beta": _ratio(_f_beta),
    "jaccard": _ratio(_jaccard),
    "precision": _ratio(_precision),
    "count-ratio": _ratio(_count_ratio),
    "auc": _auc,
    "partial-auc": _partial_auc,
    "mcc": _matthews,
    "g-mean": _geometric_mean,
    "kappa": _kappa,
    "absolute-error": _absolute_error,
    **LOSSES,
}


def definitions() -> dict[str, Definition]:
    """The definitions of all tasks, those that families declare too, by the names of the tasks."""
    return DEFINITIONS | {
        name: definition for name, definition, *_ in families.parts("definitions")
    }
