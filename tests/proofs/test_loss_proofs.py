"""Proofs about squared error: both checkers follow honest ones and refuse damage and lies."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from loss_problems import DAMAGES, LossTruth, damaged, honest, lies, lines, problem
from row_tests import each_row
from test_lock import edited, garbled

import milp_trees as mt
from milp_trees.common.errors import Unsupported, VerificationError
from milp_trees.data.dataset import BinaryFeature
from milp_trees.methods.loss_units import LossUnits
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.views import LeafSums
from milp_trees.verification import check_loss
from milp_trees.verification.check import verify_file
from milp_trees.verification.check_loss import Losses, check
from milp_trees.verification.checking import check_file
from milp_trees.verification.loss_proofs import loss_statement
from milp_trees.verification.proof_reading import Wrong, unpacked
from milp_trees.verification.reference_checker.losses import report_loss
from milp_trees.verification.reference_checker.reading import Refused

FOLDER = Path(check_loss.__file__).parent
SETS = (
    *("airfoil", "airquality", "enb-cool", "enb-heat", "insurance", "optical"),
    *("real-estate", "seoul-bike", "servo"),
)


def accepted(check, text):
    """What a checker found, or None."""
    try:
        return check(text)
    except (Wrong, Refused):
        return None


def test_proofs_of_random_problems_are_true_and_tight_and_both_checkers_follow_them():
    seen = Counter()
    for seed in range(60):
        made = honest(seed)
        if made is None:
            continue
        s, claims = made
        truth, found = LossTruth(s), check(lines(s, claims))
        assert found.proved, (seed, found.sentence)
        assert found[:3] == report_loss(lines(s, claims))[:3]
        best = truth.optimum()
        assert found.bound <= best <= found.value == truth.value(s["model"])
        double = Fraction(1, 2**90) * truth.scale * sum(truth.w) * max(y[0] ** 2 for y in truth.y)
        assert float(found.value - found.bound) <= 1.01e-9 * truth.whole + double
        assert not lies(s, claims)
        higher = [*claims[:-1], [int(best / truth.scale / truth.one) + 1, *claims[-1][1:]]]
        for refuse in (check, report_loss):
            assert accepted(refuse, lines({**s, "bound": higher[-1][0]}, higher)) is None
        seen.update([f"{len(truth.y[0])} targets", f"depth {s['depth']}"])
        seen["several claims"] += len(claims) > 1
        seen["weights"] += s["weights"] != "rows"
        seen["penalties"] += s["share"]
        seen["minima"] += bool(s["minima"])
    options = ["1 targets", "2 targets", "depth None", "depth 4", "several claims", "weights"]
    assert min(seen[option] for option in [*options, "penalties", "minima"]) > 2, seen


def test_a_damaged_proof_is_rejected_or_still_true():
    found = Counter()
    for seed in range(280):
        made = honest(seed % 47)
        if made is None:
            continue
        name, (s, claims) = damaged(made, seed)
        text = lines(s, claims)
        fast, slow = accepted(check, text), accepted(report_loss, text)
        if fast or slow:
            assert not lies(s, claims), f"seed {seed}, {name}: accepted, but false"
        if fast:
            assert slow, f"seed {seed}, {name}: the slow checker refuses what is accepted"
            assert fast[:3] == slow[:3]
        found[name, "accepted" if fast else "rejected"] += 1
    for change in DAMAGES:
        assert found[change.__name__, "rejected"], change.__name__


def test_a_malformed_proof_is_refused_with_a_sentence():
    """Random edits of values and characters: no other error, and nothing false is accepted."""
    for seed in range(150):
        rng, made = random.Random(seed), honest(seed % 40)
        if made is None:
            continue
        text = lines(*made)
        k = rng.choice([0, 0, rng.randrange(len(text))])
        text[k] = rng.choice([edited, garbled])(text[k], rng)
        fast, slow = accepted(check, text), accepted(report_loss, text)
        if fast or slow:
            s, *claims = map(json.loads, text)
            assert not lies(s, claims), text


def test_true_claims_lead_to_no_false_one():
    """Premises with their best bounds, with any limits and helps, show a rule that is too bold."""
    reached = 0
    for seed in range(30):
        rng, made = random.Random(seed), honest(seed)
        if made is None or made[0]["power"] < -200:
            continue
        s = made[0]
        truth, instance, held = LossTruth(s), check_loss.Stated(json.dumps(s), None).instance(), []
        for _ in range(12):
            tests = rng.sample(range(truth.F), min(truth.F, rng.choice([0, 1, 1, 2])))
            path, S = [rng.choice([f + 1, -f - 1]) for f in tests], truth.every
            for step in path:
                S = truth.parts(S, abs(step) - 1)[step > 0]
            depth, leaves = rng.choice([1, 2, 3, 4, None]), rng.choice([None, None, 2, 3, 5])
            most = min(len(S), depth or len(S)), min(len(S), leaves or len(S))
            best = truth.best(S, *most) if S else float("inf")
            if best == float("inf"):
                continue
            helps = rng.sample(range(len(held)), min(len(held), rng.randint(0, 2)))
            last = [0, None, []]  # the last claim is about all rows
            for bound in (int(best) + 1, max(0, int(best) - 10**4)):
                claim = [bound, depth, path, helps, leaves]
                with suppress(Wrong):
                    instance.follow([*held, claim, last], None)
                    assert bound <= best, f"seed {seed}: {s}\n{held}\n{claim}"
                    held.append(claim)
                    reached += 1
                    break
    assert reached > 100


def test_what_a_leaf_saves_is_never_less_than_the_exact_fraction():
    r = np.random.default_rng(0)
    for power in (-90, -3, 0, 20):
        X = [[0, 0], [0, 1], [1, 0], [1, 1]]
        w = np.array([1, 2, 3, 1], dtype=object)
        for size in (10, 2**40, 2**63, 2**90):
            # Powers are such that the loss has at most 2^48 units.
            least = 48 - int(size**2 * 8 - 1).bit_length()
            y = np.array([[int(x * size)] for x in r.random(4)], dtype=object)
            own = min(power, least)
            of = Losses(X, w, y, own)
            sums = of.weights.T @ (r.random((4, 50)) < 0.5)
            found = -of.saved(sums[1:])
            for k in range(50):
                parts = [int(x) for x in sums[2:, k]]
                t = sum(x * 2 ** (26 * (of.parts - 1 - j)) for j, x in enumerate(parts))
                exact = Fraction(t * t, max(1, int(sums[1, k]))) * Fraction(2) ** own
                assert exact <= found[k] <= exact + of.parts + 2


@each_row(("depth", "limits"), [(1, (None, 2)), (1, (5, 2)), (2, (2, 4)), (2, (2, None))])
def test_few_leaves_need_one_claim(depth, limits):
    proved = 0
    for seed in range(30):
        of = problem(seed)
        of = mt.Problem(of.dataset, of.task, mt.Trees(depth))
        result = mt.solve(of, "dp")
        view = of.view(LeafSums)
        claims = LossUnits(view, view.reduce()).single(view.objective(result.predictor), *limits)
        s = loss_statement(of, view, result, claims, [], rows=True)
        s |= {"depth": limits[0], "leaves": limits[1]}
        assert check(lines(s, claims.items)).proved, seed
        proved += s["model"] != 0
    assert proved > 10


# -- the nine public sets --------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [3, 4])
def test_the_public_sets_are_proved_with_small_files(data_folder, tmp_path, depth):
    for name in SETS:
        [file] = (data_folder / "regression").glob(f"{name}-binary.csv*")
        frame = pd.read_csv(file)
        data = mt.Dataset(frame.iloc[:, :-1].to_numpy(), targets=frame.iloc[:, -1:].to_numpy())
        of = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(depth))
        result = mt.solve(of, "dp", proof=tmp_path / "proof")
        found = check_file(tmp_path / "proof")
        assert found.proved, name
        assert found.value == result.value.exact
        assert found.value - found.bound <= Fraction(1, 10**8) * found.value
        assert result.proof["bytes"] < 100_000


# -- files -----------------------------------------------------------------------------------------

TABLE = "rain;sun;load;yield\n" + "".join(
    f"{i % 2};{i % 3 // 2};{1 + i % 4},5;{(7 * i) % 11},{i % 4}0\n" for i in range(24)
)


def of_table(tmp_path):
    """A problem whose targets and weights stand in a table with decimal commas."""
    file = tmp_path / "field.csv"
    file.write_text(TABLE, encoding="utf-8")
    frame = pd.read_csv(file, sep=";", decimal=",")
    source = {
        "path": str(file),
        "reading": {"sep": ";", "decimal": ","},
        "columns": {"target": "yield", "weights": "load"},
    }
    data = mt.Dataset(
        frame[["rain", "sun"]].to_numpy(),
        targets=frame[["yield"]].to_numpy(),
        target_names=["yield"],
        weights=frame["load"].to_numpy(),
        features=(BinaryFeature("rain"), BinaryFeature("sun")),
        source=source,
    )
    return mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(2)), file


def test_a_proof_names_its_table_and_the_checker_runs_alone(tmp_path):
    of, file = of_table(tmp_path)
    proof = tmp_path / "optimum.proof"
    result = mt.solve(of, "dp", proof=proof)
    s = json.loads(unpacked(proof).decode().splitlines()[0])
    assert s["targets"] == {"unit": "1/10", "columns": ["yield"]}
    assert s["weights"]["columns"] == ["load"]
    assert check_file(proof, file).value == result.value.exact
    assert check_file(proof, file, slowly=True).proved
    for name in ("check_loss.py", "check_proof.py", "proof_reading.py"):
        (tmp_path / name).write_text((FOLDER / name).read_text(), encoding="utf-8")
    command = [sys.executable, "check_loss.py", str(proof), str(file)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("proved: ")
    other = tmp_path / "other.csv"
    other.write_text(TABLE.replace("7,00", "9,00", 1), encoding="utf-8")
    for slowly in (False, True):
        with pytest.raises(VerificationError, match="does not hold"):
            check_file(proof, other, slowly)


def test_verify_says_proved_by_file_and_refuses_another_problem_s_proof(tmp_path):
    of = problem(4, largest=40)
    of = mt.Problem(of.dataset, mt.tasks.SquaredError(), mt.Trees(2))
    result = mt.solve(of, "dp", proof=tmp_path / "two.proof")
    file = tmp_path / "two.json"
    file.write_text(json.dumps(result.to_json()), encoding="utf-8")
    [found] = verify_file(file, of.dataset)
    assert found.words == "proved by file two.proof"
    assert "The squared error was added up again, one row after the other." in found.sentences
    stump = mt.solve(mt.Problem(of.dataset, mt.tasks.SquaredError(), mt.Trees(1)), "dp")
    other = mt.solve(
        mt.Problem(of.dataset, mt.tasks.SquaredError(), mt.Trees(4)), "dp", proof=tmp_path / "4"
    )
    assert other.value.number < result.value.number < stump.value.number
    file.write_text(json.dumps(other.to_json()), encoding="utf-8")
    with pytest.raises(VerificationError, match="does not hold for this result"):
        verify_file(file, of.dataset, proof=tmp_path / "two.proof")


def test_a_stored_value_that_is_not_that_of_the_tree_is_refused(tmp_path):
    of = problem(4, largest=40)
    stored = mt.solve(of, "dp").to_json()
    better = json.loads(json.dumps(stored))
    better["objective"] *= 0.999
    with pytest.raises(VerificationError):
        mt.verify(better, of.dataset)
    bound = json.loads(json.dumps(stored))
    bound["bound"] *= 0.9
    with pytest.raises(VerificationError):
        mt.verify(bound, of.dataset)


def test_dp_refuses_proofs_of_many_leaves_in_a_sentence(tmp_path):
    of = problem(1)
    view = of.view(LeafSums)
    assert isinstance(view, LossSums)
    from milp_trees.engines.dp.method import _few_leaves

    with pytest.raises(Unsupported, match="three levels or four leaves"):
        _few_leaves(view, view.reduce(), mt.Trees(4, max_leaf_nodes=6), 0)


@each_row(
    ("key", "value"),
    [
        ("kind", "trees"),
        ("leaf_penalty", "-1"),
        ("leaf_penalty", "1/3"),
        ("split_penalties", ["0"]),
        ("split_penalties", "1/0"),
        ("depth", -1),
        ("depth", 1.0),
        ("leaves", 0),
        ("power", 10**6),
        ("power", 200),
        ("share", 1),
        ("extra", 0),
        ("features", ["a"]),
        ("targets", {"unit": "1", "listed": [[0, 1]]}),
        ("targets", {"unit": "0", "listed": [[0, 1, 5]]}),
        ("targets", {"unit": "1", "listed": [[0, 1, 5.0]]}),
        ("targets", {"unit": "1", "listed": []}),
        ("weights", {"unit": "1", "listed": [[1, 1, -1]]}),
        ("weights", {"unit": "1", "listed": [[0, 0, 0]]}),
        ("weights", "cells"),
        ("minima", [{"least": 1, "amounts": {"listed": [1, -1, 1]}}]),
        ("predictions", [[0.5], []]),
        ("predictions", [[0.5, 1.0], [5.0]]),
        ("predictions", [[float("nan")], [5.0]]),
        ("model", [2, 0, 1]),
        ("model", [0, 0, 2]),
        ("model", [0, 0, True]),
        ("value", "1/3"),
        ("value", None),
        ("bound", 1),
    ],
)
def test_an_unsound_statement_is_refused(key, value):
    s = {
        "format": "milp-trees-proof", "version": 1, "kind": "squared error", "depth": 1,
        "leaves": None, "leaf_penalty": "0", "split_penalties": "0", "minima": [],
        "data": {"kind": "rows", "X": ["00", "01", "11"]}, "features": ["a", "b"],
        "targets": {"unit": "1", "listed": [[0, 1, 5]]}, "weights": "rows", "share": False,
        "power": 20, "predictions": [[0.5], [5.0]], "model": [0, 0, 1], "value": "1/2",
        "bound": 2**19 - 10,
    }  # fmt: skip
    claims = [[2**19 - 10, 1, []]]
    assert check(lines(s, claims)).bound == Fraction(2**19 - 10, 2**20)
    for refuse, error in ((check, Wrong), (report_loss, Refused)):
        if (key, value) == ("power", 200) and refuse is report_loss:
            continue  # nothing is rounded there, but the bound is another one
        with pytest.raises(error):
            refuse(lines({**s, key: value}, claims))


def test_the_checker_is_one_page():
    text = Path(check_loss.__file__).read_text(encoding="utf-8").splitlines()
    assert len(text) <= 300
    assert max(map(len, text)) <= 100
