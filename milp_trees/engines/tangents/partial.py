"""Partial trees: their first tests are fixed, and in some parts nothing is decided yet."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from milp_trees.engines.tangents.rows import TangentPart, TangentRows
from milp_trees.engines.tangents.sums import (
    LEAF,
    Evidence,
    LeafAt,
    Tangent,
    leaf_at,
    options_of,
)

#: Tests so far: (node, test, earlier ones).
Made = tuple[int, int, "Made"] | None


class OpenPart(NamedTuple):
    """A part in which nothing is decided: its node and rows, the levels left, and its choices."""

    node: int
    part: TangentPart
    depth: int
    options: np.ndarray


class Partial(NamedTuple):
    """A partial tree; the largest sums of all trees that it can become, and what they promise."""

    made: Made
    leaves: tuple[LeafAt, ...]
    open: tuple[OpenPart, ...]
    evidence: Evidence
    rank: Any

    @property
    def tests(self) -> dict[int, int]:
        """Tests by node."""
        out, made = {}, self.made
        while made is not None:
            out[made[0]], made = made[1], made[2]
        return out

    def child(self, rows: TangentRows, i: int, k: int, evidence: Evidence, rank: Any) -> Partial:
        """The partial tree in which a choice is made."""
        x, leaves = self.open[i], list(self.leaves)
        places, option = [*self.open[:i], *self.open[i + 1 :]], int(x.options[k])
        if option == LEAF:
            leaves.append(leaf_at(x.node, x.part))
            return Partial(self.made, tuple(leaves), tuple(places), evidence, rank)
        for side, part in enumerate(rows.divide(x.part, option)):
            node, options = 2 * x.node + side, options_of(part, x.depth - 1)
            if len(options) == 1:
                leaves.append(leaf_at(node, part))
            else:
                places.append(OpenPart(node, part, x.depth - 1, options))
        made = (x.node, option, self.made)
        return Partial(made, tuple(leaves), tuple(places), evidence, rank)


class Known(NamedTuple):
    """The largest sums under one tangent, for each choice in each open part."""

    tangent: Tangent
    sums: tuple[np.ndarray, ...]


class Choices:
    """The choices of a partial tree that are still in reach.

    The trees with a choice are in reach if in one layer of the objective (for one corner, or one
    number of leaves), their largest sum is enough under every tangent.

    Parameters
    ----------
    objective : Areas or Errors
    partial : Partial
    """

    def __init__(self, objective: Any, partial: Partial) -> None:
        self.objective, self.partial = objective, partial
        self.known: list[Known] = []
        self._begin()

    def _begin(self) -> None:
        """Put everything in reach that is so by what was known before."""
        objective, partial = self.objective, self.partial
        self.version = objective.version
        self.reached: np.ndarray = np.ones(len(objective.layers), dtype=bool)
        for tangent, sums in partial.evidence:
            self.reached &= objective.excesses(tangent, sums) >= 0
        self.masks: list[np.ndarray] = [
            np.tile(self.reached, (len(x.options), 1)) for x in partial.open
        ]

    def add(self, known: Known) -> None:
        """Take in the sums under a tangent, and drop the choices that are now out of reach."""
        self.known.append(known)
        new = [known]
        if self.version != self.objective.version:  # for a better tree, less is in reach
            self._begin()
            new = self.known
        for one in new:
            for mask, sums in zip(self.masks, one.sums, strict=True):
                mask &= self.objective.excesses(one.tangent, sums) >= 0
        for mask in self.masks:
            self.reached &= mask.any(axis=0)
        for mask in self.masks:
            mask &= self.reached
        self._keep([np.asarray(mask.any(axis=1)) for mask in self.masks])

    def _keep(self, kept: list[np.ndarray]) -> None:
        """Drop the other choices."""
        pairs = list(zip(self.partial.open, kept, strict=True))
        self.partial = self.partial._replace(
            open=tuple(x._replace(options=x.options[keep]) for x, keep in pairs)
        )
        self.masks = [mask[keep] for mask, keep in zip(self.masks, kept, strict=True)]
        self.known = [
            Known(t, tuple(s[keep] for s, keep in zip(sums, kept, strict=True)))
            for t, sums in self.known
        ]

    def reached_in(self, i: int) -> list[int]:
        """The choices in open part i that are still in reach, those furthest in reach first."""
        objective = self.objective
        over = [objective.excesses(tangent, sums[i]) for tangent, sums in self.known]
        excess = np.min(over, axis=0).max(axis=1, initial=-np.inf)
        return [k for k in np.argsort(-excess, kind="stable").tolist() if excess[k] >= 0]

    def evidence(self, i: int, k: int) -> Evidence:
        """What is known of the trees with choice k in open part i."""
        return tuple((tangent, sums[i][k]) for tangent, sums in self.known)
