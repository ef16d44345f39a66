"""A model as a C function, without libraries but the standard one."""

from __future__ import annotations

import re
from typing import Any, ClassVar, NamedTuple

from milp_trees.common.errors import DataError
from milp_trees.common.registering import register
from milp_trees.exports._program import Program, chain, encodable, number, texts_of
from milp_trees.models.exporting import Export
from milp_trees.models.nodes import Leaf

_FILE = """\
/* A {noun}, written by milp-trees, in C99 and C++.

   int {function}(const {function}_row *row) gives the number of the label of a row,
   {function}_labels[number] is the label as text (UTF-8). The result is -1 where a value is
   missing that the model needs, or is not of the kind that it needs. A missing number is NAN, a
   missing text is NULL: do not compile with -ffast-math. {function}_columns holds the names of the
   columns, in the order of the members of the row. */

#include <stddef.h>
#include <string.h>

typedef struct {{
{members}}} {function}_row;

const char *const {function}_columns[] = {{{columns}0}};
const char *const {function}_labels[] = {{{labels}0}};

int {function}(const {function}_row *row)
{{
{body}
}}
"""

_NUMBERS_FILE = """\
/* A {noun}, written by milp-trees, in C99 and C++.

   {signature}(const {function}_row *row) gives {what}.
   It is {nothing} where a value is missing that the model needs, or is not of the kind that it
   needs. A missing number is NAN, a missing text is NULL: do not compile with -ffast-math.
   {function}_columns holds the names of the columns, in the order of the members of the row, and
   {function}_outputs the names of what is predicted. */

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct {{
{members}}} {function}_row;

const char *const {function}_columns[] = {{{columns}0}};
const char *const {function}_outputs[] = {{{outputs}0}};

static const double {function}_values[][{size}] = {{
{values}}};

static int {function}_leaf(const {function}_row *row)
{{
{body}
}}

{signature}(const {function}_row *row)
{{
    int leaf = {function}_leaf(row);
    return leaf < 0 ? {nothing} : {result};
}}
"""

_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if int "
    "long register return short signed sizeof static struct switch typedef union unsigned void "
    "volatile while inline restrict bool true false class new delete this try catch throw namespace "
    "template typename using operator private protected public virtual friend explicit main row NULL"
)
RESERVED = frozenset(_WORDS.split())


class Member(NamedTuple):
    """A member of the row: the expression for its value, and whether it is a text."""

    path: str
    is_text: bool


@register
class C(Export):
    """A C99 function from a row (a struct) to the number of its label, or to its predicted number.

    Several predicted numbers are returned as a pointer to them.

    Parameters
    ----------
    function : str, default="predict"
        Name of the function, and the beginning of the other names in the file.
    """

    name: ClassVar[str] = "c"
    about: ClassVar[str] = "C99 function"
    suffix: ClassVar[str] = ".c"
    mark: ClassVar[str] = "written by milp-trees"

    def __init__(self, function: str = "predict") -> None:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", function) or function in RESERVED:
            raise DataError(
                f"A C function cannot be called {function!r}; take letters, digits and underscores, and a letter first."
            )
        self.function = function

    def write(self, model: Any) -> str:
        program = Program.of(model)
        program.refuse(
            self.name, {"date": "C has no dates; make a number of it, such as days, before the fit"}
        )
        encodable(texts_of(program), self.name)
        names = {
            c.name: Member(f"row->{member(j, c.name)}", c.holds == "text")
            for j, c in enumerate(program.columns)
        }
        members = "".join(
            f"    {'const char *' if m.is_text else 'double '}{m.path.removeprefix('row->')};\n"
            for m in names.values()
        )
        body = [_guard(c, names[c.name].path) for c in program.columns]
        if not names:
            members, body = "    char unused;\n", ["    (void)row;"]
        parts = {
            "noun": program.noun,
            "function": self.function,
            "members": members,
            "columns": "".join(f"{text(c.name)}, " for c in program.columns),
            "body": "\n".join([*filter(None, body), *_lines(program.turned, names, 1)]),
        }
        if program.predicts is not None:
            return _NUMBERS_FILE.format(**parts, **self._numbers(program))
        labels = "".join(f"{text(str(a))}, " for a in program.actions)
        return _FILE.format(**parts, labels=labels)

    def _numbers(self, program: Program) -> dict[str, Any]:
        """The parts of a file whose function gives numbers."""
        names = program.outputs or (program.predicts.names if program.predicts else ())
        rows = [a if program.outputs else (a,) for a in program.actions]
        values = f"{self.function}_values[leaf]"
        one = {
            "signature": f"double {self.function}",
            "what": "the number that is predicted for a row",
            "nothing": "NAN",
            "result": f"{values}[0]",
        }
        several = {
            "signature": f"const double *{self.function}",
            "what": f"the {len(names)} numbers that are predicted for a row",
            "nothing": "NULL",
            "result": values,
        }
        return {
            **(several if program.outputs else one),
            "outputs": "".join(f"{text(n)}, " for n in names),
            "size": len(names),
            "values": "".join(f"    {{{', '.join(map(number, row))}}},\n" for row in rows),
        }


def member(number: int, name: str) -> str:
    """The name of a member of the row: `x0_age`."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:30].rstrip("_")
    return f"x{number}_{plain}" if plain else f"x{number}"


def text(value: str) -> str:
    """A C string of UTF-8 bytes, in ASCII; octal escapes end after three digits."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:;<>=()[]+/"
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in value.encode()) + '"'


def _guard(column: Any, x: str) -> str:
    """The line that returns -1 for values without a prediction."""
    wrong = []
    if not column.may_be_missing:
        wrong.append(f"{x} == NULL" if column.holds == "text" else f"{x} != {x}")
    if column.holds == "yes-no":
        wrong.append(f"{x} == {x} && {x} != 0 && {x} != 1")
    if column.holds == "number":
        wrong.append(f"{x} == {x} && {x} - {x} != 0")  # infinite: the difference is NAN
    if column.order:
        wrong.append(f"{x} != NULL && !({_among(x, column.order)})")
    return "".join(f"    if ({one}) return -1;\n" for one in wrong).rstrip()


def _among(x: str, texts: Any) -> str:
    """Whether a text is one of several."""
    return " || ".join(f"strcmp({x}, {text(t)}) == 0" for t in texts)


def _lines(node: Any, names: dict[str, Member], level: int) -> list[str]:
    indent = "    " * level
    if isinstance(node, Leaf):
        return [f"{indent}return {node.action};"]
    branches, last = chain(node)
    out = []
    for branch in branches:
        test: Any = branch.test
        condition = " && ".join(_condition(x, names[x.feature.column]) for x in test.literals)
        inside = _lines(branch.right, names, level + 1)
        out += [f"{indent}if ({condition}) {{", *inside, f"{indent}}}"]
    return out + _lines(last, names, level)


def _condition(literal: Any, member: Member) -> str:
    """A literal as an expression that is 0 or 1 for missing values too.

    Comparisons with NAN are false, so a comparison is negated where a missing value means yes.
    """
    feature, holds = literal.feature, literal.value
    x, yes = member.path, feature.missing == "yes"
    if feature.kind == "missing":
        return (
            f"{x} {'==' if holds else '!='} NULL"
            if member.is_text
            else f"{x} {'!=' if holds else '=='} {x}"
        )
    if feature.kind == "==" or feature.accepted:
        same = "==" if holds else "!="
        message = f"strcmp({x}, {text(str(feature.value))}) {same} 0"
        if feature.accepted:
            message = f"{'' if holds else '!'}({_among(x, feature.accepted)})"
        if feature.missing is None:
            return message
        return f"({x} == NULL || {message})" if yes == holds else f"({x} != NULL && {message})"
    bound = number(feature.value) if feature.kind == "<=" else "0.0"
    low, high = ("<=", ">") if feature.kind == "<=" else (">", "<=")
    if yes == holds:
        return f"!({x} {high if holds else low} {bound})"
    return f"{x} {low if holds else high} {bound}"
