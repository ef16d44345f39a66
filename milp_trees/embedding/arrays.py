"""Trees in parallel arrays as nested splits, with thresholds of exact comparisons."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from milp_trees.embedding.forest import NUMBER, Question, Split


def plain_labels(actions: Any) -> tuple[Any, ...]:
    """Labels without numpy's types."""
    return tuple(a.item() if hasattr(a, "item") else a for a in actions)


def threshold_of(threshold: float, single: bool) -> float:
    """The largest double that is at most a threshold as a model compares them.

    A model in single precision rounds a value to the nearest 32-bit float, half to even, and
    compares that: values up to the middle between the last float below the threshold and the next
    one answer yes, the middle itself if it is rounded down.
    """
    if not single or not math.isfinite(threshold):
        return float(threshold)
    below = np.float32(threshold)
    if float(below) > threshold:
        below = np.nextafter(below, np.float32(-np.inf))
    above = np.nextafter(below, np.float32(np.inf))
    if not (np.isfinite(below) and np.isfinite(above)):
        return float(threshold)
    middle = (float(below) + float(above)) / 2
    return (
        middle if float(np.float32(middle)) <= threshold else float(np.nextafter(middle, -np.inf))
    )


def tree_of_arrays(
    left: Any, right: Any, column: Any, threshold: Any, names: Any, single: bool, root: int = 0
) -> tuple[Any, list[int]]:
    """A tree in arrays as nested splits, and the node of each leaf from left to right.

    The side `column <= threshold` is the left one of the arrays, and the answer yes.
    """
    leaves: list[int] = []
    done: list[Any] = []
    stack: list[tuple[int, bool]] = [(root, False)]
    while stack:
        node, both = stack.pop()
        if left[node] < 0:
            leaves.append(node)
            done.append(len(leaves) - 1)
        elif both:
            no, yes = done.pop(), done.pop()
            value = threshold_of(float(threshold[node]), single)
            question = Question(names[int(column[node])], NUMBER, value)
            done.append(Split(((question, True),), no, yes))
        else:
            stack += [(node, True), (int(right[node]), False), (int(left[node]), False)]
    return done[0], leaves
