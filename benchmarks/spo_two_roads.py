"""Two roads: where does the decision switch? (illustrative example and figure 2 of Elmachtoub,
Liang, McNellis 2020).

    python benchmarks/spo_two_roads.py

One feature x, uniform on [0, 1]; road 1 costs 5x + 1.9, road 2 (5x + 0.4)². Road 2 is cheaper below
x = 0.28458, and that is all a decision needs. 10 000 training rows, 2000 rows for pruning, 5000
test rows, in that order from NumPy's legacy stream with seed 0; thresholds at percentiles; leaves
of 20 rows. Writes `results/spo_two_roads.csv` and a picture.
"""

from __future__ import annotations

import argparse
from typing import Any

import _papers
import _plots
import _spo
import numpy as np
import pandas as pd

import milp_trees as mt
from milp_trees.decisions.generate import CROSSING

TRAIN, HELD, TEST = 10_000, 2_000, 5_000
#: Losses of CART that a rerun of the published example on the same rows has, in %.
CART_LOSS = {"1": 9.02, "2": 1.84, "3": 0.486, "4": 0.124, "5": 0.033}
ROADS = (("road 1", "#0072B2"), ("road 2", "#D55E00"))


def study(
    depths: tuple[int, ...] = (1, 2, 3, 4, 5), scale: float = 1.0
) -> tuple[pd.DataFrame, dict[tuple[str, int], Any]]:
    """The table and the fitted trees; `scale` shrinks the numbers of rows."""
    train, held, test = (int(scale * n) for n in (TRAIN, HELD, TEST))
    made = mt.decisions.two_roads(train + held + test)
    everything = _spo.Rows(made.X, made.C, np.ones(len(made.X)))
    parts = [
        everything.part(s)
        for s in (slice(train), slice(train, train + held), slice(train + held, None))
    ]
    rows, models = [], {}
    for method in ("greedy-spo", "cart-spo"):
        for depth in depths:
            model, row = _spo.fitted(method, made.decisions, *parts, depth, min_samples_leaf=20)
            models[row["method"], depth] = model
            rows.append(row | {"root": root(model), "switch": switch(model)})
    return pd.DataFrame(rows), models


def root(model: Any) -> float:
    """Threshold of the first split; NaN for a single leaf."""
    node = model.tree_.root
    return float(node.test.value) if isinstance(node, mt.plugins.Branch) else float("nan")


def switch(model: Any) -> float:
    """Where the tree changes from road 2 to road 1; NaN if it never does."""
    x = np.linspace(0, 1, 100_001)
    first = model.decide(x[:, None])[:, 0] > 0.5
    return float(x[first.argmax()]) if first.any() and not first.all() else float("nan")


def draw(models: dict[tuple[str, int], Any]) -> Any:
    """True and predicted costs of some trees, and where each switches."""
    shown = [("SPO tree", 1), ("CART", 1), ("CART", 2), ("CART", 4)]
    drawn, axes = _plots.figure(2, 2, 9.0, 6.4)
    x = np.linspace(0, 1, 4001)
    true = np.column_stack([5 * x + 1.9, (5 * x + 0.4) ** 2])
    for axis, key in zip(axes.flat, shown, strict=True):
        model = models[key]
        predicted = model.predict(x[:, None])
        for k, (name, colour) in enumerate(ROADS):
            axis.plot(
                x,
                true[:, k],
                color=colour,
                linewidth=0.9,
                linestyle="--",
                label=f"{name}, true cost",
            )
            axis.plot(x, predicted[:, k], color=colour, linewidth=1.8, label=f"{name}, predicted")
        axis.axvline(
            CROSSING,
            color="#777777",
            linewidth=0.9,
            linestyle=":",
            label=f"best switch, x = {CROSSING:.4f}",
        )
        wrong = model.decide(x[:, None]).argmax(axis=1) != true.argmin(axis=1)
        axis.fill_between(
            x,
            0,
            1,
            where=wrong,
            transform=axis.get_xaxis_transform(),
            color="#E69F00",
            alpha=0.25,
            linewidth=0,
            label="wrong road",
        )
        at = switch(model)
        axis.set_title(
            f"{key[0]}, depth {key[1]}: "
            + ("always road 1" if at != at else f"switches at {at:.4f}")
        )
        axis.set_xlim(0, 1)
        axis.set_ylim(0, 30)
    for axis in axes[1]:
        axis.set_xlabel("x")
    for axis in axes[:, 0]:
        axis.set_ylabel("cost")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper center", ncols=3)
    return drawn


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    table, models = study()
    table.to_csv(_spo.RESULTS / "spo_two_roads.csv", index=False, float_format="%.6g")
    table["test"] *= 100
    table["reference"] = [
        CART_LOSS.get(d, np.nan) if m == "CART" else np.nan
        for m, d in zip(table.method, table.depth, strict=True)
    ]
    drawn = _papers.printed("spo-trees", "text on two roads")
    print(
        f"Best switch: x = {CROSSING:.5f}. Test loss in % of the least cost; the paper draws splits at "
        f"{drawn['SPO tree', 'split']} (SPO tree) and {drawn['CART', 'split']} (CART)."
    )
    print(
        table[["method", "depth", "root", "switch", "leaves", "test", "reference"]]
        .round(4)
        .to_string(index=False, na_rep="")
    )
    _plots.save(draw(models), "spo_two_roads")


if __name__ == "__main__":
    main()
