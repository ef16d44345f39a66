"""`check` takes what `unimodular --out` wrote, and refuses it if a number in it is changed."""

import contextlib
import json
import random

import numpy as np
import pytest
from scipy import sparse
from unimodular_matrices import random_network

from milp_trees.common.errors import DataError, VerificationError
from milp_trees.unimodular import decide_by_network, total_unimodularity
from milp_trees.unimodular.files import read_model_file
from milp_trees.verification.checking import check_file

PATHS = np.array([[1, 1, 0, 1], [0, 1, 1, 1], [0, -1, 0, 0]])
ODD_CYCLE = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])


def written(matrix, tmp_path):
    """The file of the matrix, and that of the answer with its content."""
    model, answer = tmp_path / "m.npz", tmp_path / "a.json"
    sparse.save_npz(model, sparse.csr_matrix(matrix))
    stated = total_unimodularity(read_model_file(model)).to_json()
    answer.write_text(json.dumps(stated))
    return model, answer, stated


def rewritten(answer, stated):
    answer.write_text(json.dumps(stated))
    return answer


def test_a_yes_and_a_no_are_checked(tmp_path):
    model, answer, _ = written(PATHS, tmp_path)
    assert "is totally unimodular" in check_file(answer, model).sentence
    model, answer, stated = written(ODD_CYCLE, tmp_path)
    assert "the determinant" in check_file(answer, model).sentence
    stated["submatrix"]["entries"][0][0] = 0
    with pytest.raises(VerificationError, match="other entries"):
        check_file(rewritten(answer, stated), model)
    stated["submatrix"] |= {"rows": [0, 1], "columns": [0, 1], "entries": [[1, 1], [0, 1]]}
    with pytest.raises(VerificationError, match="has the determinant 1"):
        check_file(rewritten(answer, stated), model)
    sparse.save_npz(model, sparse.csr_matrix(PATHS))
    with pytest.raises((VerificationError, DataError)):
        check_file(answer, model)


def test_every_arc_of_a_tree_matters(tmp_path):
    model, answer, _ = written(random_network(np.random.default_rng(0), 9, 14), tmp_path)
    stated = decide_by_network(read_model_file(model)).to_json()
    rewritten(answer, stated)
    tree = stated["certificate"]
    assert tree["kind"].endswith("network"), tree["kind"]
    assert check_file(answer, model).proved
    rejected = 0
    for k in range(len(tree["arcs"])):  # an arc on no path with others may be turned
        turned = json.loads(json.dumps(stated))
        arc = turned["certificate"]["arcs"][k]
        arc["tail"], arc["head"] = arc["head"], arc["tail"]
        with contextlib.suppress(VerificationError):
            check_file(rewritten(answer, turned), model)
            continue
        rejected += 1
    assert rejected > 5


def test_no_tree_proves_a_matrix_that_violates_the_property(tmp_path):
    model, answer, stated = written(ODD_CYCLE, tmp_path)
    rng, tried = random.Random(0), 0
    for kind in ("network", "transposed network"):
        for _ in range(40):
            ends = [(v, rng.randrange(v)) for v in range(1, 4)]
            arcs = [rng.sample(pair, 2) for pair in ends]
            names = [f"{'c' if kind != 'network' else 'r'}{k}" for k in range(3)]
            names = names if rng.random() < 0.5 else [0, 1, 2]
            tree = [
                {"tail": t, "head": h, "carries": k} for (t, h), k in zip(arcs, names, strict=True)
            ]
            lie = {**stated, "answer": "yes", "submatrix": None}
            lie["certificate"] = {"kind": kind, "arcs": tree}
            with pytest.raises((VerificationError, DataError)):
                check_file(rewritten(answer, lie), model)
            tried += 1
    assert tried == 80


def test_what_is_no_proof_says_so(tmp_path):
    model, answer, stated = written(PATHS, tmp_path)
    with pytest.raises(DataError, match="give the model file"):
        check_file(answer)
    with pytest.raises(DataError, match="neither yes nor no"):
        check_file(rewritten(answer, {**stated, "answer": "unknown"}), model)
    with pytest.raises(DataError, match="malformed"):
        check_file(rewritten(answer, {**stated, "certificate": {"kind": "composition"}}), model)
    with pytest.raises(DataError, match="malformed"):
        check_file(rewritten(answer, {"answer": "no", "certificate": None}), model)
