"""A model as JSON whose layout is documented and does not change within a version."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from milp_trees.common.registering import register
from milp_trees.exports._program import Program
from milp_trees.models.exporting import Export
from milp_trees.models.nodes import Leaf

#: Version of the layout.
VERSION = 1


@register
class Json(Export):
    """A JSON object with the columns, the labels and the nodes or rules of a model."""

    name: ClassVar[str] = "json"
    about: ClassVar[str] = "JSON, with columns, labels and nodes or rules"
    suffix: ClassVar[str] = ".json"
    mark: ClassVar[str] = '"milp-trees-model"'

    def write(self, model: Any) -> str:
        program = Program.of(model)
        out = {
            "format": "milp-trees-model",
            "version": VERSION,
            "kind": program.noun.replace(" ", "-"),
            "labels": list(program.actions),
            "columns": [c.to_json() for c in program.columns],
        }
        if program.predicts is not None:
            out["predicts"] = program.predicts.to_json()
        if hasattr(model, "rules"):
            rules = [
                {"if": _literals(rule.antecedent), "then": rule.action} for rule in model.rules
            ]
            out |= {"rules": rules, "default": model.default}
        else:
            out["nodes"] = _nodes(program)
        return json.dumps(out, indent=1, allow_nan=False) + "\n"


def _literals(antecedent: Any) -> list[dict[str, Any]]:
    return [
        {
            "column": x.feature.column,
            "kind": "in" if x.feature.accepted else x.feature.kind,
            "value": list(x.feature.accepted) if x.feature.accepted else x.feature.value,
            "missing": x.feature.missing,
            "holds": x.value,
        }
        for x in antecedent.literals
    ]


def _nodes(program: Program) -> list[dict[str, Any]]:
    """The nodes as a list, parents first; children are named by their places in it."""
    out: list[dict[str, Any]] = []

    def add(node: Any) -> int:
        at = len(out)
        out.append({})
        if isinstance(node, Leaf):
            out[at] = {"label": node.action}
        else:
            test = _literals(node.test)[0]
            del test["holds"]
            out[at] = {"test": test, "no": add(node.left), "yes": add(node.right)}
        return at

    add(program.root)
    return out
