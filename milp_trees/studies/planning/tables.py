"""Tables of a SPEC that describe problems, and the types of their values.

The checks are pydantic's. `Many[T]` is one value or a list of values; lists are multiplied with one
another. What names mean (methods, tasks, data) is checked later, in `milp_trees.studies.planning`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    ValidationInfo,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from milp_trees.common.limits import LARGEST_SEED, LONGEST, MOST_THREADS
from milp_trees.data import roles
from milp_trees.data.reading import Reading
from milp_trees.tasks.classification import Accuracy

T = TypeVar("T")


def _listed(given: Any) -> Any:
    return given if isinstance(given, list) else [given]


#: One value, or several that the SPEC multiplies with the other lists of its table.
Many = Annotated[list[T], BeforeValidator(_listed), Field(min_length=1)]


def printable(given: str) -> str:
    if any(sign < " " or sign == "\x7f" for sign in given):
        raise PydanticCustomError("control", "must hold no control characters")
    return given


def _not_empty(given: Any) -> Any:
    if given == []:
        raise PydanticCustomError("too_short", "must not be empty")
    return given


Name = Annotated[str, Field(min_length=1), AfterValidator(printable)]
#: A value that JSON can hold, for keys that are checked later.
Plain = Annotated[JsonValue, AfterValidator(_not_empty)]
Count = Annotated[int, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, lt=1)]
#: A number that is read exactly as it is written, such as 0.01 or "1/200".
Exact = int | float | str
#: Labels, or a text with commas between them.
Labels = Annotated[list[Name], BeforeValidator(_listed)]


class Table(BaseModel):
    """A table of a SPEC that has only the keys that are declared."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any, info: ValidationInfo) -> Any:
        """Keep the keys that this table may have, for the suggestion to a misspelt one."""
        if isinstance(given, dict) and info.context is not None:
            info.context[id(given)] = tuple(cls.model_fields)
        return given


# -- data ----------------------------------------------------------------------------------------


class Columns(Table):
    """The roles of the columns of a table."""

    name: Name | None = None
    target: Name | None = None
    weights: Name | None = None
    features: list[Name] = []
    drop: list[Name] = []


#: The roles of columns that tasks for trees and rule lists can use: all that `load` takes.
Roles = create_model(  # type: ignore[call-overload]
    "Roles",
    __base__=Columns,
    **{
        name: (list[Name], []) if default == () else (Name | None, None)
        for name, default in roles.Columns.roles().items()
        if name not in Columns.model_fields
    },
)


#: How a table is read: a key for every option of `Reading`, which checks the values.
AsRead = create_model(  # type: ignore[call-overload]
    "AsRead",
    __base__=Table,
    **{
        name: (list[Name] if isinstance(default, tuple) else kind | None, None)
        for name, (default, _) in Reading.options().items()
        for kind in [get_type_hints(Reading)[name]]
    },
)


class Split(Table):
    """Rows that are left out for scores."""

    test_size: Many[Share] = []
    split_seed: Many[Count] = [0]


class Grouped(Roles):  # type: ignore[misc, valid-type]
    """A table larger than memory; see `milp_trees.load_grouped`."""

    grouped: Name
    query: Name | None = None
    max_distinct: Positive | None = None
    memory_mb: Positive | None = None


class Policy(Table):
    """A file of policy data; see `milp_trees.load_policy`."""

    policy: Name
    name: Name | None = None
    propensity: Name | None = None
    model: Many[Name] = []


class File(Roles, Split, AsRead):  # type: ignore[misc, valid-type]
    file: Name
    label: Name | None = None


class BuiltIn(Roles, Split):  # type: ignore[misc, valid-type]
    builtin: Name


class NumericFile(Columns, AsRead):  # type: ignore[misc, valid-type]
    test_size: Many[Share] = []
    file: Name


class NumericBuiltIn(Columns):
    test_size: Many[Share] = []
    builtin: Name


class Generator(BaseModel):
    """A generator; its parameters are checked against its signature."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, Plain]

    generator: Name
    name: Name | None = None


class GeneratedRows(Generator):
    test_size: Many[Share] = []
    split_seed: Many[Count] = [0]


#: Keys that say what kind of data a table describes.
SOURCES = ("file", "generator", "builtin", "policy", "grouped")


def _source(given: Any) -> str:
    """Which of the tables a value is meant as."""
    if isinstance(given, str):
        return "text"
    keys = given if isinstance(given, dict) else {}
    return next((key for key in SOURCES if key in keys), "file")


Rows = Annotated[
    Annotated[Name, Tag("text")]
    | Annotated[File, Tag("file")]
    | Annotated[BuiltIn, Tag("builtin")]
    | Annotated[GeneratedRows, Tag("generator")]
    | Annotated[Policy, Tag("policy")]
    | Annotated[Grouped, Tag("grouped")],
    Discriminator(_source),
]
Numbers = Annotated[
    Annotated[Name, Tag("text")]
    | Annotated[NumericFile, Tag("file")]
    | Annotated[NumericBuiltIn, Tag("builtin")],
    Discriminator(_source),
]


class Alternative(Table):
    """One of several values of a dimension; `alias` is what names of problems call it."""

    alias: Name | None = None


class BinarizerTable(Alternative):
    kind: Literal["auto", "midpoints", "quantiles", "buckets", "tree-guess"]
    n_bins: Many[int] = []
    max_midpoints: Many[int] = []
    n_estimators: Many[int] = []
    max_depth: Many[int] = []
    back_select: Many[bool] = []
    max_categories: Many[int] = []
    category_sets: Many[int] = []
    random_state: Many[Seed] = []


# -- what every table of problems and methods may state ------------------------------------------


class Settings(Table):
    """Settings of runs; a table of methods goes before problems, and these before defaults."""

    time_limit: Annotated[float, Field(gt=0, le=LONGEST)] | None = None
    memory_limit: Positive | None = None
    node_limit: Positive | None = None
    max_nonzeros: Positive | None = None
    threads: Annotated[int, Field(ge=1, le=MOST_THREADS)] | None = None
    seeds: Many[Seed] | None = None
    starts: Many[Name] | None = None
    permutations: Many[Seed] | None = None


class Defaults(Settings):
    reference: Name = "auto"


class TreeSpace(Alternative):
    max_depth: Many[Count | Literal["none"]] = [2]
    max_leaf_nodes: Many[Positive] = []
    min_samples_leaf: Many[Positive] = []
    min_weight_leaf: Many[Exact] = []
    min_samples_treatment: Many[Count] = []
    split_on_group: Many[bool] = []


class TaskTable(BaseModel):
    """A task by its name; its parameters are checked against its class."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, JsonValue]

    name: Name
    alias: Name | None = None


class Problems(Settings):
    """Problems of a kind, the field `kind`: the tables of families inherit from this one."""

    #: Fields that are multiplied with one another, in the order of names.
    dimensions: ClassVar[tuple[str, ...]] = ("data", "binarize", "task", "space")

    name: Name
    group: Annotated[str, AfterValidator(printable)] = ""
    methods: Labels | None = None
    reference: Name | None = None


class OfTable(Problems):
    """Problems about rows with binary features."""

    data: Many[Rows]
    binarize: Many[Name | BinarizerTable] = ["auto"]
    task: Many[Name | TaskTable] = [Accuracy.name]
