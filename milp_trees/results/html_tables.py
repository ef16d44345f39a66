"""Rows of results as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Any

from milp_trees.results.changed import ChangedModel
from milp_trees.results.tables import (
    MODEL_COLUMNS,
    answer_columns,
    cells,
    group_text,
    identifying_columns,
    same_in_all,
    search_columns,
)
from milp_trees.results.threshold_words import sentence


def row_html(row: Mapping[str, Any]) -> str:
    """One result as an HTML table."""
    shown = cells(row)
    claimed = f" (claimed by {row['proved_by']})" if row["proved_by"] else ""
    facts = {
        "method": row["method"],
        "status": shown["status"],
        row["unit"]: shown["value"],
        "bound": shown["bound"] + claimed,
        "gap": shown["gap"],
        "seconds": shown["seconds"],
        "recomputed by us": "; ".join(row["checked"]) or "nothing",
        "agrees with the reference": shown["agrees"],
        "group": group_text(row["problem"].get("group")),
        "tests": sentence(row),
        "message": row["message"],
        "changed model": _changed(row),
    }
    lines = "".join(
        f"<tr><th style='text-align:left'>{html.escape(k)}</th>"
        f"<td style='text-align:left'>{html.escape(v)}</td></tr>"
        for k, v in facts.items()
        if v
    )
    return f"<table>{lines}</table>"


def _changed(row: Mapping[str, Any]) -> str:
    """What is claimed about a model that the user changed; empty for all other results."""
    if not row.get("changed"):
        return ""
    found = ChangedModel.from_json(row["changed"])
    by = f" (claimed by {found.proved_by})" if found.proved_by else ""
    return f"{found.line.partition(': ')[2]}{by}"


def rows_html(rows: Iterable[Mapping[str, Any]]) -> str:
    """A comparison as an HTML table; what is the same in all rows stands above it."""
    rows = list(rows)
    columns = (
        *identifying_columns(rows),
        *answer_columns(rows),
        *MODEL_COLUMNS,
        *search_columns(rows),
    )
    head = "".join(f"<th>{html.escape(c)}</th>" for c in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cells(row)[c])}</td>" for c in columns) + "</tr>"
        for row in rows
    )
    message = same_in_all(rows)
    caption = f"<caption>{html.escape(message)}</caption>" if message else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
