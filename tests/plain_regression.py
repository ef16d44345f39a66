"""Regression trees by enumeration in Fractions, for tests: no code of the package decides anything.

A tree here is None (a leaf) or (test, left, right) with test false on the left.
"""

from fractions import Fraction

import numpy as np

import milp_trees as mt


def random_problem(rng, rows=9, tests=3, depth=None, penalties=None, least=None):
    """A small problem of squared error, with what its trees cost in Fractions."""
    n, F = int(rng.integers(2, rows + 1)), int(rng.integers(1, tests + 1))
    X = rng.integers(0, 2, (n, F)).astype(np.uint8)
    K = int(rng.choice([1, 1, 2]))
    size, far = int(rng.choice([3, 20, 1000])), int(rng.choice([0, 0, 10**6]))
    Y = rng.integers(-size, size + 1, (n, K)) + far
    scale = int(rng.choice([1, 10, 1000]))
    weights = rng.integers(1, 5, n).astype(float) if rng.random() < 0.4 else None
    paid = rng.random() < 0.5 if penalties is None else penalties
    costs = {}
    if paid:
        costs = {
            "leaf_penalty": Fraction(int(rng.integers(0, 4)), 20),
            "split_penalty": Fraction(int(rng.integers(0, 3)), 30),
        }
        if rng.random() < 0.5:
            costs["feature_costs"] = {"x0": Fraction(int(rng.integers(0, 5)), 25)}
    data = mt.Dataset(
        X,
        targets=Y / scale,
        features=[mt.BinaryFeature(f"x{f}") for f in range(F)],
        **({} if weights is None else {"weights": weights}),
    )
    depth = int(rng.integers(1, 4)) if depth is None else depth
    smallest = int(rng.choice([1, 1, 2])) if least is None else least
    space = mt.Trees(max_depth=depth, min_samples_leaf=min(smallest, n))
    return mt.Problem(data, mt.tasks.SquaredError(**costs), space), Plain(
        X, Y, scale, weights, costs, depth, min(smallest, n)
    )


class Plain:
    """All trees of a problem and their values, from the definition."""

    def __init__(self, X, Y, scale, weights, costs, depth, least):
        self.X, self.depth, self.least = X, depth, least
        self.y = [[Fraction(int(v), scale) for v in row] for row in Y]
        self.w = [
            Fraction(1) if weights is None else Fraction(float(v))
            for v in (weights if weights is not None else range(len(Y)))
        ]
        self.leaf_price = costs.get("leaf_penalty", Fraction(0))
        split = costs.get("split_penalty", Fraction(0))
        of = costs.get("feature_costs", {})
        self.split_price = [split + of.get(f"x{f}", 0) for f in range(X.shape[1])]
        self.every = tuple(range(len(X)))
        self.paid = bool(self.leaf_price or split or of)
        self.norm = (self.loss(self.every) or Fraction(1)) if self.paid else Fraction(1)

    @property
    def whole(self):
        """What every value is at most: tolerances are shares of it."""
        far = Fraction(0)
        for k in range(len(self.y[0])):
            centre = sum(self.w[i] * self.y[i][k] for i in self.every) / sum(self.w)
            spread = max(abs(self.y[i][k] - centre) for i in self.every) + 1
            far += spread**2 * sum(self.w)
        return far / self.norm + 1

    def loss(self, rows):
        """Weighted squared error of the mean."""
        out, W = Fraction(0), sum(self.w[i] for i in rows)
        for k in range(len(self.y[0])):
            mean = sum(self.w[i] * self.y[i][k] for i in rows) / W
            out += sum(self.w[i] * (self.y[i][k] - mean) ** 2 for i in rows)
        return out

    def means(self, rows):
        """The predictions of a leaf."""
        W = sum(self.w[i] for i in rows)
        return [sum(self.w[i] * self.y[i][k] for i in rows) / W for k in range(len(self.y[0]))]

    def splits(self, rows, one=False):
        """(test, false rows, true rows); with `one`, of tests that divide alike the cheapest."""
        found = {}
        for f in sorted(range(self.X.shape[1]), key=lambda f: self.split_price[f] if one else 0):
            sides = [tuple(i for i in rows if self.X[i, f] == side) for side in (0, 1)]
            if min(map(len, sides)) >= self.least:
                found.setdefault(frozenset(sides) if one else f, (f, *sides))
        return found.values()

    def trees(self, rows=None, depth=None, trivial=True, one=False):
        """(value, tree) of every tree without empty or too small leaves.

        Without `trivial`, no two sibling leaves predict the same.
        """
        rows = self.every if rows is None else rows
        depth = self.depth if depth is None else depth
        yield self.loss(rows) / self.norm + self.leaf_price, None
        for f, *sides in self.splits(rows, one) if depth else ():
            left, right = (list(self.trees(side, depth - 1, trivial, one)) for side in sides)
            alike = not trivial and self.means(sides[0]) == self.means(sides[1])
            for a, s in left:
                for b, t in right:
                    if not (alike and s is None and t is None):
                        yield a + b + self.split_price[f], (f, s, t)

    def best(self, rows=None, depth=None):
        """The least value of a tree."""
        rows = self.every if rows is None else rows
        depth = self.depth if depth is None else depth
        found = self.loss(rows) / self.norm + self.leaf_price
        for f, *sides in self.splits(rows) if depth else ():
            found = min(found, sum(self.best(s, depth - 1) for s in sides) + self.split_price[f])
        return found


def leaves(tree):
    """Number of leaves."""
    return 1 if tree is None else leaves(tree[1]) + leaves(tree[2])


def leaf_rows(plain, tree, rows=None):
    """The rows of every leaf of a tree."""
    rows = plain.every if rows is None else rows
    if tree is None:
        return [rows]
    f, *below = tree
    sides = [[i for i in rows if plain.X[i, f] == side] for side in (0, 1)]
    return [
        leaf for t, side in zip(below, sides, strict=True) for leaf in leaf_rows(plain, t, side)
    ]


def uses(tree, f):
    """Whether a tree has a test."""
    return tree is not None and (tree[0] == f or uses(tree[1], f) or uses(tree[2], f))


def package_tree(nodes, data):
    """A tree of this file as one of the package, that predicts nothing."""
    from milp_trees.models.nodes import Branch, Leaf
    from milp_trees.models.tree import Tree

    def walk(node):
        if node is None:
            return Leaf(0)
        return Branch(data.features[node[0]], walk(node[1]), walk(node[2]))

    return Tree(walk(nodes), (0.0,))


def shape(node, index):
    """A tree of the package as one of this file."""
    if not hasattr(node, "left"):
        return None
    return index[node.test.column], shape(node.left, index), shape(node.right, index)
