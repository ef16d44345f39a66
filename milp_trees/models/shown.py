"""`Shown`: what trees and rule lists have in common, pictures and the rows they are made for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from milp_trees.common.errors import DataError, NoView
from milp_trees.models.array_rows import Places
from milp_trees.models.exporting import Exportable
from milp_trees.models.predicted import Predicts, leaf_rows, predicts_of

if TYPE_CHECKING:
    from milp_trees.data.feature import BinaryFeature


class Shown(Exportable, ABC):
    """Base of predictors that are drawn, and that predict tables and arrays.

    A model of a result knows the rows of its problem: how many are in each leaf, and how the
    columns of their table are ordered. The rows are counted when that is first asked for. Copies
    and pickles have the counts and no rows. Two models are equal whatever they know.
    """

    noun: ClassVar[str]
    actions: tuple[Any, ...]
    routes: Any

    # -- shape -------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def splits(self) -> tuple[Any, ...]:
        """The question of every split: of a tree in preorder, of a list in its order."""

    @property
    @abstractmethod
    def n_leaves(self) -> int:
        """Number of leaves, or of rules with the default rule."""

    @property
    @abstractmethod
    def features(self) -> tuple[BinaryFeature, ...]:
        """The binary features that are asked for, each once."""

    @property
    @abstractmethod
    def sides(self) -> list[tuple[int, int, int]]:
        """The leaves below every split: the first side begins with leaf a, the second with b.

        They are (a, b, c), where c is the leaf after the last one.
        """

    @property
    @abstractmethod
    def node_paths(self) -> list[list[int]]:
        """The nodes on the way to every leaf, and the leaf itself, by their numbers in preorder."""

    # -- changes -----------------------------------------------------------------------------------

    @abstractmethod
    def map_tests(self, to: Callable[[Any], tuple[Any, bool] | bool]) -> Self:
        """The model with other questions."""

    @abstractmethod
    def cut(self, at: int, actions: tuple[int, ...]) -> Self:
        """The model with one leaf in place of a split, or with leaves on both its sides."""

    @abstractmethod
    def with_actions(self, to: Sequence[int], actions: tuple[Any, ...]) -> Self:
        """The model with other actions, `to[k]` in place of k, which have these names."""

    # -- exchange ----------------------------------------------------------------------------------

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """A plain nested dict; `from_json` reads it back."""

    @abstractmethod
    def numbered(self, index: Mapping[Any, int]) -> Any:
        """The model in numbers of questions and actions, as proof files state it."""

    # -- the data ----------------------------------------------------------------------------------

    def on(self, dataset: Any, task: Any = None) -> Self:
        """The same model, which knows the rows of a dataset.

        Parameters
        ----------
        dataset : Dataset
            Where its rows were left out, what the model knows of rows stays.
        task : Task, optional
            What the model is for, which says what its predictions are (`predicts`).

        Returns
        -------
        Tree or RuleList
        """
        out = object.__new__(type(self))
        if getattr(dataset, "left_out", False):
            self._settle()
            known = self.places or Places.in_data(dataset, self.features)
            out.__dict__.update(self.__dict__, _places=known)
        else:
            kept = {k: v for k, v in self.__dict__.items() if k not in ("_counts", "_places")}
            out.__dict__.update(kept, _dataset=dataset)
        if found := predicts_of(task, dataset, self.actions):
            out.__dict__["_predicts"] = found
        return out

    @property
    def predicts(self) -> Predicts | None:
        """What its predictions are if they are numbers; None if leaves choose actions."""
        found: Predicts | None = self.__dict__.get("_predicts")
        return found

    @property
    def leaf_counts(self) -> np.ndarray | None:
        """Rows of the training data in each leaf, from left to right; None if they are not known.

        The shape is (leaves, K), counted by class, or (leaves,) where actions are not classes.
        """
        found: np.ndarray | None = getattr(self._known_rows, "rows", self._known_rows)
        return found

    @property
    def _known_rows(self) -> Any:
        """`leaf_counts`, or `LeafRows` for a model that predicts numbers."""
        self._settle()
        return self.__dict__.get("_counts")

    @property
    def places(self) -> Places | None:
        """The places of columns in an array; None if they are not known."""
        self._settle()
        found: Places | None = self.__dict__.get("_places")
        return found

    def _settle(self) -> None:
        """Take what is shown from the dataset, which is not needed any more."""
        dataset = self.__dict__.get("_dataset")
        if dataset is not None:
            places = Places.in_data(dataset, self.features)
            self.__dict__.update(_places=places, _counts=_counted(self, dataset))
            self.__dict__.pop("_dataset", None)

    def __getstate__(self) -> dict[str, Any]:
        """State for pickle and copies: numbers of rows, and not the rows."""
        self._settle()
        return dict(self.__dict__)

    # -- prediction --------------------------------------------------------------------------------

    def predict(self, data: Any) -> np.ndarray:
        """Original action of every row.

        Parameters
        ----------
        data : Dataset, DataFrame, mapping of columns, or array of shape (n, p)
            A view of a Dataset, or raw rows. The columns of an array are those of the data that the
            model was made for, in their order.

        Returns
        -------
        array of shape (n,)
            Of shape (n, k) if a prediction has several numbers.
        """
        kinds = {type(a) for a in self.actions}
        labels = np.array(self.actions, dtype=object if len(kinds) > 1 else None)
        chosen: np.ndarray = labels[self.routes(data).action]
        return chosen

    # -- pictures ----------------------------------------------------------------------------------

    def to_text(self, dataset: Any = None) -> str:
        """The model as text with original names.

        Parameters
        ----------
        dataset : Dataset, optional
            Rows that are counted in the leaves; by default the training rows, if they are known.

        Returns
        -------
        str
        """
        return self._text(self._counts_of(dataset))

    def to_svg(self, dataset: Any = None) -> str:
        """The model as a self-contained SVG picture.

        Parameters
        ----------
        dataset : Dataset, optional
            As for `to_text`.

        Returns
        -------
        str
        """
        return self._svg(self._counts_of(dataset))

    def picture(self, dataset: Any) -> str:
        """The picture for the rows of a dataset, if it has them; otherwise as `to_svg`."""
        return self.to_svg(None if getattr(dataset, "left_out", False) else dataset)

    def plot(self, ax: Any = None, dataset: Any = None) -> Any:
        """Draw the model with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure of a suitable size.
        dataset : Dataset, optional
            As for `to_text`.

        Returns
        -------
        matplotlib axes
        """
        return self._plot(self._counts_of(dataset), ax)

    def _counts_of(self, dataset: Any) -> np.ndarray | None:
        return self._known_rows if dataset is None else _rows_in(self, dataset)

    @abstractmethod
    def _text(self, counts: Any) -> str:
        """The model as text, with the rows of each leaf if they are given."""

    @abstractmethod
    def _svg(self, counts: Any) -> str:
        """The model as an SVG picture, with the rows of each leaf if they are given."""

    @abstractmethod
    def _plot(self, counts: Any, ax: Any) -> Any:
        """The matplotlib axes with the model, and with the rows of each leaf if they are given."""

    def _repr_html_(self) -> str:
        return self.to_svg()

    def __str__(self) -> str:
        return self.to_text()


def _counted(model: Shown, dataset: Any) -> Any:
    """The rows in the leaves; None if the dataset lacks a feature that the model asks for."""
    try:
        return _rows_in(model, dataset)
    except (DataError, NoView):
        return None


def _rows_in(model: Shown, dataset: Any) -> Any:
    """The rows of a dataset in the leaves of a model, as its pictures show them."""
    if model.predicts is not None:
        return leaf_rows(model, dataset)
    from milp_trees.models.draw_text import leaf_counts

    return leaf_counts(model, dataset)
