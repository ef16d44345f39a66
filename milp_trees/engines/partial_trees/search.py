"""Branch and bound over partial trees; `milp_trees.engines.partial_trees.method` has its bounds."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from milp_trees.engines.partial_trees import kernels
from milp_trees.engines.partial_trees.apart import MOST_APART, Choice, best_choice, choices
from milp_trees.engines.partial_trees.nodes import Counters, Made, Node, Place, Units
from milp_trees.engines.partial_trees.parts import PartSplits, RowPart, RowParts
from milp_trees.engines.partial_trees.switches import PartialTreesSwitches
from milp_trees.tasks.count_views import LeafCounts

_NOTHING = np.zeros((0, 2), dtype=np.int64)
_ALONE = np.array([0, 1], dtype=np.int64)


@dataclass
class PartialTreesSearch:
    """One run.

    Parameters
    ----------
    view : LeafCounts
    parts : RowParts
    depth : int
    max_leaves : int or None
    switches : PartialTreesSwitches
    improved : callable
        Called without arguments after every new incumbent.
    """

    view: LeafCounts
    parts: RowParts
    depth: int
    max_leaves: int | None
    switches: PartialTreesSwitches
    improved: Callable[[], None]
    counters: Counters = field(default_factory=Counters)
    best: Units | None = None
    made: Made = None
    heap: list[tuple[int, float, int, Node]] = field(default_factory=list)
    current: Node | None = None
    seen: set[tuple[tuple[int, int], ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        theta = self.view.theta
        self.scale = np.array(
            [theta.denominator, theta.numerator * self.view.totals[1], self.view.multiplier],
            dtype=np.int64,
        )
        self.penalty = self.view.leaf_units
        self.ties = itertools.count()

    # -- the loop --------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Add the root as a leaf, and as a partial tree that is bounded by perfect separation."""
        positives, negatives = self.view.totals
        room = None if self.max_leaves is None else self.max_leaves - 1
        whole, fraction = kernels.areas(
            np.array([[positives, 0], [0, negatives]]), _NOTHING, np.array([0, 0]), self.scale
        )
        self.current = Node(
            ((self.parts.root, self.depth),),
            room,
            (int(whole[0]) - self.penalty, float(fraction[0])),
            None,
        )
        self.offer(self.value([self.parts.root]), None)

    def run(self, pause: Callable[[], None]) -> None:
        """Expand partial trees until none is better than the incumbent; `pause` may raise."""
        assert self.current is not None
        self.current = self._with_bound(self.current)
        while self.current is not None:
            pause()
            children = self.expand(self.current)
            child = (
                max(children, key=lambda node: node.bound, default=None)
                if self.switches.plunge
                else None
            )
            for other in children:
                if other is not child:
                    heapq.heappush(
                        self.heap, (-other.bound[0], -other.bound[1], next(self.ties), other)
                    )
            self.current = self._next(child)

    def _next(self, child: Node | None) -> Node | None:
        """The best child if `plunge` is on, otherwise the best of all partial trees."""
        assert self.best is not None
        if child is not None and child.bound > self.best:
            return child
        if self.heap and self.heap[0][3].bound > self.best:
            return heapq.heappop(self.heap)[3]
        self.heap.clear()
        return None

    @property
    def bound(self) -> Units:
        """An upper bound on the units of every tree."""
        open_bounds = [self.heap[0][3].bound] if self.heap else []
        if self.current is not None:
            open_bounds.append(self.current.bound)
        assert self.best is not None
        return max([self.best, *open_bounds])

    # -- values ----------------------------------------------------------------------------------------------

    def value(self, leaves: list[RowPart]) -> Units:
        """Units of the tree with these leaves."""
        steps = kernels.by_slope(np.concatenate([part.curves[0] for part in leaves]))
        whole, fraction = kernels.areas(steps, _NOTHING, np.array([0, 0]), self.scale)
        return int(whole[0]) - self.penalty * len(leaves), float(fraction[0])

    def offer(self, value: Units, made: Made) -> None:
        if self.best is None or value > self.best:
            self.best, self.made = value, made
            self.improved()

    def _open(self, part: RowPart, depth: int) -> Place:
        """A leaf with the number of levels that can be useful."""
        return (part, depth if part.p and part.q else 0)

    # -- branching -------------------------------------------------------------------------------------------

    def expand(self, node: Node) -> list[Node]:
        """Decide on one open leaf: it stays a leaf, or it gets one of its splits."""
        self.counters.expanded += 1
        chosen = self._choose(node)
        if chosen is None:
            return []
        part, depth = node.places[chosen]
        if node.room is not None:
            depth = min(depth, node.room)
        others = node.places[:chosen] + node.places[chosen + 1 :]
        children: list[Node] = []
        splits = self.parts.splits(part, last=depth == 1) if depth else PartSplits([], [])
        if splits.tests:
            children += self._split(node, others, part, depth, splits)
        if splits.tests and self.switches.refinement and not self.penalty and node.room is None:
            self.counters.not_fixed += 1
        else:
            children += self._fixed(node, others, part)
        return children

    def _choose(self, node: Node) -> int | None:
        """The open leaf with the largest possible gain."""
        gains = [
            self._gain(part, depth if node.room is None else min(depth, node.room))
            for part, depth in node.places
        ]
        return max(range(len(gains)), key=gains.__getitem__) if max(gains) > 0 else None

    def _gain(self, part: RowPart, depth: int) -> int:
        return (
            0 if not depth else int(kernels.spread(self.parts.curve(part, self.parts.level(depth))))
        )

    def _split(
        self, node: Node, others: tuple[Place, ...], part: RowPart, depth: int, splits: PartSplits
    ) -> list[Node]:
        leaves = len(node.places) + 1
        room = None if node.room is None else node.room - 1
        # The trees that the children are if nothing else is split.
        values = self._areas(others, 0, self.parts.side_curves(splits, 0), leaves)
        k = _largest(values)
        self.offer(
            (int(values[0][k]), float(values[1][k])), (part.number, splits.tests[k], node.made)
        )
        rest = [(p, d) for p, d in others if d]
        levels = self._levels(max([d for _, d in rest] + [depth - 1]), room)
        if not levels:
            return []
        bounds, top = self._bounds(
            others,
            lambda e: self.parts.side_curves(splits, self.parts.level(min(depth - 1, e))),
            leaves,
            levels,
        )
        kept, most = self._kept(bounds), None
        if kept and self.penalty and self.switches.apart:

            def sides(choice: Choice) -> tuple[np.ndarray, np.ndarray]:
                left, right = (
                    self.parts.level(min(depth - 1, choice.levels)) if here else 0
                    for here in (choice.left, choice.right)
                )
                return self.parts.side_curves(splits, left, right)

            bounds, most, kept = self._apart(others, sides, depth - 1, leaves, room, bounds, kept)
        children = []
        for k in kept:
            left, right = splits.sides[k]
            places = (*others, self._open(left, depth - 1), self._open(right, depth - 1))
            made = (part.number, splits.tests[k], node.made)
            limit = None if most is None else int(most[k])
            child = self._child(
                Node(places, room, (int(bounds[0][k]), float(bounds[1][k])), made),
                (top[0][k], top[1][k]),
                limit,
            )
            if child is not None:
                children.append(child)
        return children

    def _fixed(self, node: Node, others: tuple[Place, ...], part: RowPart) -> list[Node]:
        levels = self._levels(max([d for _, d in others], default=0), node.room)
        if not levels:
            return []
        alone = (part.curves[0], _ALONE)
        bounds, top = self._bounds(others, lambda e: alone, len(node.places), levels)
        kept, most = self._kept(bounds), None
        if kept and self.penalty and self.switches.apart:
            bounds, most, kept = self._apart(
                others, lambda choice: alone, 0, len(node.places), node.room, bounds, kept
            )
        if not kept:
            return []
        child = Node(
            (*others, (part, 0)),
            node.room,
            min(node.bound, (int(bounds[0][0]), float(bounds[1][0]))),
            node.made,
        )
        limited = self._child(child, (top[0][0], top[1][0]), None if most is None else int(most[0]))
        return [] if limited is None else [limited]

    def _child(self, child: Node, top: tuple[int, float], limit: int | None) -> Node | None:
        """The child with as many further leaves as can pay off, if it is new and open."""
        room = child.room
        if self.switches.leaf_limit and self.penalty:
            assert self.best is not None
            # The area without penalty, rounded up, minus what the incumbent and the leaves cost: e
            # more leaves can pay off only if e · penalty is below that.
            paid = int(top[0]) + (top[1] > 0) - self.penalty * len(child.places) - self.best[0]
            most = (
                (paid - 1) // self.penalty
                if limit is None
                else min(limit, (paid - 1) // self.penalty)
            )
            if room is None or most < room:
                self.counters.limited += 1
                room = most
            if room <= 0:
                return None
        if not any(depth for _, depth in child.places):
            return None
        if self.switches.permutations:
            key = tuple(sorted((part.number, depth) for part, depth in child.places))
            if key in self.seen:
                self.counters.duplicates += 1
                return None
            self.seen.add(key)
        return child._replace(room=room)

    # -- bounds ----------------------------------------------------------------------------------------------

    def _levels(self, depth: int, room: int | None) -> list[int]:
        """Numbers of further leaves with their own bound; the last includes all larger ones."""
        most = min(depth, self.parts.hulls + 1)
        if room is not None:
            most = min(most, room)
        return (
            list(range(1, most + 1))
            if self.penalty and self.switches.look_ahead
            else [most]
            if most > 0
            else []
        )

    def _bounds(
        self,
        others: tuple[Place, ...],
        curves: Callable[[int], tuple[np.ndarray, np.ndarray]],
        leaves: int,
        levels: list[int],
    ) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Largest units per child over the numbers of further leaves.

        With them comes the area (without penalty) that any number of leaves can reach.
        """
        best = None
        for e in levels:
            further = e if self.penalty and self.switches.look_ahead else 0
            whole, fraction = self._areas(others, e, curves(e), leaves + further)
            if best is None:
                best = (whole.copy(), fraction.copy())
            else:
                better = (whole > best[0]) | ((whole == best[0]) & (fraction > best[1]))
                best[0][better], best[1][better] = whole[better], fraction[better]
            last = (whole + self.penalty * (leaves + further), fraction)
        assert best is not None
        return best, last

    def _apart(
        self,
        others: tuple[Place, ...],
        sides: Callable[[Choice], tuple[np.ndarray, np.ndarray]],
        side_depth: int,
        leaves: int,
        room: int | None,
        bounds: tuple[np.ndarray, np.ndarray],
        kept: list[int],
    ) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, list[int]]:
        """Bounds that depend on which open leaves are split (see `apart`).

        Returned are bounds, largest numbers of further leaves, and the children that remain.
        """
        assert self.best is not None
        order = sorted(
            (i for i, (_, depth) in enumerate(others) if depth),
            key=lambda i: -self._gain(*others[i]),
        )
        apart, free = order[:MOST_APART], set(order[MOST_APART:])
        free_depth = max([others[i][1] for i in free], default=0)
        bases: dict[tuple[tuple[int, ...], int, int], np.ndarray] = {}

        def found() -> Iterator[tuple[Choice, np.ndarray, np.ndarray]]:
            for choice in choices(
                [others[i][1] for i in apart], free_depth, side_depth, self.parts.hulls + 1, room
            ):
                key = (choice.apart, choice.levels, choice.others_levels)
                if key not in bases:
                    split = {apart[i] for i in choice.apart}
                    levels = [
                        choice.levels if i in split else choice.others_levels if i in free else 0
                        for i in range(len(others))
                    ]
                    steps = [
                        self.parts.curve(p, self.parts.level(min(d, level)))
                        for (p, d), level in zip(others, levels, strict=True)
                    ]
                    bases[key] = kernels.by_slope(np.concatenate(steps)) if steps else _NOTHING
                whole, fraction = kernels.areas(bases[key], *sides(choice), self.scale)
                yield choice, whole - self.penalty * (leaves + choice.further), fraction

        whole, fraction, most = best_choice(found(), self.best, self.penalty, len(bounds[0]))
        left = [k for k in kept if (whole[k], fraction[k]) > self.best]
        self.counters.apart += len(kept) - len(left)
        return (whole, fraction), most, left

    def _areas(
        self, others: tuple[Place, ...], e: int, curves: tuple[np.ndarray, np.ndarray], leaves: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Units of every child when open leaves reach their curves of level e."""
        steps = [self.parts.curve(part, self.parts.level(min(depth, e))) for part, depth in others]
        base = kernels.by_slope(np.concatenate(steps)) if steps else _NOTHING
        whole, fraction = kernels.areas(base, *curves, self.scale)
        return whole - self.penalty * leaves, fraction

    def _kept(self, bounds: tuple[np.ndarray, np.ndarray]) -> list[int]:
        """Children that may be better than the incumbent."""
        assert self.best is not None
        whole, fraction = bounds
        keep = (whole > self.best[0]) | ((whole == self.best[0]) & (fraction > self.best[1]))
        self.counters.generated += len(whole)
        self.counters.bounded += int((~keep).sum())
        kept: list[int] = np.flatnonzero(keep).tolist()
        return kept

    def _with_bound(self, node: Node) -> Node | None:
        """The root with its bound and as many further leaves as can pay off; None if none can.

        The bound is that of perfect separation.
        """
        if self.switches.leaf_limit and self.penalty:
            whole, fraction = kernels.areas(
                np.array([[node.places[0][0].p, 0], [0, node.places[0][0].q]]),
                _NOTHING,
                np.array([0, 0]),
                self.scale,
            )
            limited = self._child(node, (int(whole[0]), float(fraction[0])), None)
            if limited is None:
                return None
            node = limited
        levels = self._levels(node.places[0][1], node.room)
        if not levels:
            return node
        bounds, _ = self._bounds(node.places, lambda e: (_NOTHING, np.array([0, 0])), 1, levels)
        return node._replace(bound=(int(bounds[0][0]), float(bounds[1][0])))


def _largest(values: tuple[np.ndarray, np.ndarray]) -> int:
    whole, fraction = values
    ties = np.flatnonzero(whole == whole.max())
    return int(ties[fraction[ties].argmax()])
