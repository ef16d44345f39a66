"""Training and test accuracy against leaves: CART, greedy, DL8.5, STreeD, GOSDT and ours (figures 4
and 5 of Lin et al. 2020, *GOSDT*).

    MILP_TREES_DATA=… python benchmarks/accuracy_leaves.py [--sets monk1,car,bar-7,compas-binned]
    [--leaves 2,3,4,6,8,12,16] [--depth 5]

Five folds, the same for everyone. CART (scikit-learn), greedy (`cart` of this package), pystreed
and `dp` are given every largest number of leaves; pydl8.5 knows depths only, gosdt a penalty per
leaf only: their points lie where their trees come out, in the mean over folds whose trees differ in
size; ours with the same penalties stand beside. One row per set, engine, setting and fold in
`results/accuracy_leaves.csv`; an interrupted run goes on where it stopped. Accuracies are counted
here, from the trees.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import _data
import _jobs
import _peers
import _plots
import pandas as pd
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import milp_trees as mt

RESULTS = Path(__file__).parent / "results" / "accuracy_leaves.csv"
KEY = ["set", "method", "setting", "fold"]
PENALISED = "milp-trees, λ"
PENALTIES = ("0.1", "0.05", "0.02", "0.01", "0.005")


def settings(args: argparse.Namespace, method: str) -> Iterator[tuple[str, dict]]:
    """What an engine is asked for: label and the job's parameters."""
    if method == "pydl8.5":
        yield from ((f"depth {d}", {"depth": d}) for d in range(1, args.depth + 1))
    elif method in ("gosdt", PENALISED):
        yield from ((f"λ = {p}", {"depth": args.depth, "penalty": p}) for p in PENALTIES)
    else:
        yield from (
            (f"{k} leaves", {"depth": args.depth, "leaves": k})
            for k in map(int, args.leaves.split(","))
        )


def grown(method: str, data: mt.Dataset, depth: int, leaves: int) -> dict:
    """A tree of one of the two greedy methods, as nested lists."""
    if method == "CART":
        fitted = (
            DecisionTreeClassifier(max_depth=depth, max_leaf_nodes=leaves, random_state=0)
            .fit(data.X, data.y)
            .tree_
        )

        def part(i: int):
            if fitted.children_left[i] < 0:
                return int(fitted.value[i][0].argmax())
            return [
                int(fitted.feature[i]),
                part(fitted.children_left[i]),
                part(fitted.children_right[i]),
            ]

        return {"status": "heuristic", "tree": part(0)}
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(depth, leaves)), method="cart")
    return {"status": "heuristic", "tree": _jobs.nested(result.tree, data)}


def accuracy(tree: mt.Tree, data: mt.Dataset) -> float:
    return float((tree.routes(data).action == data.y).mean())


def rows(
    args: argparse.Namespace, name: str, data: mt.Dataset, known: set, engines: dict[str, str]
) -> Iterator[dict]:
    """Everything that is not known yet about one set."""
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(data.X, data.y))
    for method in ("CART", "greedy (ours)", *engines):
        for fold, (inside, outside) in enumerate(folds):
            train, test = data.subset(inside), data.subset(outside)
            due = [
                (label, more)
                for label, more in settings(args, method)
                if (name, method, label, fold) not in known
            ]
            for label, found in answers(
                method, engines.get(method, ""), train, due, args.time_limit
            ):
                row = {
                    "set": name,
                    "method": method,
                    "setting": label,
                    "fold": fold,
                    "status": found["status"],
                    "message": found.get("message", ""),
                }
                if found.get("tree") is not None:
                    stated = mt.Problem(train, mt.Accuracy(), mt.Trees(args.depth))
                    tree = _jobs.tree(found["tree"], stated)
                    row |= {
                        "leaves": tree.n_leaves,
                        "train": accuracy(tree, train),
                        "test": accuracy(tree, test),
                        "seconds": found.get("call", [None])[0],
                    }
                yield row


def answers(
    method: str, python: str, train: mt.Dataset, due: list[tuple[str, dict]], limit: float
) -> Iterator[tuple[str, dict]]:
    """What the engine says to every setting; one process for all of them, a new one after a crash."""
    if not python:
        yield from ((label, grown(method, train, **more)) for label, more in due)
        return
    with tempfile.TemporaryDirectory() as folder:
        worker = None
        for label, more in due:
            if worker is None or worker.process.poll() is not None:
                worker = _peers.Worker(method.split(",")[0], python)
            job = _jobs.Job("fold", train.X, train.y, time_limit=limit, **more)
            job.write(f"{folder}/job.npz")
            found = worker.ask(job, f"{folder}/job.npz", warm=False)
            if found["status"] == "done":
                found["status"] = "optimal" if found["optimal"] else "stopped"
            yield label, found
        if worker is not None:
            worker.close()


def draw(table: pd.DataFrame):
    """Sets × (training, test): mean accuracy against mean number of leaves."""
    sets = list(dict.fromkeys(table.set))
    figure, axes = _plots.figure(2, len(sets), 2.9 * len(sets) + 0.4, 5.6)
    mean = (
        table.dropna(subset=["leaves"])
        .groupby(["set", "method", "setting"], sort=False)[["leaves", "train", "test"]]
        .mean()
        .reset_index()
    )
    for column, name in enumerate(sets):
        for row, part in enumerate(("train", "test")):
            ax = axes[row][column]
            for method, (colour, marker) in _plots.ENGINES.items():
                points = mean[(mean.set == name) & (mean.method == method)].sort_values("leaves")
                if len(points):
                    ours = method in (
                        _peers.OURS,
                        PENALISED,
                    )  # under the lines of those who find the same
                    style = (
                        {"markersize": 7, "linewidth": 3}
                        if ours
                        else {"markersize": 4, "linewidth": 1}
                    )
                    ax.plot(
                        points.leaves,
                        points[part],
                        color=colour,
                        marker=marker,
                        label=method,
                        zorder=1 if ours else 2,
                        **style,
                    )
            ax.set(
                title=name if row == 0 else "",
                xlabel="leaves" if row else "",
                ylabel=f"{'training' if part == 'train' else 'test'} accuracy"
                if column == 0
                else "",
            )
            ax.set(
                xscale="log",
                xlim=(1.8, 34),
                xticks=(2, 4, 8, 16, 32),
                xticklabels=(2, 4, 8, 16, 32),
            )
            ax.minorticks_off()
    handles: dict = {}
    for ax in axes.ravel():
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    labels = [m for m in _plots.ENGINES if m in handles]
    figure.legend(
        [handles[m] for m in labels],
        labels,
        loc="outside lower center",
        ncols=min(len(labels), 2 * len(sets)),
    )
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _peers.add_arguments(parser)
    parser.add_argument("--sets", default="monk1,car,bar-7,compas-binned")
    parser.add_argument("--leaves", default="2,3,4,6,8,12,16")
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--time-limit", type=float, default=30)
    parser.add_argument("--plot-only", action="store_true")
    args = parser.parse_args()
    table = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=KEY)
    if not args.plot_only:
        sets, engines = _data.sparse(), _peers.pythons(args)
        engines[PENALISED] = engines[_peers.OURS]
        for name in args.sets.split(","):
            known = set(zip(*(table[c] for c in KEY), strict=True))
            for row in rows(args, name, sets[name], known, engines):
                table = pd.concat([table, pd.DataFrame([row])], ignore_index=True)
                table.to_csv(RESULTS, index=False)
            print(
                name,
                table[table.set == name]
                .groupby("method")[["leaves", "train", "test"]]
                .mean()
                .round(3)
                .to_dict("index"),
                flush=True,
            )
    _plots.save(draw(table), "accuracy_leaves")


if __name__ == "__main__":
    main()
