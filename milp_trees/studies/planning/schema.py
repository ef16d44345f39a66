"""The layout of a SPEC: which tables and keys there are, and the type of every value.

The checks are pydantic's. Families add tables of problems. What names mean (methods, tasks, data) is
checked later, in `milp_trees.studies.planning`.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Discriminator, Field, JsonValue, Tag

from milp_trees.common.registering import families
from milp_trees.studies.planning.tables import (
    Count,
    Defaults,
    Labels,
    Many,
    Name,
    OfTable,
    Problems,
    Settings,
    Table,
    TreeSpace,
    printable,
)


class TreeProblems(OfTable):
    kind: Literal["trees"] = "trees"
    space: Many[TreeSpace] = [TreeSpace()]


def _kind(given: Any) -> str:
    return str(given.get("kind", "trees")) if isinstance(given, dict) else "trees"


def _tagged(table: Any) -> Any:
    """A table of problems with its kind as the tag."""
    return Annotated[table, Tag(get_args(table.model_fields["kind"].annotation)[0])]


if TYPE_CHECKING:
    AnyProblems = Problems
else:
    AnyProblems = Annotated[
        functools.reduce(operator.or_, map(_tagged, (TreeProblems, *families.parts("tables")))),
        Discriminator(_kind),
    ]


class Methods(Settings):
    """Methods: labels, or every formulation with every solver and every set of options."""

    name: Name | None = None
    labels: Labels = []
    formulations: Labels = []
    solvers: Labels = ["auto"]
    options: Many[dict[str, JsonValue]] = [{}]


class Exclude(Table):
    """Patterns; a run is left out if all of them match."""

    problem: Labels = []
    group: Labels = []
    kind: Labels = []
    method: Labels = []
    start: Labels = []
    seed: Many[Count] = []
    permutation: Many[Count] = []


class Spec(Table):
    """A whole SPEC."""

    title: Annotated[str, AfterValidator(printable)] = ""
    plugins: list[Name] = []
    defaults: Defaults = Defaults()
    problems: Annotated[list[AnyProblems], Field(min_length=1)]
    methods: Annotated[list[Methods], Field(min_length=1)]
    exclude: list[Exclude] = []
    #: For `milp-trees library build`, which checks it.
    library: dict[str, JsonValue] = {}
