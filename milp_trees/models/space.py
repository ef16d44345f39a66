"""Spaces: the models that are allowed.

A space gives the binary features that splits may use, and compares a predictor with its limits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeGuard

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError, NoView, Unsupported
from milp_trees.common.registering import families

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.tree import Tree


#: Largest depth for which powers of two are computed; no data have as many rows as a full tree of
#: this depth has leaves.
_MOST_LEVELS = 62


def full_leaves(depth: int) -> int:
    """Number of leaves of a full tree of some depth.

    For all depths above 62 it is 2^62, which is more than the number of rows of any data.
    """
    return 1 << min(int(depth), _MOST_LEVELS)


def _whole(given: Any) -> TypeGuard[int]:
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool)


class Tests(NamedTuple):
    """The yes/no questions that models of a space ask, with their answers on the rows.

    Parameters
    ----------
    features : sequence of BinaryFeature or Antecedent, length F
        The questions.
    X : uint8 array of shape (n, F), or RankedTests
        The answers.
    complements : bool
        Whether a question and its opposite are interchangeable: they are in a tree, and not in a
        rule list.
    """

    features: Any
    X: Any
    complements: bool


class Space(ABC):
    """The set of predictors that are searched."""

    name: ClassVar[str]
    #: What a model is called in sentences.
    noun: ClassVar[str] = "tree"
    #: What a line of a proof about a model is called.
    claim: ClassVar[str] = "claim"
    #: Largest number of leaves of a model, and whether the space itself limits their size.
    most_leaves: int | None = None
    is_bounded: bool = False
    #: Largest number of questions that one model combines on the way to a leaf (None: no limit), and
    #: of features in a question, for estimates of work.
    levels: int | None = None
    most_literals: int = 1
    #: Number of questions whose combinations an exact search goes through; pruning decides of more.
    combined: ClassVar[float] = 3.0
    #: Whether a largest number of leaves excludes models that the other limits allow.
    limits_leaves: bool = False
    #: Whether sizes are numbers of rules: one less than numbers of leaves.
    counts_rules: ClassVar[bool] = False
    #: Smallest number of rows of a leaf or rule.
    least_rows: int = 1
    #: Why a question has no answer if neither prices nor this space limit the size of its models;
    #: empty if methods decide for themselves.
    endless: ClassVar[str] = ""
    #: The parameters that exclude models, each with the value that excludes nothing. None: a larger
    #: number allows more models; True: a switch; else a smaller number does.
    limits: ClassVar[Mapping[str, Any]] = {}
    #: What proof files call the models.
    in_proofs: ClassVar[str] = ""
    #: What is wrong with a stored model that cannot be read; empty if `read` says it.
    damaged: ClassVar[str] = ""

    def candidates(self, dataset: Dataset) -> np.ndarray:
        """Indices of the dataset's features that splits may use.

        Raises
        ------
        NoView
            Models of this space have no such features.
        """
        raise NoView(
            f"The space {self.name} has no candidate tests, which this task needs; give it Trees(max_depth=…)."
        )

    def tests(self, dataset: Dataset) -> Tests:
        """The questions that models may ask about the dataset, for the views of tasks.

        Raises
        ------
        NoView
            Models of this space ask no such questions.
        """
        candidates = self.candidates(dataset)
        every = len(candidates) == dataset.n_features
        features = dataset.features if every else tuple(dataset.features[j] for j in candidates)
        if dataset.ranked is not None:
            return Tests(features, dataset.ranked.select(candidates), True)
        # A large matrix is not copied without need.
        X = dataset.X if every else np.take(dataset.X, candidates, axis=1)
        return Tests(features, np.ascontiguousarray(X), True)

    def for_features(self) -> Self:
        """The space for tasks that tell apart features with the same values on all rows."""
        return self

    def unbounded(self, view: Any) -> str | None:
        """The sentence that, at the prices of a view, nothing limits the size of the models.

        It is None if the models are limited, or if methods decide for themselves.
        """
        return None

    def with_leaves(self, most: int) -> Self:
        """The models of this space with at most so many leaves."""
        raise Unsupported(f"Models of the space {self.name} have no number of leaves to limit.")

    def few_leaves(self) -> Self:
        """A part of the space whose models are small, on which a support is tried out."""
        return self

    def too_few_rows(self, dataset: Dataset) -> bool:
        """Whether all rows together are too few, or weigh too little, for the smallest model."""
        return False

    @abstractmethod
    def violations(self, predictor: Any, dataset: Dataset, routes: Any = None) -> list[str]:
        """A sentence for each limit of the space that a predictor violates on the data.

        Parameters
        ----------
        predictor : Tree, RuleList or Ensemble
        dataset : Dataset
        routes : Routes, optional
            Its routes of the rows, if they are known.

        Returns
        -------
        list of str
        """

    def needed_limit(
        self, limit: str, predictor: Any, dataset: Dataset, routes: Any
    ) -> Fraction | None:
        """The tightest number of one of the `limits` that a predictor keeps on the data.

        Parameters
        ----------
        limit : str
            The parameter; not a switch.
        predictor : Tree, RuleList or Ensemble
        dataset : Dataset
        routes : Routes
            Its routes of the rows.

        Returns
        -------
        Fraction or None
            None if there is no such number.
        """
        return None

    def simplest(self, actions: tuple[Any, ...]) -> list[Any]:
        """Predictors that need neither a search nor data, for the actions of a task.

        The list is empty if the space has no such predictors.
        """
        return []

    def reordered(self, task: Any, seed: int) -> tuple[Self, Any]:
        """The space with its parts in a random order, and a task with its data in that order.

        Every model of the one problem is a model of the other, of the same value.
        """
        return self, task

    @abstractmethod
    def simplify(self, predictor: Any, view: Any) -> Any:
        """An equal predictor in terms of the view, without parts that no row reaches."""

    def pruned(self, predictor: Any, rows: Any) -> Any:
        """A predictor without the parts that no row reaches, as far as these make no difference."""
        return predictor.prune_empty(rows)

    def greedy(self, view: Any, deadline: Any) -> Any:
        """A greedy model for a cost matrix, or None if there is none."""
        return None

    def candidate(self, predictor: Any, problem: Any) -> Any:
        """An equal model that keeps the limits of a problem of this space, if there is one.

        Otherwise it is the predictor itself.
        """
        return predictor

    @classmethod
    def predictor(cls) -> type[Any]:
        """The class of the models."""
        return object

    @abstractmethod
    def read(self, stored: Mapping[str, Any]) -> Any:
        """The predictor that its `to_json` described."""

    def read_text(self, text: str, problem: Any) -> Any:
        """The predictor of a problem of this space from a text in the form of its `to_text`.

        Raises
        ------
        DataError
            Models of this space are not read from texts.
        """
        raise DataError(
            f"A text is read as a rule list, and the problem is about {self.name}; give the model as JSON, or ask for rule lists (--rule-lists)."
        )

    def strange_question(self, predictor: Any, dataset: Dataset) -> str | None:
        """The sentence that a predictor asks what models of this space cannot ask of the data."""
        return None

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """JSON description."""

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Self:
        """The space that `spec` described."""
        return cls(**{option: value for option, value in spec.items() if option != "name"})

    @classmethod
    def of_options(cls, **options: Any) -> Self:
        """The space of options as a command line or a SPEC file names them."""
        return cls(**options)


@dataclass(frozen=True)
class Trees(Space):
    """Decision trees.

    Parameters
    ----------
    max_depth : int or None
        Largest number of splits on a path; 0 allows a single leaf only. None is no limit, for
        methods that need none (a penalty per leaf keeps trees small).
    max_leaf_nodes : int, optional
        Largest number of leaves (branch nodes + 1).
    min_samples_leaf : int, default=1
        Smallest number of rows in a leaf; weights do not matter.
    min_weight_leaf : number, default=0
        Smallest total row weight in a leaf.
    min_samples_treatment : int, default=0
        Smallest number of rows in a leaf with each treatment that the dataset's `treatments`
        contain; so every leaf can compare them.
    split_on_group : bool, default=False
        Whether features of the dataset's group column may be used.
    """

    name: ClassVar[str] = "trees"
    noun: ClassVar[str] = "tree"
    in_proofs: ClassVar[str] = "trees"
    damaged: ClassVar[str] = "a node is neither a leaf nor a test with two children."
    limits: ClassVar[Mapping[str, Any]] = {
        "max_depth": None,
        "max_leaf_nodes": None,
        "min_samples_leaf": 1,
        "min_weight_leaf": Fraction(0),
        "min_samples_treatment": 0,
        "split_on_group": True,
    }

    max_depth: int | None
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    split_on_group: bool = False
    min_weight_leaf: Any = 0
    min_samples_treatment: int = 0

    def __post_init__(self) -> None:
        if self.max_depth is not None and (not _whole(self.max_depth) or self.max_depth < 0):
            raise DataError(
                f"max_depth must be a whole number of at least 0, or None for no limit; got {self.max_depth!r}."
            )
        for name, least in (
            ("max_leaf_nodes", self.max_leaf_nodes),
            ("min_samples_leaf", self.min_samples_leaf),
        ):
            if least is None and name == "max_leaf_nodes":
                continue
            if not _whole(least) or least < 1:
                raise DataError(f"{name} must be a whole number and at least 1; got {least!r}.")
        if not _whole(self.min_samples_treatment) or self.min_samples_treatment < 0:
            raise DataError(
                f"min_samples_treatment must be a whole number of at least 0; got {self.min_samples_treatment!r}."
            )
        weight = exact.fraction(self.min_weight_leaf, "min_weight_leaf")
        if weight < 0:
            raise DataError(f"min_weight_leaf must not be negative; got {self.min_weight_leaf!r}.")
        object.__setattr__(self, "min_weight_leaf", weight)

    @property
    def depth(self) -> int:
        """The depth limit, for methods that need one.

        Raises
        ------
        Unsupported
            There is no limit.
        """
        if self.max_depth is None:
            raise Unsupported("This needs a depth limit; give max_depth (--depth).")
        return self.max_depth

    @property
    def is_bounded(self) -> bool:  # type: ignore[override]
        """Whether there is a depth limit."""
        return self.max_depth is not None

    @property
    def most_leaves(self) -> int | None:  # type: ignore[override]
        """Largest number of leaves that depth and `max_leaf_nodes` allow; None is no limit."""
        full = None if self.max_depth is None else full_leaves(self.max_depth)
        return min((n for n in (self.max_leaf_nodes, full) if n is not None), default=None)

    @property
    def levels(self) -> int | None:  # type: ignore[override]
        """The depth limit."""
        return self.max_depth

    @property
    def least_rows(self) -> int:  # type: ignore[override]
        """Smallest number of rows in a leaf."""
        return self.min_samples_leaf

    def with_leaves(self, most: int) -> Trees:
        return replace(self, max_leaf_nodes=most)

    def few_leaves(self) -> Trees:
        small = (self.max_depth or 0) <= 1
        return self if small else self.with_leaves(min(3, self.max_leaf_nodes or 3))

    @property
    def max_splits(self) -> int:
        """Largest number of branch nodes that depth and leaves allow."""
        full = full_leaves(self.depth) - 1
        return full if self.max_leaf_nodes is None else min(full, self.max_leaf_nodes - 1)

    @property
    def limits_leaves(self) -> bool:  # type: ignore[override]
        """Whether `max_leaf_nodes` excludes a tree that the depth allows."""
        return self.max_leaf_nodes is not None and (
            self.max_depth is None or self.max_leaf_nodes < full_leaves(self.max_depth)
        )

    def candidates(self, dataset: Dataset) -> np.ndarray:
        """Indices of the dataset's features that splits may use."""
        barred = () if self.split_on_group else dataset.group_columns
        if not barred:
            return np.arange(dataset.n_features)
        return np.array(
            [j for j, t in enumerate(dataset.features) if t.column not in barred], dtype=np.int64
        )

    def simplest(self, actions: tuple[Any, ...]) -> list[Tree]:
        """One tree per action, each with a single leaf."""
        from milp_trees.models.nodes import Leaf

        Tree = self.predictor()
        return [Tree(Leaf(k), actions) for k in range(len(actions))]

    def too_few_rows(self, dataset: Dataset) -> bool:
        if dataset.total_rows < self.min_samples_leaf:
            return True
        if self.min_samples_treatment:
            of_each = one_hot_treatments(dataset).sum(axis=0)
            if int(of_each.min(initial=dataset.total_rows)) < self.min_samples_treatment:
                return True
        # An exact sum over many rows takes a moment, and most spaces have no such minimum.
        least: Fraction = self.min_weight_leaf
        if not least > 0:
            return False
        weighed = zip(dataset.row_weights.tolist(), dataset.row_counts.tolist(), strict=True)
        return sum((Fraction(w) * n for w, n in weighed), Fraction(0)) < least

    def violations(self, predictor: Tree, dataset: Dataset, routes: Any = None) -> list[str]:
        out = []
        if self.max_depth is not None and predictor.depth > self.max_depth:
            out.append(
                f"The tree has depth {predictor.depth}; at most {self.max_depth} is allowed."
            )
        if self.max_leaf_nodes is not None and predictor.n_leaves > self.max_leaf_nodes:
            out.append(
                f"The tree has {predictor.n_leaves} leaves; at most {self.max_leaf_nodes} are allowed."
            )
        barred = () if self.split_on_group else dataset.group_columns
        for column in sorted({t.column for t in predictor.splits} & set(barred)):
            out.append(f"The tree splits on the group column {column!r}.")
        routes = predictor.routes(dataset) if routes is None else routes
        smallest = self.needed_limit("min_samples_leaf", predictor, dataset, routes)
        if smallest < self.min_samples_leaf:
            out.append(
                f"A leaf holds {smallest} rows; at least {self.min_samples_leaf} are asked for."
            )
        if self.min_weight_leaf:
            lightest = self.needed_limit("min_weight_leaf", predictor, dataset, routes)
            if lightest < self.min_weight_leaf:
                out.append(
                    f"A leaf holds rows of weight {float(lightest):g}; at least {float(self.min_weight_leaf):g} is asked for."
                )
        if self.min_samples_treatment:
            rarest = self.needed_limit("min_samples_treatment", predictor, dataset, routes)
            if rarest < self.min_samples_treatment:
                out.append(
                    f"A leaf holds {rarest} rows with one of the treatments; at least {self.min_samples_treatment} are asked for."
                )
        return out

    def needed_limit(self, limit: str, predictor: Tree, dataset: Dataset, routes: Any) -> Fraction:
        if limit == "max_depth":
            return Fraction(predictor.depth)
        if limit == "max_leaf_nodes":
            return Fraction(predictor.n_leaves)
        if limit == "min_samples_leaf":
            return Fraction(int(rows_per_leaf(routes, dataset).min()))
        if limit == "min_weight_leaf":
            whole, scale, _ = exact.integers(dataset.row_weights, rows=dataset.total_rows)
            whole = whole * dataset.row_counts
            leaves = range(routes.n_leaves)
            return scale * min(int(whole[routes.leaf == leaf].sum()) for leaf in leaves)
        given = one_hot_treatments(dataset)
        return Fraction(
            min(
                int(given[routes.leaf == leaf].sum(axis=0).min(initial=dataset.total_rows))
                for leaf in range(routes.n_leaves)
            )
        )

    def simplify(self, predictor: Tree, view: Any) -> Tree:
        simpler: Tree = self.pruned(view.canonical(predictor), view)
        return simpler

    @classmethod
    def predictor(cls) -> type[Tree]:
        from milp_trees.models.tree import Tree

        return Tree

    def read(self, stored: Mapping[str, Any]) -> Tree:
        return self.predictor().from_json(stored)

    def strange_question(self, predictor: Tree, dataset: Dataset) -> str | None:
        known = set(dataset.features)
        unknown = [t for t in predictor.splits if t not in known]
        if not unknown:
            return None
        return f"The predictor tests {unknown[0].name!r}, which is no test of the data."

    def spec(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "max_depth": None if self.max_depth is None else int(self.max_depth),
            "max_leaf_nodes": self.max_leaf_nodes,
            "min_samples_leaf": self.min_samples_leaf,
            "split_on_group": self.split_on_group,
            **({"min_weight_leaf": str(self.min_weight_leaf)} if self.min_weight_leaf else {}),
            **(
                {"min_samples_treatment": int(self.min_samples_treatment)}
                if self.min_samples_treatment
                else {}
            ),
        }


def all_spaces() -> tuple[type[Space], ...]:
    """All kinds of spaces: trees, and those that families declare."""
    return (Trees, *families.parts("spaces"))


def space_class(name: str) -> type[Space] | None:
    """The kind of space with a name; None if there is none."""
    # Most results are about trees, and families are loaded when they are asked for.
    if name == Trees.name:
        return Trees
    return next((space for space in all_spaces() if space.name == name), None)


def predictor_class(noun: str) -> Any:
    """The class of the models that sentences call so; trees if there is none."""
    found = () if noun == Trees.noun else all_spaces()
    return next((space for space in found if space.noun == noun), Trees).predictor()


def space_names(space: type[Space] | tuple[type[Space], ...]) -> str:
    """The names of the spaces that a method or formulation takes, as in a sentence."""
    return " and ".join(one.name for one in space_classes(space))


def space_classes(space: type[Space] | tuple[type[Space], ...]) -> tuple[type[Space], ...]:
    """The spaces that a method or formulation takes: it declares one class or several."""
    return space if isinstance(space, tuple) else (space,)


def one_hot_treatments(dataset: Dataset) -> np.ndarray:
    """Number of original rows with each of the T treatments, for every row; shape (n, T)."""
    given = dataset.require("treatments", "The limit min_samples_treatment")
    return np.asarray((given[:, None] == np.unique(given)) * dataset.row_counts[:, None])


def rows_per_leaf(routes: Any, dataset: Dataset) -> np.ndarray:
    """Number of original rows in each leaf, or captured by each rule; int64."""
    if dataset.counts is None:
        return np.bincount(routes.leaf, minlength=routes.n_leaves).astype(np.int64, copy=False)
    sizes = np.zeros(routes.n_leaves, dtype=np.int64)
    np.add.at(sizes, routes.leaf, dataset.row_counts)
    return sizes
