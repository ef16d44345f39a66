"""What docstrings must hold, and how long a file may be.

A public function or method of three or more arguments (`self` is not counted) has the NumPy section
Parameters, which names every argument; Returns or Yields if it returns or yields something; and
Raises if its own body raises an error of the package. Exempt are

- compiled kernels (`kernel` or a numba decorator): their module says what the arrays hold;
- overrides: the documentation of a method stands once, at the base class that defines it;
- commands of the command line: their help is their documentation.

The first line of every docstring is a sentence of its own: it ends on that line.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("milp_trees", "formulations", "solvers")
LONGEST = 400
# Rooms whose functions are not documented in this way yet.
TO_DOCUMENT = {"engines", "estimators"}
# Files that are still longer than `LONGEST` lines.
TO_SPLIT: set[str] = set()
EXEMPT = re.compile(
    r"\b(kernel|njit|jit|cfunc|vectorize|guvectorize|intrinsic|overload)\b|\.command\("
)


def room_of(path):
    parts = path.relative_to(ROOT).parts
    return parts[1] if parts[0] == "milp_trees" else parts[0]


def files():
    return sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def named(node):
    """The last name of a base class or of what is called: `Method` of `methods.Method[T]`."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def classes():
    """The bases and the methods of every class, by the name of the class."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    for path in files():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases, methods = found.setdefault(node.name, (set(), set()))
                bases.update(named(base) for base in node.bases)
                methods.update(n.name for n in node.body if isinstance(n, ast.FunctionDef))
    return found


def overrides(method, cls, known):
    """Whether a base class of `cls`, at any distance, defines the method."""
    todo, seen = set(known[cls][0]), {cls}
    while todo:
        base = todo.pop()
        if base in known and base not in seen:
            seen.add(base)
            if method in known[base][1]:
                return True
            todo |= known[base][0]
    return False


def own_nodes(function):
    """The nodes of a function without those of the functions and classes inside it."""
    todo = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(node))


def arguments(function):
    a = function.args
    every = [*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg]
    return [arg.arg for arg in every if arg and arg.arg not in ("self", "cls")]


def errors_of_the_package():
    tree = ast.parse((ROOT / "milp_trees/errors.py").read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def sections(docstring):
    """The text of every NumPy section, by its title."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", docstring, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def public_functions(tree):
    """Public functions of a module and public methods of its public classes, with their class."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield None, node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                    yield node.name, method


def missing(function, errors):
    """What the docstring of a function lacks."""
    held = sections(ast.get_docstring(function) or "")
    named_there = {
        name.strip(" *")
        for line in re.findall(
            r"^(\*{0,2}\w[\w, *]*?)(?: : .*)?$", held.get("Parameters", ""), re.M
        )
        for name in line.split(",")
    }
    out = [f"parameter {name}" for name in arguments(function) if name not in named_there]
    nodes = list(own_nodes(function))
    gives = any(
        isinstance(n, (ast.Yield, ast.YieldFrom)) or (isinstance(n, ast.Return) and n.value)
        for n in nodes
    )
    if gives and not held.keys() & {"Returns", "Yields"}:
        out.append("Returns")
    raised = {named(n.exc) for n in nodes if isinstance(n, ast.Raise) and n.exc}
    out += [f"error {e}" for e in sorted(raised & errors) if e not in held.get("Raises", "")]
    return out


def undocumented(path, known, errors):
    """A sentence per function of a file whose docstring lacks something."""
    module = path.relative_to(ROOT)
    if any(part.startswith("_") and part != "__init__.py" for part in module.parts):
        return []
    return [
        f"{module}:{node.lineno} {node.name}: {', '.join(lacks)}"
        for cls, node in public_functions(ast.parse(path.read_text("utf-8")))
        if len(arguments(node)) >= 3
        and not any(EXEMPT.search(ast.unparse(d)) for d in node.decorator_list)
        and not (cls and overrides(node.name, cls, known))
        and (lacks := missing(node, errors))
    ]


def two_line_summaries(path):
    """A sentence per docstring whose first statement runs on into the second line."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            lines = (ast.get_docstring(node) or "").splitlines()
            if len(lines) > 1 and lines[1]:
                yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)} {lines[0]}"


@pytest.fixture(scope="module")
def ready():
    return [path for path in files() if room_of(path) not in TO_DOCUMENT]


def test_public_functions_of_three_or_more_arguments_have_their_sections(ready):
    known, errors = classes(), errors_of_the_package()
    assert [said for path in ready for said in undocumented(path, known, errors)] == []


def test_the_first_line_of_a_docstring_stands_alone(ready):
    assert [said for path in ready for said in two_line_summaries(path)] == []


def test_a_missing_section_is_found(tmp_path, monkeypatch):
    """The check finds what is planted, and lets go what is exempt."""
    monkeypatch.setattr("test_docstrings.ROOT", tmp_path)


def test_files_are_short():
    """No file is longer than a reader takes in."""
