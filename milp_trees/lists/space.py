"""`RuleLists`: lists of rules whose antecedents are conjunctions of binary features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.lists.antecedents import Antecedents, AntecedentTable
from milp_trees.lists.rule_list import RuleList
from milp_trees.models.space import Space, Tests, _whole, rows_per_leaf

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

#: Antecedents on a dataset. They are part of the statement of a problem, as binary features are,
#: and are mined once, whichever methods are run.
_mined: WeakKeyDictionary[Dataset, dict[Any, AntecedentTable]] = WeakKeyDictionary()


@dataclass(frozen=True)
class RuleLists(Space):
    """Rule lists in which every rule, and the default rule, captures at least one row.

    A list whose rules capture all rows is the same model without its last rule, whose action the
    default rule then takes.

    Parameters
    ----------
    antecedents : Antecedents, default=Antecedents()
        What may be an antecedent; by default single binary features.
    max_length : int, optional
        Largest number of rules, without the default rule; 0 allows the default rule alone. None is
        no limit; then rules must cost something, which keeps lists short.
    min_samples_rule : int, default=1
        Smallest number of rows that a rule captures; the default rule may capture fewer, but at
        least one.
    split_on_group : bool, default=False
        Whether features of the dataset's group column may be used.

    Examples
    --------
    >>> import milp_trees as mt
    >>> data = mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1]], y=["no", "yes", "no", "no"])
    >>> print(mt.solve(mt.Problem(data, mt.Accuracy(), mt.RuleLists(max_length=2))).predictor)
    if 0: no
    else if 1: yes
    else: no
    """

    name: ClassVar[str] = "rule-lists"
    noun: ClassVar[str] = "rule list"
    counts_rules: ClassVar[bool] = True
    endless: ClassVar[str] = (
        "A rule costs nothing here and max_length is not given, so nothing limits the length of a list; give max_length (--max-length), or a split_penalty above 0 (--length-penalty)."
    )
    in_proofs: ClassVar[str] = "lists"
    damaged: ClassVar[str] = "a rule has no antecedent, or no action of the list."
    #: Measured on labels without any pattern: pruning begins later than in trees.
    combined: ClassVar[float] = 4.0

    limits: ClassVar[Mapping[str, Any]] = {
        "max_length": None,
        "min_samples_rule": 1,
        "split_on_group": True,
    }

    antecedents: Antecedents = field(default_factory=Antecedents)
    max_length: int | None = None
    min_samples_rule: int = 1
    split_on_group: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.antecedents, Antecedents):
            raise DataError(
                f"antecedents must be Antecedents, for example Antecedents(max_literals=2); got {type(self.antecedents).__name__}."
            )
        if self.max_length is not None and (not _whole(self.max_length) or self.max_length < 0):
            raise DataError(
                f"max_length must be a whole number of at least 0, or None for no limit; got {self.max_length!r}."
            )
        if not _whole(self.min_samples_rule) or self.min_samples_rule < 1:
            raise DataError(
                f"min_samples_rule must be a whole number and at least 1; got {self.min_samples_rule!r}."
            )

    # -- sizes -------------------------------------------------------------------------------------

    @property
    def is_bounded(self) -> bool:  # type: ignore[override]
        """Whether there is a limit on the length."""
        return self.max_length is not None

    @property
    def most_leaves(self) -> int | None:  # type: ignore[override]
        """Largest number of rules with the default rule; None is no limit."""
        return None if self.max_length is None else self.max_length + 1

    @property
    def levels(self) -> int | None:  # type: ignore[override]
        """The limit on the number of rules."""
        return self.max_length

    @property
    def most_literals(self) -> int:  # type: ignore[override]
        """Largest number of literals of an antecedent."""
        return self.antecedents.max_literals

    @property
    def least_rows(self) -> int:  # type: ignore[override]
        """Smallest number of rows that a rule captures."""
        return self.min_samples_rule

    def with_leaves(self, most: int) -> RuleLists:
        return replace(self, max_length=most - 1)

    def few_leaves(self) -> RuleLists:
        return self.with_leaves(min(3, self.most_leaves or 3))

    def longest(self, view: Any) -> int:
        """Largest number of rules of a list in which every rule captures enough rows.

        Parameters
        ----------
        view : CostMatrix
            A view of a task on these lists.

        Returns
        -------
        int
        """
        # The default rule captures at least one of the merged rows, too.
        most = min(
            view.n_features,
            max(0, view.n_rows - 1),
            max(0, view.total_rows - 1) // self.min_samples_rule,
        )
        return most if self.max_length is None else min(most, self.max_length)

    def unbounded(self, view: Any) -> str | None:
        if self.max_length is not None or not view.n_features:
            return None
        if view.leaf_cost + int(view.split_costs.min()) > 0:
            return None
        return self.endless

    # -- antecedents -------------------------------------------------------------------------------

    def candidates(self, dataset: Dataset) -> np.ndarray:
        """Indices of the dataset's features that antecedents may use."""
        barred = self._barred(dataset)
        return np.array(
            [j for j, t in enumerate(dataset.features) if t.column not in barred], dtype=np.int64
        )

    def _barred(self, dataset: Dataset) -> tuple[str, ...]:
        """Columns that no antecedent may ask for."""
        return () if self.split_on_group else dataset.group_columns

    def for_features(self) -> RuleLists:
        kept = replace(self.antecedents, keep_equal=self.antecedents.fixed is None)
        return replace(self, antecedents=kept)

    def table(self, dataset: Dataset) -> AntecedentTable:
        """The antecedents on a dataset, mined once.

        Raises
        ------
        DataError
            No antecedent is left, or there are too many.
        """
        known = _mined.setdefault(dataset, {})
        key = (self.antecedents, self._barred(dataset))
        if key not in known:
            known[key] = self.antecedents.of(dataset, self._barred(dataset))
        return known[key]

    def tests(self, dataset: Dataset) -> Tests:
        found = self.table(dataset)
        return Tests(found.antecedents, found.X, False)

    # -- lists -------------------------------------------------------------------------------------

    def simplest(self, actions: tuple[Any, ...]) -> list[RuleList]:
        """One list per action, each with the default rule alone."""
        return [RuleList((), k, actions) for k in range(len(actions))]

    def violations(self, predictor: RuleList, dataset: Dataset, routes: Any = None) -> list[str]:
        out = []
        if self.max_length is not None and predictor.length > self.max_length:
            out.append(
                f"The list has {predictor.length} rules; at most {self.max_length} are allowed."
            )
        allowed = self.table(dataset)
        for antecedent in predictor.splits:
            if antecedent not in allowed.index:
                out.append(
                    f"The list asks for {antecedent.name!r}, which is none of the problem's {len(allowed.antecedents)} antecedents."
                )
        routes = predictor.routes(dataset) if routes is None else routes
        *sizes, rest = rows_per_leaf(routes, dataset).tolist()
        if sizes and min(sizes) < self.min_samples_rule:
            out.append(
                f"Rule {sizes.index(min(sizes)) + 1} captures {min(sizes)} rows; at least {self.min_samples_rule} are asked for."
            )
        if sizes and not rest:
            out.append(
                "The default rule captures no row; leave out the last rule and let the default rule take its action."
            )
        return out

    def needed_limit(
        self, limit: str, predictor: RuleList, dataset: Dataset, routes: Any
    ) -> Fraction | None:
        *sizes, _ = rows_per_leaf(routes, dataset).tolist()
        return Fraction(len(sizes) if limit == "max_length" else min(sizes, default=1))

    def simplify(self, predictor: RuleList, view: Any) -> RuleList:
        simpler: RuleList = view.canonical(predictor).prune_empty(view)
        return simpler

    def greedy(self, view: Any, deadline: Any) -> RuleList | None:
        from milp_trees.lists.greedy import greedy_list

        return greedy_list(view, self, deadline, improve=True)

    def candidate(self, predictor: RuleList, problem: Any) -> RuleList:
        """The list with antecedents of the problem in place of equal ones.

        Of antecedents that hold on the same rows, the problem has one (`Antecedents`). A list that
        asks for another of them is the same model, if it has the same value. So is a list whose
        rules capture all rows, without the last of them.
        """
        table = self.table(problem.dataset)

        def candidate(antecedent: Any) -> tuple[Any, bool]:
            if antecedent not in table.index:
                held = antecedent.evaluate(problem.dataset)[:, None]
                equal = np.flatnonzero((held == table.X).all(axis=0))
                antecedent = table.antecedents[equal[0]] if len(equal) else antecedent
            return antecedent, False

        mapped, value = predictor.map_tests(candidate), problem.value(predictor)
        if problem.value(mapped) != value:
            return predictor
        shorter = mapped.prune_empty(problem.dataset)
        same = problem.violations(mapped) and problem.value(shorter) == value
        return shorter if same and not problem.violations(shorter) else mapped

    @classmethod
    def predictor(cls) -> type[RuleList]:
        return RuleList

    def read(self, stored: Mapping[str, Any]) -> RuleList:
        return RuleList.from_json(stored)

    def read_text(self, text: str, problem: Any) -> RuleList:
        data = problem.dataset
        known = self.table(data).antecedents
        return RuleList.from_text(text, data, problem.task.actions(data), known)

    def strange_question(self, predictor: RuleList, dataset: Dataset) -> str | None:
        known = self.table(dataset).index
        unknown = [a for a in predictor.splits if a not in known]
        if not unknown:
            return None
        return f"The predictor asks for {unknown[0].name!r}, which is no antecedent of the problem."

    def spec(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "antecedents": self.antecedents.spec(),
            "max_length": None if self.max_length is None else int(self.max_length),
            "min_samples_rule": int(self.min_samples_rule),
            "split_on_group": bool(self.split_on_group),
        }

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> RuleLists:
        return super().from_spec(
            {**spec, "antecedents": Antecedents.from_spec(spec["antecedents"])}
        )

    @classmethod
    def of_options(cls, max_antecedents: int | None = None, **options: Any) -> RuleLists:
        about = {f.name for f in fields(Antecedents)} & set(options)
        mined = Antecedents(**{name: options.pop(name) for name in about}, most=max_antecedents)
        return cls(mined, **options)
