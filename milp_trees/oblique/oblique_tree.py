"""`ObliqueTree`: a frozen, solver-free tree whose tests are linear, in exact rationals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.plurals import counted
from milp_trees.data.checks import check_columns, some
from milp_trees.data.matrices import column_at, matrix
from milp_trees.data.names import as_pandas
from milp_trees.data.numeric import coded
from milp_trees.models.array_rows import AnsweredRows
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.shown import Shown
from milp_trees.models.tree import Routes, Tree, _plain
from milp_trees.oblique.linear_test import LinearTest


@dataclass(frozen=True, eq=False)
class ObliqueRoutes(Routes):
    """The leaf of every row of an oblique tree; its leaves are polyhedra, and no boxes."""

    boxes: ClassVar[bool] = False


@dataclass(frozen=True)
class ObliqueTree(Shown):
    """A decision tree whose tests compare weighted sums of numeric columns with bounds.

    Parameters
    ----------
    top : Leaf or Branch
        The root node; every test is a `LinearTest`.
    actions : tuple
        Original names of the actions: `actions[leaf.action]` is predicted.
    columns : sequence of str, optional
        Names of all numeric columns of the data, in the order of the columns of an array.

    Examples
    --------
    >>> import milp_trees as mt
    >>> from milp_trees.models.nodes import Branch, Leaf
    >>> test = mt.oblique.LinearTest(("length", "width"), (1, 2), 5)
    >>> tree = mt.oblique.ObliqueTree(Branch(test, Leaf(1), Leaf(0)), ("small", "large"))
    >>> print(tree)
    ├─ length + 2 width >= 5: large
    └─ length + 2 width < 5: small
    >>> tree.predict({"length": [1.0, 2.0], "width": [1.0, 1.5]}).tolist()
    ['small', 'large']
    """

    #: What it is called in sentences.
    noun: ClassVar[str] = "oblique tree"

    top: Node
    actions: tuple[Any, ...]
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", tuple(self.actions))
        object.__setattr__(self, "columns", tuple(self.columns))

    @cached_property
    def _shape(self) -> Tree:
        """The same nodes as a tree of questions, whatever these are."""
        return Tree(self.top, self.actions)

    def _of(self, tree: Tree) -> ObliqueTree:
        return ObliqueTree(tree.root, tree.actions, self.columns)

    # -- shape -------------------------------------------------------------------------------------

    def nodes(self) -> Iterator[Node]:
        """All nodes, parents first, left before right."""
        return self._shape.nodes()

    @property
    def splits(self) -> tuple[Any, ...]:
        return self._shape.splits

    @property
    def features(self) -> tuple[Any, ...]:
        """The linear tests, each once."""
        return self._shape.features

    @property
    def n_leaves(self) -> int:
        return self._shape.n_leaves

    @property
    def depth(self) -> int:
        """Largest number of tests on the way to a leaf."""
        return self._shape.depth

    @property
    def sides(self) -> list[tuple[int, int, int]]:
        return self._shape.sides

    @property
    def node_paths(self) -> list[list[int]]:
        return self._shape.node_paths

    # -- prediction --------------------------------------------------------------------------------

    def routes(self, rows: Any) -> ObliqueRoutes:
        """Leaf and action of every row of a Dataset, a view of one, or what `predict` takes."""
        found = self._shape.routes(self._answered(rows))
        return ObliqueRoutes(**{f.name: getattr(found, f.name) for f in fields(Routes)})

    def _answered(self, rows: Any) -> AnsweredRows:
        """The answers of all tests, exactly."""
        n, column = self._numbers(rows)
        X = np.zeros((n, len(self.features)), dtype=np.uint8)
        for j, test in enumerate(self.features):
            X[:, j] = test.answers(np.column_stack([column(c) for c in test.columns]))
        return AnsweredRows(X, {test: j for j, test in enumerate(self.features)})

    def _numbers(self, rows: Any) -> tuple[int, Callable[[str], np.ndarray]]:
        """The number of rows, and a function that gives a column by its name."""
        used = list(dict.fromkeys(c for test in self.features for c in test.columns))
        if hasattr(rows, "numeric") and hasattr(rows, "row_counts"):  # a Dataset
            names = list(rows.columns or ())
            lacking = [c for c in used if c not in names]
            if lacking:
                raise DataError(
                    f"The oblique tree asks for the numeric column {lacking[0]!r}, which the data do not have; use data with the columns it was fitted on."
                )
            return rows.n_rows, lambda c: rows.numeric[:, names.index(c)]
        if hasattr(rows, "numbers"):  # a view
            return rows.n_rows, rows.numbers
        if hasattr(rows, "alias"):  # another view of a problem about oblique trees
            known = next(iter((*rows.features, *rows.alias))).numeric
            return rows.n_rows, lambda c: known.values[rows.rows, known.index[c]]
        data = as_pandas(rows)
        if not isinstance(data, Mapping) and not hasattr(data, "columns"):
            return self._by_place(data, used)
        frame: Any = data
        if not hasattr(data, "columns"):
            import pandas as pd

            frame = pd.DataFrame({str(name): data[name] for name in data})
        frame = frame.rename(columns=str)
        part_of = {c: _whole(c, frame.columns) for c in used}
        check_columns(part_of.values(), frame.columns, self.noun)
        given = coded(frame, used, part_of) if used else np.zeros((len(frame), 0))
        return len(frame), lambda c: given[:, used.index(c)]

    def _by_place(self, data: Any, used: list[str]) -> tuple[int, Callable[[str], np.ndarray]]:
        array = matrix(data)
        n, names = array.shape[0], list(self.columns)
        if names and array.shape[1] != len(names):
            raise DataError(
                f"The array has {counted(array.shape[1], 'column')}, and the oblique tree was made for arrays with {len(names)}: {some(map(repr, names))}."
            )
        if not names and not all(c.isdecimal() and int(c) < array.shape[1] for c in used):
            raise DataError(
                f"The oblique tree tests the columns {some(map(repr, used))}, and it does not know their places in an array; give a DataFrame, or a mapping from names to columns."
            )
        place = {c: names.index(c) if names else int(c) for c in used}
        return n, lambda c: np.asarray(column_at(array, place[c]), dtype=float)

    # -- changes -----------------------------------------------------------------------------------

    def map_tests(self, to: Callable[[Any], tuple[Any, bool] | bool]) -> ObliqueTree:
        """The tree itself: a linear test has no other that stands for it."""
        return self

    def prune_empty(self, rows: Any) -> ObliqueTree:
        """The tree without branch nodes that send all rows one way; each row keeps its action."""
        return self._of(self._shape.prune_empty(self._answered(rows)))

    def cut(self, at: int, actions: tuple[int, ...]) -> ObliqueTree:
        return self._of(self._shape.cut(at, actions))

    def with_actions(self, to: Sequence[int], actions: tuple[Any, ...]) -> ObliqueTree:
        return self._of(self._shape.with_actions(to, actions))

    # -- exchange ----------------------------------------------------------------------------------

    def numbered(self, index: Mapping[Any, int]) -> Any:
        """The tree as nested lists: an action, or a test with both sides."""
        return self._shape.numbered(index)

    def to_json(self) -> dict[str, Any]:
        """A plain nested dict; `ObliqueTree.from_json` reads it back."""

        def walk(node: Node) -> dict[str, Any]:
            if isinstance(node, Leaf):
                return {"action": int(node.action), "label": _plain(self.actions[node.action])}
            return {
                "test": node.test.to_json(),
                "name": node.test.name,
                "false": walk(node.left),
                "true": walk(node.right),
            }

        return {
            "kind": "oblique-tree",
            "actions": [_plain(a) for a in self.actions],
            "columns": list(self.columns),
            "root": walk(self.top),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ObliqueTree:
        """The tree that `to_json` described.

        Raises
        ------
        KeyError, TypeError, ValueError, DataError
            The dict is no such description, or a leaf has an action without a name.
        """
        if not isinstance(data["actions"], (list, tuple)):
            raise ValueError("its actions are no list")
        actions = tuple(tuple(a) if isinstance(a, list) else a for a in data["actions"])

        def walk(node: Mapping[str, Any]) -> Node:
            if "action" in node:
                action = node["action"]
                if type(action) is not int or not 0 <= action < len(actions):
                    raise ValueError(
                        f"a leaf has the action {action!r}, and the tree names {len(actions)}"
                    )
                return Leaf(action)
            test: Any = LinearTest.from_json(node["test"])
            return Branch(test, walk(node["false"]), walk(node["true"]))

        return cls(walk(data["root"]), actions, tuple(data.get("columns", ())))

    # -- pictures ----------------------------------------------------------------------------------

    def _text(self, counts: Any) -> str:
        from milp_trees.models.draw_text import tree_text

        return tree_text(self._shape, counts)

    def _svg(self, counts: Any) -> str:
        from milp_trees.models.draw import tree_svg

        return tree_svg(self._shape, counts)

    def _plot(self, counts: Any, ax: Any) -> Any:
        from milp_trees.models.plot import plot_tree

        return plot_tree(self._shape, counts, ax)

    def plot_plane(self, dataset: Any, ax: Any = None) -> Any:
        """Draw rows and leaves in the plane of the two numeric columns that the tests ask for.

        Parameters
        ----------
        dataset : Dataset
            Its rows are drawn in the colours of their classes, if it has any.
        ax : matplotlib axes, optional
            By default those of a new figure.

        Returns
        -------
        matplotlib axes

        Raises
        ------
        DataError
            The tests ask for more than two columns, or the data have fewer than two.
        """
        from milp_trees.oblique.plane import plot_plane

        return plot_plane(self, dataset, ax)


def _whole(column: str, names: Any) -> str:
    """The column of a table that a numeric column comes from: `color` of `color == red`."""
    part = column.partition(" == ")[0]
    return part if column not in names and part in names else column
