"""`Result` and `Certificate`: the answer of a method; all methods answer in the same terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limit as Limit
from milp_trees.models.exporting import Exportable
from milp_trees.models.shown import Shown
from milp_trees.results.changed import ChangedModel
from milp_trees.results.front import front_json, front_rows
from milp_trees.results.history import history_frame
from milp_trees.results.html_tables import row_html
from milp_trees.results.json import SCHEMA, json_safe, plain_number, ratio_text, relative_gap
from milp_trees.results.status import Status as Status
from milp_trees.results.threshold_words import covered, sentence
from milp_trees.tasks.base import Value

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.problems.problem import Problem


class TracePoint(NamedTuple):
    """State of a run at one time; natural units, None if unknown."""

    seconds: float
    incumbent: float | None
    bound: float | None


@dataclass(frozen=True)
class Solution:
    """A predictor (a `Tree`, `RuleList` or `Ensemble`) with its value recomputed on the data.

    Parameters
    ----------
    predictor : Tree, RuleList or Ensemble
    value : Value
        The task's value.
    coordinates : tuple of Value
        For the question `front`: exact numbers, each with its name as the unit.
    """

    predictor: Any
    value: Value
    coordinates: tuple[Value, ...] = ()

    def on(self, dataset: Any, task: Any = None) -> Solution:
        """The solution whose predictor knows the rows of a dataset, if it shows them."""
        shows = isinstance(self.predictor, Shown)
        return replace(self, predictor=self.predictor.on(dataset, task)) if shows else self


@dataclass(frozen=True)
class Certificate:
    """What is known about the optimum, and which program claims it.

    Parameters
    ----------
    bound : float or None
        No predictor of the space is better than this (natural units).
    bound_exact : Fraction or None
        The bound as a rational, if it is exact.
    proved_by : str or None
        Name of the method or solver that claims the bound.
    checked : tuple of str
        What this package recomputed independently, for example `"value recomputed from the tree"`.
    """

    bound: float | None = None
    bound_exact: Fraction | None = None
    proved_by: str | None = None
    checked: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Result(Exportable):
    """The answer of one method to one problem.

    Parameters
    ----------
    problem : Problem
        The problem.
    method : str
        Label of the method: its name, and the options that differ from their defaults.
    status : Status
        What the result contains.
    limit : Limit or None
        Why the method stopped early.
    solutions : tuple of Solution
        One for the question `best`; for other questions several, the best value first.
    certificate : Certificate
        What is known about the optimum.
    seconds : float
        Time from arrays in memory to the answer, without compilation of kernels.
    times : mapping
        Seconds of each stage: `prepare`, `start`, `build`, `hand_over`, `solve`, `decode`, ….
    model_size : mapping
        `rows`, `variables`, `binaries`, `nonzeros` of the model, or what an engine counts.
    trace : tuple of TracePoint
        States of the run over time.
    root_bound : float or None
        Bound at the end of the root node.
    nodes : int or None
        Number of nodes of the search.
    start : mapping
        `method`, `value`, `accepted` of the start that the solver was given; empty without a start.
    agrees : bool or None
        Comparison with the reference: True if proven and equal, False if proven and different, or
        if a bound contradicts the other's value.
    derived_by : str or None
        Label of the reference, if it agrees and has no part in common with the method.
    reference : str or None
        Label of the method whose answer this one was compared with (`agrees`).
    message : str
        A sentence for the user: why there is no answer, or a warning.
    trees : TreeSet, RuleListSet or None
        All models near the best, for the question `near-best`; `solutions` holds the first of them.
    curve : SizePath, PruningCurve or None
        For the question `by-size` the best trees of all sizes; `solutions` then holds those that
        improve the value, the largest first. For the question `by-price` the best prunings for
        all λ.
    complete : bool or None
        For the question `front`: whether `solutions` is proven to be the whole front. None for
        other questions.
    history : mapping or None
        What the search held at moments of its run: equally long lists by name
        (`milp_trees.results.history`). None for methods that keep none.
    found_by : str
        Who found the model, in words, if the method did not: `the greedy tree over all thresholds`.
    transformation : str
        How the problem was solved by others, if it was: `ratio steps`, `front steps`.
    proof : mapping or None
        The proof file that was written for the result: `file`, `sha256`, `claims`, `bytes`, the
        `seconds` it took, and `checked`: whether a checker accepted the file. None if none was
        written.
    changed : ChangedModel or None
        What the solver claims about a model that the user changed (`mt.build`). The result itself
        then holds no bound: it says what the decoded model is worth in the problem.
    """

    problem: Problem
    method: str
    status: Status
    limit: Limit | None = None
    solutions: tuple[Solution, ...] = ()
    certificate: Certificate = field(default_factory=Certificate)
    seconds: float = 0.0
    times: Mapping[str, float] = field(default_factory=dict)
    model_size: Mapping[str, int] = field(default_factory=dict)
    trace: tuple[TracePoint, ...] = ()
    root_bound: float | None = None
    nodes: int | None = None
    start: Mapping[str, Any] = field(default_factory=dict)
    agrees: bool | None = None
    message: str = ""
    log: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    trees: Any = None
    curve: Any = None
    complete: bool | None = None
    history: Mapping[str, Any] | None = None
    proof: Mapping[str, Any] | None = None
    derived_by: str | None = None
    found_by: str = ""
    reference: str | None = None
    transformation: str = ""
    changed: ChangedModel | None = None

    def __post_init__(self) -> None:
        dataset = self.problem.dataset
        known = tuple(solution.on(dataset, self.problem.task) for solution in self.solutions)
        object.__setattr__(self, "solutions", known)

    @property
    def predictor(self) -> Any:
        return self.solutions[0].predictor if self.solutions else None

    tree = predictor

    @property
    def value(self) -> Value | None:
        return self.solutions[0].value if self.solutions else None

    @property
    def objective(self) -> float | None:
        """The value as a number in natural units."""
        return self.value.number if self.value else None

    @property
    def bound(self) -> float | None:
        return self.certificate.bound

    @property
    def gap(self) -> float | None:
        """`|value − bound| / |value|`; 0 if they are equal, None if one is unknown."""
        return relative_gap(self.objective, self.bound)

    @property
    def optimal(self) -> bool:
        return self.status is Status.OPTIMAL

    @property
    def threshold_note(self) -> str:
        """What the features may lose against the columns they were made from.

        The result is optimal among trees with these features. Empty if nothing is lost.
        """
        return self.problem.dataset.threshold_note

    def front(self) -> pd.DataFrame:
        """The answer to the question `front` as a table, in the order of its coordinates.

        Returns
        -------
        DataFrame
            A row per model: its coordinates by name as numbers, the `value` of the task, `leaves`,
            `depth`, and the coordinates as exact rationals in columns whose names end in `(exact)`.

        Raises
        ------
        DataError
            The result answers another question.
        """
        import pandas as pd

        return pd.DataFrame(front_rows(self))

    def history_frame(self) -> pd.DataFrame:
        """The history of the search as a table; without rows if the method keeps none.

        Returns
        -------
        DataFrame
            A row per moment: `seconds`, `incumbent` and `bound` in natural units, `prefixes`,
            `queue`, `map`, `longest` and `best_length`, log10 of the remaining search space, and
            the prefixes in the queue by their length in columns `length 0`, `length 1`, ….
        """
        return history_frame(self.history)

    def without_rows(self) -> Result:
        """The same result without the rows of its problem.

        Predictor, value, bound, the name of its prover, and the description of the problem remain.
        """
        return replace(
            self,
            problem=self.problem.without_rows(),
            trees=None,
            curve=None if self.curve is None else self.curve.without_rows(),
        )

    def save_html(self, path: str | Path, **options: Any) -> Path:
        """Write an interactive page that shows the model, its rows and its certificate.

        The page is one file that loads nothing from the network.

        Parameters
        ----------
        path : path
            File to write; it is replaced if it exists.
        **options
            Options of the format `html`.

        Returns
        -------
        Path
            The file.
        """
        self.export("html", path, **options)
        return Path(path)

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints and `milp-trees verify` reads.

        It is plain, without NaN and infinity, and contains the problem.
        """
        value, exact_bound = self.value, self.certificate.bound_exact
        task = self.problem.task
        out: dict[str, Any] = {
            "schema": SCHEMA,
            "method": self.method,
            "status": self.status.value,
            "limit": None if self.limit is None else self.limit.value,
            "objective": None if value is None else plain_number(value.number, value.exact),
            "unit": task.unit,
            "sense": task.sense,
            "exact": None if value is None else ratio_text(value.exact),
            "bound": plain_number(self.bound, exact_bound),
            "bound_exact": ratio_text(exact_bound),
            "gap": self.gap,
            "proved_by": self.certificate.proved_by,
            "checked": list(self.certificate.checked),
            "agrees": self.agrees,
            "derived_by": self.derived_by,
            "reference": self.reference,
            "seconds": self.seconds,
            "times": dict(self.times),
            "sizes": dict(self.model_size),
            "root_bound": self.root_bound,
            "root_gap": relative_gap(self.objective, self.root_bound),
            "nodes": self.nodes,
            "start": dict(self.start),
            "scores": dict(self.scores),
            "found_by": self.found_by,
            "transformation": self.transformation,
            "message": self.message,
            "predictor": None if self.predictor is None else self.predictor.to_json(),
            "trace": [list(point) for point in self.trace],
            "history": None if self.history is None else dict(self.history),
            "proof": None if self.proof is None else dict(self.proof),
            "options": dict(self.options),
            "versions": dict(self.versions),
            "problem": self.problem.spec(),
        }
        out["thresholds"] = sentence(out)
        if self.complete is not None:
            out["front"] = front_json(self)
        if self.changed is not None:
            out["changed"] = self.changed.to_json()
        plain: dict[str, Any] = json_safe(out)
        return plain

    def _repr_html_(self) -> str:
        """The tree as an inline SVG picture and the certificate as a table, without scripts."""
        picture = "" if self.predictor is None else self.predictor.picture(self.problem.dataset)
        return f"<div>{picture}{row_html(self.to_json())}</div>"

    def __repr__(self) -> str:
        scope = covered({"problem": {"data": self.problem.dataset.source}})
        why = self.message if self.predictor is None or self.status is Status.ERROR else ""
        return f"<{'; '.join(filter(None, [self.line, scope, why]))}>"

    def plot(self) -> Any:
        """Draw the model with matplotlib, a survival tree with the curves of its leaves.

        Returns
        -------
        matplotlib figure

        Raises
        ------
        DataError
            There is no model.
        """
        from milp_trees.results.survival_plot import plot_tree_and_curves

        if self.predictor is None:
            raise DataError(f"This result holds no model to draw: {self.status.value}.")
        task, dataset = self.problem.task, self.problem.dataset
        if hasattr(task, "cumulative_hazard"):
            baseline = task.cumulative_hazard(dataset)
            return plot_tree_and_curves(self.predictor, dataset, baseline)
        return self.predictor.plot().figure

    def plot_survival(self, axes: Any = None) -> Any:
        """Plot the survival curve of every leaf: Kaplan-Meier, and that of the tree.

        Parameters
        ----------
        axes : array of matplotlib axes, optional
            One for each leaf, from left to right; by default those of a new figure.

        Returns
        -------
        array of matplotlib axes

        Raises
        ------
        DataError
            There is no model, or its task is not about survival.
        """
        from milp_trees.results.survival_plot import plot_survival

        task, dataset = self.problem.task, self.problem.dataset
        if self.predictor is None or not hasattr(task, "cumulative_hazard"):
            what = "no model" if self.predictor is None else f"a model of the task {task.name}"
            raise DataError(
                f"Survival curves are those of a model of the task survival; this result holds {what}."
            )
        return plot_survival(self.predictor, dataset, task.cumulative_hazard(dataset), axes)

    @property
    def constraints(self) -> list[str]:
        """Every side constraint with its limit and what the predictor uses of it, in words.

        Those that compare groups state the rate of each group. Empty without a predictor.
        """
        rules = getattr(self.problem.task, "constraints", ())
        if self.predictor is None or not rules:
            return []
        dataset = self.problem.dataset
        routes, actions = self.predictor.routes(dataset), self.problem.task.actions(dataset)
        return [rule.stated(routes, dataset, actions) for rule in rules]

    @property
    def line(self) -> str:
        """Method, status, value, bound and seconds in one line."""
        limit = f" ({self.limit.value} limit)" if self.limit else ""
        bound = "" if self.bound is None else f", bound {self.bound:.10g}"
        changed = "" if self.changed is None else f"; {self.changed.line}"
        return f"{self.method}: {self.status.value}{limit}, {self.value or 'no model'}{bound}, {self.seconds:.2f} s{changed}"


def bound_of(result: Result) -> Fraction | float | None:
    """The bound of a result, as a rational if it is exact."""
    exact = result.certificate.bound_exact
    return result.bound if exact is None else exact
