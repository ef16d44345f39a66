"""Rule lists in a SPEC file: the tables of their problems."""

from __future__ import annotations

from typing import Literal

from milp_trees.studies.planning.tables import Alternative, Count, Exact, Many, OfTable, Positive


class ListSpace(Alternative):
    max_length: Many[Count | Literal["none"]] = []
    min_samples_rule: Many[Positive] = []
    split_on_group: Many[bool] = []
    max_literals: Many[Positive] = []
    negations: Many[bool] = []
    min_support: Many[Exact] = []
    max_support: Many[Exact] = []
    max_antecedents: Many[Positive] = []


class ListProblems(OfTable):
    kind: Literal["rule-lists"]
    space: Many[ListSpace] = [ListSpace()]
