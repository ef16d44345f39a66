"""Predictions of one row, by the model itself."""

from __future__ import annotations

from typing import Any

from milp_trees.counterfactuals.target import names_of, of_action


def predicted_number(model: Any, frame: Any) -> Any:
    """The number of the class that is predicted for a row, or the predicted number.

    Parameters
    ----------
    model : Tree, RuleList or Ensemble
    frame : DataFrame of one row

    Returns
    -------
    int or float
    """
    if hasattr(model, "walk"):  # an ensemble
        mean = model.mean_value(model.walk(frame[list(model.columns)]).leaf)[0]
        return float(mean[0]) if model.classes is None else int(mean.argmax())
    return of_action(model, int(model.routes(frame).action[0]))


def label_of(model: Any, frame: Any) -> Any:
    """What is predicted for a row: a label in original form, or a number."""
    names, number = names_of(model), predicted_number(model, frame)
    return number if names is None else names[number]
