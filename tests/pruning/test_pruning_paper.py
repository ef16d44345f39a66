"""What is known of the paper's programs of prunings."""

from dataclasses import replace

import numpy as np
import pytest
from pruning_programs import LABELS, make

from milp_trees.pruning.testing.checks import (
    best_pruning,
    default_pruning_problems,
    example,
    scored,
)
from milp_trees.pruning.view import NodeGains
from milp_trees.testing.solve import built, minimise
from milp_trees.unimodular import (
    check_network_certificate,
    decide_by_consecutive_ones,
    decide_by_difference_rows,
    total_unimodularity,
)


def relaxed(label, name):
    """The relaxation's optimum by variable, and its value in errors."""
    b, (a, _, _) = built(make(label), example(name)), example(name).view(NodeGains).step
    point = minimise(b.matrix, relax=True)
    return {
        v.name: x for v, x in zip(b.matrix.columns, point.x.tolist(), strict=True)
    }, point.objective / a


# -- the paper ------------------------------------------------------------------------------------------------------


def test_figure_1_has_its_fractional_vertex():
    """The relaxation of IP1 is 1.75 at halves of nodes 3, 4, 5 and of both features of tree 1
    (numbered from 0 here); the optimum is 2.5.
    """
    view = example("figure-1").view(NodeGains)
    assert view.error[:5].tolist() == [3, 0, 1, 0, 0]
    assert [view.step[1] * c / view.step[0] for c in view.price.tolist()] == [2, 0.5]
    x, value = relaxed("ip1", "figure-1")
    assert value == pytest.approx(1.75)
    assert {n: x[n] for n in ("z[2]", "z[3]", "z[4]", "W[0,0]", "W[1,0]")} == pytest.approx(
        dict.fromkeys(("z[2]", "z[3]", "z[4]", "W[0,0]", "W[1,0]"), 0.5)
    )
    assert x["z[0]"] == pytest.approx(0)
    assert float(view.from_value(best_pruning(example("figure-1"))[0])) / view.step[0] == 2.5
    assert relaxed("ip3", "figure-1")[1] == pytest.approx(2.5)


def test_budgets_break_integrality():
    """The corollary on budgets is false: half a split, and 17/3 errors where 6 are best and the
    hull has 7.
    """
    assert relaxed("ip3", "half-a-split")[0]["z[0]"] == pytest.approx(0.5)
    for label in ("ip3", "ip3-closure"):
        assert relaxed(label, "two-items")[1] == pytest.approx(17 / 3)
    problem = example("two-items")
    assert best_pruning(problem)[0] * 10 == 6
    free = replace(problem, task=replace(problem.task, max_cost=None))
    view = free.view(NodeGains)
    hull = {
        min(
            (
                view.totals(p.kept)[0] + lam * float(free.extra_scores(p)["cost"]),
                view.totals(p.kept),
            )
            for _, p in scored(free)
        )[1]
        for lam in np.linspace(0, 5, 400)
    }
    assert sorted(E for E, _ in hull) == [3, 7, 10]


@pytest.mark.parametrize("name", default_pruning_problems())
def test_ip3_is_a_transposed_network_matrix(name):
    """Entry by entry, of the spanning tree that the formulation names; a budget row leaves no such
    tree.
    """
    b = built(make("ip3"), default_pruning_problems()[name])
    tree = make("ip3").network_tree(b.model)
    if b.model.view.budget is not None:
        assert tree is None
        return
    answer = check_network_certificate(b.matrix, tree)
    assert (answer.answer, answer.certificate.transposed) == ("yes", True)


def test_a_wrong_spanning_tree_is_no_proof():
    b = built(make("ip3"), example("figure-1"))
    tree = make("ip3").network_tree(b.model)
    tail, head, name = tree[2]
    assert (
        check_network_certificate(b.matrix, [*tree[:2], (head, tail, name), *tree[3:]]).answer
        == "unknown"
    )


def differenced(b):
    """The equality rows of each tree, in the order of its leaves with w[h,i] between the children
    of h, each less the one before; then w ≤ W.
    """
    A, labels, view = b.matrix.A.toarray(), np.array(b.matrix.row_labels), b.model.view
    column = {v.name: j for j, v in enumerate(b.matrix.columns)}

    def leaves(h):
        if view.left[h] < 0:
            return [column[f"z[{h}]"]]
        return [
            *leaves(view.left[h]),
            *(column[f"w[{u},{i}]"] for u, i in b.model.w if u == h),
            *leaves(view.right[h]),
        ]

    equal = A[labels != "buy"]
    rows = [
        np.array([equal[equal[:, j] != 0][0] for j in leaves(root)]) for root in view.roots
    ]  # only one row has the last variable of a path
    return np.vstack([*(np.vstack([r[:1], np.diff(r, axis=0)]) for r in rows), A[labels == "buy"]])


def test_the_published_proof_is_about_another_matrix():
    """Differenced rows over w ≤ W are not totally unimodular on two mirrored trees, where the rows
    as printed are; for one tree both are.
    """
    b = built(make("ip3"), example("mirrored-trees"))
    answer = total_unimodularity(differenced(b))
    assert (answer.answer, abs(answer.submatrix.determinant)) == ("no", 2)
    assert total_unimodularity(b.matrix).answer == "yes"
    one = built(make("ip3"), example("negative-gain"))
    assert total_unimodularity(differenced(one)).answer == "yes"


def test_ip0_has_consecutive_ones_and_the_closure_difference_rows():
    for name, problem in default_pruning_problems().items():
        if not make("ip0").unsupported(problem):
            assert (
                decide_by_consecutive_ones(built(make("ip0"), problem).matrix, columns=True).answer
                == "yes"
            ), name
        if problem.view(NodeGains).budget is None:
            for label in ("ip3-closure", "ip3-closure:merge_pairs=off"):
                assert (
                    decide_by_difference_rows(built(make(label), problem).matrix).answer == "yes"
                ), name


def test_merging_makes_the_program_smaller_and_not_different():
    for problem in default_pruning_problems().values():
        view = problem.view(NodeGains)
        small, large = (make(label).model_size(view, problem.space) for label in LABELS[-2:])
        assert small.variables <= large.variables
        assert small.nonzeros <= large.nonzeros or len(view.above)
    problem = example("all-prices-and-a-budget")
    small, large = (
        make(label).model_size(problem.view(NodeGains), problem.space) for label in LABELS[-2:]
    )
    assert small.rows < large.rows
