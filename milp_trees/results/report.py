"""Results as JSON, as HTML and as tables for a terminal."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.results.result import (
    Certificate,
    Limit,
    Result,
    Solution,
    Status,
    TracePoint,
    relative_gap,
)
from milp_trees.tasks.base import Value

if TYPE_CHECKING:
    from rich.table import Table

    from milp_trees.problem import Problem

#: Version of the layout of `result_json`.
SCHEMA = 1


# -- JSON ----------------------------------------------------------------------------------------------------


def result_json(result: Result) -> dict[str, Any]:
    """The object that `--json` prints and `verify` reads: plain, without NaN or infinity, with the
    problem it answers.
    """
    value, exact_bound = result.value, result.certificate.bound_exact
    task = result.problem.task
    out = {
        "schema": SCHEMA,
        "method": result.method,
        "status": result.status.value,
        "limit": None if result.limit is None else result.limit.value,
        "objective": None if value is None else _number(value.number, value.exact),
        "unit": task.unit,
        "sense": task.sense,
        "exact": None if value is None else _ratio(value.exact),
        "bound": _number(result.bound, exact_bound),
        "bound_exact": _ratio(exact_bound),
        "gap": result.gap,
        "proved_by": result.certificate.proved_by,
        "checked": list(result.certificate.checked),
        "agrees": result.agrees,
        "seconds": result.seconds,
        "times": dict(result.times),
        "sizes": dict(result.sizes),
        "root_bound": result.root_bound,
        "root_gap": relative_gap(result.objective, result.root_bound),
        "nodes": result.nodes,
        "start": dict(result.start),
        "scores": dict(result.scores),
        "message": result.message,
        "predictor": None if result.predictor is None else result.predictor.to_json(),
        "trace": [list(point) for point in result.trace],
        "options": dict(result.options),
        "versions": dict(result.versions),
        "problem": result.problem.spec(),
    }
    plain: dict[str, Any] = json_safe(out)
    return plain


def result_from_json(data: Mapping[str, Any], problem: Problem) -> Result:
    """The Result that `result_json` described, on its problem."""
    solutions: tuple[Solution, ...] = ()
    if data["predictor"] is not None:
        exact = None if data["exact"] is None else Fraction(data["exact"])
        solutions = (
            Solution(
                problem.space.read(data["predictor"]),
                Value(float(data["objective"]), exact, data["unit"], data["sense"]),
            ),
        )
    bound = data["bound"]
    certificate = Certificate(
        None if bound is None else float(bound),
        None if data["bound_exact"] is None else Fraction(data["bound_exact"]),
        data["proved_by"],
        tuple(data["checked"]),
    )
    return Result(
        problem,
        data["method"],
        Status(data["status"]),
        None if data["limit"] is None else Limit(data["limit"]),
        solutions,
        certificate,
        data["seconds"],
        data["times"],
        data["sizes"],
        tuple(TracePoint(*p) for p in data["trace"]),
        data["root_bound"],
        data["nodes"],
        data["start"],
        data["agrees"],
        data["message"],
        data.get("log", ""),
        data["options"],
        data["versions"],
        data["scores"],
    )


def json_safe(value: Any) -> Any:
    """Plain Python: no numpy types, no NaN or infinity (they become null), fractions as "p/q"."""
    if isinstance(value, Mapping):
        return {str(k): json_safe(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [json_safe(v) for v in value]
    if isinstance(value, np.ndarray):
        return json_safe(value.tolist())
    if isinstance(value, np.generic):
        return json_safe(value.item())
    if isinstance(value, Fraction):
        return _ratio(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def _ratio(value: Fraction | None) -> str | None:
    return None if value is None else f"{value.numerator}/{value.denominator}"


def _number(number: float | None, exact: Fraction | None) -> float | int | None:
    """Whole numbers that are exact are written without a decimal point."""
    if number is None or (exact is not None and exact.denominator == 1):
        return None if exact is None else int(exact)
    return number


# -- tables --------------------------------------------------------------------------------------------------

#: Columns of the two halves of a comparison: heading → cell from a row of `result_json`.
ANSWER_COLUMNS = ("status", "objective", "bound", "gap", "seconds", "start accepted", "agrees")
MODEL_COLUMNS = ("variables", "binaries", "rows", "nonzeros", "build s", "hand-over s", "solve s")
SEARCH_COLUMNS = ("root bound", "root gap", "nodes")


def cells(row: Mapping[str, Any]) -> dict[str, str]:
    """What a person sees of a row, by heading."""
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
        "problem": str(row.get("problem_key", ""))[:6],
        "seed": str(row.get("seed", "")),
        "status": status,
        "objective": _short(row["objective"]),
        "bound": _short(row["bound"]),
        "gap": _percent(row["gap"], row["objective"], row["bound"]),
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
    rows: Iterable[Mapping[str, Any]], width: int = 200, oracle: str = "oracle"
) -> list[Table]:
    """The comparison as one rich table, or as two or three where the terminal is narrower."""
    rows = list(rows)
    if width >= 170:
        parts: list[tuple[str, ...]] = [MODEL_COLUMNS + SEARCH_COLUMNS + ANSWER_COLUMNS]
    else:
        parts = (
            [MODEL_COLUMNS, SEARCH_COLUMNS + ANSWER_COLUMNS]
            if width >= 115
            else [MODEL_COLUMNS, SEARCH_COLUMNS, ANSWER_COLUMNS]
        )
    return [_rich_table(rows, (*_who(rows), *columns), oracle) for columns in parts]


def _who(rows: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Columns that say whose run a row is: the method, and what else differs between rows."""
    several = [
        name
        for name, key in (("problem", "problem_key"), ("seed", "seed"))
        if len({row.get(key) for row in rows}) > 1
    ]
    return ("method", *several)


def _rich_table(rows: list[Mapping[str, Any]], columns: tuple[str, ...], oracle: str) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        heading = (
            f"agrees\nwith {oracle}"
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
    """One result for people: name and text of what is known."""
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
        ("agrees", {True: "yes, with the oracle", False: "NO", None: ""}[row["agrees"]]),
        ("scores", ", ".join(f"{k.replace('_', ' ')} {v:.6g}" for k, v in row["scores"].items())),
        ("tests", _scope(row["problem"]["data"].get("loss"))),
        ("note", row["message"]),
    ]
    return [(name, text) for name, text in facts if text]


def _scope(loss: str | None) -> str:
    """What optimality refers to where the tests are not all there could be; empty otherwise."""
    return f"claims are about these tests only: {loss}" if loss else ""


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
    """A line per row that has something to say: what the tests may lose, why it is unsupported or
    failed, or why it had no start.
    """
    out: dict[str, None] = {}
    for row in rows:
        loss = row["problem"]["data"].get("loss")
        if loss:
            out[f"tests: {_scope(loss)}"] = None
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


# -- HTML ----------------------------------------------------------------------------------------------------


def result_html(result: Result) -> str:
    """The tree as inline SVG and the certificate as a table; needs no network and no scripts."""
    shown = cells(result_json(result))
    facts = {
        "method": result.method,
        "status": shown["status"],
        result.problem.task.unit: shown["objective"],
        "bound": shown["bound"]
        + (f" (claimed by {result.certificate.proved_by})" if result.certificate.proved_by else ""),
        "gap": shown["gap"],
        "seconds": shown["seconds"],
        "recomputed by us": "; ".join(result.certificate.checked) or "nothing",
        "agrees with the oracle": shown["agrees"],
        "tests": _scope(result.problem.dataset.loss),
        "message": result.message,
    }
    lines = "".join(
        f"<tr><th style='text-align:left'>{html.escape(k)}</th><td style='text-align:left'>{html.escape(v)}</td></tr>"
        for k, v in facts.items()
        if v
    )
    picture = "" if result.predictor is None else result.predictor.picture(result.problem.dataset)
    return f"<div>{picture}<table>{lines}</table></div>"


def rows_html(rows: Iterable[Mapping[str, Any]]) -> str:
    """A comparison as an HTML table."""
    rows = list(rows)
    columns = (*_who(rows), *MODEL_COLUMNS, *SEARCH_COLUMNS, *ANSWER_COLUMNS)
    head = "".join(f"<th>{html.escape(c)}</th>" for c in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cells(row)[c])}</td>" for c in columns) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
