"""Pictures of the search for rule lists on COMPAS: its history, policies, and what bounds are worth.

    MILP_TREES_DATA=… python benchmarks/rule_list_study.py [--time-limit 60]
    [--penalties 0.01,0.005]

These are the pictures of the draft of Angelino et al. (2018): objective over time with CART and a
greedy list beside it, sizes of queue and map, the queue by length, the longest prefix and the best
list, the remaining search space by both bounds; and the policies side by side. The antecedents are
the 155 of `compas_train.out`. One thread; kernels are compiled before any clock starts. Histories
go to `results/rule_list_histories.csv`, pictures to `plots`; an interrupted run goes on where it
stopped. What each bound and map is worth is drawn from `results/rule_lists_ablation.csv`, which
`rule_lists.py --sections ablation` writes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import _data
import _plots
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

import milp_trees as mt
from milp_trees.lists.plots import plot_list_search
from milp_trees.mip.registry import registry

RESULTS = Path(__file__).parent / "results"
HISTORIES, ABLATION = RESULTS / "rule_list_histories.csv", RESULTS / "rule_lists_ablation.csv"
BASE = "corels"
POLICIES = tuple(
    f"corels:policy={p}" for p in ("objective", "curiosity", "breadth", "depth", "stochastic")
)


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


def measure(penalties: list[str], limit: float) -> pd.DataFrame:
    """The histories of all policies; those that are stored are not run again."""
    registry.method(BASE).warm_up()
    known = [pd.read_csv(HISTORIES, dtype={"penalty": str})] if HISTORIES.exists() else []
    done = set(zip(known[0].penalty, known[0].method, strict=True)) if known else set()
    for penalty in penalties:
        problem = stated(penalty)
        for method in (BASE, *POLICIES):
            if (penalty, method) in done:
                continue
            result = registry.method(method).run(problem, mt.Limits(time=limit))
            print(penalty, result, flush=True)
            known.append(result.history_frame().assign(penalty=penalty, method=method))
            pd.concat(known).to_csv(HISTORIES, index=False, float_format="%.6g")
    return pd.concat(known)


# -- pictures --------------------------------------------------------------------------------------


def draw_search(penalty: str, limit: float) -> None:
    """The pictures of one search, which is run for them."""
    problem = stated(penalty)
    result = registry.method(BASE).run(problem, mt.Limits(time=limit))
    figure = plot_list_search(result, competitors=competitors(problem))
    _plots.save(figure, f"rule_list_search_{penalty}")


def draw_policies(frame: pd.DataFrame, penalty: str) -> None:
    """Incumbent and bound, queue, and remaining search space, a colour per policy.

    The axis is the number of expanded prefixes, which does not depend on other jobs.
    """
    frame = frame[frame.penalty == penalty]
    figure, axes = _plots.figure(1, 3, 13.0, 3.8)
    for colour, (method, rows) in zip(
        _plots.COLOURS, frame.groupby("method", sort=False), strict=False
    ):
        label = method.removeprefix("corels:policy=") if method != BASE else "bound"
        at = np.maximum(rows.prefixes, 1)
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
        axis.set(xscale="log", yscale=scale, xlabel="expanded prefixes", title=title)
    axes[0, 0].legend(fontsize=8, title="policy")
    _plots.save(figure, f"rule_list_policies_{penalty}")


def draw_ablation(table: pd.DataFrame, penalty: str) -> None:
    """Prefixes, time and memory of every run with something switched off, over the full search."""
    rows = table[table.penalty == penalty]
    full = rows[rows.method == BASE].iloc[0]
    others = rows[rows.method != BASE]
    proven = (others.status == "optimal").to_numpy()
    at = np.arange(len(others))
    figure, axes = _plots.figure(1, 3, 12.0, 0.28 * len(others) + 1.2)
    for axis, column, title in zip(
        axes[0],
        ("prefixes", "cpu", "megabytes"),
        ("prefixes expanded", "CPU time", "memory"),
        strict=True,
    ):
        ratio = (others[column] / full[column]).to_numpy()
        edge = 1.3 * max(2.0, ratio[proven].max())
        # What a run that was stopped counted is no measurement of the whole search.
        shown = np.where(proven, ratio, edge)
        colours = [_plots.COLOURS[0] if p else "0.85" for p in proven]
        axis.barh(at, shown - 1, left=1, color=colours)
        for k in at[~proven]:
            axis.text(edge, k, "not proven in time ", ha="right", va="center", fontsize=8)
        axis.axvline(1, color="black", linewidth=0.8)
        names = others.method.str.replace("corels:", "").str.replace(",", ", ")
        axis.set_yticks(at, names if axis is axes[0, 0] else [""] * len(at))
        axis.set(xscale="log", xlim=(0.7, edge), title=f"{title} / all bounds on")
        ticks = [t for t in (1, 2, 5, 10, 20, 50) if t < edge]
        axis.set_xticks(ticks, map(str, ticks))
        axis.minorticks_off()
        axis.invert_yaxis()
    _plots.save(figure, f"rule_list_ablation_{penalty}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--penalties", default="0.01,0.005")
    args = parser.parse_args()
    penalties = args.penalties.split(",")
    histories = measure(penalties, args.time_limit)
    for penalty in penalties:
        draw_search(penalty, args.time_limit)
        draw_policies(histories, penalty)
    if ABLATION.exists():
        table = pd.read_csv(ABLATION, dtype={"penalty": str})
        for penalty in table.penalty.unique():
            draw_ablation(table, penalty)


if __name__ == "__main__":
    main()
