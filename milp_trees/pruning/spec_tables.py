"""Prunings in a SPEC file: the tables of their problems."""

from __future__ import annotations

from typing import ClassVar, Literal

from milp_trees.studies.planning.tables import (
    Alternative,
    Count,
    Exact,
    Many,
    Name,
    Numbers,
    Positive,
    Problems,
    Share,
    Table,
)


class Grow(Alternative):
    """How an ensemble is grown; see `milp_trees.pruning.from_table.Growing`."""

    model: Many[Name] = []
    trees: Many[Positive] = []
    max_depth: Many[Positive] = []
    seed: Many[Count] = []
    errors: Many[Name] = []
    held_out: Many[Share] = []
    regression: Many[bool] = []


class PriceGroup(Table):
    name: Name
    members: list[Name]
    cost: Exact
    once: bool = False


class Pricing(Alternative):
    """The task of a pruning problem."""

    lam: Many[Exact] = [0]
    max_cost: Many[Exact] = []
    feature_costs: Exact | dict[str, Exact] = 1
    groups: list[PriceGroup] = []
    node: Many[Exact] = []
    leaf: Many[Exact] = []
    denominator: Positive | None = None


class PrunedProblems(Problems):
    dimensions: ClassVar[tuple[str, ...]] = ("data", "task", "grow")

    kind: Literal["pruned"]
    data: Many[Numbers]
    grow: Many[Grow] = [Grow()]
    task: Many[Pricing] = [Pricing()]
