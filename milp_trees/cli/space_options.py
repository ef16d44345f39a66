"""The options that describe the space of a problem: trees, or rule lists."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from milp_trees.cli.help import LISTS, SPACE
from milp_trees.common.errors import DataError

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.space import Space


def option(text: str, panel: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, **more)


@dataclass(kw_only=True)
class TreeOptions:
    """Options that limit trees."""

    depth: Annotated[
        int | None,
        option(
            "Levels of splits. Default: 2; none for solve with a penalty and a method that needs no limit.",
            SPACE,
        ),
    ] = None
    min_samples_leaf: Annotated[int, option("Fewest rows in a leaf.", SPACE)] = 1
    leaves: Annotated[
        int | None, option("Most leaves (of size-path: the largest size).", SPACE, min=1)
    ] = None
    min_weight_leaf: Annotated[str, option("Smallest row weight in a leaf.", SPACE)] = "0"
    min_samples_treatment: Annotated[
        int, option("Fewest rows with each treatment in a leaf.", SPACE)
    ] = 0


@dataclass(kw_only=True)
class ListOptions:
    """Options that limit rule lists and state what may be an antecedent."""

    max_length: Annotated[
        int | None,
        option("Most rules, the default rule not counted. Default: none with a penalty.", LISTS),
    ] = None
    min_samples_rule: Annotated[int, option("Fewest rows that a rule captures.", LISTS)] = 1
    max_literals: Annotated[
        int, option("Most features in an antecedent, which are joined by and.", LISTS)
    ] = 1
    negations: Annotated[
        bool, option("Antecedents may ask whether a feature is not true.", LISTS, "--negations")
    ] = False
    min_support: Annotated[
        str, option("Smallest share of the rows on which an antecedent holds.", LISTS)
    ] = "0"
    max_support: Annotated[str, option("Largest such share.", LISTS)] = "1"
    max_antecedents: Annotated[
        int | None,
        option("Keep only so many antecedents, those that tell the classes apart best.", LISTS),
    ] = None


@dataclass(kw_only=True)
class SpaceOptions(ListOptions, TreeOptions):
    """The space of a problem as the options of a command describe it."""

    rule_lists: Annotated[
        bool, option("Rule lists instead of trees (as in rule-list).", LISTS, "--rule-lists")
    ] = False
    split_on_group: Annotated[
        bool, option("Allow splits and antecedents on the group column.", SPACE)
    ] = False

    def space(self) -> Space:
        """The space; an option of the other kind of models is refused.

        Raises
        ------
        DataError
            An option limits trees where lists are asked for, or the other way round, or has a value
            that is not allowed.
        """
        wrong = next(
            (
                "--" + f.name.replace("_", "-")
                for f in fields(TreeOptions if self.rule_lists else ListOptions)
                if getattr(self, f.name) != f.default
            ),
            None,
        )
        if wrong and self.rule_lists:
            raise DataError(
                f"{wrong} limits trees, and rule lists are asked for; leave it out, or limit lists by --max-length, --min-samples-rule or --length-penalty."
            )
        if wrong:
            raise DataError(
                f"{wrong} is about rule lists, and trees are asked for; add --rule-lists or leave it out."
            )
        return self._lists() if self.rule_lists else self._trees()

    def described(self, space: Any, dataset: Dataset) -> list[str]:
        """A line on the antecedents of rule lists; none for trees."""
        if not self.rule_lists:
            return []
        found = space.table(dataset).antecedents
        words = "one feature" if self.max_literals == 1 else f"up to {self.max_literals} features"
        negated = ", also negated" if self.negations else ""
        return [f"rules     {len(found)} antecedents of {words}{negated}"]

    def _trees(self) -> Space:
        from milp_trees.models.space import Trees

        return Trees(
            2 if self.depth is None else self.depth,
            self.leaves,
            self.min_samples_leaf,
            self.split_on_group,
            self.min_weight_leaf,
            self.min_samples_treatment,
        )

    def _lists(self) -> Space:
        from milp_trees.models.space import space_class

        found = space_class("rule-lists")
        assert found is not None
        given = {f.name: getattr(self, f.name) for f in fields(ListOptions)}
        return found.of_options(**given, split_on_group=self.split_on_group)
