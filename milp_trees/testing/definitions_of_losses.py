"""Definitions of the losses of predicted numbers, as plain loops over rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from milp_trees.testing.seen import Row, Seen, Spec

#: Loss of a row and a prediction; what a set of rows predicts.
Loss = Callable[[Row, Any], float]
Best = Callable[[Sequence[Row]], Any]

#: A prediction of 0 counts as this in a logarithm.
LEAST = 2.0**-52


def of_loss(prepared: Callable[[Spec, Sequence[Row]], tuple[Loss, Best]]) -> Any:
    """The definition of a task that adds up a loss over rows; penalties are shares of one leaf's.

    Parameters
    ----------
    prepared : callable
        Gives the loss of a row and the best prediction of a set of rows, for a description and all
        rows.

    Returns
    -------
    callable (spec, rows, seen) → float
    """

    def value(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
        loss, best = prepared(spec, rows)
        total = math.fsum(
            row["weight"] * loss(row, seen.actions[k])
            for row, k in zip(rows, seen.said, strict=True)
        )
        prices = spec.get("feature_costs", {})
        leaf, split = (Fraction(spec.get(f"{part}_penalty", 0)) for part in ("leaf", "split"))
        if not (leaf or split or prices):
            return total
        mean = best(rows)
        one = math.fsum(row["weight"] * loss(row, mean) for row in rows)
        paid = sum((Fraction(prices.get(c, 0)) for c in seen.columns), split * len(seen.columns))
        return total / (one if one > 1e-9 else 1) + float(leaf * seen.leaves + paid)

    return value


def _targets(row: Row) -> list[float]:
    return list(row["targets"].values()) if "targets" in row else [row["label"]]


def _mean(rows: Sequence[Row]) -> list[float]:
    total = math.fsum(row["weight"] for row in rows)
    return [
        math.fsum(row["weight"] * _targets(row)[j] for row in rows) / total
        for j in range(len(_targets(rows[0])))
    ]


def _log(x: float) -> float:
    return math.log(x or LEAST)


def _squared_error(spec: Spec, rows: Sequence[Row]) -> tuple[Loss, Best]:
    def loss(row: Row, predicted: Any) -> float:
        several = predicted if isinstance(predicted, (tuple, list)) else [predicted]
        return sum((y - p) ** 2 for y, p in zip(_targets(row), several, strict=True))

    return loss, _mean


def _poisson(spec: Spec, rows: Sequence[Row]) -> tuple[Loss, Best]:
    def loss(row: Row, predicted: Any) -> float:
        (y,) = _targets(row)
        return 2 * ((y * (math.log(y) - _log(predicted)) if y else 0.0) - y + predicted)

    return loss, lambda rows: _mean(rows)[0]


def _gamma(spec: Spec, rows: Sequence[Row]) -> tuple[Loss, Best]:
    def loss(row: Row, predicted: Any) -> float:
        (y,) = _targets(row)
        return 2 * (math.log(predicted / y) + y / predicted - 1)

    return loss, lambda rows: _mean(rows)[0]


def _survival(spec: Spec, rows: Sequence[Row]) -> tuple[Loss, Best]:
    """Half the deviance of a proportional hazard with the cumulative hazard of all rows."""
    everyone = math.fsum(row["weight"] for row in rows)

    def hazard(time: float) -> float:
        if "baseline" in spec:
            return [h for t, h in zip(*spec["baseline"], strict=True) if t <= time][-1]
        total = 0.0
        for event in sorted({r["targets"]["time"] for r in rows}):
            if event <= time:
                at = [r["weight"] for r in rows if _happened(r) and r["targets"]["time"] == event]
                still = [r["weight"] for r in rows if r["targets"]["time"] >= event]
                total += math.fsum(at) / math.fsum(still)
        return total

    known = {t: hazard(t) for t in {r["targets"]["time"] for r in rows}}
    before = min([h for h in known.values() if h] + [1 / (everyone + 1)])
    known = {t: h or before for t, h in known.items()}

    def loss(row: Row, predicted: Any) -> float:
        own = known[row["targets"]["time"]]
        seen = 1 + _log(predicted) + math.log(own) if _happened(row) else 0.0
        return predicted * own - seen

    def best(rows: Sequence[Row]) -> float:
        exposed = math.fsum(r["weight"] * known[r["targets"]["time"]] for r in rows)
        return math.fsum(r["weight"] for r in rows if _happened(r)) / exposed

    return loss, best


def _happened(row: Row) -> bool:
    return bool(row["targets"]["event"] == 1)


def _gini(spec: Spec, rows: Sequence[Row]) -> tuple[Loss, Best]:
    def loss(row: Row, predicted: Any) -> float:
        return sum((p - (row["y"] == k)) ** 2 for k, p in enumerate(predicted))

    return loss, _shares


def _log_loss(spec: Spec, rows: Sequence[Row]) -> tuple[Loss, Best]:
    return lambda row, predicted: -_log(predicted[row["y"]]), _shares


def _shares(rows: Sequence[Row]) -> list[float]:
    total = math.fsum(row["weight"] for row in rows)
    classes = range(1 + max(row["y"] for row in rows))
    return [math.fsum(r["weight"] for r in rows if r["y"] == k) / total for k in classes]


#: Definition of each loss of the core by its name.
LOSSES = {
    "squared-error": of_loss(_squared_error),
    "survival": of_loss(_survival),
    "gini": of_loss(_gini),
    "log-loss": of_loss(_log_loss),
    "poisson": of_loss(_poisson),
    "gamma": of_loss(_gamma),
}
