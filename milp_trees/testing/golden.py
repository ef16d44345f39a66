"""Golden files, so that a review shows changes of models and of what is supported.

They are the text of one tiny model per formulation and space, and the list of methods that take
each problem. `python -m milp_trees.testing.golden FOLDER --refresh` writes the files of every
registered formulation, and `taken.json`; without `--refresh` it prints what differs.
"""

from __future__ import annotations

import sys
from pathlib import Path

from milp_trees.mip.formulation import Formulation
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.models.space import Trees, space_classes
from milp_trees.problems.problem import Problem
from milp_trees.testing.family_suites import suites
from milp_trees.testing.model_text import model_text
from milp_trees.testing.taken import FILE, taken_text


def golden_problems(formulation: Formulation) -> dict[str, Problem]:
    """Very small but readable problems that a formulation takes, by the names of their files.

    There is one per space. Trees have three rows, two thresholds of one numeric column, and depth
    1; their targets are classes, or numbers. If the formulation takes them, there are four rows
    with a side row and a minimum leaf size too. Rule lists have four rows of two columns, two rules, and a side row. Prunings have two trees.
    """
    spaces, found = space_classes(formulation.space), {}
    for suite in suites():
        if problem := suite.golden(formulation):
            more = f"-{suite.name}" if len(spaces) > 1 else ""
            found[f"{formulation.name}{more}.lp.txt"] = problem
    if len(found) < len(spaces):
        found[f"{formulation.name}.lp.txt"] = _of_trees(formulation)
        limited = _limited_trees()
        if formulation.unsupported(limited) is None:
            found[f"{formulation.name}-limited.lp.txt"] = limited
    return found


def _of_trees(formulation: Formulation) -> Problem:
    """Of classes, or of numbers if the formulation takes no classes."""
    from milp_trees.tasks.absolute_error import AbsoluteError
    from milp_trees.tasks.classification import Accuracy
    from milp_trees.testing._named import numeric_dataset

    x: dict[str, list[float]] = {"x": [1, 2, 4]}
    data = numeric_dataset(x, y=["no", "yes", "no"])
    classes = Problem(data, Accuracy(leaf_penalty="1/30"), Trees(1))
    if formulation.unsupported(classes) is None:
        return classes
    return Problem(numeric_dataset(x, y=[3, 7, 4]), AbsoluteError(), Trees(1))


def _limited_trees() -> Problem:
    """Few rows may be positive, and every leaf holds two rows."""
    from milp_trees.tasks.classification import Accuracy
    from milp_trees.tasks.constraints import Capacity
    from milp_trees.testing._named import numeric_dataset

    data = numeric_dataset({"x": [1, 1, 2, 4]}, y=["no", "no", "yes", "no"])
    return Problem(
        data, Accuracy(constraints=(Capacity("yes", at_most=2),)), Trees(1, min_samples_leaf=2)
    )


def golden_texts(formulation: Formulation) -> dict[str, str]:
    """The content of the golden files of a formulation, by name."""
    return {
        file: model_text(compile_model(formulation.build(problem, incomplete=True)))
        for file, problem in golden_problems(formulation).items()
    }


def differences(folder: Path, refresh: bool = False) -> list[str]:
    """Names of formulations (and `taken.json`) whose file is absent or differs.

    With `refresh`, the files are written.
    """
    from milp_trees.mip.registry import registry

    changed = []
    texts = [
        (name, file, text)
        for name, cls in registry.classes("formulations").items()
        for file, text in golden_texts(cls()).items()
    ]
    for name, file, text in [*texts, (FILE, FILE, taken_text())]:
        path = folder / file
        if not path.exists() or path.read_text() != text:
            changed.append(name)
            if refresh:
                path.write_text(text)
    return changed


def main(arguments: list[str]) -> int:
    """The command: print the names that changed; the exit code is 1 if a file must be refreshed."""
    refresh = "--refresh" in arguments
    folders = [a for a in arguments if a != "--refresh"]
    if len(folders) != 1:
        sys.stderr.write("usage: python -m milp_trees.testing.golden FOLDER [--refresh]\n")
        return 2
    changed = differences(Path(folders[0]), refresh)
    sys.stdout.write("".join(f"{'wrote' if refresh else 'differs:'} {name}\n" for name in changed))
    return int(bool(changed) and not refresh)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
