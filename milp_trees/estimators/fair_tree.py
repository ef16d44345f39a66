"""`FairTreeClassifier`: an optimal classification tree under a group-fairness constraint.

`fit(X, y, sensitive_features=…)` follows the convention of the fairness packages: the sensitive
features are given apart from X, one value per row, or as several columns whose combinations are the
groups. The constraint holds on the training rows; `fairness_report` shows the rates on any rows.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from milp_trees.common.errors import DataError
from milp_trees.data.dataset import Dataset
from milp_trees.estimators._groups import check_groups
from milp_trees.estimators._progress import with_progress
from milp_trees.estimators._warning import warn_user
from milp_trees.estimators.trees import OptimalTreeClassifier
from milp_trees.tasks.constraints import CONSTRAINTS, GroupRates, constraint

if TYPE_CHECKING:
    import pandas as pd


class FairTreeClassifier(OptimalTreeClassifier):
    """A classification tree that is optimal among all trees that treat groups alike.

    All parameters are given by name.

    Parameters
    ----------
    constraint : str or constraint, default="statistical-parity"
        The notion of fairness: "statistical-parity", "equal-opportunity", "predictive-equality",
        "equalised-odds" or "conditional-statistical-parity"; or an object such as
        `mt.tasks.EqualOpportunity(0.05)`, which has its own limit and favourable class.
    max_disparity : number in [0, 1], default=0.01
        Largest difference of the rates of two groups on the training rows, as a fraction.
    favourable : label, optional
        The favourable class; by default the last of `classes_`.
    split_on_group : bool, default=False
        Whether the tree may split on the columns of X that the sensitive features are.
    max_depth, max_leaf_nodes, min_samples_leaf, ccp_alpha, method, time_limit, binarizer, n_bins
        As for `OptimalTreeClassifier`.
    task : str, default="accuracy"
        Name of the task that the tree optimises under the constraint.
    class_weight, start, reference, random_state, n_jobs, progress, verbose, keep_data
        As for `OptimalTreeClassifier`.

    Attributes
    ----------
    constraint_ : constraint or None
        The constraint that the tree satisfies; None if `fit` got no sensitive features.
    disparity_ : float or None
        The largest difference of rates of two groups on the training rows.
    fairness_ : DataFrame or None
        `fairness_report` of the training rows.
    result_, tree_, status_, bound_, gap_, classes_, binarizer_, n_features_in_, feature_names_in_
        As for `OptimalTreeClassifier`. "optimal" means that no tree that satisfies the constraint
        has fewer errors.

    Examples
    --------
    >>> X, y, sex = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 1, 1] * 5, [0, 1, 1, 1] * 5
    >>> model = FairTreeClassifier(max_disparity=0).fit(X, y, sensitive_features=sex)
    >>> model.disparity_, model.score(X, y)
    (0.0, 0.5)
    """

    #: A parameter of the base class that this class replaces.
    constraints = ()

    def __init__(
        self,
        *,
        constraint: Any = "statistical-parity",
        max_disparity: Any = 0.01,
        favourable: Any = None,
        split_on_group: bool = False,
        max_depth: int | None = 2,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        task: str = "accuracy",
        class_weight: Any = None,
        ccp_alpha: Any = 0.0,
        method: str = "auto",
        time_limit: float | None = 60.0,
        binarizer: Any = "auto",
        n_bins: int = 8,
        start: Any = "auto",
        reference: str | None = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Any = None,
        verbose: bool | int = False,
        keep_data: bool = False,
    ) -> None:
        self.constraint = constraint
        self.max_disparity = max_disparity
        self.favourable = favourable
        self.split_on_group = split_on_group
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.task = task
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.method = method
        self.time_limit = time_limit
        self.binarizer = binarizer
        self.n_bins = n_bins
        self.start = start
        self.reference = reference
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.verbose = verbose
        self.keep_data = keep_data

    @with_progress
    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> FairTreeClassifier:
        """Find the optimal fair tree.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
            Text columns of a DataFrame are one-hot encoded.
        y : array of shape (n,)
            Labels of any type.
        sensitive_features : array of shape (n,) or (n, k), Series, DataFrame, or name, optional
            Group of every row. With several columns every combination of their values is a group.
            Columns of X (a name, or a Series or DataFrame with the names and the values of columns)
            are not split on, except with `split_on_group=True`. Without it the tree is not constrained,
            and a warning says so.
        control_features : array of shape (n,), Series, or name of a column of X, optional
            The legitimate factor of "conditional-statistical-parity".
        sample_weight : array of shape (n,), optional
            Weights of the errors. The rates of the groups count every row once, except that rows of
            weight 0 are left out.

        Returns
        -------
        FairTreeClassifier
            The estimator itself.

        Raises
        ------
        DataError
            A parameter is not allowed, or all rows are of one group.
        Infeasible
            No tree satisfies the limits and the constraint.
        NothingFound, SolverFailure
            The method found no tree within the limits, or it failed.
        """
        stated = self._rule()
        if not isinstance(self.task, str):
            raise DataError(
                f"task must be the name of a task, such as 'accuracy'; a Task has constraints of its own, and OptimalTreeClassifier takes it. Got {self.task!r}."
            )
        self.constraint_ = None if sensitive_features is None else stated
        if sensitive_features is None:
            warn_user(
                "No sensitive_features were given, so the tree is not constrained; give fit(X, y, sensitive_features=…), or use OptimalTreeClassifier.",
                UserWarning,
            )
        dataset, codes, table = self._prepare(X, y, sample_weight, sensitive_features)
        if control_features is not None:
            factor = _one_column(control_features, self._columns(X), len(np.asarray(y)))
            if sample_weight is not None:
                factor = factor[np.flatnonzero(np.asarray(sample_weight))]
            dataset = dataset.with_(factor=factor, classes=dataset.classes)
        self._solve(dataset, self._stated_task(sample_weight is not None), table)
        self._count(codes)
        self.disparity_ = self.fairness_ = None
        if self.constraint_ is not None:
            chosen = self.tree_.routes(self.result_.problem.dataset).action
            self.disparity_ = float(self._disparity(chosen, dataset))
            self.fairness_ = _report(chosen, dataset, self.constraint_.positive(self._labels()))
            self._say_copies(dataset)
        return self

    def fairness_report(self, X: Any, y: Any, *, sensitive_features: Any) -> pd.DataFrame:
        """Rates of the predictions on any rows, group by group.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array of shape (n,)
            True labels.
        sensitive_features : array, Series, DataFrame, or name of a column of X
            Groups as in `fit`.

        Returns
        -------
        DataFrame
            One row per group and one of all rows: `rows`, `selection_rate` (share of the favourable
            class among the predictions), `true_positive_rate`, `false_positive_rate` and
            `error_rate`; the row `difference` holds the largest difference of two groups. A rate
            without rows is NaN.
        """
        chosen, rows = self._rows(X, y, sensitive_features, None)
        rule = self._rule()
        return _report(chosen, rows, rule.positive(self._labels()))

    def disparity(
        self, X: Any, y: Any, *, sensitive_features: Any, control_features: Any = None
    ) -> float:
        """The quantity that the constraint limits, on any rows.

        Parameters
        ----------
        X, y, sensitive_features, control_features
            As in `fit`.

        Returns
        -------
        float
            The largest difference of the rates of two groups.
        """
        chosen, rows = self._rows(X, y, sensitive_features, control_features)
        return float(self._disparity(chosen, rows))

    def _rule(self) -> GroupRates:
        """The constraint that the parameters describe; raises DataError."""
        if isinstance(self.constraint, GroupRates):
            return self.constraint
        kinds = {name: cls for name, cls in CONSTRAINTS.items() if issubclass(cls, GroupRates)}
        if not isinstance(self.constraint, str) or self.constraint not in kinds:
            raise DataError(
                f"constraint must be one of {', '.join(kinds)}, or a constraint such as mt.tasks.StatisticalParity(0.01); got {self.constraint!r}."
            )
        made: Any = constraint(
            self.constraint, max_disparity=self.max_disparity, favourable=self.favourable
        )
        return made  # type: ignore[no-any-return]

    def _penalties(self) -> dict[str, Any]:
        rule = getattr(self, "constraint_", self._rule())
        rules = () if rule is None else (rule,)
        return {"leaf_penalty": self.ccp_alpha, "constraints": rules}

    def _labels(self) -> tuple[Any, ...]:
        return tuple(c.item() if hasattr(c, "item") else c for c in self.classes_)

    def _disparity(self, chosen: np.ndarray, rows: Dataset) -> Fraction:
        return self._rule().amount(chosen, rows, self._labels())[1]

    def _rows(
        self, X: Any, y: Any, sensitive_features: Any, control_features: Any
    ) -> tuple[np.ndarray, Dataset]:
        """The predicted classes of rows, and the rows with their labels and groups."""
        chosen = self._chosen(X)
        labels = column_or_1d(y)
        unknown = set(np.unique(labels).tolist()) - set(self.classes_.tolist())
        if unknown:
            raise DataError(
                f"y holds the label {sorted(map(str, unknown))[0]!r}, which fit did not see; known are {', '.join(map(str, self.classes_))}."
            )
        columns = self._columns(X)
        levels, _ = check_groups(sensitive_features, columns, "sensitive_features")
        if levels is None:
            raise DataError("Give sensitive_features: the group of every row.")
        factor = (
            None
            if control_features is None
            else _one_column(control_features, columns, len(labels))
        )
        return chosen, Dataset(
            np.zeros((len(labels), 0), dtype=np.uint8),
            y=np.searchsorted(self.classes_, labels),
            classes=self._labels(),
            groups=levels,
            factor=factor,
        )

    def _say_copies(self, dataset: Dataset) -> None:
        """Warn if the tree splits on a column that is the group under another name."""
        known = dataset.protected or {}
        used = [t.name for t in self.tree_.splits if t.name in known.get("copies", ())]
        if used and not self.split_on_group:
            warn_user(
                f"The tree splits on {used[0]!r}, which holds exactly the rows of one group; leave the column out of X, or name it: sensitive_features={used[0].split(' ')[0]!r}.",
                UserWarning,
            )


def _one_column(given: Any, columns: Any, n: int) -> np.ndarray:
    """The control features, one value per row, from an array or the name of a column."""
    array = np.asarray(check_groups(given, columns, "control_features")[0])
    if array.shape not in ((n,), (n, 1)):
        raise DataError(
            f"control_features must have one value per row, shape ({n},); it has shape {array.shape}."
        )
    return array.reshape(n)


def _report(chosen: np.ndarray, rows: Dataset, positive: int) -> pd.DataFrame:
    """The table of `fairness_report`."""
    import pandas as pd

    truth, groups = rows.require("y", "The report"), rows.require("groups", "The report")
    message, right = chosen == positive, chosen == truth

    def rates(here: np.ndarray) -> dict[str, float]:
        def share(what: np.ndarray, among: np.ndarray) -> float:
            return float(what[among].mean()) if among.any() else float("nan")

        return {
            "rows": int(here.sum()),
            "selection_rate": share(message, here),
            "true_positive_rate": share(message, here & (truth == positive)),
            "false_positive_rate": share(message, here & (truth != positive)),
            "error_rate": share(~right, here),
        }

    levels = np.unique(groups).tolist()
    table = pd.DataFrame(
        [rates(groups == level) for level in levels], index=pd.Index(levels, name="group")
    )
    spread = table.max() - table.min()
    table.loc["all"] = rates(np.ones(len(truth), dtype=bool))
    table.loc["difference"] = spread
    return table
