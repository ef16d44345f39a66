"""The command `unimodular`."""

import gzip
import json
import re

import numpy as np
import pyomo.environ as pyo
from scipy import sparse
from typer.testing import CliRunner
from unimodular_matrices import PUBLISHED, random_network

from milp_trees.cli.main import app

# -- the command ---------------------------------------------------------------------------------------------


def run(*words):
    return CliRunner().invoke(app, ["unimodular", *map(str, words)])


def test_the_command_reads_every_kind_of_model_file(tmp_path):
    """MPS and LP, plain and gzipped, with names; sparse npz; the answer of each is the same."""
    from milp_trees.mip.linear.files import write_model
    from milp_trees.mip.linear.matrix import compile_model

    m = pyo.ConcreteModel(name="cycle")
    m.x = pyo.Var(["a", "b", "c"], domain=pyo.Binary)
    m.edge = pyo.Constraint(
        [("a", "b"), ("b", "c"), ("a", "c")], rule=lambda m, u, v: m.x[u] + m.x[v] <= 1
    )
    m.cost = pyo.Objective(expr=pyo.summation(m.x))
    form = compile_model(m)
    files = [write_model(form, tmp_path / f"m{end}") for end in (".mps", ".mps.gz", ".lp")]
    packed = tmp_path / "n.lp.gz"
    packed.write_bytes(gzip.compress(files[-1].read_bytes()))
    sparse.save_npz(tmp_path / "m.npz", form.A)
    for file in [*files, packed, tmp_path / "m.npz"]:
        done = run(file, "--json")
        assert done.exit_code == 0, (file, done.output)
        found = json.loads(done.stdout)
        assert (found["answer"], abs(found["submatrix"]["determinant"]), found["rows"]) == (
            "no",
            2,
            3,
        )
        assert file.suffix == ".npz" or found["submatrix"]["column_names"] == ["x_a", "x_b", "x_c"]
    assert "not totally unimodular" in run(files[0]).stdout


def test_the_command_writes_and_draws_the_tree(tmp_path):
    """--out and --plot; a picture is not written where the proof is no tree."""
    sparse.save_npz(
        tmp_path / "m.npz", sparse.csr_matrix(random_network(np.random.default_rng(15), 6, 9))
    )
    done = run(tmp_path / "m.npz", "--out", tmp_path / "a.json", "--plot", tmp_path / "a.svg")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "a.json").read_text())["answer"] == "yes"
    assert (tmp_path / "a.svg").read_text().lstrip().startswith("<?xml")
    assert "carries" in done.stdout
    sparse.save_npz(tmp_path / "no.npz", sparse.csr_matrix(PUBLISHED))
    done = run(tmp_path / "no.npz", "--plot", tmp_path / "no.svg")
    assert done.exit_code == 0
    assert not (tmp_path / "no.svg").exists()


def test_the_command_takes_a_formulation_and_a_problem():
    """A formulation of trees on a table: the answer is about its matrix as written."""
    done = run(
        "flow-oct", "--data", "planted:rows=6,depth=1", "--depth", 1, "--json", "--time-limit", 20
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["answer"] in ("yes", "no", "unknown")


def test_a_formulation_completed_by_cuts_is_said_to_lack_them():
    """The rows of BendersOCT before any cut are a network matrix; the answer says that it is about
    these.
    """
    message = {
        name: json.loads(
            run(name, "--data", "planted:rows=6,depth=1", "--depth", 1, "--json").stdout
        )["reason"]
        for name in ("benders-oct", "oct-binary")
    }
    assert "before cuts" in message["benders-oct"]
    assert "before cuts" not in message["oct-binary"]


def test_the_command_proves_ip3_by_its_own_tree_and_refutes_ip1():
    """Figure 1 of the paper: IP3 by the tree the formulation names, its difference form by a look,
    IP1 by a submatrix.
    """
    found = {
        name: json.loads(run(name, "--example", "figure-1", "--json").stdout)
        for name in ("ip3", "ip3-closure", "ip1")
    }
    assert (found["ip3"]["answer"], found["ip3"]["proof"]) == ("yes", "transposed network")
    arcs = {
        arc["carries"]: (arc["tail"], arc["head"]) for arc in found["ip3"]["certificate"]["arcs"]
    }
    assert arcs["z[0]"] == ("centre", "node 0")
    assert (found["ip3-closure"]["answer"], found["ip3-closure"]["proof"]) == (
        "yes",
        "difference rows",
    )
    assert (found["ip1"]["answer"], abs(found["ip1"]["submatrix"]["determinant"])) == ("no", 2)


def test_every_program_of_the_paper_is_checked_on_its_first_figure():
    """IP0 has no prices, so it gets the example without them and says so."""
    done = run("ip0", "--example", "figure-1", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["answer"] == "yes"
    assert found["columns"] == 10  # the nodes of both trees
    assert "ip0 has no prices: λ is 0 here." in done.stderr
    assert "no prices" not in run("ip3", "--example", "figure-1").output
    refused = run("ip0", "--example", "two-items")  # a budget is a row that IP0 does not have
    assert refused.exit_code == 1
    assert "cannot keep a budget" in refused.output


def test_wrong_use_of_the_command_is_one_sentence(tmp_path):
    """No such file, another kind of file, a broken file, a formulation without a problem."""
    (tmp_path / "model.txt").write_text("x")
    (tmp_path / "bad.npz").write_text("x")
    (tmp_path / "bad.mps").write_text("no model")
    (tmp_path / "bad.mps.gz").write_text("no model")
    (tmp_path / "bad.lp").write_text("no model")
    (tmp_path / "empty.npz").write_text("")
    damaged = bytearray(gzip.compress(b"NAME t\n" * 500))
    damaged[20] ^= 0xFF
    damaged[25] ^= 0x5A
    (tmp_path / "damaged.mps.gz").write_bytes(damaged)
    for words, sentence in [
        ((tmp_path / "model.txt",), "neither a formulation"),
        ((tmp_path / "none.mps",), "There is no file"),
        ((tmp_path / "bad.npz",), "no sparse matrix"),
        ((tmp_path / "bad.mps",), "cannot be read as a model"),
        ((tmp_path / "bad.mps.gz",), "not gzipped"),
        ((tmp_path / "bad.lp",), "holds no model|cannot be read as a model"),
        ((tmp_path / "empty.npz",), "no sparse matrix"),
        ((tmp_path / "damaged.mps.gz",), "is damaged"),
        (("ip33", "--example", "figure-1"), "no formulation called"),
        (("ip3", "--example", "figure-9"), "no example called"),
        (("ip3",), "needs a problem"),
        (("ip3", "--data", "planted:rows=6,depth=1"), "no numeric columns"),
    ]:
        done = run(*words)
        assert done.exit_code == 1, (words, done.output)
        assert re.search(sentence, done.stderr)
        assert done.stderr.count("\n") == 1
