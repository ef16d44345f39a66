"""`Given`: a model in any form, as counterfactuals ask it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.counterfactuals.target import Target, names_of, of_action
from milp_trees.data.checks import check_columns
from milp_trees.data.feature import BinaryFeature
from milp_trees.data.names import as_pandas
from milp_trees.embedding.forest import Forest
from milp_trees.embedding.reading import read_forest
from milp_trees.models.array_rows import columns_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Given:
    """A model that predicts, and its trees.

    Parameters
    ----------
    forest : Forest
        Its `model` is what predicts.
    """

    forest: Forest

    @classmethod
    def of(cls, model: Any) -> Given:
        """A tree, rule list, ensemble, result or fitted estimator."""
        return cls(read_forest(model))

    @property
    def model(self) -> Any:
        """What predicts: a tree, rule list, ensemble, or estimator of scikit-learn."""
        return self.forest.model

    @property
    def single(self) -> bool:
        """Whether it is a tree or rule list of this package, which needs no solver."""
        return not self.forest.columns

    @property
    def noun(self) -> str:
        """What it is called in sentences."""
        return str(self.model.noun) if self.single else "model"

    @cached_property
    def names(self) -> tuple[Any, ...] | None:
        """The labels that it chooses among; None if it predicts numbers."""
        if self.single:
            return names_of(self.model)
        return self.forest.output.actions or None

    @cached_property
    def tests(self) -> dict[str, list[BinaryFeature]]:
        """The tests of every column that is asked for."""
        out: dict[str, list[BinaryFeature]] = {}
        if self.single:
            for feature in self.model.features:
                out.setdefault(feature.column, []).append(feature)
            return out
        for name, questions in self.forest.questions.items():
            out[name] = [BinaryFeature(name, "<=", q.value) for q in questions]
        return out

    def number(self, frame: pd.DataFrame) -> Any:
        """The number of the label that the model predicts for a row, or the predicted number."""
        if self.single:
            return of_action(self.model, int(self.model.routes(frame).action[0]))
        from milp_trees.embedding.audit import as_fitted  # loads Pyomo

        values = frame[list(self.forest.columns)].to_numpy(dtype=float)
        said = self.model.predict(as_fitted(self.model, values))[0]
        if self.names is None:
            return float(said)
        return next(k for k, name in enumerate(self.names) if name == said)

    def label(self, frame: pd.DataFrame) -> Any:
        """What the model predicts for a row: a label in original form, or a number."""
        number = self.number(frame)
        return number if self.names is None else self.names[number]

    def wants(self, frame: pd.DataFrame, target: Target) -> bool:
        """Whether the model predicts a row as wanted."""
        return target.wants(self.number(frame))

    def wanted_leaves(self, target: Target) -> frozenset[int]:
        """The leaves of a single tree with a wanted prediction, as the forest numbers them."""
        output = self.forest.output
        if output.leaf_action is not None:
            said: list[Any] = output.leaf_action.tolist()
        else:
            sums = output.leaf_values[0] + (0.0 if output.base is None else output.base)
            if self.names is None:
                said = sums[:, 0].tolist()
            elif sums.shape[1] == 1:  # two labels by the sign of one sum
                said = (sums[:, 0] > 0).astype(int).tolist()
            else:
                said = sums.argmax(axis=1).tolist()
        return frozenset(k for k, one in enumerate(said) if target.wants(one))

    # -- rows --------------------------------------------------------------------------------------

    def named(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A row with names: those of its columns, or those that the model gives to places."""
        import pandas as pd

        numbered = list(frame.columns) == list(range(frame.shape[1]))
        known = self.tests if self.single else self.forest.columns
        if numbered and not set(known) <= set(map(str, frame.columns)):
            frame = pd.DataFrame(self._columns(frame.to_numpy()))
        frame = frame.rename(columns=str)
        wanted = list(self.tests) if self.single else list(self.forest.columns)
        check_columns(wanted, list(frame.columns), self.noun)
        return frame

    def table(self, data: Any) -> dict[str, Any]:
        """The columns of data by their names."""
        if isinstance(data, (str, Path)):
            raise DataError(
                f"data is a table of rows; got the text {str(data)!r}, so read the file first, as with pandas.read_csv."
            )
        table = self._columns(as_pandas(data))
        names = table.columns if hasattr(table, "columns") else table
        out = {str(name): table[name] for name in names}
        lacking = [name for name in self.tests if name not in out]
        if lacking:
            raise DataError(
                f"data has no column {lacking[0]!r}, which the model asks for; give the table with all of its columns."
            )
        return {name: v.to_numpy() if hasattr(v, "to_numpy") else v for name, v in out.items()}

    def _columns(self, data: Any) -> Any:
        if self.single or hasattr(data, "columns") or hasattr(data, "keys"):
            return columns_of(self.model, data)
        array, names = np.asarray(data), self.forest.columns
        if array.ndim != 2 or array.shape[1] != len(names):
            raise DataError(
                f"The model was fitted on {len(names)} columns; the array has shape {array.shape}."
            )
        return {name: array[:, j] for j, name in enumerate(names)}
