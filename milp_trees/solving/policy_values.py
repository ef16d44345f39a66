r"""The value of a policy with its confidence interval, in all and leaf by leaf.

A policy :math:`\pi` has the value :math:`V=\sum_i\omega_i\Gamma_{i,\pi(X_i)}/\sum_i\omega_i` with
the scores :math:`\Gamma_{ik}` of the task: doubly robust, by inverse propensity weighting, or
predicted outcomes (Dudík, Langford, Li 2011, "Doubly robust policy evaluation and learning"). With
propensities and outcome models that were not fitted on the same rows (`with_nuisances`), doubly
robust scores of different rows are nearly independent, and :math:`V` is asymptotically normal
(Athey, Wager 2021, "Policy learning with observational data").

An interval holds for a policy that was chosen on *other* rows. On the rows that chose the tree its
value is too large on average, as the tree was chosen for it; honest splitting (Athey, Imbens 2016,
"Recursive partitioning for heterogeneous causal effects") keeps rows apart for the estimate. Scores
of predicted outcomes alone (`policy-dm`) are taken as they are: errors of the model are in no
interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.models.nodes import Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.tasks.policy import (
    ActionValues,
    DoublyRobust,
    InversePropensity,
    PolicyValue,
    observed_treatments,
)

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.dataset import Dataset

#: Resampled tables that are summed at once.
_CHUNK = 100


@dataclass(frozen=True)
class Estimate:
    """A mean of scores over rows with its confidence interval.

    Parameters
    ----------
    value : float
        The (weighted) mean; NaN without rows.
    standard_error : float
        Estimated standard deviation of the mean; NaN for fewer than two rows.
    low, high : float
        Ends of the interval.
    level : float
        Its confidence level.
    n_rows : int
        Number of rows with a positive weight.
    interval : str
        How the interval was made, "normal" or "bootstrap".
    """

    value: float
    standard_error: float
    low: float
    high: float
    level: float
    n_rows: int
    interval: str

    def __str__(self) -> str:
        return f"{self.value:.4g}, {100 * self.level:g} % interval [{self.low:.4g}, {self.high:.4g}] ({self.n_rows} rows)"


def policy_value(
    policy: Any,
    dataset: Dataset,
    task: PolicyValue | None = None,
    *,
    against: Any = None,
    level: float = 0.95,
    interval: str = "normal",
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    r"""The estimated value of a policy on some rows, with its interval.

    Parameters
    ----------
    policy : Tree or name of an action
        A tree over binary features of the dataset, or one action for all rows.
    dataset : Dataset
        Rows that did not choose the policy. Row weights count.
    task : PolicyValue, optional
        The task whose scores are averaged. By default `policy-dr` if the dataset has treatments and
        values, `policy-ipw` if it has treatments only, and else `action-values`.
    against : Tree or name of an action, optional
        Another policy; the difference of the two values is estimated, row by row.
    level : float, default=0.95
        Confidence level.
    interval : {"normal", "bootstrap"}
        "normal": value ± z · standard error, with the standard error :math:`\sqrt{\tfrac{n}{n-1}
        \sum_i\omega_i^2(\Gamma_i-V)^2}/\sum_i\omega_i`. "bootstrap": percentiles of the value over
        tables of n rows that are drawn from the rows with replacement (Efron 1979, "Bootstrap
        methods: another look at the jackknife"); better for few rows with large scores.
    draws : int, default=2000
        Number of tables for the bootstrap.
    seed : int, default=0
        Seed of the bootstrap.

    Returns
    -------
    Estimate

    Raises
    ------
    DataError
        The data lack what the task needs, or a policy has other actions than the task.

    Examples
    --------
    >>> import milp_trees as mt
    >>> data = mt.load("athey-imbens:columns=2,rows=400,seed=1")
    >>> fresh = mt.load("athey-imbens:columns=2,rows=400,seed=2")
    >>> tree = mt.solve(mt.Problem(data, mt.tasks.DoublyRobust(), mt.Trees(1))).tree
    >>> gain = mt.policy_value(tree, fresh, against=0)
    >>> gain.low > 0
    True
    """
    task = default_task(dataset) if task is None else task
    scores = _scores(policy, dataset, task)
    if against is not None:
        scores = scores - _scores(against, dataset, task)
    return mean_with_interval(
        scores, dataset.row_weights, level=level, interval=interval, draws=draws, seed=seed
    )


def policy_leaves(
    tree: Tree, dataset: Dataset, task: PolicyValue | None = None, *, level: float = 0.95
) -> pd.DataFrame:
    """The value of every action in every leaf, with intervals.

    Parameters
    ----------
    tree : Tree
        A tree over binary features of the dataset.
    dataset : Dataset
        Rows that did not choose the tree.
    task : PolicyValue, optional
        As for `policy_value`.
    level : float, default=0.95
        Confidence level of each interval (normal approximation), for one leaf at a time.

    Returns
    -------
    DataFrame
        One row per leaf and action: `leaf` (from the left), `rule` (the tests on its path),
        `action`, `chosen` (whether the leaf takes it), `rows` and `share` (of the weight) in the
        leaf, `treated` (its rows on which the action was observed; absent without treatments),
        `value`, `standard_error`, `low`, `high`.

    Raises
    ------
    DataError
        As for `policy_value`.
    """
    import pandas as pd

    task = default_task(dataset) if task is None else task
    scores, routes = _checked_values(tree, dataset, task), tree.routes(dataset)
    weights = dataset.row_weights
    observed = None if dataset.treatments is None else observed_treatments(dataset, task.name)[0]
    out = []
    for leaf, (rule, action) in enumerate(_rules(tree.root)):
        here = routes.leaf == leaf
        share = float(weights[here].sum() / weights.sum()) if weights.any() else math.nan
        for k, name in enumerate(tree.actions):
            found = mean_with_interval(scores[here, k], weights[here], level=level)
            line = {"leaf": leaf, "rule": rule, "action": name, "chosen": k == action}
            line |= {"rows": int(here.sum()), "share": share}
            if observed is not None:
                line["treated"] = int((observed[here] == k).sum())
            line |= {"value": found.value, "standard_error": found.standard_error}
            out.append({**line, "low": found.low, "high": found.high})
    return pd.DataFrame(out)


def default_task(dataset: Dataset) -> PolicyValue:
    """The task of a policy for which the dataset has what is needed, the most robust first."""
    if dataset.treatments is None:
        return ActionValues()
    return InversePropensity() if dataset.values is None else DoublyRobust()


def mean_with_interval(
    scores: np.ndarray,
    weights: np.ndarray,
    *,
    level: float = 0.95,
    interval: str = "normal",
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """A weighted mean of independent scores with its interval, as `policy_value` explains.

    Parameters
    ----------
    scores, weights : float arrays of shape (n,)
    level, interval, draws, seed
        As for `policy_value`.

    Returns
    -------
    Estimate

    Raises
    ------
    DataError
        The level or the kind of interval is not allowed.
    """
    if not 0 < level < 1:
        raise DataError(f"level must lie between 0 and 1, for example 0.95; got {level}.")
    if interval not in ("normal", "bootstrap"):
        raise DataError(f"interval must be normal or bootstrap; got {interval!r}.")
    if not isinstance(draws, int | np.integer) or draws < 1:
        raise DataError(f"draws must be a whole number of at least 1; got {draws!r}.")
    counted = weights > 0
    scores, weights = scores[counted], weights[counted]
    n, total = len(scores), float(weights.sum())
    if not n:
        return Estimate(math.nan, math.nan, math.nan, math.nan, level, 0, interval)
    value = float(weights @ scores / total)
    spread = float(np.sqrt(np.sum((weights * (scores - value)) ** 2))) / total
    error = spread * math.sqrt(n / (n - 1)) if n > 1 else math.nan
    if interval == "normal":
        reach = NormalDist().inv_cdf((1 + level) / 2) * error
        return Estimate(value, error, value - reach, value + reach, level, n, interval)
    rng, means = np.random.default_rng(seed), []
    for begin in range(0, draws, _CHUNK):
        rows = rng.integers(0, n, (min(_CHUNK, draws - begin), n))
        means.append((weights[rows] * scores[rows]).sum(axis=1) / weights[rows].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, error, float(low), float(high), level, n, interval)


def _scores(policy: Any, dataset: Dataset, task: PolicyValue) -> np.ndarray:
    """The score of the action that a policy takes on every row."""
    values = _checked_values(policy, dataset, task)
    if isinstance(policy, Tree):
        scores: np.ndarray = values[np.arange(len(values)), policy.routes(dataset).action]
        return scores
    actions = list(map(str, task.actions(dataset)))
    if str(policy) not in actions:
        raise DataError(
            f"{policy!r} is neither a tree nor an action; the actions are {', '.join(actions)}."
        )
    return np.asarray(values[:, actions.index(str(policy))])


def _checked_values(policy: Any, dataset: Dataset, task: PolicyValue) -> np.ndarray:
    """The scores of all actions; a tree must have the actions of the task."""
    dataset.refuse_counts("The interval of a policy's value")
    if not isinstance(task, PolicyValue):
        name = getattr(task, "name", repr(task))
        raise DataError(
            f"The value of a policy needs a task such as policy-dr or action-values; got {name}."
        )
    if isinstance(policy, Tree):
        why = task.unknown_actions(policy.actions, dataset)
        if why:
            raise DataError(f"The tree does not fit the data: {why}")
    return np.asarray(task.action_values(dataset), dtype=float)


def _rules(node: Node, path: tuple[str, ...] = ()) -> list[tuple[str, int]]:
    """(tests on the path, action) of every leaf, from the left."""
    if isinstance(node, Leaf):
        return [(" and ".join(path) or "all rows", node.action)]
    test = node.test
    return [*_rules(node.left, (*path, test.negation)), *_rules(node.right, (*path, test.name))]
