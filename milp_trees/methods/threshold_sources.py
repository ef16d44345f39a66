"""Where a chosen set of thresholds comes from: good trees over all thresholds, boosting, quantiles.

Columns are looked at as codes (`RankedTests`): a split of a tree depends on the order of the values
alone, so every split on codes is one of the candidate tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.limits import Deadline, Limit, Limits
from milp_trees.common.registering import plugins
from milp_trees.methods.greedy import greedy_for
from milp_trees.methods.work import sizes_of
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.results.result import Result
from milp_trees.tasks.count_views import LeafCounts, PairCounts
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.tasks.path_costs import PathCosts
from milp_trees.tasks.ratio_view import Ratio
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature
    from milp_trees.data.ranked import RankedTests

#: Expected seconds, and seconds at most, of an optimal tree over all thresholds.
EXPECTED, AT_MOST = 2.0, 20.0
#: Entries of the table of codes from which CART is grown; more rows are sampled.
CELLS = 4_000_000
#: Rows from which boosted stumps are learned, and their number.
BOOSTED_ROWS, STUMPS = 2000, 40
#: What the trees are called in a sentence.
OPTIMAL, GREEDY, CART = "the optimal tree", "the greedy tree", "scikit-learn's tree"
#: Depth of CART for models without a depth limit.
ANY_DEPTH = 6


@dataclass(frozen=True)
class Found:
    """A tree over all thresholds, and what it is.

    Parameters
    ----------
    name : str
        What it is called in a sentence.
    tree : Tree
    result : Result, optional
        The proof that it is optimal for the whole problem.
    interrupted : bool, default=False
        Whether the user interrupted the search for it.
    """

    name: str
    tree: Tree
    result: Result | None = None
    interrupted: bool = False


def grown_over_all(problem: Problem, deadline: Deadline) -> Iterator[Found]:
    """The greedy trees over all tests of a problem on trees: that of scikit-learn, and our own."""
    grown = cart(problem)
    if grown is not None:
        yield Found(CART, grown)
    greedy = greedy_for(problem, deadline)
    if greedy is not None:
        yield Found(GREEDY, greedy)


# -- the optimal tree ------------------------------------------------------------------------------


def optimal_tree(problem: Problem, deadline: Deadline) -> Found | None:
    """The optimal tree over all thresholds, of the problem's depth or of the largest within reach.

    None if the methods that sort columns do not take the problem, even without its side constraints.
    """
    plain = _without_constraints(problem)
    for name, sorts in plugins.values("methods", "sorts_columns").items():
        kind: Any = plugins.find("methods", name) if sorts else None
        if kind is None or not isinstance(problem.space, kind.space):
            continue
        method = kind()
        levels = sizes_of(plain).depth
        for depth in range(levels, 0, -1):
            requested = plain if depth == levels else _at_depth(plain, depth)
            if method.expected_seconds(sizes_of(requested)) > EXPECTED:
                continue
            if method.unsupported(requested) is not None:
                break
            result = method.run(requested, Limits(time=_at_most(deadline)))
            if result.predictor is None:
                break
            whole = result.optimal and requested is problem
            name = OPTIMAL if whole else f"{OPTIMAL} of depth {depth}"
            interrupted = result.limit is Limit.INTERRUPTED
            return Found(name, result.predictor, result if whole else None, interrupted)
    return None


def _at_most(deadline: Deadline) -> float:
    """Seconds that an optimal tree may take."""
    return AT_MOST if deadline.left is None else min(AT_MOST, deadline.left)


def _without_constraints(problem: Problem) -> Problem:
    """The problem without side constraints, which the methods that sort columns do not take."""
    task: Any = problem.task
    if not getattr(task, "constraints", ()):
        return problem
    return replace(problem, task=replace(task, constraints=()))


def _at_depth(problem: Problem, depth: int) -> Problem:
    """The problem with trees of a smaller depth."""
    return replace(problem, space=replace(problem.trees, max_depth=depth))


# -- trees of scikit-learn -------------------------------------------------------------------------


def target_of(problem: Problem) -> tuple[np.ndarray, np.ndarray] | None:
    """The best action of every row and what another one costs on average; None if unknown."""
    task, data = problem.task, problem.dataset
    view = costs_of(problem)
    if view is not None:
        others = max(1, view.n_actions - 1)
        return view.costs.argmin(axis=1), view.regret.sum(axis=1) / others
    if data.y is None or tuple(task.actions(data)) != tuple(data.classes or ()):
        return None
    return data.y, data.row_weights * data.row_counts


def costs_of(problem: Problem) -> CostMatrix | None:
    """The costs of the actions, or those of errors for a task that is no sum; None without any."""
    task = problem.task
    if task.offers(CostMatrix):
        return problem.view(CostMatrix)
    if task.offers(Ratio):
        return problem.one_step().view(CostMatrix)
    counted = (LeafCounts, PairCounts, PathCosts)
    if any(map(task.offers, counted)):
        errors: CostMatrix = problem.first_view(counted).errors
        return errors
    return None


class CodedColumns:
    """The columns of codes with candidate tests, in the order of the table, and those tests.

    Parameters
    ----------
    problem : Problem
        Its features are stored as ranks.
    """

    def __init__(self, problem: Problem) -> None:
        data = problem.dataset
        self.problem = problem
        self.codes: RankedTests = data.ranked  # type: ignore[assignment]
        kept = problem.space.candidates(data)
        column, cut = self.codes.column[kept].tolist(), self.codes.cut[kept].tolist()
        #: The candidate of a column and a cut.
        self.tests = {
            place: data.features[f]
            for place, f in zip(zip(column, cut, strict=True), kept.tolist(), strict=True)
        }
        self.columns = np.unique(self.codes.column[kept])

    def fit(self, model: Any, most: int) -> Any:
        """The model fitted to the targets of some rows; None if there is nothing to learn."""
        found = self.sample(most) if len(self.columns) else None
        if found is None:
            return None
        rows, targets, weights = found
        return model.fit(self.codes.codes[np.ix_(rows, self.columns)], targets, weights)

    def sample(self, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Some rows, and their targets and weights; None if the targets are unknown or all equal.

        Targets are the best actions, shape (rows,); or what a leaf with one row alone predicts, of
        shape (rows, k), if leaves predict numbers.
        """
        if self.problem.task.offers(LeafSums):
            view = self.problem.first_view((CostMatrix, LeafSums))
            rows = _some(view.sums[:, 0] > 0, most)
            weights = view.sums[rows, 0]
            best, actions = view.leaf_actions(view.sums[rows])
            targets = np.array(actions, dtype=float).reshape(len(actions), -1)[best]
            targets = targets - targets.mean(axis=0)  # splits stay, and sums of squares are exacter
        else:
            known = target_of(self.problem)
            if known is None:
                return None
            rows = _some(known[1] > 0, most)
            targets, weights = known[0][rows], known[1][rows]
        return None if (targets == targets[:1]).all() else (rows, targets, weights)

    def test(self, column: int, threshold: float) -> BinaryFeature:
        """The candidate that a split of a fitted tree stands for."""
        return self.tests[int(self.columns[column]), int(np.floor(threshold))]


def _some(counts: np.ndarray, most: int) -> np.ndarray:
    """Indices of the rows that count, or of so many of them, evenly spread over the table."""
    rows = np.flatnonzero(counts)
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, max(2, most)).astype(np.int64)]
    return rows


def cart(problem: Problem) -> Tree | None:
    """The tree that scikit-learn grows on the same columns within the same limits.

    None if the task has no best action per row, the tree breaks a limit that scikit-learn does not
    know, or features are not stored as ranks.
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    space, numbers = problem.space, problem.task.offers(LeafSums)
    if not isinstance(space, Trees) or space.max_depth == 0 or space.max_leaf_nodes == 1:
        return None
    if problem.dataset.ranked is None:
        return None
    grower = (DecisionTreeRegressor if numbers else DecisionTreeClassifier)(
        max_depth=ANY_DEPTH if space.max_depth is None else space.max_depth,
        max_leaf_nodes=space.max_leaf_nodes,
        min_samples_leaf=space.min_samples_leaf,
        random_state=0,
    )
    coded = CodedColumns(problem)
    model = coded.fit(grower, CELLS // max(1, len(coded.columns)))
    if model is None:
        return None
    arrays = model.tree_

    def read(node: int) -> Node:
        below, above = int(arrays.children_left[node]), int(arrays.children_right[node])
        if below < 0:
            return Leaf(0 if numbers else int(model.classes_[arrays.value[node, 0].argmax()]))
        test = coded.test(int(arrays.feature[node]), float(arrays.threshold[node]))
        return Branch(test, read(above), read(below))

    tree = _with_best_actions(problem, Tree(read(0), tuple(problem.task.actions(problem.dataset))))
    return None if problem.violations(tree) else tree


def boosted(problem: Problem) -> list[BinaryFeature]:
    """The tests that boosted stumps use, the one that lowers their impurity most first."""
    coded = CodedColumns(problem)
    gain: dict[BinaryFeature, float] = {}
    for stump in _stumps(coded):
        if stump.feature[0] >= 0:
            test = coded.test(int(stump.feature[0]), float(stump.threshold[0]))
            impure = stump.weighted_n_node_samples * stump.impurity
            gain[test] = gain.get(test, 0.0) + float(impure[0] - impure[1:].sum())
    return sorted(gain, key=lambda test: -gain[test])


def _stumps(coded: CodedColumns) -> Iterator[Any]:
    """Stumps that are boosted for the targets, in turn for each of several numbers."""
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    found = coded.sample(BOOSTED_ROWS) if len(coded.columns) else None
    if found is None:
        return
    rows, targets, weights = found
    X, numbers = coded.codes.codes[np.ix_(rows, coded.columns)], targets.ndim > 1
    for target in targets.T if numbers else [targets]:
        kind = GradientBoostingRegressor if numbers else GradientBoostingClassifier
        model = kind(n_estimators=STUMPS, max_depth=1, random_state=0).fit(X, target, weights)
        yield from (stump.tree_ for stump in model.estimators_.ravel())


def _with_best_actions(problem: Problem, tree: Tree) -> Tree:
    """The tree whose leaves have their cheapest actions on all rows, if actions have costs."""
    if problem.task.predicts_numbers:
        decided: Tree = problem.first_view((CostMatrix, LeafSums)).decided(tree)
        return decided
    view = costs_of(problem)
    if view is None or view.n_rows != problem.dataset.n_rows:
        return tree
    sums = np.zeros((tree.n_leaves, view.n_actions), dtype=np.int64)
    np.add.at(sums, tree.routes(problem.dataset).leaf, view.costs)
    best = iter(sums.argmin(axis=1).tolist())

    def walk(node: Node) -> Node:
        if isinstance(node, Leaf):
            return Leaf(next(best))
        left = walk(node.left)
        return Branch(node.test, left, walk(node.right))

    return Tree(walk(tree.root), tree.actions)


# -- quantiles -------------------------------------------------------------------------------------


def quantiles(problem: Problem) -> Iterator[BinaryFeature]:
    """Thresholds at the half, the quarters, the eighths, … of the rows of every column in turn.

    A threshold may come more than once.
    """
    coded = CodedColumns(problem)
    ordered = {c: np.sort(coded.codes.codes[:, c]) for c in coded.columns.tolist()}
    parts, rows = 2, problem.dataset.n_rows
    while parts <= 2 * rows:
        for numerator in range(1, parts, 2):
            for c, column in ordered.items():
                cut = int(column[min(rows - 1, numerator * rows // parts)])
                test = coded.tests.get((c, cut)) or coded.tests.get((c, cut - 1))
                if test is not None:
                    yield test
        parts *= 2
