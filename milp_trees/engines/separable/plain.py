"""The recursion of `separable` in plain Python, from the six parts alone: its specification.

These are equations (3) to (8) and (50) of van der Linden, de Weerdt, Demirović (2023, *Necessary and
sufficient conditions for optimal decision trees using dynamic programming*). A set of rows is an
integer whose bits are the rows. A state with n rows takes F · L pairs of states for L leaves; no
state is bounded, and nothing is counted for pairs of tests.
`tests/unit/engines/test_separable_plain.py` compares it with `separable`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from milp_trees.models.space import Trees, full_leaves
from milp_trees.tasks.states_view import Integers, States


class PlainStates:
    """The best values of states.

    Parameters
    ----------
    view : States
    space : Trees
    """

    def __init__(self, view: States, space: Trees) -> None:
        self.view, n = view, view.n_rows
        self.size, self.sums = max(1, space.min_samples_leaf), view.sums.tolist()
        self.tests = [sum(1 << r for r in range(n) if view.X[r, f]) for f in range(view.n_features)]
        self.everything, self.depth = (1 << n) - 1, min(space.depth, view.n_features, n)
        self.leaves = space.max_leaf_nodes or full_leaves(self.depth)
        #: Set, context, depth and most leaves → values.
        self.table: dict[tuple[int, Integers, int, int], list[Integers]] = {}

    def values(self) -> list[Integers]:
        """The best values of all rows; none if no tree is allowed."""
        return self.solve(self.everything, self.view.start, self.depth, self.leaves)

    def solve(self, bits: int, context: Integers, depth: int, leaves: int) -> list[Integers]:
        """Values of trees of a state that no other one is better than; equal ones stand once."""
        leaves = min(leaves, full_leaves(depth))
        key = bits, context, depth, leaves
        if key not in self.table:
            sums, found = self.sums_of(bits), list[Integers]()
            if sums[0] >= self.size:
                found += self.of_leaves(sums, context)
                for test in range(len(self.tests)):
                    for most in range(1, leaves):
                        found += self.of_split(
                            bits, context, test, depth - 1, (most, leaves - most)
                        )
            self.table[key] = self.best(self.allowed(found, sums, context))
        return self.table[key]

    def sums_of(self, bits: int) -> Integers:
        """Rows and statistics, summed over a set."""
        total = [0] * len(self.sums[0])
        while bits:
            row = self.sums[(bits & -bits).bit_length() - 1]
            total = [a + b for a, b in zip(total, row, strict=True)]
            bits &= bits - 1
        return tuple(total)

    def of_leaves(self, sums: Integers, context: Integers) -> Iterator[Integers]:
        """The value of every leaf (part 1)."""
        for action in range(self.view.n_actions):
            yield self.view.leaf(sums, action, context, self.view.tables)

    def of_split(
        self, bits: int, context: Integers, test: int, depth: int, leaves: tuple[int, int]
    ) -> Iterator[Integers]:
        """All pairs of values of both sides, combined (4), with the cost of the split (1)."""
        view, sides = self.view, (bits & ~self.tests[test], bits & self.tests[test])
        if 0 in sides:
            return
        left, right = (  # the context below a split is the transition (2)
            self.solve(sides[side], view.below(context, test, side), depth, leaves[side])
            for side in (0, 1)
        )
        for a in left:
            for b in right:
                value = view.added(a, b)
                if view.split is not None:
                    cost = view.split(self.sums_of(bits), test, context, view.tables)
                    value = view.added(value, cost)
                yield value

    def allowed(
        self, values: Iterable[Integers], sums: Integers, context: Integers
    ) -> list[Integers]:
        """The values that the constraint allows (5)."""
        test, tables = self.view.feasible, self.view.tables
        return [v for v in values if test is None or test(v, sums, context, tables)]

    def best(self, values: list[Integers]) -> list[Integers]:
        """The values that no other one is better than (3), each once."""
        different = list(dict.fromkeys(tuple(map(int, v)) for v in values))
        return [v for v in different if not any(self.view.is_better(o, v) for o in different)]
