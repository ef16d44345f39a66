"""`Problem`: dataset, task, space and question, which together have one right answer."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from milp_trees.common.errors import DataError, NoView, Unsupported
from milp_trees.data.dataset import Dataset
from milp_trees.models.space import Space, Trees
from milp_trees.problems.questions import Best
from milp_trees.tasks.base import Task, Value
from milp_trees.tasks.constraints import Constraint, constraint
from milp_trees.tasks.ratio_view import Ratio
from milp_trees.tasks.views import CostMatrix, LeafSums, Scale

if TYPE_CHECKING:
    pass

V = TypeVar("V")
S = TypeVar("S", bound=Space)

#: Where a problem keeps the view that its next run has.
_HANDED = "handed over"


@dataclass(frozen=True, eq=False)
class Problem:
    """The problem that methods solve.

    Parameters
    ----------
    dataset : Dataset
        The rows.
    task : Task
        What "best" means, with its side constraints.
    space : Space
        Which models are allowed.
    question : Best, NearBest, BySize, ByPrice or Front
        What is asked about these models; by default which one is best.

    Examples
    --------
    >>> import milp_trees as mt
    >>> problem = mt.Problem(mt.Dataset([[0], [1]], y=["no", "yes"]), mt.Accuracy(), mt.Trees(max_depth=1))
    >>> mt.solve(problem, method="dp").value.number
    0.0
    """

    dataset: Dataset
    task: Task
    space: Space
    question: Any = field(default_factory=Best)

    def __post_init__(self) -> None:
        wanted = (
            ("dataset", Dataset, "mt.load('people.csv')"),
            ("task", Task, "mt.Accuracy()"),
            ("space", Space, "mt.Trees(max_depth=2)"),
        )
        for name, kind, example in wanted:
            given = getattr(self, name)
            if not isinstance(given, kind):
                raise DataError(
                    f"A Problem's {name} must be a {kind.__name__}, for example {example}; got {type(given).__name__}."
                )
        why = self.dataset.refuse_for((self.task, *getattr(self.task, "constraints", ())))
        if why is not None:
            raise Unsupported(why)
        object.__setattr__(self, "space", self.task.space_for(self.space))

    def view(self, kind: type[V]) -> V:
        """The task's view of the given kind on this dataset and space, made once."""
        if kind not in self._views:
            self._views[kind] = self.task.view(kind, self.dataset, self.space)
        view: V = self._views[kind]
        return view

    def first_view(self, kinds: type | tuple[type, ...]) -> Any:
        """The view of the first of several kinds that the task offers.

        Raises
        ------
        NoView
            The task offers none of them.
        """
        wanted = kinds if isinstance(kinds, tuple) else (kinds,)
        return self.view(next((kind for kind in wanted if self.task.offers(kind)), wanted[0]))

    @property
    def scale(self) -> Scale:
        """How values of this problem are compared: the first view that its task offers."""
        if not self.task.view_makers:
            raise NoView(
                f"The task {self.task.name} offers no view, so no method can take it and no two values of it can be compared."
            )
        scale: Scale = self.view(next(iter(self.task.view_makers)))
        return scale

    def presolved_view(self, merge_rows: bool = True, drop_tests: bool = True) -> Any:
        """The view of leaf sums, such as a cost matrix, after presolve.

        It is made once per combination of switches.
        """
        key = (merge_rows, drop_tests)
        if key not in self._views:
            view = self.first_view((CostMatrix, LeafSums))
            self._views[key] = view.reduce(merge_rows, drop_tests)
        return self._views[key]

    @property
    def watch(self) -> Any:
        """The watch of the run of this very object.

        It holds the best answer so far, for a run that must be ended from outside.
        """
        return self._views.get("watch")

    def watched_by(self, watch: Any) -> None:
        """Store the watch of the run."""
        self._views["watch"] = watch

    @property
    def kept(self) -> dict[str, Any] | None:
        """What methods keep for the problems that follow, by names of their own.

        It is None for a problem that is solved for itself.
        """
        return self._views.get("kept")

    def keep_in(self, store: dict[str, Any]) -> None:
        """Let methods keep in a store what they make for this problem and may use for the next."""
        self._views["kept"] = store

    @property
    def proven(self) -> tuple[Fraction, str] | None:
        """A value that no model of the problem is better than, and what has proved it.

        It is known from other problems, such as one with looser constraints; None if there is none.
        """
        return self._views.get("proven")

    def know(self, value: Fraction, proved_by: str) -> None:
        """State that no model is better than a value, which another problem has proved."""
        self._views["proven"] = value, proved_by

    @cached_property
    def _views(self) -> dict[Any, Any]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle, without views; they are made again when needed."""
        return {name: value for name, value in self.__dict__.items() if name != "_views"}

    def without_rows(self) -> Problem:
        """The same problem without the rows of the dataset; it cannot be solved or verified."""
        from milp_trees.data.outline import Outline

        if self.dataset.left_out:
            return self
        task, also = self.task.without_rows()
        return Problem(Outline(self.dataset, also), task, self.space, self.question)

    def without_views(self) -> Problem:
        """The same problem without any view, for runs whose preparation is to be timed.

        It has the view that was handed over, if there is one, and the store of what methods keep.
        """
        fresh = Problem(self.dataset, self.task, self.space, self.question)
        handed = self._views.pop(_HANDED, None)
        if handed is not None:
            fresh._views[type(handed)] = handed
        if self.kept is not None:
            fresh.keep_in(self.kept)
        return fresh

    def hand_over(self) -> None:
        """Let the next run have the costs that were needed to choose its method.

        The run has made them itself, as it were. What others derived from them is left out.
        """
        view = self._views.get(CostMatrix)
        if view is not None:
            handed = copy(view)
            handed.__dict__.pop("memo", None)
            self._views[_HANDED] = handed

    @property
    def trees(self) -> Trees:
        """The space, for methods that declare that they search trees.

        Methods are only called with a space that they declare.
        """
        return self.space_as(Trees)

    def space_as(self, kind: type[S]) -> S:
        """The space, for methods that declare that they search models of this kind; see `trees`."""
        if not isinstance(self.space, kind):
            raise Unsupported(
                f"This is for {kind.noun}s; the problem's space is {self.space.name}."
            )
        return self.space

    def routes(self, predictor: Any) -> Any:
        """The routes of all rows through a predictor; those of the last one are kept.

        So a predictor that is valued, checked and scored routes the rows once. A copy of a tree
        for its pictures has the same nodes, and so the same routes.
        """
        known, nodes = self._views.get("routes"), getattr(predictor, "root", predictor)
        if known is None or known[0] is not nodes:
            known = self._views["routes"] = nodes, predictor.routes(self.dataset)
        return known[1]

    def value(self, predictor: Any) -> Value:
        """The task's value of a predictor on the problem's data."""
        return self.task.value(self.routes(predictor), self.dataset)

    def coordinates(self, predictor: Any, routes: Any = None) -> tuple[Value, ...]:
        """The coordinates of a predictor for the question `front`, recomputed on the data.

        They are those of the task, or the task's value and the amount of the quantity that the
        question names. Each is a number with its name as the unit. `routes` are the routes of the
        rows, if they are known.

        Raises
        ------
        NoView
            The question names no quantity, and the task has no front of its own.
        UnknownName
            There is no side constraint of the name in the question.
        """
        task, data = self.task, self.dataset
        routes = self.routes(predictor) if routes is None else routes
        rule = self.rule
        if rule is None:
            return task.coordinates(routes, data)
        name, size = rule.amount(routes.action, data, task.actions(data))
        return task.value(routes, data), Value(float(size), size, name, "min")

    def extra_scores(self, predictor: Any) -> dict[str, float]:
        """Numbers that the task reports in addition to its value."""
        return (
            self.task.extra_scores(self.routes(predictor), self.dataset)
            if self.task.has_extra_scores
            else {}
        )

    @property
    def is_ratio(self) -> bool:
        """Whether the question is the best model of a task with a `Ratio` and no cost matrix."""
        offers = self.task.offers
        return offers(Ratio) and not offers(CostMatrix) and self.question.name == "best"

    @property
    def rule(self) -> Constraint | None:
        """The side constraint whose amount the question `front` names; None if it names none."""
        against = getattr(self.question, "against", None)
        return constraint(against) if isinstance(against, str) else against

    def under(self, rule: Constraint | None) -> Problem:
        """The question for the best model, with one more side constraint (or none).

        Raises
        ------
        NoView
            The task takes no side constraints.
        """
        task: Any = self.task
        if rule is not None:
            if not hasattr(task, "constraints"):
                raise NoView(
                    f"The task {task.name} takes no side constraints, so its value cannot be traded against {rule.name}; ask for its own front, or take a task such as accuracy."
                )
            task = replace(task, constraints=(*task.constraints, rule))
        return Problem(self.dataset, task, self.space)

    def by_steps(self, taker: Any) -> bool:
        """Whether a method has to solve this problem in steps.

        It does if it takes cost matrices and the task offers ratios only
        (`milp_trees.methods.dinkelbach`), or if it finds the best model and the question is for the
        front against a side constraint (`milp_trees.methods.front_steps`).
        """
        if self.rule is not None:
            finds, proves = "best" in taker.questions, getattr(taker, "exact", True)
            return self.question.name not in taker.questions and finds and proves
        needs = taker.needs if isinstance(taker.needs, tuple) else (taker.needs,)
        return CostMatrix in needs and self.is_ratio and not any(map(self.task.offers, needs))

    def one_step(self) -> Problem:
        """One of the problems that are solved for a ratio or a front; any other problem itself.

        It is used to find out what is supported, and for model sizes.
        """
        if self.rule is not None:
            return self.under(self.rule.up_to(self.rule.widest(self.dataset)))
        if not self.is_ratio:
            return self
        ratio = self.view(Ratio)
        space = self.space.few_leaves() if ratio.leaf_penalty else self.space
        return Problem(self.dataset, ratio.at(ratio.ceiling / 2), space)

    def violations(self, predictor: Any) -> list[str]:
        """A sentence per limit or side constraint that a predictor violates."""
        routes = self.routes(predictor)
        return self.space.violations(predictor, self.dataset, routes) + self.task.violations(
            routes, self.dataset
        )

    @property
    def all_rows_too_few(self) -> bool:
        """Whether all rows together are too few, or have too little weight, for a single leaf."""
        return self.space.too_few_rows(self.dataset)

    @property
    def group(self) -> dict[str, Any] | None:
        """The protected attribute and whether trees may split on it; None if there is none.

        It is `Dataset.protected` with `split_on`, which is what the space decides.
        """
        known, allowed = self.dataset.protected, getattr(self.space, "split_on_group", None)
        return None if known is None or allowed is None else {**known, "split_on": allowed}

    def spec(self) -> dict[str, Any]:
        """JSON description: task, space, question, and where the data came from."""
        return {
            "task": self.task.spec(),
            "space": self.space.spec(),
            **({} if self.group is None else {"group": self.group}),
            "question": self.question.spec()
            if hasattr(self.question, "spec")
            else self.question.name,
            "data": {
                **self.dataset.source,
                **self.dataset.sizes,
                "arrays_sha256": self.dataset.sha256,
            },
        }

    def __repr__(self) -> str:
        return f"Problem({self.dataset!r}, {self.task.name}, {self.space!r})"
