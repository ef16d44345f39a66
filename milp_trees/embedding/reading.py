"""`read_forest`: the `Forest` of a model of this package, or of a fitted model of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.common.errors import DataError, Unsupported
from milp_trees.data.antecedent import Antecedent, Literal
from milp_trees.data.dates import seconds
from milp_trees.embedding.arrays import plain_labels, tree_of_arrays
from milp_trees.embedding.boosted import read_boosted
from milp_trees.embedding.forest import (
    DATE,
    NUMBER,
    ORDERED,
    TEXT,
    YES_NO,
    Forest,
    Output,
    Question,
    Split,
)
from milp_trees.models.predicted import PROBABILITIES

#: Seconds of a day: dates are counted in days since 1970-01-01.
DAY = 86400.0
#: Largest difference from 1 of the sum of shares.
SHARES = 1e-9


def read_forest(model: Any, columns: Any = None) -> Forest:
    """The forest of a fitted model.

    Parameters
    ----------
    model : Tree, RuleList, Ensemble, Result, or fitted estimator
        An estimator of this package, or a tree, forest or gradient boosting of scikit-learn.
    columns : sequence of str, optional
        Names of the columns of a model that was fitted on an array.

    Returns
    -------
    Forest

    Raises
    ------
    DataError
        The model is not fitted, or a result holds no model.
    Unsupported
        There is no way to write the model as trees of questions.
    """
    model = _predictor(model)
    if hasattr(model, "root") or hasattr(model, "rules"):
        return _of_program(model)
    if hasattr(model, "trees_json"):
        return _of_ensemble(model, model)
    kind = type(model).__name__
    if "GradientBoosting" in kind:
        return read_boosted(model, columns)
    from milp_trees.models.read_ensemble import check_prunable, read_ensemble

    try:
        check_prunable(model)
    except DataError as error:
        raise _unread(model) from error
    return _of_ensemble(read_ensemble(model, columns), model)


def _unread(model: Any) -> Exception:
    """The error for a model that is not fitted, or not made of trees that are read here."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    kind = type(model).__name__
    try:
        check_is_fitted(model)
    except NotFittedError:
        return DataError(f"This {kind} is not fitted yet; call fit(X, y) first.")
    except TypeError:  # no estimator at all, or a class
        kind = "class" if isinstance(model, type) else kind
    return Unsupported(
        f"Models of the kind {kind} cannot be embedded; give a tree, a rule list, an ensemble, a result or a fitted estimator of this package, or a tree, forest, bagging or gradient boosting of scikit-learn."
    )


def _predictor(model: Any) -> Any:
    """The model that predicts: of a result, or of a fitted estimator of this package."""
    if hasattr(model, "certificate"):
        if model.predictor is None:
            raise DataError(
                f"The result of {model.method} holds no model to embed: {model.status.value}."
            )
        return model.predictor
    for name in ("tree_", "rule_list_"):
        held = getattr(model, name, None)
        if hasattr(held, "root") or hasattr(held, "rules"):
            return held
    chosen = getattr(model, "selected_", None)
    return getattr(chosen, "ensemble", model)


# -- trees and rule lists --------------------------------------------------------------------------


def question_of(feature: Any) -> tuple[Question, bool]:
    """The question of a binary feature, and the answer that stands for its answer yes."""
    missing = None if feature.missing is None else feature.missing == "yes"
    if feature.kind == "missing":
        return Question(feature.column, "", None), True
    if feature.kind == "in":
        raise Unsupported(
            f"The question {feature.name!r} asks for a set of categories, which is neither embedded nor searched for the nearest row; fit the model with a test per category (category_sets=0)."
        )
    if feature.kind == "==":
        return Question(feature.column, TEXT, str(feature.value), missing), True
    if feature.kind == "is":  # yes where the value is 1, so no where it is at most 0
        missing = None if missing is None else not missing
        return Question(feature.column, YES_NO, 0.0, missing), False
    if feature.order:
        return Question(feature.column, ORDERED, feature.place, missing, feature.order), True
    if feature.dated:
        days = days_at_most(feature.value)
        return Question(feature.column, DATE, days, missing), True
    return Question(feature.column, NUMBER, feature.place, missing), True


def days_at_most(text: str) -> float:
    """A threshold between times, in days since 1970-01-01."""
    at = float(seconds(np.array([text], dtype="datetime64[us]"))[0])
    return at / DAY


def _of_program(model: Any) -> Forest:
    actions: list[int] = []

    def leaf(action: int) -> int:
        actions.append(int(action))
        return len(actions) - 1

    def split(test: Any, no: Any, yes: Any) -> Split:
        literals = test.literals if isinstance(test, Antecedent) else (Literal(test),)
        held = []
        for one in literals:
            question, answer = question_of(one.feature)
            held.append((question, answer == one.value))
        return Split(tuple(held), no, yes)

    def walk(node: Any) -> Any:
        if not hasattr(node, "test"):
            return leaf(node.action)
        no = walk(node.left)
        return split(node.test, no, walk(node.right))

    if hasattr(model, "rules"):
        # Leaf k is rule k, and the last leaf the default rule, as in routes of rule lists.
        n = len(model.rules)
        actions = [int(a) for a in model.leaf_actions]
        root: Any = n
        for k in range(n - 1, -1, -1):
            root = split(model.rules[k].antecedent, root, k)
    else:
        root = walk(model.root)
    return Forest((root,), _output_of_leaves(model, np.array(actions)), model)


def _output_of_leaves(model: Any, leaf_action: np.ndarray) -> Output:
    """What the leaves of a tree or rule list predict: actions, or numbers."""
    predicts = model.predicts
    if predicts is None:
        return Output("action", actions=plain_labels(model.actions), leaf_action=leaf_action)
    table = np.array(
        [a if isinstance(a, (tuple, list)) else (a,) for a in model.actions], dtype=float
    )
    names = predicts.names
    if len(names) != table.shape[1]:
        names = tuple(str(k) for k in range(table.shape[1]))
    kind = "probability" if predicts.kind == PROBABILITIES else "value"
    return Output(kind, names, (table[leaf_action],), np.zeros(table.shape[1]))


# -- ensembles -------------------------------------------------------------------------------------


def _of_ensemble(ensemble: Any, model: Any) -> Forest:
    left = np.where(ensemble.kept, ensemble.left, -1).tolist()
    right, column = ensemble.right.tolist(), ensemble.column.tolist()
    threshold = ensemble.threshold.tolist()
    value = ensemble.value
    if ensemble.normalise and ensemble.classes is not None:
        total = value.sum(axis=1, keepdims=True)
        value = np.divide(
            value, total, out=np.full_like(value, 1 / value.shape[1]), where=total > 0
        )
    roots, values = [], []
    for start in ensemble.roots.tolist():
        root, leaves = tree_of_arrays(
            left, right, column, threshold, ensemble.columns, ensemble.single, start
        )
        roots.append(root)
        values.append(value[leaves])
    n = max(1, len(roots))
    base = np.zeros(value.shape[1])
    given = tuple(v / n for v in values)
    if ensemble.classes is None:
        output = Output("value", ("target",), given, base)
    else:
        labels = plain_labels(ensemble.classes)
        shares = all(np.abs(v.sum(axis=1) - 1).max() <= SHARES for v in values)
        only = values[0].argmax(axis=1) if len(values) == 1 else None
        output = Output("probability" if shares else "score", labels, given, base, labels, only)
    return Forest(tuple(roots), output, model, tuple(map(str, ensemble.columns)))
