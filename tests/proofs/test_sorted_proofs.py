"""Proofs by `dp-sorted`, over all midpoints of numeric columns: both checkers accept them."""

from collections import Counter

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.verification.check_proof import check
from milp_trees.verification.check_slowly import check_slowly
from milp_trees.verification.proof_reading import Wrong, unpacked


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
    """A problem: depth 0 to 4, penalties, smallest leaves."""
    depth = seed % 5
    task = mt.Accuracy(leaf_penalty=[0, 0.01, 0.1][seed % 3])
    return mt.Problem(data, task, mt.Trees(depth, min_samples_leaf=[1, 1, 2, 3][seed % 4]))


def test_proofs_of_random_tables_are_accepted_by_both_checkers(tmp_path):
    seen = Counter()
    for seed in range(40):
        path = table(seed, tmp_path / f"{seed}.csv")
        problem = stated(seed, mt.load(path, target="y", binarizer="midpoints"))
        proof = tmp_path / f"{seed}.proof"
        result = mt.solve(problem, "dp-sorted", proof=proof)
        if result.proof is None:
            assert result.status is not mt.plugins.Status.OPTIMAL, result.message
            continue
        lines = unpacked(proof).decode().splitlines()
        verdict = check(lines, path)
        assert verdict.proved, seed
        assert (verdict.bound, verdict.value) == check_slowly(lines, path), seed
        best = mt.solve(problem, "dp")
        assert best.objective == pytest.approx(result.objective)
        kind = "table" if "the rows are those of the proof file" not in verdict.sentence else "rows"
        seen.update([kind, "missing" * ("missing" in lines[0]), f"depth {seed % 5}"])
        if len(lines) > 2:
            seen["claims"] += 1
    assert seen["table"] > 20
    assert min(seen[f"depth {d}"] for d in range(5)) > 3
    assert seen["claims"] > 0


def test_a_proof_without_the_claims_that_it_needs_is_refused(tmp_path):
    data = mt.load("planted:rows=60,tests=9,depth=4,noise=0.1")
    result = mt.solve(
        mt.Problem(data, mt.Accuracy(), mt.Trees(4)), "dp-sorted", proof=tmp_path / "p"
    )
    lines = unpacked(tmp_path / "p").decode().splitlines()
    assert check(lines).value == check(lines).bound == result.value.number
    with pytest.raises(Wrong, match="does not follow"):
        check([lines[0], lines[-1]])
