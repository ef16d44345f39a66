"""Features of a proof's statement are compared with those of the problem before they are written.

Thresholds are compared by rank; the oracle here is the whole table that the checker reads.
"""

import gc
from collections import Counter
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.limits import collector_off
from milp_trees.data.ranked import RankedTests
from milp_trees.tasks.views import CostMatrix
from milp_trees.verification import proof_data, proof_reading
from milp_trees.verification.check_proof import check
from milp_trees.verification.same_answers import same_answers

#: Numbers at which reading and comparing may go wrong.
STRANGE = ["-0.0", "0", "1e-300", "-1e-300", "5e-324", "1e17", "0.1", "0.30000000000000004", "0.3"]
LARGE = [str(2**53 + k) for k in range(5)]


def written(r, path):
    """A file of numbers with ties and a column of texts, and the options that read it."""
    n, decimal = int(r.integers(6, 24)), [".", ","][r.integers(2)]
    pools = [[f"{x:.2f}" for x in r.normal(size=5)], STRANGE, LARGE, ["0", "1"], ["red", "green"]]
    columns = [[str(r.choice(pool)).replace(".", decimal) for _ in range(n)] for pool in pools]
    for column in columns[:2]:
        for i in np.flatnonzero(r.random(n) < 0.15 * r.integers(2)):
            column[i] = "NA"
    target = [f"c{k}" for k in [0, 1, *r.integers(0, 2, n - 2)]]
    rows = [["a", "b", "large", "flag", "colour", "y"], *zip(*columns, target, strict=True)]
    path.write_text("".join(";".join(row) + "\n" for row in rows))
    return {"sep": ";", "decimal": decimal}


def damaged(r, features, table):
    """The features with a fault that may or may not change an answer."""
    out = deepcopy(features)
    at = [f for f, x in enumerate(out) if x[0][1] == "<="]
    one = out[at[r.integers(len(at))]][0]
    numbers, gone = table.column(one[0])
    below = numbers[~gone & (numbers <= one[2])]
    kind = str(r.choice(["value", "ulp", "ulp above", "missing", "yes", "column", "swap", "far"]))
    if kind == "value":  # the answers stay
        one[2] = float(below.max(initial=-np.inf))
    elif kind == "ulp":
        one[2] = float(np.nextafter(below.max(initial=1.0), -np.inf))
    elif kind == "ulp above":
        one[2] = float(np.nextafter(one[2], np.inf))
    elif kind == "missing":
        one[3] = {"yes": "no", "no": None, None: "yes"}[one[3]]
    elif kind == "yes":
        one[4] = False
    elif kind == "column":
        one[0] = str(r.choice(["a", "b", "large", "flag", "y", "none"]))
    elif kind == "far":
        one[2] = [1e300, float("nan"), "0.5", 1e299, -1e299][r.integers(5)]
    else:
        f, g = r.choice(at, 2)
        out[f], out[g] = out[g], out[f]
    return kind, out


def answer(compare, *given):
    """What a comparison says; False where a feature cannot be read."""
    try:
        return bool(compare(*given))
    except (*proof_reading.FAULTS, proof_reading.Wrong):
        return False


def by_table(table, features, view):
    return np.array_equal(table.features(features), view.X)


def test_ranks_say_what_the_whole_table_says(tmp_path):
    seen = Counter()
    for seed in range(40):
        r = np.random.default_rng(seed)
        path = tmp_path / "t.csv"
        options = written(r, path)
        data = mt.load(path, target="y", binarizer="midpoints", **options)
        problem = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
        view = problem.view(CostMatrix)
        assert view.ranked is not None
        form = next(proof_data._forms(problem))
        features = [proof_data._literals(t) for t in view.features]
        table = proof_reading.Table(form, path)
        honest = answer(same_answers, table, features, view)
        assert honest == answer(by_table, table, features, view), seed
        seen[f"honest {honest}"] += 1
        if not any(x[0][1] == "<=" for x in features):
            continue
        for _ in range(25):
            kind, wrong = damaged(r, features, table)
            fast = answer(same_answers, table, wrong, view)
            assert fast == answer(by_table, table, wrong, view), (seed, kind)
            seen[f"{kind} {fast}"] += 1
    assert seen["honest True"] > 30
    assert min(seen[f"{kind} True"] for kind in ("value", "ulp above", "swap")) > 5, seen
    faults = ("ulp", "missing", "yes", "column", "swap", "far")
    assert min(seen[f"{kind} False"] for kind in faults) > 20, seen


@each_row(
    ("place", "given", "same"),
    [
        (2, 2.0, True),
        (2, float(np.nextafter(2.0, 1.0)), False),
        (2, 1e299, True),
        (2, 1e300, False),
        (2, True, False),
        (2, float("inf"), False),
        (3, "yes", True),
        (3, "perhaps", False),
        (0, 7, False),
    ],
)
def test_a_feature_that_the_checker_would_refuse_is_not_stated(tmp_path, place, given, same):
    """The second test is true on all rows, so that its answers alone do not betray a wrong form."""
    path = tmp_path / "t.csv"
    path.write_text("a\n0.5\n1\n2\n")
    form = {"kind": "table", "skip": 1, "names": ["a"], "delimiter": ",", "quote": None}
    form |= {"encoding": "utf-8", "decimal": ".", "missing": [], "gzip": False}
    table = proof_reading.Table(form, path)
    if given is True:  # it would be the number 1
        table.columns["a"] = ("0.5", "1", "1")
    if place == 0:  # a name that is no text
        table.columns[7] = table.columns["a"]
    codes = np.array([[0], [1], [1]])
    view = SimpleNamespace(ranked=RankedTests(codes, np.array([0, 0]), np.array([0, 1])))
    literal = ["a", "<=", 2.0, None, True]
    literal[place] = given
    features = [[["a", "<=", 0.75, None, True]], [literal]]
    assert answer(same_answers, table, features, view) == same
    view.X = view.ranked.dense
    assert answer(by_table, table, features, view) == same


@pytest.fixture
def numbers(tmp_path):
    """A file of three columns, in which ranks of the first are 0.5, 1.5 and so on."""
    r = np.random.default_rng(1)
    path = tmp_path / "numbers.csv"
    rows = [
        [f"{i % 20 + 0.5}", f"{x:.3f}", f"c{k}"]
        for i, x, k in zip(range(40), r.normal(size=40), r.integers(0, 2, 40), strict=True)
    ]
    path.write_text("".join(",".join(row) + "\n" for row in [["a", "b", "y"], *rows]))
    return path


@pytest.mark.parametrize(
    ("cell", "other", "kind"),
    [("4.5", "4.500", "table"), ("4.5", "5.0000001", "rows"), ("4.5", "4.9999999", "table")],
)
def test_a_file_with_other_answers_is_not_named_by_the_proof(numbers, cell, other, kind):
    """The cell's neighbours are the thresholds 4 and 5: beyond them the answers change."""
    data = mt.load(numbers, target="y", binarizer="midpoints")
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
    text = numbers.read_text()
    assert text.count(f"\n{cell},") == 2
    numbers.write_text(text.replace(f"\n{cell},", f"\n{other},", 1))
    proof = numbers.with_suffix(".proof")
    result = mt.solve(problem, "dp-sorted", proof=proof)
    verdict = check(proof_reading.unpacked(proof).decode().splitlines(), numbers)
    assert verdict.proved
    assert verdict.value == result.value.number
    assert proof_data.data_of(problem, problem.view(CostMatrix))["data"]["kind"] == kind


def test_no_table_of_rows_by_features_is_made(numbers):
    data = mt.load(numbers, target="y", binarizer="midpoints")
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
    mt.solve(problem, "dp-sorted", proof=numbers.with_suffix(".proof"))
    assert "dense" not in vars(problem.view(CostMatrix).ranked)
    assert "dense" not in vars(data.ranked)


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_is_as_before_even_after_an_error(on):
    was_on = gc.isenabled()
    (gc.enable if on else gc.disable)()
    try:
        with pytest.raises(AssertionError, match="inside"), collector_off():
            assert gc.isenabled(), "inside"
        assert gc.isenabled() == on
    finally:
        (gc.enable if was_on else gc.disable)()
