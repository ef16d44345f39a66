"""Orders of the search of `dp` on sparse problems without a depth limit: how soon good trees, how
soon good bounds, how soon the proof.

    MILP_TREES_DATA=… python benchmarks/search_orders.py [--time-limit 5] [--sets car,monk1]
    [--penalties 0.01,0.005]

Primal integral: mean over the time limit of |incumbent - best| / incumbent, 1 before there is a
tree (Berthold 2013, *Measuring the impact of primal heuristics*); dual integral: the same for the
bound, |best - bound| / best. `best` is the best value that any run found. `lookahead=k` are
heuristics: one tree, no bound. One thread; kernels are compiled before any clock starts. Rows go to
`results/search_orders.csv`, the picture to `plots`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import _data
import _plots
import numpy as np
import pandas as pd
from report import markdown

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.results.result import TracePoint

RESULTS = Path(__file__).parent / "results" / "search_orders.csv"
METHODS = tuple(
    f"dp:order={order}" for order in ("depth-first", "best-first", "limited-discrepancy")
) + tuple(f"dp:lookahead={k}" for k in (1, 2, 3))
SETS = ("car", "compas", "german-credit", "rules-8", "rules-16")


def generated(tests: int, seed: int = 0) -> mt.Dataset:
    """Three rules over binary tests, like the MONK's problems, and five per cent of wrong labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (400, tests))
    y = (X[:, 0] & X[:, 1] & ~X[:, 2] & 1) | (X[:, 3] ^ X[:, 4]) & X[:, 5] | (X[:, 6] & X[:, 7])
    return mt.Dataset(X, y=y ^ (rng.random(400) < 0.05))


def load(name: str) -> mt.Dataset:
    if name.startswith("rules-"):
        return generated(int(name.removeprefix("rules-")))
    if name == "german-credit":
        return mt.load(str(_data.root() / "classification" / "german-credit.txt"))
    return mt.load(
        str(_data.root() / "gosdt" / f"{'compas-binned' if name == 'compas' else name}.csv")
    )


def integral(times: list[float], gaps: list[float], limit: float) -> float:
    """Mean over [0, limit] of a step function that is 1 before its first point."""
    ends = np.clip([*times, limit], 0.0, limit)
    return float((ends[0] + (np.diff(ends) * np.clip(gaps, 0.0, 1.0)).sum()) / limit)


def measures(result: mt.Result, best: float, limit: float) -> dict[str, object]:
    """One row of the table; the trace ends with the result itself."""
    points = [*result.trace, TracePoint(min(result.seconds, limit), result.objective, result.bound)]
    times = [p.seconds for p in points]
    primal = [abs(p.incumbent - best) / p.incumbent if p.incumbent else 0.0 for p in points]
    dual = [abs(best - p.bound) / best if best and p.bound is not None else 1.0 for p in points]
    return {
        "objective": result.objective,
        "bound": result.bound,
        "status": result.status.value,
        "seconds": round(result.seconds, 3),
        "primal_integral": round(integral(times, primal, limit), 5),
        "dual_integral": None if result.bound is None else round(integral(times, dual, limit), 5),
        "proof": round(result.seconds, 3) if result.optimal else None,
        "points": len(result.trace),
        "leaves": result.tree.n_leaves,
    }


def draw(table: pd.DataFrame) -> None:
    figure, axes = _plots.figure(1, 2, 9.0, 0.4 * table.groupby(["set", "penalty"]).ngroups + 1.2)
    labels = [
        f"{s}, λ = {p}"
        for s, p in table[["set", "penalty"]].drop_duplicates().itertuples(index=False)
    ]
    for axis, column, title in (
        (axes[0, 0], "primal_integral", "primal integral"),
        (axes[0, 1], "dual_integral", "dual integral"),
    ):
        for colour, marker, method in zip(_plots.COLOURS, "os^Dxv", METHODS, strict=False):
            rows = table[table.method == method]
            if rows[column].notna().any():
                axis.plot(
                    rows[column],
                    range(len(rows)),
                    marker,
                    color=colour,
                    label=method.removeprefix("dp:"),
                    linestyle="none",
                )
        axis.set_yticks(
            range(len(labels)), labels if column.startswith("primal") else [""] * len(labels)
        )
        axis.set_title(title)
        axis.set_xscale("log")
        axis.set_xlim(1e-4, 1.3)
        axis.invert_yaxis()
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=len(METHODS),
        fontsize=8,
    )
    _plots.save(figure, "search_orders")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=5.0)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--penalties", default="0.01,0.005")
    args = parser.parse_args()
    registry.method("dp").run(
        mt.Problem(
            generated(8).subset(np.arange(400) < 40),
            mt.Accuracy(leaf_penalty="1/20"),
            mt.Trees(None),
        )
    )
    rows: list[dict[str, object]] = []
    for name in args.sets.split(","):
        dataset = load(name)
        for penalty in args.penalties.split(","):
            problem = mt.Problem(dataset, mt.Accuracy(leaf_penalty=penalty), mt.Trees(None))
            results = {
                m: registry.method(m).run(problem, mt.Limits(time=args.time_limit)) for m in METHODS
            }
            best = min(r.objective for r in results.values())
            for method, result in results.items():
                rows.append(
                    {
                        "set": name,
                        "rows": dataset.n_rows,
                        "tests": dataset.n_features,
                        "penalty": penalty,
                        "limit": args.time_limit,
                        "method": method,
                    }
                )
                rows[-1] |= measures(result, best, args.time_limit)
                print("  ".join(f"{k}={v}" for k, v in rows[-1].items()), flush=True)
    table = pd.DataFrame(rows)
    RESULTS.parent.mkdir(exist_ok=True)
    table.to_csv(RESULTS, index=False)
    draw(table)
    shown = table.assign(method=table.method.str.removeprefix("dp:"))[
        [
            "set",
            "penalty",
            "method",
            "objective",
            "bound",
            "primal_integral",
            "dual_integral",
            "proof",
        ]
    ]
    print(markdown(shown))


if __name__ == "__main__":
    main()
