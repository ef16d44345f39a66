"""Test error against size on COMPAS: optimal rule lists beside other models, over ten folds.

    MILP_TREES_DATA=… python benchmarks/rule_list_folds.py [--time-limit 60] [--folds 10]

Angelino et al. (2018), figure 6, do the same. The rows are those of `compas_train.csv` and
`compas_test.csv` together (7210), in ten folds stratified by class; all models get the same 19
columns, a 0/1 column for every value of the seven attributes, and the same folds. Antecedents of
the lists are single values and pairs that hold on at least 0.5 % of the training rows. Lists,
optimal trees and CART are fitted for several penalties or sizes. The others are fitted twice: as scikit-learn has
them, and with parameters chosen by cross-validation on the training rows. So is `chosen`, the list
whose penalty is chosen in this way.

One row per model, setting and fold in `results/rule_list_folds.csv`; an interrupted run goes on
where it stopped. The table at the end has the mean and the standard deviation of the test error
over the folds, and those of the difference to the list of the smallest penalty, fold by fold. The
interval is the corrected resampled t interval at 95 % (Nadeau, Bengio 2003, *Inference for the
generalization error*), because the training rows of the folds overlap.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import _data
import _plots
import numpy as np
import pandas as pd
from report import markdown
from scipy.stats import t as student
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import milp_trees as mt

RESULTS = Path(__file__).parent / "results" / "rule_list_folds.csv"
KEY = ["model", "setting", "fold"]
LIST, CHOSEN, TREE, CART = "optimal list", "optimal list, chosen λ", "optimal tree", "CART"
#: The list of this penalty is compared with every other model; it is the one of the paper.
REFERENCE = "λ = 0.005"
PENALTIES = ("0.05", "0.02", "0.015", "0.01", "0.0075", "0.005", "0.0025")
LEAVES = (2, 3, 4, 5, 6, 8, 12, 16, 32, 64)
BLACK_BOXES = ("random forest", "gradient boosting", "AdaBoost", "logistic regression")


def rows() -> tuple[pd.DataFrame, np.ndarray]:
    """All rows of both files: a 0/1 column per value of an attribute, and the class."""
    folder = _data.root() / "rulelist" / "corels"
    table = pd.concat(
        [pd.read_csv(folder / f"compas_{part}.csv", dtype=str) for part in ("train", "test")],
        ignore_index=True,
    )
    target = table.columns[-1]
    X = pd.get_dummies(table.drop(columns=target), prefix_sep=":").astype(np.uint8)
    return X, (table[target] == "1").to_numpy().astype(int)


def inner() -> StratifiedKFold:
    """Folds of the training rows, on which parameters are chosen."""
    return StratifiedKFold(5, shuffle=True, random_state=1)


def rule_list(penalty: str, limit: float) -> mt.OptimalRuleListClassifier:
    return mt.OptimalRuleListClassifier(
        length_penalty=penalty,
        max_literals=2,
        negations=False,
        min_support="0.005",
        time_limit=limit,
    )


def black_box(name: str, tuned: bool) -> Any:
    """A scikit-learn model with its defaults, or in a search among a few parameters."""
    model, grid = {
        "random forest": (
            RandomForestClassifier(random_state=0),
            {"min_samples_leaf": [1, 5, 20, 50]},
        ),
        "gradient boosting": (
            GradientBoostingClassifier(random_state=0),
            {"max_depth": [1, 2, 3], "n_estimators": [50, 100, 200]},
        ),
        "AdaBoost": (AdaBoostClassifier(random_state=0), {"n_estimators": [20, 50, 200]}),
        "logistic regression": (
            LogisticRegression(max_iter=1000),
            {"C": [0.01, 0.1, 1.0, 10.0]},
        ),
    }[name]
    return GridSearchCV(model, grid, cv=inner()) if tuned else model


def models(limit: float) -> Iterator[tuple[str, str, Any]]:
    """Every model with its setting."""
    for penalty in PENALTIES:
        yield LIST, f"λ = {penalty}", rule_list(penalty, limit)
    grid = {"length_penalty": [p for p in PENALTIES if float(p) >= 0.005]}
    yield CHOSEN, "tuned", GridSearchCV(rule_list("0.01", limit), grid, cv=inner())
    for k in (2, 3, 4, 5, 6, 7, 8, 12):
        tree = mt.OptimalTreeClassifier(max_depth=5, max_leaf_nodes=k, time_limit=limit)
        yield TREE, f"{k} leaves", tree
    for k in LEAVES:
        yield CART, f"{k} leaves", DecisionTreeClassifier(max_leaf_nodes=k, random_state=0)
    grid = {"max_leaf_nodes": list(LEAVES)}
    yield CART, "tuned", GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=inner())
    yield CART, "default", DecisionTreeClassifier(random_state=0)
    for name in BLACK_BOXES:
        for setting in ("default", "tuned"):
            yield name, setting, black_box(name, setting == "tuned")


def leaves(model: Any) -> float:
    """Leaves of a list (rules with the default rule), of a tree, or of all trees together."""
    fitted = getattr(model, "best_estimator_", model)
    if hasattr(fitted, "rule_list_"):
        return fitted.rule_list_.n_leaves
    if hasattr(fitted, "get_n_leaves"):
        return fitted.get_n_leaves()
    members = np.ravel(getattr(fitted, "estimators_", []))
    return sum(member.get_n_leaves() for member in members) if len(members) else np.nan


def measured(model: Any, X: pd.DataFrame, y: np.ndarray, train: np.ndarray, test: np.ndarray):
    """What is counted about one model on one fold."""
    begin = time.process_time()
    model.fit(X.iloc[train], y[train])
    seconds = time.process_time() - begin
    fitted = getattr(model, "best_estimator_", model)
    rules = fitted.rule_list_.splits if hasattr(fitted, "rule_list_") else ()
    return {
        "chosen": str(getattr(model, "best_params_", "")),
        "status": getattr(fitted, "status_", ""),
        "leaves": leaves(model),
        "train": (model.predict(X.iloc[train]) != y[train]).mean(),
        "test": (model.predict(X.iloc[test]) != y[test]).mean(),
        "rows": len(train),
        "test_rows": len(test),
        "cpu_seconds": round(seconds, 3),
        "antecedents": "; ".join(sorted(a.name for a in rules)),
    }


def measure(limit: float, folds: int) -> pd.DataFrame:
    X, y = rows()
    known = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=KEY)
    done = set(known[KEY].itertuples(index=False, name=None))
    table = known.to_dict("records")
    splits = StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y)
    for fold, (train, test) in enumerate(splits):
        for name, setting, model in models(limit):
            if (name, setting, fold) in done:
                continue
            table.append(
                {"model": name, "setting": setting, "fold": fold}
                | measured(model, X, y, train, test)
            )
            print("  ".join(f"{k}={v}" for k, v in table[-1].items()), flush=True)
            pd.DataFrame(table).to_csv(RESULTS, index=False)
    return pd.DataFrame(table)


# -- what the rows say -----------------------------------------------------------------------------


def interval(differences: np.ndarray, share: float) -> float:
    """Half of the corrected resampled 95 % interval of the mean of differences over folds.

    Parameters
    ----------
    differences : array of shape (folds,)
    share : float
        Test rows of a fold over its training rows.
    """
    n = len(differences)
    deviation = np.sqrt((1 / n + share) * differences.var(ddof=1))
    return float(student.ppf(0.975, n - 1) * deviation)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """A line per model and setting, lists first."""
    order = {model: i for i, model in enumerate((LIST, CHOSEN, TREE, CART, *BLACK_BOXES))}
    table = table.sort_values("model", key=lambda names: names.map(order), kind="stable")
    by_fold = table.set_index(["model", "setting", "fold"]).test.unstack("fold")
    reference = by_fold.loc[(LIST, REFERENCE)]
    out = []
    for (model, setting), group in table.groupby(["model", "setting"], sort=False):
        difference = (by_fold.loc[(model, setting)] - reference).dropna().to_numpy()
        share = float((group.test_rows / group.rows).mean())
        same = (model, setting) == (LIST, REFERENCE)
        out.append(
            {
                "model": model,
                "setting": setting,
                "folds": len(group),
                "leaves": f"{group.leaves.mean():.1f}" if group.leaves.notna().all() else "–",
                "training error": f"{group.train.mean():.4f}",
                "test error": f"{group.test.mean():.4f} ± {group.test.std():.4f}",
                "difference to the list": ""
                if same
                else f"{difference.mean():+.4f} ± {difference.std(ddof=1):.4f}",
                "95 % interval": ""
                if same
                else f"{difference.mean() - interval(difference, share):+.4f} to {difference.mean() + interval(difference, share):+.4f}",
                "CPU s": f"{group.cpu_seconds.mean():.2f}",
            }
        )
    return pd.DataFrame(out)


def draw(table: pd.DataFrame) -> None:
    """Mean test error against mean number of leaves, with the deviation over folds."""
    figure, axes = _plots.figure(1, 2, 10.5, 4.2)
    mean = table.groupby(["model", "setting"], sort=False)[["leaves", "test"]].agg(["mean", "std"])
    colours = dict(zip((LIST, CART, *BLACK_BOXES, TREE), _plots.COLOURS, strict=False))
    for axis, models_of, title in (
        (axes[0, 0], (LIST, TREE, CART), "models that a person can read"),
        (axes[0, 1], (LIST, TREE, CART, *BLACK_BOXES), "all models"),
    ):
        for marker, model in zip("oPsD^vX", models_of, strict=False):
            colour = colours[model]
            part = mean.loc[model]
            if model in (LIST, TREE, CART):
                part = part[part.index.str.contains("λ|leaves")]
            x = part[("leaves", "mean")].to_numpy()
            if np.isnan(x).any():  # a linear model has no leaves: a line across the picture
                for value in part[("test", "mean")]:
                    axis.axhline(value, color=colour, linestyle=":", label=model)
                    model = "_"
                continue
            axis.errorbar(
                x,
                part[("test", "mean")],
                yerr=part[("test", "std")],
                color=colour,
                marker=marker,
                markersize=4,
                linewidth=1.2 if model in (LIST, TREE, CART) else 0,
                elinewidth=0.7,
                capsize=2,
                label=model,
            )
        axis.set(xscale="log", xlabel="leaves (of all trees)", ylabel="test error", title=title)
        axis.legend(fontsize=8)
    axes[0, 0].set_ylim(axes[0, 1].get_ylim())
    axes[0, 0].set_xticks(LEAVES, [str(k) for k in LEAVES])
    axes[0, 0].minorticks_off()
    _plots.save(figure, "rule_list_folds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--folds", type=int, default=10)
    args = parser.parse_args()
    table = measure(args.time_limit, args.folds)
    draw(table)
    print(markdown(summary(table)))


if __name__ == "__main__":
    main()
