"""`Tree`: a frozen, solver-free decision tree over named tests; its leaves choose actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, ClassVar, Protocol

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.dataset import BinaryFeature
from milp_trees.models.array_rows import rows_of
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.predicted import Predicts
from milp_trees.models.shown import Shown


class Rows(Protocol):
    """An object with values of binary features: a Dataset or a view of one."""

    @property
    def X(self) -> np.ndarray: ...
    @property
    def index(self) -> Mapping[BinaryFeature, int]: ...


@dataclass(frozen=True, eq=False)
class Routes:
    """The leaf of every row, from which tasks compute values.

    Parameters
    ----------
    leaf : int array of shape (n,)
        Leaf of each row, numbered from left to right.
    action : int array of shape (n,)
        Action of that leaf.
    paths : tuple of tuples of BinaryFeature
        Tests between the root and each leaf, from the root.
    leaf_actions : tuple of int
        Action of each leaf.
    splits : tuple of BinaryFeature
        Test of every branch node (one entry per node).
    actions : tuple
        Original names of the actions.
    """

    leaf: np.ndarray
    action: np.ndarray
    paths: tuple[tuple[BinaryFeature, ...], ...]
    leaf_actions: tuple[int, ...]
    splits: tuple[BinaryFeature, ...]
    actions: tuple[Any, ...] = ()

    #: Whether each leaf is a box of the columns, as those of trees are.
    boxes: ClassVar[bool] = True

    @property
    def n_leaves(self) -> int:
        return len(self.leaf_actions)

    def nodes(self) -> Iterator[tuple[int, int]]:
        """First and last leaf below every node, children before their parent."""

        def walk(first: int, depth: int) -> Iterator[tuple[int, int]]:
            last = first
            if len(self.paths[first]) > depth:
                for step in (0, 1):
                    for node in walk(last + step, depth + 1):
                        yield node
                        last = max(last, node[1])
            yield first, last

        return walk(0, 0)

    @cached_property
    def root(self) -> Node:
        """The nodes of the tree, which follow from the paths to its leaves."""

        def walk(first: int, depth: int) -> tuple[Node, int]:
            path = self.paths[first]
            if len(path) == depth:
                return Leaf(self.leaf_actions[first]), first + 1
            left, middle = walk(first, depth + 1)
            right, end = walk(middle, depth + 1)
            return Branch(path[depth], left, right), end

        return walk(0, 0)[0]


@dataclass(frozen=True)
class Tree(Shown):
    """A decision tree.

    Parameters
    ----------
    root : Leaf or Branch
        Root node.
    actions : tuple
        Original names of the actions: `actions[leaf.action]` is predicted.
    """

    #: What it is called in sentences.
    noun: ClassVar[str] = "tree"

    root: Node
    actions: tuple[Any, ...]

    # -- shape -------------------------------------------------------------------------------------

    def nodes(self) -> Iterator[Node]:
        """All nodes, parents first, left before right."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            if isinstance(node, Branch):
                stack += [node.right, node.left]

    @cached_property
    def splits(self) -> tuple[BinaryFeature, ...]:
        return tuple(n.test for n in self.nodes() if isinstance(n, Branch))

    @cached_property
    def features(self) -> tuple[BinaryFeature, ...]:
        """The binary features that are asked for, each once."""
        return tuple(dict.fromkeys(self.splits))

    @property
    def n_leaves(self) -> int:
        return len(self.splits) + 1

    @cached_property
    def depth(self) -> int:
        def height(node: Node) -> int:
            return 1 + max(height(node.left), height(node.right)) if isinstance(node, Branch) else 0

        return height(self.root)

    @property
    def sides(self) -> list[tuple[int, int, int]]:
        out: list[tuple[int, int, int]] = []

        def walk(node: Node, first: int) -> int:
            if isinstance(node, Leaf):
                return first + 1
            at = len(out)
            out.append((first, first, first))
            middle = walk(node.left, first)
            last = walk(node.right, middle)
            out[at] = first, middle, last
            return last

        walk(self.root, 0)
        return out

    @property
    def node_paths(self) -> list[list[int]]:
        out: list[list[int]] = []
        numbers = count()

        def walk(node: Node, path: list[int]) -> None:
            path = [*path, next(numbers)]
            if isinstance(node, Branch):
                walk(node.left, path)
                walk(node.right, path)
            else:
                out.append(path)

        walk(self.root, [])
        return out

    # -- prediction --------------------------------------------------------------------------------

    def routes(self, rows: Rows) -> Routes:
        """Leaf and action of every row of a Dataset, a view of one, or what `predict` takes."""
        rows = _with_tests(rows_of(self, rows), self.splits)
        outcome, index = _outcomes(rows), rows.index
        leaf = np.zeros(_length(rows), dtype=np.int64)
        paths: list[tuple[BinaryFeature, ...]] = []
        actions: list[int] = []

        def walk(node: Node, here: np.ndarray, path: tuple[BinaryFeature, ...]) -> None:
            if isinstance(node, Leaf):
                leaf[here] = len(paths)
                paths.append(path)
                actions.append(node.action)
                return
            if node.test not in index:
                raise DataError(
                    f"The tree tests {node.test.name!r}, which the data do not have; use the data (or binarizer) it was fitted on."
                )
            true = outcome(index[node.test], here) == 1
            walk(node.left, here[~true], (*path, node.test))
            walk(node.right, here[true], (*path, node.test))

        walk(self.root, np.arange(len(leaf)), ())
        return Routes(
            leaf,
            np.array(actions, dtype=np.int64)[leaf],
            tuple(paths),
            tuple(actions),
            self.splits,
            self.actions,
        )

    # -- changes -----------------------------------------------------------------------------------

    def _alike(self, changed: Tree) -> Tree:
        """A changed tree, which predicts what this one predicts: numbers, or actions."""
        if self.predicts is not None:
            changed.__dict__["_predicts"] = self.predicts
        return changed

    def map_tests(self, to: Callable[[BinaryFeature], tuple[BinaryFeature, bool] | bool]) -> Tree:
        """Replace tests.

        `to` gives the new test and whether it is the complement of the old one; for a constant test
        it gives the constant answer, and the node is removed.
        """

        def walk(node: Node) -> Node:
            if isinstance(node, Leaf):
                return node
            new = to(node.test)
            if isinstance(new, bool):
                return walk(node.right if new else node.left)
            test, flipped = new
            left, right = walk(node.left), walk(node.right)
            return Branch(test, right, left) if flipped else Branch(test, left, right)

        return self._alike(Tree(walk(self.root), self.actions))

    def prune_empty(self, rows: Rows) -> Tree:
        """The tree without branch nodes that send all rows one way; each row keeps its action."""
        outcome, index = _outcomes(rows), rows.index

        def walk(node: Node, here: np.ndarray) -> Node:
            if isinstance(node, Leaf):
                return node
            true = outcome(index[node.test], here) == 1
            if true.all():
                return walk(node.right, here)
            if not true.any():
                return walk(node.left, here)
            return Branch(node.test, walk(node.left, here[~true]), walk(node.right, here[true]))

        return self._alike(Tree(walk(self.root, np.arange(_length(rows))), self.actions))

    def cut(self, at: int, actions: tuple[int, ...]) -> Tree:
        numbers = count()

        def walk(node: Node) -> Node:
            if isinstance(node, Leaf):
                return node
            if next(numbers) == at:
                ends = [Leaf(a) for a in actions]
                return ends[0] if len(ends) == 1 else Branch(node.test, ends[0], ends[1])
            left = walk(node.left)
            return Branch(node.test, left, walk(node.right))

        return self._alike(Tree(walk(self.root), self.actions))

    def with_actions(self, to: Sequence[int], actions: tuple[Any, ...]) -> Tree:
        def walk(node: Node) -> Node:
            if isinstance(node, Leaf):
                return Leaf(to[node.action])
            return Branch(node.test, walk(node.left), walk(node.right))

        return self._alike(Tree(walk(self.root), actions))

    # -- exchange ----------------------------------------------------------------------------------

    def numbered(self, index: Mapping[Any, int]) -> Any:
        """The tree as nested lists: an action, or a test with both sides."""

        def walk(node: Node) -> Any:
            if isinstance(node, Leaf):
                return int(node.action)
            return [index[node.test], walk(node.left), walk(node.right)]

        return walk(self.root)

    def to_json(self) -> dict[str, Any]:
        """A plain nested dict; `Tree.from_json` reads it back."""

        def walk(node: Node) -> dict[str, Any]:
            if isinstance(node, Leaf):
                return {"action": node.action, "label": _plain(self.actions[node.action])}
            return {
                "test": node.test.to_json(),
                "name": node.test.name,
                "false": walk(node.left),
                "true": walk(node.right),
            }

        predicts = {} if self.predicts is None else {"predicts": self.predicts.to_json()}
        return {
            "kind": "tree",
            **predicts,
            "actions": [_plain(a) for a in self.actions],
            "root": walk(self.root),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Tree:
        """The tree that `to_json` described.

        Raises
        ------
        KeyError, TypeError, ValueError
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
            test = BinaryFeature.from_json(node["test"])
            return Branch(test, walk(node["false"]), walk(node["true"]))

        out = cls(walk(data["root"]), actions)
        if "predicts" in data:
            out.__dict__["_predicts"] = Predicts.from_json(data["predicts"])
        return out

    # -- pictures ----------------------------------------------------------------------------------

    def _text(self, counts: Any) -> str:
        from milp_trees.models.draw_text import tree_text

        return tree_text(self, counts)

    def _svg(self, counts: Any) -> str:
        from milp_trees.models.draw import tree_svg

        return tree_svg(self, counts)

    def _plot(self, counts: Any, ax: Any) -> Any:
        from milp_trees.models.plot import plot_tree

        return plot_tree(self, counts, ax)


def _with_tests(rows: Rows, tests: Iterable[BinaryFeature]) -> Rows:
    """The rows, with all thresholds of their columns if they lack tests and can have them."""
    make = getattr(rows, "all_thresholds", None)
    if make is None or all(test in rows.index for test in tests):
        return rows
    return rows.complete  # type: ignore[attr-defined, no-any-return]


def _outcomes(rows: Rows) -> Callable[[int, np.ndarray], np.ndarray]:
    """The function that gives the values of a feature (by index) on some rows.

    Objects that store their features in another form than a matrix have a method of their own.
    """
    own: Callable[[int, np.ndarray], np.ndarray] | None = getattr(rows, "outcome", None)
    return own if own is not None else lambda test, here: np.asarray(rows.X[here, test])


def _length(rows: Rows) -> int:
    """Number of rows."""
    return int(rows.n_rows) if hasattr(rows, "n_rows") else len(rows.X)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value
