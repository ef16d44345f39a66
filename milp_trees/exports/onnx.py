"""A model as an ONNX graph over the original columns: doubles and texts, missing values too.

The operators for trees in ONNX know numbers in single precision only. This graph asks every question
with a comparison of its own, in double precision, and chooses between the answers with `Where`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from milp_trees.common.errors import Unsupported
from milp_trees.common.registering import register
from milp_trees.exports._program import (
    Column,
    Program,
    chain,
    compared,
    encodable,
    fresh,
    texts_of,
)
from milp_trees.models.exporting import Export

#: Version of the operators: from 19 on, `Equal` compares texts.
OPSET, IR = 19, 9


@register
class Onnx(Export):
    """A graph with an input per column (of any length, all alike) and the outputs label and valid.

    A missing number is NaN, and a missing text is "" where the model has an answer for it. `valid` is false where a value is missing that
    the model needs, or is not of the kind that it needs; `label` has no meaning there. A model that
    predicts numbers has the output prediction in its place, of shape (rows,), or (rows, k) for several.
    """

    name: ClassVar[str] = "onnx"
    about: ClassVar[str] = "ONNX graph, numbers in double precision and texts"
    suffix: ClassVar[str] = ".onnx"

    def write(self, model: Any) -> bytes:
        program = Program.of(model)
        program.refuse(
            self.name,
            {"date": "ONNX has no dates; make a number of it, such as days, before the fit"},
        )
        encodable(texts_of(program), self.name)
        _check(program)
        try:
            import onnx
        except ImportError as error:
            raise Unsupported(
                "The format onnx needs the package onnx; install it with: pip install 'milp-trees[export]'."
            ) from error
        graph = _Graph(onnx, program)
        made: bytes = graph.model().SerializeToString()
        return made


def _check(program: Program) -> None:
    if not program.columns:
        raise Unsupported(
            f"An ONNX graph finds the number of rows from its columns, and this {program.noun} asks for none; it always predicts {program.actions[program.root.action]!r}."
        )
    for column in program.columns:
        if not column.name:
            raise Unsupported("ONNX has no inputs with an empty name; rename that column.")
    for test in program.tests:
        for f in test.features:
            if "" in compared(f) and program.column[f.column].may_be_missing:
                raise Unsupported(
                    f"In ONNX an empty text stands for a missing value, and the column {f.column!r} has both; replace the empty texts."
                )


class _Graph:
    """A graph that grows by one operator at a time; equal questions are asked once."""

    def __init__(self, onnx: Any, program: Program) -> None:
        self.onnx, self.helper, self.types = onnx, onnx.helper, onnx.TensorProto
        self.program = program
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.taken = set(program.column)
        self.known: dict[Any, str] = {}

    def name(self, wanted: str) -> str:
        self.taken.add(found := fresh(wanted, self.taken))
        return found

    def op(self, kind: str, *inputs: str) -> str:
        """The output of an operator; the same operator on the same inputs is one node."""
        key = (kind, inputs)
        if key not in self.known:
            out = self.name(f"node{len(self.nodes)}")
            self.nodes.append(self.helper.make_node(kind, list(inputs), [out]))
            self.known[key] = out
        return self.known[key]

    def constant(self, kind: int, value: Any) -> str:
        key = ("constant", kind, value)
        if key not in self.known:
            name = self.known[key] = self.name(f"constant{len(self.constants)}")
            held = [value.encode()] if isinstance(value, str) else [value]
            self.constants.append(self.helper.make_tensor(name, kind, [], held))
        return self.known[key]

    def double(self, value: float) -> str:
        return self.constant(self.types.DOUBLE, float(value))

    def text(self, value: str) -> str:
        return self.constant(self.types.STRING, value)

    # -- questions ---------------------------------------------------------------------------------

    def missing(self, column: Column) -> str:
        if column.holds == "text":
            return self.op("Equal", column.name, self.text(""))
        return self.op("IsNaN", column.name)

    def literal(self, literal: Any) -> str:
        feature = literal.feature
        column = self.program.column[feature.column]
        if feature.kind == "missing":
            held = self.missing(column)
        elif feature.accepted:
            held = self.among(column.name, feature.accepted)
        elif feature.kind == "<=":  # a comparison with NaN is false
            held = self.op("LessOrEqual", column.name, self.double(feature.value))
        elif feature.kind == "==":
            held = self.op("Equal", column.name, self.text(str(feature.value)))
        else:
            held = self.op("Equal", column.name, self.double(1))
        if feature.missing == "yes":
            held = self.op("Or", held, self.missing(column))
        return held if literal.value else self.op("Not", held)

    def among(self, name: str, texts: Any) -> str:
        """Whether a text is one of several."""
        first, *others = (self.op("Equal", name, self.text(t)) for t in texts)
        for other in others:
            first = self.op("Or", first, other)
        return first

    def conjunction(self, test: Any) -> str:
        first, *others = map(self.literal, test.literals)
        for other in others:
            first = self.op("And", first, other)
        return first

    def index(self, node: Any) -> str:
        """The number of the label of every row."""
        branches, last = chain(node)
        out = self.constant(self.types.INT64, last.action)
        for branch in reversed(branches):
            out = self.op("Where", self.conjunction(branch.test), self.index(branch.right), out)
        return out

    def valid(self) -> str:
        """Whether a row has a prediction."""
        out = ""
        for column in self.program.columns:
            wrong = self._wrong(column)
            out = self.op("Or", out, wrong) if out and wrong else out or wrong
        if not out:  # every value has an answer
            first = self.program.columns[0]
            held = self.missing(first)
            return self.op("Or", held, self.op("Not", held))
        return self.op("Not", out)

    def _wrong(self, column: Column) -> str:
        """The values without a prediction; empty if there are none."""
        missing = self.missing(column)
        if column.holds == "yes-no":
            strange = self.op(
                "Or",
                self.op("Equal", column.name, self.double(0)),
                self.op("Equal", column.name, self.double(1)),
            )
            strange = self.op("Not", self.op("Or", strange, missing))
        elif column.holds == "number":
            strange = self.op("Equal", self.op("Abs", column.name), self.double(float("inf")))
        elif column.order:
            strange = self.op("Not", self.among(column.name, column.order))
            if not column.may_be_missing:
                return strange  # a missing value is an empty text, which the order may have
            return self.op("And", strange, self.op("Not", missing))
        elif column.holds == "text":  # where none can be missing, "" is a text like others
            return ""
        else:
            return "" if column.may_be_missing else missing
        return strange if column.may_be_missing else self.op("Or", strange, missing)

    # -- the whole ---------------------------------------------------------------------------------

    def model(self) -> Any:
        h, types, program = self.helper, self.types, self.program
        kind = {
            str: types.STRING,
            int: types.INT64,
            float: types.DOUBLE,
            bool: types.BOOL,
        }[self._labels_are()]
        index, valid = self.index(program.turned), self.valid()
        predicted = "label" if program.predicts is None else "prediction"
        labels, label = self.name(f"{predicted}s"), self.name(predicted)
        shape, plain = self._table(kind == types.STRING)
        self.constants.append(h.make_tensor(labels, kind, shape, plain))
        self.nodes.append(h.make_node("Gather", [labels, index], [label]))
        self.nodes.append(h.make_node("Identity", [valid], [message := self.name("valid")]))
        graph = h.make_graph(
            self.nodes,
            program.noun.replace(" ", "_"),
            [
                h.make_tensor_value_info(
                    c.name, types.STRING if c.holds == "text" else types.DOUBLE, ["rows"]
                )
                for c in program.columns
            ],
            [
                h.make_tensor_value_info(label, kind, ["rows", *shape[1:]]),
                h.make_tensor_value_info(message, types.BOOL, ["rows"]),
            ],
            self.constants,
        )
        made = h.make_model(
            graph, producer_name="milp-trees", opset_imports=[h.make_opsetid("", OPSET)]
        )
        made.ir_version = IR
        self.onnx.checker.check_model(made)
        return made

    def _table(self, texts: bool) -> tuple[list[int], list[Any]]:
        """Shape and entries of the labels, or of the numbers that leaves predict."""
        actions = self.program.actions
        if self.program.outputs:
            return [len(actions), len(self.program.outputs)], [v for a in actions for v in a]
        return [len(actions)], [str(a).encode() if texts else a for a in actions]

    def _labels_are(self) -> type:
        """The type of the labels; integers beyond 64 bits are written as texts."""
        if self.program.predicts is not None:
            return float
        kind = self.program.labels_are
        far = kind is int and any(abs(a) >= 2**63 for a in self.program.actions)
        return str if far else kind
