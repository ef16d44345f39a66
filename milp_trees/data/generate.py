r"""Generators of synthetic problems.

They are planted trees and lists, random cost matrices, data whose best root threshold is lost by
bucketization, and the policy designs of Athey and Imbens (2016).

The policy designs, as the optimal policy tree literature uses them: covariates :math:`x\sim
N(0,I_d)`, outcome of treatment :math:`k\in\{0,1\}`

.. math:: Y(k)=\eta(x)+\tfrac12(2k-1)\kappa(x)+\varepsilon,

one :math:`\varepsilon\sim N(0,\sigma)` per row for both arms; the better arm was given with
probability p.

=== ================================================= =================================
d   η                                                 κ
=== ================================================= =================================
2   x₁/2 + x₂                                         x₁/2
10  (x₁+x₂)/2 + x₃+…+x₆                               max(0,x₁) + max(0,x₂)
20  (x₁+…+x₄)/2 + x₅+…+x₈                             max(0,x₁) + … + max(0,x₄)
=== ================================================= =================================
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.exact import read_number
from milp_trees.data.dataset import BinaryFeature, Dataset

#: Number of covariates → (halved and whole covariates of η, covariates of κ).
_DESIGNS = {2: (1, 1, 1), 10: (2, 4, 2), 20: (4, 4, 4)}


def planted_tree(
    rows: int = 200,
    tests: int = 12,
    depth: int = 2,
    classes: int = 2,
    noise: float = 0.0,
    seed: int = 0,
) -> Dataset:
    """Rows whose labels are given by a random tree of full depth.

    With `noise` = 0 the best tree of that depth makes no error.
    """
    if not 0 <= depth <= tests or rows < 1 or classes < 2 or not 0 <= noise <= 1:
        raise DataError(
            "A planted tree needs rows >= 1, 0 <= depth <= tests, classes >= 2 and 0 <= noise <= 1."
        )
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (rows, tests), dtype=np.uint8)
    y = np.zeros(rows, dtype=np.int64)

    def grow(here: np.ndarray, level: int, used: tuple[int, ...], label: int) -> None:
        if level == depth:
            y[here] = label % classes
            return
        j = int(rng.choice([f for f in range(tests) if f not in used]))
        # Siblings at the bottom differ, so no split of the planted tree is superfluous.
        for side in (0, 1):
            grow(here[X[here, j] == side], level + 1, (*used, j), 2 * label + side)

    grow(np.arange(rows), 0, (), 0)
    _mislabel(y, classes, noise, rng)
    return Dataset(
        X, [BinaryFeature(str(j)) for j in range(tests)], y=y, classes=tuple(range(classes))
    )


def planted_list(
    rows: int = 200,
    tests: int = 12,
    rules: int = 3,
    literals: int = 1,
    classes: int = 2,
    noise: float = 0.0,
    seed: int = 0,
) -> Dataset:
    """Rows whose labels are given by a random rule list over disjoint sets of features.

    With `noise` = 0 the best list of that length makes no error.
    """
    if min(rules, literals - 1) < 0 or rules * literals > tests or rows < 1 or classes < 2:
        raise DataError(
            "A planted list needs rows >= 1, rules >= 0, literals >= 1, classes >= 2 and at least rules times literals tests."
        )
    if not 0 <= noise <= 1:
        raise DataError(f"noise is a share of the rows between 0 and 1; got {noise}.")
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (rows, tests), dtype=np.uint8)
    y = np.full(rows, rules % classes)
    requested = rng.permutation(tests)[: rules * literals].reshape(rules, literals)
    for k in reversed(range(rules)):
        y[X[:, requested[k]].all(axis=1)] = k % classes
    _mislabel(y, classes, noise, rng)
    return Dataset(
        X, [BinaryFeature(str(j)) for j in range(tests)], y=y, classes=tuple(range(classes))
    )


def _mislabel(y: np.ndarray, classes: int, noise: float, rng: np.random.Generator) -> None:
    """Replace the labels of a share of the rows by other ones, in place."""
    wrong = rng.permutation(len(y))[: round(noise * len(y))]
    y[wrong] = (y[wrong] + rng.integers(1, classes, len(wrong))) % classes


def random_costs(
    rows: int = 30, tests: int = 5, actions: int = 3, low: int = 0, high: int = 20, seed: int = 0
) -> Dataset:
    """Random binary features and a random integer cost matrix, for the task `action-costs`.

    Parameters
    ----------
    rows, tests, actions : int, default=30, 5, 3
        Number of rows, binary features and actions.
    low, high : int, default=0, 20
        Smallest and largest cost.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset
        The costs are its `values`, of shape (rows, actions).
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (rows, tests), dtype=np.uint8)
    return Dataset(
        X, values=rng.integers(low, high + 1, (rows, actions)), actions=tuple(range(actions))
    )


def athey_imbens(
    columns: int = 2,
    rows: int = 500,
    p: float = 0.5,
    sigma: float = 0.1,
    bins: int = 10,
    seed: int = 0,
) -> tuple[Dataset, np.ndarray]:
    """A policy problem with historical treatments.

    Parameters
    ----------
    columns : {2, 10, 20}
        Number of covariates; each number stands for one of the three designs.
    rows : int, default=500
        Number of rows.
    p : float, default=0.5
        Probability with which the historical treatment was the better one.
    sigma : float, default=0.1
        Standard deviation of the noise.
    bins : int, default=10
        Every covariate is compared with the `bins - 1` quantiles of the normal distribution.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    dataset : Dataset
        With `treatments`, `outcomes`, `propensities` (of the given treatment, by logistic
        regression) and `values` (outcome of each treatment, by one linear regression per
        treatment).
    counterfactuals : array of shape (rows, 2)
        The outcome of both treatments: for judging a policy, not for learning it.

    Raises
    ------
    DataError
        There is no design with so many covariates, or all rows got the same treatment.
    """
    if columns not in _DESIGNS:
        raise DataError(f"The designs have 2, 10 or 20 covariates; got {columns}.")
    from scipy.stats import norm
    from sklearn.linear_model import LinearRegression, LogisticRegression

    rng = np.random.default_rng(seed)
    halves, wholes, kappas = _DESIGNS[columns]
    x = rng.standard_normal((rows, columns))
    eta = x[:, :halves].sum(axis=1) / 2 + x[:, halves : halves + wholes].sum(axis=1)
    kappa = x[:, 0] / 2 if columns == 2 else np.maximum(0, x[:, :kappas]).sum(axis=1)
    noise = rng.normal(0, sigma, rows)
    both = np.column_stack([eta - kappa / 2, eta + kappa / 2]) + noise[:, None]
    better = both.argmax(axis=1)
    given = np.where(rng.random(rows) < p, better, 1 - better)
    if len(np.unique(given)) < 2:
        raise DataError(
            "Every row got the same treatment; use more rows or a p further from 0 and 1."
        )
    outcome = both[np.arange(rows), given]
    propensity = LogisticRegression().fit(x, given).predict_proba(x)[np.arange(rows), given]
    model = np.column_stack(
        [LinearRegression().fit(x[given == k], outcome[given == k]).predict(x) for k in (0, 1)]
    )
    tests = [
        BinaryFeature(f"x{j + 1}", "<=", round(float(t), 4))
        for j in range(columns)
        for t in norm.ppf(np.arange(1, bins) / bins)
    ]
    X = np.column_stack([x[:, int(t.column[1:]) - 1] <= t.value for t in tests]).astype(np.uint8)
    dataset = Dataset(
        X,
        tests,
        treatments=given,
        outcomes=outcome,
        propensities=propensity,
        values=model,
        actions=(0, 1),
    )
    return dataset, both


def hidden_cut(
    rows: int = 77, lost: int = 1, noise: int = 5, seed: int = 1, binarizer: str = "midpoints"
) -> Dataset:
    """Two continuous columns whose best root threshold does not exist after bucketization.

    This threshold lies between neighbouring rows of one class. Left of x1 = 5 a row is positive if
    x2 > 6.5, right of it if x2 < 3.5. Near x1 = 5 there are only negative rows, `lost` on either
    side; each of them would be positive on the other side. So any other threshold of x1
    misclassifies `lost` more rows. The effect is that of Lin et al. (2020), figure 1 (72 against
    71 of 77 rows at depth 2); the rows are our own.
    """
    if lost < 1 or noise < 0 or rows < 2 * lost + noise + 4:
        raise DataError("A hidden cut needs lost >= 1, noise >= 0 and rows >= 2 lost + noise + 4.")
    import pandas as pd

    from milp_trees.data.binarize import Binarizer

    rng = np.random.default_rng(seed)
    outer = rows - 2 * lost
    x1 = np.concatenate(
        [
            rng.uniform(0, 4, outer - outer // 2),
            rng.uniform(6, 10, outer // 2),
            rng.uniform(4.2, 4.9, lost),
            rng.uniform(5.1, 5.8, lost),
        ]
    )
    x2 = np.concatenate(
        [rng.uniform(0, 10, outer), rng.uniform(0, 3, lost), rng.uniform(7, 10, lost)]
    )
    positive = np.where(x1 < 5, x2 > 6.5, x2 < 3.5)
    positive[rng.permutation(outer)[:noise]] ^= True
    table = pd.DataFrame({"x1": x1.round(3), "x2": x2.round(3)})
    return Binarizer.from_name(binarizer).dataset(table, positive.astype(np.int64))


#: Largest number of tests of generated data, and of their answers: more would take longer to make
#: than any time limit that is usual.
MOST_TESTS, MOST_CELLS = 100_000, 10**9
#: Generated data by name; the command line accepts `planted:rows=200,depth=3,seed=1`.
GENERATORS: dict[str, Callable[..., Dataset | tuple[Dataset, Any]]] = {
    "planted": planted_tree,
    "planted-list": planted_list,
    "random-costs": random_costs,
    "athey-imbens": athey_imbens,
    "hidden-cut": hidden_cut,
}


def generated(name: str) -> Dataset:
    """The data set that a name such as `planted:rows=200,depth=3,seed=1` describes."""
    kind, _, given = name.partition(":")
    maker = GENERATORS[kind]
    known = inspect.signature(maker).parameters
    options: dict[str, Any] = {}
    for item in filter(None, given.split(",")):
        key, _, value = item.partition("=")
        if key not in known:
            raise DataError(
                f"The generator {kind} has no option {key!r}; it has {', '.join(known)}."
            )
        if key in options:
            raise DataError(
                f"The option {key} of the generator {kind} is given twice, as {options[key]!r} and {value!r}; give it once."
            )
        try:
            options[key] = read_number(type(known[key].default), value)
        except ValueError:
            raise DataError(
                f"The option {key} of the generator {kind} must be a number; got {value!r}."
            ) from None
    sizes = [
        options.get(name, getattr(known.get(name), "default", 1)) for name in ("rows", "tests")
    ]
    if max(sizes[1], 0) > MOST_TESTS or max(sizes[0], 0) * max(sizes[1], 0) > MOST_CELLS:
        raise DataError(
            f"The generator {kind} makes at most {MOST_TESTS} tests and {MOST_CELLS} answers (rows × tests); got {given}. Take fewer."
        )
    try:
        made = maker(**options)
    except DataError:
        raise
    except (
        ValueError,
        OverflowError,
    ) as error:  # of NumPy: a negative size or seed, a range with nothing in it
        raise DataError(
            f"The generator {kind} cannot make data of such numbers ({given}): {error}."
        ) from error
    dataset = made[0] if isinstance(made, tuple) else made
    return dataset.with_(
        source={
            "path": name,
            "generator": kind,
            **({"threshold_note": dataset.threshold_note} if dataset.threshold_note else {}),
        }
    )
