"""Policy trees: the right treatment out of sample, and times beside pystreed and policytree.

    MILP_TREES_DATA=… python benchmarks/policies.py [--sections warfarin,synthetic,times]

`warfarin` is table 6 of the STreeD paper (van der Linden, de Weerdt, Demirović 2023): the share of
test rows whose treatment is the best one, at depth 1 to 5, the mean over the direct method (DM),
inverse propensity weighting (IPW) and the doubly robust estimate (DR). The paper has the mean over
all its splits; the data folder holds two of each of the three ways in which historic treatments
were drawn. `synthetic` is the generator of the paper (designs of Athey and Imbens) with trees of
one depth: the share of the right treatment, and the outcome that is lost per row.

`times` are processor seconds of preparation and search, every engine in a process of its own and
warm before its clock starts, in turns (`_peers.py`). Values are recomputed from the trees. pystreed
comes with the extra `bench`. policytree is an R package around a C++ search; build that search
without R, outside this repository, and name the program (boost: only its headers are needed):

    git clone https://github.com/grf-labs/policytree
    g++ -O3 -Ipolicytree/r-package/policytree/src benchmarks/peers/policytree.cpp \\
        policytree/r-package/policytree/src/tree_search.cpp -o search
    python benchmarks/policies.py --sections times --policytree ./search

Tables go to `results/policies_<section>.csv`.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import _data
import _jobs
import _papers
import _peers
import numpy as np
import pandas as pd

import milp_trees as mt
from milp_trees.data.generate import athey_imbens
from milp_trees.data.policy_files import load_policy

RESULTS = Path(__file__).parent / "results"
TASKS = {
    "DM": mt.tasks.DirectMethod(),
    "IPW": mt.tasks.InversePropensity(),
    "DR": mt.tasks.DoublyRobust(),
}
DEPTHS = (1, 2, 3, 4, 5)
SAME = 1e-6
"""Values of measured outcomes are compared up to this share: ours are rounded to a grid."""


def policies() -> Iterator[tuple[str, Path, Path]]:
    """Name, training file and test file of every split of warfarin."""
    for train in sorted((_data.root() / "policy" / "warfarin").glob("train_*")):
        name = train.name.removeprefix("train_").split(".csv")[0]
        yield name, train, train.with_name(f"test_{name}.csv")


def solved(data: mt.Dataset, task: mt.plugins.Task, depth: int) -> mt.Result:
    result = mt.solve(mt.Problem(data, task, mt.Trees(depth)), method="dp", time_limit=600)
    if not result.optimal:
        sys.exit(f"dp has not proven depth {depth}: {result.status.value}.")
    return result


def chosen(result: mt.Result, rows: mt.Dataset) -> np.ndarray:
    """Index of the treatment that a policy gives every row."""
    routes: np.ndarray = result.tree.routes(rows).action
    return routes


def warfarin(args: argparse.Namespace) -> pd.DataFrame:
    """One row per split, estimate and depth."""
    rows = []
    for name, train_file, test_file in policies():
        (train, _), (test, truth) = load_policy(train_file), load_policy(test_file)
        for depth in DEPTHS:
            for method, task in TASKS.items():
                result = solved(train, task, depth)
                right = (chosen(result, test) == truth.argmax(axis=1)).mean()
                rows.append(
                    {
                        "split": name,
                        "depth": depth,
                        "method": method,
                        "value": result.value.number,
                        "right": 100 * right,
                        "seconds": result.seconds,
                    }
                )
    table = pd.DataFrame(rows)
    print("\nRight treatments of warfarin out of sample, percent\n")
    print(right_by_depth(table).to_string(index=False))
    return table


def right_by_depth(table: pd.DataFrame) -> pd.DataFrame:
    """Table 6: percent right by depth and estimate, beside the paper's mean."""
    means = table.pivot_table(index="depth", columns="method", values="right")[list(TASKS)]
    splits = table.groupby(["depth", "split"]).right.mean().groupby("depth")
    means["mean"] = means.mean(axis=1)
    means = means.round(1)
    published = _papers.printed("streed", "6")
    means["paper"] = [published[f"depth {depth}", "right"] for depth in means.index]
    means["least of the splits"], means["largest"] = splits.min().round(1), splits.max().round(1)
    return means.reset_index()


def synthetic(args: argparse.Namespace) -> pd.DataFrame:
    """One row per design, probability of the better treatment, repetition and estimate."""
    rows = []
    for columns in (2, 10, 20):
        for p in map(float, args.p.split(",")):
            for seed in range(args.repetitions):
                train, _ = athey_imbens(columns, 500, p, seed=seed)
                test, truth = athey_imbens(columns, 10_000, p, seed=1000 + seed)
                best = truth.max(axis=1)
                for method, task in TASKS.items():
                    given = chosen(solved(train, task, args.depth), test)
                    lost = best - truth[np.arange(len(truth)), given]
                    rows.append(
                        {
                            "columns": columns,
                            "p": p,
                            "seed": seed,
                            "method": method,
                            "right": 100 * (lost == 0).mean(),
                            "lost": lost.mean(),
                        }
                    )
    table = pd.DataFrame(rows)
    titles = {"right": "Right treatments, percent", "lost": "Outcome lost per row"}
    for measure, title in titles.items():
        print(f"\n{title}, synthetic data, depth {args.depth}\n")
        print(by_p(table, measure).to_string(index=False))
    return table


def by_p(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Means over the repetitions by design, estimate, and probability of the better treatment."""
    means = table.pivot_table(index=["columns", "method"], columns="p", values=measure).round(3)
    return means.rename(columns=lambda p: f"p = {p}").reset_index()


def timed(args: argparse.Namespace) -> Iterator[tuple[str, mt.Dataset, int]]:
    """Sets and depths whose times are compared."""
    for depth in map(int, args.depths.split(",")):
        for name, train, _ in policies():
            yield f"warfarin {name}", load_policy(train)[0], depth
    for train in sorted((_data.root() / "policy" / "synthetic").glob("train_*")):
        name = train.name.removeprefix("train_").split(".csv")[0]
        for depth in map(int, args.synthetic_depths.split(",")):
            yield f"synthetic {name}", load_policy(train)[0], depth


def times(args: argparse.Namespace) -> pd.DataFrame:
    """One row per set, depth and estimate; seconds and values of every engine."""
    engines, rows = _peers.pythons(args), []
    searched: dict[int, int] = {}
    for name, data, depth in timed(args):
        for method, task in TASKS.items():
            table = np.column_stack([data.outcomes, data.propensities, data.values])
            job = _jobs.Job(
                name,
                data.X,
                data.treatments.astype(int),
                f"policy-{method.lower()}",
                depth,
                values=table,
                time_limit=args.time_limit,
            )
            found = _peers.interleaved(job, engines, args.repeat)
            if args.policytree and name.startswith("warfarin") and depth in (2, 3):
                searched[depth] = searched.get(depth, 0) + 1
                if depth == 2 or searched[depth] <= args.policytree_deep:
                    found["policytree"] = policytree(args.policytree, data, task, depth)
            ours = found[_peers.OURS]
            for engine, row in found.items():
                value = row.get("value")
                worse = None if value is None else bool(value < ours["value"] - SAME * abs(value))
                keep = {k: row.get(k) for k in ("status", "value", "engine", "cpu", "message")}
                shared = {"set": name, "depth": depth, "method": method, "engine_name": engine}
                rows.append({**shared, **keep, "worse": worse})
                print(*shared.values(), *keep.values(), "WORSE" if worse else "", flush=True)
    table = pd.DataFrame(rows)
    print(f"\nOurs over theirs, geometric means\n\n{ratios(table).to_string(index=False)}")
    return table


def policytree(program: str, data: mt.Dataset, task: mt.plugins.Task, depth: int) -> dict:
    """The C++ search of policytree on the same rewards; its times are those of the search alone."""
    rewards = np.asarray(task.action_values(data))
    with tempfile.NamedTemporaryFile() as file:
        np.asfortranarray(np.hstack([data.X, rewards])).ravel("F").tofile(file.name)
        sizes = [str(n) for n in (data.n_rows, data.n_features, rewards.shape[1], depth)]
        done = subprocess.run([program, file.name, *sizes], capture_output=True, text=True)
    if done.returncode:
        return {"status": "crashed", "message": f"exit code {done.returncode}"}
    seconds, _, *nodes = done.stdout.split()
    order = iter(nodes)

    def part() -> object:
        test = int(next(order))
        return int(next(order)) if test < 0 else [test, part(), part()]

    problem = mt.Problem(data, task, mt.Trees(depth))
    value = problem.value(_jobs.tree(part(), problem)).number
    return {"status": "optimal", "value": value, "engine": float(seconds), "cpu": float(seconds)}


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """Our time over each peer's: geometric mean by kind of set and depth, and worse optima."""
    key = ["set", "depth", "method"]
    ours = table[table.engine_name == _peers.OURS].set_index(key)
    out = []
    theirs = table[(table.engine_name != _peers.OURS) & table.engine.notna()]
    theirs = theirs.assign(worse=theirs.worse.astype(bool))
    kinds = theirs.set.str.split().str[0]
    for (kind, depth, peer), group in theirs.groupby([kinds, "depth", "engine_name"]):
        mine = ours.loc[pd.MultiIndex.from_frame(group[key])]
        out.append(
            {
                "set": kind,
                "depth": depth,
                "peer": peer,
                "cases": len(group),
                "ours, s": statistics.median(mine.engine),
                "theirs, s": statistics.median(group.engine),
                "search": geometric_mean(mine.engine.to_numpy() / group.engine.to_numpy()),
                "whole call": geometric_mean(mine.cpu.to_numpy() / group.cpu.to_numpy()),
                "optimal, but worse": int((group.worse & (group.status == "optimal")).sum()),
            }
        )
    return pd.DataFrame(out).round(4)


def geometric_mean(values: np.ndarray) -> float:
    return float(np.exp(np.log(values).mean()))


SECTIONS = {"warfarin": warfarin, "synthetic": synthetic, "times": times}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _peers.add_arguments(parser)
    parser.set_defaults(peers="pystreed")
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--depths", default="2,3,4", help="of the times on warfarin")
    parser.add_argument("--synthetic-depths", default="3,4", help="of the times on synthetic data")
    parser.add_argument("--depth", type=int, default=3, help="of the section synthetic")
    parser.add_argument("--p", default="0.1,0.25,0.5,0.75,0.9")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--policytree", default="", help="the built program")
    parser.add_argument(
        "--policytree-deep", type=int, default=1, help="cases at depth 3 for policytree"
    )
    parser.add_argument("--time-limit", type=float, default=300)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    for section in args.sections.split(","):
        table = SECTIONS[section](args)
        table.to_csv(RESULTS / f"policies_{section}.csv", index=False)


if __name__ == "__main__":
    main()
