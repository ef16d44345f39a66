"""Rows of results as tables for a terminal and as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


# -- tables ----------------------------------------------------------------------------------------

#: Columns of the two halves of a comparison: heading → cell from a row of `Result.to_json`.
ANSWER_COLUMNS = (
    "status",
    "objective",
    "bound",
    "gap",
    "gap to best",
    "seconds",
    "start accepted",
    "agrees",
)
MODEL_COLUMNS = ("variables", "binaries", "rows", "nonzeros", "build s", "hand-over s", "solve s")
SEARCH_COLUMNS = ("root bound", "root gap", "nodes")


def cells(row: Mapping[str, Any]) -> dict[str, str]:
    """The cells that a table shows of a row, by heading."""
    times, sizes, start = row["times"], row["sizes"], row["start"]
    status = row["status"] + (f" ({row['limit']})" if row["limit"] else "")
    accepted = (
        {True: "yes", False: "no", None: "unknown"}[start.get("accepted")]
        if start.get("method")
        else "–"
    )
    if start.get("value") is None and start.get("reason"):
        accepted = "none"
    return {
        "method": row["method"],
        "problem": (row.get("run") or {}).get("name") or str(row.get("problem_key", ""))[:6],
        "seed": str(row.get("seed", "")),
        "status": status,
        "objective": _short(row["objective"]),
        "bound": _short(row["bound"]),
        "gap": _percent(row["gap"], row["objective"], row["bound"]),
        "gap to best": _percent(row.get("gap_to_best"), None, None),
        "root bound": "–" if row["root_bound"] is None else f"{row['root_bound']:.4g}",
        "root gap": _percent(row["root_gap"], row["objective"], row["root_bound"]),
        "nodes": _whole(row["nodes"]),
        "seconds": _seconds(row["seconds"]),
        "start accepted": accepted,
        "agrees": {True: "yes", False: "NO", None: "–"}[row["agrees"]],
        **{name: _whole(sizes.get(name)) for name in ("variables", "binaries", "rows", "nonzeros")},
        "build s": _seconds(times.get("build")),
        "hand-over s": _seconds(times.get("hand_over")),
        "solve s": _seconds(times.get("solve")),
    }


def rich_tables(
    rows: Iterable[Mapping[str, Any]], width: int = 200, reference: str = "reference"
) -> list[Table]:
    """The comparison as one rich table, or as two or three if the terminal is narrow.

    Parameters
    ----------
    rows : iterable of mappings
        What `Result.to_json` gives, one mapping per run.
    width : int, default=200
        Number of characters in a line of the terminal.
    reference : str, default="reference"
        Name of the method with which the values are compared, for the heading.

    Returns
    -------
    list of rich.table.Table
    """
    rows = list(rows)
    answer = _answer(rows)
    if width >= 170:
        parts: list[tuple[str, ...]] = [MODEL_COLUMNS + SEARCH_COLUMNS + answer]
    else:
        parts = (
            [MODEL_COLUMNS, SEARCH_COLUMNS + answer]
            if width >= 115
            else [MODEL_COLUMNS, SEARCH_COLUMNS, answer]
        )
    return [_rich_table(rows, (*_who(rows), *columns), reference) for columns in parts]


def _answer(rows: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Columns about the answer; where a row has no bound of its own, gaps are to the best one."""
    told = any(row.get("gap_to_best") is not None and row["gap"] is None for row in rows)
    without = {"gap" if told else "gap to best"}
    if len(rows) > 1 and not any(row["start"] for row in rows):
        without.add("start accepted")
    return tuple(name for name in ANSWER_COLUMNS if name not in without)


def _who(rows: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Columns that identify the run of a row: the method, and what else differs between rows."""
    several = [
        name
        for name, key in (("problem", "problem_key"), ("seed", "seed"))
        if len({row.get(key) for row in rows}) > 1
    ]
    return ("method", *several)


def _rich_table(rows: list[Mapping[str, Any]], columns: tuple[str, ...], reference: str) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        heading = (
            f"agrees\nwith {reference}"
            if name == "agrees"
            else name.replace(" ", "\n")
            if " " in name
            else name
        )
        words = name in ("method", "problem", "status", "start accepted", "agrees")
        table.add_column(heading, justify="left" if words else "right", no_wrap=name != "status")
    for row in rows:
        shown = cells(row)
        style = {"optimal": "green", "error": "red", "unsupported": "dim"}.get(row["status"], "")
        table.add_row(
            *(shown[name] for name in columns),
            style="bold red" if row["agrees"] is False else style,
        )
    return table


def summary(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """One result as pairs of a name and a text."""
    shown, times, sizes = cells(row), row["times"], row["sizes"]
    claimed = f", claimed by {row['proved_by']}" if row["proved_by"] else ""
    facts = [
        ("method", row["method"]),
        ("status", shown["status"]),
        ("value", f"{shown['objective']} {row['unit']}" if row["objective"] is not None else ""),
        (
            "bound",
            f"{shown['bound']}{claimed}, gap {shown['gap']}" if row["bound"] is not None else "",
        ),
        (
            "root",
            f"bound {shown['root bound']}, gap {shown['root gap']}"
            if row["root_bound"] is not None
            else "",
        ),
        ("nodes", "" if row["nodes"] is None else shown["nodes"]),
        (
            "seconds",
            ", ".join(
                [
                    shown["seconds"],
                    *(f"{name.replace('_', ' ')} {_seconds(t)}" for name, t in times.items()),
                ]
            ),
        ),
        ("sizes", ", ".join(f"{_whole(n)} {name.replace('_', ' ')}" for name, n in sizes.items())),
        (
            "start",
            f"from {row['start']['method']}, accepted: {shown['start accepted']}"
            if row["start"].get("method")
            else "",
        ),
        ("agrees", {True: "yes, with the reference", False: "NO", None: ""}[row["agrees"]]),
        ("scores", ", ".join(f"{k.replace('_', ' ')} {v:.6g}" for k, v in row["scores"].items())),
        ("group", group_text(row["problem"].get("group"))),
        ("tests", _scope(row["problem"]["data"].get("loss"))),
        ("note", row["message"]),
    ]
    return [(name, text) for name, text in facts if text]


def _scope(loss: str | None) -> str:
    """The set of features to which optimality refers, if thresholds are missing; else empty."""
    return f"claims are about these tests only: {loss}" if loss else ""


def group_text(group: Mapping[str, Any] | None) -> str:
    """In words: whether splits may use the protected attribute; empty if there is none.

    Parameters
    ----------
    group : mapping or None
        What `Problem.group` gives.
    """
    if group is None:
        return ""
    copies = ", ".join(group.get("copies", ()))
    if group["column"] is None:
        said = "given apart from the features"
    else:
        said = f"column {group['column']}, {'splits may use it' if group['split_on'] else 'no split uses it'}"
    return said + (f"; the same under another name, and open to splits: {copies}" if copies else "")


def plain_table(rows: Iterable[Mapping[str, Any]], width: int = 200) -> str:
    """The comparison as text."""
    import io

    from rich.console import Console

    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, force_terminal=False)
    for table in rich_tables(rows, width):
        console.print(table)
    return out.getvalue()


def reasons(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each row with a remark.

    Remarks are what the features may lose, whether splits may use the protected group, why a run is unsupported or failed, or why it had no
    start.
    """
    out: dict[str, None] = {}
    for row in rows:
        loss = row["problem"]["data"].get("loss")
        if loss:
            out[f"tests: {_scope(loss)}"] = None
        group = group_text(row["problem"].get("group"))
        if group:
            out[f"group: {group}"] = None
        if row["message"]:
            out[f"{row['method']}: {row['message']}"] = None
        if row["start"].get("reason"):
            out[f"start {row['start'].get('method', '')}: {row['start']['reason']}"] = None
    return list(out)


def _short(value: float | None) -> str:
    return (
        "–"
        if value is None
        else f"{value:,}".replace(",", " ")
        if isinstance(value, int)
        else f"{value:.6g}"
    )


def _whole(value: int | None) -> str:
    return "–" if value is None else f"{int(value):,}".replace(",", " ")


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if value < 1 else f"{value:.1f}"


def _percent(gap: float | None, objective: float | None, bound: float | None) -> str:
    if gap is None:
        return "–" if objective is None or bound is None else "inf"
    return f"{100 * gap:.1f} %"


# -- HTML ------------------------------------------------------------------------------------------


def row_html(row: Mapping[str, Any], loss: str) -> str:
    """One result as an HTML table.

    Parameters
    ----------
    row : mapping
        What `Result.to_json` gives.
    loss : str
        What the binary features lose against the columns they were made from.
    """
    shown = cells(row)
    claimed = f" (claimed by {row['proved_by']})" if row["proved_by"] else ""
    facts = {
        "method": row["method"],
        "status": shown["status"],
        row["unit"]: shown["objective"],
        "bound": shown["bound"] + claimed,
        "gap": shown["gap"],
        "seconds": shown["seconds"],
        "recomputed by us": "; ".join(row["checked"]) or "nothing",
        "agrees with the reference": shown["agrees"],
        "group": group_text(row["problem"].get("group")),
        "tests": _scope(loss),
        "message": row["message"],
    }
    lines = "".join(
        f"<tr><th style='text-align:left'>{html.escape(k)}</th>"
        f"<td style='text-align:left'>{html.escape(v)}</td></tr>"
        for k, v in facts.items()
        if v
    )
    return f"<table>{lines}</table>"


def rows_html(rows: Iterable[Mapping[str, Any]]) -> str:
    """A comparison as an HTML table."""
    rows = list(rows)
    columns = (*_who(rows), *MODEL_COLUMNS, *SEARCH_COLUMNS, *_answer(rows))
    head = "".join(f"<th>{html.escape(c)}</th>" for c in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cells(row)[c])}</td>" for c in columns) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
