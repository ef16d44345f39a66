"""A model as a picture in the DOT language, which Graphviz draws."""

from __future__ import annotations

from typing import Any, ClassVar

from milp_trees.common.registering import register
from milp_trees.exports._program import Program
from milp_trees.models.export import to_dot
from milp_trees.models.exporting import Export


@register
class Dot(Export):
    """A directed graph with a node per question and per leaf."""

    name: ClassVar[str] = "dot"
    about: ClassVar[str] = "Graphviz DOT, a drawing"
    suffix: ClassVar[str] = ".dot"
    mark: ClassVar[str] = 'fillcolor="#f4f4f4", fontname="Helvetica"'
    drawing: ClassVar[bool] = True

    def write(self, model: Any) -> str:
        program: Any = Program.of(model)
        return to_dot(program) + "\n"
