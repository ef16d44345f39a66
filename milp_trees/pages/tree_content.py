"""What the page of one model holds: its nodes with their rows, its columns, and its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from milp_trees.models.draw import action_colour, leaf_counts
from milp_trees.models.nodes import Leaf
from milp_trees.results.belief import proof_text, words
from milp_trees.results.json import json_safe
from milp_trees.results.tables import summary

#: Longest text of a model on the page.
LONGEST_TEXT = 200_000


def tree_nodes(model: Any, dataset: Any) -> list[dict[str, Any]]:
    """The nodes of a tree, parents first, or the rules of a list and its default rule last.

    Parameters
    ----------
    model : Tree or RuleList
    dataset : Dataset or None
        Rows to count.

    Returns
    -------
    list of dict
        A branch has `test` (literals), `name`, `no` and `yes` (places of the children); a leaf has
        `label`, the number of its label. A rule has `test`, `name` and `label`. With rows, each has
        `rows`, and `counts` per label if the labels are the classes of the target.
    """
    counts = None if dataset is None else leaf_counts(model, dataset)
    if hasattr(model, "rules"):
        return _rules(model, counts)
    out: list[dict[str, Any]] = []
    leaves = 0

    def add(node: Any) -> Any:
        nonlocal leaves
        at: dict[str, Any] = {}
        out.append(at)
        if isinstance(node, Leaf):
            at["label"] = node.action
            found = None if counts is None else counts[leaves]
            leaves += 1
        else:
            at |= {"test": [literal(node.test, True)], "name": node.test.name}
            at["no"] = len(out)
            found = add(node.left)
            at["yes"] = len(out)
            below = add(node.right)
            found = None if found is None else found + below
        _count(at, found)
        return found

    add(model.root)
    return out


def _rules(model: Any, counts: Any) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = [
        {
            "test": [literal(x.feature, x.value) for x in rule.antecedent.literals],
            "name": rule.antecedent.name,
            "label": rule.action,
        }
        for rule in model.rules
    ]
    out.append({"label": model.default})
    for k, one in enumerate(out):
        _count(one, None if counts is None else counts[k])
    return out


def _count(at: dict[str, Any], found: Any) -> None:
    if found is None:
        return
    at["rows"] = int(np.sum(found))
    if np.ndim(found):
        at["counts"] = [int(n) for n in found]


def literal(feature: Any, holds: bool) -> dict[str, Any]:
    """A question with the answer that is wanted, as the page's script reads it."""
    return {
        "column": feature.column,
        "kind": "in" if feature.order else feature.kind,
        "value": list(feature.below)
        if feature.order
        else str(feature.value)
        if feature.kind == "=="
        else json_safe(feature.value),
        "missing": feature.missing,
        "holds": holds,
        "name": feature.name,
        "negation": feature.negation,
    }


def certificate(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is known about the optimum, as pairs of a name and a text.

    Parameters
    ----------
    row : mapping
        What `Result.to_json` gives.
    """
    problem, data = row["problem"], row["problem"]["data"]
    facts = dict(summary(row, verbose=True))  # the bound of an optimum too
    claim = facts.pop("bound", "no bound is known")
    facts = {
        **{name: facts[name] for name in ("method", "status", "value") if name in facts},
        "bound": claim,
        "belief": words(row),
        "proof": _proof(row),
        "recomputed by this package": "; ".join(row["checked"]) or "nothing",
        "task": _spelled(problem["task"]),
        "space of models": _spelled(problem["space"]),
        "data": _data(data),
        "hash of the data (SHA-256)": str(data["arrays_sha256"]),
        **{n: t for n, t in facts.items() if n in ("agrees", "scores", "group", "tests", "note")},
        "software": ", ".join(f"{name} {version}" for name, version in row["versions"].items()),
    }
    return [(name, text) for name, text in facts.items() if text]


def _proof(row: Mapping[str, Any]) -> str:
    """The proof file of a row, and whether it was checked."""
    if not row.get("proof"):
        return ""
    checked = "checked" if row["proof"].get("checked") else "not checked here"
    return f"{proof_text(row)}; {checked}; milp-trees check takes it with the data"


def _spelled(part: Mapping[str, Any]) -> str:
    """The name of a task or space with its parameters."""
    given = {k: v for k, v in part.items() if k not in ("name", "ensemble", "antecedents", "fixed")}
    said = [
        f"{k.replace('_', ' ')} {_value(v)}" for k, v in given.items() if v not in (None, (), [])
    ]
    return f"{str(part['name']).replace('-', ' ')}{': ' if said else ''}{', '.join(said)}"


def _value(value: Any) -> str:
    text = {True: "yes", False: "no"}.get(value) if isinstance(value, bool) else None
    text = str(value) if text is None else text
    return text if len(text) <= 200 else f"{text[:200]}…"


def _data(data: Mapping[str, Any]) -> str:
    name = str(data.get("path") or "arrays in memory").replace("\\", "/").rpartition("/")[2]
    return f"{name}: {data['rows']} rows, {data['tests']} binary features"


def labels(model: Any) -> dict[str, Any]:
    """The labels of the actions with their colours."""
    return {
        "labels": [str(a) for a in model.actions],
        "colours": [action_colour(k) for k in range(len(model.actions))],
    }


def outline(model: Any) -> str:
    """The model as text, for paper and for readers without the drawing."""
    text: str = model.to_text()
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}\n[cut]"
