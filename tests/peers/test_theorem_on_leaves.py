"""Hu, Rudin and Seltzer 2019 (OSDT), theorem C.3: a bound on the leaves of better trees is false.

It says: let a tree have H leaves, of which some are to be split, let b be the loss of the others plus
λH, and R the best value so far. Whatever tree comes of it and is better than R has H' leaves with
H' < min(H + ⌊(R − b)/λ⌋, 2^M). True is H' ≤ H + ⌈(R − b)/λ⌉ − 1, which allows one leaf more unless
(R − b)/λ is whole. Here the first tree is one leaf, which is split, so H = 1 and b = λ.
"""

import math
import random
from fractions import Fraction
from functools import lru_cache

import milp_trees as mt
from milp_trees.testing import problem


def fewest_errors(rows, labels):
    """The fewest errors of a tree with exactly h leaves over the rows, as a function of h."""

    @lru_cache(None)
    def best(inside, h):
        if h == 1:
            ones = sum(labels[i] for i in inside)
            return min(ones, len(inside) - ones)
        values = [math.inf]
        for f in range(len(rows[0])):
            yes = tuple(i for i in inside if rows[i][f])
            no = tuple(i for i in inside if not rows[i][f])
            if yes and no:
                values += [best(no, k) + best(yes, h - k) for k in range(1, h)]
        return min(values)

    everything = tuple(range(len(rows)))
    return lambda h: best(everything, h)


def printed_allows(h, R, penalty, M):
    return h < min(1 + math.floor((R - penalty) / penalty), 2**M)


def repaired_allows(h, R, penalty, M):
    return h <= min(math.ceil((R - penalty) / penalty), 2**M)


def test_the_theorem_as_printed_excludes_the_best_tree():
    """Ten rows, the first feature perfect, λ = 1/5: one leaf is worth 1/2, two leaves 2/5."""
    requested = problem("perfect_first_split")
    rows, labels = requested.dataset.X.tolist(), requested.dataset.y.tolist()
    penalty, errors = Fraction(1, 5), fewest_errors(rows, labels)
    R, better = (Fraction(errors(h), 10) + penalty * h for h in (1, 2))
    assert (R, better) == (Fraction(1, 2), Fraction(2, 5))
    assert mt.solve(requested, "enumerate").value.exact == better
    assert not printed_allows(2, R, penalty, 2)
    assert repaired_allows(2, R, penalty, 2)


def test_the_repaired_bound_excludes_no_better_tree():
    """On random problems; the printed one does, on many."""
    rng, excluded = random.Random(3), 0
    for _ in range(150):
        n, M = rng.randint(3, 8), rng.randint(1, 3)
        rows = [[rng.randint(0, 1) for _ in range(M)] for _ in range(n)]
        labels = [rng.randint(0, 1) for _ in range(n)]
        penalty, errors = Fraction(rng.randint(1, 12), 40), fewest_errors(rows, labels)
        R = Fraction(errors(1), n) + penalty
        for h in range(2, 2**M + 1):
            if errors(h) < math.inf and Fraction(errors(h), n) + penalty * h < R:
                assert repaired_allows(h, R, penalty, M)
                excluded += not printed_allows(h, R, penalty, M)
    assert excluded > 10
