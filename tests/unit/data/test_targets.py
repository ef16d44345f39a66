"""Targets that are numbers: one, several, or time and event."""

import pickle

import numpy as np
import pandas as pd
import pytest

import milp_trees as mt
from milp_trees.data.load import load_split
from milp_trees.data.outline import Outline
from milp_trees.data.permute import permuted
from milp_trees.data.role_problems import is_measured
from milp_trees.tasks.usual import usual_task
from milp_trees.testing.grouped import grouped

FRAME = pd.DataFrame(
    {
        "a": [0, 1, 0, 1, 1, 0],
        "size": [1.5, 2.25, 3.5, 4.75, 5.0, 6.5],
        "count": [7, 6, 5, 4, 3, 2],
        "died": [True, False, True, True, False, False],
        "days": [10, 20, 30, 40, 50, 60],
    }
)


@pytest.mark.parametrize(
    "values, rows, expected",
    [
        ([0.5, 1.0, 1.5], 10, True),
        ([0.5, 1.0], 10, False),
        ([1.0, 2.0, 3.0], 10, False),
        (range(20), 20, False),
        (range(21), 440, True),
        (range(21), 441, False),
        ([True, False], 2, False),
        (["1.5", "2.5", "3.5"], 3, False),
        (np.array([1, 2.5, 7], dtype=object), 3, True),
        (np.array([1, "2.5", 7.5], dtype=object), 3, False),
    ],
)
def test_which_targets_are_measured_numbers(values, rows, expected):
    assert is_measured(list(values) if isinstance(values, range) else values, rows) is expected


def test_several_targets_are_a_table():
    data = mt.load(FRAME, targets=["size", "count"], features=["a"])
    assert data.targets.tolist() == FRAME[["size", "count"]].to_numpy(float).tolist()
    assert data.target_names == ("size", "count")
    assert data.y is None
    assert usual_task(data).name == "squared-error"
    assert [t.name for t in mt.load(FRAME, targets="size").features if t.column == "size"] == []


def test_time_and_event_are_told_by_their_roles():
    data = mt.load(FRAME, event="died", time="days", features=["a"])
    assert data.target_names == ("time", "event")
    assert data.targets.tolist() == [[10, 1], [20, 0], [30, 1], [40, 1], [50, 0], [60, 0]]
    assert usual_task(data).name == "survival"


@pytest.mark.parametrize(
    "roles, words",
    [
        ({"event": "died"}, "event= is given without time="),
        ({"time": "days"}, "time= is given without event="),
        ({"event": "days", "time": "days"}, "named twice"),
        ({"event": "days", "time": "size"}, "must hold 1 where the event was seen"),
        ({"targets": ["size"], "target": "count"}, "named twice, by target= and by targets="),
        ({"targets": ["size", "size"]}, "named twice among the targets"),
        ({"targets": ["size", "nothing"]}, "which the data do not have"),
    ],
)
def test_roles_that_do_not_fit_are_refused(roles, words):
    with pytest.raises(mt.DataError, match=words):
        mt.load(FRAME, **roles)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"days": [10, -1, 30, 40, 50, 60]}, "must hold times from 0 on, and row 1 holds -1"),
        ({"days": [10, np.nan, 30, 40, 50, np.nan]}, "missing value in row 1 .2 in the table"),
        ({"days": [10, np.inf, 30, 40, 50, 60]}, "is infinite in row 1"),
        ({"days": list("abcdef")}, "must hold numbers, and it holds 'a'"),
        ({"died": ["yes", "no"] * 3}, "and it holds 'yes'"),
        ({"died": [0, 1, 0, 1, 2, 0]}, "and it holds 2"),
    ],
)
def test_wrong_times_and_events_are_told(change, words):
    with pytest.raises(mt.DataError, match=words):
        mt.load(FRAME.assign(**change), event="died", time="days")


def test_an_infinite_or_missing_target_is_refused():
    frame = FRAME[["a", "size"]]
    with pytest.raises(mt.DataError, match="infinite in row 2"):
        mt.load(frame.assign(size=[1.5, 2, np.inf, 3, 4, 5]))
    with pytest.raises(mt.DataError, match="missing value at row 2"):
        mt.load(frame.assign(size=[1.5, 2, np.nan, 3, 4, 5]))


def test_every_copy_of_a_dataset_has_the_targets():
    data = mt.load(FRAME, targets=["size", "count"], features=["a"])
    order = [3, 1]
    assert data.subset(order).targets.tolist() == data.targets[order].tolist()
    moved = permuted(data, 1)
    assert sorted(moved.targets.tolist()) == sorted(data.targets.tolist())
    assert moved.targets.tolist() != data.targets.tolist()
    again = pickle.loads(pickle.dumps(data))
    assert again.sha256 == data.sha256
    other = mt.load(FRAME.assign(count=[7, 6, 5, 4, 3, 1]), targets=["size", "count"], features="a")
    assert other.sha256 != data.sha256
    outline = Outline(data)
    assert outline.target_names == ("size", "count")
    with pytest.raises(mt.DataError, match="needs the rows"):
        outline.targets  # noqa: B018
    told = outline.to_json()
    assert Outline.from_json(told).target_names == ("size", "count")
    told.pop("target_names")  # as outlines of earlier versions
    assert Outline.from_json(told).target_names is None
    twice = data.subset([0, 0, 1, 1, 1, 2])
    assert grouped(twice).counts.tolist() == [2, 3, 1]


def test_a_split_does_not_change_the_task():
    """The training rows alone are fewer than the square of the number of values."""
    frame = pd.DataFrame({"a": [0, 1] * 300, "y": [k % 23 for k in range(600)]})
    for size in (None, 0.4):
        data, _ = load_split(frame, test_size=size)
        assert usual_task(data).name == "accuracy"
        assert is_measured(list(range(23)), data.n_rows) is (size is not None)


def test_classification_of_measured_numbers_says_what_to_do():
    data = mt.load(FRAME, targets=["size"], features=["a"])
    with pytest.raises(
        mt.DataError, match="'size' holds measured numbers; take a task of regression"
    ):
        mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1)))


def test_look_says_what_a_numeric_target_is_for():
    frame = pd.DataFrame({"a": [0, 1] * 50, "y": np.arange(100) / 7})
    found = mt.look(frame)
    assert found.problems == ()
    assert any("solve takes a task of regression" in one for one in found.guessed)
    assert not any("--task accuracy" in one for one in found.guessed)
    whole = mt.look(frame.assign(y=np.arange(100)))
    assert any("accuracy takes them as classes" in one for one in whole.guessed)
    roles = mt.look(FRAME, event="died", time="days").columns.set_index("column")["role"]
    assert (roles["died"], roles["days"]) == ("event", "time")
    wrong = mt.look(FRAME, event="days", time="size")
    assert [p.column for p in wrong.problems] == ["days"]


def test_thresholds_are_guessed_by_regression():
    rng = np.random.default_rng(0)
    x = rng.permutation(200)
    frame = pd.DataFrame({"x": x, "z": rng.permutation(200), "y": (x > 77) * 10 + x / 1000})
    data = mt.load(frame, binarizer="tree-guess:5")
    assert "x <= 77.5" in [t.name for t in data.features]
    with pytest.raises(mt.DataError, match="learns its thresholds from one target"):
        mt.load(frame, binarizer="tree-guess:5", targets=["y", "z"])


def test_equal_rows_are_grouped_by_their_targets(tmp_path):
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [0, 0, 1, 1], "u": [0.5, 0.5, 1.5, 2.5], "v": [1, 1, 2, 2]})
    frame.to_parquet(tmp_path / "t.parquet")
    data = mt.load_grouped(tmp_path / "t.parquet", targets=["u", "v"])
    assert data.counts.tolist() == [2, 1, 1]
    assert data.targets.tolist() == [[0.5, 1], [1.5, 2], [2.5, 2]]
    assert data.target_names == ("u", "v")


def test_public_survival_data_are_read(data_folder):
    folder = data_folder / "survival"
    data = mt.load(folder / "gbsg2-binary.csv", event="cens", time="time")
    assert data.n_rows == 686
    assert data.targets[:, 1].sum() == 299
    raw = mt.load(folder / "colon_binary.txt", time="target", event="0")
    assert set(raw.targets[:, 1]) == {0, 1}
