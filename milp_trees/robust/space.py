"""`RobustTrees`: trees whose leaves need not hold a row as long as no row is shifted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from milp_trees.common.errors import DataError
from milp_trees.models.space import Trees


@dataclass(frozen=True)
class RobustTrees(Trees):
    """Decision trees for tasks whose rows may be shifted.

    A leaf in which no row is may be reached by shifted ones, and other leaves may be better off
    for it. So leaves have no smallest number of rows, and no split is left out of a tree because
    all rows are on one side of it.

    Parameters
    ----------
    max_depth : int or None
        Largest number of splits on a path; 0 allows a single leaf only.
    max_leaf_nodes : int, optional
        Largest number of leaves (branch nodes + 1).
    split_on_group : bool, default=False
        Whether features of the dataset's group column may be used.

    Examples
    --------
    >>> import milp_trees as mt
    >>> mt.robust.RobustTrees(2)
    RobustTrees(max_depth=2)
    """

    name: ClassVar[str] = "robust-trees"
    limits: ClassVar[Mapping[str, Any]] = {
        "max_depth": None,
        "max_leaf_nodes": None,
        "split_on_group": True,
    }

    min_samples_leaf: int = 0

    def __post_init__(self) -> None:
        if self.min_samples_leaf or self.min_weight_leaf or self.min_samples_treatment:
            raise DataError(
                "Leaves of robust trees have no smallest size, because shifts move rows between them; leave out min_samples_leaf, min_weight_leaf and min_samples_treatment."
            )
        Trees(self.max_depth, self.max_leaf_nodes)  # checks these two
        object.__setattr__(self, "min_weight_leaf", Fraction(0))

    @classmethod
    def of(cls, space: Trees) -> RobustTrees:
        """The robust trees within the limits of a space of trees.

        Raises
        ------
        DataError
            The space has a smallest size of leaves.
        """
        if isinstance(space, cls):
            return space
        return cls(
            space.max_depth,
            space.max_leaf_nodes,
            0 if space.min_samples_leaf == 1 else space.min_samples_leaf,
            space.split_on_group,
            space.min_weight_leaf,
            space.min_samples_treatment,
        )

    def pruned(self, predictor: Any, rows: Any) -> Any:
        return predictor

    def spec(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "max_depth": None if self.max_depth is None else int(self.max_depth),
            "max_leaf_nodes": self.max_leaf_nodes,
            "split_on_group": self.split_on_group,
        }

    def __repr__(self) -> str:
        given = [f"max_depth={self.max_depth}"]
        given += [] if self.max_leaf_nodes is None else [f"max_leaf_nodes={self.max_leaf_nodes}"]
        given += ["split_on_group=True"] if self.split_on_group else []
        return f"RobustTrees({', '.join(given)})"
