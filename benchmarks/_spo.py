"""What the studies of trees for decisions share: fitting and scoring one tree, improvements over a
baseline, a table on disk that grows, box plots.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import milp_trees as mt

RESULTS = Path(__file__).parent / "results"
#: Method of `SPOTree` → its name in tables and pictures.
TREES = {
    "cart-spo": "CART",
    "greedy-spo": "SPO tree",
    "greedy-spo:plateaus=squared-error": "SPO tree, smoothed",
    "dp": "exact SPO tree",
}
#: Training rows beyond which exact trees are searched by `dp-oracle`.
MANY = 1000
#: Colours of methods, trees and forests of a kind alike.
COLOUR = {
    "CART": "#D55E00",
    "SPO tree": "#0072B2",
    "SPO tree, smoothed": "#56B4E9",
    "exact SPO tree": "#009E73",
    "CART forest": "#D55E00",
    "scikit-learn forest": "#E69F00",
    "SPO forest": "#0072B2",
}


class Rows(NamedTuple):
    """Features, cost vectors and weights."""

    X: np.ndarray
    C: np.ndarray
    weights: np.ndarray

    def part(self, rows: slice) -> Rows:
        return Rows(self.X[rows], self.C[rows], self.weights[rows])


@functools.cache
def warm() -> None:
    """Compile, or load what was compiled, so that no time below contains it; once per process."""
    rng = np.random.default_rng(0)
    X, C = rng.random((30, 2)), rng.random((30, 3))
    for method in TREES:
        mt.SPOTree(method=method, max_depth=1).fit(X, C, X_val=X, y_val=C)
    mt.SPOForest(n_estimators=2, random_state=0).fit(X, C)


def fitted(
    method: str, S: Any, train: Rows, held: Rows, test: Rows, depth: int | None, **limits: Any
) -> tuple[Any, dict[str, Any]]:
    """A pruned tree, and its row of the table: normalised loss on test and training rows, leaves,
    seconds.
    """
    warm()
    begin = time.process_time()
    # Both find the best tree; with many rows the search that asks the oracle is a hundred times as
    # fast, with few rows the other one at depth 3.
    engine = "dp-oracle" if method == "dp" and len(train.X) > MANY else method
    model = mt.SPOTree(decisions=S, method=engine, max_depth=depth, time_limit=600, **limits).fit(
        *train, X_val=held.X, y_val=held.C, sample_weight_val=held.weights
    )
    return model, {
        "method": TREES[method],
        "depth": depth_name(depth),
        "test": -model.score(*test),
        "train": -model.score(*train),
        "leaves": model.tree_.n_leaves,
        "seconds": round(time.process_time() - begin, 4),
    }


def depth_name(depth: int | None) -> str:
    return "none" if depth is None else str(depth)


def depths(text: str) -> list[int | None]:
    """`1,2,none` as a list."""
    return [None if part == "none" else int(part) for part in text.split(",") if part]


def improvements(
    table: pd.DataFrame, pairs: dict[str, str], setting: Sequence[str], more_is_better: bool = False
) -> pd.DataFrame:
    """Relative improvement over the baseline, per depth and method, in %.

    Parameters
    ----------
    table : DataFrame
        Columns `method`, `depth`, `seed`, `test` and those of `setting`.
    pairs : dict of method to its baseline
    setting : list of str
        Columns that make a setting; within one, test losses are averaged over data sets, and the
        ratios are averaged over settings.
    more_is_better : bool
        `test` is a gain rather than a loss.

    Returns
    -------
    DataFrame
        `improvement`: as published, 1 − mean loss / mean loss of the baseline per setting, then the
        mean over settings; `sd`: standard deviation of the same number computed from one data set
        at a time, `se` that over the root of their number; `better`: share of data sets × settings
        where the method is strictly better.
    """
    setting, rows = list(setting), []
    sign = -1 if more_is_better else 1
    for method, base in pairs.items():
        for depth in table.depth.unique():
            here = table[table.depth == depth]
            wide = here.pivot_table(index=[*setting, "seed"], columns="method", values="test")
            if method not in wide or base not in wide:
                continue
            wide = wide[[method, base]].dropna()
            mean = wide.groupby(level=setting).mean()
            ratio = (wide[method] / wide[base]).replace(
                [np.inf, -np.inf], np.nan
            )  # no ratio to a loss of 0 on one data set
            each = sign * (1 - ratio).groupby(level="seed").mean()
            rows.append(
                {
                    "depth": depth,
                    "method": method,
                    "baseline": base,
                    "data sets": len(each),
                    "improvement": 100 * sign * (1 - mean[method] / mean[base]).mean(),
                    "se": 100 * each.std() / len(each) ** 0.5,
                    "sd": 100 * each.std(),
                    "better": 100 * (sign * wide[method] < sign * wide[base]).mean(),
                }
            )
    return pd.DataFrame(rows)


class Growing:
    """A CSV that grows by whole jobs; a study that was interrupted goes on where it stopped.

    Parameters
    ----------
    path : Path
    key : sequence of str
        Columns that identify a row; read as text.
    """

    def __init__(self, path: Path, key: Sequence[str]) -> None:
        self.path, self.key = path, list(key)
        self.table = (
            pd.read_csv(path, dtype=dict.fromkeys(self.key, str))
            if path.exists()
            else pd.DataFrame(columns=self.key)
        )

    def known(self) -> set[tuple[str, ...]]:
        return set(self.table[self.key].itertuples(index=False, name=None))

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        new = pd.DataFrame(list(rows)).astype(dict.fromkeys(self.key, str))
        self.table = pd.concat([self.table, new], ignore_index=True) if len(self.table) else new
        self.table.sort_values(self.key, key=_numbers_first, kind="stable").to_csv(
            self.path, index=False, float_format="%.6g"
        )

    def run(
        self, jobs: Sequence[Any], work: Callable[[Any], list[dict[str, Any]]], n_jobs: int
    ) -> None:
        """Work on every job in processes, and keep each answer as it comes."""
        from joblib import Parallel, delayed

        for k, rows in enumerate(
            Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
                delayed(work)(job) for job in jobs
            ),
            start=1,
        ):
            self.add(rows)
            if k == len(jobs) or sys.stderr.isatty():
                print(
                    f"{k}/{len(jobs)} data sets",
                    end="\r" if k < len(jobs) else "\n",
                    file=sys.stderr,
                    flush=True,
                )


def _numbers_first(column: pd.Series) -> pd.Series:
    """Text that is a number by its value, before other text."""
    value = pd.to_numeric(column, errors="coerce")
    return pd.Series(
        [(0, v, "") if v == v else (1, 0.0, str(t)) for v, t in zip(value, column, strict=True)],
        index=column.index,
    )


def boxes(axes: Any, groups: Sequence[tuple[str, dict[str, np.ndarray]]]) -> None:
    """Box plots of several methods side by side, over groups on the horizontal axis; whiskers reach
    to the extremes, means are white dots.

    Parameters
    ----------
    groups : sequence of (label, {method: values})
    """
    for g, (_, values) in enumerate(groups):
        width = 0.8 / max(len(values), 1)
        for k, (method, v) in enumerate(values.items()):
            at = g + (k - (len(values) - 1) / 2) * width
            drawn = axes.boxplot(
                v,
                positions=[at],
                widths=0.82 * min(width, 0.3),
                whis=(0, 100),
                patch_artist=True,
                manage_ticks=False,
                showmeans=True,
                meanprops={
                    "marker": "o",
                    "markersize": 3,
                    "markerfacecolor": "white",
                    "markeredgecolor": "black",
                    "markeredgewidth": 0.5,
                },
                medianprops={"color": "black", "linewidth": 1},
            )
            for box in drawn["boxes"]:
                box.set(facecolor=COLOUR[method], alpha=0.75, linewidth=0.6)
            for line in [*drawn["whiskers"], *drawn["caps"]]:
                line.set(linewidth=0.8, color="#555555")
    axes.set_xticks(range(len(groups)), [label for label, _ in groups])
    axes.set_xlim(-0.5, len(groups) - 0.5)
    for edge in range(1, len(groups)):
        axes.axvline(edge - 0.5, color="#dddddd", linewidth=0.6, zorder=0)


def legend(drawn: Any, methods: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=COLOUR[m], alpha=0.75, label=m, edgecolor="black", linewidth=0.5)
        for m in methods
    ]
    drawn.legend(handles=handles, loc="outside upper center", ncols=len(handles))
