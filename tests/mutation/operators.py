"""Which faults there are: each operator takes a node of the syntax tree and yields what may stand
there instead.

An operator yields pairs (variant, replacement); replacements are new nodes that may share children
with the old one. `EXPRESSIONS` are planted as they are and under a condition ("from the fifth
action on"); `STATEMENTS` replace whole statements.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

Variants = Iterator[tuple[str, ast.expr]]

#: Attributes, names and words that are easily taken for one another.
PAIRS = [
    ("left", "right"),
    ("true", "false"),
    ("goes_left", "goes_right"),
    ("left_leaves", "right_leaves"),
    ("left_arcs", "right_arcs"),
    ("lower", "upper"),
    ("row_lower", "row_upper"),
    ("lowest", "highest"),
    ("up_bits", "low_bits"),
    ("child_left", "child_right"),
    ("action_left", "action_right"),
    ("cut_left", "cut_right"),
    ("min", "max"),
    ("argmin", "argmax"),
    ("minimum", "maximum"),
    ("ceil", "floor"),
    ("any", "all"),
    ("zeros", "ones"),
    ("n_a", "n_b"),
    ("in_a", "in_b"),
    ("fp", "fn"),
    ("TP", "TN"),
    ("FP", "FN"),
    ("at_most", "at_least"),
    ("ups", "rights"),
    ("p", "q"),
    ("branch", "nodes"),
    ("leaves", "nodes"),
    ("most", "gain"),
    ("start", "first"),
    ("error", "gain"),
    ("numerator", "denominator"),
    ("leaf_cost", "split_costs"),
    ("leaf_penalty", "split_penalty"),
    ("counts", "row_weight"),
    ("outcomes", "propensities"),
]
OTHER = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}
DOMAINS = {
    "Binary": ("UnitInterval",),
    "UnitInterval": ("Binary",),
    "NonNegativeReals": ("Reals", "UnitInterval"),
    "Reals": ("NonNegativeReals",),
}
SENSES = {ast.LtE: (ast.GtE, ast.Eq), ast.GtE: (ast.LtE, ast.Eq), ast.Eq: (ast.LtE, ast.GtE)}
COMPARES = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def number(value: int) -> ast.Constant:
    return ast.Constant(value)


def plus(node: ast.expr, by: int) -> ast.BinOp:
    return ast.BinOp(node, ast.Add() if by > 0 else ast.Sub(), number(abs(by)))


def call(name: str, *arguments: ast.expr) -> ast.Call:
    """A call of a function of `fault`."""
    return ast.Call(
        ast.Attribute(ast.Name("_fault", ast.Load()), name, ast.Load()), list(arguments), []
    )


def is_whole(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def called(node: ast.AST) -> str | None:
    """The last word of the name of what is called."""
    if not isinstance(node, ast.Call):
        return None
    return (
        node.func.id
        if isinstance(node.func, ast.Name)
        else node.func.attr
        if isinstance(node.func, ast.Attribute)
        else None
    )


def doubled(node: ast.AST) -> bool:
    """Whether a node is `2 * v`, the left child of v."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult)
        and isinstance(node.left, ast.Constant)
        and node.left.value == 2
    )


# -- expressions ----------------------------------------------------------------------------------------------------


def sense(node: ast.expr, rule: bool) -> Variants:
    """The sense of a constraint, or the comparison of two numbers."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return
    if rule and type(node.ops[0]) in SENSES:
        for op in SENSES[type(node.ops[0])]:
            yield op.__name__, ast.Compare(node.left, [op()], node.comparators)
    elif not rule and type(node.ops[0]) in COMPARES:
        op = COMPARES[type(node.ops[0])]
        yield op.__name__, ast.Compare(node.left, [op()], node.comparators)


def term(node: ast.expr, rule: bool) -> Variants:
    """A term of a sum is dropped; of a long sum the first or the last."""
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, (ast.Add, ast.Sub))
        and not is_whole(node.right)
    ):
        yield "left-only", node.left
        if isinstance(node.op, ast.Add):
            yield "right-only", node.right
    if called(node) == "sum" and isinstance(node.func, ast.Name) and node.args:  # type: ignore[attr-defined]
        for name in ("rest", "most"):
            yield (
                name,
                ast.Call(
                    ast.Name("sum", ast.Load()), [call(name, node.args[0]), *node.args[1:]], []
                ),
            )  # type: ignore[attr-defined]


def child(node: ast.expr, rule: bool) -> Variants:
    """The other child of a node of a heap."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and doubled(node.left):
        other = (
            node.left
            if is_whole(node.right)
            else ast.BinOp(plus(node.left, 1), ast.Sub(), node.right)
        )
        yield "sibling", other
    elif doubled(node):
        yield "sibling", plus(node, 1)


def sign(node: ast.expr, rule: bool) -> Variants:
    """The sign of a term or of a coefficient."""
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, (ast.Add, ast.Sub))
        and not doubled(node.left)
    ):
        yield (
            "flipped",
            ast.BinOp(
                node.left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), node.right
            ),
        )
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and not isinstance(node.operand, ast.Constant)
    ):
        yield "removed", node.operand


def coefficient(node: ast.expr, rule: bool) -> Variants:
    """A factor is forgotten, or doubled."""
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, (ast.Mult, ast.Div))
        and not doubled(node)
    ):
        yield "left-only", node.left
        if isinstance(node.op, ast.Mult):
            yield "right-only", node.right
            yield "twice", ast.BinOp(number(2), ast.Mult(), node)


def constant(node: ast.expr, rule: bool) -> Variants:
    """A whole number that is one more or one less; a real number that is half as large."""
    if is_whole(node):
        for by in (1, -1):
            yield f"{by:+d}", number(node.value + by)  # type: ignore[attr-defined]
    elif isinstance(node, ast.Constant) and type(node.value) is float:
        yield "half", ast.Constant(node.value / 2)


def span(node: ast.expr, rule: bool) -> Variants:
    """A range that begins or ends one off."""
    if called(node) in ("range", "RangeSet") and isinstance(node, ast.Call):
        for position, argument in enumerate(node.args):
            for by in (1, -1):
                args = [*node.args[:position], plus(argument, by), *node.args[position + 1 :]]
                yield f"{position}{by:+d}", ast.Call(node.func, args, node.keywords)


def index(node: ast.expr, rule: bool) -> Variants:
    """An index that is one less or one more."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for position, part in enumerate(parts):
            if isinstance(part, ast.Name) or is_whole(part):
                for by in (-1, 1):
                    new = [*parts[:position], plus(part, by), *parts[position + 1 :]]
                    yield (
                        f"{position}{by:+d}",
                        ast.Subscript(
                            node.value,
                            ast.Tuple(new, ast.Load()) if len(new) > 1 else new[0],
                            ast.Load(),
                        ),
                    )


def domain(node: ast.expr, rule: bool) -> Variants:
    """Another domain of a variable."""
    if (
        isinstance(node, ast.Attribute)
        and node.attr in DOMAINS
        and isinstance(node.value, ast.Name)
        and node.value.id == "pyo"
    ):
        for other in DOMAINS[node.attr]:
            yield other, ast.Attribute(node.value, other, ast.Load())


def swap(node: ast.expr, rule: bool) -> Variants:
    """A word for its counterpart: left and right, lower and upper, least and most."""
    if isinstance(node, ast.Attribute) and node.attr in OTHER and isinstance(node.ctx, ast.Load):
        yield OTHER[node.attr], ast.Attribute(node.value, OTHER[node.attr], ast.Load())
    elif isinstance(node, ast.Name) and node.id in OTHER and isinstance(node.ctx, ast.Load):
        yield OTHER[node.id], ast.Name(OTHER[node.id], ast.Load())
    elif (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value in OTHER
        and node.value.isupper()
    ):
        yield OTHER[node.value], ast.Constant(OTHER[node.value])


EXPRESSIONS: dict[str, Callable[[ast.expr, bool], Variants]] = {
    f.__name__: f
    for f in (sense, term, child, sign, coefficient, constant, span, index, domain, swap)
}


# -- statements -----------------------------------------------------------------------------------------------------

#: A constraint that is left out, a statement that is left out, a branch that is taken the wrong
#: way, a wrong result of a function.
STATEMENTS = ("skip", "statement", "branch", "result")
#: Where the results of functions go wrong.
RESULTS = {
    "array": (
        ("row", 0),
        ("row", 30),
        ("row", 60),
        ("action", 0),
        ("action", 2),
        ("action", 4),
        ("cost", 10_000),
    ),
    "list": (("item", 0), ("item", 4)),
}


def skip_head(condition: ast.expr | None) -> ast.stmt:
    """What a rule begins with that leaves its constraint out."""
    leave = ast.Return(
        ast.Attribute(
            ast.Attribute(ast.Name("pyo", ast.Load()), "Constraint", ast.Load()), "Skip", ast.Load()
        )
    )
    return ast.If(condition or ast.Constant(True), [leave], [])


def dropped(node: ast.stmt, condition: ast.expr | None) -> ast.stmt:
    """A statement that is not run, or not run under a condition."""
    return (
        ast.Pass() if condition is None else ast.If(ast.UnaryOp(ast.Not(), condition), [node], [])
    )


def may_drop(node: ast.stmt) -> bool:
    """Whether a statement does something that can be left out: a call, an addition in place, an
    entry of an array.
    """
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    if isinstance(node, ast.AugAssign):
        return True
    return isinstance(node, ast.Assign) and any(
        isinstance(t, (ast.Subscript, ast.Attribute)) for t in node.targets
    )
