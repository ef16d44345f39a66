"""Trees in other forms: a scikit-learn classifier, a networkx graph, DOT text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.models.array_rows import RawRows, columns_of
from milp_trees.models.draw import action_colour, branches_of
from milp_trees.models.node_values import NodeValues, values_of_nodes
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.predicted import leaf_words

if TYPE_CHECKING:
    import networkx

    from milp_trees.models.tree import Tree


#: The column of zeros of a tree that asks nothing, for rows without a number: scikit-learn takes no
#: table without columns.
NOTHING = "nothing is asked"


def to_sklearn(
    tree: Tree,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    exact: bool = False,
    columns: Sequence[str] = (),
    labels: Sequence[Any] | None = None,
) -> Any:
    """The tree as a fitted `DecisionTreeClassifier`, or `DecisionTreeRegressor`.

    It is meant for `plot_tree`, `export_text` and other tools that read `tree_`. Its features are
    the original columns, with their thresholds; a test of a category, of a date, or one that answers
    for missing values becomes a 0/1 feature with the test's name. `feature_names_in_` lists the features; a tree that
    asks nothing, on rows without a number, gets a column of zeros, `nothing is asked`. On the given rows it predicts what the
    tree predicts: scikit-learn rounds values to single precision before it compares them, so a
    threshold that would then divide the rows of a node differently is moved within its gap.

    Parameters
    ----------
    tree : Tree
        The tree.
    X : Dataset, table (DataFrame or mapping of columns), or array
        Rows that are counted in the nodes. If the tree has thresholds, a Dataset must come from a
        Binarizer: others hold no column values.
    y : array of shape (n,), optional
        Labels that are counted; by default those of the Dataset, or else the actions that the tree
        chooses.
    sample_weight : array of shape (n,), optional
        Weights of the rows; default 1 each.
    exact : bool, default=False
        Whether the thresholds stay as they are, for rows that a `TreeColumns` rounds.
    columns : sequence of str, optional
        Names of the features of the converted tree, if it asks numbers only; among them those that
        the tree asks. By default the columns of X that hold numbers.
    labels : sequence, optional
        The classes, if the actions of the tree are their probabilities; empty if they are predicted
        numbers. By default the actions are the classes.

    Returns
    -------
    DecisionTreeClassifier or DecisionTreeRegressor
        The value of a node is the mean of its targets, and in a leaf the prediction, where numbers
        are predicted. Otherwise it is the share of each class. In a leaf whose action is not its first most
        frequent class (costs, side constraints, ties) the value is 1 for the action, because
        scikit-learn predicts the largest share.

    Raises
    ------
    DataError
        A label is not an action, or no threshold divides the rows of a node in single precision as
        the tree does.

    Examples
    --------
    >>> from milp_trees import BinaryFeature, Tree
    >>> from milp_trees.models.nodes import Branch, Leaf
    >>> model = to_sklearn(Tree(Branch(BinaryFeature("age", "<=", 37.5), Leaf(1), Leaf(0)), ("low", "high")), {"age": [20, 50]})
    >>> from sklearn.tree import export_text
    >>> print(export_text(model, feature_names=list(model.feature_names_in_)), end="")
    |--- age <= 37.50
    |   |--- class: low
    |--- age >  37.50
    |   |--- class: high
    """
    from sklearn.tree._tree import Tree as SklearnTree

    X = X if isinstance(X, Dataset) else columns_of(tree, X)
    given = list(columns) if all(asks_number(t) for t in tree.splits) else []
    names = given or _features(tree, X)
    rows = X if isinstance(X, Dataset) else RawRows(tree.splits, X)
    held = values_of_nodes(tree, rows, X, y, sample_weight, labels)
    nodes, values = _arrays(tree, names, rows, held, exact)
    outputs, classes = values.shape[1:]
    inner = SklearnTree(len(names), np.full(outputs, classes, dtype=np.intp), outputs)
    inner.__setstate__(
        {"max_depth": tree.depth, "node_count": len(nodes), "nodes": nodes, "values": values}
    )
    model = held.estimator(tree.depth or None)
    model.tree_ = inner
    model.n_features_in_, model.feature_names_in_, model.max_features_ = (
        len(names),
        np.array(names, dtype=object),
        len(names),
    )
    if not exact and not isinstance(X, Dataset):
        _check_same(tree, model, names, X, held)
    return model


def _features(tree: Tree, X: Any) -> list[str]:
    """Names of scikit-learn's features: all numeric columns, then the categories of the tree."""
    if isinstance(X, Dataset):
        columns = [t.column for t in X.features if asks_number(t)]
    else:
        # Columns of the kinds b, i, u and f hold numbers. A column of the tree that is missing
        # raises an error when the rows are routed.
        columns = [
            str(c)
            for c in (X.columns if hasattr(X, "columns") else X)
            if np.asarray(X[c]).dtype.kind in "biuf"
        ]
    names = list(dict.fromkeys([*columns, *(_feature(t) for t in tree.splits)]))
    return names or [NOTHING]


def asks_number(test: BinaryFeature) -> bool:
    """Whether a test compares a number of its column.

    Otherwise it asks for a category, a date or a missing value, and scikit-learn gets its answer as
    a feature of 0 and 1.
    """
    complete = test.missing is None
    return complete and (
        test.kind == "is" or (test.kind == "<=" and not isinstance(test.value, str))
    )


def _feature(test: BinaryFeature) -> str:
    return test.column if asks_number(test) else test.name


def _arrays(
    tree: Tree, names: list[str], rows: Any, held: NodeValues, exact: bool
) -> tuple[np.ndarray, np.ndarray]:
    """scikit-learn's parallel arrays, nodes in depth-first order."""
    from sklearn.tree import DecisionTreeClassifier

    dtype = (
        DecisionTreeClassifier().fit([[0], [1]], [0, 1]).tree_.__getstate__()["nodes"].dtype
    )  # its fields differ between versions
    size = 2 * tree.n_leaves - 1
    nodes = np.zeros(size, dtype=dtype)
    values = np.zeros((size, len(held.unknown)))
    position = {name: j for j, name in enumerate(names)}
    used = 0

    def walk(node: Node, here: np.ndarray) -> int:
        nonlocal used
        at, used = used, used + 1
        value, impurity, total = held.inner(here)
        if isinstance(node, Leaf):
            value = held.leaf(node.action, value)
            left = right = -1
            feature, threshold = -2, -2.0
        else:
            true = rows.X[here, rows.index[node.test]] == 1
            feature, threshold = position[_feature(node.test)], 0.5
            below = node.test.kind == "<=" and asks_number(node.test)
            if below and exact:
                threshold = float(node.test.value)
            elif below:
                threshold = single_threshold(
                    node.test, *_neighbours(rows, node.test, here[true], here[~true])
                )
            # scikit-learn goes left where feature <= threshold; there a threshold test is true,
            # but a 0/1 test is false.
            sides = [(node.left, here[~true]), (node.right, here[true])]
            first, second = reversed(sides) if below else sides
            left, right = walk(*first), walk(*second)
        values[at] = value
        (
            nodes["left_child"][at],
            nodes["right_child"][at],
            nodes["feature"][at],
            nodes["threshold"][at],
        ) = left, right, feature, threshold
        nodes["impurity"][at] = impurity
        nodes["n_node_samples"][at], nodes["weighted_n_node_samples"][at] = len(here), total
        return at

    walk(tree.root, np.arange(len(held.weight)))
    return nodes, held.shaped(values)


def _neighbours(
    rows: Any, test: BinaryFeature, below: np.ndarray, above: np.ndarray
) -> tuple[float, float]:
    """The largest value of the test's column among some rows and the smallest among others.

    If the rows hold no values, these are values in between that bound them.
    """
    if isinstance(rows, RawRows):
        values = rows.values[test.column].astype(float)
        return float(values[below].max(initial=-np.inf)), float(values[above].min(initial=np.inf))
    ranked = rows.ranked
    if ranked is None or ranked.gap is None:
        raise DataError(
            f"This Dataset holds outcomes of the test {test.name!r} and not the values of {test.column!r}, which scikit-learn would round; "
            "give the table instead of the Dataset."
        )
    at = rows.index[test]
    codes, same = (
        ranked.codes[:, ranked.column[at]],
        np.flatnonzero(ranked.column == ranked.column[at]),
    )
    # The values with one code are at most the value below the threshold of that number, and
    # at least the value above the threshold before it.
    gap_of = {int(ranked.cut[f]): ranked.gap[f] for f in same}
    low = gap_of.get(int(codes[below].max()), ranked.gap[at])[0] if len(below) else -np.inf
    high = gap_of.get(int(codes[above].min()) - 1, ranked.gap[at])[1] if len(above) else np.inf
    return float(low), float(high)


def single_threshold(test: BinaryFeature, low: float, high: float) -> float:
    """The threshold that divides two values when they are rounded to single precision.

    It is the threshold of the test if this one does, otherwise the nearest one that does.
    """
    with np.errstate(over="ignore"):
        first, second = np.float32(low), np.float32(high)
    beyond = any(
        np.isfinite(exact) and not np.isfinite(rounded)
        for exact, rounded in ((low, first), (high, second))
    )
    if beyond or first >= second:
        raise DataError(
            f"scikit-learn compares in single precision, in which no threshold is between {low!r} and {high!r} of the column {test.column!r}; "
            "subtract a constant from that column or rescale it, or draw the tree with tree_svg."
        )
    own = float(test.value)
    return (
        own
        if first <= own < second
        else float(first)
        if own < first
        else float(np.nextafter(second, np.float32(-np.inf)))
    )


def _check_same(tree: Tree, model: Any, names: list[str], table: Any, held: NodeValues) -> None:
    """Raise DataError if the converted tree predicts something else on the given rows."""
    spelled = {str(c): c for c in (table.columns if hasattr(table, "columns") else table)}
    tests = {t.name: t for t in tree.splits if not asks_number(t)}
    columns = [
        tests[n].evaluate(table[spelled[tests[n].column]]) if n in tests else table[spelled[n]]
        for n in names
        if n != NOTHING or n in spelled
    ]
    if not columns:
        return
    raw = np.column_stack([np.asarray(c, dtype=np.float32) for c in columns])
    theirs = held.predicted(model.tree_.predict(raw).reshape(len(raw), -1))
    ours = tree.predict(table)
    if theirs.ndim > 1:
        differ = np.flatnonzero((ours.reshape(len(raw), -1) != theirs).any(axis=1))
    else:
        differ = np.flatnonzero(ours.astype(str) != theirs)
    if len(differ):
        raise DataError(
            f"scikit-learn compares in single precision and would send row {differ[0]} another way; rescale the columns whose thresholds are "
            "that close to the data, or draw the tree with tree_svg."
        )


def to_networkx(tree: Tree) -> networkx.DiGraph:
    """The tree as a directed graph with nodes 0, 1, …, parents first.

    Nodes have a `label`, and a `test` or an `action`; edges have the condition of their branch as
    the `label`, and the `answer` to the test, False or True.
    """
    import networkx

    graph = networkx.DiGraph()

    def walk(node: Node) -> int:
        at = int(graph.number_of_nodes())
        if isinstance(node, Leaf):
            graph.add_node(
                at, label=str(tree.actions[node.action]), action=tree.actions[node.action]
            )
            return at
        graph.add_node(at, label=node.test.name, test=node.test)
        graph.add_edge(at, walk(node.left), label=node.test.negation, answer=False)
        graph.add_edge(at, walk(node.right), label=node.test.name, answer=True)
        return at

    walk(tree.root)
    return graph


def to_dot(tree: Tree) -> str:
    """The tree in the DOT language, for graphviz."""
    lines = [
        "digraph tree {",
        '  node [shape=box, style="filled", fillcolor="#f4f4f4", fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
    ]
    count = 0
    leaves = [(str(a), action_colour(k)) for k, a in enumerate(tree.actions)]
    if predicts := tree.predicts:
        words = leaf_words(predicts, tree.actions, None, action_colour)
        leaves = [(", ".join(one.lines), one.colour) for one in words]

    def walk(node: Node) -> int:
        nonlocal count
        at, count = count, count + 1
        if isinstance(node, Branch):
            lines.append(f"  n{at} [label={_quote(node.test.name)}];")
            for child, label in zip((node.left, node.right), branches_of(node.test), strict=True):
                lines.append(f"  n{at} -> n{walk(child)} [label={_quote(label)}];")
        else:
            label, colour = leaves[node.action]
            lines.append(
                f'  n{at} [label={_quote(label)}, style="filled,rounded", fillcolor="{colour}"];'
            )
        return at

    walk(tree.root)
    return "\n".join([*lines, "}"])


def _quote(value: Any) -> str:
    """A DOT string; backslashes are doubled because graphviz would read them as escapes."""
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'
