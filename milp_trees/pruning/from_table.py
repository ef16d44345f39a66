"""From a table to a pruning problem: an ensemble, the rows whose errors count, and the prices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.numeric import load_numeric_split
from milp_trees.models.read_ensemble import out_of_bag, read_ensemble
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import Best
from milp_trees.pruning.feature_costs import FeatureCosts
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.tasks.pruned_error import PrunedError

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.ensemble import Ensemble

#: Estimators that grow an ensemble, by name: (module, classifier, regressor).
GROWERS = {
    "random-forest": ("sklearn.ensemble", "RandomForestClassifier", "RandomForestRegressor"),
    "extra-trees": ("sklearn.ensemble", "ExtraTreesClassifier", "ExtraTreesRegressor"),
    "bagging": ("sklearn.ensemble", "BaggingClassifier", "BaggingRegressor"),
    "tree": ("sklearn.tree", "DecisionTreeClassifier", "DecisionTreeRegressor"),
    "budget-rf": ("milp_trees.pruning.estimators.budget_forest", "BudgetForestClassifier", None),
}
#: Choices for the rows on which errors are counted.
ERRORS = ("train", "oob", "held-out")
#: Largest number of trees; a larger number is assumed to be a typing mistake.
MOST_TREES = 100_000


@dataclass(frozen=True)
class Growing:
    """How an ensemble is grown and where its errors are counted.

    Parameters
    ----------
    model : str, default="random-forest"
        One of `GROWERS`.
    trees : int, default=10
    max_depth : int, optional
    seed : int, default=0
        Seed of the ensemble and of every split of rows.
    errors : {"train", "oob", "held-out"}
        Rows on which errors are counted: "train" are the rows on which the trees were grown; "oob"
        are for each tree the rows that it was not grown on; "held-out" is a share of the rows that
        no tree was grown on.
    held_out : float, default=0.3
        The share of rows for "held-out".
    test_size : float, optional
        Share of rows that is used for test scores only.
    regression : bool, default=False
    """

    model: str = "random-forest"
    trees: int = 10
    max_depth: int | None = None
    seed: int = 0
    errors: str = "train"
    held_out: float = 0.3
    test_size: float | None = None
    regression: bool = False

    def __post_init__(self) -> None:
        if self.model not in GROWERS:
            raise DataError(f"model is one of {', '.join(GROWERS)}; got {self.model!r}.")
        if self.errors not in ERRORS:
            raise DataError(f"errors are counted on {', '.join(ERRORS)} rows; got {self.errors!r}.")
        if self.trees < 1:
            raise DataError(f"An ensemble needs at least one tree; got {self.trees}.")
        if self.trees > MOST_TREES:
            raise DataError(
                f"An ensemble is grown with at most {MOST_TREES} trees here; got {self.trees}."
            )
        if self.max_depth is not None and self.max_depth < 1:
            raise DataError(
                f"Trees need at least one level of splits; got max_depth={self.max_depth}."
            )
        if not 0 <= self.seed < 2**32:
            raise DataError(f"seed must be a whole number from 0 to 4294967295; got {self.seed}.")
        if not 0 < self.held_out < 1:
            raise DataError(
                f"held_out must lie between 0 and 1 (a share of the rows); got {self.held_out}."
            )

    def estimator(self) -> Any:
        """The unfitted scikit-learn estimator."""
        import importlib

        module, classifier, regressor = GROWERS[self.model]
        name = regressor if self.regression else classifier
        if name is None:
            raise DataError(
                f"{self.model} grows classifiers only; choose another model for regression."
            )
        kind = getattr(importlib.import_module(module), name)
        if self.model == "tree":
            return kind(max_depth=self.max_depth, random_state=self.seed)
        if self.model == "bagging":
            base = replace(self, model="tree").estimator()
            return kind(base, n_estimators=self.trees, random_state=self.seed)
        options: dict[str, Any] = {"bootstrap": True} if self.errors == "oob" else {}
        return kind(
            n_estimators=self.trees, max_depth=self.max_depth, random_state=self.seed, **options
        )


@dataclass(frozen=True)
class Grown:
    """A pruning problem and what it was made from.

    Parameters
    ----------
    problem : Problem
    model : estimator
        The fitted ensemble.
    train, test : Dataset, Dataset or None
    """

    problem: Problem
    model: Any
    train: Dataset
    test: Dataset | None


def pruning_problem(
    data: str | Path,
    growing: Growing | None = None,
    *,
    lam: Any = 0,
    costs: FeatureCosts | None = None,
    max_cost: Any = None,
    question: Any = None,
    **columns: Any,
) -> Grown:
    """Grow an ensemble on a table and state the problem of pruning it."""
    growing = growing or Growing()
    options = {"regression": growing.regression, **columns}
    if growing.errors == "held-out":
        if growing.test_size is not None:
            raise DataError(
                "Held-out errors take their rows from --held-out; leave out --test-size, or keep test rows in a file of their own."
            )
        train, counted = load_numeric_split(
            data, test_size=growing.held_out, seed=growing.seed, **options
        )
        assert counted is not None
        test = None
    else:
        train, test = load_numeric_split(
            data, test_size=growing.test_size, seed=growing.seed, **options
        )
        counted = train
    model = fitted(growing, train, costs)
    ensemble = read_ensemble(model, train.columns, features=train.source["feature_of"] or None)
    weights = (
        out_of_bag(model, train.n_rows) * train.row_weights[:, None]
        if growing.errors == "oob"
        else None
    )
    task = PrunedError(lam, costs or FeatureCosts(), weights, max_cost=max_cost)
    grown = replace(
        ensemble,
        source={
            **ensemble.source,
            "grown": {k: v for k, v in vars(growing).items() if v is not None},
        },
    )
    return Grown(
        Problem(counted, task, PrunedEnsembles(grown), question or Best()), model, train, test
    )


def fitted(growing: Growing, train: Dataset, costs: FeatureCosts | None = None) -> Any:
    """The ensemble, grown on the training rows.

    Parameters
    ----------
    growing : Growing
    train : Dataset
        With numeric columns of shape (n, d) and a target.
    costs : FeatureCosts, optional
        Only "budget-rf" uses them while it grows.

    Returns
    -------
    estimator
        Fitted.

    Raises
    ------
    DataError
        The target holds fractions for classification, or "budget-rf" is to use weights.
    """
    assert train.numeric is not None
    y = np.array(train.classes)[train.require("y", "Growing an ensemble")]
    if not growing.regression and y.dtype.kind == "f" and (y != np.rint(y)).any():
        raise DataError(
            "The target holds fractions, which are no classes; give --regression (regression=True), or name another target."
        )
    weights = {} if train.weights is None else {"sample_weight": train.weights}
    estimator = growing.estimator()
    if growing.model == "budget-rf":
        if weights:
            raise DataError(
                "budget-rf counts rows and takes no --weights; repeat rows instead, or choose another model."
            )
        if costs is not None:
            estimator.set_params(feature_costs=_per_column(train, costs))
    return estimator.fit(train.numeric, y, **weights)


def _per_column(train: Dataset, costs: FeatureCosts) -> np.ndarray:
    """Price of the feature to which each column belongs, shape (d,)."""
    part_of = train.source.get("feature_of", {})
    features = [part_of.get(c, c) for c in train.columns or ()]
    names = list(dict.fromkeys(features))
    price = dict(zip(names, map(float, costs.prices(names)), strict=True))
    return np.array([price[f] for f in features])


def describe_ensemble(ensemble: Ensemble, growing: Growing, counted: int) -> str:
    """One line that describes an ensemble to a user."""
    splits = int((ensemble.left >= 0).sum())
    rows = {
        "train": "training rows",
        "oob": "out-of-bag rows",
        "held-out": f"{counted} held-out rows",
    }[growing.errors]
    return f"ensemble  {growing.model}: {ensemble.n_trees} trees with {splits} splits on {len(ensemble.features)} features; errors counted on {rows}"
