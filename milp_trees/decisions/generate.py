r"""Data for decisions: features, true cost vectors and the set of decisions.

They are generated as in the papers on "predict, then optimise".

Shortest path (Elmachtoub, Grigas 2022, *Smart "predict, then optimize"*): a random 0/1 matrix B
determines which features make which edge expensive,

.. math:: c_{ij}=\Bigl[\bigl(\tfrac1{\sqrt p}(Bx_i)_j+\text{inner}\bigr)^{\deg}+\text{outer}\Bigr]\,\varepsilon_{ij},\qquad
   \varepsilon_{ij}\sim U[1-\bar\varepsilon,\,1+\bar\varepsilon].

Two roads and news recommendation follow Elmachtoub, Liang, McNellis (2020), *Decision trees for
decision-making under the predict-then-optimize framework*.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from milp_trees.common.errors import DataError

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
        Features.
    C : float array of shape (n, d)
        True costs of the d edges.
    decisions : GraphPaths
        The paths of the grid.
    B : 0/1 array of shape (d, p)
        Which features make an edge expensive; needed for further rows of the same problem.
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
        Number of rows.
    features : int, default=5
        Number p of features.
    degree : float, default=1
        Exponent of the costs; with a larger one they are further from linear in the features.
    noise : float, default=0
        Half width, between 0 and 1, of the interval around 1 from which the factor of each cost
        is drawn.
    grid : (rows, columns) of nodes, default (4, 4)
        The default has 24 edges and 20 paths.
    seed : int, default=0
        Seed of the random numbers.
    inner, outer : float, default=3, 1
        Constants of the formula; the defaults are those of the first paper.
    uniform : bool, default=True
        Whether features are uniform on [0, 1]; otherwise standard normal.
    B : 0/1 array of shape (d, p), optional
        The matrix of the training rows, for test rows of the same problem (with another seed); by
        default every entry is 1 with probability 1/2.

    Returns
    -------
    ShortestPathData

    Raises
    ------
    DataError
        A number is out of range, B has another shape, or costs are not numbers (a negative base
        with a fractional degree).
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
    r"""The illustrative example with x uniform on [0, 1].

    Road 1 costs :math:`5x+1.9`, road 2 :math:`(5x+0.4)^2`; road 2 is cheaper below x = 0.28458.
    The random numbers are those of NumPy's legacy generator, which no version changes; a smaller n
    gives the first rows of a larger n.
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
        Number of records (visits) of the group.
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
    """Synthetic readers in the form of the published experiment; no row comes from a real log.

    Features are memberships in clusters of readers (not negative, sum 1), as in the log. The rate
    of clicks on a kind of article depends on the clusters, with an interaction of two of them, so
    it is not linear in the features. Groups differ in size (lognormal, `records` visits on average,
    each with a random article). The costs are estimates from a log of this size, so they are noisy
    for small groups.

    Parameters
    ----------
    n : int, default=1000
        Number of groups of readers.
    features, articles : int, default=5, 6
        p and d.
    records : int, default=4000
        Mean number of visits of a group.
    rate : float, default=0.04
        Typical probability of a click.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    NewsData

    Raises
    ------
    DataError
        A number is out of range.
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
    # One visit at the overall rate of the article is added, so that a kind that was never shown
    # to a group has an estimate too.
    prior = clicks.sum(axis=0) / np.maximum(shown.sum(axis=0), 1)
    return NewsData(X, -(clicks + prior) / (shown + 1), visits.astype(float))


def news_decisions(seed: int = 10, articles: int = 6, rows: int = 5) -> DecisionSet:
    """Shares of the kinds of articles: w >= 0, Σ w = 1, A w <= 1 with random rows.

    Entries of A are exponential with mean 1. The published experiment has the seeds 10 to 18 (with
    6 kinds and 5 rows). A is drawn from NumPy's legacy generator.

    Parameters
    ----------
    seed : int, default=10
        Seed of the random rows.
    articles, rows : int, default=6, 5
        Number of kinds of articles, and of random rows.

    Returns
    -------
    DecisionSet

    Raises
    ------
    DataError
        The random rows leave an empty set; among the seeds 10 to 40 these are 27, 28, 29, 32 and
        39.
    """
    from milp_trees.decisions.combinatorial import simplex_decisions

    A = np.random.RandomState(seed).exponential(1.0, (rows, articles))
    return simplex_decisions([f"kind{k}" for k in range(articles)], (A, np.ones(rows)))
