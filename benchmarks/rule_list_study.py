"""The search for rule lists on COMPAS: its history, what each bound and map is worth, policies.

    MILP_TREES_DATA=… python benchmarks/rule_list_study.py [--time-limit 60]
    [--penalties 0.01,0.005] [--methods corels,corels:map=none]

These are the measurements of the draft of Angelino et al. (2018): objective over time with CART and
a greedy list beside it, sizes of queue and map, the queue by length, the longest prefix and the
best list, the remaining search space by both bounds; then every bound and map of the published
search switched off in turn, and its policies side by side. The antecedents are the 155 of
`compas_train.out`. One thread; kernels are compiled before any clock starts. Rows go to
`results/rule_list_study.csv`, histories to `results/rule_list_histories.csv`, pictures to `plots`;
an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import _data
import _plots
import numpy as np
import pandas as pd
from report import markdown
from sklearn.tree import DecisionTreeClassifier

import milp_trees as mt
from milp_trees.by_name import registry
from milp_trees.registering.labels import split_labels
from milp_trees.study.list_plots import plot_list_search

FOLDER = Path(__file__).parent / "results"
ROWS, HISTORIES = FOLDER / "rule_list_study.csv", FOLDER / "rule_list_histories.csv"
BASE = "corels"
POLICIES = tuple(
    f"corels:policy={p}" for p in ("objective", "curiosity", "breadth", "depth", "stochastic")
)
WITHOUT = tuple(
    f"corels:{bound}=off"
    for bound in (
        "hierarchical",
        "look_ahead",
        "length_bound",
        "support",
        "correct_support",
        "rejection",
        "equivalent_points",
        "similar_support",
        "collection",
    )
)
MAPS = ("corels:map=permutations", "corels:map=none")
#: Bounds that imply each other to a part: what both of a pair are worth.
PAIRS = (
    "corels:hierarchical=off,look_ahead=off",
    "corels:support=off,correct_support=off",
)
METHODS = (BASE, *POLICIES, *MAPS, *WITHOUT, *PAIRS)
#: Quantities of a result's sizes that are columns of the table.
SIZES = ("prefixes", "evaluated", "inserted", "longest", "queue", "map", "bytes")


def stated(penalty: str) -> mt.Problem:
    data = mt.load(str(_data.root() / "rulelist" / "corels" / "compas_train.out"))
    return mt.Problem(data, mt.Accuracy(split_penalty=penalty), mt.RuleLists())


def competitors(problem: mt.Problem) -> dict[str, float]:
    """Values of a greedy list and of the best CART tree, whose splits cost what rules cost."""
    data, price = problem.dataset, float(problem.task.split_penalty)
    trees = [
        DecisionTreeClassifier(max_leaf_nodes=k, random_state=0).fit(data.X, data.y)
        for k in range(2, 33)
    ]
    values = [1 - tree.score(data.X, data.y) + price * (tree.get_n_leaves() - 1) for tree in trees]
    return {"greedy list": mt.solve(problem, method="greedy").objective, "CART": min(values)}


def measured(problem: mt.Problem, method: str, limit: float) -> tuple[dict[str, Any], mt.Result]:
    """A row of the table (the CPU time is the least of three, if short), and the last result."""
    spent = np.inf
    for _ in range(3):
        began = time.process_time()
        result = registry.method(method).run(problem, mt.Limits(time=limit))
        spent = min(spent, time.process_time() - began)
        if result.seconds > 2:
            break
    best = [p.seconds for p in result.trace if p.incumbent == result.objective]
    history = result.history or {}
    row = {
        "penalty": str(float(problem.task.split_penalty)),
        "method": method,
        "status": result.status.value,
        "objective": result.objective,
        "bound": result.bound,
        "cpu_seconds": round(spent, 3),
        "seconds": round(result.seconds, 3),
        "best_found": round(min(best), 3) if best else None,
        "largest_queue": max(history.get("queue", [0])),
        **{name: result.model_size.get(name) for name in SIZES},
    }
    return row, result


def measure(methods: list[str], penalties: list[str], limit: float) -> pd.DataFrame:
    """All rows; pictures of the first method are drawn as its runs end."""
    known = pd.read_csv(ROWS, dtype={"penalty": str}) if ROWS.exists() else pd.DataFrame()
    done = set(zip(known.penalty, known.method, strict=True)) if len(known) else set()
    table = known.to_dict("records")
    frames = [pd.read_csv(HISTORIES, dtype={"penalty": str})] if HISTORIES.exists() else []
    for penalty in penalties:
        problem = stated(penalty)
        for method in methods:
            if (penalty, method) in done:
                continue
            row, result = measured(problem, method, limit)
            table.append(row)
            print("  ".join(f"{k}={v}" for k, v in row.items()), flush=True)
            frames.append(result.history_frame().assign(penalty=penalty, method=method))
            if method == BASE:
                figure = plot_list_search(result, competitors=competitors(problem))
                _plots.save(figure, f"rule_list_search_{penalty}")
            pd.DataFrame(table).to_csv(ROWS, index=False)
            pd.concat(frames).to_csv(HISTORIES, index=False, float_format="%.6g")
    return pd.DataFrame(table)


# -- pictures and tables ---------------------------------------------------------------------------


def draw_policies(penalty: str) -> None:
    """Incumbent and bound, queue, and remaining search space over time, a colour per policy."""
    frame = pd.read_csv(HISTORIES, dtype={"penalty": str})
    frame = frame[(frame.penalty == penalty) & frame.method.isin([BASE, *POLICIES])]
    figure, axes = _plots.figure(1, 3, 13.0, 3.8)
    for colour, (method, rows) in zip(
        _plots.COLOURS, frame.groupby("method", sort=False), strict=False
    ):
        label = method.removeprefix("corels:policy=") if method != BASE else "bound"
        at = np.maximum(rows.seconds, 1e-3)
        for axis, column, style in (
            (axes[0, 0], "incumbent", "-"),
            (axes[0, 0], "bound", "--"),
            (axes[0, 1], "queue", "-"),
            (axes[0, 2], "log10_space_fine", "-"),
        ):
            name = label if column != "bound" else None
            axis.step(at, rows[column], style, where="post", color=colour, label=name)
    for axis, title, scale in zip(
        axes[0],
        ("incumbent (solid) and bound (dashed)", "queue", "log10 of the remaining search space"),
        ("linear", "log", "linear"),
        strict=True,
    ):
        axis.set(xscale="log", yscale=scale, xlabel="seconds", title=title)
    axes[0, 0].legend(fontsize=8, title="policy")
    _plots.save(figure, f"rule_list_policies_{penalty}")


def draw_ablation(table: pd.DataFrame, penalty: str) -> None:
    """Prefixes, time and memory of every run with something switched off, over the full search."""
    rows = table[(table.penalty == penalty) & table.method.isin([BASE, *MAPS, *WITHOUT, *PAIRS])]
    full = rows[rows.method == BASE].iloc[0]
    others = rows[rows.method != BASE]
    figure, axes = _plots.figure(1, 3, 12.0, 0.28 * len(others) + 1.2)
    for axis, column, title in zip(
        axes[0],
        ("prefixes", "cpu_seconds", "bytes"),
        ("prefixes expanded", "CPU time", "memory"),
        strict=True,
    ):
        ratio = others[column] / full[column]
        proven = others.status == "optimal"
        at = np.arange(len(others))
        for colour, which, label in ((0, proven, "proven"), (1, ~proven, "time limit")):
            shown = ratio[which]
            axis.barh(at[which], shown - 1, left=1, color=_plots.COLOURS[colour], label=label)
        axis.axvline(1, color="black", linewidth=0.8)
        names = others.method.str.removeprefix("corels:")
        axis.set_yticks(at, names if axis is axes[0, 0] else [""] * len(at))
        axis.set(xscale="log", xlim=(0.5, None), title=f"{title} / all bounds on")
        axis.invert_yaxis()
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower right", ncols=2)
    _plots.save(figure, f"rule_list_ablation_{penalty}")


def summary(table: pd.DataFrame) -> pd.DataFrame:
    out = table.assign(
        gap=[
            f"{100 * (o - b) / o:.2f} %" for o, b in zip(table.objective, table.bound, strict=True)
        ],
        objective=table.objective.map("{:.6f}".format),
        megabytes=(table.bytes / 2**20).round(1),
    )
    columns = ["penalty", "method", "status", "objective", "gap", "prefixes", "evaluated"]
    return out[[*columns, "largest_queue", "map", "megabytes", "cpu_seconds", "best_found"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--penalties", default="0.01,0.005")
    parser.add_argument("--methods", default=",".join(METHODS))
    args = parser.parse_args()
    penalties = args.penalties.split(",")
    tiny = mt.load("planted-list:rows=40,tests=5")
    registry.method(BASE).run(mt.Problem(tiny, mt.Accuracy(split_penalty="0.05"), mt.RuleLists()))
    table = measure(split_labels(args.methods), penalties, args.time_limit)
    for penalty in penalties:
        draw_policies(penalty)
        draw_ablation(table, penalty)
    print(markdown(summary(table)))


if __name__ == "__main__":
    main()
