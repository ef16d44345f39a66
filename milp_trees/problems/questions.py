"""The questions about a space of models.

They are the best model, all models that are nearly as good, the best of every size, the best
pruning for every price, and the models that no other is better than in every coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.common.exact import fraction


@dataclass(frozen=True)
class Best:
    """The question "which model is best?": one model and a proof.

    Other questions are the other classes of this file; a method lists those it can answer.
    """

    name = "best"


@dataclass(frozen=True)
class ByPrice:
    """The question "which pruning is best for each λ?".

    The answer is the lower hull of error and cost, with every λ at which the best pruning changes.
    The task's own λ is ignored.
    """

    name = "by-price"


@dataclass(frozen=True)
class BySize:
    """The question "which tree is best for each number of leaves?": a tree and a proof per size.

    Parameters
    ----------
    max_leaves : int
        Largest number of leaves; all smaller numbers are answered too.
    """

    name = "by-size"

    max_leaves: int

    def __post_init__(self) -> None:
        if not isinstance(self.max_leaves, int) or self.max_leaves < 1:
            raise DataError(
                f"max_leaves must be a whole number of at least 1; got {self.max_leaves!r}."
            )


@dataclass(frozen=True)
class Front:
    """The question "which models does no other model beat?" (the Pareto front).

    A model belongs to the front if no other is at least as good in every coordinate and better in
    one; of several models with the same coordinates one is enough. Without `against` the
    coordinates and the order are those of the task itself, for example false positives and false
    negatives. With `against` they are the task's value and the amount of one quantity.

    Parameters
    ----------
    against : str or Constraint, optional
        A side constraint by its name, such as `"statistical-parity"`, or one with its parameters,
        such as `Capacity("treat")`. The second coordinate is the amount that it limits (the
        largest disparity, or the number of rows that get an action); its own limit is ignored.
    most : int, optional
        Largest number of models in the answer; the default is all. An answer that leaves models
        out is not complete.
    """

    name = "front"

    against: Any = None
    most: int | None = None

    def __post_init__(self) -> None:
        known = self.against is None or isinstance(self.against, str)
        if not (known or (hasattr(self.against, "amount") and hasattr(self.against, "spec"))):
            raise DataError(
                f"against= is the name of a side constraint, such as 'statistical-parity', or a constraint; got {self.against!r}."
            )
        if self.most is not None and (type(self.most) is not int or self.most < 1):
            raise DataError(
                f"most must be a whole number of at least 1, or None; got {self.most!r}."
            )

    def spec(self) -> dict[str, Any]:
        """A JSON description with all parameters."""
        whole = self.against is None or isinstance(self.against, str)
        return {
            "name": self.name,
            "against": self.against if whole else self.against.spec(),
            "most": self.most,
        }


@dataclass(frozen=True)
class NearBest:
    """The question "which models are nearly as good as the best?" (the Rashomon set).

    The answer is all of them, counted exactly. Two trees are different if their drawings differ: in
    shape, in the test of a node, or in which child is on the left. A leaf chooses the cheapest
    action for its rows (the first of ties), and no split has an empty side.

    Two rule lists count as one if one is a permutation of the other that predicts alike: they have
    the same rules (antecedents with their actions) and the same default, and give every row the
    same action. Then they have the same value, too. A rule and the default choose the cheapest
    action for the rows that they capture (the first of ties), and each captures at least one row.

    Parameters
    ----------
    slack : number, optional
        How much worse than the best a model may be, in the task's unit. Numbers are read as
        written: 0.1 is 1/10.
    relative : number, optional
        The same as a share of the best value; give one of the two.
    trivial : bool, default=True
        Whether trees are counted in which two sibling leaves choose the same action, and rule lists
        with a rule too many: without it the others, in some order, give every row the same action.
    equal_tests : {"all", "one"}, default="all"
        For features that divide the rows of a node in the same way, and for antecedents that
        capture the same of the rows that are left: "all" makes a model for every one of them, "one"
        only for the cheapest (then the first).
    most : int, default=10
        Number of models to list in `Result.solutions`; all are in `Result.trees`.
    """

    name = "near-best"

    slack: Any = None
    relative: Any = None
    trivial: bool = True
    equal_tests: str = "all"
    most: int = 10

    def __post_init__(self) -> None:
        if (self.slack is None) == (self.relative is None):
            raise DataError(
                "Give slack= (in the task's unit) or relative= (a share of the best value), and not both."
            )
        for field_name in ("slack", "relative"):
            given = getattr(self, field_name)
            if given is not None:
                number = fraction(given, field_name)
                if number < 0:
                    raise DataError(f"{field_name} must not be negative; got {given!r}.")
                object.__setattr__(self, field_name, number)
        if self.equal_tests not in ("all", "one"):
            raise DataError(f"equal_tests is 'all' or 'one'; got {self.equal_tests!r}.")
        if not isinstance(self.most, int) or self.most < 1:
            raise DataError(f"most must be a whole number of at least 1; got {self.most!r}.")

    def allowance(self, best: Fraction) -> Fraction:
        """How much worse than the best value a tree may be, in natural units."""
        share: Fraction = self.slack if self.slack is not None else self.relative * abs(best)
        return share
