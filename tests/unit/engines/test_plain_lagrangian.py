"""The page of plain Python against the engine: bounds of one side row, lists of vectors, optima."""

import numpy as np
from side_rows import random_problem

from milp_trees.common.compiling import run_clock
from milp_trees.common.limits import Limits
from milp_trees.engines.lagrangian.dual import Dual
from milp_trees.engines.lagrangian.incumbent import Incumbent
from milp_trees.engines.lagrangian.multipliers import Multipliers
from milp_trees.engines.lagrangian.plain import PlainLagrangian
from milp_trees.engines.lagrangian.vectors import TreeVectors
from milp_trees.methods.trace import Trace
from milp_trees.methods.watch import Watch
from milp_trees.mip.registry import registry

METHOD, PROBLEMS = registry.method("lagrangian"), 150


def test_optima_and_bounds_are_those_of_the_engine():
    seen = {"optimum": 0, "infeasible": 0, "bound": 0}
    for seed in range(PROBLEMS):
        problem = random_problem(np.random.default_rng(seed))
        if problem.all_rows_too_few:
            continue
        view = problem.presolved_view()
        result = METHOD.run(problem, Limits(time=60))
        plain = PlainLagrangian(view, problem.trees)
        expected = plain.objective()
        if expected is None:
            assert result.value is None, f"seed {seed}"
            seen["infeasible"] += 1
            continue
        assert result.value.exact == view.to_value(expected), f"seed {seed}"
        seen["optimum"] += 1
        dual = Dual(
            view,
            problem.trees,
            Incumbent(view, Trace(), run_clock()),
            Watch(Limits(time=None)),
        )
        dual.maximise()
        if len(view.side) == 1 and not problem.trees.limits_leaves:
            bound = PlainLagrangian(view, problem.trees).maximise()
            # A run ends early where a bound meets the best tree.
            assert dual.bound <= bound, f"seed {seed}"
            assert dual.bound == bound or dual.incumbent.proven, f"seed {seed}"
            seen["bound"] += 1
    assert min(seen.values()) >= 20, seen


def of_rows(view, numbers):
    """One number per side row for the numbers of its limits: signed sums."""
    out, numbers = [], iter(numbers)
    for row in view.side:
        signs = [s for s, at in ((1, row.upper), (-1, row.lower)) if at is not None]
        out.append([s * next(numbers) for s in signs])
    return out


def test_vectors_at_any_multipliers_are_those_of_the_engine():
    """Of all rows, at small and large allowances."""
    compared = 0
    for seed in range(PROBLEMS):
        problem = random_problem(np.random.default_rng(seed))
        view, space = problem.presolved_view(), problem.trees
        if problem.all_rows_too_few or space.limits_leaves:
            continue
        plain = PlainLagrangian(view, space)
        plain.maximise()
        signed = of_rows(view, plain.weights[1:-1])
        multipliers = Multipliers.of(tuple(map(sum, signed)))
        vectors = TreeVectors(view, space, multipliers, Watch(Limits(time=None)), 2**30)
        first = [int(view.costs[:, 0].sum()), *(int(r.coefs[:, 0].sum()) for r in view.side)]
        free = multipliers.denominator * first[0]
        free += int(np.dot(multipliers.numerators, first[1:]))
        lowest = plain.lowest(plain.everything, plain.depth)
        for more in (0, 3, 40):
            allowance = plain.price(lowest) + more
            found = vectors.vectors(
                vectors.all_rows, plain.depth, int(multipliers.denominator * allowance // 1) - free
            )
            rows = {tuple(row) for row in (found.rows + np.array(first)).tolist()}
            expected = plain.vectors(plain.everything, plain.depth, allowance)
            totals = {(v[0], *(t[0] for t in of_rows(view, v[1:-1]))) for v in expected}
            assert rows == totals, f"seed {seed}, {more}"
            compared += len(rows)
    assert compared > 500
