"""Closed gaps and numbers of trees: both checkers say the same about honest and damaged files."""

import copy
import json
import random
import re
from collections import Counter

import pytest
from proof_emitter import lines, proof
from proof_listed import count_of, gap_to, larger
from proof_mutants import MUTATIONS, restated
from proof_problems import Truth, drawn
from test_gap_proofs import CLOSED, fair, tree, with_sides

import milp_trees as mt
from milp_trees.common.errors import DataError, VerificationError
from milp_trees.verification import check_count, check_gap
from milp_trees.verification.checking import check_file
from milp_trees.verification.proof_reading import Wrong, unpacked
from milp_trees.verification.reference_checker import listing as slow_listing
from milp_trees.verification.reference_checker.check import check_slowly, count_slowly, main
from milp_trees.verification.reference_checker.reading import Refused


def accepted(check, text):
    """What a checker found, or None."""
    try:
        return check(text)
    except (Wrong, Refused):
        return None


def damaged(s, claims, rng):
    """Half of the files are damaged; whether this one is."""
    if rng.random() < 0.5:
        return False
    rng.choice(MUTATIONS)(s, claims, rng)
    if rng.random() < 0.8:
        restated(s, claims)
    return True


def closed_gap(rng):
    """A file that closes a gap, rightly or not, and whether it is damaged; None if there is none."""
    s = with_sides(rng)
    made, truth = proof(s, rng), Truth(s)
    found = [(truth.value(t), t) for t in (tree(rng, s, s["depth"]) for _ in range(60))]
    found = sorted((x for x in found if x[0] is not None), key=lambda x: x[0])
    if made is None or not found:
        return None
    s, claims = copy.deepcopy(made)
    s["value"], s["model"] = found[0] if rng.random() < 0.7 else rng.choice(found)
    changed = damaged(s, claims, rng)
    return [*lines(s, claims), CLOSED], changed


def counted(rng):
    """A file with a number of trees that is often wrong by one, and whether it is damaged."""
    s = drawn(rng, "trees") | {"side": [], "multipliers": [], "denominator": 1}
    made = proof(s, rng)
    if made is None:
        return None
    s, claims = copy.deepcopy(made)
    changed = damaged(s, claims, rng)
    last = {"allowance": s["bound"] + rng.randint(-1, 6), "trivial": rng.random() < 0.5}
    last["equal_tests"] = rng.choice(["all", "one"])
    try:  # what check_count says about a wrong number has the number in it
        check_count.check([*lines(s, claims), json.dumps({**last, "count": -1})])
    except Wrong as wrong:
        message = re.match(r"The number of trees is (\d+)", str(wrong))
        last["count"] = int(message[1]) if message else 0
    last["count"] += rng.choice([0, 0, 0, 1, -1])
    return [*lines(s, claims), json.dumps(last)], changed


def both(text, fast, slow):
    """What the two checkers found; AssertionError if one of them is wrong about the file."""
    quick, plain = accepted(fast, text), accepted(slow, text)
    if fast is check_gap.check:
        quick = quick and (quick.bound, quick.value)
    else:
        quick = quick and (quick.trees, quick.allowance, quick.optimum)
    claims = [json.loads(line) for line in text[1:-1]]
    if quick is None and any(len(claim) > 3 and claim[3] for claim in claims):
        return None  # the slow checker may see more in a claim that names another
    assert quick == (None if plain is None else tuple(plain)), "\n".join(text)
    return quick


@pytest.mark.parametrize(
    ("draw", "fast", "slow"),
    [(closed_gap, check_gap.check, check_slowly), (counted, check_count.check, count_slowly)],
)
def test_both_checkers_say_the_same(draw, fast, slow):
    seen = Counter()
    for seed in range(130):
        drawn_file = draw(random.Random(seed))
        if drawn_file is not None:
            text, changed = drawn_file
            seen[changed, both(text, fast, slow) is not None] += 1
    assert min(seen[x, y] for x in (False, True) for y in (False, True)) > 5, seen


def number(check, text):
    """The number of trees, or the least Z, that a checker finds in a file that is often wrong."""
    try:
        check(text)
    except (Wrong, Refused) as reason:
        message = re.search(r"(?:number of trees is|has Z of) (-?\d+)", str(reason))
        if message is None:
            raise
        return int(message[1])
    return json.loads(text[0])["value"]


def test_both_checkers_find_the_same_least_cost_in_open_gaps():
    open_gaps = 0
    for seed in range(45):
        rng = random.Random(seed)
        s = larger(rng, gap=True)
        text = gap_to(rng, [tree(rng, s, s["depth"]) for _ in range(40)], s)
        if text is not None:
            found = number(check_gap.check, text)
            assert found == number(check_slowly, text), seed
            open_gaps += found < json.loads(text[0])["value"]
    assert open_gaps > 10


def test_both_checkers_count_the_same():
    for seed in range(70):
        rng = random.Random(seed)
        text = count_of(rng, larger(rng, gap=False))
        assert number(check_count.check, text) == number(count_slowly, text), seed


def test_a_checker_that_forgets_trees_is_found_out(monkeypatch):
    """With an allowance that is too small by one, check_gap closes gaps that are open."""
    before = check_gap.Totals.__init__
    monkeypatch.setattr(
        check_gap.Totals,
        "__init__",
        lambda self, of, depth, leaves, allowance, *rest: before(
            self, of, depth, leaves, allowance - 1, *rest
        ),
    )
    files = filter(None, (closed_gap(random.Random(seed)) for seed in range(400)))
    with pytest.raises(AssertionError, match="closed"):
        Counter(both(text, check_gap.check, check_slowly) for text, _ in files)


def test_slowly_takes_the_files_of_methods(tmp_path, capsys, monkeypatch):
    closed = 0
    for seed in range(1, 8, 2):
        path = tmp_path / f"{seed}.proof"
        result = mt.solve(fair(seed, seed), "lagrangian", proof=path)
        found = check_file(path, slowly=True)
        assert found.proved
        assert found.value == check_file(path).value
        assert result.optimal
        closed += CLOSED in unpacked(path).decode()
    assert closed
    problem = mt.Problem(
        mt.load("planted:rows=30,tests=4,depth=2"),
        mt.Accuracy(),
        mt.Trees(2),
        question=mt.plugins.NearBest(slack=1),
    )
    path = tmp_path / "near.proof"
    count = mt.solve(problem, "near-best", proof=path).trees.count
    assert f"counted: {count} " in check_file(path, slowly=True).sentence
    assert main([str(path)]) == 0
    assert f"counted: {count} " in capsys.readouterr().out
    monkeypatch.setattr(slow_listing, "MOST", 3)
    assert main([str(path)]) == 2
    with pytest.raises(DataError, match="too many"):
        check_file(path, slowly=True)


@pytest.mark.parametrize(
    "last", ['{"closed": false}', '{"closed": 1}', '{"closed": true, "x": 1}', '{"x": true}']
)
def test_other_last_lines_are_refused_slowly(tmp_path, last):
    mt.solve(fair(3, 3), "lagrangian", proof=tmp_path / "p")
    text = [line for line in unpacked(tmp_path / "p").decode().split("\n") if line]
    check_slowly([*text[:-1], CLOSED])
    with pytest.raises(Refused):
        check_slowly([*text[:-1], last])
    without = json.dumps({**json.loads(text[0]), "model": None, "value": None})
    with pytest.raises(Refused, match="no tree to compare"):
        check_slowly([without, *text[1:-1], CLOSED])


def test_a_wrong_count_is_refused_slowly(tmp_path):
    s = drawn(random.Random(4), "trees") | {"side": [], "multipliers": [], "denominator": 1}
    s, claims = proof(s, random.Random(4))
    last = {"allowance": s["bound"] + 3, "count": -1, "trivial": True, "equal_tests": "all"}
    path = tmp_path / "p"
    path.write_text("\n".join([*lines(s, claims), json.dumps(last)]), encoding="utf-8")
    with pytest.raises(VerificationError, match="number of trees"):
        check_file(path, slowly=True)
