"""`OptimalRuleListClassifier`: an optimal rule list as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from milp_trees.common.errors import DataError
from milp_trees.estimators._classifier import OptimalClassifier
from milp_trees.estimators._inspect import Inspected
from milp_trees.estimators._progress import with_progress
from milp_trees.lists.antecedents import Antecedents
from milp_trees.lists.space import RuleLists
from milp_trees.tasks.base import Task

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature
    from milp_trees.lists.rule_list import RuleList
    from milp_trees.models.tree import Tree


class OptimalRuleListClassifier(Inspected, OptimalClassifier):
    """A rule list that is optimal on the training rows: if …, else if …, else ….

    It minimises the loss plus a penalty per rule (Angelino, Larus-Stone, Alabi, Seltzer, Rudin
    2018, *Learning Certifiably Optimal Rule Lists for Categorical Data*). All parameters are given
    by name.

    Parameters
    ----------
    length_penalty : number, default=0.01
        Penalty per rule, added to the loss as a rate: with 0.01 a further rule must correct more
        than one percent of the rows. The default rule is free. With 0, `max_length` is needed.
    max_length : int, optional
        Largest number of rules, without the default rule.
    max_literals : int, default=1
        Largest number of literals in an antecedent: with 2, a rule may ask for
        `age <= 30 and priors > 3`.
    negations : bool, default=True
        Whether a literal may be a negated feature, such as `age > 30`. Columns that are one-hot
        encoded with all their values can do without.
    min_support, max_support : number, default=0, 1
        Smallest and largest share of the training rows on which an antecedent may hold; every row
        counts once, whatever its weight.
    min_samples_rule : int, default=1
        Smallest number of training rows that a rule captures; weights do not count.
    task : str or Task, default="accuracy"
        What the list optimises: a Task, or the name of a registered one such as "accuracy",
        "balanced-accuracy" or "f1". A Task has its own constraints, and it decides whether rows are
        weighted. The penalty per rule is always `length_penalty`; tasks such as "f1" take none, so
        give 0 and `max_length`.
    class_weight : mapping of class to number, "balanced", or None, default=None
        As for `OptimalTreeClassifier`.
    constraints : sequence of constraints, default=()
        Side constraints such as `mt.tasks.StatisticalParity(0.01)`. `fit` then needs `groups`, and
        `method` must be one that takes constraints, for example "state-flow@highs".
    split_on_group : bool, default=False
        Whether a rule may ask for the column that `fit` gets as `groups`.
    method : str, default="auto"
        Name of any method of the registry that solves rule lists. "auto" takes the default engine
        for them.
    time_limit : float or None, default=60
        Seconds. If the list is not proven optimal by then, `fit` issues a ConvergenceWarning.
    binarizer, n_bins
        How the thresholds of numeric columns are chosen, as for `OptimalTreeClassifier`.
    start : "auto", RuleList, fitted estimator, name of a method, or None, default="auto"
        What the search begins with. "auto": an integer program begins with the list of the default
        engine.
    reference, random_state, n_jobs, progress, verbose, keep_data
        As for `OptimalTreeClassifier`.

    Attributes
    ----------
    result_ : Result
        Value, bound, its proof, and times. Its problem contains the training data (in a pickle only
        with `keep_data=True`).
    rule_list_ : RuleList
        Rule k is leaf k of `apply`; the default rule is the last leaf.
    tree_ : Tree
        The same model as a decision tree over the binary features.
    status_, bound_, gap_, classes_, binarizer_, n_features_in_, feature_names_in_
        As for `OptimalTreeClassifier`. "optimal" means that no list of these antecedents has a
        smaller penalised loss.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = OptimalRuleListClassifier(length_penalty=0.02).fit(X, y)
    >>> model.rule_list_.length, model.result_.status.value
    (3, 'optimal')
    """

    _fitted_as = "rule_list_"
    rule_list_: RuleList

    def __init__(
        self,
        *,
        length_penalty: Any = 0.01,
        max_length: int | None = None,
        max_literals: int = 1,
        negations: bool = True,
        min_support: Any = 0,
        max_support: Any = 1,
        min_samples_rule: int = 1,
        task: Any = "accuracy",
        class_weight: Any = None,
        constraints: Any = (),
        split_on_group: bool = False,
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
        self.length_penalty = length_penalty
        self.max_length = max_length
        self.max_literals = max_literals
        self.negations = negations
        self.min_support = min_support
        self.max_support = max_support
        self.min_samples_rule = min_samples_rule
        self.task = task
        self.class_weight = class_weight
        self.constraints = constraints
        self.split_on_group = split_on_group
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
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> OptimalRuleListClassifier:
        """Find the optimal rule list.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
            Text columns of a DataFrame are one-hot encoded.
        y : array of shape (n,)
            Labels of any type.
        sample_weight : array of shape (n,), optional
            Rows of weight 0 are left out.
        groups : array of shape (n,), or name of a column of X, optional
            Values of the protected attribute, for constraints. If a column is named, no rule asks
            for it, unless `split_on_group` allows it.

        Returns
        -------
        OptimalRuleListClassifier
            The estimator itself.

        Raises
        ------
        DataError
            A parameter is not allowed, the parameters and the rows do not fit together, or no
            antecedent is left.
        Infeasible
            No list satisfies the limits and constraints.
        NothingFound, SolverFailure
            The method found no list within the limits, or it failed.
        """
        dataset, codes, table = self._prepare(X, y, sample_weight, groups)
        self._solve(dataset, self._stated_task(sample_weight is not None), table)
        self._count(codes)
        return self

    @property
    def tree_(self) -> Tree:
        """The rule list as a decision tree over the binary features."""
        check_is_fitted(self)
        return self.rule_list_.to_tree()

    def _space_of(self) -> RuleLists:
        return RuleLists(
            Antecedents(self.max_literals, self.negations, self.min_support, self.max_support),
            self.max_length,
            self.min_samples_rule,
            self.split_on_group,
        )

    def _stated_task(self, weighted: bool, **instead: Any) -> Task:
        if not isinstance(self.task, Task):
            return super()._stated_task(weighted, **instead)
        if self.constraints:
            raise DataError("task is a Task, which has constraints of its own; give them to it.")
        own = getattr(self.task, "split_penalty", None)
        if own:
            raise DataError(
                "The penalty per rule is length_penalty; leave out the split_penalty of the Task."
            )
        if not self.length_penalty:
            return self.task
        if own is None:
            raise DataError(
                f"The task {self.task.name} takes no penalty per rule; give length_penalty=0 and a max_length."
            )
        task: Task = replace(self.task, split_penalty=self.length_penalty)  # type: ignore[type-var]
        return task

    def _penalties(self) -> dict[str, Any]:
        return {"split_penalty": self.length_penalty, "constraints": tuple(self.constraints)}

    def _tests(self) -> Iterable[BinaryFeature]:
        return self.rule_list_.features
