"""The core names no plug-in, and no test of a contract does: what is run by default, who judges, what a
sentence recommends and what is asked of a plug-in follow from what plug-ins declare.
"""

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

from milp_trees.common.registering import GROUPS
from milp_trees.common.registering.families import families
from milp_trees.mip.registry import registry

ROOT = Path(__file__).parents[2]
#: Where plug-ins are: their own files, and what those are made of; families name their own.
PLUG_INS = (
    "milp_trees/engines/",
    "milp_trees/tasks/",
    *(family.package.replace(".", "/") + "/" for family in families().values()),
)
#: A sentence may name a plug-in as an example of what could be written.
EXAMPLE = re.compile(r"example|such as|e\.g\.|…")

#: File and name → why it may stand there.
ALLOWED = {
    ("cli/lists.py", "DEMO"): "the demonstration shows chosen models",
    ("cli/lists.py", "demo"): "and chosen solvers, of those that are found",
    ("cli/questions.py", "near-best"): "the name of the command",
    ("problems/questions.py", "near-best"): "the name of the question",
    ("estimators/_classifier.py", "accuracy"): "the default of a public parameter",
    ("estimators/_criterion.py", "log-loss"): "what scikit-learn also calls entropy",
    ("estimators/fair_tree.py", "accuracy"): "the default of a public parameter",
    ("estimators/survival.py", "survival"): "the default of a public parameter",
    ("estimators/trees.py", "accuracy"): "the default of a public parameter",
    ("estimators/trees_cv.py", "accuracy"): "the default of a public parameter",
    ("counterfactuals/answer.py", "weighted"): "the name of a norm",
    ("counterfactuals/question.py", "weighted"): "the name of a norm",
    ("data/binarize.py", "precision"): "digits of a number",
    ("mip/linear/matrix.py", "cut"): "the name of added rows",
    ("methods/method.py", "enumerate"): "the stage of a run",
    ("testing/at_limits.py", "*"): "limits of tasks whose definitions stand apart from them",
    ("testing/task_options.py", "*"): "options of tasks that are tried beside the defaults",
    ("testing/definitions.py", "*"): "definitions apart from the tasks are the point of the file",
    ("testing/definitions_of_constraints.py", "*"): "definitions apart from the constraints",
    ("testing/definitions_of_losses.py", "*"): "definitions apart from the losses",
}

#: Files of `tests/conformance` that are no contracts, and may name plug-ins: they test the checks
#: themselves, with faults planted in plug-ins.
NO_CONTRACTS = ("wrong_*", "test_wrong_*", "*_itself", "test_at_limits", "test_wide", "*spot*")


def names():
    return {name for group in GROUPS for name in registry.classes(group)}


def constants(tree):
    """Texts of a module that are no docstrings, each with the name that it is assigned to or the
    function that it is in.
    """
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for top in tree.body:
        targets = getattr(top, "targets", [getattr(top, "target", None)])
        where = getattr(top, "name", None) or getattr(targets[0], "id", "")
        for node in ast.walk(top):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in docstrings
            ):
                yield where, node.value, node.lineno
            elif isinstance(node, ast.JoinedStr):
                # A sentence in parts is read as a whole.
                parts = [v for v in node.values if isinstance(v, ast.Constant)]
                if EXAMPLE.search("".join(str(v.value) for v in parts)):
                    docstrings |= {id(v) for v in parts}


def named(text, known):
    """Plug-ins that a text names: as a whole, or as a word that is nothing else (with a hyphen, or
    with a solver).
    """
    if text in known:
        return {text}
    words = set(re.findall(r"(?<!\w)[a-z0-9]+(?:-[a-z0-9]+)*(?:@[a-z]+)?(?!\w)", text))
    short = {"dp", "cart", "highs", "cbc", "scip", "mcc", "auc"}
    return {
        word
        for word in words
        if word.partition("@")[0] in known and ("-" in word or "@" in word or word in short)
    }


def wrong_in(path, known, root=ROOT / "milp_trees"):
    inside = str(path.relative_to(root))
    for where, text, line in constants(ast.parse(path.read_text("utf-8"))):
        for name in named(text, known):
            if EXAMPLE.search(text):
                continue
            if not {(inside, "*"), (inside, name), (inside, where)} & ALLOWED.keys():
                yield f"{inside}:{line} names {name}: {text[:80]!r}"


def core():
    for path in sorted((ROOT / "milp_trees").rglob("*.py")):
        if not str(path.relative_to(ROOT)).startswith(PLUG_INS):
            yield path


def test_no_file_of_the_core_names_a_plug_in():
    known = names()
    wrong = [sentence for path in core() for sentence in wrong_in(path, known)]
    assert not wrong, "\n".join(wrong)


def contracts():
    """Files of tests that every plug-in must pass."""
    for path in sorted((ROOT / "tests" / "conformance").glob("*.py")):
        if not any(fnmatch(path.stem, pattern) for pattern in NO_CONTRACTS):
            yield path


def test_no_contract_names_a_plug_in():
    """Tests of named plug-ins are in `tests/unit`."""
    known, root = names(), ROOT / "tests" / "conformance"
    wrong = [sentence for path in contracts() for sentence in wrong_in(path, known, root)]
    assert not wrong, "\n".join(wrong)
    assert {"test_formulations", "test_solvers", "test_methods"} <= {p.stem for p in contracts()}


def test_every_exception_is_still_needed():
    unused = []
    for inside, what in ALLOWED:
        path = ROOT / "milp_trees" / inside
        found = {
            (where, name)
            for where, text, _ in constants(ast.parse(path.read_text("utf-8")))
            for name in named(text, names())
        }
        if not any(what in ("*", where, name) for where, name in found):
            unused.append((inside, what))
    assert not unused


def test_a_name_in_the_core_is_found(tmp_path):
    (tmp_path / "planted.py").write_text(
        '"""dp is fine here."""\nDEFAULT = "dp"\n\ndef f():\n    """And dp here."""\n'
        '    raise ValueError("Use dp_derived, or state-flow@highs.")\n'
    )
    found = list(wrong_in(tmp_path / "planted.py", names(), tmp_path))
    assert [sentence.partition(":")[2].partition(":")[0] for sentence in found] == [
        "2 names dp",
        "6 names state-flow@highs",
    ]
