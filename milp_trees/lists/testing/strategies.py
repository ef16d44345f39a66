"""Hypothesis strategies for rule lists: `list_problems`."""

# hypothesis is optional, so the type checker does not know its decorators.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from hypothesis import strategies as st

from milp_trees.lists.antecedents import Antecedents
from milp_trees.lists.space import RuleLists
from milp_trees.problems.problem import Problem
from milp_trees.testing.strategies import datasets, tasks


@st.composite
def list_problems(draw: st.DrawFn, constrained: bool = True) -> Problem:
    """A dataset, a task on it, and rule lists of at most three rules over its features.

    Lists may ask for negations; without a limit on the length rules cost something.
    """
    dataset = draw(datasets().filter(lambda data: any(len(set(x)) == 2 for x in data.X.T.tolist())))
    task = draw(tasks(dataset, constrained))
    limits = [0, 1, 2, 3]
    space = RuleLists(
        Antecedents(negations=draw(st.booleans())),
        draw(st.sampled_from([None, *limits] if task.split_penalty else limits)),  # type: ignore[attr-defined]
        draw(st.sampled_from([1, 1, 2])),
    )
    return Problem(dataset, task, space)
