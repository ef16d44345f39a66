"""ROC of optimal trees for six objectives on data like fourclass (figures 2 and 3 of Lin, Zhong,
Hu, Rudin, Seltzer 2020, *GOSDT*).

    MILP_TREES_DATA=… python benchmarks/roc_fourclass.py [--penalty 0.01] [--bins 8] [--depth 4]
    [--time-limit 120]

Every tree minimises its own loss plus λ per leaf. A tree ranks rows by the share of positive
training rows in their leaf, so it has a ROC curve whatever it was optimised for. The data are
`gosdt/fourclass-numeric.csv`, or, without MILP_TREES_DATA, 862 generated points with two
interlocked classes. A quarter of the rows is kept for testing. Rows go to
`results/roc_fourclass.csv` (one per objective) and `results/roc_fourclass_leaves.csv` (one per
leaf).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import _plots
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import milp_trees as mt
from milp_trees.mip.registry import registry

RESULTS = Path(__file__).parent / "results"
#: Name → (task, its parameters, method). Weighted: a missed positive costs four times a false
#: alarm.
OBJECTIVES = {
    "accuracy": ("accuracy", {}, "dp"),
    "balanced accuracy": ("balanced-accuracy", {}, "dp"),
    "weighted (ω = 4)": ("weighted", {"class_weight": {-1: 1, 1: 4}}, "dp"),
    "F-score": ("f1", {}, "dp"),
    "AUC": ("auc", {}, "partial-trees"),
    "partial AUC (θ = 0.2)": ("partial-auc", {"theta": "0.2"}, "partial-trees"),
}


def points() -> tuple[pd.DataFrame, np.ndarray]:
    """Two columns and labels −1, 1."""
    folder = os.environ.get("MILP_TREES_DATA")
    if folder:
        table = pd.read_csv(Path(folder) / "gosdt" / "fourclass-numeric.csv", header=None)
        return table[[1, 2]].set_axis(["x1", "x2"], axis=1), table[0].to_numpy()
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(-1, 1, (862, 2)), columns=["x1", "x2"])
    inside = np.hypot(frame.x1 - 0.3, frame.x2 - 0.4) < 0.45
    inside |= np.hypot(frame.x1 + 0.5, frame.x2 + 0.3) < 0.35
    inside |= (frame.x1 > 0.4) & (frame.x2 < -0.5)
    return frame, np.where(inside ^ (rng.random(862) < 0.03), 1, -1)


def counts(tree: mt.Tree, data: mt.Dataset) -> np.ndarray:
    """Negatives and positives per leaf, shape (leaves, 2)."""
    routes = tree.routes(data)
    out = np.zeros((routes.n_leaves, 2), dtype=int)
    np.add.at(out, (routes.leaf, data.y), 1)
    return out


def curve(leaves: pd.DataFrame, part: str) -> np.ndarray:
    """Corners of the ROC curve, leaves by falling share of positive training rows."""
    share = leaves.train_positives / (leaves.train_positives + leaves.train_negatives)
    order = leaves.iloc[np.argsort(-share, kind="stable")]
    steps = order[[f"{part}_negatives", f"{part}_positives"]].to_numpy(dtype=float)
    corners = np.vstack([[0, 0], steps.cumsum(axis=0)])
    return corners / corners[-1]


def solve(
    train: mt.Dataset, test: mt.Dataset, penalty: str, depth: int, time_limit: float
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, mt.Tree]]:
    """One row per objective, one per leaf, and the trees."""
    rows, leaves, trees = [], [], {}
    for name, (task, parameters, method) in OBJECTIVES.items():
        problem = mt.Problem(
            train, registry.task(task)(leaf_penalty=penalty, **parameters), mt.Trees(depth)
        )
        result = mt.solve(problem, method=method, time_limit=time_limit)
        trees[name] = result.tree
        both = np.hstack([counts(result.tree, train), counts(result.tree, test)])
        part = pd.DataFrame(
            both, columns=["train_negatives", "train_positives", "test_negatives", "test_positives"]
        )
        leaves.append(
            part.assign(
                objective=name, leaf=range(len(part)), label=result.tree.routes(train).leaf_actions
            )
        )
        rows.append(
            {
                "objective": name,
                "method": result.method,
                "status": result.status.value,
                "loss": result.objective,
                "bound": result.bound,
                "leaves": result.tree.n_leaves,
                "seconds": round(result.seconds, 3),
                **{f"{p}_auc": round(area(curve(part, p)), 4) for p in ("train", "test")},
                **scores(leaves[-1], "train"),
                **scores(leaves[-1], "test"),
            }
        )
        print(
            {
                k: v
                for k, v in rows[-1].items()
                if k
                in ("objective", "status", "loss", "leaves", "seconds", "train_auc", "test_auc")
            },
            flush=True,
        )
    return pd.DataFrame(rows), pd.concat(leaves, ignore_index=True), trees


def area(corners: np.ndarray) -> float:
    return float(np.trapezoid(corners[:, 1], corners[:, 0]))


def scores(leaves: pd.DataFrame, part: str) -> dict[str, float]:
    """Accuracy and F1 of the leaves' labels."""
    positives, negatives = leaves[f"{part}_positives"], leaves[f"{part}_negatives"]
    tp, fp = positives[leaves.label == 1].sum(), negatives[leaves.label == 1].sum()
    fn, tn = positives[leaves.label == 0].sum(), negatives[leaves.label == 0].sum()
    return {
        f"{part}_accuracy": round((tp + tn) / (tp + fp + fn + tn), 4),
        f"{part}_f1": round(2 * tp / (2 * tp + fp + fn), 4),
    }


def draw_curves(summary: pd.DataFrame, leaves: pd.DataFrame, penalty: str):
    figure, ((*axes,),) = _plots.figure(1, 2, 9.6, 5.3)
    for ax, part in zip(axes, ("train", "test"), strict=True):
        ax.plot([0, 1], [0, 1], color="0.8", linewidth=0.8, zorder=0)
        for i, row in enumerate(summary.itertuples()):
            corners = curve(leaves[leaves.objective == row.objective], part)
            label = f"{row.objective}: {getattr(row, part + '_auc'):.3f}, {row.leaves} leaves" + (
                "" if row.status == "optimal" else " (not proven)"
            )
            # Curves that coincide are seen as borders of each other.
            ax.plot(
                *corners.T,
                color=_plots.COLOURS[i],
                linewidth=3.6 - 0.45 * i,
                marker="o",
                markersize=5 - 0.4 * i,
                label=label,
            )
        ax.set(
            xlabel="false positive rate",
            ylabel="true positive rate",
            title={"train": "training rows", "test": "test rows"}[part],
            aspect="equal",
        )
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.legend(
            title="objective: area under the curve", loc="lower right", fontsize=8, title_fontsize=8
        )
    figure.suptitle(f"ROC of optimal trees, λ = {penalty}")
    return figure


def draw_regions(train: mt.Dataset, frame: pd.DataFrame, y: np.ndarray, trees: dict[str, mt.Tree]):
    """The plane cut by every tree, shaded by the share of positives, with the training rows."""
    figure, axes = _plots.figure(2, 3, 10.2, 6.6)
    low, high = frame.min() - 0.05, frame.max() + 0.05
    a, b = np.meshgrid(np.linspace(low.x1, high.x1, 400), np.linspace(low.x2, high.x2, 400))
    raw = {"x1": a.ravel(), "x2": b.ravel()}
    grid = mt.Dataset(
        np.column_stack([t.evaluate(raw[t.column]) for t in train.features]).astype(np.uint8),
        train.features,
    )
    shown = None
    for ax, (name, tree) in zip(axes.ravel(), trees.items(), strict=True):
        inside = counts(tree, train)
        share = inside[:, 1] / inside.sum(axis=1)
        shown = ax.pcolormesh(
            a,
            b,
            share[tree.routes(grid).leaf].reshape(a.shape),
            cmap="RdBu_r",
            vmin=0,
            vmax=1,
            alpha=0.55,
            rasterized=True,
        )
        for label, colour in ((-1, "#05386b"), (1, "#8b0a1a")):
            ax.scatter(frame.x1[y == label], frame.x2[y == label], s=3, color=colour, linewidths=0)
        ax.set(title=f"{name}: {tree.n_leaves} leaves", xticks=[], yticks=[])
    figure.colorbar(shown, ax=axes, label="share of positive training rows in the leaf", shrink=0.6)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--penalty", default="0.01")
    parser.add_argument("--bins", type=int, default=8)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--time-limit", type=float, default=120)
    parser.add_argument(
        "--plot-only", action="store_true", help="draw the curves again from the stored rows"
    )
    args = parser.parse_args()
    paths = [RESULTS / "roc_fourclass.csv", RESULTS / "roc_fourclass_leaves.csv"]
    if args.plot_only:
        _plots.save(draw_curves(*map(pd.read_csv, paths), args.penalty), "roc_fourclass")
        return
    frame, y = points()
    inside, outside, y_in, y_out = train_test_split(
        frame, y, test_size=0.25, random_state=0, stratify=y
    )
    tests = mt.Binarizer(kind="quantiles", n_bins=args.bins).fit(inside)
    train, test = tests.dataset(inside, y_in), tests.dataset(outside, y_out)
    summary, leaves, trees = solve(train, test, args.penalty, args.depth, args.time_limit)
    for path, table in zip(paths, (summary, leaves), strict=True):
        table.to_csv(path, index=False)
    _plots.save(draw_curves(summary, leaves, args.penalty), "roc_fourclass")
    _plots.save(draw_regions(train, inside, y_in, trees), "roc_fourclass_trees")


if __name__ == "__main__":
    main()
