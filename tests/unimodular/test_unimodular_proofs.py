"""Proofs that a matrix is (not) totally unimodular, and the stand-alone file that checks them."""

import json
import random
import shutil
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner
from unimodular_matrices import R10, random_case, random_network, two_sum

from milp_trees.cli.main import app
from milp_trees.unimodular import check_unimodular, decide_by_subdeterminants, total_unimodularity
from milp_trees.unimodular.check_unimodular import Wrong, check, read_model
from milp_trees.unimodular.files import read_model_file
from milp_trees.verification import proof_reading
from milp_trees.verification.checking import check_file


def named(a):
    a = np.asarray(a)
    entries = [(int(i), int(j), int(a[i, j])) for i, j in np.argwhere(a)]
    return check_unimodular.matrix(
        [f"r{i}" for i in range(len(a))], [f"x{j}" for j in range(a.shape[1])], entries
    )


def stated(a):
    return json.loads(json.dumps(total_unimodularity(np.asarray(a)).to_json()))


def kind_of(proof):
    found = proof["certificate"]
    return found["kind"] if isinstance(found, dict) else proof["proof"]


def test_every_kind_of_proof_is_checked_from_its_file():
    """Blocks inside a 2-sum inside a block, too: the middle of a 2-sum of 2-sums is one."""
    rng, seen = np.random.default_rng(0), Counter()
    large = two_sum(two_sum(two_sum(R10, R10), R10), random_network(rng, 8, 9))
    for a in [R10, large, large.T, *(random_case(rng, k % 4) for k in range(120))]:
        proof = stated(a)
        message = check(proof, named(a))
        assert message.startswith("proved: ")
        assert ("is totally" in message) == (proof["answer"] == "yes")
        seen[kind_of(proof)] += 1
        seen.update(word for word in ('"2-sum"', '"all sub') if word in json.dumps(proof))
    assert set(seen) == {
        *("network", "transposed network", "composition", "submatrix", '"2-sum"', '"all sub'),
        *("difference rows", "difference columns", "consecutive ones (given order)"),
    }


def changed(value, draw):
    """The same JSON with one number, name or item changed."""
    places = []

    def walk(node, path):
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            inside = node[key]
            if key not in ("reason", "paths", "row_names", "column_names", "names"):
                places.append((node, key))
            if isinstance(inside, (dict, list)):
                walk(inside, path)

    other = json.loads(json.dumps(value))
    walk(other, ())
    node, key = draw.choice(places)
    inside = node[key]
    if isinstance(node, list) and draw.random() < 0.3:
        del node[key]
    elif isinstance(inside, int):
        node[key] = draw.choice([inside + 1, inside - 1, -inside])
    elif isinstance(inside, list) and inside:
        draw.shuffle(inside)
    elif isinstance(inside, str):
        again = [n[k] for n, k in places if isinstance(n[k], str)]
        node[key] = draw.choice(again)
    else:
        node[key] = None
    return other


def test_a_changed_proof_or_matrix_is_rejected_or_still_true():
    """The oracle computes all subdeterminants."""
    rng, draw, seen = np.random.default_rng(1), random.Random(1), Counter()
    for number in range(60):
        a = R10 if number % 20 == 0 else random_case(rng, number % 4)
        a = a[:9, :9]
        proof, truth = stated(a), decide_by_subdeterminants(a).answer
        for _ in range(25):
            b, held, lie = a.copy(), truth, proof
            if draw.random() < 0.5:
                i, j = draw.randrange(a.shape[0]), draw.randrange(a.shape[1])
                b[i, j] = draw.choice([x for x in (-1, 0, 1) if x != b[i, j]])
                held = decide_by_subdeterminants(b).answer
            if draw.random() < 0.7:
                lie = changed(proof, draw)
            try:
                message = check(lie, named(b))
            except Wrong:
                seen["rejected"] += 1
            else:
                assert ("is totally" in message) == (held == "yes"), (b.tolist(), lie)
                seen["true"] += 1
    assert seen["rejected"] > 500
    assert seen["true"] > 200


def test_a_wrong_two_sum_is_rejected():
    """Each condition of the rule alone."""
    a = two_sum(two_sum(R10, R10), R10)
    proof = stated(a)
    assert '"2-sum"' in json.dumps(proof)
    assert check(proof, named(a))
    rejected = 0
    for i, j in np.ndindex(a.shape):
        b = a.copy()
        b[i, j] = 0 if b[i, j] else 1
        if total_unimodularity(b).answer == "no":
            with pytest.raises(Wrong):
                check(proof, named(b))
            rejected += 1
    assert rejected > 50


def test_the_own_reader_reads_models_like_the_solver_does(tmp_path):
    sparse_file = tmp_path / "m.npz"
    for form in ("csr", "csc", "coo"):
        sparse.save_npz(sparse_file, sparse.csr_matrix(R10).asformat(form))
        assert read_model(sparse_file).rows == named(R10).rows
    run = CliRunner().invoke
    for formulation in ("flow-oct", "state-flow"):
        model = str(tmp_path / f"{formulation}.mps.gz")
        options = ["--formulation", formulation, "--depth", "1", "--out", model]
        assert run(app, ["export-model", "iris", *options]).exit_code == 0
        mine, theirs = read_model(model), read_model_file(tmp_path / f"{formulation}.mps.gz")
        assert mine.row_names == list(theirs.row_names)
        assert mine.column_names == list(theirs.column_names)
        dense = np.array(
            [[float(r.get(j, 0)) for j in range(theirs.A.shape[1])] for r in mine.rows]
        )
        assert (dense == theirs.A.toarray()).all()


def test_the_file_runs_alone_beside_its_reader(tmp_path):
    """A formulation has no model file, so that its proof holds the matrix."""
    proof, model = tmp_path / "u.json", tmp_path / "m.npz"
    requested = ["unimodular", "ip3", "--example", "figure-1", "--out", str(proof)]
    assert CliRunner().invoke(app, requested).exit_code == 0
    for module in (check_unimodular, proof_reading):
        shutil.copy(module.__file__, tmp_path)

    def run(*arguments):
        command = [sys.executable, "check_unimodular.py", *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout

    code, message = run(proof)
    assert (code, message.strip()) == (0, check_file(proof).sentence)
    sparse.save_npz(model, sparse.csr_matrix(R10))
    assert run(proof, model) == (1, "rejected: The model has another matrix than the proof.\n")
    assert run(model)[0] == 2
    short = json.loads(proof.read_text())
    short["certificate"]["arcs"].pop()
    proof.write_text(json.dumps(short))
    assert run(proof) == (1, "rejected: The arcs are not one per line.\n")
