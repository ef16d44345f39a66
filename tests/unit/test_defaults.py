"""Which method runs when none is named; what methods say about problems that they cannot take;
depths beyond all data.
"""

import re
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import Unsupported
from milp_trees.decisions.testing.problems import decision_problem
from milp_trees.mip.registry import registry
from milp_trees.problems.questions import ByPrice, BySize, Front, NearBest
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.results.result import Status
from milp_trees.solving import attempt
from milp_trees.solving.attempt import default_method, method_for_sizes
from milp_trees.tasks.constraints import Capacity, StatisticalParity


def data(
    rows: int = 24, tests: int = 4, classes: int = 2, seed: int = 0, weights: bool = False
) -> mt.Dataset:
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, rows - classes)])
    X = rng.integers(0, 2, (rows, tests)).astype(np.uint8)
    return mt.Dataset(
        X,
        y=y,
        weights=rng.integers(1, 4, rows).astype(float) if weights else None,
        groups=rng.integers(0, 2, rows),
    )


RULES = {
    "no rule": (),
    "capacity": (Capacity(action=1, at_most=9),),
    "parity": (StatisticalParity(max_disparity="1/4"),),
}
TASKS = {
    "accuracy": lambda rules: mt.Accuracy(constraints=rules),
    "negative split cost": lambda rules: mt.Accuracy(split_penalty="1/50", constraints=rules),
    "balanced": lambda rules: mt.tasks.BalancedAccuracy(constraints=rules),
    "f1": lambda rules: mt.tasks.F1(constraints=rules),
    "f1, penalty": lambda rules: mt.tasks.F1(leaf_penalty="1/50", constraints=rules),
    "recall floor": lambda rules: mt.tasks.Precision(min_recall="1/2", constraints=rules),
    "auc": lambda rules: None if rules else mt.tasks.AUC(),
    "mcc": lambda rules: None if rules else mt.tasks.Matthews(),
}
SPACES = {
    "depth 2": mt.Trees(2),
    "any depth": mt.Trees(None),
    "leaves": mt.Trees(2, 3),
    "rows": mt.Trees(2, min_samples_leaf=3),
    "weight": mt.Trees(2, min_weight_leaf=4),
    "rows and weight": mt.Trees(2, min_samples_leaf=2, min_weight_leaf=4),
    "all": mt.Trees(2, 3, min_samples_leaf=2, min_weight_leaf=4),
}


def grid():
    """Problems of every kind of task, side constraint, space and question, by name."""
    for kind, make in TASKS.items():
        for rules, given in RULES.items():
            task = make(given)
            for limits, space in SPACES.items():
                if task is not None:
                    yield (
                        f"{kind}, {rules}, {limits}",
                        mt.Problem(data(weights="weight" in limits), task, space),
                    )
    yield (
        "accuracy, near the best",
        mt.Problem(data(), mt.Accuracy(), mt.Trees(2), NearBest(slack=1)),
    )
    yield "accuracy, by size", mt.Problem(data(), mt.Accuracy(), mt.Trees(2), BySize(3))
    for name in ("grid", "grid-not-listed", "leaf-limit", "min-weight", "penalties"):
        yield f"decisions, {name}", decision_problem(name)
    not_listed = decision_problem("grid-not-listed")
    yield (
        "decisions, not listed, leaf limit",
        replace(not_listed, space=replace(not_listed.space, max_leaf_nodes=3)),
    )
    for name in ("figure-1", "knapsack", "regression"):
        yield f"pruning, {name}", EXAMPLES[name]()
    yield "pruning, path", replace(EXAMPLES["figure-1"](), question=ByPrice())


def all_methods() -> list[str]:
    return [
        *registry.classes("methods"),
        *(f"{name}@highs" for name in registry.classes("formulations")),
    ]


def test_the_default_method_takes_every_problem_that_some_method_proves():
    """Side constraints, leaf limits, penalties, decisions and prunings: if any exact method takes
    it, so does the default.
    """
    wrong = []
    for name, problem in grid():
        able = [
            m
            for m in map(registry.method, all_methods())
            if m.exact and m.unsupported(problem) is None
        ]
        chosen = default_method(problem)
        if able and registry.method(chosen).unsupported(problem) is not None:
            wrong.append(f"{name}: {chosen}, but {able[0].name} takes it")
    assert not wrong, "\n".join(wrong)


def test_nobody_is_sent_to_a_method_that_refuses_too():
    """`…; dp can.`: of the methods that a refusal names one takes the problem, where any exact
    method does.
    """
    wrong, names = [], all_methods()
    known = {n.split("@")[0] for n in names}
    for name, problem in grid():
        refusals = {n: why for n in names if (why := registry.method(n).unsupported(problem))}
        for method, why in refusals.items():
            advice = re.findall(
                r"(?:; |\. |use |Use )([^;.]*?)(?: can| take| takes|$|\.)", why.partition(method)[2]
            )
            sent = {
                word
                for part in advice
                for word in re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*(?:@[a-z]+)?", part)
            } & (known | set(names))
            sent = {n for n in names if n in sent or n.split("@")[0] in sent} - {method}
            if (
                sent
                and any(registry.method(n).exact for n in set(names) - set(refusals))
                and not sent - set(refusals)
            ):
                wrong.append(f"{name}: {method} says {why!r}")
    assert not wrong, "\n".join(wrong)


def test_side_constraints_are_solved_without_naming_a_method():
    result = mt.solve(
        mt.Problem(data(), mt.Accuracy(constraints=RULES["capacity"]), mt.Trees(2)),
        time_limit=20,
    )
    assert result.status is Status.OPTIMAL
    assert result.value.exact == mt.solve(result.problem, "enumerate").value.exact
    path = mt.size_path(result.problem, max_leaves=3, time_limit=20)
    assert path.at_leaves(3).value.exact >= result.value.exact


def test_too_many_tests_for_dp_go_to_dp_sorted(monkeypatch):
    """What dp would refuse when it runs, it says when it is asked."""
    from milp_trees.engines.dp import arrays

    monkeypatch.setattr(arrays, "MOST_BYTES", 2**20)
    problem = mt.Problem(data(60, 500), mt.Accuracy(), mt.Trees(1))
    assert "too many" in registry.method("dp").unsupported(problem)
    assert default_method(problem) == "dp-sorted"
    assert mt.solve(problem).method == "dp-sorted"
    frame = pd.DataFrame(np.random.default_rng(0).random((60, 10)))
    ranked = mt.Binarizer(kind="midpoints").dataset(frame, data(60).y)
    assert default_method(mt.Problem(ranked, mt.Accuracy(), mt.Trees(1))) == "dp-sorted"


def test_the_method_for_sizes_answers_all_at_once_or_takes_the_leaf_limit():
    problem = mt.Problem(data(), mt.Accuracy(), mt.Trees(2))
    assert method_for_sizes(problem, 3) == "dp-sizes"
    with_rule = replace(problem, task=mt.Accuracy(constraints=RULES["capacity"]))
    assert (
        registry.method(method_for_sizes(with_rule, 3)).unsupported(
            replace(with_rule, space=mt.Trees(2, 3))
        )
        is None
    )


# -- depths ------------------------------------------------------------------------------------------------------

DEEP = {
    "accuracy": lambda depth: mt.Problem(data(12), mt.Accuracy(), mt.Trees(depth)),
    "penalty": lambda depth: mt.Problem(
        data(12), mt.Accuracy(leaf_penalty="1/20"), mt.Trees(depth)
    ),
    "leaves": lambda depth: mt.Problem(data(12), mt.Accuracy(), mt.Trees(depth, 4)),
    "f1": lambda depth: mt.Problem(data(12), mt.tasks.F1(leaf_penalty="1/20"), mt.Trees(depth)),
    "auc": lambda depth: mt.Problem(data(12), mt.tasks.AUC(), mt.Trees(depth)),
    "mcc": lambda depth: mt.Problem(data(12), mt.tasks.Matthews(), mt.Trees(depth)),
    "decisions": lambda depth: replace(decision_problem("grid"), space=mt.Trees(depth)),
}


@each_row("depth", [61, 10**6, 10**20])
@each_row("kind", DEEP)
def test_every_method_answers_at_once_whether_it_takes_a_huge_depth(kind, depth):
    for name in all_methods():
        method = registry.method(name)
        if name == "state-flow@highs":
            method.warm_up()
        began = time.process_time()
        why = method.unsupported(DEEP[kind](depth))
        assert why is None or len(why) < 500
        assert time.process_time() - began < 1, name


@each_row("kind", DEEP)
def test_a_huge_depth_has_the_optimum_of_the_depth_that_rows_can_fill(kind):
    """Whoever takes it finds, on twelve rows and four tests, what depth 4 has: a path has no use
    for a test twice.
    """
    expected = mt.solve(DEEP[kind](4)).value
    found = 0
    for name in registry.classes("methods"):
        method, problem = registry.method(name), DEEP[kind](10**20)
        if method.unsupported(problem) is None and method.exact:
            found += 1
            result = mt.solve(problem, name, time_limit=20)
            assert result.status is Status.OPTIMAL, (name, result.message)
            assert result.value.number == pytest.approx(expected.number), name
    assert found


@each_row("depth", [-1, -(10**20), 1.5, float("nan"), float("inf"), "3", True])
def test_what_is_no_depth_is_refused_in_one_sentence(depth):
    with pytest.raises(
        mt.DataError, match="max_depth must be a whole number of at least 0"
    ) as caught:
        mt.Trees(depth)
    assert str(caught.value).count(".") <= 2
    assert "\n" not in str(caught.value)


# -- columns without a test, ratios without a denominator ---------------------------------------------------------


@each_row(
    "task",
    [mt.Accuracy(), mt.tasks.F1(), mt.tasks.AUC(), mt.tasks.Matthews()],
)
@each_row("depth", [0, 1, 3])
def test_constant_columns_leave_a_single_leaf(task, depth):
    """Every method that takes a table without a single test gives the best leaf."""
    frame = pd.DataFrame({"a": np.full(12, 5.0), "b": np.full(12, 7.5)})
    problem = mt.Problem(
        mt.Binarizer(kind="midpoints").dataset(frame, [0, 1] * 4 + [1] * 4), task, mt.Trees(depth)
    )
    assert problem.dataset.n_features == 0
    values = set()
    for name in registry.classes("methods"):
        if registry.method(name).unsupported(problem) is None:
            result = mt.solve(problem, name)
            values.add(round(result.value.number, 9))
            assert result.tree.n_leaves == 1, name
    assert len(values) == 1


def test_a_ratio_is_refused_only_if_a_tree_divides_by_zero():
    """True negatives over true positives: infinite where a tree parts the classes, and a problem
    like any other where none can.
    """
    task = mt.tasks.CountRatio(numerator={"FP": 1}, denominator={"TP": 1})
    parts, mixes = (
        mt.Dataset([[0], [0], [1], [1]], y=[0, 0, 1, 1]),
        mt.Dataset([[0], [0], [1], [1]], y=[0, 1, 0, 1]),
    )
    for name in ("dp", "enumerate", "cart"):
        result = mt.solve(mt.Problem(mixes, task, mt.Trees(1)), name)
        assert result.value.exact == 1
        assert result.status is (Status.FEASIBLE if name == "cart" else Status.OPTIMAL)
        assert mt.solve(mt.Problem(parts, task, mt.Trees(0)), name).value.exact == 1
    for name in ("dp", "enumerate"):
        with pytest.raises(mt.DataError, match="divides by zero: a tree has the numerator 2"):
            mt.solve(mt.Problem(parts, task, mt.Trees(1)), name)


def test_the_choice_does_not_wait_for_an_enumeration(monkeypatch):
    """No time limit holds yet when the default is chosen; a formulation that would enumerate for
    long gives way to the next.
    """
    from milp_trees.engines.hypergraph import all_states as states

    problem = mt.Problem(data(), mt.Accuracy(constraints=RULES["capacity"]), mt.Trees(2))
    assert default_method(problem) == "lagrangian"
    for kind, name in (("methods", "lagrangian"), ("formulations", "state-flow-reduced")):
        monkeypatch.setattr(registry.classes(kind)[name], "default_rank", None)
    assert default_method(problem) == "state-flow@highs"

    def endless(*_):
        end = time.perf_counter() + 30
        while time.perf_counter() < end:
            pass

    monkeypatch.setattr(states, "enumerate_states", endless)
    began = time.perf_counter()
    assert default_method(replace(problem)) == "flow-oct@highs"
    assert time.perf_counter() - began < 15


def test_a_list_with_side_rows_is_found_by_states_however_long_their_choice_takes(monkeypatch):
    """The position model answers at once that it takes a problem, and then hardly proves anything."""
    monkeypatch.setattr(attempt, "CHOOSING", 1e-9)
    task = mt.Accuracy(constraints=RULES["parity"])
    problem = mt.Problem(data(60, 12), task, mt.RuleLists(max_length=7))
    assert default_method(problem) == "state-flow-reduced@highs"


@pytest.mark.parametrize("task", [mt.Accuracy(), mt.tasks.F1()])
def test_a_front_of_lists_is_refused_by_a_method_for_lists(task):
    problem = mt.Problem(data(), task, mt.RuleLists(max_length=2), Front())
    with pytest.raises(Unsupported) as error:
        mt.solve(problem)
    assert "searches trees" not in str(error.value)
    assert "front" in str(error.value)
