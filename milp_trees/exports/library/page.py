"""The page of a library: one HTML file without network, whose tables sort by a click on a heading.

Everything that comes from data or specifications is untrusted text and is escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from milp_trees.exports.library.registry import (
    CLAIMS,
    CLASSES,
    COLUMNS,
    CSV,
    JSON,
    SOLU,
    SUMS,
    Instance,
    Registry,
)
from milp_trees.exports.library.sources import USERS_COPY, known_licence

#: Columns of the table of all instances, with their headings.
SHOWN = {
    "instance": "instance",
    "status": "class",
    "claim": "claim",
    "objective": "objective",
    "bound": "bound",
    "variables": "variables",
    "binaries": "binaries",
    "constraints": "rows",
    "nonzeros": "nonzeros",
    "lp_bound": "LP bound",
    "root_bound": "root bound",
    "integrality_gap": "LP gap",
    "root_gap": "root gap",
    "solvers": "solvers",
    "proved_by": "proved by",
    "evidence": "evidence",
    "derived_by": "independent means",
    "group": "group",
    "licence": "licence of the data",
}
#: So many independent means are listed in the table; all are in the registry.
MOST_MEANS = 3

STYLE = """
:root{color-scheme:light dark;--line:#8884;--good:#1a7f37;--hard:#9a6700;--open:#cf222e}
@media(prefers-color-scheme:dark){:root{--good:#3fb950;--hard:#d29922;--open:#f85149}}
body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:110rem;padding:0 1rem}
h1,h2{line-height:1.2}p,li{max-width:50rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem}
th,td{border-bottom:1px solid var(--line);padding:.2rem .5rem;text-align:left;vertical-align:top}
.sortable td{white-space:nowrap}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
th{position:sticky;top:0;background:Canvas}th button{all:unset;cursor:pointer;font-weight:600}
th button:focus-visible{outline:2px solid}th[aria-sort=ascending] button::after{content:" \\2191"}
th[aria-sort=descending] button::after{content:" \\2193"}
.easy{color:var(--good)}.hard{color:var(--hard)}.open{color:var(--open)}
@media print{th{position:static}body{max-width:none}}
"""
SCRIPT = """
for(const table of document.querySelectorAll("table.sortable"))
 table.querySelectorAll("th button").forEach((button,j)=>button.addEventListener("click",()=>{
  const head=button.parentElement,up=head.getAttribute("aria-sort")!=="ascending";
  for(const other of table.querySelectorAll("th"))other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort",up?"ascending":"descending");
  const key=row=>row.cells[j].dataset.v??row.cells[j].textContent,body=table.tBodies[0];
  const order=(a,b)=>{const x=key(a),y=key(b),n=Number(x),m=Number(y);
   if(x===""||y==="")return(x==="")-(y==="");
   const d=Number.isNaN(n)||Number.isNaN(m)?x.localeCompare(y):n-m;return up?d:-d};
  body.append(...[...body.rows].sort(order))}));
"""


def page(registry: Registry) -> str:
    """The page as text."""
    about = registry.about
    title = escape(str(about["title"]))
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        f"<title>{title}</title><style>{STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        *_introduction(registry),
        *_other_forms(registry),
        "<h2 id=all>All instances</h2>",
        "<p>A heading sorts the table; the gaps are relative to the objective.</p>",
        _table(SHOWN.values(), (_cells(one) for one in registry.instances), sortable=True),
        *_refused(registry),
        *_sources(registry),
        f"<script>{SCRIPT}</script></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _introduction(registry: Registry) -> list[str]:
    about, rows = registry.about, registry.instances
    counts = {c: sum(one.status == c for one in rows) for c in CLASSES}
    size = sum(one.bytes for one in rows) / 1e6
    solvers = ", ".join(f"{s} {v}" for s, v in about["solvers"].items())
    seconds = f"{about['solver_seconds']:g} s"
    classes = "".join(
        f"<li><b class={c}>{c}</b> ({counts[c]}): {escape(message)}.</li>"
        for c, message in CLASSES.items()
    )
    claims = "; ".join(f"<b>={c}=</b> {escape(message)}" for c, message in CLAIMS.items())
    return [
        f"<p>Version {escape(str(about['version']))}: {len(rows)} instances of "
        f"{len({one.problem for one in rows})} problems in {len({one.formulation for one in rows})} "
        f"formulations, {size:.1f} MB. Every model file is minimised. Files: "
        + ", ".join(f'<a href="{name}">{name}</a>' for name in (CSV, JSON, SOLU, SUMS))
        + ".</p>",
        f"<p>Classes, for {escape(solvers)} with {seconds} each and one thread, on "
        f"{escape(str(about['machine']))}:</p><ul>{classes}</ul>",
        f"<p>Claims: {claims}.</p>",
        "<p>Belief: every value is recomputed from its predictor on the data. An answer is "
        f"<i>proved by file</i> if <code>milp-trees check</code> accepts NAME.proof, as it did when the library was made ({escape(str(about['made']))[:16].replace('T', ' ')} UTC); registry.csv has the SHA-256 of the file and of its statement. It is <i>derived again</i> if a method that shares nothing with the one that proved it proves it too, and "
        "<i>claimed</i> by the named method otherwise. NAME@SOLVER read the file of that formulation "
        "and proved the answer from the file alone.</p>",
        "<p><code>milp-trees library check FOLDER</code> checks all of this again.</p>",
    ]


def _other_forms(registry: Registry) -> list[str]:
    """The instances that no solver solves, while another form of the same problem is easy."""
    found = [one for one in registry.instances if one.easy_as]
    if not found:
        return []
    heads = ("instance", "class", "claim", "objective", "LP gap", "easy as", "proved by", "seconds")
    rows = (
        (
            _link(one),
            _word(one.status),
            _text(f"={one.claim}="),
            _number(one.objective),
            _number(one.integrality_gap),
            _text(one.easy_as),
            _text(one.proved_by),
            _number(one.proof_seconds),
        )
        for one in found
    )
    return [
        "<h2 id=other>Hard in this form, easy in another</h2>",
        f"<p>No solver here solves these {len(found)} files within the limit, but the same problem is "
        "easy as the formulation named beside it, or an engine proves it at once. So the optimum of a "
        "hard model is known independently: these are the files for developers of solvers.</p>",
        _table(heads, rows, sortable=True),
    ]


def _refused(registry: Registry) -> list[str]:
    if not registry.refused:
        return []
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in registry.refused:
        reasons.setdefault((one["formulation"], one["reason"]), []).append(one["problem"])
    rows = (
        (_text(formulation), _text(reason), _text("; ".join(problems)))
        for (formulation, reason), problems in sorted(reasons.items())
    )
    return [
        "<h2 id=refused>Not written</h2>",
        "<p>These formulations cannot be a file for these problems.</p>",
        _table(("formulation", "reason", "problems"), rows),
    ]


def _sources(registry: Registry) -> list[str]:
    sources: dict[tuple[str, str, bool], int] = {}
    for one in registry.instances:
        key = (one.source, _licence(one), one.published)
        sources[key] = sources.get(key, 0) + 1
    rows = (
        (_text(s), _text(licence), _text("yes" if may else "no"), _number(n))
        for (s, licence, may), n in sorted(sources.items())
    )
    meanings = "".join(f"<li><b>{c}</b>: {escape(message)}</li>" for c, message in COLUMNS.items())
    return [
        "<h2 id=data>Data</h2>",
        _table(("source", "licence", "may be published", "instances"), rows),
        f"<h2 id=columns>Columns of {CSV}</h2><ul>{meanings}</ul>",
    ]


def _cells(one: Instance) -> list[str]:
    cells = []
    for name in SHOWN:
        value = getattr(one, name)
        if name == "instance":
            cells.append(_link(one))
        elif name == "status":
            cells.append(_word(value))
        elif name == "licence":
            cells.append(_text(_licence(one)))
        elif name == "derived_by":
            cells.append(_means(value))
        elif isinstance(value, str):
            cells.append(_text(value))
        else:
            cells.append(_number(value))
    return cells


def _licence(one: Instance) -> str:
    """The licence; a word says where nothing but the SPEC states it."""
    known = known_licence(one.source) is not None or one.licence == USERS_COPY
    return one.licence if known else f"{one.licence} (as the SPEC gives it)"


def _means(text: str) -> str:
    names = [name for name in text.split("; ") if name]
    more = f" and {len(names) - MOST_MEANS} more" if len(names) > MOST_MEANS else ""
    return _text(", ".join(names[:MOST_MEANS]) + more, key=str(len(names)))


def _link(one: Instance) -> str:
    solution = f' <a href="{escape(one.solution)}">.sol</a>' if one.solution is not None else ""
    solution += f' <a href="{escape(one.proof)}">.proof</a>' if one.proof is not None else ""
    name = escape(one.instance)
    return f'<td data-v="{name}"><a href="{escape(one.model)}">{name}</a>{solution}</td>'


def _word(status: str) -> str:
    place = list(CLASSES).index(status)
    return f'<td class="{escape(status)}" data-v="{place}">{escape(status)}</td>'


def _text(text: str, key: str | None = None) -> str:
    return (
        f"<td>{escape(text)}</td>"
        if key is None
        else f'<td data-v="{escape(key)}">{escape(text)}</td>'
    )


def _number(value: float | None) -> str:
    return (
        '<td class=n data-v=""></td>'
        if value is None
        else f'<td class=n data-v="{value!r}">{value:.6g}</td>'
    )


def _table(heads: Iterable[str], rows: Iterable[Sequence[str]], sortable: bool = False) -> str:
    def head(text: str) -> Any:
        return (
            f"<th><button>{escape(text)}</button></th>" if sortable else f"<th>{escape(text)}</th>"
        )

    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    kind = " class=sortable" if sortable else ""
    return f"<div class=wide><table{kind}><thead><tr>{''.join(map(head, heads))}</tr></thead><tbody>{body}</tbody></table></div>"
