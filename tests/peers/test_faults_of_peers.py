"""Tiny problems on which other packages print no optimum: docs/project/peers.md tells more.

Our optimum is that of the enumerator, and the checker accepts its proof and no higher bound. Where
`MILP_TREES_PEERS` names a folder of virtual environments (`python tests/peers/install.py FOLDER`),
the peers run, too.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import milp_trees as mt
from milp_trees.verification.check_proof import check
from milp_trees.verification.proof_reading import Wrong, unpacked

HERE = Path(__file__).parent
INSTANCES = json.loads((HERE / "instances.json").read_text())


def problem_of(one):
    X = [[int(c) for c in row] for row in one["rows"]]
    data = mt.Dataset(X, y=[int(c) for c in one["labels"]])
    return mt.Problem(data, mt.Accuracy(), mt.Trees(one["depth"], min_samples_leaf=one["least"]))


@pytest.mark.parametrize("name", sorted(INSTANCES))
def test_the_optimum_is_enumerated_and_proved(name, tmp_path):
    one = INSTANCES[name]
    problem = problem_of(one)
    assert mt.solve(problem, "enumerate").value.number == one["optimum"]
    result = mt.solve(problem, "dp", proof=tmp_path / "p")
    assert result.value.number == one["optimum"] < one["printed"]
    lines = unpacked(tmp_path / "p").decode().splitlines()
    assert check(lines).proved
    stated, claims = json.loads(lines[0]), [json.loads(line) for line in lines[1:]]
    claims[-1][0] = stated["bound"] = one["printed"]
    stated["model"] = stated["value"] = None
    with pytest.raises(Wrong, match="does not follow"):
        check([json.dumps(stated), *map(json.dumps, claims)])


@pytest.mark.parametrize("name", sorted(INSTANCES))
def test_the_peer_prints_what_is_written_here(name):
    folder = os.environ.get("MILP_TREES_PEERS")
    python = Path(folder or "", name, "bin", "python")
    if not folder or not python.exists():
        pytest.skip(f"{name} is not installed in a folder that MILP_TREES_PEERS names.")
    one = INSTANCES[name]

    def errors(how):
        command = [str(python), str(HERE / "run_peer.py"), how]
        given = {"input": json.dumps([one]), "capture_output": True, "text": True}
        run = subprocess.run(command, check=True, **given)
        return json.loads(run.stdout.strip().splitlines()[-1])[0]

    assert errors(name) == one["printed"]
    if name == "pytrees-rs":  # its cure
        assert errors("pytrees-rs, fast_d2=False") == one["optimum"]
