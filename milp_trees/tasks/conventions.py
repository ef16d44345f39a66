r"""Penalties on size in the conventions of other packages, converted to and from our own.

Here a penalty is a *rate*: with the error rate,
:math:`\frac1n\text{errors}+\alpha\cdot\text{splits}` (`split_penalty`) or
:math:`\frac1n\text{errors}+\lambda\cdot\text{leaves}` (`leaf_penalty`). A tree has one leaf more
than it has splits, so the two objectives with :math:`\lambda=\alpha` differ by the constant
:math:`\alpha` and have the same optimal trees. n is the number of rows, or the total row weight.
The conversion of some conventions needs n, or the baseline L̂ (rows of the largest class).

============ ====================================================== ===================
convention   objective                                              parameter from α
============ ====================================================== ===================
gosdt        errors/n + λ·leaves (also OSDT)                        λ = α
corels       errors/n + λ·rules (the default rule is not counted)   λ = α
pystreed     errors + γ·n·splits (`cost_complexity`, STreeD)        γ = α
scikit-learn impurity + `ccp_alpha`·leaves                          ccp_alpha = α
spo          mean SPO loss + `reg`·leaves                           reg = α
flow-oct     (1−λ)·correct − λ·splits, maximised (StrongTree)       λ = αn/(1+αn) < 1
oct          errors/L̂ + α'·splits                                   α' = αn/L̂
oct-fraction as oct, with L̂ as a share of n (pyoptree)              α' = αn/(L̂/n)
count        errors + c·splits (BinOCT, MurTree, a price in errors) c = αn
============ ====================================================== ===================

scikit-learn prunes a tree that was grown by Gini impurity or entropy: its penalty per leaf is the
same, but its loss is not the error rate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, UnknownName
from milp_trees.common.exact import fraction

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


@dataclass(frozen=True)
class Convention:
    """How one family of packages defines a penalty on size.

    Parameters
    ----------
    name : str
        Name of the convention.
    parameter : str
        Name of its parameter.
    per : {"leaf", "split", "rule"}
        What each unit of the penalty counts.
    needs : tuple of str
        Numbers that a conversion needs: `n` (rows or total weight), `baseline` (rows of the largest
        class).
    from_rate, to_rate : callables of (number, n, baseline)
        The conversions from and to our rate.
    """

    name: str
    parameter: str
    per: str
    needs: tuple[str, ...]
    from_rate: Callable[[Fraction, Fraction, Fraction], Fraction]
    to_rate: Callable[[Fraction, Fraction, Fraction], Fraction]


def _same(number: Fraction, n: Fraction, baseline: Fraction) -> Fraction:
    return number


CONVENTIONS: dict[str, Convention] = {
    c.name: c
    for c in (
        Convention("gosdt", "regularization", "leaf", (), _same, _same),
        Convention("corels", "c", "rule", (), _same, _same),
        Convention("pystreed", "cost_complexity", "split", (), _same, _same),
        Convention("scikit-learn", "ccp_alpha", "leaf", (), _same, _same),
        Convention("spo", "reg", "leaf", (), _same, _same),
        Convention(
            "flow-oct",
            "_lambda",
            "split",
            ("n",),
            lambda a, n, _: a * n / (1 + a * n),
            lambda x, n, _: x / (n * (1 - x)),
        ),
        Convention(
            "oct",
            "alpha",
            "split",
            ("n", "baseline"),
            lambda a, n, L: a * n / L,
            lambda x, n, L: x * L / n,
        ),
        Convention(
            "oct-fraction",
            "alpha",
            "split",
            ("n", "baseline"),
            lambda a, n, L: a * n * n / L,
            lambda x, n, L: x * L / (n * n),
        ),
        Convention(
            "count", "errors", "split", ("n",), lambda a, n, _: a * n, lambda x, n, _: x / n
        ),
    )
}


def from_convention(
    name: str,
    parameter: Any,
    *,
    n: Any = None,
    baseline: Any = None,
    dataset: Dataset | None = None,
) -> Fraction:
    """This package's penalty for the parameter of another convention.

    The penalty is a rate, the same number per split and per leaf.

    Examples
    --------
    >>> from_convention("count", 2, n=100)
    Fraction(1, 50)
    """
    kind = _convention(name)
    number = fraction(parameter, kind.parameter)
    if number < 0 or (name == "flow-oct" and number >= 1):
        raise DataError(
            f"{kind.parameter} of {name} must be at least 0{' and below 1' if name == 'flow-oct' else ''}; got {parameter}."
        )
    return kind.to_rate(number, *_known(kind, n, baseline, dataset))


def to_convention(
    name: str, penalty: Any, *, n: Any = None, baseline: Any = None, dataset: Dataset | None = None
) -> Fraction:
    """Another convention's parameter for this package's `split_penalty` or `leaf_penalty`.

    Examples
    --------
    >>> to_convention("flow-oct", "1/50", n=100)
    Fraction(2, 3)
    """
    kind = _convention(name)
    rate = fraction(penalty, "penalty")
    if rate < 0:
        raise DataError(f"A penalty must not be negative; got {penalty}.")
    return kind.from_rate(rate, *_known(kind, n, baseline, dataset))


def _convention(name: str) -> Convention:
    if name not in CONVENTIONS:
        raise UnknownName(f"There is no convention {name!r}; known are {', '.join(CONVENTIONS)}.")
    return CONVENTIONS[name]


def _known(
    kind: Convention, n: Any, baseline: Any, dataset: Dataset | None
) -> tuple[Fraction, Fraction]:
    """n and baseline, counted on the dataset if they are not given; 1 if they are not needed."""
    if dataset is not None:
        n = dataset.n_rows if n is None else n
        if baseline is None and dataset.y is not None:
            baseline = max(int((dataset.y == k).sum()) for k in range(len(dataset.classes or ())))
    out = []
    for name, value in (("n", n), ("baseline", baseline)):
        if name not in kind.needs:
            out.append(Fraction(1))
            continue
        if value is None:
            raise DataError(f"The convention {kind.name} needs {name}; give {name}=… or dataset=….")
        number = fraction(value, name)
        if number <= 0:
            raise DataError(f"{name} must be positive; got {value}.")
        out.append(number)
    return out[0], out[1]
