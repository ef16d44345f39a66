"""Files of policy data in both formats."""

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.common.errors import DataError

TRAIN = """0 0 1.5 0.5 1.25 2 0.5 1 1.5 2.5 0.5 1 0
1 1 0.5 0.25 1 0.75 0 2 0.25 0.5 3 0 1
2 2 2 0.5 1 1 2 2 1 0 2 1 1
"""


def test_the_columns_of_a_file_without_header_are_known_by_position(tmp_path):
    (tmp_path / "train.csv").write_text(TRAIN)
    data, truth = mt.load_policy(tmp_path / "train.csv")
    assert data.treatments.tolist() == [0, 1, 2]
    assert data.outcomes.tolist() == [1.5, 0.5, 2]
    assert data.propensities.tolist() == [0.5, 0.25, 0.5]
    assert data.values.tolist() == [[1.25, 2, 0.5], [1, 0.75, 0], [1, 1, 2]]
    assert truth.tolist() == [[1.5, 2.5, 0.5], [0.25, 0.5, 3], [1, 0, 2]]
    assert data.actions == (0, 1, 2)
    assert data.X.tolist() == [[1, 0], [0, 1], [1, 1]]


def test_a_test_file_has_the_counterfactuals_as_values(tmp_path):
    rows = [line.split() for line in TRAIN.splitlines()]
    hidden = [" ".join(["0"] * 7 + row[7:]) for row in rows]
    (tmp_path / "test.csv").write_text("\n".join(hidden) + "\n")
    data, truth = mt.load_policy(tmp_path / "test.csv")
    assert data.treatments is None
    assert (data.values == truth).all()
    assert [t.name for t in data.features] == ["10", "11"]


def test_a_file_with_a_header(tmp_path):
    (tmp_path / "o.csv").write_text(
        "V1.1,V1.2,y0,y1,t,prob_t,y,linear0,linear1,lasso0,lasso1\n"
        "0,1,1,2,0,0.5,1,0.9,2.1,1,1\n1,1,3,0,1,0.5,0,2.9,0.1,1,1\n"
    )
    data, truth = mt.load_policy(tmp_path / "o.csv")
    assert [t.name for t in data.features] == ["V1.1", "V1.2"]
    assert data.values.tolist() == [[0.9, 2.1], [2.9, 0.1]]
    assert truth.tolist() == [[1, 2], [3, 0]]
    assert mt.load_policy(tmp_path / "o.csv", model="lasso")[0].values.tolist() == [[1, 1], [1, 1]]
    with pytest.raises(DataError, match="0 columns forest0"):
        mt.load_policy(tmp_path / "o.csv", model="forest")


def test_other_files_are_refused(tmp_path):
    (tmp_path / "plain.csv").write_text("0 1 0 1 1 0\n1 0 1 1 0 1\n")
    with pytest.raises(DataError, match="no file of policy data"):
        mt.load_policy(tmp_path / "plain.csv")
    (tmp_path / "header.csv").write_text("V1,y,t\n0,1,0\n")
    with pytest.raises(DataError, match="its header needs"):
        mt.load_policy(tmp_path / "header.csv")
    lines = "V1,t,y,y0,y1,prob_t\n0,0,1,q,2,0.5\n1,1,2,1,2,0.5\n"
    (tmp_path / "text.csv").write_text(lines)
    with pytest.raises(DataError, match="must be numbers"):
        mt.load_policy(tmp_path / "text.csv")


def test_the_public_files(data_folder):
    """Every file of the folder; the best treatment agrees with the counterfactuals by reading."""
    found = {p.name: mt.load_policy(p) for p in sorted((data_folder / "policy").glob("*/*.csv*"))}
    assert len(found) == 22
    assert {truth.shape[1] for _, truth in found.values()} == {2, 3}
    data, truth = found["train_rf_dt_0.06_0_1.csv.gz"]
    assert data.X.shape == (3367, 29)
    assert np.isin(truth, (0, 1)).all()
