"""`check_separable`: try to refute that a task is separable, on random states.

A search over states is exact if and only if costs and transitions depend on the state alone, the
combination preserves the order, and no feasible tree has an infeasible part (van der Linden, de
Weerdt, Demirović 2023, theorem 4.6). None of this can be read from functions, so states, trees of
states and pairs of trees are drawn, and what the theorem asks is tried on each. A sentence that is
found is a proof that the task is not separable; if none is found, nothing is proven.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.dataset import Dataset
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.base import Task
from milp_trees.tasks.products import states_of
from milp_trees.tasks.states_view import Integers, States
from milp_trees.testing.task_data import random_datasets, target_datasets

#: Levels of the random trees, and how many are drawn for a state.
LEVELS, DRAWN = 2, 6


@dataclass(frozen=True)
class Part:
    """A random tree of a state, with its value where no constraint is applied.

    `allowed` says whether the constraint allows the value of the whole part, `inside` whether it
    allows those of all parts of it too.
    """

    node: Node
    value: Integers
    allowed: bool
    inside: bool


@dataclass(frozen=True)
class Drawn:
    """A state: its rows, its context, and the tests on the path to it."""

    rows: np.ndarray
    context: Integers
    path: str


def check_separable(
    task: Task, dataset: Dataset | None = None, *, trials: int = 60, seed: int = 0
) -> None:
    """Raise AssertionError with a counterexample if a task is found not to be separable.

    Parameters
    ----------
    task : Task
        It offers the view `States`, or a `CostMatrix` without side constraints.
    dataset : Dataset, optional
        Rows to draw states from; by default random ones with everything that a task may need.
    trials : int, default=60
        Number of states that are drawn for each dataset.
    seed : int, default=0
        Seed of the random numbers.

    Raises
    ------
    AssertionError
        The sentence holds the state, the values and what they contradict.
    DataError
        The task takes none of the random datasets, so it needs `dataset=`.
    """
    drawn = itertools.chain(random_datasets(4).values(), target_datasets(4).values())
    tried, why = 0, ""
    for i, data in enumerate(drawn if dataset is None else [dataset]):
        if i == 4 and tried:
            break  # numbers are for tasks that refuse words
        try:
            view = states_of(task, data, Trees(max_depth=None, split_on_group=True))
        except DataError as error:
            why = str(error)
            continue
        tried += 1
        message = counterexample(task, view, data, trials, seed)
        assert message is None, f"The task {task.name} is not separable: {message}"
    if not tried:
        raise DataError(f"The task {task.name} takes no random dataset ({why}); give dataset=.")


def counterexample(
    task: Task, view: States, dataset: Dataset, trials: int = 60, seed: int = 0
) -> str | None:
    """A sentence that refutes that a task is separable, or None if none is found.

    Parameters
    ----------
    task : Task
        Its value judges the parts, if it has one of its own.
    view : States
        Its six parts on all features of a dataset.
    dataset : Dataset
    trials, seed : int
        As for `check_separable`.

    Returns
    -------
    str or None
    """
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        state = _state(view, rng)
        found = chain(
            _costs(view, state, rng), _value(task, view, dataset, rng), _order(view, state, rng)
        )
        for message in found:
            return message
    return None


# -- what is drawn ------------------------------------------------------------------------------------


def _state(view: States, rng: np.random.Generator) -> Drawn:
    """A state that some splits reach."""
    rows, context, path = np.arange(view.n_rows), view.start, []
    for _ in range(int(rng.integers(0, 3))):
        test, side = int(rng.integers(view.n_features)), int(rng.integers(2))
        kept = rows[view.X[rows, test] == side]
        if not len(kept):
            break
        rows, context = kept, view.below(context, test, side)
        path.append(f"{view.features[test].name} = {side}")
    return Drawn(rows, context, " and ".join(path) or "all rows")


def _part(
    view: States, rows: np.ndarray, context: Integers, levels: int, rng: np.random.Generator
) -> Part:
    """A random tree of a state."""
    sums = view.sums_of(rows)
    tests = [f for f in range(view.n_features) if 0 < view.X[rows, f].sum() < len(rows)]
    if not levels or not tests or rng.random() < 0.3:
        k = int(rng.integers(view.n_actions))
        value = view.leaf(sums, k, context, view.tables)
        allowed = view.allows(value, rows, context)
        return Part(Leaf(k), value, allowed, allowed)
    f = int(rng.choice(tests))
    sides = [
        _part(view, rows[view.X[rows, f] == s], view.below(context, f, s), levels - 1, rng)
        for s in (0, 1)
    ]
    value = _joined(view, sides[0].value, sides[1].value, sums, f, context)
    allowed = view.allows(value, rows, context)
    node = Branch(view.features[f], sides[0].node, sides[1].node)
    return Part(node, value, allowed, allowed and sides[0].inside and sides[1].inside)


def _joined(
    view: States, a: Integers, b: Integers, sums: Integers, test: int, context: Integers
) -> Integers:
    value = view.added(a, b)
    if view.split is not None:
        value = view.added(value, view.split(sums, test, context, view.tables))
    return value


# -- what is tried ------------------------------------------------------------------------------------


def _costs(view: States, state: Drawn, rng: np.random.Generator) -> Iterator[str]:
    """Costs and transitions give the same when they are asked again, and keep what they promise."""
    sums, f = view.sums_of(state.rows), int(rng.integers(view.n_features))
    requested: dict[str, Any] = {
        f"leaf(action {k})": lambda k=k: view.leaf(sums, k, state.context, view.tables)
        for k in range(view.n_actions)
    }
    if view.split is not None:
        requested[f"split(test {f})"] = lambda: view.split(sums, f, state.context, view.tables)  # type: ignore[misc]
    requested["transition"] = lambda: view.below(state.context, f, 1)
    first = {name: ask() for name, ask in requested.items()}
    for name, ask in requested.items():
        again = ask()
        if again != first[name]:
            yield f"in the state {state.path}, {name} is {first[name]} and, asked again, {again}; it must depend on the state alone."
        values = name != "transition"
        if values and (type(again) is not tuple or len(again) != view.width):
            yield f"{name} is {again!r}; a value is a tuple of {view.width} integers ({', '.join(view.names)})."
        if values and view.nonnegative and min(again) < 0:
            yield f"in the state {state.path}, {name} is {again}, although nonnegative=True is stated."


def _value(task: Task, view: States, dataset: Dataset, rng: np.random.Generator) -> Iterator[str]:
    """The parts give the value that the task itself gives a tree."""
    part = _part(view, np.arange(view.n_rows), view.start, LEVELS, rng)
    if not part.inside:
        return
    tree = Tree(part.node, view.actions)
    own = task.value(tree.routes(dataset), dataset)
    number = view.to_value(view.units_of(part.value))
    if own.exact is not None and own.exact != number:
        yield f"the tree {_shown(part.node)} has the value {own.exact}, but its parts give {part.value}, which means {number}."


def _order(view: States, state: Drawn, rng: np.random.Generator) -> Iterator[str]:
    """A better part never makes a worse tree, and an infeasible part no feasible one."""
    tests = [f for f in range(view.n_features) if 0 < view.X[state.rows, f].sum() < len(state.rows)]
    if not tests:
        return
    f, side = int(rng.choice(tests)), int(rng.integers(2))
    rows = [state.rows[view.X[state.rows, f] == s] for s in (side, 1 - side)]
    contexts = [view.below(state.context, f, s) for s in (side, 1 - side)]
    sums = view.sums_of(state.rows)
    own, beside = (
        [_part(view, rows[i], contexts[i], LEVELS, rng) for _ in range(DRAWN)] for i in (0, 1)
    )

    def whole(a: Part, b: Part) -> tuple[Integers, bool]:
        pair = (a.value, b.value) if side == 0 else (b.value, a.value)
        value = _joined(view, *pair, sums, f, state.context)
        return value, view.allows(value, state.rows, state.context)

    where = f"in the state {state.path}, split on {view.features[f].name},"
    for a in own:
        for b in beside:
            value, allowed = whole(a, b)
            for part, rest in ((a, b), (b, a)):
                if allowed and not part.allowed:
                    yield f"{where} the part {_shown(part.node)} with the value {part.value} is infeasible, but with {_shown(rest.node)}, {rest.value}, beside it the whole is feasible, {value}: the constraint is not anti-monotone."
        for other in own:
            yield from _compared(view, a, other, where)
            if not (a.inside and other.inside and _as_good(view, a.value, other.value)):
                continue
            for b in beside:
                if not b.inside:
                    continue
                (value, allowed), (than, was_allowed) = whole(a, b), whole(other, b)
                text = f"{where} {a.value} is as good as {other.value}, but beside {b.value} it makes {value}"
                if was_allowed and not allowed:
                    yield f"{text}, which is infeasible, where the other makes {than}, which is feasible: the order does not know what the constraint needs."
                if was_allowed and not _as_good(view, value, than):
                    yield f"{text}, where the other makes {than}, which is not worse: the combination does not preserve the order."


def _compared(view: States, a: Part, b: Part, where: str) -> Iterator[str]:
    """The comparator is an order, and units follow it."""
    if not view.is_better(a.value, b.value):
        return
    if view.is_better(b.value, a.value):
        yield f"{where} {a.value} and {b.value} are each better than the other."
    if view.units_of(a.value) > view.units_of(b.value):
        yield f"{where} {a.value} is better than {b.value}, but has more units."


def _as_good(view: States, a: Integers, b: Integers) -> bool:
    """Whether a search that has value `a` may forget `b`."""
    if view.is_better(a, b) or a == b:
        return True
    return bool(view.total) and not view.is_better(b, a)


def _shown(node: Node) -> str:
    """A tree in a line: `test(left, right)`, and actions by their index."""
    if isinstance(node, Leaf):
        return str(node.action)
    return f"{node.test.name}({_shown(node.left)}, {_shown(node.right)})"
