"""Methods that are said to share nothing have no code in common, so each can confirm the other."""

import ast
from functools import cache
from pathlib import Path

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.models.space import space_classes
from milp_trees.solving.agreement import built_on

ROOT = Path(mt.__file__).parents[1]


def test_what_shares_nothing_imports_nothing_in_common():
    """They have no module of engines or formulations in common, directly or through others."""
    files = {
        f"milp_trees.{'.'.join(p.relative_to(ROOT / 'milp_trees').with_suffix('').parts)}": p
        for p in (ROOT / "milp_trees").rglob("*.py")
        if {"engines", "hypergraph"} & set(p.parts)
    }
    files |= {f"milp_trees.formulations.{p.stem}": p for p in Path(_folder()).glob("*.py")}
    # The curve of all prunings is an answer, which enumerators give too; what computes it is not.
    files = {
        name: path
        for name, path in files.items()
        if path.stem != "__init__" and name != "milp_trees.pruning.engines.min_cut.curve"
    }
    imported = {name: list(_imports(name, path)) for name, path in files.items()}

    @cache
    def parts(cls):
        seen, todo = set(), [cls.__module__]
        while todo:
            here = todo.pop()
            if here in files and here not in seen:
                seen.add(here)
                todo += imported[here]
        return seen

    classes = {
        **registry.classes("methods"),
        **{f"{n}@none": c for n, c in registry.classes("formulations").items()},
    }
    able = {
        name: cls
        for name, cls in classes.items()
        if cls.__module__ in files and getattr(cls, "exact", True)
    }
    independent = [
        (a, b)
        for a in able
        for b in able
        if a < b and not (built_on(a) - {"@none"}) & (built_on(b) - {"@none"})
        if set(space_classes(able[a].space)) & set(space_classes(able[b].space))
    ]
    assert len(independent) > 50
    common = {(a, b): shared for a, b in independent if (shared := parts(able[a]) & parts(able[b]))}
    helpers = {
        "milp_trees.lists.engines.dp_lists.proofs",  # writes a proof of an answer that is there: no search
        "milp_trees.formulations._pruning",  # trees as arrays, and names: no row of a model
        "milp_trees.engines.dp.contexts",  # how compiled code reads a record of arrays: no search
        "milp_trees.lists.engines.dp_lists.bits",  # sums over sets of rows, tested against sums over rows
        "milp_trees.engines.kit.rowsets",  # sets of rows as words, and a table of them, tested alone
        "milp_trees.engines.kit.run",  # clock, limits and trace of a run: no search
        "milp_trees.engines.kit.leaf_code",  # the view's leaf function as code, compared with numpy's
        "milp_trees.engines.kit.compile",  # tiny problems for a first call: no search
        "milp_trees.engines.enumeration_limit",  # the size at which enumerators refuse a problem
        "milp_trees.pruning.engines.min_cut.stopped",  # the answer of a run that was stopped: it proves nothing that the data do not say
    }
    # On lists state-flow uses multipliers; the Lagrangian method takes trees only.
    common.pop(("lagrangian", "state-flow@none"))
    assert {pair: shared for pair, shared in common.items() if shared - helpers} == {}


def _folder():
    import milp_trees.formulations

    return next(iter(milp_trees.formulations.__path__))


def _imports(name, path):
    """What a module imports, inside functions too, but not for types only."""
    tree = ast.parse(path.read_text())
    typing = {
        id(n)
        for t in ast.walk(tree)
        if isinstance(t, ast.If) and getattr(t.test, "id", "") == "TYPE_CHECKING"
        for n in ast.walk(t)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in typing:
            base = node.module or ""
            if node.level:
                base = ".".join([*name.split(".")[: -node.level], *([base] if base else [])])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))
