"""Files of exported models: the same bytes again, none that is written over, none that is not confirmed."""

from pathlib import Path

import pytest
from export_models_cases import described

import milp_trees as mt
from milp_trees.solving.estimate import named_formulation
from milp_trees.testing import problem


def test_the_solution_of_an_earlier_model_is_not_left_beside_a_new_one(tmp_path):
    """A file of another kind with that name stays."""
    mt.export_model(problem("xor"), "flow-oct", tmp_path / "m.mps")
    mt.export_model(problem("xor"), "oct", tmp_path / "m.mps", solution=False)
    assert not (tmp_path / "m.sol").exists()
    assert described({"description": tmp_path / "m.json"})["solution"] is None
    (tmp_path / "m.sol").write_text("mine")
    mt.export_model(problem("cannot_hold"), "flow-oct", tmp_path / "m.mps", solution=False)
    with pytest.raises(mt.DataError, match="exists already as another kind of file"):
        mt.export_model(problem("cannot_hold"), "flow-oct", tmp_path / "m.mps")
    assert (tmp_path / "m.sol").read_text() == "mine"


def test_the_same_problem_gives_the_same_bytes(tmp_path):
    """Of the model, its description and its solution."""
    files = []
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        mt.export_model(problem("feature_costs"), "flow-oct", tmp_path / folder / "m.mps.gz")
        files.append({path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()})
    assert set(files[0]) == {"m.mps.gz", "m.json", "m.sol"}
    assert files[0] == files[1]


def test_a_json_of_another_kind_is_not_overwritten(tmp_path):
    """`NAME.json` may be a result of the user's; an earlier description is replaced."""
    (tmp_path / "m.json").write_text('{"method": "dp"}')
    with pytest.raises(
        mt.DataError, match="exists already as another kind of file; choose another name"
    ):
        mt.export_model(problem("xor"), "flow-oct", tmp_path / "m.mps")
    assert (tmp_path / "m.json").read_text() == '{"method": "dp"}'
    for _ in range(2):
        mt.export_model(problem("xor"), "flow-oct", tmp_path / "n.mps", solution=False)


def test_an_optimum_that_its_own_model_does_not_confirm_is_not_written(tmp_path, monkeypatch):
    """A formulation whose encode leaves its objective above the value is an error, not a solution
    file.
    """
    flow = type(named_formulation("flow-oct"))
    encode = flow.encode

    def wrong(self, tree, m):
        encode(self, mt.Tree(mt.plugins.Leaf(0), tree.actions), m)

    monkeypatch.setattr(flow, "encode", wrong)
    with pytest.raises(mt.MilpTreesError, match="a bug in its encode"):
        mt.export_model(problem("xor"), "flow-oct", tmp_path / "m.mps")
    assert not (tmp_path / "m.sol").exists()


def test_a_file_is_read_by_the_check_of_unimodularity(tmp_path):
    """With the names of the model; the column of the constant changes nothing."""
    from milp_trees.unimodular.files import read_model_file

    for suffix in (".mps", ".mps.gz", ".lp"):
        written = mt.export_model(
            problem("xor"), "state-flow", tmp_path / f"m{suffix}", solution=False
        )
        matrix = read_model_file(Path(written["model"]))
        assert set(matrix.column_names) == set(described(written)["variables"])
        assert list(matrix.row_names) == list(described(written)["rows"])
