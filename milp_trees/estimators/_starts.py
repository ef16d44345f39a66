"""What `start=` accepts: a predictor, a fitted estimator, or a fitted tree of scikit-learn.

A tree whose splits are not among the candidate features is moved onto them: every split becomes the
candidate on the same column that divides the training rows of its node in the same way, or, if none
does, the one that moves the fewest rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.estimators._importance import OF_SUMS, leaf_totals
from milp_trees.estimators._warning import warn_user
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature
    from milp_trees.problems.problem import Problem


@dataclass(frozen=True)
class Ask:
    """A split of a tree from elsewhere.

    Parameters
    ----------
    column : str
        The column that it asks.
    answers : callable
        Gives for values of the column whether the row goes to `yes`.
    near : float or None
        Its threshold, if it has one.
    yes, no : Ask or Leaf
        The two sides.
    """

    column: str
    answers: Callable[[np.ndarray], np.ndarray]
    near: float | None
    yes: Ask | Leaf
    no: Ask | Leaf


def given_start(start: Any, fitted_as: str, columns: Sequence[str], several: bool = False) -> Any:
    """The parameter `start` as a predictor, a method's name, None, or what `of_sklearn` gives."""
    inner = getattr(start, "tree_", None)
    if hasattr(inner, "children_left"):
        return of_sklearn(start, columns, several)
    if type(start).__module__.startswith("sklearn.tree"):
        raise DataError(
            f"start is a {type(start).__name__} that is not fitted; fit it on the same columns first."
        )
    return getattr(start, fitted_as, start)


def of_sklearn(
    start: Any, columns: Sequence[str], several: bool = False
) -> tuple[Ask | Leaf, tuple[Any, ...]]:
    """The root of a fitted tree of scikit-learn, and the labels of its leaves' numbers.

    With `several` its outputs are of no interest, and there are no labels.
    """
    tree = start.tree_
    names = [str(c) for c in getattr(start, "feature_names_in_", ())] or list(columns)
    unknown = [name for name in names if name not in columns]
    if unknown or tree.n_features != len(names):
        what = f"asks the column {unknown[0]!r}" if unknown else f"has {tree.n_features} columns"
        raise _for_other_columns(what, columns)
    if tree.n_outputs > 1 and not several:
        raise DataError("The start predicts several outputs; fit a tree with one.")
    labels = None if several else getattr(start, "classes_", None)

    def read(node: int) -> Ask | Leaf:
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            return Leaf(0 if labels is None else int(tree.value[node, 0].argmax()))
        threshold, gaps_left = float(tree.threshold[node]), bool(tree.missing_go_to_left[node])

        def goes_left(values: np.ndarray) -> np.ndarray:
            # scikit-learn rounds values to single precision, and not the threshold.
            rounded = np.asarray(values, dtype=np.float32).astype(float)
            return np.asarray((rounded <= threshold) | (np.isnan(rounded) & gaps_left))

        column = names[int(tree.feature[node])]
        return Ask(column, goes_left, threshold, read(left), read(right))

    return read(0), () if labels is None else tuple(np.asarray(labels).tolist())


def _for_other_columns(what: str, columns: Sequence[str]) -> DataError:
    """The error of a start that was fitted on other columns."""
    return DataError(
        f"The start {what}, and X has the columns {', '.join(columns[:12])}; fit the start on X."
    )


def _of_tree(node: Node) -> Ask | Leaf:
    """The root of a tree of this package."""
    if isinstance(node, Leaf):
        return node
    near = node.test.place if node.test.kind == "<=" else None
    return Ask(
        node.test.column, node.test.evaluate, near, _of_tree(node.right), _of_tree(node.left)
    )


class Placing:
    """Moves a tree onto candidate features.

    Parameters
    ----------
    features : sequence of BinaryFeature
        The candidates.
    table : mapping of column name to array of shape (n,), or DataFrame
        The training rows.
    space : Trees
        Its limits on depth and on rows in leaves are kept.
    """

    def __init__(self, features: Sequence[BinaryFeature], table: Any, space: Trees) -> None:
        self.table, self.space = table, space
        self.of: dict[str, list[BinaryFeature]] = {}
        for test in features:
            self.of.setdefault(test.column, []).append(test)
        #: Splits that moved rows, the rows that they moved, and splits that were left out.
        self.moved = self.rows = self.dropped = 0

    def place(self, ask: Ask | Leaf, here: np.ndarray, depth: int = 0) -> Node:
        """The tree below a split, on the rows that reach it."""
        if isinstance(ask, Leaf):
            return ask
        most = self.space.max_depth
        found = None if most is not None and depth >= most else self._nearest(ask, here)
        if found is None:
            self.dropped += 1
            yes = ask.answers(self._values(ask.column)[here]).astype(bool)
            return self.place(ask.yes if yes.sum() * 2 > len(here) else ask.no, here, depth)
        test, flipped, true, wrong = found
        if wrong:
            self.moved, self.rows = self.moved + 1, self.rows + wrong
        on_true, on_false = (ask.no, ask.yes) if flipped else (ask.yes, ask.no)
        left = self.place(on_false, here[~true], depth + 1)
        return Branch(test, left, self.place(on_true, here[true], depth + 1))

    def _values(self, column: str) -> np.ndarray:
        return np.asarray(self.table[column])

    def _nearest(
        self, ask: Ask, here: np.ndarray
    ) -> tuple[BinaryFeature, bool, np.ndarray, int] | None:
        """The candidate that divides the rows most like a split; None if none leaves enough rows.

        With it come whether its answers are the opposite, its answers, and how many rows differ.
        """
        values = self._values(ask.column)[here]
        wanted, best, least = ask.answers(values).astype(bool), None, self.space.min_samples_leaf
        key: tuple[float, float] = (np.inf, np.inf)
        for test in self.of.get(ask.column, ()):
            true = test.evaluate(values)
            if min(true.sum(), (~true).sum()) < max(1, least):
                continue
            far = 0.0
            if test.kind == "<=" and ask.near is not None:
                far = abs(test.place - ask.near)
            for flipped in (False, True):
                wrong = int((true != (wanted ^ flipped)).sum())
                if (wrong, far) < key:
                    key, best = (wrong, far), (test, flipped, true, wrong)
        return best

    def said(self) -> str:
        """The sentence about what differs from the given tree; empty if nothing does."""
        parts = []
        if self.moved:
            parts.append(
                f"{self.moved} of its thresholds are not among the candidates, and the nearest ones"
                f" send {self.rows} training rows another way (binarizer='midpoints' has all thresholds)"
            )
        if self.dropped:
            parts.append(
                f"{self.dropped} of its splits are left out, because the candidates or the limits on"
                " depth and rows in a leaf do not allow them"
            )
        return f"The start was changed: {'; '.join(parts)}." if parts else ""


def placed_start(start: Any, problem: Problem, table: Any) -> Any:
    """The start for a problem: a tree is moved onto its features, other starts stay as they are.

    The leaves get the actions of least cost on their training rows, if the task has costs or its
    leaves predict numbers; otherwise they keep their labels.

    Parameters
    ----------
    start : object
        What `given_start` returned.
    problem : Problem
    table : mapping of column name to array of shape (n,), or DataFrame
        The rows of the problem.

    Returns
    -------
    Tree, RuleList, str or None

    Raises
    ------
    DataError
        The start asks a column that the table does not have; or its leaves have other labels than the problem, and their rows do not tell which
        action is best.
    """
    data = problem.dataset
    known = isinstance(start, Tree) and set(start.splits) <= set(data.index)
    if known and problem.task.predicts_numbers:  # the predictions are those of these rows
        return problem.first_view(OF_SUMS).decided(start)
    if isinstance(start, Tree) and not known:
        columns = [str(c) for c in table]
        for test in start.splits:
            if test.column not in columns:
                raise _for_other_columns(f"asks the column {test.column!r}", columns)
        start = _of_tree(start.root), start.actions
    if not isinstance(start, tuple):
        return start
    ask, labels = start
    actions = problem.task.actions(data)
    if not isinstance(problem.space, Trees):
        return Tree(Leaf(0), actions)  # the run says that it is no rule list
    features, _, _ = problem.space.tests(data)
    by_name: Mapping[str, Any] = {str(c): table[c] for c in table}
    placing = Placing(features, by_name, problem.space)
    tree = Tree(placing.place(ask, np.arange(data.n_rows)), actions)
    if any(map(problem.task.offers, OF_SUMS)):
        tree = _cheapest(tree, problem)
    else:
        place = {str(a): k for k, a in enumerate(actions)}
        if not labels or {str(a) for a in labels} - set(place):
            raise DataError(
                f"The labels of the start are not the classes {', '.join(place)}, and the task {problem.task.name} does not tell which is best in a leaf; start with a classifier of the same classes."
            )
        tree = Tree(_relabelled(tree.root, [place[str(a)] for a in labels]), actions)
    tree = tree.prune_empty(data)
    if message := placing.said():
        warn_user(message, UserWarning)
    return tree


def _relabelled(node: Node, numbers: list[int]) -> Node:
    """The tree whose leaves have the problem's numbers of actions instead of the start's."""
    if isinstance(node, Leaf):
        return Leaf(numbers[node.action])
    return Branch(node.test, _relabelled(node.left, numbers), _relabelled(node.right, numbers))


def _cheapest(tree: Tree, problem: Problem) -> Tree:
    """The tree with the cheapest actions, and with sides merged while it has too many leaves."""
    view = problem.first_view(OF_SUMS)
    leaves = iter(leaf_totals(tree, view, problem.dataset))

    def read(node: Node) -> Any:
        if isinstance(node, Leaf):
            return next(leaves)
        left = read(node.left)
        return [node.test, left, read(node.right)]

    root = read(tree.root)
    most = getattr(problem.space, "max_leaf_nodes", None)
    for _ in range(max(0, tree.n_leaves - most) if most else 0):
        root = _merged(root, view.leaf_values)
    kept: list[np.ndarray] = []

    def write(part: Any) -> Node:
        if isinstance(part, np.ndarray):
            kept.append(part)
            return Leaf(len(kept) - 1)
        left = write(part[1])
        return Branch(part[0], left, write(part[2]))

    shape = write(root)
    best, actions = view.leaf_actions(np.array(kept))
    return Tree(_relabelled(shape, best), actions)


def _merged(root: Any, cost: Callable[[np.ndarray], np.ndarray]) -> Any:
    """The tree in which the two sibling leaves are one whose merging costs least."""
    best: tuple[int, Any, int] | None = None

    def look(part: Any, parent: Any, side: int) -> None:
        nonlocal best
        if isinstance(part, np.ndarray):
            return
        if isinstance(part[1], np.ndarray) and isinstance(part[2], np.ndarray):
            whole, one, other = cost(np.stack([part[1] + part[2], part[1], part[2]])).tolist()
            loss = whole - one - other
            if best is None or loss < best[0]:
                best = loss, parent, side
        look(part[1], part, 1)
        look(part[2], part, 2)

    holder = [None, root]
    look(root, holder, 1)
    assert best is not None
    _, parent, side = best
    parent[side] = parent[side][1] + parent[side][2]
    return holder[1]
