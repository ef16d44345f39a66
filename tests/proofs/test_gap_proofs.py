"""Gaps that multipliers leave: closed for every optimum, and for no tree that is not one."""

from __future__ import annotations

import json
import random
from collections import Counter

import numpy as np
import pytest
from proof_emitter import lines, proof
from proof_problems import Truth, drawn

import milp_trees as mt
from milp_trees.tasks.constraints import EqualisedOdds, EqualOpportunity, StatisticalParity
from milp_trees.verification.check_gap import check, main
from milp_trees.verification.checking import check_file
from milp_trees.verification.proof_reading import Wrong, unpacked

CLOSED = '{"closed": true}'


def with_sides(rng):
    """A statement about trees with one or two side rows, and multipliers for them."""
    while True:
        s = drawn(rng, "trees")
        if s["side"]:
            break
    s["leaves"] = rng.choice([None, None, 1, 2, 3, 4, 5, 6])
    if rng.random() < 0.4:
        n, K = len(s["data"]["X"]), len(s["actions"])
        coefs = [[rng.randint(-2, 2) for _ in range(K)] for _ in range(n)]
        form = {"kind": "listed", "values": coefs}
        s["side"].append({"name": "two", "coefs": form, "lower": -1, "upper": n // 2})
        s["multipliers"].append(rng.randint(-2, 2))
    return s


def tree(rng, s, depth):
    """A random tree, as in a proof file."""
    if depth == 0 or rng.random() < 0.3:
        return rng.randrange(len(s["actions"]))
    f = rng.randrange(len(s["features"]))
    return [f, tree(rng, s, depth - 1), tree(rng, s, depth - 1)]


def outcome(seed):
    """Whether the gap to a random feasible tree is closed, and whether the tree is optimal."""
    rng = random.Random(seed)
    s = with_sides(rng)
    made, truth = proof(s, rng), Truth(s)
    found = [(truth.value(t), t) for t in (tree(rng, s, s["depth"]) for _ in range(150))]
    found = sorted((x for x in found if x[0] is not None), key=lambda x: x[0])
    if made is None or not found:
        return None
    s, claims = made
    value, model = found[0] if rng.random() < 0.7 else rng.choice(found)
    if value <= s["bound"]:
        return None
    s = {**s, "model": model, "value": value}
    try:
        closed = check([*lines(s, claims), CLOSED]).proved
    except Wrong:
        closed = False
    return closed, value == truth.optimum()


def test_a_gap_is_closed_where_the_tree_is_optimal_and_nowhere_else():
    seen = Counter(outcome(seed) for seed in range(350))
    assert not seen[True, False], "A false claim was accepted."
    assert not seen[False, True], "An honest claim was rejected."
    assert min(seen[True, True], seen[False, False]) > 10


def fair(seed, leaves=None):
    """A small table with groups and a limit on how differently they are treated."""
    r = np.random.default_rng(seed)
    n = int(r.integers(20, 60))
    X = (r.random((n, 5)) < 0.5).astype(int)
    group = ["a" if x else "b" for x in r.random(n) < 0.4 + 0.4 * X[:, 0]]
    y = (X[:, 0] + X[:, 1] + (r.random(n) < 0.2)) % 2
    rule = [StatisticalParity, EqualOpportunity, EqualisedOdds][seed % 3]
    task = mt.Accuracy(constraints=(rule(["0.02", "0.05", "0.1"][seed % 3]),))
    return mt.Problem(mt.Dataset(X, y=y, groups=group), task, mt.Trees(seed % 4, leaves))


def test_fair_optima_are_proved_whole(tmp_path):
    closed = 0
    for seed in range(12):
        problem, path = fair(seed, seed if seed % 2 else None), tmp_path / f"{seed}.proof"
        result = mt.solve(problem, "lagrangian", proof=path)
        best = mt.solve(problem, "enumerate")
        assert result.value == best.value, seed
        found = check_file(path)
        assert found.proved, found.sentence
        assert mt.verify(result, proof=path).words == f"proved by file {path.name}"
        closed += CLOSED in unpacked(path).decode()
    assert closed > 1


def closed_proof(tmp_path):
    for seed in range(24):
        mt.solve(fair(seed), "lagrangian", proof=tmp_path / "p")
        text = unpacked(tmp_path / "p").decode().split("\n")
        if CLOSED in text:
            return text
    raise AssertionError("No proof closes a gap.")


def test_other_last_lines_are_refused(tmp_path, capsys):
    text = closed_proof(tmp_path)
    *rest, _ = [line for line in text if line]
    for last in ('{"closed": false}', '{"closed": 1}', '{"closed": true, "x": 1}', "{", "[]"):
        with pytest.raises(Wrong):
            check([*rest, last])
    s = json.loads(rest[0])
    without = json.dumps({**s, "model": None, "value": None})
    with pytest.raises(Wrong, match="no value"):
        check([without, *rest[1:], CLOSED])
    assert main([str(tmp_path / "p")]) == 0
    assert "keeps the side rows" in capsys.readouterr().out
