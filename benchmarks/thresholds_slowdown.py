"""How time grows with the number of thresholds per column (figure 6 of Lin et al. 2020, *GOSDT*):
ours and the peers on one numeric set.

    MILP_TREES_DATA=… python benchmarks/thresholds_slowdown.py [--data numeric/bank.txt] [--bins
    3,5,9,17,33,65] [--depth 3] [--penalty 0.01]

Two questions: fewest errors at the depth (DL8.5, STreeD, ours) and errors plus λ per leaf at the
depth (GOSDT, STreeD, ours). Every engine gets the same quantile thresholds, ours once as binary
tests (`dp`) and once as the columns behind them (`dp-sorted`); `--bins all` asks for all midpoints.
An engine that ran into the limit is not asked for more thresholds. Slow-down is time over the
engine's own time with the fewest thresholds. Rows go to `results/thresholds_slowdown.csv`; an
interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import _data
import _jobs
import _peers
import _plots
import pandas as pd

import milp_trees as mt

RESULTS = Path(__file__).parent / "results" / "thresholds_slowdown.csv"
KEY = ["data", "question", "bins", "depth", "limit"]
PEERS = {"errors": ("pystreed", "pydl8.5"), "penalty": ("pystreed", "gosdt")}


def measure(args: argparse.Namespace, table: pd.DataFrame) -> pd.DataFrame:
    """Rows for every question and number of thresholds, fewest first."""
    engines = _peers.pythons(args)
    engines[_peers.SORTED] = engines[_peers.OURS]
    for question, peers in PEERS.items():
        able = {n: p for n, p in engines.items() if n in (_peers.OURS, _peers.SORTED) or n in peers}
        for bins in args.bins.split(","):
            key = (args.data, question, bins, args.depth, args.time_limit)
            old = table[(table[KEY].astype(str) == [str(k) for k in key]).all(axis=1)]
            if len(old):
                able = still_able(able, old)
                continue
            data = mt.load(
                str(_data.root() / args.data),
                binarizer="midpoints" if bins == "all" else f"quantiles:{bins}",
            )
            tests = tuple((t.column, t.kind, t.value) for t in data.features)
            penalty = args.penalty if question == "penalty" else "0"
            job = _jobs.Job(
                bins,
                data.X,
                data.y,
                depth=args.depth,
                penalty=penalty,
                time_limit=args.time_limit,
                tests=tests,
            )
            shared = {
                **dict(zip(KEY, key, strict=True)),
                "rows": data.n_rows,
                "tests": data.n_features,
            }
            found = _peers.interleaved(job, able, args.repeat, long=5)
            new = pd.DataFrame([{**shared, "method": n, **columns} for n, columns in found.items()])
            table = pd.concat([table, new], ignore_index=True)
            table.to_csv(RESULTS, index=False)
            print(
                *key[1:3],
                data.n_features,
                *(
                    f"{r.method} {r.status} {r.get('value')} {r.get('engine')}"
                    for _, r in new.iterrows()
                ),
                sep="  ",
                flush=True,
            )
            able = still_able(able, new)
    return table


def still_able(able: dict[str, str], rows: pd.DataFrame) -> dict[str, str]:
    """Engines that may be asked for more thresholds."""
    finished = set(rows[rows.status == "optimal"].method)
    return {n: p for n, p in able.items() if n in finished}


def draw(table: pd.DataFrame, depth: int, penalty: str):
    """Questions × (seconds, slow-down) against the number of binary tests."""
    figure, axes = _plots.figure(2, 2, 9.2, 6.6)
    titles = {
        "errors": f"fewest errors, depth {depth}",
        "penalty": f"λ = {penalty} per leaf, depth {depth}",
    }
    for row, question in enumerate(PEERS):
        part = table[(table.question == question) & (table.status == "optimal")].sort_values(
            "tests"
        )
        for method, (colour, marker) in _plots.ENGINES.items():
            line = part[part.method == method]
            if len(line):
                style = {
                    "color": colour,
                    "marker": marker,
                    "markersize": 5,
                    "label": method,
                    "linewidth": 1.6,
                }
                axes[row][0].loglog(line.features, line.engine, **style)
                axes[row][1].loglog(line.features, line.engine / line.engine.iloc[0], **style)
        axes[row][0].set(ylabel="seconds", title=titles[question])
        axes[row][1].set(ylabel="slow-down", title=titles[question])
        axes[row][0].legend()
        for ax in axes[row]:
            ax.set_xlabel("binary tests")
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_major_formatter("{x:g}")
            ax.grid(alpha=0.25, linewidth=0.5)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _peers.add_arguments(parser)
    parser.add_argument("--data", default="numeric/bank.txt")
    parser.add_argument("--bins", default="3,5,9,17,33,65,129")
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--penalty", default="0.01")
    parser.add_argument("--time-limit", type=float, default=60)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--plot-only", action="store_true")
    args = parser.parse_args()
    table = (
        pd.read_csv(RESULTS, dtype={"bins": str})
        if RESULTS.exists()
        else pd.DataFrame(columns=[*KEY, "method"])
    )
    if not args.plot_only:
        table = measure(args, table)
    wrong = (
        table[table.status == "optimal"].groupby(KEY).value.agg(lambda v: v.max() - v.min()) > 1e-9
    )
    print(f"{int(wrong.sum())} of {len(wrong)} questions have different optima")
    _plots.save(
        draw(table[table.data == args.data], args.depth, args.penalty), "thresholds_slowdown"
    )


if __name__ == "__main__":
    main()
