"""The options that describe a problem, which several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from milp_trees.cli import reading
from milp_trees.cli.describing import describe
from milp_trees.cli.folding import folded
from milp_trees.cli.help import DATA, OUTPUT, TASK
from milp_trees.cli.limits import with_options
from milp_trees.cli.policy_options import PolicyOptions
from milp_trees.cli.readers import pairs, split, whole
from milp_trees.cli.space_options import SpaceOptions, TreeOptions, option
from milp_trees.common.errors import DataError
from milp_trees.tasks.constraint_base import in_words
from milp_trees.tasks.written import read_feature_costs

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem

#: Options for parameters that many tasks have, in any module; all other parameters are written
#: into the task's label.
OF_TASKS = {
    "leaf_penalty": "--leaf-penalty",
    "split_penalty": "--split-penalty",
    "feature_costs": "--feature-costs",
    "file": "--costs",
    "constraints": "side constraints (--constraint, --capacity)",
}


@dataclass
class ProblemOptions(SpaceOptions, PolicyOptions):
    """A problem as the options of a command describe it; one attribute per option."""

    data: Annotated[
        str,
        typer.Argument(
            help="A table (CSV, text, Parquet; plain or .gz), a rule file (.out), a folder of Parquet files or a DuckDB database (equal rows are grouped there), or a built-in name: breast-cancer, iris, wine, digits, planted:…"
        ),
    ]
    grouped: Annotated[
        bool,
        option(
            "Have equal rows of a Parquet file grouped by an engine outside of memory, as always for a folder, a pattern 'FOLDER/*.parquet' and a DuckDB database.",
            DATA,
        ),
    ] = False
    query: Annotated[
        str | None,
        option("SELECT of DuckDB for grouped rows: on the files (FROM source), or tables.", DATA),
    ] = None
    label: Annotated[
        Path | None,
        option("File of labels of a rule file NAME.out, by default NAME.label.", DATA),
    ] = None
    target: Annotated[
        str | None,
        option("Target column; by default the last with a header, the first without.", DATA),
    ] = None
    targets: Annotated[
        str, option("Columns of numbers that are predicted together, comma-separated.", DATA)
    ] = ""
    event: Annotated[
        str | None,
        option("Survival: column of 1 (the event was seen) and 0 (the row is censored).", DATA),
    ] = None
    time: Annotated[
        str | None, option("Survival: column of times of the event or of censoring.", DATA)
    ] = None
    features: Annotated[
        str, option("Columns to split on, comma-separated, * and ? allowed.", DATA)
    ] = ""
    drop: Annotated[str, option("Columns not to split on.", DATA)] = ""
    binarize: Annotated[
        str, option("auto, midpoints, quantiles:N (bins), buckets or tree-guess.", DATA)
    ] = "auto"
    weights: Annotated[
        str | None, option("Column of row weights, for tasks that weigh rows.", DATA)
    ] = None
    group: Annotated[
        str | None,
        option("Column of the protected group; not split on unless --split-on-group.", DATA),
    ] = None
    factor: Annotated[
        str | None, option("Column of a legitimate factor (conditional-statistical-parity).", DATA)
    ] = None
    values: Annotated[
        str,
        option(
            "Columns with the value, predicted outcome or cost of every action, in order.", DATA
        ),
    ] = ""
    test_size: Annotated[float | None, option("Share of rows left out for test scores.", DATA)] = (
        None
    )
    split_seed: Annotated[int, option("Seed of that split.", DATA)] = 0
    quiet: Annotated[
        bool,
        option("Neither describe the data nor show progress.", OUTPUT, "--quiet", "-q"),
    ] = False
    task: Annotated[
        str | None,
        option(
            "A task, with its own parameters where it has some: accuracy, f1:positive=ill, e.g. f-beta:beta=2. `milp-trees tasks` lists them. Default: accuracy; for a target of measured numbers squared-error, for --event and --time survival.",
            TASK,
        ),
    ] = None
    leaf_penalty: Annotated[
        str, option("Added to the rate per leaf, e.g. 0.01 or 1/200.", TASK)
    ] = "0"
    split_penalty: Annotated[
        str,
        option(
            "Added to the rate per split of a tree, or per rule of a list.",
            TASK,
            "--split-penalty",
            "--length-penalty",
        ),
    ] = "0"
    feature_costs: Annotated[
        Path | None,
        option("File of lines 'COLUMN COST': added to the rate per split on the column.", TASK),
    ] = None
    costs: Annotated[
        Path | None,
        option(
            "Cost file of a task with prices: a matrix of misclassification costs, a line of titles, and a line 'NAME PRICE DISCOUNTED GROUP FIRST LAST' per attribute.",
            TASK,
        ),
    ] = None
    constraint: Annotated[
        list[str] | None,
        option(
            "A constraint by name, with its parameters where it has some, repeatable: statistical-parity, feature-budget:at_most=3. `milp-trees constraints` lists them.",
            TASK,
        ),
    ] = None
    max_disparity: Annotated[
        str | None,
        option("Largest difference of rates between groups, a fraction; default: 0.01.", TASK),
    ] = None
    favourable: Annotated[str | None, option("Favourable class; by default the last.", TASK)] = None
    capacity: Annotated[
        list[str] | None, option("ACTION=N: at most N rows get the action; repeatable.", TASK)
    ] = None

    #: How the table is read: keywords of `load` (`milp_trees.cli.reading`).
    reading: dict[str, Any] = field(default_factory=dict)

    def problem(self, quiet: bool = False) -> tuple[Problem, Dataset | None]:
        """The problem and the test rows.

        The meaning of the columns is printed on standard output (on standard error if `quiet`).
        """
        from milp_trees.problems.problem import Problem as TheProblem
        from milp_trees.tasks.constraints import check_groups_differ

        space = self.space()
        task = self._stated()  # before the data are read, which can take long
        train, test = self._load(binarizer=self.binarize, **self._roles(), **self.reading)
        task, why = self._usual(task, train)
        check_groups_differ(getattr(task, "constraints", ()), train)
        problem = TheProblem(train, task, space)
        if not self.quiet:
            text = [describe(train, test), *why, *self.described(space, train)]
            text += self._defaults_taken(getattr(task, "constraints", ()))
            typer.echo("\n".join(text), err=quiet)
        return problem, test

    def check_complete(self, against: Any = None) -> None:
        """Refuse a question that lacks something, before the data are read.

        Parameters
        ----------
        against : Constraint, optional
            What the value is traded against.

        Raises
        ------
        DataError
            Nothing limits the length of rule lists, or there is no column of groups to compare.
        """
        space = self.space()  # a limit of trees is refused first
        task = self._stated()
        if space.endless and not space.is_bounded and not getattr(task, "penalised", True):
            raise DataError(space.endless)
        if getattr(against, "compares_groups", False) and self.group is None:
            raise DataError(_no_group(against.name))

    def _roles(self) -> dict[str, Any]:
        """The options that name columns and models, as keywords of `load`."""
        from milp_trees.data.roles import Columns

        given = {name: (getattr(self, name), default) for name, default in Columns.roles().items()}
        return {
            n: split(value) if default == () else value for n, (value, default) in given.items()
        }

    def _load(self, **options: Any) -> tuple[Dataset, Dataset | None]:
        """The rows, read into memory or grouped by an engine."""
        from milp_trees.data.engine_sources import needs_engine

        if self.policy_file or self.policy_model is not None:
            binarize = None if self.binarize == "auto" else self.binarize
            own = {"test_size": self.test_size, "label": self.label, "query": self.query}
            others = {k: v for k, v in options.items() if k != "binarizer"}
            given = {"binarize": binarize, "grouped": self.grouped, **own, **others}
            return self.policy_rows(self.data, given), None
        if not (self.grouped or self.query is not None or needs_engine(self.data)):
            from milp_trees.data.load import load_split

            more: dict[str, Any] = {"test_size": self.test_size, "seed": self.split_seed}
            return load_split(self.data, label=self.label, **more, **options)
        from milp_trees.data.grouped import load_grouped

        if self.test_size is not None or self.label is not None:
            wrong = "--label" if self.test_size is None else "--test-size"
            raise DataError(
                f"{wrong} is for rows in memory, and these are grouped; leave rows out with --query."
            )
        return load_grouped(self.data, query=self.query, **options), None

    def free_of_depth(self, problem: Problem, method: str | None) -> Problem:
        """The same problem without a depth limit, if that is possible.

        It is, if no depth was given, splits have a cost, and the method needs no depth limit.
        """
        from milp_trees.mip.registry import registry
        from milp_trees.solving.attempt import first_that_takes

        if (
            self.rule_lists
            or self.depth is not None
            or not getattr(problem.task, "penalised", False)
        ):
            return problem
        free = replace(problem, space=replace(problem.trees, max_depth=None))
        if method is None:
            return problem if first_that_takes(free) is None else free
        return free if registry.method(method).unsupported(free) is None else problem

    def _stated(self) -> Any:
        """The task that was named, or the ordinary one.

        None stands for one that weighs rows, which the ordinary one does not, and which the data
        may turn out to be for.
        """
        named = self.task is not None or self.rule_lists or self.event or self.time
        if named or self.weights is None:
            return self.make_task()
        replace(self, weights=None).make_task()  # refuses all else
        return None

    def _usual(self, task: Any, train: Dataset) -> tuple[Any, list[str]]:
        """The task of the data if none was named, with a line that says why it is taken."""
        from milp_trees.tasks.usual import usual_task

        if self.task is not None or self.rule_lists or train.left_out:
            return task, []
        usual = usual_task(train)
        if not usual.why:
            return task or self.make_task(), []
        try:
            found = self.make_task(usual.name)
        except DataError as error:
            raise DataError(f"{error} No --task was given, and it is {usual.why}.") from error
        return found, [folded(f"task      {usual.why}")]

    def make_task(self, label: str | None = None) -> Any:
        """The task, with its parameters and side constraints.

        Parameters
        ----------
        label : str, optional
            Its label; by default the one that was given, or the usual one for the roles of columns.
        """
        from milp_trees.mip.registry import registry
        from milp_trees.tasks.usual import usual_name

        label = label or self.task or usual_name(self.event is not None or self.time is not None)
        kind, given = registry.task_from_label(label)
        if kind.command is not None:
            raise DataError(
                f"The task {kind.name} is stated by another command: milp-trees {kind.command} --help."
            )
        if self.weights is not None and not kind.weighs_rows:
            raise DataError(
                f"The task {kind.name} counts every row once and does not use --weights; {_tasks('weighs_rows')} do. "
                "To keep the column from being split on, name it with --drop."
            )
        known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
        for name, value in self._of_tasks().items():
            if name in given and value not in ("0", (), None):
                raise DataError(
                    f"The parameter {name} is given twice, by {OF_TASKS[name]} and in --task {label}; give it once."
                )
            if name in known:
                given.setdefault(name, value)
            elif value not in ("0", (), None):
                raise DataError(
                    f"The task {kind.name} does not use {OF_TASKS[name]}, which is for {_tasks(name)}."
                )
        return kind(**given)

    def _of_tasks(self) -> dict[str, Any]:
        """The parameters that have an option of their own (`OF_TASKS`)."""
        out: dict[str, Any] = {
            "leaf_penalty": self.leaf_penalty,
            "split_penalty": self.split_penalty,
            "constraints": self._constraints(),
        }
        if self.costs is not None:
            out["file"] = str(self.costs)
        if self.feature_costs is not None:
            out["feature_costs"] = read_feature_costs(self.feature_costs)
        return out

    def _defaults_taken(self, rules: tuple[Any, ...]) -> list[str]:
        """A line for every constraint without a stated limit."""
        if self.max_disparity is not None:
            return []
        labels = [label.replace("-", "_") for label in self.constraint or ()]
        return [
            folded(
                f"limit     {rule.name}: rates may differ by {in_words(rule.max_disparity)}, the default; --max-disparity states another"
            )
            for rule, label in zip(rules, labels, strict=False)
            if hasattr(rule, "max_disparity") and "max_disparity=" not in label
        ]

    def _constraints(self) -> tuple[Any, ...]:
        from milp_trees.tasks.constraints import Capacity, constraint_of_label

        rules: list[Any] = []
        shared = {"max_disparity": self.max_disparity, "favourable": self.favourable}
        unused = {name for name, value in shared.items() if value is not None}
        for label in self.constraint or ():
            rule = constraint_of_label(label)
            if rule.compares_groups and self.group is None:
                raise DataError(_no_group(rule.name))
            if isinstance(rule, Capacity) and rule.at_most is None and rule.at_least is None:
                raise DataError(
                    f"The constraint {label} limits nothing; give it at_most or at_least, for example {label},at_most=100."
                )
            own = {f.name for f in fields(rule)}
            given = {n: v for n, v in shared.items() if v is not None and n in own}
            if twice := [name for name in given if f"{name}=" in label.replace("-", "_")]:
                raise DataError(
                    f"{twice[0]} is given twice, in --constraint {label} and by --{twice[0].replace('_', '-')}; give it once."
                )
            unused -= given.keys()
            rules.append(replace(rule, **given))
        for name in unused:
            raise DataError(
                f"--{name.replace('_', '-')} belongs to a constraint; give --constraint too, for example --constraint statistical-parity."
            )
        for action, number in pairs(self.capacity, "--capacity", "ACTION=N"):
            rules.append(Capacity(action=action, at_most=whole(number, "--capacity")))
        return tuple(rules)


def _no_group(name: str) -> str:
    return f"The constraint {name} compares groups; name the group column with --group."


def _tasks(having: str) -> str:
    """Names of the tasks that declare a capability, or have a parameter of that name."""
    from milp_trees.mip.registry import registry

    return ", ".join(
        name
        for name, cls in registry.classes("tasks").items()
        if getattr(cls, having, False) is True or having in {f.name for f in fields(cls)}  # type: ignore[arg-type]
    )


def takes_problem(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `ProblemOptions`, which becomes its argument `options`."""
    return _with_problem(command, ProblemOptions)


def takes_lists(command: Callable[..., None]) -> Callable[..., None]:
    """The same for a command whose problems are about rule lists: without options of trees."""
    without = {"rule_lists", *(f.name for f in fields(TreeOptions))}
    return _with_problem(command, partial(ProblemOptions, rule_lists=True), without)


def _with_problem(
    command: Callable[..., None],
    make: Callable[..., ProblemOptions],
    without: Collection[str] = (),
) -> Callable[..., None]:
    hints = get_type_hints(ProblemOptions, include_extras=True)
    shared = {
        f.name: (hints[f.name], inspect.Parameter.empty if f.name == "data" else f.default)
        for f in fields(ProblemOptions)
        if f.name not in {*without, "reading"}
    }
    return with_options(
        command,
        "options",
        shared | reading.options(),
        lambda **given: make(reading=reading.stated(given), **given),
    )
