"""`Outline`: what remains of a Dataset when its rows are left out, as in a pickled estimator.

It holds sizes, hashes and the place where the rows came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.data.dataset import Dataset

#: Fields that hold one value per row, or the values between which thresholds lie.
_OF_ROWS = (
    "X",
    "ranked",
    "features",
    "y",
    "weights",
    "groups",
    "factor",
    "treatments",
    "outcomes",
    "propensities",
    "values",
    "numeric",
    "counts",
    "targets",
)
#: Other fields that are copied.
_KEPT = ("classes", "group_column", "actions", "columns", "source", "target_names")
#: What is counted or hashed once, while there are rows.
_COUNTED = ("sha256", "protected", "total_rows", "_shape")


class Outline(Dataset):
    """A Dataset without its rows.

    An attribute that needs the rows raises a DataError, which says how to store the rows too.

    Parameters
    ----------
    dataset : Dataset
        Its sizes, hash, classes, actions, column names and source are copied.
    also : sequence of str
        Other things given for single rows that were left out; listed in `source["left_out"]`.
    """

    left_out = True

    def __init__(self, dataset: Dataset, also: Sequence[str] = ()) -> None:
        self.__dict__.update(
            {name: getattr(dataset, name) for name in _KEPT},
            sha256=dataset.sha256,
            protected=dataset.protected,
            total_rows=dataset.total_rows,
            _shape=(dataset.n_rows, dataset.n_features),
        )
        if also:
            self.__dict__["source"] = {**dataset.source, "left_out": list(also)}

    def to_json(self) -> dict[str, Any]:
        """What is known, as plain values and tuples; `Outline.from_json` makes it again."""
        return {k: v for k, v in self.__dict__.items() if k in (*_KEPT, *_COUNTED)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Outline:
        """The outline that `to_json` described."""
        out = cls.__new__(cls)
        # Outlines of earlier versions state no names of targets.
        stated = {"target_names": None, **data}
        out.__dict__.update({name: stated[name] for name in (*_KEPT, *_COUNTED)})
        return out

    @property
    def n_rows(self) -> int:
        return int(self.__dict__["_shape"][0])

    @property
    def n_features(self) -> int:
        return int(self.__dict__["_shape"][1])

    def __repr__(self) -> str:
        return f"Outline({self.n_rows} rows × {self.n_features} features, left out; SHA-256 {self.sha256[:12]}…)"


def _refused(name: str) -> property:
    def refuse(outline: Outline) -> Any:
        raise DataError(
            f"This needs the rows it was made from ({name} of {outline.n_rows} rows), which were left out when it was pickled or copied; set keep_data=True "
            "before that, fit again, or give the Dataset: milp_trees.verify(result.to_json(), dataset)."
        )

    return property(refuse)


for _name in _OF_ROWS:
    setattr(Outline, _name, _refused(_name))


def lean(state: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes of an estimator, those that were fitted (`result_`, …) without their rows."""
    return {
        name: value.without_rows()
        if name.endswith("_") and hasattr(value, "without_rows")
        else value
        for name, value in state.items()
    }
