"""`Program`: a tree or rule list in the one form from which all formats are written."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from milp_trees.common.errors import Unsupported
from milp_trees.data.antecedent import Antecedent, Literal
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.predicted import Predicts

#: What a column holds, by the kind of a question about it.
_HOLDS = {"<=": "number", "==": "text", "in": "text", "is": "yes-no"}


@dataclass(frozen=True)
class Column:
    """A column that a model asks for.

    Parameters
    ----------
    name : str
    holds : {"number", "text", "yes-no", "date", "anything"}
        `"yes-no"` is a column of 0 and 1; `"anything"`: the model only asks whether a value is
        missing.
    may_be_missing : bool
        Whether a missing value has an answer. Otherwise a row without a value has no prediction.
    order : tuple of str
        The texts of a column of ordered categories; a row with another one has no prediction.
    """

    name: str
    holds: str
    may_be_missing: bool
    order: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The column as it is described in JSON."""
        known = {"name": self.name, "holds": self.holds, "may_be_missing": self.may_be_missing}
        return {**known, "order": list(self.order)} if self.order else known


@dataclass(frozen=True)
class Program:
    """A binary tree whose tests are conjunctions; a rule list is a tree that grows on one side.

    Parameters
    ----------
    root : Branch or Leaf
        The test of each branch is an `Antecedent`; rows on which it holds go right ("yes").
    actions : tuple
        Plain labels of the actions: texts, numbers or booleans. Of a model that predicts numbers
        they are floats, or tuples of floats.
    noun : str
        "tree" or "rule list".
    predicts : Predicts or None
        What the predictions are, if they are numbers.
    """

    root: Any
    actions: tuple[Any, ...]
    noun: str
    predicts: Predicts | None = None

    @classmethod
    def of(cls, model: Any) -> Program:
        """The program of a tree or a rule list."""
        predicts = getattr(model, "predicts", None)
        plain = _plain if predicts is None else _number
        actions = tuple(plain(a) for a in model.actions)
        if hasattr(model, "rules"):
            root: Any = Leaf(model.default)
            for rule in reversed(model.rules):
                root = Branch(rule.antecedent, root, Leaf(rule.action))
        else:
            root = _with_antecedents(model.root)
        return cls(root, actions, model.noun, predicts)

    @cached_property
    def turned(self) -> Any:
        """The root of the same tree with the larger side of each test on the left.

        A test is negated for that. Branches that are met while the answer is no can be written one
        after the other, so only the smaller sides are nested: at most log2(leaves) deep.
        """
        return _turned(self.root)[0]

    @property
    def tests(self) -> Iterator[Antecedent]:
        """The test of every branch, parents first, left before right."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            if isinstance(node, Branch):
                yield node.test  # type: ignore[misc]
                stack += [node.right, node.left]

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are asked for, in the order in which they first occur."""
        requested: dict[str, list[Any]] = {}
        for test in self.tests:
            for feature in test.features:
                requested.setdefault(feature.column, []).append(feature)
        return tuple(_column(name, features) for name, features in requested.items())

    @cached_property
    def column(self) -> dict[str, Column]:
        """The columns by name."""
        return {c.name: c for c in self.columns}

    def categories(self, name: str) -> list[str]:
        """The texts that a column is compared with, each once."""
        features = [f for test in self.tests for f in test.features if f.column == name]
        return list(dict.fromkeys(t for f in features for t in compared(f)))

    @property
    def labels_are(self) -> type:
        """The one type of all labels: str, bool, int or float; str if they differ."""
        kinds = {type(a) for a in self.actions}
        if kinds == {int, float}:
            return float
        return kinds.pop() if len(kinds) == 1 and kinds <= {str, bool, int, float} else str

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the numbers of a prediction if there are several; empty otherwise."""
        several = self.predicts is not None and self.predicts.several
        return self.predicts.names if several and self.predicts is not None else ()

    def refuse(self, form: str, kinds: dict[str, str]) -> None:
        """Raise Unsupported if a column holds what a format cannot express."""
        for column in self.columns:
            if column.holds in kinds:
                raise Unsupported(
                    f"The format {form} cannot ask the column {column.name!r}: {kinds[column.holds]}."
                )


def chain(node: Node) -> tuple[list[Branch], Leaf]:
    """The branches that are met while every answer is no, and the leaf after them."""
    branches = []
    while isinstance(node, Branch):
        branches.append(node)
        node = node.left
    return branches, node


def compared(feature: Any) -> tuple[str, ...]:
    """The texts that a question compares a column with: a category, a set, the ordered ones."""
    if feature.kind == "in":
        return tuple(feature.value)
    return (str(feature.value),) if feature.kind == "==" else feature.order


def number(value: Any) -> str:
    """A finite number as the shortest text that gives the same double, with a point."""
    return repr(float(value))


def timestamp(text: str, between: str) -> str:
    """An ISO date text with its time of day, to the second at least."""
    day, _, time = text.replace(" ", "T").partition("T")
    return f"{day}{between}{time or '00:00'}{':00' * (time.count(':') < 2)}"


def encodable(texts: Any, form: str, forbidden: Any = ()) -> None:
    """Raise Unsupported if a text has characters that a format cannot hold."""
    for text in texts:
        for c in text:
            if c == "\0" or 0xD800 <= ord(c) <= 0xDFFF or (forbidden and forbidden(c)):
                raise Unsupported(
                    f"The format {form} cannot hold the character {c!a} in {text!r}; rename that column, category or class."
                )


def texts_of(program: Program) -> Iterator[str]:
    """All names of other people in a program: columns, categories and labels."""
    for test in program.tests:
        for feature in test.features:
            yield feature.column
            yield from compared(feature)
    yield from map(str, program.actions)


def fresh(wanted: str, taken: Any) -> str:
    """A name that is not taken: the wanted one, with underscores at its end if necessary."""
    while wanted in taken:
        wanted += "_"
    return wanted


def _with_antecedents(node: Node) -> Node:
    if isinstance(node, Leaf):
        return node
    test: Any = Antecedent((Literal(node.test),))
    return Branch(test, _with_antecedents(node.left), _with_antecedents(node.right))


def _turned(node: Node) -> tuple[Node, int]:
    """A node with the larger sides on the left, and its number of leaves."""
    if isinstance(node, Leaf):
        return node, 1
    test: Any = node.test
    (left, low), (right, high) = _turned(node.left), _turned(node.right)
    if high > low and len(test.literals) == 1:
        only = test.literals[0]
        test = Antecedent((Literal(only.feature, not only.value),))
        left, right = right, left
    return Branch(test, left, right), low + high


def _column(name: str, features: list[Any]) -> Column:
    holds = {_holds(f) for f in features if f.kind != "missing"} or {"anything"}
    if len(holds) > 1:
        raise Unsupported(
            f"The column {name!r} is asked as {' and as '.join(sorted(holds))}; other languages give a column one type, so rename one of both."
        )
    answers = all(f.kind == "missing" or f.missing is not None for f in features)
    orders = {f.order for f in features if f.order}
    if len(orders) > 1:
        raise Unsupported(
            f"The categories of the column {name!r} are asked in two orders; other languages give a column one type, so rename one of both."
        )
    return Column(str(name), holds.pop(), answers, *orders)


def _holds(feature: Any) -> str:
    return "date" if feature.dated else "text" if feature.order else _HOLDS[feature.kind]


def _number(prediction: Any) -> Any:
    """A prediction as a float, or as a tuple of floats."""
    if isinstance(prediction, (tuple, list)):
        return tuple(map(float, prediction))
    return float(prediction)


def _plain(label: Any) -> Any:
    """A label as a plain text, boolean or finite number."""
    label = label.item() if hasattr(label, "item") else label
    if type(label) in (bool, int) or (type(label) is float and math.isfinite(label)):
        return label
    return str(label)
