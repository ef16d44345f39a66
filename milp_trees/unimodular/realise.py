"""Graph realisation: find a tree in which given sets of edges are paths, or show there is none.

The algorithm is Tutte's (An algorithm for determining whether a given binary matroid is graphic,
1960), in the form of A. Schrijver (1986, section 20.1), with two changes that make it fast on
sparse input. First, of any three edges of a path one is not at its end, and removing it (with the
paths through it) must leave at least two bridges; so only three edges are tried. Second, labels of
the paths through the edge show which bridges may be on the same side, so sets of edges need not be
compared.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from milp_trees.common.limits import Deadline


@dataclass
class _Bridge:
    """A part of the tree that is connected without the split edge.

    Parameters
    ----------
    edges : set of int
        Its edges.
    label : dict
        Path through the split edge that enters the bridge → label; paths with equal labels use the
        same edges of the bridge.
    stretches : dict
        Edges of the bridge that such a path uses → label, in the order of labels.
    inner : list of frozenset
        Paths that stay within the bridge.
    """

    edges: set[int]
    label: dict[int, int] = field(default_factory=dict)
    stretches: dict[frozenset[int], int] = field(default_factory=dict)
    inner: list[frozenset[int]] = field(default_factory=list)
    side: int = 0

    def constant_on(self, other: _Bridge) -> bool:
        """Whether all paths that enter the other bridge leave this one at the same vertex."""
        labels = iter(other.label)
        first = self.label.get(next(labels))
        return all(self.label.get(p) == first for p in labels)


@dataclass
class _Piece:
    """A set of paths to realise, and the edge at which it was split."""

    paths: list[frozenset[int]]
    edges: set[int]
    split: int = -1
    bridges: list[_Bridge] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    tree: dict[int, tuple[int, int]] = field(default_factory=dict)


def realise(
    paths: Iterable[Iterable[int]], deadline: Deadline
) -> dict[int, tuple[int, int]] | None:
    """A tree in which each given set of edges is a path."""
    sets = list(dict.fromkeys(map(frozenset, paths)))
    pieces = [_Piece(sets, set().union(*sets))]
    draw = random.Random(0)  # chooses edges to split at; the answer does not depend on it
    for piece in pieces:  # the list grows during the loop
        deadline.check()
        if max(map(len, piece.paths), default=0) <= 2:
            continue
        if not _split(piece, draw) or not _take_sides(piece.bridges, deadline):
            return None
        for bridge in piece.bridges:
            through = [stretch | {piece.split} for stretch in bridge.stretches]
            piece.parts.append(len(pieces))
            pieces.append(_Piece(bridge.inner + through, bridge.edges | {piece.split}))
    vertices = _Vertices()
    for piece in reversed(pieces):
        deadline.check()
        if piece.split < 0:  # paths of one or two edges form a star
            centre = vertices.new()
            piece.tree = {e: (centre, vertices.new()) for e in piece.edges}
        else:
            _compose(piece, [pieces[k] for k in piece.parts], vertices)
            for k in piece.parts:
                pieces[k].tree = {}
    return {e: (vertices.find(u), vertices.find(v)) for e, (u, v) in pieces[0].tree.items()}


def _split(piece: _Piece, draw: random.Random) -> bool:
    """Split at the best of three edges of a longest path.

    False if none of them has two bridges; then there is no tree.
    """
    longest = max(piece.paths, key=len)
    best: list[_Bridge] = []
    for edge in draw.sample(sorted(longest), 3):
        bridges = _bridges(piece, edge)
        if len(bridges) > 1 and (
            not best or max(len(b.edges) for b in bridges) < max(len(b.edges) for b in best)
        ):
            piece.split, best = edge, bridges
    if not best:
        return False
    piece.bridges = best
    home = {e: bridge for bridge in best for e in bridge.edges}
    for p, path in enumerate(piece.paths):
        if piece.split not in path:
            home[next(iter(path))].inner.append(path)
            continue
        inside: dict[int, tuple[_Bridge, set[int]]] = {}
        for e in path:
            if e != piece.split:
                inside.setdefault(id(home[e]), (home[e], set()))[1].add(e)
        for bridge, edges in inside.values():
            bridge.label[p] = bridge.stretches.setdefault(frozenset(edges), len(bridge.stretches))
    return True


def _bridges(piece: _Piece, split: int) -> list[_Bridge]:
    """The parts that are connected by the paths without a given edge."""
    parent = {e: e for e in piece.edges}

    def root(e: int) -> int:
        while parent[e] != e:
            parent[e] = parent[parent[e]]
            e = parent[e]
        return e

    for path in piece.paths:
        if split not in path:
            edges = iter(path)
            first = root(next(edges))
            for e in edges:
                parent[root(e)] = first
    groups: dict[int, set[int]] = {}
    for e in piece.edges:
        if e != split:
            groups.setdefault(root(e), set()).add(e)
    return [_Bridge(edges) for edges in groups.values()]


def _take_sides(bridges: list[_Bridge], deadline: Deadline) -> bool:  # noqa: C901
    """Choose the end of the split edge for each bridge.

    False if the bridges that must not be on the same side form an odd cycle.
    """
    entering: dict[int, list[int]] = {}
    for k, bridge in enumerate(bridges):
        if len(bridge.label) > 1:  # a single path fits anywhere
            for p in bridge.label:
                entering.setdefault(p, []).append(k)
    overlap: list[set[int]] = [set() for _ in bridges]
    seen: set[tuple[int, int]] = set()
    for together in entering.values():
        deadline.check()
        for a, k in enumerate(together):
            for other in together[a + 1 :]:
                if (k, other) not in seen:
                    seen.add((k, other))
                    if not bridges[k].constant_on(bridges[other]) and not bridges[
                        other
                    ].constant_on(bridges[k]):
                        overlap[k].add(other)
                        overlap[other].add(k)
    side: dict[int, int] = {}
    for k in range(len(bridges)):
        if k in side:
            continue
        side[k] = 0
        stack = [k]
        while stack:
            at = stack.pop()
            for other in overlap[at]:
                if other not in side:
                    side[other] = 1 - side[at]
                    stack.append(other)
                elif side[other] == side[at]:
                    return False
    for k, bridge in enumerate(bridges):
        bridge.side = side[k]
    return True


class _Vertices:
    """Vertices that can be merged."""

    def __init__(self) -> None:
        self.parent: list[int] = []

    def new(self) -> int:
        self.parent.append(len(self.parent))
        return len(self.parent) - 1

    def find(self, v: int) -> int:
        while self.parent[v] != v:
            self.parent[v] = self.parent[self.parent[v]]
            v = self.parent[v]
        return v

    def join(self, u: int, v: int) -> None:
        self.parent[self.find(u)] = self.find(v)


def _compose(piece: _Piece, parts: list[_Piece], vertices: _Vertices) -> None:
    """Attach the trees of the bridges to the two ends of the split edge.

    Bridges that are entered by the most paths come first.
    """
    split = piece.split
    ends = (vertices.new(), vertices.new())
    piece.tree = {split: ends}
    reached: tuple[dict[int, int], dict[int, int]] = ({}, {})  # per side: last vertex of a path
    order = sorted(
        range(len(parts)),
        key=lambda k: (-len(piece.bridges[k].label), len(piece.bridges[k].stretches)),
    )
    for k in order:
        bridge, tree = piece.bridges[k], parts[k].tree
        x, y = map(vertices.find, tree.pop(split))
        # The split edge is a leaf of the bridge's tree: the bridge begins at the end that other
        # edges touch.
        begin = x if any(vertices.find(v) == x for edge in tree.values() for v in edge) else y
        at = {vertices.find(reached[bridge.side].get(p, ends[bridge.side])) for p in bridge.label}
        if len(at) != 1:
            raise AssertionError(
                "Bridges on one side do not fit; this contradicts Tutte's theorem."
            )
        vertices.join(begin, at.pop())
        stops = []
        for stretch in bridge.stretches:
            odd = vertices.find(begin)
            for e in stretch:  # every vertex of a path except its ends occurs twice
                odd ^= vertices.find(tree[e][0]) ^ vertices.find(tree[e][1])
            stops.append(odd)
        for p, label in bridge.label.items():
            reached[bridge.side][p] = stops[label]
        piece.tree.update(tree)
