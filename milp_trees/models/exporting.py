"""`Export`: a format in which a model leaves this package; one registered class per format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from milp_trees.common.errors import DataError, Unsupported
from milp_trees.common.registering import labels, plugins
from milp_trees.common.writing import write_whole
from milp_trees.data.categories import made_from


class Export(ABC):
    """A format for models: `write` makes the text (or bytes) of a model.

    A format is a subclass with `@register`, in a file of its own. Its options are the parameters
    of its constructor, each with a default and kept as an attribute of its name.
    """

    registry_group: ClassVar[str] = "exports"

    #: Name by which the format is asked for, and what it is, for lists.
    name: ClassVar[str]
    about: ClassVar[str]
    #: Usual ending of a file in this format, with the dot.
    suffix: ClassVar[str]
    #: A text in every file of the format, by which files are known that a command may replace.
    mark: ClassVar[str] = "milp-trees"
    #: Whether the format needs a whole Result with its rows, and not only its predictor.
    of_result: ClassVar[bool] = False
    #: Whether it is only looked at; other formats predict from the columns of the user's table.
    drawing: ClassVar[bool] = False

    @abstractmethod
    def write(self, model: Any) -> str | bytes:
        """The model in this format.

        Parameters
        ----------
        model : Tree, RuleList or Result
            A Result if the format declares `of_result`, otherwise a predictor.

        Raises
        ------
        Unsupported
            The format cannot express the model; the sentence says why.
        """


class Exportable:
    """What has the method `export`: trees, rule lists, and results."""

    def export(self, to: str, path: str | Path | None = None, **options: Any) -> str | bytes | Path:
        """The model in another language or format, which predicts the same.

        Parameters
        ----------
        to : str
            Name of the format, such as `"c"` or `"sql"`, with options if there are any
            (`"sql:table=people"`).
        path : path, optional
            File to write; it is replaced if it exists.
        **options
            Options of the format, such as `table="people"`.

        Returns
        -------
        str, bytes or Path
            The text, or the bytes of a binary format; with `path` the file.

        Raises
        ------
        UnknownName
            There is no such format, or it has no such option.
        Unsupported
            The format cannot express the model; the sentence says why.
        DataError
            A result holds no model, or the file cannot be written.
        """
        return export(self, to, path, options)


def make_format(label: str, options: dict[str, Any] | None = None) -> Export:
    """The format of a label such as `sql` or `sql:table=people`, with further options."""
    name, _, given = str(label).partition(":")
    cls: Any = plugins.get("exports", name)
    chosen = {**labels.options(given, cls), **(options or {})}
    labels.check_names(chosen, cls)
    made: Export = labels.checked(cls(**chosen))
    return made


def export(
    model: Any,
    to: str,
    path: str | Path | None = None,
    options: dict[str, Any] | None = None,
    source: Mapping[str, Any] | None = None,
) -> str | bytes | Path:
    """A model in another format, as text or bytes, or as a file."""
    form = make_format(to, options)
    if source is None and getattr(model, "problem", None) is not None:
        source = model.problem.dataset.source
    part = _part(model, form)
    if not form.drawing:
        _refuse_made(part, form, made_from(source or {}))
    written = form.write(part)
    if path is None:
        return written
    file = Path(path)
    try:
        write_whole(file, written)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror}; name another file."
        ) from error
    return file


def _refuse_made(model: Any, form: Export, made: Mapping[str, str]) -> None:
    """Raise Unsupported if a model asks for a column that the user's table does not have."""
    requested = [f.column for split in model.splits for f in split.features] if made else []
    for name in requested:
        if name in made:
            raise Unsupported(
                f"The format {form.name} cannot ask the column {name!r}, which was made from {made[name]!r} and which your table does not have; predict with milp-trees predict, or solve without {made[name]!r} (--drop)."
            )


def _part(model: Any, form: Export) -> Any:
    """What a format takes of a model: the Result, or its predictor."""
    whole = hasattr(model, "certificate")
    if form.of_result and not whole:
        raise DataError(
            f"The format {form.name} shows a whole result; give a Result, as mt.solve returns it, instead of a {type(model).__name__}."
        )
    predictor = model.predictor if whole else model
    if predictor is None:
        raise DataError(
            f"The result of {model.method} holds no model to export: {model.status.value}."
        )
    if not (hasattr(predictor, "root") or hasattr(predictor, "rules")):
        raise Unsupported(
            f"Trees and rule lists can be exported; {getattr(predictor, 'noun', type(predictor).__name__)} cannot."
        )
    return model if form.of_result else predictor
