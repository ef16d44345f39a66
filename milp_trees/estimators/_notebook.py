"""What a notebook shows of a fitted estimator: its model and certificate, then its parameters."""

from __future__ import annotations

import html
from typing import Any


class InNotebook:
    """Base of estimators that show their model; it stands before `BaseEstimator`.

    scikit-learn's diagrams of pipelines and searches contain the estimator as any other one.
    """

    def _repr_html_inner(self) -> str:
        return self._model_html() + str(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **given: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**given)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._model_html() + bundle["text/html"]
        return bundle

    def _model_html(self) -> str:
        """The model, its counts and what is known about it; empty before `fit`."""
        inner = self if "result_" in vars(self) else getattr(self, "estimator_", None)
        result = getattr(inner, "result_", None)
        shown = "" if result is None else result._repr_html_()
        return f'<div style="overflow-x:auto">{shown}</div>' if shown else ""


def text_html(text: str) -> str:
    """A text as HTML that keeps its lines."""
    return f"<pre>{html.escape(text)}</pre>"
