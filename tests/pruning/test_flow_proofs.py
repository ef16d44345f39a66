"""Proofs of prunings: the flow is checked, and damage is rejected or leaves a true bound."""

import json
import random
from dataclasses import replace
from itertools import chain, combinations
from types import SimpleNamespace

import pytest
from row_tests import each_row
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.errors import MilpTreesError, Unsupported, VerificationError
from milp_trees.methods.claims import Claims
from milp_trees.mip.registry import registry
from milp_trees.problems.questions import ByPrice
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.pruning.verification.check_flow import check, main
from milp_trees.pruning.verification.statement import pruning_statement
from milp_trees.verification.checking import check_file
from milp_trees.verification.proof_reading import Wrong, unpacked

PROVABLE = [
    name for name in EXAMPLES if registry.method("min-cut").unsupported(EXAMPLES[name]()) is None
]


def written(name, tmp_path, method="min-cut"):
    result = mt.solve(EXAMPLES[name](), method, proof=tmp_path / "p")
    return result, unpacked(tmp_path / "p").decode().split("\n")


def below(s, rank):
    return {h for h, own in enumerate(s["rank"]) if own < rank}


def totals(s, kept):
    """Errors and prices of a pruning."""
    bought = {u for h in kept for u in s["needs"][h]}
    while more := {v for u, v in s["above"] if u in bought} - bought:
        bought |= more
    E = s["root_error"] - sum(s["gain"][h] for h in kept)
    C = sum(s["keep_cost"][h] for h in kept) + sum(s["price"][u] for u in bought)
    return E, C


def worth(s, kept, a, b):
    E, C = totals(s, kept)
    return a * E + b * C


def best(s):
    """The least cost of all prunings, one after the other."""
    inner = [
        h for h in range(len(s["parent"])) if s["gain"][h] or s["keep_cost"][h] or s["needs"][h]
    ]
    for h in inner:  # the list grows by parents, and by theirs
        if s["parent"][h] >= 0 and s["parent"][h] not in inner:
            inner.append(s["parent"][h])
    found = []
    for keep in chain.from_iterable(combinations(inner, k) for k in range(len(inner) + 1)):
        kept = set(keep)
        if any(s["parent"][h] >= 0 and s["parent"][h] not in kept for h in kept):
            continue
        found.append(worth(s, kept, s["errors_count"], s["prices_count"]))
    return min(found)


@each_row("name", PROVABLE)
@each_row("method", ["min-cut", "dantzig-wolfe", "dantzig-wolfe:merge=off"])
def test_honest_proofs_are_accepted(name, method, tmp_path):
    result, lines = written(name, tmp_path, method)
    verdict = check(lines)
    s = json.loads(lines[0])
    assert verdict.proved
    if len(s["parent"]) <= 25:
        assert verdict.bound == best(s)
    assert check_file(tmp_path / "p").proved
    assert mt.verify(result, proof=tmp_path / "p").words == "proved by file p"


def test_the_oracle_reaches_gains_far_below_the_root():
    chain = {"parent": [-1, 0, 1], "gain": [0, 0, 5], "keep_cost": [0, 0, 0], "needs": [[], [], []]}
    rest = {"price": [], "above": [], "root_error": 9, "errors_count": 1, "prices_count": 0}
    assert best(chain | rest) == 4


def damaged(lines, rng):
    """The lines of a proof with one number changed, or one flow left out or doubled."""
    s, *flow = [json.loads(line) for line in lines if line]
    kind = rng.choice(["amount", "place", "left out", "twice", "gain", "price", "need", "better"])
    if kind in ("amount", "place", "left out", "twice") and not flow:
        kind = "gain"
    if kind == "amount":
        rng.choice(flow)[-1] += rng.choice([-1, 1, 5])
    elif kind == "place":
        line = rng.choice(flow)
        line[rng.randrange(len(line) - 1)] += rng.choice([-1, 1])
    elif kind == "left out":
        flow.pop(rng.randrange(len(flow)))
    elif kind == "twice":
        flow.append(rng.choice(flow))
    elif kind == "better":
        s["bound"] += 1
    elif kind == "need" and any(s["needs"]):
        rng.choice([needs for needs in s["needs"] if needs]).pop()
    else:
        key = {"gain": "gain", "price": "price"}.get(kind, "keep_cost")
        if s[key]:
            s[key][rng.randrange(len(s[key]))] += rng.choice([-1, 1, 3])
    return s, flow


def test_damage_is_rejected_or_the_bound_is_still_true(tmp_path):
    rejected = accepted = 0
    small = []
    for name in PROVABLE:
        _, lines = written(name, tmp_path)
        if len(json.loads(lines[0])["parent"]) <= 15:
            small.append(lines)
    for seed in range(1500):
        rng = random.Random(seed)
        s, flow = damaged(rng.choice(small), rng)
        s["keep"] = s["value"] = None if rng.random() < 0.7 else s["keep"]
        try:
            bound = check([json.dumps(line) for line in (s, *flow)]).bound
        except Wrong:
            rejected += 1
            continue
        accepted += 1
        assert bound <= best(s), seed
    assert rejected > 500
    assert accepted > 20


def test_a_proof_of_another_ensemble_is_refused(tmp_path):
    written("groups", tmp_path)
    other = mt.solve(EXAMPLES["figure-1"](), "min-cut")
    with pytest.raises(VerificationError, match="does not hold"):
        mt.verify(other, proof=tmp_path / "p")


def test_a_result_without_a_pruning_has_no_proof():
    problem = EXAMPLES["groups"]()
    stopped = SimpleNamespace(predictor=None, value=None, curve=None)
    with pytest.raises(Unsupported, match="no pruning"):
        pruning_statement(problem, stopped, Claims([]))


def test_a_budget_has_no_flow():
    with pytest.raises(MilpTreesError, match="budget"):
        mt.solve(EXAMPLES["two-items"](), "min-cut", proof="p")


def test_the_commands(tmp_path, capsys):
    runner, proof, out = CliRunner(), tmp_path / "p.proof", tmp_path / "r.json"
    words = ["prune", "iris", "--trees", "2", "--depth", "3", "--out", str(out)]
    done = runner.invoke(app, [*words, "--lambda", "0.02", "--proof", str(proof)])
    assert done.exit_code == 0, done.output
    assert runner.invoke(app, ["check", str(proof)]).stdout.startswith("proved: ")
    assert "proved by file p.proof" in runner.invoke(app, ["verify", str(out)]).stdout
    wrong = runner.invoke(app, [*words, "--budget", "1", "--exact", "--proof", str(proof)])
    assert "leave out --exact" in wrong.stderr
    assert main([str(proof)]) == 0
    assert main([str(out)]) == 2
    assert capsys.readouterr().out.startswith("proved: ")


def test_a_whole_curve_is_one_proof(tmp_path):
    runner, proof, out = CliRunner(), tmp_path / "c.proof", tmp_path / "c.json"
    words = ["prune", "iris", "--trees", "3", "--depth", "3", "--out", str(out)]
    done = runner.invoke(app, [*words, "--budget", "1", "--proof", str(proof)])
    assert done.exit_code == 0, done.output
    message = runner.invoke(app, ["check", str(proof)]).stdout
    stored = json.loads(out.read_text())
    assert message.startswith(f"proved: {len(stored['vertices'])} prunings")
    shown = runner.invoke(app, ["verify", str(out)])
    assert "proved by file c.proof" in shown.stdout, shown.stderr
    one = [*words[:-1], str(tmp_path / "o.json"), "--lambda", "0.02", "--proof", str(proof)]
    assert runner.invoke(app, one).exit_code == 0
    assert "does not hold" in runner.invoke(app, ["verify", str(out)]).stderr


def curve_lines(name, tmp_path):
    problem = replace(EXAMPLES[name](), question=ByPrice())
    result = mt.solve(problem, "min-cut", proof=tmp_path / "c")
    assert result.proof is not None, result.message
    return result.curve, [json.loads(x) for x in unpacked(tmp_path / "c").decode().split("\n") if x]


@each_row("name", PROVABLE)
def test_every_corner_of_a_proven_curve_is_a_best_pruning(name, tmp_path):
    curve, lines = curve_lines(name, tmp_path)
    assert check(map(json.dumps, lines)).value == len(curve.vertices)
    s = lines[0]
    if len(s["parent"]) <= 25:
        for corner in curve.vertices:
            price, unit = (
                corner.lambda_from * curve.view.cost_unit / curve.view.error_unit
            ).as_integer_ratio()
            E, C = curve.view.totals(curve.keep(corner.lambda_from))
            assert unit * E + price * C == best({**s, "errors_count": unit, "prices_count": price})


def test_a_result_with_a_curve_is_proved_by_the_file_of_the_curve(tmp_path):
    problem = replace(EXAMPLES["groups"](), question=ByPrice())
    result = mt.solve(problem, "min-cut", proof=tmp_path / "c")
    assert mt.verify(result, proof=tmp_path / "c").words == "proved by file c"
    other = mt.solve(replace(EXAMPLES["figure-1"](), question=ByPrice()), "min-cut")
    with pytest.raises(VerificationError, match="does not hold for this curve"):
        mt.verify(other, proof=tmp_path / "c")
    mt.solve(EXAMPLES["groups"](), "min-cut", proof=tmp_path / "one")
    with pytest.raises(VerificationError, match="does not hold for this curve"):
        mt.verify(result, proof=tmp_path / "one")


def damaged_curve(lines, rng):
    """The lines of the proof of a curve with one number changed, or one flow left out."""
    s, *rest = lines
    kind = rng.choice(["rank", "flow", "left out", "gain", "price", "root"])
    if kind == "rank":
        s["rank"][rng.randrange(len(s["rank"]))] += rng.choice([-1, 1])
    elif kind == "left out":
        rest.pop(rng.randrange(len(rest)))
    elif kind == "root":
        s["root_error"] += 1
    elif kind in ("gain", "price") and s[kind]:
        s[kind][rng.randrange(len(s[kind]))] += rng.choice([-1, 1])
    else:
        rng.choice(rest)[-1] += rng.choice([-1, 1])
    return [s, *rest]


def test_a_damaged_curve_is_rejected_or_still_true(tmp_path):
    """A curve is true if each of its prunings is a best one at both ends of its interval."""
    small = [curve_lines(n, tmp_path)[1] for n in PROVABLE]
    small = [lines for lines in small if len(lines[0]["parent"]) <= 15 and len(lines) > 3]
    rejected = accepted = 0
    for seed in range(1200):
        rng = random.Random(seed)
        s, *rest = damaged_curve(json.loads(json.dumps(rng.choice(small))), rng)
        try:
            count = check(map(json.dumps, (s, *rest))).value
        except Wrong:
            rejected += 1
            continue
        accepted += 1
        top = max(s["rank"])
        E, C = zip(*(totals(s, below(s, top - i)) for i in range(count)), strict=True)
        assert C[-1] == 0
        # At the weights of two neighbours both are best, and at the ends the first or the last one.
        pairs = [(C[i - 1] - C[i], E[i] - E[i - 1]) for i in range(1, count)]
        for a, b in [(1, 0), *pairs, (1, sum(s["gain"]) + 1)]:
            alone = best({**s, "errors_count": a, "prices_count": b})
            assert min(a * x + b * y for x, y in zip(E, C, strict=True)) == alone, seed
    assert rejected > 600
    assert accepted > 20
