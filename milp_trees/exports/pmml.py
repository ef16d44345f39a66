"""A model as a PMML 4.4 `TreeModel`."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from importlib import metadata
from typing import Any, ClassVar

from milp_trees.common.errors import Unsupported
from milp_trees.common.registering import register
from milp_trees.exports._program import (
    Column,
    Program,
    chain,
    encodable,
    fresh,
    number,
    texts_of,
    timestamp,
)
from milp_trees.models.exporting import Export
from milp_trees.models.nodes import Leaf
from milp_trees.models.predicted import PROBABILITIES

NAMESPACE = "http://www.dmg.org/PMML-4_4"
#: optype and dataType of a column.
_TYPES = {
    "number": ("continuous", "double"),
    "yes-no": ("continuous", "double"),
    "text": ("categorical", "string"),
    "date": ("continuous", "dateTime"),
    "anything": ("categorical", "string"),
}
_LABELS = {str: "string", int: "integer", float: "double", bool: "boolean"}


@register
class Pmml(Export):
    """A `TreeModel` with binary splits; of a rule list, one node with a child per rule."""

    name: ClassVar[str] = "pmml"
    about: ClassVar[str] = "PMML 4.4 TreeModel"
    suffix: ClassVar[str] = ".pmml"
    mark: ClassVar[str] = 'name="milp-trees"'

    def write(self, model: Any) -> str:
        program = Program.of(model)
        encodable(texts_of(program), self.name, _forbidden)
        root = ET.Element("PMML", {"version": "4.4", "xmlns": NAMESPACE})
        header = ET.SubElement(root, "Header")
        version = metadata.version("milp-trees")
        ET.SubElement(header, "Application", {"name": "milp-trees", "version": version})
        numbers = program.predicts is not None and program.predicts.kind != PROBABILITIES
        if numbers and program.outputs:
            raise Unsupported(
                f"A TreeModel of PMML has one target, and this {program.noun} predicts {len(program.outputs)} numbers ({', '.join(program.outputs)}); fit a {program.noun} for each."
            )
        target = fresh("prediction", program.column)
        _dictionary(root, program, target)
        split = "multiSplit" if program.noun == "rule list" else "binarySplit"
        tree = ET.SubElement(
            root,
            "TreeModel",
            {
                "functionName": "regression" if numbers else "classification",
                "missingValueStrategy": "none",
                "noTrueChildStrategy": "returnNullPrediction",
                "splitCharacteristic": split,
            },
        )
        _mining_schema(tree, program, target)
        _node(tree, program, program.root, None)
        ET.indent(root, " ")
        return ET.tostring(root, "unicode", xml_declaration=False) + "\n"


def _dictionary(root: ET.Element, program: Program, target: str) -> None:
    """The columns and the target with their types and valid values."""
    count = str(len(program.columns) + 1)
    fields = ET.SubElement(root, "DataDictionary", {"numberOfFields": count})
    for column in program.columns:
        optype, kind = ("ordinal", "string") if column.order else _TYPES[column.holds]
        field = _field(fields, column.name, optype, kind)
        for value in ("0", "1") if column.holds == "yes-no" else program.categories(column.name):
            ET.SubElement(field, "Value", {"value": value})
    if program.predicts is not None and not program.outputs:
        _field(fields, target, "continuous", "double")
        return
    field = _field(fields, target, "categorical", _LABELS[program.labels_are])
    for action in program.outputs or program.actions:
        ET.SubElement(field, "Value", {"value": _label(program, action)})


def _field(parent: ET.Element, name: str, optype: str, kind: str) -> ET.Element:
    message = {"name": name, "optype": optype, "dataType": kind}
    return ET.SubElement(parent, "DataField", message)


def _mining_schema(tree: ET.Element, program: Program, target: str) -> None:
    """What happens to missing and invalid values: no prediction where the model has no answer."""
    schema = ET.SubElement(tree, "MiningSchema")
    for column in program.columns:
        treated = {} if column.may_be_missing else {"missingValueTreatment": "returnInvalid"}
        ET.SubElement(
            schema,
            "MiningField",
            {"name": column.name, "invalidValueTreatment": _invalid(column), **treated},
        )
    ET.SubElement(schema, "MiningField", {"name": target, "usageType": "target"})


def _invalid(column: Column) -> str:
    free = column.holds in ("text", "anything") and not column.order
    return "asIs" if free else "returnInvalid"


def _node(parent: ET.Element, program: Program, node: Any, test: Any) -> None:
    """A node with its predicate and its children, of which the first that is true is taken."""
    leaf = isinstance(node, Leaf)
    message = {"score": _score(program, program.actions[node.action])} if leaf else {}
    own = ET.SubElement(parent, "Node", message)
    if test is None:
        ET.SubElement(own, "True")
    else:
        _conjunction(own, test)
    if leaf:
        _distribution(own, program, program.actions[node.action])
        return
    branches, last = chain(node) if program.noun == "rule list" else ([node], node.left)
    for branch in branches:
        _node(own, program, branch.right, branch.test)
    _node(own, program, last, None)


def _conjunction(parent: ET.Element, test: Any) -> None:
    if len(test.literals) > 1:
        parent = ET.SubElement(parent, "CompoundPredicate", {"booleanOperator": "and"})
    for literal in test.literals:
        _predicate(parent, literal)


def _predicate(parent: ET.Element, literal: Any) -> None:
    """A literal as a predicate; a comparison with a missing value counts as false."""
    feature, holds = literal.feature, literal.value
    if feature.kind == "missing":
        message = {"operator": "isMissing" if holds else "isNotMissing"}
        ET.SubElement(parent, "SimplePredicate", {"field": feature.column, **message})
        return
    if feature.missing is not None and (feature.missing == "yes") == holds:
        parent = ET.SubElement(parent, "CompoundPredicate", {"booleanOperator": "or"})
        missing = {"field": feature.column, "operator": "isMissing"}
        ET.SubElement(parent, "SimplePredicate", missing)
    if len(feature.accepted) > 1:
        join, operator = ("or", "equal") if holds else ("and", "notEqual")
        parent = ET.SubElement(parent, "CompoundPredicate", {"booleanOperator": join})
        for text in feature.accepted:
            message = {"field": feature.column, "operator": operator, "value": text}
            ET.SubElement(parent, "SimplePredicate", message)
        return
    if feature.kind == "==" or feature.accepted:
        category = feature.accepted[0] if feature.accepted else str(feature.value)
        operator, value = ("equal" if holds else "notEqual"), category
    elif feature.kind == "<=":
        operator = "lessOrEqual" if holds else "greaterThan"
        value = timestamp(feature.value, "T") if feature.dated else number(feature.value)
    else:  # only 0 and 1 are valid
        operator, value = ("greaterThan" if holds else "lessOrEqual"), "0.5"
    compared = {"field": feature.column, "operator": operator, "value": value}
    ET.SubElement(parent, "SimplePredicate", compared)


def _score(program: Program, action: Any) -> str:
    """What a leaf predicts; of class probabilities the most probable class."""
    if program.outputs:
        return program.outputs[max(range(len(action)), key=lambda k: action[k])]
    return number(action) if program.predicts is not None else _label(program, action)


def _distribution(leaf: ET.Element, program: Program, action: Any) -> None:
    """The probabilities of the classes in a leaf, if it predicts them."""
    for name, share in zip(program.outputs, action if program.outputs else (), strict=True):
        text = number(share)
        held = {"value": name, "recordCount": text, "probability": text}
        ET.SubElement(leaf, "ScoreDistribution", held)


def _label(program: Program, action: Any) -> str:
    return str(action).lower() if program.labels_are is bool else str(action)


def _forbidden(c: str) -> bool:
    """Whether XML cannot hold a character."""
    return (ord(c) < 32 and c not in "\t\n\r") or ord(c) in (0xFFFE, 0xFFFF)
