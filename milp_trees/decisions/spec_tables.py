"""Decisions in a SPEC file: the tables of their problems."""

from __future__ import annotations

from typing import Literal

from milp_trees.studies.planning.tables import (
    Alternative,
    Exact,
    Generator,
    Many,
    Name,
    Problems,
    TreeSpace,
)


class Penalties(Alternative):
    """The task of a problem of decisions."""

    leaf_penalty: Many[Exact] = []
    split_penalty: Many[Exact] = []


class DecisionProblems(Problems):
    kind: Literal["decisions"]
    data: Many[Name | Generator]
    task: Many[Penalties] = [Penalties()]
    space: Many[TreeSpace] = [TreeSpace()]
