"""Every field of every kind of stored result, changed one at a time: refused, or named among what
was not verified.
"""

import copy
import json
import math

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.data.load import load_split
from milp_trees.decisions.generated import DecisionData
from milp_trees.decisions.generated_problems import generated_problem
from milp_trees.mip.registry import registry
from milp_trees.problems.questions import ByPrice
from milp_trees.pruning.from_table import Growing, pruning_problem
from milp_trees.pruning.verification.curve import verify_curve
from milp_trees.results.json import SCHEMA
from milp_trees.solving.predict import predict_file
from milp_trees.tasks.constraints import constraint
from milp_trees.testing.sets import default_problems
from milp_trees.verification import verify


def plain(result):
    return json.loads(json.dumps(result.to_json()))


def table(folder, name="people.csv", rows=36):
    """Numbers, words, a group and a class."""
    rng = np.random.default_rng(4)
    path, age = folder / name, rng.integers(20, 70, rows)
    color, sex, y = (
        rng.choice(["red", "blue", "green"], rows),
        rng.integers(0, 2, rows),
        (age > 45) ^ (rng.random(rows) < 0.2),
    )
    lines = [
        f"{a},{c},{s},{'ill' if t else 'well'}"
        for a, c, s, t in zip(age, color, sex, y, strict=True)
    ]
    path.write_text("\n".join(["age,color,sex,state", *lines]) + "\n")
    return path


def of_a_formulation(folder):
    """With a start, test rows, a penalty, and thresholds that lose something."""
    train, test = load_split(
        table(folder), binarizer="quantiles:3", target="state", drop=["sex"], test_size=0.25, seed=2
    )
    problem = mt.Problem(train, mt.Accuracy(leaf_penalty="1/50"), mt.Trees(1))
    return plain(mt.solve(problem, "state-flow@highs", start="cart", test_data=test))


def with_constraints(folder):
    """A group, a capacity, weights in the objective."""
    data = mt.load(table(folder), target="state", group="sex")
    task = mt.tasks.WeightedError(
        class_weight={"ill": 3},
        constraints=(
            constraint("statistical-parity", max_disparity="0.3"),
            mt.tasks.Capacity("ill", 20),
        ),
    )
    return plain(mt.solve(mt.Problem(data, task, mt.Trees(1, min_samples_leaf=2)), "enumerate"))


def of_a_heuristic(folder):
    return plain(
        mt.solve(
            mt.Problem(
                mt.load("planted:rows=30,tests=4,depth=2,noise=0.2"), mt.tasks.F1(), mt.Trees(2)
            ),
            "cart",
        )
    )


def with_a_bound(folder):
    """Stopped before the proof: a tree that is not the best, and a bound below the optimum."""
    data = plain(
        mt.solve(
            mt.Problem(
                mt.load("planted:rows=30,tests=4,depth=2,noise=0.2"),
                mt.Accuracy(),
                mt.Trees(1),
            ),
            "cart",
        )
    )
    worst = plain(
        mt.solve(
            mt.Problem(
                mt.load("planted:rows=30,tests=4,depth=2,noise=0.2"),
                mt.Accuracy(),
                mt.Trees(0),
            ),
            "cart",
        )
    )
    low = data["objective"] - 2
    gap = {
        "bound": low,
        "bound_exact": f"{low}/1",
        "gap": (worst["objective"] - low) / worst["objective"],
        "proved_by": "gurobi 12",
    }
    root = {"root_bound": low - 1, "root_gap": (worst["objective"] - low + 1) / worst["objective"]}
    return {
        **data,
        **{k: worst[k] for k in ("predictor", "objective", "exact")},
        **gap,
        **root,
        "limit": "time",
        "method": "oct@gurobi",
    }


def infeasible(folder):
    return plain(
        mt.solve(
            mt.Problem(
                mt.load("planted:rows=20,tests=3"),
                mt.Accuracy(),
                mt.Trees(1, min_samples_leaf=30),
            ),
            "dp",
        )
    )


def of_areas(folder):
    return plain(
        mt.solve(
            mt.Problem(
                mt.load("planted:rows=30,tests=4,depth=2,noise=0.2"), mt.tasks.AUC(), mt.Trees(1)
            )
        )
    )


def of_decisions(folder):
    problem, test = generated_problem(
        DecisionData("two-roads", rows=12, test_rows=6, thresholds=3), 1
    )
    return plain(mt.solve(problem, "dp-oracle", test_data=test))


def of_a_pruning(folder):
    grown = pruning_problem("iris", Growing(trees=2, max_depth=2, test_size=0.3), lam="1/100")
    return plain(mt.solve(grown.problem, "ip3@highs", test_data=grown.test))


def of_a_curve(folder):
    grown = pruning_problem("iris", Growing(trees=2, max_depth=2))
    result = mt.solve(
        mt.Problem(grown.problem.dataset, grown.problem.task, grown.problem.space, ByPrice()),
        "min-cut",
    )
    of_run = {
        "method": result.method,
        "seconds": result.seconds,
        "times": dict(result.times),
        "sizes": dict(result.model_size),
    }
    curve = {
        "kind": "pruning-curve",
        "schema": SCHEMA,
        **result.curve.to_json(),
        "problem": result.problem.spec(),
        **of_run,
    }
    return json.loads(json.dumps({**curve, "budget": result.curve.below("3/2").to_json()}))


#: Fields of a result that nothing can recompute.
HISTORY = [
    "method", "limit", "proved_by", "checked", "agrees", "derived_by", "reference", "found_by",
    "transformation", "seconds", "times", "sizes", "nodes", "start", "message", "trace", "history", "options", "versions",
]  # fmt: skip
PARAMETERS, GROWN = "problem.data.binarizer.parameters", "problem.space.ensemble.source"
#: By name: what makes the result, its verdict, and what is not verified in it.
EXAMPLES = {
    "formulation": (of_a_formulation, "derived", [*HISTORY, PARAMETERS]),
    "constraints": (with_constraints, "derived", [*HISTORY, PARAMETERS]),
    "heuristic": (of_a_heuristic, "recomputed", HISTORY),
    "bound": (with_a_bound, "derived", HISTORY),
    "infeasible": (infeasible, "derived", HISTORY),
    "areas": (of_areas, "derived", HISTORY),
    "decisions": (of_decisions, "derived", HISTORY),
    "pruning": (of_a_pruning, "derived", [*HISTORY, GROWN]),
    "curve": (of_a_curve, "derived", ["method", "seconds", "times", "sizes", GROWN]),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("fields"), {}

    def make(name):
        if name not in found:
            found[name] = EXAMPLES[name][0](folder)
        return found[name]

    return make


def checked(data):
    return verify_curve(data) if data.get("kind") == "pruning-curve" else verify(data)


def leaves(value, place=()):
    """Places of everything that is no filled list or object; of long lists the first, the second
    and the last entry.
    """
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    inner = list(inner)
    if isinstance(value, list) and len(inner) > 6:
        inner = [*inner[:2], inner[-1]]
    if not inner:
        yield place
    for key, below in inner:
        yield from leaves(below, (*place, key))


def other(value):
    """Values of the same kind, of other kinds, and none."""
    if isinstance(value, bool):
        return [not value, "yes", None]
    if isinstance(value, (int, float)):
        return [
            value + 1,
            -value - 2,
            value * 1.5 + 0.25,
            math.nan,
            math.inf,
            10**400,
            str(value),
            None,
            [value],
        ]
    if isinstance(value, str):
        return [f"{value} too", "1/3", "1e9999999", "", "\x1b[2J\nVerdict: derived.", 5, None]
    return {None: [1, "x", True], "[]": [[1], ["x"], {}], "{}": [{"x": 1}, []]}[
        value if value is None else str(value)
    ]


def at(data, place):
    for key in place:
        data = data[key]
    return data


def changes(data, each=2):
    """(place, value, altered copy) for every place and some other values of it, in turn others."""
    for i, place in enumerate(leaves(data)):
        values = [v for v in other(at(data, place)) if v != at(data, place)]
        for value in [values[(each * i + k) % len(values)] for k in range(min(each, len(values)))]:
            altered = copy.deepcopy(data)
            at(altered, place[:-1])[place[-1]] = value
            yield place, value, altered


def listed(place, found):
    """Whether a place is among those that were not verified, or below one."""
    name = ".".join(map(str, place))
    return any(name == given or name.startswith(f"{given}.") for given in found.not_verified)


def passes(place, value, altered, original):
    """Why an altered result is rightly not refused, or None."""
    try:
        found = checked(altered)
    except mt.MilpTreesError as why:
        return "refused" if str(why).isprintable() else None  # other text would steer a terminal
    if listed(place, found):
        message = " ".join(found)  # what is only about the run is counted there
        assert str(place[0]) in message or "listed in not_verified" in message
        return "listed"
    if found.problem.fingerprint != original.problem.fingerprint:
        return "another problem, which is stated"
    # A bound without its exact form is a weaker claim, and a true one.
    return "less is claimed" if place == ("bound_exact",) and value is None else None


@each_row("name", EXAMPLES)
def test_the_verdict_and_what_is_not_verified_are_what_they_should_be(made, name):
    found = checked(made(name))
    _, verdict, not_verified = EXAMPLES[name]
    assert found.verdict.value == verdict, found[-1]
    assert list(found.not_verified) == not_verified
    assert found.sentences[-1].lower().startswith(verdict)
    stated = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert (stated["verdict"], stated["not_verified"]) == (verdict, list(found.not_verified))
    assert stated["problem"]["fingerprint"] == found.problem.fingerprint


SLOW = [
    pytest.param(n, marks=pytest.mark.slow) if n in ("constraints", "pruning", "curve") else n
    for n in EXAMPLES
]


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_whatever_is_changed_is_refused_or_named_as_not_verified(made, name):
    data = made(name)
    original = checked(data)
    tried = 0
    for place, value, altered in changes(data):
        tried += 1
        assert passes(place, value, altered, original), (
            f"{'.'.join(map(str, place))} = {value!r} passes in silence"
        )
    assert tried > 60


@pytest.mark.slow
@pytest.mark.parametrize("name", ["formulation", "curve"])
def test_whatever_is_left_out_is_noticed(made, name):
    data = made(name)
    original = checked(data)
    for place in {leaf[:i] for leaf in leaves(data) for i in range(1, len(leaf) + 1)}:
        altered = copy.deepcopy(data)
        del at(altered, place[:-1])[place[-1]]
        # A curve needs no budget, a result no proof or reference; what was guessed can be stated.
        found = ("problem", "data", "reading", "guessed")
        if place[:4] != found and place not in (("budget",), ("proof",), ("derived_by",)):
            assert passes(place, None, altered, original), (
                f"{'.'.join(map(str, place))} can be left out"
            )


def refusal(file, rows):
    """Why `predict` does not take a file, or nothing."""
    try:
        predict_file(file, rows)
    except mt.MilpTreesError as why:
        return str(why)
    return ""


@pytest.mark.parametrize("name", ["formulation", "pruning"])
def test_predict_reads_whatever_is_changed_or_gives_one_sentence(made, name, tmp_path):
    data, file = made(name), tmp_path / "r.json"
    rows = table(tmp_path) if name == "formulation" else "iris"
    for place, _, altered in changes(data):
        if place[0] in ("schema", "predictor", "sense", "objective", "problem"):
            file.write_text(json.dumps(altered))
            assert "\n" not in refusal(file, rows)


@pytest.mark.slow
def test_honest_results_of_every_method_stand():
    """On one problem per method and kind of task: what an exact method proves is derived by
    another, or by itself run anew.
    """
    names = [
        *registry.classes("methods"),
        "state-flow@highs",
        "ip3@highs",
        "spot@highs",
        "flow-oct@cbc",
    ]
    done = set()
    for problem in default_problems().values():
        for name in names:
            kind = (name, problem.task.name)
            if kind in done or registry.method(name).unsupported(problem):
                continue
            done.add(kind)
            result = mt.solve(problem, name, reference=None)
            found = verify(plain(result), problem.dataset)
            assert found.verdict is (
                mt.plugins.Verdict.DERIVED if found.claim else mt.plugins.Verdict.RECOMPUTED
            ), (kind, found[-1])
    assert len(done) > 60
