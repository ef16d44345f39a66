"""Rows that stand for several equal rows: every problem stays the same, exactly."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError, Unsupported
from milp_trees.data.outline import Outline
from milp_trees.lists.testing.sets import default_list_problems
from milp_trees.testing.generate import any_tree
from milp_trees.testing.grouped import difference, grouped
from milp_trees.testing.sets import default_problems

DATA = mt.Dataset([[0, 1], [0, 1], [1, 0], [0, 1]], y=["no", "no", "yes", "yes"])


def test_equal_rows_become_one_with_their_number():
    few = grouped(DATA)
    assert few.X.tolist() == [[0, 1], [1, 0], [0, 1]]
    assert few.counts.tolist() == [2, 1, 1]
    assert (few.n_rows, few.total_rows) == (3, 4)
    assert few.sizes == {"rows": 4, "distinct_rows": 3, "tests": 2}
    assert few.subset([0, 2]).total_rows == 3
    assert Outline(few).total_rows == 4
    assert few.sha256 != few.with_(counts=[1, 1, 1], classes=few.classes).sha256
    assert repr(few) == "Dataset(4 rows, 3 distinct, × 2 features, 2 classes)"


@each_row("counts", [[1, 2], [1, 0, 1], [1.0, 2.0, 1.0], [2**53, 1, 1]])
def test_counts_are_whole_numbers_from_one_on(counts):
    with pytest.raises(DataError, match="counts"):
        grouped(DATA).with_(counts=np.array(counts))


@pytest.mark.parametrize("kind", ["trees", "lists"])
def test_no_problem_of_the_suite_changes(kind):
    rng, taken = np.random.default_rng(5), 0
    for name, problem in (
        default_problems() if kind == "trees" else default_list_problems()
    ).items():
        models = [any_tree(problem, rng) for _ in range(3)] if problem.task.takes_counts else []
        try:
            why = difference(problem, models)
        except Unsupported:
            continue
        assert why is None, f"{name}: {why}"
        taken += problem.task.takes_counts
    assert taken > 40


def many(seed, task, space, weights=False):
    """A problem of many equal rows with three classes, two groups and treatments."""
    rng = np.random.default_rng(seed)
    n = 60
    X = rng.integers(0, 2, (n, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + (rng.random(n) < 0.25)) % 3
    data = mt.Dataset(
        X,
        y=y,
        groups=rng.choice(["a", "b"], n),
        weights=rng.choice([1, 2, 0.5], n) if weights else None,
    )
    return mt.Problem(data, task, space)


CASES = {
    "accuracy": (mt.Accuracy(), mt.Trees(2)),
    "min leaf": (mt.Accuracy(), mt.Trees(2, min_samples_leaf=9)),
    "max leaves": (mt.Accuracy(leaf_penalty="1/50"), mt.Trees(2, max_leaf_nodes=3)),
    "weighted": (mt.tasks.WeightedError(), mt.Trees(2, min_weight_leaf=11)),
    "balanced": (mt.tasks.BalancedAccuracy(), mt.Trees(2)),
    "f1": (mt.tasks.F1(), mt.Trees(2, min_samples_leaf=5)),
    "parity": (
        mt.Accuracy(constraints=[mt.tasks.constraints.StatisticalParity("1/10")]),
        mt.Trees(2),
    ),
    "lists": (mt.Accuracy(split_penalty="1/100"), mt.RuleLists(max_length=3, min_samples_rule=7)),
}


@each_row("case", CASES)
def test_methods_find_the_same_optimum(case):
    task, space = CASES[case]
    problem = many(3, task, space, weights=case == "weighted")
    few = replace(problem, dataset=grouped(problem.dataset))
    assert few.dataset.n_rows < problem.dataset.n_rows
    methods = ["dp-lists", "corels"] if case == "lists" else ["enumerate", "dp"]
    methods = [m for m in methods if mt.registry.method(m).unsupported(problem) is None]
    for method in [*methods, "state-flow@highs"]:
        a, b = (mt.solve(p, method, time_limit=30) for p in (problem, few))
        assert a.status == b.status == mt.plugins.Status.OPTIMAL
        assert (a.value, a.bound, a.gap) == (b.value, b.bound, b.gap)


def test_the_rows_of_a_leaf_are_original_rows():
    from milp_trees.models.draw import leaf_counts

    problem = many(1, mt.Accuracy(), mt.Trees(1))
    tree = mt.solve(problem, "enumerate").tree
    few = grouped(problem.dataset)
    assert leaf_counts(tree, few).tolist() == leaf_counts(tree, problem.dataset).tolist()
    scores = [
        mt.solve(replace(problem, dataset=d), "enumerate", test_data=d).scores
        for d in (problem.dataset, few)
    ]
    assert scores[0] == scores[1]
    assert scores[0]["train_rows"] == 60


def test_a_measured_sum_is_rounded_as_on_all_rows():
    values = np.random.default_rng(0).normal(size=(5, 2))
    every = mt.Dataset(np.eye(5)[[0, 1, 2, 3, 4] * 7], values=values[[0, 1, 2, 3, 4] * 7])
    views = [
        mt.Problem(data, mt.tasks.ActionCostMatrix(), mt.Trees(2)).presolved_view()
        for data in (every, grouped(every))
    ]
    assert not views[0].exact
    assert views[0].offset == views[1].offset
    assert views[0].costs.tolist() == views[1].costs.tolist()


@pytest.mark.parametrize(
    "task",
    [
        mt.tasks.AUC(),
        mt.tasks.Matthews(),
        mt.tasks.CostSensitive(matrix=[[0, 1], [1, 0]], attributes=[]),
    ],
)
def test_a_task_that_needs_single_rows_says_so(task):
    with pytest.raises(Unsupported, match="is not defined on grouped rows"):
        mt.Problem(grouped(DATA), task, mt.Trees(1))


def test_what_needs_single_rows_refuses_grouped_ones(tmp_path):
    few = grouped(DATA)
    problem = mt.Problem(few, mt.Accuracy(), mt.Trees(1))
    with pytest.raises(DataError, match="Cross-validation needs every original row"):
        mt.choose_size(problem, max_leaf_nodes=2, folds=2)
    with pytest.raises(DataError, match="A file of rules needs every original row"):
        mt.write_rules(few, tmp_path / "rules.out")
    lists = mt.RuleLists(mt.Antecedents(min_support=Fraction(1, 4)), max_length=1)
    with pytest.raises(DataError, match="support or purity"):
        replace(problem, space=lists).presolved_view()
