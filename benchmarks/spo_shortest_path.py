"""Noisy shortest paths: trees and forests grown for decisions against CART (figures 3 to 5 of
Elmachtoub, Liang, McNellis 2020).

    python benchmarks/spo_shortest_path.py --rows 200                # figure 3: table and box plot
    python benchmarks/spo_shortest_path.py --rows 200 --forests      # with forests of 100 trees
    python benchmarks/spo_shortest_path.py --rows 10000 --repeats 3  # figures 4 and 5: losses and
    leaves python benchmarks/spo_shortest_path.py --repeats 100 --exact-depths 1,2 --out hundred.csv
    # ten times as many data sets, in a file of their own

A 4 × 4 grid, edges to the east and to the north, costs from five features. The first fifth of the
rows chooses the pruning (by SPO loss for SPO trees, by squared error for CART) and the number of
features that a forest draws; 1000 test rows come from the same matrix B; leaves have at least 20
rows. The exact trees are ours: the best tree of the depth over 100 quantiles per feature, pruned by
the same rows. One row per data set, method and depth in `results/spo_shortest_path.csv`; what is
there is not computed again (`--fresh` does). Data set k has the same matrix B in every setting.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path
from typing import Any, NamedTuple

import _papers
import _plots
import _spo
import numpy as np
import pandas as pd

import milp_trees as mt

PATH = _spo.RESULTS / "spo_shortest_path.csv"
SETTING = ["rows", "inner", "outer", "degree", "noise"]
KEY = [*SETTING, "seed", "min_leaf", "method", "depth"]
BASELINE = {
    "SPO tree": "CART",
    "SPO tree, smoothed": "CART",
    "exact SPO tree": "CART",
    "SPO forest": "CART forest",
}
FORESTS = {"CART forest": "cart-spo", "scikit-learn forest": "", "SPO forest": "greedy-spo"}
TEST_ROWS = 1000


class Job(NamedTuple):
    """One data set, and what is still to be fitted on it: (method of `SPOTree`, depth) or
    ("forests", None).
    """

    rows: int
    inner: float
    outer: float
    degree: float
    noise: float
    seed: int
    min_leaf: int
    fits: tuple[tuple[str, int | None], ...]
    forest_leaf: int
    trees: int


def work(job: Job) -> list[dict[str, Any]]:
    """The rows of the table that a job asks for."""
    made = mt.decisions.shortest_path_data(
        job.rows + TEST_ROWS,
        degree=job.degree,
        noise=job.noise,
        inner=job.inner,
        outer=job.outer,
        seed=job.seed,
    )
    everything = _spo.Rows(made.X, made.C, np.ones(len(made.X)))
    first = job.rows // 5
    held, train, test = (
        everything.part(s) for s in (slice(first), slice(first, job.rows), slice(job.rows, None))
    )
    stated = {name: getattr(job, name) for name in SETTING} | {"seed": job.seed}
    out = []
    for method, depth in job.fits:
        if method == "forests":
            out += [
                stated | {"min_leaf": job.forest_leaf} | row
                for row in forests(job, made.decisions, train, held, test)
            ]
        else:
            _, row = _spo.fitted(
                method, made.decisions, train, held, test, depth, min_samples_leaf=job.min_leaf
            )
            out.append(stated | {"min_leaf": job.min_leaf} | row)
    return out


def forests(
    job: Job, S: Any, train: _spo.Rows, held: _spo.Rows, test: _spo.Rows
) -> list[dict[str, Any]]:
    """The forests; the number of drawn features (2 to 5) is the one with the least loss on the held
    rows, of equal ones the larger.

    Both of ours count every draw of a bootstrap sample towards the least size of a leaf;
    scikit-learn counts a row once, so its leaves are larger.
    """
    from sklearn.ensemble import RandomForestRegressor

    _spo.warm()
    out = []
    for name, method in FORESTS.items():
        begin, found = time.process_time(), []
        for m in (2, 3, 4, 5):
            given = {
                "n_estimators": job.trees,
                "max_features": m,
                "min_samples_leaf": job.forest_leaf,
                "random_state": job.seed,
            }
            forest = (
                mt.SPOForest(decisions=S, method=method, **given)
                if method
                else RandomForestRegressor(**given)
            )
            forest.fit(train.X, train.C)
            found.append((normalised(S, forest.predict(held.X), held.C), -m, forest))
        _, m, forest = min(found, key=lambda f: f[:2])
        leaves = (
            forest.get_n_leaves() if method else sum(t.get_n_leaves() for t in forest.estimators_)
        )
        out.append(
            {
                "method": name,
                "depth": "forest",
                "test": normalised(S, forest.predict(test.X), test.C),
                "train": normalised(S, forest.predict(train.X), train.C),
                "leaves": leaves / job.trees,
                "seconds": round(time.process_time() - begin, 4),
                "features": -m,
            }
        )
    return out


def normalised(S: Any, predicted: np.ndarray, C: np.ndarray) -> float:
    """Σ loss / Σ z* of deciding by predicted costs."""
    taken, least = S.solve(predicted).decisions, S.value(C)
    return float(((C * taken).sum(axis=1) - least).sum() / least.sum())


def jobs(args: argparse.Namespace, known: set[tuple[str, ...]]) -> list[Job]:
    """The data sets with something left to do."""
    wanted = [(m, d) for m in _spo.TREES if m != "dp" for d in args.depths]
    wanted += [("dp", d) for d in args.depths if d in args.exact_depths]
    out = []
    for degree, noise, seed in itertools.product(args.degrees, args.noises, range(args.repeats)):
        stated = tuple(str(v) for v in (args.rows, args.inner, args.outer, degree, noise, seed))
        fits = [
            (m, d)
            for m, d in wanted
            if (*stated, str(args.min_leaf), _spo.TREES[m], _spo.depth_name(d)) not in known
        ]
        if args.forests and (*stated, str(args.forest_leaf), "CART forest", "forest") not in known:
            fits.append(("forests", None))
        if fits:
            given = (
                args.rows,
                args.inner,
                args.outer,
                degree,
                noise,
                seed,
                args.min_leaf,
                tuple(fits),
                args.forest_leaf,
                args.trees,
            )
            out.append(Job(*given))
    return out


def chosen(table: pd.DataFrame, args: argparse.Namespace) -> pd.DataFrame:
    """The rows that the arguments ask for."""
    here = table[
        (table.rows == str(args.rows))
        & (table.inner == str(args.inner))
        & (table.outer == str(args.outer))
    ]
    here = here[
        here.degree.isin(map(str, args.degrees))
        & here.noise.isin(map(str, args.noises))
        & here.seed.isin(map(str, range(args.repeats)))
    ]
    exact = here.method == _spo.TREES["dp"]
    here = here[~exact | here.depth.isin(map(_spo.depth_name, args.exact_depths))]
    forest = here.depth == "forest"
    return here[
        (
            ~forest
            & here.depth.isin(map(_spo.depth_name, args.depths))
            & (here.min_leaf == str(args.min_leaf))
        )
        | (forest & args.forests & (here.min_leaf == str(args.forest_leaf)))
    ]


def summary(table: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Improvements over CART per depth, beside the paper's where it gives one for as many rows."""
    out = _spo.improvements(table, BASELINE, SETTING)
    published = (
        _papers.printed("spo-trees", "text on shortest paths, n = 200") if rows == 200 else {}
    )
    out["paper"] = [
        published.get((f"{m} of depth {d}", "improvement"), "")
        for m, d in zip(out.method, out.depth, strict=True)
    ]
    leaves = table.groupby(["method", "depth"]).leaves.mean()
    out["leaves"] = [leaves[m, d] for m, d in zip(out.method, out.depth, strict=True)]
    out["leaves of baseline"] = [leaves[b, d] for b, d in zip(out.baseline, out.depth, strict=True)]
    return out


def draw(table: pd.DataFrame, column: str, title: str, label: str, log: bool = False) -> Any:
    """Box plots, one panel per degree and noise."""
    degrees, noises = (sorted(table[c].unique(), key=float) for c in ("degree", "noise"))
    drawn, axes = _plots.figure(
        len(degrees), len(noises), 4.6 * len(noises), 2.9 * len(degrees) + 0.6
    )
    methods = [m for m in _spo.COLOUR if m in set(table.method)]
    order = sorted(table.depth.unique(), key=lambda d: (d == "forest", d == "none", d))
    scale = 100 if column == "test" else 1
    for (r, degree), (c, noise) in itertools.product(enumerate(degrees), enumerate(noises)):
        here = table[(table.degree == degree) & (table.noise == noise)]
        groups = []
        for depth in order:
            at = here[here.depth == depth]
            groups.append(
                (
                    {"none": "no limit", "forest": "forests"}.get(depth, f"depth {depth}"),
                    {
                        m: scale * at[at.method == m][column].to_numpy(float)
                        for m in methods
                        if (at.method == m).any()
                    },
                )
            )
        panel = axes[r, c]
        _spo.boxes(panel, groups)
        panel.set_title(f"degree {float(degree):g}, noise {float(noise):g}")
        if c == 0:
            panel.set_ylabel(label)
        if log:
            panel.set_yscale("log", base=2)
            panel.yaxis.set_major_formatter("{x:g}")
        else:
            panel.set_ylim(bottom=0)
    _spo.legend(drawn, [m for m in methods if m not in ("CART forest", "SPO forest")])
    drawn.supxlabel(title, fontsize=9)
    return drawn


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rows", type=int, default=200, help="training and validation rows (default 200)"
    )
    parser.add_argument(
        "--repeats", type=int, default=10, help="data sets per setting (default 10)"
    )
    parser.add_argument("--degrees", default="2,10")
    parser.add_argument("--noises", help="default 0,0.25; more than 1000 rows: 0,0.5")
    parser.add_argument("--depths", help="default 1,2,3,none; more than 1000 rows: 2,4,6,none")
    parser.add_argument(
        "--exact-depths",
        help="depths that the exact tree is found for (default 1,2,3; more than 1000 rows: 2)",
    )
    parser.add_argument(
        "--inner", type=float, default=3.0, help="constant inside the power (default 3)"
    )
    parser.add_argument("--outer", type=float, default=1.0, help="constant outside (default 1)")
    parser.add_argument("--min-leaf", type=int, default=20)
    parser.add_argument("--forests", action="store_true")
    parser.add_argument(
        "--forest-leaf",
        type=int,
        default=20,
        help="fewest rows in a leaf of a forest's tree (default 20)",
    )
    parser.add_argument("--trees", type=int, default=100, help="of a forest")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--out",
        type=Path,
        default=PATH,
        help="CSV that is read and grows; pictures are drawn for the default only",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="forget the stored rows of these settings"
    )
    args = parser.parse_args(given)
    many = args.rows > 1000
    args.degrees = [float(d) for d in args.degrees.split(",")]
    args.noises = [float(e) for e in (args.noises or ("0,0.5" if many else "0,0.25")).split(",")]
    args.depths = _spo.depths(args.depths or ("2,4,6,none" if many else "1,2,3,none"))
    args.exact_depths = _spo.depths(
        ("2" if many else "1,2,3") if args.exact_depths is None else args.exact_depths
    )
    return args


def main() -> None:
    args = arguments()
    store = _spo.Growing(args.out, KEY)
    if args.fresh and len(store.table):
        store.table = store.table.drop(chosen(store.table, args).index)
    begin = time.perf_counter()
    store.run(jobs(args, store.known()), work, args.jobs)
    table = chosen(store.table, args)
    print(
        f"\nn = {args.rows}, constants ({args.inner:g}, {args.outer:g}), {args.repeats} data sets per setting; normalised extra travel time on test rows, %"
    )
    wide = table.assign(test=100 * table.test).pivot_table(
        index=["degree", "noise"], columns=["depth", "method"], values="test"
    )
    print(wide.T.round(2).to_string())
    print(
        "\nImprovement over CART, %: as published, its standard error and standard deviation over data sets; mean leaves"
    )
    print(summary(table, args.rows).round(1).to_string(index=False, na_rep=""))
    print(
        f"\nfitting took {table.seconds.sum():.0f} s of one thread; this run {time.perf_counter() - begin:.0f} s"
    )
    if args.out != PATH:
        return
    constants = "" if (args.inner, args.outer) == (3, 1) else f"_{args.inner:g}_{args.outer:g}"
    name = f"spo_shortest_path_{args.rows}{constants}"
    text = f"n = {args.rows}; {args.repeats} data sets per box, whiskers to the extremes, white dots are means"
    _plots.save(draw(table, "test", text, "normalised extra travel time, %"), name)
    trees = table[table.depth != "forest"]
    _plots.save(
        draw(trees, "leaves", text, "leaves after pruning", log=trees.leaves.max() > 30),
        f"{name}_leaves",
    )


if __name__ == "__main__":
    main()
