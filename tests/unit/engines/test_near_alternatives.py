"""What another split at a node would cost, against a search over all subtrees."""

import random
from fractions import Fraction

import milp_trees as mt
from milp_trees.common.limits import Deadline
from milp_trees.engines.near_best.alternatives import other_splits
from milp_trees.engines.near_best.method import NearBestTrees
from milp_trees.models.nodes import Leaf

NONE = 10**9


class Oracle:
    """Costs of subtrees on sets of rows, by trying everything."""

    def __init__(self, X, y, classes, least, penalty):
        self.X, self.least, self.penalty = X, least, penalty
        self.cost = [[int(v != a) for a in range(classes)] for v in y]

    def leaf(self, rows):
        return min(map(sum, zip(*(self.cost[i] for i in rows)))) + self.penalty

    def best(self, rows, depth):
        ways = [self.leaf(rows)] if len(rows) >= self.least else []
        if depth:
            ways += [self.split(rows, depth, f) for f in range(len(self.X[0]))]
        return min(ways, default=NONE)

    def split(self, rows, depth, f):
        sides = self.sides(rows, f)
        return sum(self.best(s, depth - 1) for s in sides) if all(sides) else NONE

    def sides(self, rows, f):
        return tuple(tuple(i for i in rows if self.X[i][f] == v) for v in (0, 1))

    def of(self, node, rows, index):
        if isinstance(node, Leaf):
            return sum(self.cost[i][node.action] for i in rows) + self.penalty
        left, right = self.sides(rows, index[node.test])
        return self.of(node.left, left, index) + self.of(node.right, right, index)


def random_problem(rng):
    n, F, K = rng.randint(5, 12), rng.randint(1, 4), rng.choice([2, 3])
    X = [[rng.randint(0, 1) for _ in range(F)] for _ in range(n)]
    if F > 1 and rng.random() < 0.5:  # an equal or complementary column
        flip = rng.randint(0, 1)
        X = [[row[0], row[0] ^ flip, *row[2:]] for row in X]
    y = [*range(K), *(rng.randrange(K) for _ in range(n - K))]
    return X, y, K, rng.choice([1, 1, 2]), rng.choice([0, 0, Fraction(1, 20)]), rng.randint(1, 3)


def test_every_split_at_every_node_costs_what_a_search_over_all_subtrees_says():
    rng, seen = random.Random(1), 0
    NearBestTrees().warm_up()
    while seen < 60:
        X, y, K, least, penalty, depth = random_problem(rng)
        n, data = len(y), mt.Dataset(X, y=y)
        space = mt.Trees(max_depth=depth, min_samples_leaf=least)
        problem = mt.Problem(data, mt.Accuracy(leaf_penalty=penalty), space)
        tree = mt.solve(problem, rng.choice(["dp", "cart"])).tree
        if tree is None or not tree.depth:
            continue
        oracle = Oracle(X, y, K, least, penalty * n)
        most = rng.choice([1, 3, 100])
        found, branches = other_splits(problem, tree, None, 2**30, most)
        seen += len(branches)
        _check(oracle, data, tree, depth, n if penalty else 1, most, zip(found, branches))


def _check(oracle, data, tree, depth, unit, most, found):
    index, everything = data.index, tuple(range(data.n_rows))
    whole = oracle.of(tree.root, everything, index)
    queue = [(tree.root, everything, depth)]
    while queue:
        node, rows, left = queue.pop(0)
        if isinstance(node, Leaf):
            continue
        others, branch = next(found)
        assert branch is node
        rest = whole - oracle.of(node, rows, index)
        expected = {}
        for f, test in enumerate(data.features):
            cost = oracle.split(rows, left, f)
            if cost < NONE:
                value = Fraction(rest + cost, unit)
                expected.setdefault(frozenset(oracle.sides(rows, f)), (value, []))[1].append(test)
        own = {
            frozenset(oracle.sides(rows, index[s.tests[0]])): (s.value, list(s.tests))
            for s in others.splits
            if s.tests
        }
        if others.up_to is not None:
            expected = {k: v for k, v in expected.items() if v[0] <= others.up_to}
            assert len(own) >= most
        assert own == expected
        values = [s.value for s in others.splits]
        assert values == sorted(values)
        leaf = Fraction(rest + oracle.leaf(rows), unit)
        assert [s.value for s in others.splits if not s.tests] == [leaf]
        assert all(s.current == (node.test in s.tests) for s in others.splits)
        sides = oracle.sides(rows, index[node.test])
        queue += [(node.left, sides[0], left - 1), (node.right, sides[1], left - 1)]
    assert next(found, None) is None


def test_a_deadline_leaves_the_branches_that_take_the_most_time():
    problem = mt.Problem(mt.load("breast-cancer"), mt.Accuracy(), mt.Trees(max_depth=4))
    tree = mt.solve(problem, "cart").tree
    found, branches = other_splits(problem, tree, Deadline.after(0.0), 2**30, 5)
    assert len(found) == len(branches) == tree.n_leaves - 1
    assert found[0] is None
