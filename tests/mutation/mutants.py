"""The mutants of a source file: found in its syntax tree in a fixed order, named, and planted in
the running process by exchanging a function's code.

An id is `file:function:operator:number:variant@condition`: number counts the places of an operator
within a function, so that ids outlive edits elsewhere.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import operators
from .operators import call

ROOT = Path(__file__).resolve().parents[2]
#: Conditions on an index, by the letter that the package uses for it: rows i, nodes v and t,
#: actions k, tests f, columns j, thresholds p, bits a.
INDICES = {
    **dict.fromkeys(("v", "t", "u", "h", "c"), ("node", (4, 8))),
    "i": ("row", (30, 60)),
    "k": ("action", (2, 4)),
    "f": ("test", (3, 7)),
    "j": ("column", (1, 3)),
    "p": ("threshold", (3, 7)),
    "a": ("bit", (2, 3)),
}
#: Conditions on the size of what a function is given, by the name of the argument.
SIZES = {
    **dict.fromkeys(
        ("m", "view"),
        (
            ("action", 5),
            ("threshold", 9),
            ("side-row", 5),
            ("cost", 10_000),
            ("row", 30),
            ("row", 60),
            ("test", 9),
            ("column", 4),
            ("node", 16),
        ),
    ),
    "space": (("level", 3), ("min-leaf", 4), ("leaf-limit", 3)),
    "dataset": (("row", 30), ("row", 60), ("action", 5), ("group", 5), ("cost", 10_000)),
}
ON_MODELS = (("level", 3), ("min-leaf", 4), ("leaf-limit", 3))


@dataclass(frozen=True)
class Mutant:
    """One fault: in place of the node `old`, reached by `path` from the module's `tree`, stands
    `new`.
    """

    id: str
    file: str
    line: int
    function: str
    operator: str
    condition: str
    tree: ast.Module = field(repr=False, compare=False)
    path: tuple[Any, ...] = field(repr=False, compare=False)
    old: ast.AST = field(repr=False, compare=False)
    new: ast.AST = field(repr=False, compare=False)

    @property
    def kind(self) -> str:
        """The condition without its number: `always`, `node`, `row`, …"""
        return self.condition.partition(":")[0]

    @property
    def change(self) -> str:
        """The source of the node before and after."""
        return f"{_short(self.old)} -> {_short(self.new)}"

    def planted(self) -> ast.Module:
        """The module's tree with the fault in it."""
        changed = copy.deepcopy(self.tree)
        parent: Any = changed
        for where, n in self.path[:-1]:
            parent = getattr(parent, where) if n is None else getattr(parent, where)[n]
        where, n = self.path[-1]
        if n is None:
            setattr(parent, where, copy.deepcopy(self.new))
        else:
            getattr(parent, where)[n] = copy.deepcopy(self.new)
        return ast.fix_missing_locations(changed)


@dataclass
class _Place:
    """A node with the way to it and what is known there."""

    node: ast.AST
    path: tuple[tuple[str, int | None], ...]
    function: str
    rule: bool
    indices: tuple[str, ...]
    arguments: tuple[str, ...]
    #: What the function returns, if it is an `array` or a `list`.
    result: str


def find(ids: Iterable[str]) -> dict[str, Mutant]:
    """The mutants of these names that today's sources have."""
    wanted, inside = set(ids), defaultdict(set)
    for name in wanted:
        file, function = name.split(":")[:2]
        inside[file].add(function)
    return {
        m.id: m
        for file, functions in inside.items()
        for m in mutants(file, only=functions)
        if m.id in wanted
    }


def mutants(file: str, source: str | None = None, only: set[str] | None = None) -> Iterator[Mutant]:
    """All mutants of a file (path below the project's folder), or those in some of its functions,
    in the order of the source.
    """
    text = (ROOT / file).read_text() if source is None else source
    tree = ast.parse(text)
    number: Counter[tuple[str, str]] = Counter()
    for place in _places(tree):
        if only is not None and place.function not in only:
            continue
        for operator, candidates in _candidates(place, text):
            nth = number[place.function, operator]
            number[place.function, operator] += 1
            for variant, condition, new in candidates:
                name = f"{file}:{place.function}:{operator}:{nth}:{variant}@{condition}"
                line = getattr(place.node, "lineno", 0)
                yield Mutant(
                    name,
                    file,
                    line,
                    place.function,
                    operator,
                    condition,
                    tree,
                    place.path,
                    place.node,
                    new,
                )


def _candidates(place: _Place, text: str) -> Iterator[tuple[str, list[tuple[str, str, ast.AST]]]]:
    """Per operator that applies at a place: (variant, condition, replacement)."""
    node = place.node
    conditions = list(_conditions(place))
    if isinstance(node, ast.expr):
        for operator, make in operators.EXPRESSIONS.items():
            found = [
                (v, new)
                for v, new in make(node, place.rule)
                if operator != "swap" or _known(v, text)
            ]
            wholly = [
                (v, "always", new) for v, new in found if not (operator == "index" and place.rule)
            ]
            partly = [
                (v, name, ast.IfExp(test, new, node))
                for v, new in found
                for name, test in conditions
            ]
            if found:
                yield operator, [*wholly, *partly]
    if isinstance(node, ast.FunctionDef) and place.rule:
        tests = [("always", None), *conditions]
        yield (
            "skip",
            [
                ("skip", name, _with_body(node, [operators.skip_head(test), *node.body]))
                for name, test in tests
            ],
        )
    elif isinstance(node, ast.If):
        yield (
            "branch",
            [
                (
                    "negated",
                    "always",
                    ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse),
                )
            ],
        )
    elif isinstance(node, ast.Return) and node.value is not None and place.result:
        kinds = [
            (kind, start, f"{kind}:result>={start}")
            for kind, start in operators.RESULTS[place.result]
        ]
        yield (
            "result",
            [
                (
                    "wrong",
                    name,
                    ast.Return(call("wrong", node.value, ast.Constant(kind), ast.Constant(start))),
                )
                for kind, start, name in kinds
            ],
        )
    elif isinstance(node, ast.stmt) and operators.may_drop(node):
        yield (
            "statement",
            [
                ("dropped", name, operators.dropped(node, test))
                for name, test in [("always", None), *conditions]
            ],
        )


def _conditions(place: _Place) -> Iterator[tuple[str, ast.expr]]:
    """Conditions that can be stated at a place: on the indices in scope, and on the sizes of the
    function's arguments.
    """
    for name in dict.fromkeys(place.indices):
        if name in INDICES:
            kind, starts = INDICES[name]
            for start in starts:
                yield (
                    f"{kind}:{name}>={start}",
                    call("since", ast.Name(name, ast.Load()), ast.Constant(start)),
                )
    seen = set()
    for argument in place.arguments:
        for kind, least in (*SIZES.get(argument, ()), *(ON_MODELS if argument == "m" else ())):
            if (kind, least) not in seen:
                seen.add((kind, least))
                known = [ast.Name(a, ast.Load()) for a in place.arguments if a in SIZES]
                yield (
                    f"{kind}:size>={least}",
                    call("size", ast.Constant(kind), ast.Constant(least), *known),
                )


#: Functions that decide nothing about optima: options of solvers, compilation, words.
LEFT_OUT = (
    "options_for",
    "warm_up",
    "templates",
    "redundant",
    "network_tree",
    "integral_relaxation",
    "tiny_view",
    "tiny_problem",
    "tiny_gains",
    "compile_once",
    "label",
    "__repr__",
)


def _places(tree: ast.Module) -> Iterator[_Place]:
    """Every expression and statement inside a function, with its surroundings."""
    for n, node in enumerate(tree.body):
        if isinstance(node, ast.FunctionDef):
            yield from _in_function(node, _Place(node, (("body", n),), "", False, (), (), ""))
        elif isinstance(node, ast.ClassDef):
            for k, method in enumerate(node.body):
                if isinstance(method, ast.FunctionDef) and not _abstract(method):
                    yield from _in_function(
                        method,
                        _Place(method, (("body", n), ("body", k)), node.name, False, (), (), ""),
                    )


def _in_function(node: ast.FunctionDef, at: _Place) -> Iterator[_Place]:
    if node.name in LEFT_OUT:
        return
    own = tuple(a.arg for a in node.args.args)
    returns = "" if node.returns is None else ast.unparse(node.returns)
    inside = _Place(
        node,
        at.path,
        f"{at.function}.{node.name}".lstrip("."),
        any("Constraint" in ast.unparse(d) for d in node.decorator_list),
        (*at.indices, *own),
        (*at.arguments, *(a for a in own if a in SIZES and a not in at.arguments)),
        "array"
        if "ndarray" in returns
        else "list"
        if returns.startswith(("list", "tuple"))
        else "",
    )
    if inside.rule:
        yield inside
    for n, statement in enumerate(node.body):
        yield from _below(statement, replace(inside, path=(*at.path, ("body", n))))


def _below(node: ast.AST, at: _Place) -> Iterator[_Place]:
    if isinstance(node, ast.FunctionDef):
        yield from _in_function(node, at)
        return
    if _silent(node):
        return
    if isinstance(node, (ast.expr, ast.stmt)):
        yield replace(at, node=node)
    bound = [g.target for g in getattr(node, "generators", ())] + (
        [node.target] if isinstance(node, ast.For) else []
    )
    bound += node.args.args if isinstance(node, ast.Lambda) else []
    names = [
        x.id if isinstance(x, ast.Name) else x.arg
        for b in bound
        for x in ast.walk(b)
        if isinstance(x, (ast.Name, ast.arg))
    ]
    for where, value in ast.iter_fields(node):
        if where in ("annotation", "returns", "decorator_list", "target", "targets"):
            continue
        for n, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(item, ast.AST):
                yield from _below(
                    item, replace(at, path=(*at.path, (where, n)), indices=(*at.indices, *names))
                )


def _silent(node: ast.AST) -> bool:
    """What decides nothing: doc strings, texts, errors, imports."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, (ast.JoinedStr, ast.Raise, ast.Import, ast.ImportFrom)) or (
        isinstance(node, ast.keyword) and node.arg in ("doc", "dtype")
    )


def _abstract(node: ast.FunctionDef) -> bool:
    return any("abstractmethod" in ast.unparse(d) for d in node.decorator_list)


def _known(word: str, text: str) -> bool:
    return (
        word
        in (
            "min",
            "max",
            "any",
            "all",
            "floor",
            "ceil",
            "argmin",
            "argmax",
            "minimum",
            "maximum",
            "zeros",
            "ones",
        )
        or word in text
    )


def _with_body(node: ast.FunctionDef, body: list[ast.stmt]) -> ast.FunctionDef:
    out = copy.copy(node)
    out.body = body
    return out


def _short(node: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(copy.deepcopy(node)))
    if isinstance(node, ast.FunctionDef):
        text = text[text.index("def ") :]
    text = " ".join(text.split())
    return text if len(text) <= 160 else f"{text[:157]}..."
