"""Proofs by `dp-sorted`, over all midpoints of numeric columns: both checkers accept them."""

from collections import Counter

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.verification.check_proof import check
from milp_trees.verification.proof_reading import unpacked
from milp_trees.verification.reference_checker.check import check_slowly


def table(seed, path):
    """A CSV file of numbers with ties, missing cells and two or three classes."""
    r = np.random.default_rng(seed)
    n, columns = int(r.integers(4, 16)), int(r.integers(1, 4))
    X = np.round(r.normal(size=(n, columns)), int(r.integers(0, 3)))
    y = (X[:, 0] > 0).astype(int) + (r.random(n) < 0.3) * int(r.integers(1, 3))
    cells = [[f"{x}" if r.random() < 0.9 or seed % 3 else "" for x in row] for row in X]
    lines = [",".join([*row, f"c{k}"]) for row, k in zip(cells, y, strict=True)]
    path.write_text(",".join([*(f"x{j}" for j in range(columns)), "y"]) + "\n")
    with path.open("a") as file:
        file.write("\n".join(lines) + "\n")
    return path


def stated(seed, data):
    """A problem: depth 0 to 3, penalties, smallest leaves."""
    depth = seed % 4
    task = mt.Accuracy(leaf_penalty=[0, 0.01, 0.1][seed % 3])
    return mt.Problem(data, task, mt.Trees(depth, min_samples_leaf=[1, 1, 2, 3][seed % 4]))


def test_proofs_of_random_tables_are_accepted_by_both_checkers(tmp_path):
    seen = Counter()
    for seed in range(40):
        path = table(seed, tmp_path / f"{seed}.csv")
        problem = stated(seed, mt.load(path, target="y", binarizer="midpoints"))
        proof = tmp_path / f"{seed}.proof"
        result = mt.solve(problem, "dp-sorted", proof=proof)
        if result.status is not mt.plugins.Status.OPTIMAL:  # no leaf is large enough
            continue
        lines = unpacked(proof).decode().splitlines()
        verdict = check(lines, path)
        assert verdict.proved, seed
        assert (verdict.bound, verdict.value) == check_slowly(lines, path), seed
        best = mt.solve(problem, "dp")
        assert best.objective == pytest.approx(result.objective)
        kind = "table" if "the rows are those of the proof file" not in verdict.sentence else "rows"
        seen.update([kind, "missing" * ("missing" in lines[0]), f"depth {seed % 4}"])
    assert seen["table"] > 20
    assert min(seen[f"depth {d}"] for d in range(4)) > 3


def test_a_deep_tree_is_left_to_dp(tmp_path):
    """The two share nothing, so that one can derive again what the other proved."""
    data = mt.load("planted:rows=60,tests=9,depth=4,noise=0.1")
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(4))
    result = mt.solve(problem, "dp-sorted", proof=tmp_path / "p")
    assert result.proof is None
    assert "the method dp writes" in result.message
    assert not (tmp_path / "p").exists()
    again = mt.solve(problem, "dp", proof=tmp_path / "p")
    assert check(unpacked(tmp_path / "p").decode().splitlines()).value == result.value.number
    assert again.proof is not None
