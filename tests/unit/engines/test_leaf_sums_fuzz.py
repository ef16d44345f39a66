"""Squared error against an optimum in fractions: `dp`, its switches, and the oracles themselves.

With MILP_TREES_FUZZ=2000 so many random problems are solved instead of some hundred.
"""

import os
from dataclasses import fields, replace
from fractions import Fraction

import pytest

import milp_trees as mt
from milp_trees.engines.dp.switches import Switches
from milp_trees.results.result import Status
from milp_trees.testing.exhaustive import best_tree
from milp_trees.testing.oracle import brute_force
from tests.unit.engines.leaf_sums_cases import Case, Exact, drawn

MANY = int(os.environ.get("MILP_TREES_FUZZ", "300"))

#: The bound by the best partition of sorted means without its penalties calls 18 2/3 optimal here.
PARTITION = Case(
    [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 1, 1], [0, 0, 0]],
    [[Fraction(v)] for v in (6, 0, 5, 9, 0, 3)],
    max_depth=3,
)


def claimed(case, method="dp"):
    """Solve a case and check what is claimed against the optimum in fractions."""
    result, best = mt.solve(case.problem(), method=method), Exact(case).optimum()
    if best is None:
        assert result.status is Status.INFEASIBLE, (case, result.status)
        return result
    assert result.status is Status.OPTIMAL, (case, result.status, result.message)
    value, bound = result.value.exact, result.certificate.bound_exact
    assert bound is not None, case
    assert bound <= best, (case, float(bound), float(best))
    assert best <= value <= best + case.tolerance, (case, float(value), float(best))
    return result


def test_a_tree_that_a_bound_without_penalties_misses():
    penalised = replace(PARTITION, split_penalty=Fraction(1, 10))
    result = claimed(penalised)
    assert result.tree.n_leaves == 4
    loss = mt.Problem(PARTITION.problem().dataset, mt.tasks.SquaredError(), mt.Trees(3))
    assert loss.value(result.tree).exact == 18


@pytest.mark.parametrize("part", range(10))
def test_dp_proves_the_optimum_in_fractions(part):
    for seed in range(part, MANY, 10):
        case = drawn(seed)
        try:
            claimed(case)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {case}") from error


@pytest.mark.parametrize(
    "switch", [f.name for f in fields(Switches)] + ["merge_rows", "drop_tests"]
)
def test_the_optimum_depends_on_no_switch(switch):
    for seed in range(1000, 1000 + MANY // 15):
        claimed(drawn(seed), f"dp:{switch}=off")


@pytest.mark.parametrize("order", ["depth-first", "best-first", "limited-discrepancy"])
def test_the_optimum_does_not_depend_on_the_order(order):
    for seed in range(2000, 2000 + MANY // 15):
        claimed(drawn(seed), f"dp:order={order}")


def test_enumeration_proves_the_optimum_in_fractions():
    for seed in range(3000, 3000 + MANY // 6):
        case = drawn(seed)
        if case.max_depth is not None and case.max_depth <= 3:
            claimed(case, "enumerate")


def test_the_oracles_of_the_checks_find_the_optimum_in_fractions():
    for seed in range(4000, 4000 + MANY // 6):
        case = drawn(seed)
        if case.max_depth is None or case.max_depth > 3:
            continue
        problem, best = case.problem(), Exact(case).optimum()
        tree, scored = best_tree(problem), brute_force(problem)
        assert (tree is None) == (scored is None) == (best is None), seed
        if best is None:
            continue
        for value in (problem.value(tree), scored[1]):
            assert best <= value.exact <= best + case.tolerance, seed
