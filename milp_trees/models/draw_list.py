"""Rule lists as HTML: a table "if …, else if …, else …" with numbers of rows."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from milp_trees.models.draw import Counted, leaf_counts

if TYPE_CHECKING:
    from milp_trees.data.antecedents import Antecedent
    from milp_trees.data.dataset import Dataset


class Listed(Counted, Protocol):
    """The parts of a rule list that a drawing needs."""

    @property
    def length(self) -> int: ...
    @property
    def splits(self) -> tuple[Antecedent, ...]: ...
    @property
    def leaf_actions(self) -> tuple[int, ...]: ...


def list_html(rules: Listed, dataset: Dataset | None = None) -> str:
    """The list as an HTML table without scripts.

    Parameters
    ----------
    rules : RuleList
    dataset : Dataset, optional
        Rows to count.

    Returns
    -------
    str
    """
    heads = ["", "condition", "then"]
    counts = None if dataset is None else leaf_counts(rules, dataset)
    if counts is not None:
        heads.append("rows")
        if counts.ndim == 2:
            heads.append("of this class")
    words = ["if", *["else if"] * rules.length][: rules.length]
    conditions = [a.name for a in rules.splits]
    lines = []
    for k, action in enumerate(rules.leaf_actions):
        word, condition = (words[k], conditions[k]) if k < rules.length else ("else", "")
        cells: list[Any] = [word, condition, rules.actions[action]]
        if counts is not None:
            size = int(counts[k].sum())
            cells.append(size)
            if counts.ndim == 2:
                right = int(counts[k, action])
                cells.append(f"{right} ({100 * right / size:.1f} %)" if size else right)
        lines.append(_row("td", cells))
    return f"<table>{_row('th', heads)}{''.join(lines)}</table>"


def _row(tag: str, cells: list[Any]) -> str:
    inside = "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells)
    return f"<tr>{inside}</tr>"
