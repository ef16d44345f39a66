"""The model of a stored row as text and as a picture, without its data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from milp_trees.common.errors import MilpTreesError
from milp_trees.models.ensemble import Ensemble
from milp_trees.results.restore import space_of
from milp_trees.studies.rows import UNREADABLE, said

#: Trees with more leaves are shown as text only.
LARGEST_PICTURE = 64
#: Longer texts of models are cut.
LONGEST_TEXT = 20_000


def read_model(stored: Mapping[str, Any], space: Mapping[str, Any]) -> Any:
    """The predictor of a stored row."""
    return space_of(space).read(stored)


def drawing(stored: Mapping[str, Any], space: Mapping[str, Any]) -> dict[str, str]:
    """The model as `text`, and as `svg` if it is small enough to be drawn."""
    try:
        model = read_model(stored, space)
        text = model.to_text()
        small = not isinstance(model, Ensemble) and text.count("\n") < 2 * LARGEST_PICTURE
        out = {"text": text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}\n[cut]"}
        return {**out, "svg": model.to_svg()} if small else out
    except (*UNREADABLE, MilpTreesError) as error:
        return {"text": f"The stored model cannot be read: {said(error)}."}
