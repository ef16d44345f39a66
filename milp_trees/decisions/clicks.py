"""Reader for the log of the Yahoo! front page ("Today Module user click log", R6A; also R6B).

The owner licenses this file for research; it is not part of this package.

One visit per line, fields separated by blanks, features as `number:value` (in R6B, numbers only,
each with value 1)::

    1241200000 109001 0 |user 2:0.25 3:0.00 4:0.50 5:0.25 6:0.00 1:1.00 |109001 2:0.40 … 1:1.00
    |109002 2:0.10 … 1:1.00

These are a time stamp, the article shown, whether it was clicked (0 or 1), features of the reader,
and for every article that could have been shown its features. Feature 1 is the constant 1. The
article shown was drawn at random, so clicks divided by showings estimate the probability of a click
(Li, Chu, Langford, Schapire 2010, *A contextual-bandit approach to personalized news article
recommendation*).
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.decisions.generate import NewsData

#: The number of the constant feature, which has no information.
CONSTANT = 1


@dataclass
class ClickLog:
    """Summary of a log: distinct readers (by their features), articles, and counts.

    Parameters
    ----------
    readers : dict of features to number
        Features are tuples of (number, value).
    articles : dict of name to number
        All articles.
    article_features : dict of number to features
        Articles without features (not in R6A) are missing.
    counts : dict of (reader, article) to [shown, clicked]
        How often an article was shown to a reader, and clicked.
    """

    readers: dict[tuple[tuple[int, float], ...], int] = field(default_factory=dict)
    articles: dict[str, int] = field(default_factory=dict)
    article_features: dict[int, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    counts: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    @property
    def n_records(self) -> int:
        return sum(shown for shown, _ in self.counts.values())


def read_clicks(
    paths: str | Path | Iterable[str | Path], decimals: int = 2, limit: int | None = None
) -> ClickLog:
    """Read one or more files of the log (`.gz` or plain) line by line.

    The memory depends only on the number of distinct readers.

    Parameters
    ----------
    paths : path or list of paths
        The files.
    decimals : int, default=2
        Places to which the features of readers are rounded; readers with equal rounded features
        are one reader.
    limit : int, optional
        Number of lines of each file to read.

    Returns
    -------
    ClickLog

    Raises
    ------
    DataError
        A line is not in the format; the sentence names file and line.
    """
    log = ClickLog()
    for path in [paths] if isinstance(paths, (str, Path)) else paths:
        with _opened(Path(path)) as lines:
            for number, line in enumerate(islice(lines, limit), start=1):
                if line.strip():
                    try:
                        _add(log, line, decimals)
                    except (ValueError, IndexError) as error:
                        raise DataError(
                            f"Line {number} of {path} is no visit; expected `time article click |user number:value … |article number:value …`."
                        ) from error
    if not log.counts:
        raise DataError("The log holds no visits.")
    return log


def _opened(path: Path) -> IO[str]:
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    return (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else open(path, encoding="utf-8")
    )


def _add(log: ClickLog, line: str, decimals: int) -> None:
    head, *sections = line.split("|")
    _, shown, clicked = head.split()
    if clicked not in ("0", "1"):
        raise ValueError(clicked)
    user, *user_features = sections[0].split()
    if user != "user":
        raise ValueError(user)
    reader = log.readers.setdefault(_features(user_features, decimals), len(log.readers))
    article = log.articles.setdefault(shown, len(log.articles))
    for section in sections[1:]:
        name, *given = section.split()
        if name == shown and given and article not in log.article_features:
            log.article_features[article] = _features(given, None)
    count = log.counts.setdefault((reader, article), [0, 0])
    count[0] += 1
    count[1] += clicked == "1"


def _features(fields: Iterable[str], decimals: int | None) -> tuple[tuple[int, float], ...]:
    def pairs() -> Iterator[tuple[int, float]]:
        for one in fields:
            number, _, value = one.partition(":")
            v = float(value) if value else 1.0
            yield int(number), v if decimals is None else round(v, decimals)

    return tuple(sorted((k, v) for k, v in pairs() if k != CONSTANT and v))


def news_from_clicks(
    log: ClickLog, articles: int = 6, groups: int = 1000, smoothing: float = 10.0, seed: int = 0
) -> NewsData:
    """Groups of readers × kinds of articles from a log.

    k-means makes the groups and the kinds; costs come from clicks divided by showings, and weights
    are numbers of records. The grouping of the published experiment is not available; these data
    have the same form: features of the reader, costs of the kinds, weights.

    Parameters
    ----------
    log : ClickLog
        The log.
    articles : int, default=6
        Number of kinds of articles (d), by k-means on the features of the articles. Articles
        without features are a kind each; then there must be exactly `articles` of them.
    groups : int, default=1000
        Number of groups of readers (n), by k-means on their features, weighted by records; if there
        are fewer distinct readers, each is a group.
    smoothing : float, default=10
        Number of showings at the overall rate of the kind that are added to each estimate.
    seed : int, default=0
        Seed of k-means.

    Returns
    -------
    NewsData

    Raises
    ------
    DataError
        The log has fewer articles than requested kinds, or some articles lack features.
    """
    kind = _kinds(log, articles, seed)
    U = _dense(list(log.readers))
    pairs = np.array(list(log.counts), dtype=np.int64)
    counts = np.array(list(log.counts.values()), dtype=float)
    records = np.bincount(pairs[:, 0], counts[:, 0], minlength=len(U))
    group = _clusters(U, groups, records, seed)
    n = int(group.max()) + 1
    cell = group[pairs[:, 0]] * articles + kind[pairs[:, 1]]
    shown = np.bincount(cell, counts[:, 0], minlength=n * articles).reshape(n, articles)
    clicked = np.bincount(cell, counts[:, 1], minlength=n * articles).reshape(n, articles)
    rate = clicked.sum(axis=0) / np.maximum(shown.sum(axis=0), 1.0)
    weights = np.bincount(group, records, minlength=n)
    X = (
        np.column_stack([np.bincount(group, records * u, minlength=n) for u in U.T])
        / weights[:, None]
    )
    if not smoothing > 0 and not shown.all():
        raise DataError(
            "Some kind of article was never shown to some group; smoothing must be positive then."
        )
    return NewsData(X, -(clicked + smoothing * rate) / (shown + smoothing), weights)


def _kinds(log: ClickLog, articles: int, seed: int) -> np.ndarray:
    """Kind of every article."""
    n = len(log.articles)
    if n < articles:
        raise DataError(f"The log shows {n} articles, fewer than the {articles} kinds asked for.")
    if not log.article_features:
        if n != articles:
            raise DataError(
                f"The log has no features of its {n} articles, so each is a kind of its own; ask for articles={n}."
            )
        return np.arange(n)
    lacking = [name for name, k in log.articles.items() if k not in log.article_features]
    if lacking:
        raise DataError(f"Article {lacking[0]} has no features in the log.")
    kind = _clusters(
        _dense([log.article_features[k] for k in range(n)]), articles, np.ones(n), seed
    )
    if kind.max() + 1 < articles:
        raise DataError(
            f"The articles of the log have only {kind.max() + 1} different features; ask for so many kinds."
        )
    return kind


def _dense(rows: list[tuple[tuple[int, float], ...]]) -> np.ndarray:
    numbers = sorted({k for row in rows for k, _ in row})
    place = {k: j for j, k in enumerate(numbers)}
    out = np.zeros((len(rows), max(len(numbers), 1)))
    for i, row in enumerate(rows):
        for k, v in row:
            out[i, place[k]] = v
    return out


def _clusters(points: np.ndarray, k: int, weights: np.ndarray, seed: int) -> np.ndarray:
    """Number of the cluster of each point: 0, 1, … without gaps."""
    from sklearn.cluster import KMeans

    distinct, where = np.unique(points, axis=0, return_inverse=True)
    if len(distinct) <= k:
        return where.ravel()
    label = (
        KMeans(n_clusters=k, n_init=1, random_state=seed).fit(points, sample_weight=weights).labels_
    )
    return np.unique(label, return_inverse=True)[1]
