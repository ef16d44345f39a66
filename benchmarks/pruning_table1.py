"""Joint against individual pruning of BudgetRF forests: what Table 1 of Nan, Wang, Saligrama (ICML
2016) compares, on data that can be had.

Forests are grown by BudgetRF (threshold-Pairs) on the training rows; the whole path of prunings is
computed once with features shared among trees (joint) and once with every tree paying for itself
(individual); each pruning is evaluated on rows that no step saw. Reported is the least mean feature
cost, as a percentage of the unpruned forest's, at which the forest's test error is no more than a
slack above the unpruned forest's.

    MILP_TREES_DATA=… python benchmarks/pruning_table1.py     # three times ten folds; miniboone: the authors' split
    MILP_TREES_DATA=… python benchmarks/pruning_table1.py --data heart --repeats 1
"""

from __future__ import annotations

import argparse
import itertools
import os
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import _papers
import numpy as np
import pandas as pd

import milp_trees as mt
from milp_trees.models.read_ensemble import out_of_bag

RESULTS = Path(__file__).parent / "results" / "pruning_table1.csv"
#: α of threshold-Pairs per data set (rows): about 1 % of the training rows, at least 1.
ALPHA = {"sonar": 2, "heart": 2, "miniboone-tiny": 20}
#: How much the test error may rise above the unpruned forest's: the low-error and the high-error
#: column.
SLACK = {"low error": 0.005, "high error": 0.025}
#: Where a row of the paper's Table 1 begins with this name: our data and column.
PAIRS = {"MiniBooNE": ("miniboone-tiny", "low error"), "Sonar": ("sonar", "high error")}
#: λ on which folds are averaged: relative prices of cost, from nothing pruned to everything.
GRID = [
    Fraction(0),
    *(Fraction(10) ** -6 * Fraction(round(10**8 * 1.12**k), 10**8) for k in range(150)),
]


@dataclass
class Split:
    """Rows for growing, for counting errors and feature use, and for the test."""

    grow: tuple[np.ndarray, np.ndarray]
    count: tuple[np.ndarray, np.ndarray] | None
    test: tuple[np.ndarray, np.ndarray]
    seed: int


def table(path: Path) -> tuple[np.ndarray, np.ndarray]:
    frame = pd.read_csv(path)
    return frame.iloc[:, :-1].to_numpy(dtype=float), frame.iloc[:, -1].to_numpy()


def splits(name: str, folder: Path, folds: int, repeats: int) -> list[Split]:
    """The authors' split of MiniBooNE's sample; repeated stratified cross-validation elsewhere."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    if name == "miniboone-tiny":
        parts = [table(folder / f"{name}-{part}.csv.gz") for part in ("train", "valid", "test")]
        return [Split(parts[0], parts[1], parts[2], seed) for seed in range(repeats)]
    X, y = table(folder / {"heart": "heart-statlog.csv", "sonar": "sonar.csv"}[name])
    cv = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=0)
    return [
        Split((X[a], y[a]), None, (X[b], y[b]), seed) for seed, (a, b) in enumerate(cv.split(X, y))
    ]


def dataset(X: np.ndarray, y: np.ndarray) -> mt.Dataset:
    return mt.Dataset(
        np.zeros((len(X), 0), dtype=np.uint8),
        numeric=X,
        columns=[f"x{j}" for j in range(X.shape[1])],
        y=y,
    )


def problem_of(split: Split, trees: int, alpha: float, errors: str) -> mt.Problem:
    forest = mt.BudgetForestClassifier(
        n_estimators=trees, alpha=alpha, random_state=split.seed
    ).fit(*split.grow)
    ensemble = mt.read_ensemble(forest)
    if split.count is not None:
        return mt.Problem(
            dataset(*split.count), mt.pruning.PrunedError(), mt.PrunedEnsembles(ensemble)
        )
    weights = out_of_bag(forest, len(split.grow[0])) if errors == "oob" else None
    return mt.Problem(
        dataset(*split.grow),
        mt.pruning.PrunedError(error_weights=weights),
        mt.PrunedEnsembles(ensemble),
    )


def curves(split: Split, trees: int, alpha: float, errors: str) -> dict[str, np.ndarray]:
    """Test error of the vote and mean test cost along the grid, shape (len(GRID) + 1, 2) each; the
    first row is the unpruned forest.
    """
    problem = problem_of(split, trees, alpha, errors)
    view = problem.view(mt.pruning.NodeGains)
    test = dataset(*split.test)
    ensemble = problem.space.ensemble
    out = {}
    for how, seen in (("joint", view), ("individual", view.unshared())):
        path = mt.prune_curve(seen)
        rows = [score(problem, ensemble, test)]
        last: tuple[bytes, list[float]] = (b"", [])
        for lam in GRID:
            keep = path.keep(lam)
            if keep.tobytes() != last[0]:
                last = (keep.tobytes(), score(problem, ensemble.pruned(keep), test))
            rows.append(last[1])
        out[how] = np.array(rows)
    return out


def score(problem: mt.Problem, ensemble: mt.Ensemble, test: mt.Dataset) -> list[float]:
    task = replace(problem.task, error_weights=None, cost_weights=None)
    found = task.extra_scores(ensemble.routes(test), test)
    return [found["vote_error"], found["cost"]]


def summary(name: str, trees: int, runs: list[dict[str, np.ndarray]]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for how in ("joint", "individual"):
        mean = np.mean([r[how] for r in runs], axis=0)
        error, cost = mean[0]
        row: dict[str, object] = {
            "data": name,
            "trees": trees,
            "pruning": how,
            "forests": len(runs),
            "unpruned_error": error,
            "unpruned_cost": cost,
        }
        for column, slack in SLACK.items():
            good = mean[:, 0] <= error + slack
            best = mean[good][mean[good, 1].argmin()]
            row |= {f"{column}: error": best[0], f"{column}: cost %": 100 * best[1] / cost}
        rows.append(row)
    return rows


def shares(table: pd.DataFrame) -> pd.DataFrame:
    """Percent of the unpruned forest's cost that is left: a row per data set and size of forest."""
    rows = []
    for (name, trees), part in table.groupby(["data", "trees"], sort=False):
        by = part.set_index("pruning")
        row = {
            "data": name,
            "trees": trees,
            "unpruned error": round(by.unpruned_error["joint"], 3),
            "unpruned cost": round(by.unpruned_cost["joint"], 1),
        }
        for level in SLACK:
            for how in ("joint", "individual"):
                row[f"{how}, {level}"] = round(by[f"{level}: cost %"][how])
        rows.append(row)
    return pd.DataFrame(rows)


def beside_the_paper(table: pd.DataFrame) -> pd.DataFrame:
    """The pairs of the paper's Table 1 that are transcribed, with ours of that set and column."""
    published = _papers.printed("pruning", "1")
    rows = []
    for place in dict.fromkeys(row for row, _ in published):
        name, level = next(ours for start, ours in PAIRS.items() if place.startswith(start))
        for trees, part in table[table.data == name].groupby("trees"):
            here = part.set_index("pruning")[f"{level}: cost %"].round(2)
            rows.append(
                {
                    "row of the paper": place,
                    "joint, paper": published[place, "joint"],
                    "individual, paper": published[place, "individual"],
                    "here": f"{name}, {level}, {trees} trees",
                    "joint": here["joint"],
                    "individual": here["individual"],
                }
            )
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default="sonar,heart,miniboone-tiny")
    parser.add_argument("--trees", default="40,90", help="sizes of forests, comma-separated")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--errors",
        choices=("train", "oob"),
        default="train",
        help="rows on which errors are counted in cross-validation",
    )
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    if "MILP_TREES_DATA" not in os.environ:
        parser.error(
            "set MILP_TREES_DATA to the folder with pruning/sonar.csv, pruning/heart-statlog.csv and pruning/miniboone-tiny-*.csv.gz"
        )
    folder = Path(os.environ["MILP_TREES_DATA"]) / "pruning"
    rows = []
    for name, trees in itertools.product(args.data.split(","), map(int, args.trees.split(","))):
        runs = [
            curves(split, trees, ALPHA[name], args.errors)
            for split in splits(name, folder, args.folds, args.repeats)
        ]
        rows += summary(name, trees, runs)
        print(pd.DataFrame(rows[-2:]).to_string(index=False, float_format="%.4g"), flush=True)
    table = pd.DataFrame(rows)
    table.to_csv(args.out, index=False)
    print(f"\n{beside_the_paper(table).to_string(index=False)}")


if __name__ == "__main__":
    main()
