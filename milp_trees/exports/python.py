"""A model as a Python function without dependencies."""

from __future__ import annotations

from typing import Any, ClassVar

from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.exports._program import Program, chain, number
from milp_trees.models.exporting import Export
from milp_trees.models.nodes import Leaf

_HEAD = '''"""A {noun}, written by milp-trees; no packages are needed."""

{imports}
def {function}(row):
    """The prediction for a row, a mapping from names of columns to values.
{outputs}
    A missing value is None or NaN. ValueError: a value is missing that the model needs, or it is
    not of the type that the model needs.
    """
{reads}{body}
'''

_HELPERS = {
    "number": """
def _number(row, name, may_be_missing):
    value = row[name]
    if value is None or value != value:
        if may_be_missing:
            return None
        raise ValueError(f"the column {name!r} has no value")
    value = float(value)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the column {name!r} holds an infinite number")
    return value
""",
    "yes-no": """
def _yes_no(row, name, may_be_missing):
    value = _number(row, name, may_be_missing)
    if value not in (None, 0.0, 1.0):
        raise ValueError(f"the column {name!r} must hold 0 or 1")
    return value
""",
    "text": """
def _text(row, name, may_be_missing):
    value = row[name]
    if value is None or value != value:
        if may_be_missing:
            return None
        raise ValueError(f"the column {name!r} has no value")
    if hasattr(value, "isoformat"):
        text = value.isoformat()
        text = text[:-3] if "." in text and text.endswith("000") else text
        text = text[:-3] if text.count(":") == 2 and text.endswith(":00") else text
        return text[:-6] if text.endswith("T00:00") else text
    whole = not isinstance(value, (bool, str)) and getattr(value, "is_integer", bool)()
    return str(int(value)) if whole else str(value)
""",
    "date": """
def _date(row, name, may_be_missing):
    value = row[name]
    if value is None or value != value:
        if may_be_missing:
            return None
        raise ValueError(f"the column {name!r} has no value")
    return datetime.fromisoformat(str(value))
""",
    "anything": """
def _anything(row, name, may_be_missing):
    value = row[name]
    return None if value is None or value != value else value
""",
}


@register
class Python(Export):
    """A module with a function from a row (a mapping) to its label.

    Parameters
    ----------
    function : str, default="predict"
        Name of the function.
    """

    name: ClassVar[str] = "python"
    about: ClassVar[str] = "Python function without dependencies"
    suffix: ClassVar[str] = ".py"
    mark: ClassVar[str] = "written by milp-trees"

    def __init__(self, function: str = "predict") -> None:
        if not (function.isidentifier() and function.isascii()) or function in _reserved():
            raise DataError(
                f"A Python function cannot be called {function!r}; take letters, digits and underscores."
            )
        self.function = function

    def write(self, model: Any) -> str:
        program = Program.of(model)
        kinds = {c.holds for c in program.columns}
        needed = [k for k in _HELPERS if k in kinds or (k == "number" and "yes-no" in kinds)]
        names = {c.name: f"x{j}" for j, c in enumerate(program.columns)}
        reads = "".join(
            f"    {names[c.name]} = _{c.holds.replace('-', '_')}(row, {_literal(c.name)}, {c.may_be_missing})\n"
            for c in program.columns
        )
        for c in program.columns:
            if c.order:
                x, name = names[c.name], _literal(c.name)
                reads += f"    if {x} is not None and {x} not in {_texts(c.order)}:\n        raise ValueError('no such category in the column ' + {name})\n"
        imports = "from datetime import datetime\n\n" if "date" in kinds else ""
        return _HEAD.format(
            noun=program.noun,
            function=self.function,
            outputs=_outputs(program),
            imports=imports + "\n".join(_HELPERS[k] for k in needed) + ("\n" if needed else ""),
            reads=reads,
            body="\n".join(_lines(program, program.turned, names, 1)),
        )


def _outputs(program: Program) -> str:
    """A sentence about predictions of several numbers."""
    if not program.outputs:
        return ""
    names = ", ".join(map(_literal, program.outputs)).replace("\\", "\\\\").replace('"', "'")
    return f"\n    It is a tuple with a number for each of {names}.\n"


def _lines(program: Program, node: Any, names: dict[str, str], level: int) -> list[str]:
    indent = "    " * level
    if isinstance(node, Leaf):
        return [f"{indent}return {_literal(program.actions[node.action])}"]
    branches, last = chain(node)
    out = []
    for branch in branches:
        test: Any = branch.test
        condition = " and ".join(_condition(x, names[x.feature.column]) for x in test.literals)
        out += [f"{indent}if {condition}:", *_lines(program, branch.right, names, level + 1)]
    return out + _lines(program, last, names, level)


def _condition(literal: Any, x: str) -> str:
    """A literal as an expression; `x` is None where the value is missing."""
    feature, holds = literal.feature, literal.value
    if feature.kind == "missing":
        return f"{x} is {'' if holds else 'not '}None"
    if feature.accepted:
        message = f"{x} {'' if holds else 'not '}in {_texts(feature.accepted)}"
    elif feature.kind == "<=":
        right = (
            f"datetime.fromisoformat({_literal(feature.value)})"
            if feature.dated
            else number(feature.value)
        )
        message = f"{x} {'<=' if holds else '>'} {right}"
    else:
        right = _literal(str(feature.value)) if feature.kind == "==" else "1"
        message = f"{x} {'==' if holds else '!='} {right}"
    if feature.missing is None:
        return message
    if (feature.missing == "yes") == holds:
        return f"({x} is None or {message})"
    return f"({x} is not None and {message})"


def _texts(texts: Any) -> str:
    """A tuple of texts in Python."""
    return f"({''.join(f'{_literal(t)}, ' for t in texts)})"


def _literal(value: Any) -> str:
    """A text, number or boolean in Python, in ASCII."""
    return ascii(str(value) if isinstance(value, str) else value)  # NumPy has texts of its own


def _reserved() -> set[str]:
    import keyword

    helpers = {f"_{k.replace('-', '_')}" for k in _HELPERS}
    return {*keyword.kwlist, *helpers, "datetime", "float", "str", "ValueError"}
