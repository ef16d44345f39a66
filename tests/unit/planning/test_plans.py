"""A SPEC becomes a plan: names, products, keys, exclusions; a plan is the same after JSON."""

import json

import numpy as np
import pytest

from milp_trees.results.restore import problem_of
from milp_trees.studies.planning.lines import lines_of
from milp_trees.studies.planning.plan import Plan
from milp_trees.studies.planning.reading import read_plan

SPEC = """
title = "small"
[defaults]
time_limit = 5
seeds = [0, 1]

[[problems]]
name = "uci"
group = "classification"
data = ["iris", {generator = "planted", rows = [30, 40], seed = 1}]
binarize = ["quantiles:4"]
space = [{max_depth = [1, 2]}]

[[methods]]
name = "models"
formulations = ["flow-oct"]
solvers = ["highs"]
options = [{}, {presolve = "off"}]
starts = ["none", "cart"]

[[methods]]
labels = ["dp", "cart"]
seeds = 0

[[exclude]]
problem = "*/iris/*"
method = "flow-oct@*"
start = "cart"
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("spec") / "small.toml"
    path.write_text(SPEC)
    return read_plan(path)


def test_lists_are_products_and_names_tell_problems_apart(plan):
    assert [p.name for p in plan.problems] == [
        f"uci/{data}/depth={depth}"
        for data in ("iris", "planted:rows=30,seed=1", "planted:rows=40,seed=1")
        for depth in (1, 2)
    ]
    assert {p.group for p in plan.problems} == {"classification"}


def test_runs_are_problems_times_methods_starts_and_seeds(plan):
    """An engine takes no start; a table of methods goes before the defaults; exclusions count."""
    of_iris = [r for r in plan.runs if r.problem == "uci/iris/depth=1"]
    stated = {(r.method, r.options.get("presolve"), r.start, r.seed) for r in of_iris}
    models = {("flow-oct@highs", o, None, s) for o in (None, "off") for s in (0, 1)}
    assert stated == models | {("dp", None, None, 0), ("cart", None, None, 0)}
    assert len(plan.runs) == 2 * 6 + 4 * 10
    assert [r.number for r in plan.runs] == list(range(52))
    assert len({r.key for r in plan.runs}) == 52
    assert plan.notes == ("The exclusion at line 25 leaves out 8 runs.",)


def test_a_plan_is_the_same_after_json(plan):
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_a_plan_is_the_same_when_it_is_read_again(plan, tmp_path):
    path = tmp_path / "elsewhere.toml"
    path.write_text(SPEC)
    again = read_plan(path)
    assert again.runs == plan.runs


@pytest.mark.parametrize("kind", ["trees", "pruned"])
def test_a_permuted_problem_is_restored_from_its_row(kind, tmp_path):
    """Its rows and columns have another order, every row is still there, and JSON says which."""
    task = 'grow = {trees = 3, errors = "oob"}' if kind == "pruned" else 'binarize = "quantiles:3"'
    path = tmp_path / "one.toml"
    method = "min-cut" if kind == "pruned" else "dp"
    path.write_text(
        f'[[problems]]\nname = "p"\nkind = "{kind}"\ndata = "iris"\n{task}\n'
        f'[[methods]]\nlabels = ["{method}"]\npermutations = [0, 1]\n'
    )
    plan = read_plan(path)
    assert [r.permutation for r in plan.runs] == [0, 1]
    given, moved = (plan.problems[0].build(k)[0] for k in (0, 1))
    data = moved.dataset
    assert data.source["permutation"] == 1
    assert data.sha256 != given.dataset.sha256
    back = problem_of(json.loads(json.dumps(_described(moved))))
    assert back.dataset.sha256 == data.sha256
    from milp_trees import solve

    a, b = (solve(problem, method) for problem in (given, moved))
    assert a.value == b.value
    assert given.dataset.classes == data.classes
    assert np.bincount(data.y).tolist() == np.bincount(given.dataset.y).tolist()


def _described(problem):
    from milp_trees.results.json import json_safe

    return json_safe(problem.spec())


def test_lines_of_nested_values_are_found():
    text = 'a = 1 # [x]\n"b c" = [\n [1, 2], # one\n {d = "]", e = [\n3]}]\n[[t]]\n[[t]]\nk.l = """\n\n"""\nm = 2\n[t.u]\nn = []\n'
    found = lines_of(text)
    assert {path: line for path, line in found.items() if path} == {
        ("a",): 1,
        ("b c",): 2,
        ("b c", 0): 3,
        ("b c", 0, 0): 3,
        ("b c", 0, 1): 3,
        ("b c", 1): 4,
        ("b c", 1, "d"): 4,
        ("b c", 1, "e"): 4,
        ("b c", 1, "e", 0): 5,
        ("t",): 6,
        ("t", 0): 6,
        ("t", 1): 7,
        ("t", 1, "k"): 8,
        ("t", 1, "k", "l"): 8,
        ("t", 1, "m"): 11,
        ("t", 1, "u"): 12,
        ("t", 1, "u", "n"): 13,
    }


def test_a_comparison_has_the_keys_of_a_plan(plan):
    """So both find each other's rows in a store."""
    from milp_trees import compare

    problem, _ = plan.by_name["uci/planted:rows=30,seed=1/depth=1"].build()
    planned = {
        (r.method, r.start): r.key
        for r in plan.runs
        if r.problem == "uci/planted:rows=30,seed=1/depth=1" and not r.seed and not r.options
    }
    for start in (None, "cart"):
        methods = ["flow-oct@highs", "dp"] if start is None else ["flow-oct@highs"]
        study = compare(problem, methods, start=start, reference=None, time_limit=5)
        for row in study.rows:
            assert row["key"] == planned[row["method"], start]
