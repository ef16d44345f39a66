"""Problems and spaces: one right answer, limits said in sentences, views made once."""

import pickle

import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing import problem

X = [[0, 0], [0, 1], [1, 0], [1, 1]]
SPLIT = mt.Tree(
    mt.plugins.Branch(
        mt.BinaryFeature("0"),
        mt.plugins.Leaf(0),
        mt.plugins.Branch(mt.BinaryFeature("1"), mt.plugins.Leaf(0), mt.plugins.Leaf(1)),
    ),
    (0, 1),
)


@each_row(
    "space, words",
    [
        (mt.Trees(1), "depth 2; at most 1"),
        (mt.Trees(2, max_leaf_nodes=2), "3 leaves; at most 2"),
        (mt.Trees(2, min_samples_leaf=2), "A leaf holds 1 rows; at least 2"),
        (mt.Trees(2), None),
    ],
)
def test_limits_are_checked_on_the_tree(space, words):
    """One sentence per limit that is broken."""
    message = mt.Problem(mt.Dataset(X, y=[0, 1, 1, 0]), mt.Accuracy(), space).violations(SPLIT)
    assert not message if words is None else words in message[0]


def test_a_split_on_the_group_column_is_a_violation():
    """Unless the space allows it."""
    data = mt.Dataset(X, y=[0, 1, 1, 0], groups=[0, 0, 1, 1], group_column="0")
    assert "group column '0'" in mt.Problem(data, mt.Accuracy(), mt.Trees(2)).violations(SPLIT)[0]
    assert not mt.Problem(data, mt.Accuracy(), mt.Trees(2, split_on_group=True)).violations(SPLIT)


def test_side_constraints_are_violations_too():
    """The task's sentences follow the space's."""
    made = mt.Problem(
        mt.Dataset(X, y=[0, 1, 1, 0]),
        mt.Accuracy(constraints=(mt.tasks.Capacity(1, at_most=0),)),
        mt.Trees(1),
    )
    assert len(made.violations(SPLIT)) == 2


@each_row(
    "arguments",
    [
        {"max_depth": -1},
        {"max_depth": 1.5},
        {"max_depth": 1, "max_leaf_nodes": 0},
        {"max_depth": 1, "min_samples_leaf": 0},
    ],
)
def test_an_impossible_space_is_refused(arguments):
    """When it is made."""
    with pytest.raises(DataError, match="must be"):
        mt.Trees(**arguments)


def test_the_number_of_splits_follows_from_depth_and_leaves():
    """And a leaf limit that forbids nothing is none."""
    assert [s.max_splits for s in (mt.Trees(0), mt.Trees(2), mt.Trees(2, 3), mt.Trees(2, 9))] == [
        0,
        3,
        2,
        3,
    ]
    assert [mt.Trees(2, k).limits_leaves for k in (None, 3, 4)] == [False, True, False]


@each_row(
    ("make", "word"),
    [
        (
            lambda data: mt.Problem([[0], [1]], mt.Accuracy(), mt.Trees(1)),
            "dataset must be a Dataset",
        ),
        (lambda data: mt.Problem(data, "accuracy", mt.Trees(1)), "task must be a Task"),
        (lambda data: mt.Problem(data, mt.Accuracy(), 2), "space must be a Space"),
        (lambda data: mt.solve(data), "A Problem is needed"),
        (lambda data: mt.compare([data], ["dp"]), "A Problem is needed"),
    ],
)
def test_what_is_no_problem_gets_a_sentence(make, word):
    with pytest.raises(DataError, match=word):
        make(mt.Dataset([[0], [1]], y=["u", "v"]))


def test_a_view_is_made_once_per_problem():
    """Methods share it; a fresh problem makes its own."""
    made = problem("xor")
    assert made.view(CostMatrix) is made.view(CostMatrix)
    assert made.presolved_view() is made.presolved_view()
    assert made.without_views().view(CostMatrix) is not made.view(CostMatrix)


def test_the_description_names_task_space_and_data():
    """What results are stored with."""
    spec = mt.Problem(
        mt.Dataset(X, y=[0, 1, 1, 0], source={"path": "some.csv"}),
        mt.Accuracy(leaf_penalty="1/7"),
        mt.Trees(2, 3),
    ).spec()
    assert spec["task"] == {"name": "accuracy", "leaf_penalty": "1/7"}
    assert spec["space"] == {
        "name": "trees",
        "max_depth": 2,
        "max_leaf_nodes": 3,
        "min_samples_leaf": 1,
        "split_on_group": False,
    }
    assert (spec["question"], spec["data"]["path"], spec["data"]["rows"]) == ("best", "some.csv", 4)


def test_limits_of_the_named_problems_bind():
    """A problem about a limit would be worth nothing if the optimum without it were the same."""
    from dataclasses import replace

    from milp_trees.testing import brute_force

    sizes = ["min_leaf", "min_leaf_equal_rows", "max_leaves"]
    sides = [
        "randomising_leaf",
        "parity",
        "three_groups",
        "equalised_odds",
        "conditional_parity",
        "capacity",
        "capacity_from_below",
    ]
    for name in sizes + sides:
        made = problem(name)
        free = mt.Problem(
            made.dataset, replace(made.task, constraints=()), mt.Trees(made.trees.max_depth)
        )
        assert brute_force(free)[1].better_than(brute_force(made)[1]), name


def test_a_method_for_other_views_names_those_that_can():
    """The sentence names what the task offers and who takes it; of the default methods the one for
    such tasks explains itself.
    """
    data = mt.load("planted:rows=20,tests=3,depth=1")
    with pytest.raises(
        mt.errors.Unsupported,
        match=r"dp cannot take the task mcc \(views it offers: PairCounts\).*pareto",
    ):
        mt.solve(mt.Problem(data, mt.tasks.Matthews(), mt.Trees(max_depth=1)), "dp")
    with pytest.raises(mt.errors.Unsupported, match=r"pareto cannot take the task accuracy .* dp"):
        mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1)), "pareto")
    with pytest.raises(mt.errors.Unsupported, match="pareto needs a depth limit"):
        mt.solve(mt.Problem(data, mt.tasks.Matthews(), mt.Trees(max_depth=None)))


@each_row(
    "task",
    [
        mt.tasks.F1(),
        mt.tasks.Matthews(),
        mt.tasks.CohenKappa(leaf_penalty="1/50"),
        mt.tasks.AUC(),
        mt.Accuracy(),
    ],
)
def test_results_survive_pickling(task):
    """With every view made before; the copy is solved to the same value, and holds no view."""
    requested = mt.Problem(
        mt.load("planted:rows=40,tests=4,depth=2,noise=0.1"), task, mt.Trees(max_depth=2)
    )
    for kind in task.view_makers:
        requested.view(kind)
    result = mt.solve(requested)
    copy = pickle.loads(pickle.dumps(result))
    assert copy.problem.value(copy.predictor) == result.value == mt.solve(copy.problem).value
    assert pickle.loads(pickle.dumps(requested))._views == {}
    assert pickle.loads(pickle.dumps(requested.scale)).from_value(0) == requested.scale.from_value(
        0
    )


@each_row(
    "limits",
    [
        {"max_leaf_nodes": 2.5},
        {"min_samples_leaf": 0.1},
        {"min_samples_leaf": None},
        {"max_leaf_nodes": 0},
    ],
)
def test_limits_on_leaves_are_whole_numbers(limits):
    """No share of the rows, no fraction."""
    with pytest.raises(
        DataError, match=f"{next(iter(limits))} must be a whole number and at least 1"
    ):
        mt.Trees(max_depth=2, **limits)


def counted(monkeypatch, cls, name):
    """The calls of a method, which works as before."""
    calls, whole = [], getattr(cls, name)

    def call(self, *given):
        calls.append(given)
        return whole(self, *given)

    monkeypatch.setattr(cls, name, call)
    return calls


def test_an_answer_routes_the_rows_once_and_makes_its_costs_once(monkeypatch):
    """Value, limits and scores of the answer come from the same routes, of the answer itself."""
    data = mt.load("planted:rows=60,tests=6,depth=2,noise=0.2")
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
    routed = counted(monkeypatch, mt.Tree, "routes")
    made = counted(monkeypatch, mt.Accuracy, "cost_matrix")
    result = mt.solve(problem)
    assert [given for given in routed if given[0] is data] == [(data,)]
    assert len(made) == 1
    assert result.value == result.problem.value(result.tree)


def test_a_problem_keeps_the_routes_of_its_last_predictor_alone():
    problem = mt.Problem(mt.Dataset(X, y=[0, 1, 1, 0]), mt.Accuracy(), mt.Trees(1))
    zero, one = problem.space.simplest((0, 1))
    assert problem.routes(zero) is problem.routes(zero)
    assert problem.routes(one).action.tolist() == [1, 1, 1, 1]
    assert problem.routes(zero).action.tolist() == [0, 0, 0, 0]
    assert problem.value(one) == problem.value(problem.space.simplest((0, 1))[1])


def test_only_the_next_run_has_what_was_handed_over_without_what_others_derived():
    problem = mt.Problem(mt.Dataset(X, y=[0, 1, 1, 0]), mt.Accuracy(), mt.Trees(1))
    view = problem.view(mt.plugins.CostMatrix)
    view.memo["derived"] = 1
    problem.hand_over()
    fresh = problem.without_views()
    handed = fresh.view(mt.plugins.CostMatrix)
    assert handed.costs is view.costs
    assert handed is not view
    assert not handed.memo
    assert problem.without_views().view(mt.plugins.CostMatrix).costs is not view.costs
