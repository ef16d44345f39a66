"""Is the first answer the best one? Defaults beside scikit-learn's greedy tree, on every numeric table.

    python benchmarks/first_answers.py [--only iris,page] [--depths 1,2,3,4] [--out FILE]

Training errors of `DecisionTreeClassifier(max_depth=d, random_state=0)` and of
`OptimalTreeClassifier(max_depth=d)`, both with nothing else stated, on the raw columns; and of the
setting that was the default before (7 quantiles of columns with more than 20 values), which is fitted
here as a Binarizer. The seconds are wall-clock seconds of both `fit` in one process after a first one
that is not counted. It ends with 1 if an answer is worse than the greedy tree, or than the answer at a
smaller depth. `benchmarks/monotone_in_depth.py` looks at runs that are stopped early, one engine at a time.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _data import numeric_tables
from sklearn.tree import DecisionTreeClassifier

import milp_trees as mt

RESULTS = Path(__file__).parent / "results" / "first_answers.csv"


def measured(model: Any, X: pd.DataFrame, y: np.ndarray) -> tuple[int, float]:
    """Training errors of a model and the seconds of its `fit`."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of limits, which the status says too
        model.fit(X, y)
    seconds = time.perf_counter() - began
    return int((model.predict(X) != y).sum()), seconds


def rows(names: list[str], depths: list[int], limit: float) -> Iterator[dict[str, Any]]:
    """A row per table and depth."""
    X, y = next(iter(numeric_tables(["iris"]).values()))
    measured(mt.OptimalTreeClassifier(max_depth=1), X, y)
    for name, (X, y) in numeric_tables(names).items():
        for depth in depths:
            greedy = measured(DecisionTreeClassifier(max_depth=depth, random_state=0), X, y)
            model = mt.OptimalTreeClassifier(max_depth=depth, time_limit=limit)
            ours = measured(model, X, y)
            result = model.result_
            counts = result.problem.dataset.source.get("thresholds", {"used": 0, "of": 0})
            yield {
                "table": name,
                "rows": len(X),
                "columns": X.shape[1],
                "classes": len(np.unique(y)),
                "depth": depth,
                "scikit-learn": greedy[0],
                "scikit-learn s": greedy[1],
                "ours": ours[0],
                "ours s": ours[1],
                "status": result.status.value,
                "bound": result.bound,
                "method": result.method,
                "thresholds": counts["used"],
                "of": counts["of"],
            }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="tables, comma-separated; all by default")
    parser.add_argument("--depths", default="1,2,3,4")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of each fit")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    names = [name for name in given.only.split(",") if name]
    found: list[dict[str, Any]] = []
    for row in rows(names, [int(d) for d in given.depths.split(",")], given.limit):
        found.append(row)
        worse = "  WORSE" if row["ours"] > row["scikit-learn"] else ""
        print(
            f"{row['table']:<18} depth {row['depth']}: scikit-learn {row['scikit-learn']:>5} in {row['scikit-learn s']:.3f} s, "
            f"ours {row['ours']:>5} in {row['ours s']:.3f} s, {row['status']} by {row['method']} "
            f"over {row['thresholds']} of {row['of']} thresholds{worse}",
            flush=True,
        )
    frame = pd.DataFrame(found)
    frame.round(4).to_csv(given.out, index=False)
    worse = frame[frame["ours"] > frame["scikit-learn"]]
    better = frame[frame["ours"] < frame["scikit-learn"]]
    whole = frame[(frame["status"] == "optimal") & (frame["thresholds"] == frame["of"])]
    deeper = frame.sort_values("depth").groupby("table")["ours"].diff() > 0
    print(
        f"{len(frame)} fits: {len(better)} better than the greedy tree, {len(worse)} worse; {len(whole)} proven over all thresholds; "
        f"{int(deeper.sum())} worse than at a smaller depth."
    )
    return 1 if len(worse) or deeper.any() else 0


if __name__ == "__main__":
    sys.exit(main())
