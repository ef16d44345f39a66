"""Rows of results as tables for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from milp_trees.common.plurals import spaced
from milp_trees.results.evidence import proof_text, words
from milp_trees.results.threshold_words import covered, sentence
from milp_trees.results.value_words import value_words

if TYPE_CHECKING:
    from rich.table import Table


#: Columns of a comparison, the answer first: heading → cell from a row of `Result.to_json`.
ANSWER_COLUMNS = (
    "status",
    "value",
    "bound",
    "agrees",
    "seconds",
    "gap",
    "gap to best",
    "proved by",
    "evidence",
)
#: These are shown even if no row has an entry.
ALWAYS_SHOWN = ("method", "status", "value", "bound", "agrees", "seconds")
MODEL_COLUMNS = ("variables", "binaries", "rows", "nonzeros", "build s", "hand-over s", "solve s")
SEARCH_COLUMNS = ("root bound", "root gap", "nodes", "start accepted")
#: What tells the problems and runs of a study apart.
PROBLEM_COLUMNS = ("data", "depth", "task", "seed")
#: How a prover begins whose bound holds before any search.
FROM_DATA = "the data"


def cells(row: Mapping[str, Any]) -> dict[str, str]:
    """The cells that a table shows of a row, by heading."""
    times, sizes, start = row["times"], row["sizes"], row["start"]
    status = row["status"] + (f" ({row['limit']})" if row["limit"] else "")
    accepted = (
        {True: "yes", False: "no", None: "unknown"}[start.get("accepted")]
        if start.get("method")
        else "–"
    )
    if start.get("needed") is False:
        accepted = "not needed"
    if start.get("value") is None and start.get("reason"):
        accepted = "none"
    return {
        "method": row["method"],
        "problem": (row.get("run") or {}).get("name") or str(row.get("problem_key", ""))[:6],
        **_problem_cells(row),
        "status": status,
        "value": _short(row["objective"]),
        "bound": _short(row["bound"]),
        "gap": _percent(row["gap"], row["objective"], row["bound"]),
        "proved by": _prover(row),
        "gap to best": _percent(row.get("gap_to_best"), None, None),
        "root bound": "–" if row["root_bound"] is None else f"{row['root_bound']:.4g}",
        "root gap": _percent(row["root_gap"], row["objective"], row["root_bound"]),
        "nodes": _whole(row["nodes"]),
        "seconds": _seconds(row["seconds"]),
        "start accepted": accepted,
        "agrees": {True: "yes", False: "NO", None: "–"}[row["agrees"]],
        "evidence": words(row) or "–",
        **{name: _whole(sizes.get(name)) for name in ("variables", "binaries", "rows", "nonzeros")},
        "build s": _seconds(times.get("build")),
        "hand-over s": _seconds(times.get("hand_over")),
        "solve s": _seconds(times.get("solve")),
    }


def _problem_cells(row: Mapping[str, Any]) -> dict[str, str]:
    """What tells the problems and runs of a study apart, by heading."""
    problem, run = row["problem"], row.get("run") or {}
    depth = problem["space"].get("max_depth")
    return {
        "data": str(run.get("data") or problem["data"].get("path") or "–"),
        "depth": "–" if depth is None else str(depth),
        "task": problem["task"]["name"],
        "seed": str(row.get("seed", "")),
    }


def rich_tables(
    rows: Iterable[Mapping[str, Any]], width: int = 200, reference: str = "reference"
) -> list[Table]:
    """The comparison as one rich table, or as two or three if the terminal is narrow.

    The answers come first, sizes and search after them. A column without any entry is left out.
    """
    rows = list(rows)
    shown, known = [cells(row) for row in rows], identifying_columns(rows)
    answer, model, search = (
        tuple(c for c in columns if c in ALWAYS_SHOWN or any(one[c] != "–" for one in shown))
        for columns in (answer_columns(rows), MODEL_COLUMNS, search_columns(rows))
    )
    # The fewest tables that fit; value and bound tell the gap where there is no room for it.
    without_gap = tuple(name for name in answer if name != "gap")
    for parts in (
        [answer + model + search],
        [without_gap + model + search],
        [answer, model + search],
        [without_gap, model + search],
        [without_gap, model, search],
    ):
        tables = [_rich_table(rows, known + columns, reference) for columns in parts if columns]
        if all(_width(table) <= width for table in tables):
            break
    return tables


def _width(table: Table) -> int:
    """How many characters a table needs in a line if nothing is broken."""
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(width=10_000, force_terminal=False)
    return Measurement.get(console, console.options, table).maximum


def answer_columns(rows: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Columns about the answer; where a row has no bound of its own, gaps are to the best one.

    What stands behind each row is told where proof files were asked for.
    """
    stated = any(row.get("gap_to_best") is not None and row["gap"] is None for row in rows)
    without = {"gap" if stated else "gap to best"}
    if not any(row.get("proof") for row in rows):
        without.add("evidence")
    return tuple(name for name in ANSWER_COLUMNS if name not in without)


def search_columns(rows: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Columns about the search; without starts there is nothing to say of them."""
    none = len(rows) > 1 and not any(row["start"] for row in rows)
    return SEARCH_COLUMNS[:-1] if none else SEARCH_COLUMNS


def _prover(row: Mapping[str, Any]) -> str:
    """Who proved the bound; `data*` if the data give it before any search."""
    who = row["proved_by"]
    if not who:
        return "–"
    if who.startswith(FROM_DATA):
        return "data*"
    return "itself" if who == row["method"] else re.sub(r" \d+(\.\d+)+", "", who)


def identifying_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Columns that identify the run of a row: the method, and what else differs between rows."""
    shown = [_problem_cells(row) for row in rows]
    several = [name for name in PROBLEM_COLUMNS if len({one[name] for one in shown}) > 1]
    problems = {str(row.get("problem_key")) for row in rows}
    stated = {tuple(one[name] for name in PROBLEM_COLUMNS if name != "seed") for one in shown}
    return ("method", *(["problem"] if len(problems) > len(stated) else []), *several)


def _rich_table(rows: list[Mapping[str, Any]], columns: tuple[str, ...], reference: str) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        heading = name.replace(" ", "\n").replace("-", "-\n")
        heading = f"agrees\nwith {reference}" if name == "agrees" else heading
        words = name in (
            "method",
            "problem",
            "data",
            "task",
            "status",
            "start accepted",
            "proved by",
            "agrees",
            "evidence",
        )
        # A narrow terminal breaks names of methods and of who proved a bound, and cuts nothing.
        breaks = name in ("method", "problem", "data", "task", "proved by", "evidence")
        table.add_column(
            heading,
            justify="left" if words else "right",
            no_wrap=not breaks,
            overflow="fold" if breaks else "ellipsis",
        )
    for row in rows:
        shown = cells(row)
        style = {"optimal": "green", "error": "red", "unsupported": "dim"}.get(row["status"], "")
        table.add_row(
            *(shown[name] for name in columns),
            style="bold red" if row["agrees"] is False else style,
        )
    return table


def summary(row: Mapping[str, Any], verbose: bool = False) -> list[tuple[str, str]]:
    """One result as pairs of a name and a text; `verbose` adds bounds, times and counters."""
    shown, times, sizes = cells(row), row["times"], row["sizes"]
    claimed = f", claimed by {row['proved_by']}" if row["proved_by"] else ""
    more = verbose or row["status"] != "optimal"
    seconds = [f"{name.replace('_', ' ')} {_seconds(t)}" for name, t in times.items()]
    facts = [
        ("value", value_words(row)),
        ("status", _status(row)),
        (
            "bound",
            f"{shown['bound']}{claimed}, gap {shown['gap']}"
            if more and row["bound"] is not None
            else "",
        ),
        (
            "root",
            f"bound {shown['root bound']}, gap {shown['root gap']}"
            if verbose and row["root_bound"] is not None
            else "",
        ),
        ("nodes", shown["nodes"] if verbose and row["nodes"] is not None else ""),
        ("seconds", ", ".join([shown["seconds"], *(seconds if verbose else [])])),
        (
            "sizes",
            ", ".join(f"{_whole(n)} {name.replace('_', ' ')}" for name, n in sizes.items())
            if verbose
            else "",
        ),
        (
            "start",
            f"from {row['start']['method']}, {_start_words(shown['start accepted'])}"
            if verbose and row["start"].get("method")
            else "",
        ),
        ("proof", proof_text(row)),
        ("agrees", _agrees(row)),
        ("scores", ", ".join(f"{k.replace('_', ' ')} {v:.6g}" for k, v in row["scores"].items())),
        ("group", group_text(row["problem"].get("group"))),
        ("tests", sentence(row)),
        ("note", row["message"]),
    ]
    return [(name, text) for name, text in facts if text]


def _agrees(row: Mapping[str, Any]) -> str:
    """Whether the reference agrees, and its name."""
    if row["agrees"] is None:
        return ""
    who = row.get("reference") or row.get("derived_by") or "the reference"
    return f"{'yes' if row['agrees'] else 'NO'}, with {who}"


def _start_words(accepted: str) -> str:
    """What came of a start."""
    if accepted == "not needed":
        return "not needed: the relaxation is integral"
    return f"accepted: {accepted}"


def _status(row: Mapping[str, Any]) -> str:
    """What is known of the answer, in words."""
    space = row["problem"].get("space", {}).get("name", "")
    noun = {"trees": "tree", "rule-lists": "rule list"}.get(space, "model")
    who, better = row["proved_by"] or row["method"], row.get("found_by")
    found = f"it is {better}" if better else f"{row['method']} found this {noun}"
    over = covered(row)
    optimal = f"optimal {over}" if over else "optimal"
    stopped = ""
    if row["limit"]:
        interrupted = row["limit"] == "interrupted"
        stopped = ", interrupted" if interrupted else f", stopped by its {row['limit']} limit"
    return {
        "optimal": f"{optimal}: {who} proved that no {noun} is better",
        "feasible": f"not proven to be the best{stopped}: {found}",
        "infeasible": f"infeasible: {who} proved that no {noun} keeps all limits and constraints",
        "no solution": f"{row['method']} found no {noun}{stopped}",
    }.get(row["status"], row["status"])


def group_text(group: Mapping[str, Any] | None) -> str:
    """In words: whether splits may use the protected attribute; empty if there is none."""
    if group is None:
        return ""
    copies = ", ".join(group.get("copies", ()))
    if group["column"] is None:
        message = "given apart from the features"
    else:
        message = f"column {group['column']}, {'splits may use it' if group['split_on'] else 'no split uses it'}"
    return message + (
        f"; the same under another name, and open to splits: {copies}" if copies else ""
    )


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
    rows = list(rows)
    out: dict[str, None] = {}
    if any(_prover(row) == "data*" for row in rows):
        out[
            "data*: the data give this bound before any search; the method proved no better one"
        ] = None
    for row in rows:
        if scope := sentence(row):
            out[f"tests: {scope}"] = None
        group = group_text(row["problem"].get("group"))
        if group:
            out[f"group: {group}"] = None
        if row["message"]:
            out[f"{row['method']}: {row['message']}"] = None
        if row["start"].get("reason"):
            out[f"start {row['start'].get('method', '')}: {row['start']['reason']}"] = None
    return list(out)


def _short(value: float | None) -> str:
    return "–" if value is None else spaced(value) if isinstance(value, int) else f"{value:.6g}"


def _whole(value: int | None) -> str:
    return "–" if value is None else spaced(int(value))


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if value < 1 else f"{value:.1f}"


def _percent(gap: float | None, objective: float | None, bound: float | None) -> str:
    if gap is None:
        return "–" if objective is None or bound is None else "inf"
    return f"{100 * gap:.1f} %"


def same_in_all(rows: Sequence[Mapping[str, Any]]) -> str:
    """Data, depth, task, seed and thresholds that all rows of a comparison share, as a text."""
    same, shown = _problem_cells(rows[0]) if rows else {}, identifying_columns(rows)
    parts = [f"{name} {same[name]}" for name in same if name not in shown]
    return ", ".join([*parts, *filter(None, [thresholds_of_all(rows)])])


def thresholds_of_all(rows: Sequence[Mapping[str, Any]]) -> str:
    """The sentence on thresholds that all rows of a comparison share; empty if they differ."""
    sentences = {sentence(row) for row in rows}
    return sentences.pop() if len(sentences) == 1 else ""
