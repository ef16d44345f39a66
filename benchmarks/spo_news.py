"""News recommendation under random constraints (section 5.2 and figure 6 of Elmachtoub, Liang,
McNellis 2020).

    python benchmarks/spo_news.py                      # synthetic readers python
    benchmarks/spo_news.py --log FILE [FILE …]  # the Yahoo! front page log (R6A, R6B), which is
    licensed by its owner

A group of readers gets shares w of six kinds of articles, w >= 0, Σ w = 1, A w <= 1 with five
random rows (seeds 10 to 18); the reward is the probability of a click. Weights are records
(visits): leaves have at least 10 000. Half of the groups train, a quarter choose the pruning, a
quarter test.

The published experiment is on a log that cannot be shipped. By default the readers are made up
(`news_data`): the form is the published one, the relation of features and clicks is not, so only
the shape of the result can be compared with the paper's figures, not their size.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import _papers
import _plots
import _spo
import numpy as np
import pandas as pd

import milp_trees as mt

PATH = _spo.RESULTS / "spo_news.csv"
KEY = ["source", "groups", "data_seed", "seed", "method", "depth"]
METHODS = ("cart-spo", "greedy-spo")


class Job(NamedTuple):
    """One set of constraints on one set of readers."""

    source: str
    groups: int
    data_seed: int
    constraints: int
    data: Any
    depths: tuple[int | None, ...]
    least: int


def work(job: Job) -> list[dict[str, Any]]:
    """Expected clicks per visit of the trees of every depth."""
    S = mt.decisions.news_decisions(job.constraints, articles=job.data.C.shape[1])
    train, held, test = parts(job.data, job.data_seed)
    best = float(test.weights @ -S.value(test.C) / test.weights.sum())
    rows = []
    for method in METHODS:
        for depth in job.depths:
            model, row = _spo.fitted(
                method, S, train, held, test, depth, min_weight_leaf=job.least, n_bins=20
            )
            clicks = float(
                test.weights @ -(test.C * model.decide(test.X)).sum(axis=1) / test.weights.sum()
            )
            stated = {
                "source": job.source,
                "groups": job.groups,
                "data_seed": job.data_seed,
                "seed": job.constraints,
            }
            rows.append(stated | row | {"clicks": clicks, "best": best})
    return rows


def parts(data: Any, seed: int) -> list[_spo.Rows]:
    """Training, validation and test groups."""
    rows = _spo.Rows(*data)
    order = np.random.default_rng(seed).permutation(len(rows.X))
    cuts = np.split(order, [len(order) // 2, 3 * len(order) // 4])
    return [_spo.Rows(*(a[c] for a in rows)) for c in cuts]


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Gain in expected clicks over CART: trees of the same depth, and an SPO tree of depth 2
    against CART of every depth.
    """
    table = table.assign(test=table.clicks)
    setting = ["source", "groups", "data_seed"]
    same = _spo.improvements(table, {"SPO tree": "CART"}, setting, more_is_better=True).set_index(
        "depth"
    )
    small = table[(table.method == "SPO tree") & (table.depth == "2")]
    against = pd.concat(
        [table[table.method == "CART"], *(small.assign(depth=d) for d in table.depth.unique())]
    )
    fixed = _spo.improvements(
        against, {"SPO tree": "CART"}, setting, more_is_better=True
    ).set_index("depth")
    leaves = table.pivot_table(index="depth", columns="method", values="leaves")
    published = _papers.printed("spo-trees", "text on news")
    return pd.DataFrame(
        {
            "same depth": same.improvement,
            "sd": same.sd,
            "SPO depth 2": fixed.improvement,
            "sd ": fixed.sd,
            "paper": [published.get((f"CART of depth {d}", "gain"), "") for d in same.index],
            "leaves SPO": leaves["SPO tree"],
            "leaves CART": leaves["CART"],
        }
    ).loc[same.index]


def draw(table: pd.DataFrame, text: str) -> Any:
    """What is lost against the best shares of every group, per depth."""
    drawn, axes = _plots.figure(1, 1, 6.4, 3.8)
    table = table.assign(short=100 * (1 - table.clicks / table.best))
    methods = [_spo.TREES[m] for m in METHODS]
    groups = []
    for depth in table.depth.unique():
        here = table[table.depth == depth]
        label = "no limit" if depth == "none" else f"depth {depth}"
        groups.append((label, {m: here[here.method == m].short.to_numpy() for m in methods}))
    _spo.boxes(axes[0, 0], groups)
    axes[0, 0].set_ylim(bottom=0)
    axes[0, 0].set_ylabel("clicks short of the best shares, %")
    _spo.legend(drawn, methods)
    drawn.supxlabel(text, fontsize=9)
    return drawn


def jobs(args: argparse.Namespace) -> list[Job]:
    depths = tuple(_spo.depths(args.depths))
    if args.log:
        log = mt.decisions.read_clicks(args.log)
        sets = [("log", 0, mt.decisions.news_from_clicks(log, groups=args.groups))]
    else:
        sets = [
            ("synthetic", s, mt.decisions.news_data(args.groups, seed=s))
            for s in range(args.data_seeds)
        ]
    return [
        Job(source, len(data.X), s, c, data, depths, args.least)
        for source, s, data in sets
        for c in range(10, 10 + args.sets)
    ]


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--log",
        nargs="+",
        type=Path,
        help="files of the real log; results are stored only with --out",
    )
    parser.add_argument("--groups", type=int, default=2000, help="groups of readers (default 2000)")
    parser.add_argument(
        "--data-seeds", type=int, default=3, help="synthetic populations (default 3)"
    )
    parser.add_argument(
        "--sets",
        type=int,
        default=9,
        help="sets of constraints, from seed 10 on (default 9: to 18)",
    )
    parser.add_argument("--depths", default="2,4,6,none")
    parser.add_argument(
        "--least", type=int, default=10_000, help="fewest records in a leaf (default 10000)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--out",
        type=Path,
        help=f"CSV to write (default {PATH.name} beside the other results, for synthetic readers)",
    )
    return parser.parse_args(given)


def main() -> None:
    args = arguments()
    path = args.out or (None if args.log else PATH)
    from joblib import Parallel, delayed

    table = pd.DataFrame(
        [
            row
            for rows in Parallel(n_jobs=args.jobs)(delayed(work)(job) for job in jobs(args))
            for row in rows
        ]
    )
    if path:
        table.to_csv(path, index=False, float_format="%.6g")
    kind = (
        "the log"
        if args.log
        else "SYNTHETIC readers (the published data need a licence: only the shape can be compared)"
    )
    print(
        f"Gain in expected clicks over CART, %, on {kind}; standard deviation over constraint sets; mean leaves"
    )
    print(summary(table).round(2).to_string())
    print(
        f"CART and SPO trees reach {100 * (table.clicks / table.best).mean():.1f} % of the clicks of the best shares per group on average."
    )
    print(f"fitting took {table.seconds.sum():.0f} s of one thread")
    text = f"{'real log' if args.log else 'synthetic readers'}, constraint sets 10 to {9 + args.sets}; whiskers to the extremes, white dots are means"
    _plots.save(draw(table, text), "spo_news_log" if args.log else "spo_news")


if __name__ == "__main__":
    main()
