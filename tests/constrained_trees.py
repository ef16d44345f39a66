"""Tiny random problems with side constraints, and brute force over all their trees and labellings.

Nothing here calls the package but `Case.problem`: what a tree says is a tuple of labels, the value
is a sum of fractions, and constraints are checked by their definitions, rate by rate.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import milp_trees as mt
from milp_trees.tasks import constraints

OF_CLASSES = (
    "statistical-parity",
    "equal-opportunity",
    "predictive-equality",
    "equalised-odds",
    "conditional-statistical-parity",
    "capacity",
)
OF_ACTIONS = ("statistical-parity", "conditional-statistical-parity", "capacity")
TASKS = {
    "accuracy": mt.Accuracy,
    "weighted": mt.tasks.WeightedError,
    "cost-matrix": mt.tasks.MisclassificationCosts,
    "action-costs": mt.tasks.ActionCostMatrix,
}


@dataclass(frozen=True, eq=False)
class Case:
    """One problem in plain arrays; `rules` are (name, limit, favourable action or action)."""

    X: np.ndarray
    tests: tuple[mt.BinaryFeature, ...]
    group_column: str | None
    n_actions: int
    task: str
    y: np.ndarray
    groups: np.ndarray
    factor: np.ndarray
    weights: np.ndarray
    matrix: np.ndarray
    table: np.ndarray
    rules: tuple[tuple[str, Any, Any], ...]
    leaf_penalty: Fraction
    split_penalty: Fraction
    space: dict[str, Any]

    @property
    def n(self) -> int:
        return len(self.y)

    def problem(self, question: Any = None) -> mt.Problem:
        K = self.n_actions
        given = (
            {"values": self.table.astype(float), "actions": tuple(range(K))}
            if self.task == "action-costs"
            else {"y": self.y, "classes": tuple(range(K))}
        )
        if self.task == "weighted":
            given["weights"] = self.weights.astype(float)
        data = mt.Dataset(
            self.X,
            self.tests,
            groups=self.groups,
            group_column=self.group_column,
            factor=self.factor,
            **given,
        )
        rules = [
            constraints.Capacity(which, at_least=limit[0], at_most=limit[1])
            if name == "capacity"
            else constraints.constraint(name, max_disparity=limit, favourable=which)
            for name, limit, which in self.rules
        ]
        more = {"matrix": self.matrix.tolist()} if self.task == "cost-matrix" else {}
        task = TASKS[self.task](
            constraints=tuple(rules),
            leaf_penalty=self.leaf_penalty,
            split_penalty=self.split_penalty,
            **more,
        )
        requested = () if question is None else (question,)
        return mt.Problem(data, task, mt.Trees(**self.space), *requested)

    # -- brute force ---------------------------------------------------------------------------------

    def cost(self, row: int, action: int) -> int:
        if self.task == "action-costs":
            return int(self.table[row, action])
        if self.task == "cost-matrix":
            return int(self.matrix[self.y[row], action])
        weight = int(self.weights[row]) if self.task == "weighted" else 1
        return weight * int(self.y[row] != action)

    def value(self, said: tuple[int, ...], leaves: int) -> Fraction:
        total = Fraction(sum(self.cost(i, k) for i, k in enumerate(said)))
        if not (self.leaf_penalty or self.split_penalty):
            return total
        weight = int(self.weights.sum()) if self.task == "weighted" else self.n
        return total / weight + self.leaf_penalty * leaves + self.split_penalty * (leaves - 1)

    def disparity(self, name: str, said: tuple[int, ...], favourable: int) -> Fraction:
        """The largest difference of two groups' rates of the favourable action, by definition."""
        rows = range(self.n)
        parts = {
            "statistical-parity": lambda: [list(rows)],
            "conditional-statistical-parity": lambda: [
                [i for i in rows if self.factor[i] == f] for f in (0, 1)
            ],
            "equal-opportunity": lambda: [[i for i in rows if self.y[i] == favourable]],
            "predictive-equality": lambda: [[i for i in rows if self.y[i] != favourable]],
            "equalised-odds": lambda: [
                [i for i in rows if (self.y[i] == favourable) == right] for right in (True, False)
            ],
        }[name]()
        largest = Fraction(0)
        for part in parts:
            rates = []
            for g in set(self.groups.tolist()):
                here = [i for i in part if self.groups[i] == g]
                if here:
                    rates.append(Fraction(sum(said[i] == favourable for i in here), len(here)))
            largest = max(largest, max(rates) - min(rates)) if rates else largest
        return largest

    def fair(self, said: tuple[int, ...]) -> bool:
        for name, limit, which in self.rules:
            if name == "capacity":
                used, (least, most) = sum(k == which for k in said), limit
                if (least is not None and used < least) or (most is not None and used > most):
                    return False
            elif self.disparity(name, said, self.n_actions - 1 if which is None else which) > limit:
                return False
        return True

    def labellings(self) -> dict[tuple[int, ...], int]:
        """Everything that trees of the space say of the rows, with the fewest leaves for it."""
        cuts, everything = set(), (1 << self.n) - 1
        for test, column in zip(self.tests, self.X.T, strict=True):
            if test.column != self.group_column or self.space["split_on_group"]:
                true = sum(1 << i for i in range(self.n) if column[i])
                cuts |= {min(true, everything ^ true)} - {0}
        known: dict[tuple[int, int], dict[tuple[int, ...], int]] = {}

        def below(rows: int, depth: int) -> dict[tuple[int, ...], int]:
            if (rows, depth) in known:
                return known[rows, depth]
            out: dict[tuple[int, ...], int] = {}
            size = rows.bit_count()
            if size >= self.space["min_samples_leaf"]:
                out = {(k,) * size: 1 for k in range(self.n_actions)}
            for cut in cuts if depth else ():
                sides = rows & cut, rows & ~cut
                if not all(sides):
                    continue
                members = [i for side in sides for i in range(self.n) if side >> i & 1]
                order = sorted(range(size), key=members.__getitem__)
                for a, leaves in below(sides[0], depth - 1).items():
                    for b, more in below(sides[1], depth - 1).items():
                        both = a + b
                        message = tuple(both[j] for j in order)
                        out[message] = min(out.get(message, 99), leaves + more)
            known[rows, depth] = out
            return out

        most = self.space["max_leaf_nodes"] or 99
        found = below(everything, self.space["max_depth"])
        return {message: leaves for message, leaves in found.items() if leaves <= most}

    def best(self) -> Fraction | None:
        """The smallest value of all feasible trees; None if there is none."""
        return min(
            (self.value(s, leaves) for s, leaves in self.labellings().items() if self.fair(s)),
            default=None,
        )

    def front(self, name: str, which: int) -> list[tuple[Fraction, Fraction]]:
        """Corners (value, amount) of the value against a disparity or a number of rows."""
        points = sorted(
            (
                self.value(message, leaves),
                Fraction(sum(k == which for k in message))
                if name == "capacity"
                else self.disparity(name, message, which),
            )
            for message, leaves in self.labellings().items()
            if self.fair(message)
        )
        corners: list[tuple[Fraction, Fraction]] = []
        for value, amount in points:
            if not corners or amount < corners[-1][1]:
                corners.append((value, amount))
        return corners


# -- drawing -----------------------------------------------------------------------------------------


def draw(seed: int) -> Case:
    """A problem; equal and complementary columns, equal rows, thresholds and ties are frequent."""
    r = np.random.default_rng(seed)
    n, K = int(r.integers(1, 9)), int(r.choice([2, 2, 2, 3]))
    X, tests, depth = _features(r, n)
    n_groups = int(r.choice([1, 2, 2, 2, 3]))
    groups, group_column = r.integers(0, n_groups, n), None
    if len(tests) and r.random() < 0.5:
        group_column = tests[0].column
        if tests[0].kind == "is" and n_groups == 2 and r.random() < 0.7:
            X[:, 0] = groups
    weights = r.integers(0, 4, n)
    weights[0] = max(1, weights[0])
    task = str(r.choice(list(TASKS)))
    largest = int(r.choice([3, 3, 10, 10**4, 10**6]))
    matrix = r.integers(0, 9, (K, K)) * (1 - np.eye(K, dtype=int))
    names = OF_ACTIONS if task == "action-costs" else OF_CLASSES
    penalties = [
        Fraction(0)
        if r.random() < none
        else Fraction(int(r.integers(1, 5)), int(r.choice([7, 20])))
        for none in (0.7, 0.8)
    ]
    return Case(
        X=X,
        tests=tests,
        group_column=group_column,
        n_actions=K,
        task=task,
        y=r.integers(0, K, n),
        groups=groups,
        factor=r.integers(0, 2, n),
        weights=weights,
        matrix=matrix,
        table=r.integers(-largest, largest + 1, (n, K)),
        rules=tuple(_rule(r, names, n, K) for _ in range(int(r.choice([1, 1, 2, 3])))),
        leaf_penalty=penalties[0],
        split_penalty=penalties[1],
        space={
            "max_depth": depth,
            "max_leaf_nodes": None if r.random() < 0.6 else int(r.integers(1, 5)),
            "min_samples_leaf": int(r.choice([1, 1, 1, 2, 3])),
            "split_on_group": bool(r.random() < 0.5),
        },
    )


def _features(r: Any, n: int) -> tuple[np.ndarray, tuple[mt.BinaryFeature, ...], int]:
    """Columns, their meaning, and a depth for which brute force is quick."""
    style = int(r.integers(0, 6))
    if style == 0:
        chosen = r.choice(np.arange(-1, 18), size=int(r.integers(1, 18)), replace=False)
        thresholds = np.sort(chosen) + 0.5
        X = (r.integers(0, 18, n)[:, None] <= thresholds).astype(int)
        tests = tuple(mt.BinaryFeature("age", "<=", float(t)) for t in thresholds)
        return X, tests, int(r.integers(0, 3))
    depth = int(r.integers(0, 4))
    X = r.integers(0, 2, (n, int(r.integers(0, 4 if depth == 3 else 5))))
    if X.shape[1] >= 2 and style in (1, 2):
        X[:, 1] = X[:, 0] if style == 1 else 1 - X[:, 0]
    if style == 3 and n > 2:
        X[n // 2 :] = X[: n - n // 2]
    return X, tuple(mt.BinaryFeature(str(j)) for j in range(X.shape[1])), depth


def _rule(r: Any, names: tuple[str, ...], n: int, K: int) -> tuple[str, Any, Any]:
    name = str(r.choice(names))
    if name == "capacity":
        least = int(r.integers(0, n + 1)) if r.random() < 0.5 else None
        most = int(r.integers(0, n + 1)) if r.random() < 0.8 else None
        return name, (least, most), int(r.integers(0, K))
    limit = min(Fraction(1), Fraction(int(r.integers(0, 6)), int(r.choice([5, 6, 7, 12, 100]))))
    return name, limit, None if r.random() < 0.6 else int(r.integers(0, K))
