"""The page of one model: its drawing, the way of a row, its certificate, and other splits."""

from __future__ import annotations

import html
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError
from milp_trees.exports.pages.alternatives import alternatives
from milp_trees.exports.pages.certificate import Checks, certificate, headline
from milp_trees.exports.pages.single_file import single_file
from milp_trees.exports.pages.tree_content import labels, outline, tree_nodes
from milp_trees.exports.pages.vendor import libraries

if TYPE_CHECKING:
    from milp_trees.results.result import Result

SCRIPTS = ("base", "tree_rows", "tree_draw", "tree_details")
STYLES = ("style", "tree")
#: Libraries that the page needs.
LIBRARIES = ("d3",)
#: Titles of what is known.
CHECKED = "Recomputed or checked when this page was written"
STORED = "As the result states it; not checked here"
WHAT_OTHERS = (
    "Value of the whole tree if this node asked something else: what is outside of the node stays as it is, and below "
    "it come the best subtrees that the limits of the space allow. Exact, computed when this page was written"
)


@dataclass(frozen=True)
class StoredModel:
    """A stored result whose rows are not at hand.

    Parameters
    ----------
    row : mapping
        What `Result.to_json` gave.
    predictor : Tree or RuleList
    why : str
        The sentence why there are no rows.
    """

    row: Mapping[str, Any]
    predictor: Any
    why: str
    problem: None = None
    #: As a Result, it is taken whole by formats that show more than the predictor.
    certificate: None = None

    def to_json(self) -> Mapping[str, Any]:
        return self.row


def tree_page(
    result: Result | StoredModel,
    columns: list[dict[str, Any]],
    checks: Checks,
    *,
    title: str = "",
    seconds: float = 5.0,
    most: int = 12,
) -> str:
    """The page of the model of a result, as text."""
    model, row = result.predictor, result.to_json()
    problem = result.problem
    rows = None if problem is None or problem.dataset.left_out else problem.dataset
    nodes = tree_nodes(model, rows)
    others: list[Any] = []
    why = "Other splits are computed where the rows of the data are at hand."
    if problem is not None and rows is not None and hasattr(model, "root"):
        others, why = alternatives(problem, model, seconds, most)
    data = {
        "kind": "list" if hasattr(model, "rules") else "tree",
        "nodes": nodes,
        "total": None if rows is None else rows.total_rows,
        "columns": [{**c, **_examples(c, nodes)} for c in columns],
        "order": list(row["problem"]["data"].get("features") or [c["name"] for c in columns]),
        **labels(model, rows),
        "unit": row["unit"],
        "alternatives": _placed(nodes, others),
        "why_none": why,
        "what_others": f"{WHAT_OTHERS}, at most {most} per node.",
        "none_in_time": f"Not computed: all nodes together had {seconds:g} seconds when this page was written.",
        "result": {k: v for k, v in row.items() if k not in ("log", "history")},
    }
    sentences = [
        *headline(row, model, checks),
        *([result.why] if isinstance(result, StoredModel) else []),
    ]
    return single_file(
        "tree",
        title or _title(row, model),
        styles=STYLES,
        scripts=SCRIPTS,
        libraries=[one for one in libraries() if one.name in LIBRARIES],
        begin="T.details.start();",
        blocks={"data": data},
        parts={
            "headline": "".join(f"<p>{html.escape(s)}</p>" for s in sentences),
            "certificate": _certificate(row, checks),
            "outline": html.escape(outline(model)),
        },
    )


def check(seconds: float, most: int) -> None:
    """Raise DataError if a limit of the page makes no sense."""
    check_time(seconds)
    if not 1 <= most <= 1000:
        raise DataError(f"most must be a whole number from 1 to 1000; got {most!r}.")


def check_time(seconds: float, name: str = "seconds") -> None:
    """Raise DataError if a time makes no sense."""
    if not 0 <= seconds <= 86_400:
        raise DataError(f"{name} must be between 0 and 86400; got {seconds!r}.")


def _title(row: Mapping[str, Any], model: Any) -> str:
    name = str(row["problem"]["data"].get("path") or "").replace("\\", "/").rpartition("/")[2]
    return f"{model.noun.capitalize()}{f' for {name}' if name else ''}"


def _certificate(row: Mapping[str, Any], checks: Checks) -> str:
    """The facts as tables, those that were checked first, and how to check the others."""
    checked, stored = certificate(row, checks)
    tables = "".join(
        _table(title, facts) for title, facts in ((CHECKED, checked), (STORED, stored)) if facts
    )
    command = (
        "run <code>milp-trees verify result.json</code> (with <code>--data FILE</code> if the data have moved)"
        if "path" in row["problem"]["data"]
        else "call <code>mt.verify(json.load(open('result.json')), dataset)</code> with the dataset in Python"
    )
    return (
        f"{tables}"
        f'<p id="verify">To check it, save the result that this page holds and {command}: the value is recomputed '
        "from the model, and the bound is derived again, or its proof file is checked.</p>"
    )


def _table(title: str, facts: list[tuple[str, str]]) -> str:
    """Facts as a table below a title."""
    lines = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(text)}</td></tr>'
        for name, text in facts
    )
    return f'<table class="facts"><caption>{title}</caption><tbody>{lines}</tbody></table>'


def _examples(column: dict[str, Any], nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """What a column is compared with: an example, and the texts to choose from."""
    requested = [q for node in nodes for q in node.get("test", ()) if q["column"] == column["name"]]
    texts = [q["value"] for q in requested if q["kind"] == "=="]
    texts += [c for q in requested if q["kind"] == "in" for c in q["value"]]
    choices = dict.fromkeys([*column.get("order", ()), *texts])
    numbers = [q["value"] for q in requested if q["kind"] == "<="]
    return {"choices": list(choices), "example": f"e.g. {numbers[0]}" if numbers else ""}


def _placed(nodes: list[dict[str, Any]], others: list[Any]) -> dict[str, Any]:
    """What is known of branches, which come level by level, by their places among the nodes."""
    out, queue, found = {}, deque([0]), iter(others)
    while queue and "no" in nodes[0]:
        at = queue.popleft()
        if "no" in nodes[at]:
            out[str(at)] = next(found, None)
            queue += [nodes[at]["no"], nodes[at]["yes"]]
    return out
