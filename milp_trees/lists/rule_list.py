"""`RuleList`: a frozen, solver-free list of rules "if …, else if …, else …" that choose actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.antecedent import Antecedent
from milp_trees.data.dataset import BinaryFeature
from milp_trees.lists.routes import ListRoutes
from milp_trees.models.array_rows import rows_of
from milp_trees.models.shown import Shown
from milp_trees.models.tree import Rows, _plain

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.dataset import Dataset
    from milp_trees.models.tree import Tree


@dataclass(frozen=True)
class Rule:
    """A rule of a list: rows that it captures get its action.

    Parameters
    ----------
    antecedent : Antecedent, Literal or BinaryFeature
        It captures the rows on which this holds and that no earlier rule captures.
    action : int
        Number of the action.
    """

    antecedent: Antecedent
    action: int

    def __post_init__(self) -> None:
        if not isinstance(self.antecedent, Antecedent):
            object.__setattr__(self, "antecedent", Antecedent((self.antecedent,)))


@dataclass(frozen=True)
class RuleList(Shown):
    """A list of rules with a default rule for the rows that no rule captures.

    Parameters
    ----------
    rules : sequence of Rule
        In the order in which they are asked.
    default : int
        Number of the action of the default rule.
    actions : tuple
        Original names of the actions: `actions[rule.action]` is predicted.

    Examples
    --------
    >>> import milp_trees as mt
    >>> old, ill = mt.BinaryFeature("old"), mt.BinaryFeature("ill")
    >>> rules = (mt.Rule(ill, 1), mt.Rule(old, 0))
    >>> print(RuleList(rules, 1, ("stay", "see a doctor")))
    if ill: see a doctor
    else if old: stay
    else: see a doctor
    """

    #: What it is called in sentences.
    noun: ClassVar[str] = "rule list"

    rules: tuple[Rule, ...]
    default: int
    actions: tuple[Any, ...]

    def __post_init__(self) -> None:
        for name in ("rules", "actions"):
            if isinstance(getattr(self, name), str) or not isinstance(
                getattr(self, name), Iterable
            ):
                raise DataError(
                    f"A rule list needs a sequence of {name}, such as RuleList([Rule(feature, 1)], 0, ('no', 'yes')); got {getattr(self, name)!r}."
                )
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for rule in self.rules:
            if not isinstance(rule, Rule):
                raise DataError(
                    f"A rule of a rule list is a Rule(antecedent, action); got {rule!r}."
                )
        for action in self.leaf_actions:
            whole = isinstance(action, (int, np.integer)) and not isinstance(action, bool)
            if not (whole and 0 <= action < len(self.actions)):
                raise DataError(
                    f"A rule has the action {action!r}; with {len(self.actions)} actions it must be a number from 0 to {len(self.actions) - 1}."
                )

    # -- shape -------------------------------------------------------------------------------------

    @property
    def length(self) -> int:
        """Number of rules without the default rule."""
        return len(self.rules)

    @property
    def n_leaves(self) -> int:
        """Number of rules with the default rule."""
        return len(self.rules) + 1

    @property
    def depth(self) -> int:
        """Largest number of antecedents that are asked for a row: the length."""
        return len(self.rules)

    @cached_property
    def splits(self) -> tuple[Antecedent, ...]:
        """The antecedents in their order."""
        return tuple(rule.antecedent for rule in self.rules)

    @property
    def leaf_actions(self) -> tuple[int, ...]:
        """Action of every rule, the default rule last."""
        return (*(rule.action for rule in self.rules), self.default)

    @property
    def features(self) -> tuple[BinaryFeature, ...]:
        """The binary features that the antecedents ask for, each once."""
        return tuple(dict.fromkeys(t for a in self.splits for t in a.features))

    @property
    def sides(self) -> list[tuple[int, int, int]]:
        return [(k, k + 1, self.n_leaves) for k in range(self.length)]

    @property
    def node_paths(self) -> list[list[int]]:
        """For every rule the rules that are asked up to it."""
        return [list(range(k + 1)) for k in range(self.n_leaves)]

    # -- prediction --------------------------------------------------------------------------------

    def routes(self, rows: Rows) -> ListRoutes:
        """Rule and action of every row of a Dataset, a view of one, or what `predict` takes."""
        rows = rows_of(self, rows)
        n = int(rows.n_rows) if hasattr(rows, "n_rows") else len(rows.X)
        leaf = np.full(n, self.length, dtype=np.int64)
        free = np.ones(n, dtype=bool)
        for k, antecedent in enumerate(self.splits):
            held = self._held(antecedent, rows)
            leaf[free & held] = k
            free &= ~held
        ends = [*range(1, self.length + 1), self.length]
        return ListRoutes(
            leaf,
            np.array(self.leaf_actions, dtype=np.int64)[leaf],
            tuple(self.splits[:k] for k in ends),  # type: ignore[misc]
            self.leaf_actions,
            self.splits,  # type: ignore[arg-type]
            self.actions,
        )

    def _held(self, antecedent: Antecedent, rows: Rows) -> np.ndarray:
        """Whether an antecedent holds on every row; bool array of shape (n,)."""
        index: Mapping[Any, int] = rows.index
        strange = [t for t in antecedent.features if t not in index]
        if strange and antecedent not in index:
            raise DataError(
                f"The rule list asks for {strange[0].name!r}, which the data do not have; use the data (or binarizer) it was fitted on."
            )
        return antecedent.evaluate(rows) == 1

    # -- changes -----------------------------------------------------------------------------------

    def map_tests(self, to: Callable[[Any], tuple[Any, bool] | bool]) -> RuleList:
        """Replace antecedents.

        `to` gives the new antecedent and whether it is the complement of the old one, which only
        the last rule can express. For a constant one it gives the constant answer: a rule that
        never holds is removed, and one that always holds becomes the default rule.
        """
        rules: list[Rule] = []
        for rule in self.rules:
            new = to(rule.antecedent)
            if isinstance(new, bool):
                if new:
                    return RuleList(tuple(rules), rule.action, self.actions)
                continue
            antecedent, flipped = new
            if not flipped:
                rules.append(Rule(antecedent, rule.action))
                continue
            if rule is not self.rules[-1]:
                raise DataError(
                    f"The rule {rule.antecedent.name!r} is not the last one, so it cannot ask for the complement of its antecedent."
                )
            rules.append(Rule(antecedent, self.default))
            return RuleList(tuple(rules), rule.action, self.actions)
        return RuleList(tuple(rules), self.default, self.actions)

    def prune_empty(self, rows: Rows) -> RuleList:
        """The list without rules that capture no row; each row keeps its action.

        A rule that captures all rows that are left becomes the default rule.
        """
        n = int(rows.n_rows) if hasattr(rows, "n_rows") else len(rows.X)
        free = np.ones(n, dtype=bool)
        rules: list[Rule] = []
        for rule in self.rules:
            held = self._held(rule.antecedent, rows) & free
            if not held.any():
                continue
            free &= ~held
            if not free.any():
                return RuleList(tuple(rules), rule.action, self.actions)
            rules.append(rule)
        return RuleList(tuple(rules), self.default, self.actions)

    def cut(self, at: int, actions: tuple[int, ...]) -> RuleList:
        kept = self.rules[:at]
        if len(actions) == 2:
            kept = (*kept, replace(self.rules[at], action=actions[0]))
        return RuleList(kept, actions[-1], self.actions)

    def with_actions(self, to: Sequence[int], actions: tuple[Any, ...]) -> RuleList:
        rules = tuple(Rule(rule.antecedent, to[rule.action]) for rule in self.rules)
        return RuleList(rules, to[self.default], actions)

    # -- exchange ----------------------------------------------------------------------------------

    def numbered(self, index: Mapping[Any, int]) -> Any:
        rules = [[index[rule.antecedent], rule.action] for rule in self.rules]
        return {"rules": rules, "default": self.default}

    def to_json(self) -> dict[str, Any]:
        """A plain dict; `RuleList.from_json` reads it back."""
        return {
            "kind": "rule-list",
            "actions": [_plain(a) for a in self.actions],
            "rules": [
                {
                    "antecedent": rule.antecedent.to_json(),
                    "name": rule.antecedent.name,
                    **self._chosen(rule.action),
                }
                for rule in self.rules
            ],
            "default": self._chosen(self.default),
        }

    def _chosen(self, action: int) -> dict[str, Any]:
        return {"action": action, "label": _plain(self.actions[action])}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RuleList:
        """The list that `to_json` described.

        Raises
        ------
        KeyError, TypeError, ValueError, DataError
            The dict is no such description, or a rule has an action without a name.
        """
        if not isinstance(data["actions"], (list, tuple)) or not isinstance(
            data["rules"], (list, tuple)
        ):
            raise ValueError("its rules or its actions are no list")
        rules = tuple(
            Rule(Antecedent.from_json(one["antecedent"]), _action(one)) for one in data["rules"]
        )
        return cls(rules, _action(data["default"]), tuple(data["actions"]))

    @classmethod
    def from_text(
        cls,
        text: str,
        dataset: Dataset,
        actions: Sequence[Any] | None = None,
        antecedents: Sequence[Antecedent] = (),
    ) -> RuleList:
        """The list of a text: lines `if …: ACTION`, `else if …: ACTION` and `else: ACTION`.

        A condition is the name of a binary feature or of its opposite, or several that are joined
        by `and`. The word `then` may stand for the colon.

        Parameters
        ----------
        text : str
        dataset : Dataset
            Its binary features may be asked for.
        actions : sequence, optional
            Names of the actions, in the order of the task; the dataset's classes by default.
        antecedents : sequence of Antecedent, optional
            Where a condition has the name of one of these, it is this one.

        Returns
        -------
        RuleList

        Raises
        ------
        DataError
            The text is no rule list, or has an unknown name; names like it are proposed.
        """
        from milp_trees.lists.read_text import read_rules

        rules, default, names = read_rules(text, dataset, actions, antecedents)
        return cls(tuple(Rule(*rule) for rule in rules), default, names)

    # -- pictures ----------------------------------------------------------------------------------

    def _text(self, counts: Any) -> str:
        from milp_trees.lists.drawing import list_text

        return list_text(self, counts)

    def _svg(self, counts: Any) -> str:
        from milp_trees.lists.drawing import list_svg

        return list_svg(self, counts)

    def _plot(self, counts: Any, ax: Any) -> Any:
        from milp_trees.lists.drawing import plot_list

        return plot_list(self, counts, ax)

    def to_html(self, dataset: Any = None) -> str:
        """The list as an HTML table without scripts.

        Parameters
        ----------
        dataset : Dataset, optional
            Rows to count: how many each rule captures, and how many of them have its class, if
            there is a target. By default the training rows, if they are known.

        Returns
        -------
        str
        """
        from milp_trees.lists.drawing import list_html

        return list_html(self, self._counts_of(dataset))

    def to_frame(self, dataset: Any = None) -> pd.DataFrame:
        """The list as a table, a row per rule.

        Parameters
        ----------
        dataset : Dataset, optional
            Rows to count; by default the training rows, if they are known.

        Returns
        -------
        DataFrame
            `place` (from 1), `word` ("if", "else if", "else"), `condition` and `action`. With
            rows also `rows`, the number of rows that the rule captures; and, if the actions are
            its classes, `correct`, the number of those of the rule's class, and `share`, that
            number divided by `rows`.
        """
        import pandas as pd

        from milp_trees.lists.drawing import list_rows

        return pd.DataFrame(list_rows(self, self._counts_of(dataset)))

    def to_tree(self) -> Tree:
        """The tree of binary features that predicts what the list predicts, on every row.

        Conjunctions become nested tests, so the tree may be much larger than the list. Tools for
        trees take it, for example `milp_trees.models.export.to_sklearn`.

        Returns
        -------
        Tree

        Raises
        ------
        DataError
            The tree has more than 2^14 leaves.
        """
        from milp_trees.lists.as_tree import tree_of

        return tree_of(self)

    def _repr_html_(self) -> str:
        return self.to_html()


def _action(stored: Mapping[str, Any]) -> int:
    action = stored["action"]
    if type(action) is not int:
        raise ValueError(f"a rule has the action {action!r}")
    return action


#: Kind, class, writer and reader, for stored parameters of estimators.
JSON_VALUE = ("rule list", RuleList, RuleList.to_json, RuleList.from_json)
