r"""Data for decisions: features, true cost vectors and the set of decisions, as the papers on
"predict, then optimise" generate them.

Shortest path (Elmachtoub, Grigas 2022, *Smart "predict, then optimize"*): a random 0/1 matrix B
says which features make which edge dear,

.. math:: c_{ij}=\Bigl[\bigl(\tfrac1{\sqrt p}(Bx_i)_j+\text{inner}\bigr)^{\deg}+\text{outer}\Bigr]\,\varepsilon_{ij},\qquad
   \varepsilon_{ij}\sim U[1-\bar\varepsilon,\,1+\bar\varepsilon].

Two roads and news recommendation follow Elmachtoub, Liang, McNellis (2020), *Decision trees for
decision-making under the predict-then-optimize framework*.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from milp_trees.errors import DataError

if TYPE_CHECKING:
    from milp_trees.decisions.base import DecisionSet
    from milp_trees.decisions.paths import GraphPaths

#: Where the cheaper of the two roads changes: the positive root of 25x² - x - 1.74.
CROSSING = (1 + 175**0.5) / 50


class ShortestPathData(NamedTuple):
    """Rows of a noisy shortest path problem.

    Parameters
    ----------
    X : float array of shape (n, p)
    C : float array of shape (n, d)
        True costs of the d edges.
    decisions : Paths
    B : 0/1 array of shape (d, p)
        What makes the edges dear; pass it on for further rows of the same problem.
    """

    X: np.ndarray
    C: np.ndarray
    decisions: GraphPaths
    B: np.ndarray


def shortest_path_data(
    n: int,
    features: int = 5,
    degree: float = 1,
    noise: float = 0.0,
    grid: tuple[int, int] = (4, 4),
    seed: int = 0,
    inner: float = 3.0,
    outer: float = 1.0,
    uniform: bool = True,
    B: np.ndarray | None = None,
) -> ShortestPathData:
    """Noisy shortest paths on a grid.

    Parameters
    ----------
    n : int
    features : int, default=5
        p.
    degree : float, default=1
        The higher, the further from linear the costs are in the features.
    noise : float, default=0
        Half width of the factor that every cost is multiplied with, between 0 and 1.
    grid : (rows, columns) of nodes, default (4, 4)
        24 edges, 20 paths.
    inner, outer : float
        3 and 1 in the first paper, the default.
    uniform : bool, default=True
        Features uniform on [0, 1]; otherwise standard normal.
    B : 0/1 array of shape (d, p), optional
        Of the training rows, for test rows of the same problem (with another seed); drawn with
        probability 1/2 by default.

    Raises
    ------
    DataError
        Numbers out of range; a B of another shape; costs that are no numbers (a negative base with
        a broken degree).
    """
    from milp_trees.decisions.paths import grid_paths

    if n < 1 or features < 1 or not 0 <= noise <= 1:
        raise DataError(
            f"Shortest path data need n >= 1, features >= 1 and 0 <= noise <= 1; n={n}, features={features}, noise={noise} were given."
        )
    if not 0 < degree < math.inf or not math.isfinite(inner) or not math.isfinite(outer):
        raise DataError(
            f"Shortest path data need a finite degree above 0, and finite inner and outer; {degree:g}, {inner:g} and {outer:g} were given."
        )
    S = grid_paths(*grid)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, 2, (S.dimension, features))
    B = drawn if B is None else np.asarray(B)
    if B.shape != drawn.shape:
        raise DataError(
            f"B has shape {B.shape}; {S.dimension} edges and {features} features need {drawn.shape}."
        )
    X = rng.random((n, features)) if uniform else rng.standard_normal((n, features))
    with np.errstate(invalid="ignore", over="ignore"):
        C = (X @ B.T / np.sqrt(features) + inner) ** degree + outer
    if not np.isfinite(C).all():
        raise DataError(
            f"Some costs are no numbers (a negative base has no power {degree:g}) or too large; take a whole or smaller degree, or a larger `inner`."
        )
    return ShortestPathData(X, C * rng.uniform(1 - noise, 1 + noise, C.shape), S, B)


class RoadData(NamedTuple):
    """Rows of the two roads: X (n, 1), C (n, 2), and "the cheaper of two"."""

    X: np.ndarray
    C: np.ndarray
    decisions: DecisionSet


def two_roads(n: int = 10_000, seed: int = 0) -> RoadData:
    r"""The illustrative example: x uniform on [0, 1], road 1 costs :math:`5x+1.9`, road 2
    :math:`(5x+0.4)^2`; road 2 is cheaper below x = 0.28458.

    The stream of random numbers is NumPy's legacy one, which no version changes: the first rows of
    a larger n are those of a smaller one.
    """
    from milp_trees.decisions.listed import UnitSimplex

    if n < 1:
        raise DataError(f"Two roads need n >= 1 rows; n={n} was given.")
    x = np.random.RandomState(seed).uniform(0.0, 1.0, n)
    return RoadData(
        x[:, None],
        np.column_stack([5 * x + 1.9, (5 * x + 0.4) ** 2]),
        UnitSimplex(["road1", "road2"]),
    )


class NewsData(NamedTuple):
    """Groups of readers of a news site.

    Parameters
    ----------
    X : float array of shape (n, p)
        Features of a group.
    C : float array of shape (n, d)
        Minus the probability that a reader of the group clicks on an article of the kind.
    weights : float array of shape (n,)
        Records (visits) of the group.
    """

    X: np.ndarray
    C: np.ndarray
    weights: np.ndarray


def news_data(
    n: int = 1000,
    features: int = 5,
    articles: int = 6,
    records: int = 4000,
    rate: float = 0.04,
    seed: int = 0,
) -> NewsData:
    """Synthetic readers in the form of the published experiment: no row comes from a real log.

    Features are memberships in clusters of readers (not negative, sum 1), as in the log; every kind
    of article has a taste over the clusters, with an interaction of two of them, so that clicks are
    not linear in the features. Groups differ in size (lognormal, `records` visits on average, each
    shown a random article); the costs are what a log of that size would show, hence noisy for small
    groups.

    Parameters
    ----------
    n : int
        Groups of readers.
    features, articles : int
        p and d.
    records : int
        Mean number of visits of a group.
    rate : float
        Typical probability of a click.
    """
    if min(n, features, articles, records) < 1 or not 0 < rate < 1:
        raise DataError(
            "News data need n, features, articles and records of at least 1 and 0 < rate < 1."
        )
    rng = np.random.default_rng(seed)
    X = rng.dirichlet(np.full(features, 0.5), n)
    taste = rng.normal(0.0, 1.0, (articles, features))
    pair = rng.integers(0, features, (articles, 2))
    strength = rng.normal(0.0, 3.0, articles)
    score = X @ taste.T + strength * X[:, pair[:, 0]] * X[:, pair[:, 1]]
    p = 1.0 / (1.0 + np.exp(-(np.log(rate / (1 - rate)) + score - score.mean())))
    visits = np.maximum(articles, np.rint(records * rng.lognormal(-0.5, 1.0, n))).astype(np.int64)
    shown = rng.multinomial(visits, np.full(articles, 1 / articles))
    clicks = rng.binomial(shown, p)
    # One visit at the overall rate of the article is added, so that a kind that was never shown to
    # a group has an estimate too.
    prior = clicks.sum(axis=0) / np.maximum(shown.sum(axis=0), 1)
    return NewsData(X, -(clicks + prior) / (shown + 1), visits.astype(float))


def news_decisions(seed: int = 10, articles: int = 6, rows: int = 5) -> DecisionSet:
    """Shares of the kinds of articles: w >= 0, Σ w = 1, A w <= 1 with `rows` random rows, entries
    of A exponential with mean 1.

    The published experiment has the seeds 10 to 18 (with 6 kinds and 5 rows). A is drawn from
    NumPy's legacy stream.

    Raises
    ------
    DataError
        The random rows leave nothing; of the seeds 10 to 40 that happens for 27, 28, 29, 32 and 39.
    """
    from milp_trees.decisions.combinatorial import simplex_decisions

    A = np.random.RandomState(seed).exponential(1.0, (rows, articles))
    return simplex_decisions([f"kind{k}" for k in range(articles)], (A, np.ones(rows)))
