"""The checkers as locks: honest proofs open both, and no damaged or malformed proof opens one
unless it is still true. `python tests/proofs/proof_mutants.py 10000` tries more damage.
"""

import json
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from proof_emitter import lines, proof
from proof_mutants import MUTATIONS, lies, outcome, overclaimed
from proof_problems import Truth, drawn
from row_tests import each_row

from milp_trees.verification import check_proof
from milp_trees.verification.check_proof import Instance, check
from milp_trees.verification.proof_reading import Wrong
from milp_trees.verification.reference_checker import check as check_slowly
from milp_trees.verification.reference_checker.reading import Refused


def honest(seed):
    rng = random.Random(seed)
    return proof(drawn(rng), rng)


def test_both_checkers_accept_honest_proofs_of_all_options():
    seen = Counter()
    for seed in range(100):
        made = honest(seed)
        if made is None:
            continue
        s, claims = made
        verdict = check(lines(s, claims))
        assert (verdict.bound, verdict.value) == check_slowly.check_slowly(lines(s, claims))
        assert verdict.bound <= Truth(s).optimum()
        assert verdict.proved == (s["value"] == s["bound"])
        seen.update([s["kind"], f"depth {s['depth']}", f"minima {len(s['minima'])}"])
        seen.update(["leaves"] * (s["leaves"] is not None) + ["side"] * bool(s["side"]))
    options = {"trees", "lists", "depth None", "depth 4", "minima 2", "leaves", "side"}
    assert min(seen[option] for option in options) > 3


def best_models(part):
    """Of a part, and of both sides of every test: the best models of 1 to 4 leaves at most."""
    sides = part.children(np.arange(len(part.tests)))
    return np.array([part.small(), *sides[0], *sides[1]]).tolist()


@pytest.mark.parametrize("room", [0, 20])
def test_many_tests_have_the_same_best_models_as_all_pairs(room, monkeypatch):
    """Of thousands of tests only some are recomputed, and others are bounded by similarity."""
    found = Counter()
    for seed in range(150):
        made = honest(seed)
        if made is None:
            continue
        s, claims = made
        whole = check_proof.stated(lines(s, claims))[2]
        every = np.ones(len(whole.X), bool)
        part = check_proof.Part(whole, every)
        if not len(part.tests):
            continue
        at_once = best_models(part)
        with monkeypatch.context() as patch:
            patch.setattr(check_proof, "ROOM", room)
            part = check_proof.Part(whole, every)
            assert best_models(part) == at_once, seed
            assert check(lines(s, claims)).bound == s["bound"]
            claims[-1] = [claims[-1][0] + 1, *claims[-1][1:]]
            if s["value"] == s["bound"]:
                with pytest.raises(Wrong, match="does not follow"):
                    check(lines(s, claims))
        found[s["kind"]] += part.many
        found["minima"] += bool(whole.least)
        found["actions"] += len(part.W) - len(whole.least) > 2
        found["several"] += len(part.tests) > 3
    assert min(found[key] for key in ("trees", "lists", "minima", "actions", "several")) > 5


def test_thresholds_that_are_skipped_change_no_bound(monkeypatch):
    """Small steps between nested tests: most are skipped, with penalties and several actions."""
    looked = skipped = 0
    sums_of_pairs = check_proof.Part.sums_of_pairs

    def counted(self, g=...):
        nonlocal looked
        looked += 0 if g is ... else len(g)
        return sums_of_pairs(self, g)

    monkeypatch.setattr(check_proof.Part, "sums_of_pairs", counted)
    for seed in range(30):
        r = np.random.default_rng(seed)
        n, columns = int(r.integers(20, 60)), int(r.integers(1, 4))
        numbers = r.integers(0, 40, (n, columns))
        X = np.concatenate([x[:, None] <= np.unique(x)[:-1] for x in numbers.T], axis=1)
        costs = (
            r.integers(0, 1 + seed % 4, (n, 2 + seed % 3))
            + np.eye(2 + seed % 3, dtype=int)[(numbers[:, 0] > 20).astype(int)]
        )
        split = r.integers(0, 3, X.shape[1]) if seed % 2 else 0
        kind = "lists" if seed % 5 == 4 else "trees"
        whole = Instance(X, costs, seed % 3, split, kind=kind)
        rows = np.ones(len(whole.X), bool)
        batch = np.array([0, X.shape[1] // 3])
        monkeypatch.setattr(check_proof, "ROOM", 2**24)
        part = check_proof.Part(whole, rows)
        batch = batch[batch < len(part.tests)]
        at_once, children = part.small(), part.children(batch)
        monkeypatch.setattr(check_proof, "ROOM", 0)
        few = check_proof.Part(whole, rows)
        assert few.many
        assert not part.many
        before = looked
        assert (few.small() == at_once).all(), seed
        skipped += len(part.tests) - (looked - before)
        assert (few.children(batch) == children).all(), seed
    assert skipped > 100


def test_a_damaged_proof_is_rejected_or_still_true():
    found = Counter(outcome(seed) for seed in range(5_000, 5_600))
    for change in MUTATIONS:
        if change.__name__ not in ("test_left_out", "swapped"):  # mostly harmless
            assert found[change.__name__, "rejected"], change.__name__


def test_a_help_needs_no_more_levels_than_the_rows_can_use():
    """A limit of fourteen levels binds sixteen rows, but no fifteen of them."""
    rows = [f"{i:04b}{i == 0:d}" for i in range(16)]
    costs = [[0, 9] if row[:4].count("1") % 2 else [9, 0] for row in rows]
    costs[0] = [1, 0]
    s = {
        **{"format": "milp-trees-proof", "version": 1, "kind": "trees", "depth": 14},
        **{"leaves": None, "leaf_cost": 1, "split_costs": 0, "minima": []},
        **{"data": {"kind": "rows", "X": rows}, "features": list("abcde")},
        **{"costs": {"kind": "listed", "values": costs}, "side": [], "multipliers": []},
        **{"denominator": 1, "actions": ["even", "odd"], "offset": "0", "scale": "1"},
        **{"unit": "", "model": None, "value": None, "bound": 16},
    }
    parts = [[8, None, [sign * f]] for f in range(1, 5) for sign in (1, -1)]
    claims = [*parts, [16, 14, []], [15, 20, [-5], [8]], [16, 14, []]]
    assert check(lines(s, claims)).bound == check_slowly.check_slowly(lines(s, claims))[0] == 16
    claims[-2] = claims[-2][:3]  # it follows from this help alone
    with pytest.raises(Wrong, match="Claim 9"):
        check(lines(s, claims))


def test_true_claims_lead_to_no_false_one():
    """Premises with their best bounds, with any limits and helps, show a rule that is too bold."""
    assert all(overclaimed(seed) for seed in range(40))


def edited(text, rng):
    """A line of JSON with one value replaced, removed or doubled."""
    value = json.loads(text)
    places = []

    def walk(x):
        for key in x if isinstance(x, dict) else range(len(x)):
            places.append((x, key))
            if isinstance(x[key], (dict, list)):
                walk(x[key])

    walk(value)
    if places:
        x, key = rng.choice(places)
        wrong = [
            True,
            False,
            None,
            1.0,
            -1,
            10**30,
            "1",
            "",
            [],
            {},
            [[]],
            2**63,
            1e400,
            "a/b",
            "0/0",
        ]
        change = rng.randrange(3)
        if change == 0:
            del x[key]
        elif change == 1 and isinstance(x, dict):
            x[key + rng.choice("x ")] = x.get(key)
        else:
            x[key] = rng.choice(wrong)
    return json.dumps(value)


def garbled(text, rng):
    """A line with some characters lost, doubled or replaced."""
    for _ in range(rng.randint(1, 3)):
        k = rng.randrange(len(text) + 1)
        text = (
            text[:k]
            + rng.choice(["", '"', "[", "}", "9", "-", "e9", "\x00", "NaN"])
            + text[k + 1 :]
        )
    return text


def test_a_malformed_proof_is_refused_with_a_sentence():
    """Random edits of values and characters: no other error, and nothing false is accepted."""
    accepted = 0
    for seed in range(400):
        rng = random.Random(seed)
        made = honest(seed % 40)
        if made is None:
            continue
        text = lines(*made)
        k = rng.choice([0, 0, rng.randrange(len(text))])
        text[k] = rng.choice([edited, garbled])(text[k], rng)
        try:
            check(text)
        except Wrong:
            pass
        else:
            accepted += 1
            s, *claims = map(json.loads, text)
            assert not lies(s, claims), text
        with suppress(Refused):
            check_slowly.check_slowly(text)
    assert accepted < 100


@each_row(
    ("key", "value"),
    [
        ("leaf_cost", -1),
        ("leaf_cost", True),
        ("split_costs", [0, -1]),
        ("split_costs", "1"),
        ("depth", -1),
        ("depth", 2.0),
        ("leaves", 0),
        ("denominator", 0),
        ("multipliers", [0]),
        ("multipliers", ""),
        ("features", ["a"]),
        ("offset", "1/0"),
        ("offset", "1e999999999"),
        ("scale", "0"),
        ("scale", "9" * 1000),
        ("extra", 0),
        ("actions", "ab"),
        ("minima", [{"least": 1, "amounts": {"listed": [1, -1]}}]),
        ("costs", {"kind": "listed", "values": [[0, 2**52], [2**52, 0]]}),
        ("model", [2, 0, 1]),
        ("model", [-1, 0, 1]),
        ("model", [0, 0, True]),
        ("value", 1),
        ("bound", 1),
    ],
)
def test_an_unsound_statement_is_refused(key, value):
    s = drawn(random.Random(0), "trees") | {
        "depth": 1, "leaves": None, "leaf_cost": 0, "split_costs": 0, "minima": [], "side": [],
        "data": {"kind": "rows", "X": ["00", "11"]}, "features": ["a", "b"], "actions": ["k", "l"],
        "costs": {"kind": "listed", "values": [[0, 1], [1, 0]]}, "multipliers": [],
        "denominator": 1, "model": [0, 0, 1], "value": 0, "bound": 0,
    }  # fmt: skip
    assert check(lines(s, [[0, 1, []]])).proved
    for refuse, error in ((check, Wrong), (check_slowly.check_slowly, Refused)):
        with pytest.raises(error):
            refuse(lines({**s, key: value}, [[0, 1, []]]))


def test_a_table_is_read_with_missing_values_and_conjunctions(tmp_path):
    data = tmp_path / "table.csv"
    data.write_text(
        'made by hand\nage;job;ill\n1,5;"a;b";yes\n2,5;c;no\n\n;c;no\n', encoding="utf-8"
    )
    s = drawn(random.Random(0), "lists") | {
        "depth": 2, "leaves": None, "leaf_cost": 0, "split_costs": 1, "minima": [], "side": [],
        "data": {"kind": "table", "skip": 2, "names": ["age", "job", "ill"], "delimiter": ";",
                 "quote": '"', "encoding": "utf-8", "decimal": ",", "missing": [""], "gzip": False},
        "features": [[["age", "<=", 2, "no", True], ["job", "==", "c", None, False]]],
        "costs": {"kind": "matrix", "column": "ill", "classes": ["no", "yes"],
                  "matrix": [[0, 4], [4, 0]]},
        "actions": ["no", "yes"], "multipliers": [], "denominator": 1, "scale": "1/4",
        "model": {"rules": [[0, 1]], "default": 0}, "value": 1, "bound": 1, "unit": "errors",
    }  # fmt: skip
    verdict = check(lines(s, [[1, 2, []]]), data)
    assert verdict.sentence.startswith("proved: 0.25 (1/4)")
    assert check_slowly.check_slowly(lines(s, [[1, 2, []]]), data) == (1, 1)
    s["features"] = [[["age", "<=", 2, None, True]]]
    with pytest.raises(Wrong, match="missing"):
        check(lines(s, [[1, 2, []]]), data)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("split_costs", 2**51),
        ("costs", {"kind": "listed", "values": [[0, 2**51], [2**51, 0]]}),
        ("denominator", 2**51),
    ],
)
def test_numbers_that_are_too_large_are_refused(key, value):
    s, claims = next(made for made in map(honest, range(20)) if made and made[0]["split_costs"])
    with pytest.raises(Wrong):
        check(lines({**s, key: value}, claims))


def test_sums_that_might_not_be_exact_are_refused():
    with pytest.raises(Wrong, match="too large"):
        Instance([[0], [1]], [[0, 2**51], [2**51, 0]])


def test_a_wrong_claim_is_named():
    with pytest.raises(Wrong) as caught:
        Instance([[0], [1]], [[0, 1], [1, 0]]).follow([[0, 0, [1]], [1, 1, []]], 1)
    assert caught.value.claim == 1
    assert "Claim 1" in caught.value.sentence


def test_exit_codes(tmp_path, capsys):
    made = honest(3)
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text("\n".join(lines(*made)), encoding="utf-8")
    made[1][-1][0] += 1
    bad.write_text("\n".join(lines(*made)), encoding="utf-8")
    assert check_proof.main([str(good)]) == 0
    assert check_proof.main([str(bad)]) == 1
    assert check_proof.main([str(tmp_path / "none")]) == 2
    assert check_proof.main([]) in (1, 2)
    message = capsys.readouterr().out.splitlines()
    assert message[0].startswith("proved")
    assert message[1].startswith("rejected: ")


def test_the_checker_is_one_page():
    text = Path(check_proof.__file__).read_text(encoding="utf-8").splitlines()
    assert len(text) <= 300
    assert max(map(len, text)) <= 100
