"""What docstrings must contain.

A public function, or method of a public class, of three or more arguments (`self` is not counted) has
the NumPy section Parameters, which names every argument; Returns or Yields if it returns or yields
something; and Raises if its own body raises an error of the package. Public is what the stub files,
`milp_trees.plugins` and `milp_trees.testing` offer. Overrides are exempt: the documentation of a
method stands once, at the base class that defines it. A sentence is enough for all other functions.

The first line of every docstring is a statement of its own, which ends on that line. Words that
readers have to guess at (`RIDDLES`) are in no docstring and no comment.
"""

import ast
import re
import tokenize
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("milp_trees", "formulations", "solvers")
#: Files that list public names, besides the stub files.
LISTS = ("milp_trees/plugins.py", "milp_trees/testing/__init__.py")
#: Persons that are none, and words that are no longer used in this sense.
RIDDLES = re.compile(
    r"\b(dear(er|est)?|whoever|nobody|somebody|believe[sd]?|for nothing|in the way|on its way)\b"
)


def files():
    return sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


@cache
def parsed(path):
    return ast.parse(path.read_text("utf-8"))


def named(node):
    """The last name of a base class or of what is called: `Method` of `methods.Method[T]`."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def classes():
    """The bases and the methods of every class, by the name of the class."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    for path in files():
        for node in ast.walk(parsed(path)):
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
    tree = ast.parse((ROOT / "milp_trees/common/errors.py").read_text("utf-8"))
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


@cache
def exported():
    """The public names with their files: those of the stub files, of plugins and of testing."""
    found = set()
    for path in (*ROOT.glob("milp_trees/**/__init__.pyi"), *map(ROOT.joinpath, LISTS)):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and node.module:
                folder = path.parent if node.level else ROOT
                home = folder / node.module.replace(".", "/")
                file = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
                found |= {(file, alias.name) for alias in node.names}
    return found


def undocumented(path, known, errors):
    """A sentence per public function of a file whose docstring lacks something."""
    return [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {', '.join(lacks)}"
        for cls, node in public_functions(parsed(path))
        if (path, cls or node.name) in exported()
        and len(arguments(node)) >= 3
        and "overload" not in map(named, node.decorator_list)
        and not (cls and overrides(node.name, cls, known))
        and (lacks := missing(node, errors))
    ]


def docstrings(path):
    """Line and text of every docstring of a file."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, text


def long_summaries(path):
    """A sentence per docstring whose first statement does not end on the first line."""
    source = path.read_text("utf-8").splitlines()
    for line, text in docstrings(path):
        lines = text.splitlines()
        if (len(lines) > 1 and lines[1]) or len(source[line - 1]) > 100:
            yield f"{path.relative_to(ROOT)}:{line} {lines[0]}"


def riddles(path):
    """A sentence per docstring or comment with one of the words."""
    with path.open("rb") as file:
        comments = [
            (token.start[0], token.string)
            for token in tokenize.tokenize(file.readline)
            if token.type == tokenize.COMMENT
        ]
    for line, text in [*docstrings(path), *comments]:
        for found in RIDDLES.finditer(text):
            yield f"{path.relative_to(ROOT)}:{line} says {found[0]!r}"


def test_public_functions_of_three_or_more_arguments_have_their_sections():
    known, errors = classes(), errors_of_the_package()
    assert all(path.exists() for path, _ in exported())
    found = [message for path in files() for message in undocumented(path, known, errors)]
    assert not found, "\n".join(found)


def test_the_first_line_of_a_docstring_stands_alone():
    found = [message for path in files() for message in long_summaries(path)]
    assert not found, "\n".join(found)


def test_docstrings_and_comments_have_no_riddles():
    found = [message for path in files() for message in riddles(path)]
    assert not found, "\n".join(found)


PLANTED = '''
"""A module
of two lines."""

def short(a, b):
    return a

def lacking(a, b, *, c):
    """Does something.

    Parameters
    ----------
    a, b : int
        Numbers.
    """
    if a:
        raise DataError("no")
    return b

def complete(a, b, *more, **options):
    """Does something.

    Parameters
    ----------
    a, b : int
        Numbers.
    *more
        Others.
    **options
        For nobody.

    Returns
    -------
    int
    """
    return b

@njit
def kernel(a, b, c):
    return a

class Base:
    def build(self, a, b, c):
        return a

class Derived(Base):
    def build(self, a, b, c):
        return a
'''


def test_what_is_planted_is_found(tmp_path, monkeypatch):
    """A missing argument, section, error, summary and word are found; what is exempt is not."""
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "milp_trees").mkdir()
    path = tmp_path / "milp_trees" / "planted.py"
    path.write_text(PLANTED)
    public = {(path, name) for name in ("short", "lacking", "complete", "Base", "Derived")}
    monkeypatch.setitem(globals(), "exported", lambda: public)
    found = undocumented(path, classes(), {"DataError"})
    assert [message.partition(" ")[2] for message in found] == [
        "lacking: parameter c, Returns, error DataError",
        "build: parameter a, parameter b, parameter c, Returns",
    ]
    assert [message.partition(" ")[2] for message in long_summaries(path)] == ["A module"]
    assert [message.partition(" ")[2] for message in riddles(path)] == ["says 'nobody'"]
