"""Every exact method that takes side constraints equals brute force, fronts included.

The oracle (`constrained_trees`) shares no code with the package; infeasible problems are among the
drawn ones, and the group may be split on in half of them.
"""

import pytest
from constrained_trees import draw
from row_tests import each_row

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.models.space import space_classes
from milp_trees.problems.questions import Front
from milp_trees.tasks.constraints import constraint

ENGINES = [
    name
    for name, cls in registry.classes("methods").items()
    if cls.takes_side_rows and registry.method(name).exact and mt.Trees in space_classes(cls.space)
]
SEEDS = {
    **dict.fromkeys(ENGINES, range(60)),
    "state-flow@highs": range(15),
    "flow-oct@highs": range(5),
}
#: Fewer problems for fronts, each of which takes several runs.
FRONTS = {**dict.fromkeys(ENGINES, range(25)), "state-flow@highs": range(6)}


@pytest.mark.parametrize("name", SEEDS)
def test_the_optimum_is_that_of_brute_force(name):
    """The exact value, recomputed from the tree; "infeasible" exactly where nothing is feasible."""
    method, taken = registry.method(name), 0
    for seed in SEEDS[name]:
        case = draw(seed)
        problem, expected = case.problem(), case.best()
        if method.unsupported(problem):
            continue
        result, taken = method.run(problem), taken + 1
        if expected is None:
            assert result.status.value == "infeasible", (seed, result)
        else:
            assert (result.status.value, result.value.exact) == ("optimal", expected), seed
            assert not problem.violations(result.tree), seed
    assert taken >= len(SEEDS[name]) // 2, taken


@each_row("name", FRONTS)
@each_row("against", ["statistical-parity", "capacity"])
def test_the_front_is_that_of_brute_force(name, against):
    """All corners of the value against a disparity, and against a number of rows, as rationals."""
    method, taken = registry.method(name), 0
    for seed in FRONTS[name]:
        case = draw(seed)
        which = seed % case.n_actions
        rule = constraint(against, **{"action" if against == "capacity" else "favourable": which})
        problem = case.problem(Front(rule))
        if method.unsupported(problem):
            continue
        result, taken = method.run(problem), taken + 1
        found = [tuple(c.exact for c in s.coordinates) for s in result.solutions]
        assert found == case.front(against, which), seed
        assert result.complete, seed
        assert (result.status is mt.plugins.Status.INFEASIBLE) == (not found), seed
    assert taken >= len(FRONTS[name]) // 2, taken
