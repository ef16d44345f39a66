"""Stored curves of prunings: accepted as written, refused once anything in them is another."""

import copy
import json

import pytest
from row_tests import each_row
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.verification import verify_file


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Out-of-bag errors, a group, a price per node: 5 trees of breast cancer."""
    file = tmp_path_factory.mktemp("curve") / "curve.json"
    line = [
        "prune",
        "breast-cancer",
        "--trees",
        "5",
        "--depth",
        "4",
        "--errors",
        "oob",
        "--feature-group",
        "size=1:mean radius,mean area",
        "--node-cost",
        "1/100",
    ]
    assert CliRunner().invoke(app, [*line, "--path", "--out", str(file)]).exit_code == 0
    return json.loads(file.read_text())


def checked(data, tmp_path):
    file = tmp_path / "c.json"
    file.write_text(json.dumps(data))
    return verify_file(file)[0]


def test_a_curve_is_verified_as_it_was_written(stored, tmp_path):
    message = checked(stored, tmp_path)
    assert len(stored["vertices"]) > 10
    assert f"of {len(stored['vertices'])} corners were recomputed" in message[1]
    assert f"All {len(stored['breakpoints'])} breakpoints" in message[2]
    assert message.verdict is mt.plugins.Verdict.DERIVED
    assert f"for every one of {len(stored['vertices'])} corners a flow proves" in message[-1]


def test_a_regression_curve_is_verified_too(tmp_path):
    file = tmp_path / "r.json"
    (tmp_path / "t.csv").write_text(
        "a,b,y\n" + "".join(f"{2 * i},{i * i % 7},{i * 0.37 + i % 3}\n" for i in range(60))
    )
    line = [
        "prune",
        str(tmp_path / "t.csv"),
        "--regression",
        "--trees",
        "3",
        "--path",
        "--out",
        str(file),
    ]
    assert CliRunner().invoke(app, line).exit_code == 0
    assert verify_file(file)[0].verdict is mt.plugins.Verdict.DERIVED


def swap_rank(data):
    kept = next(r for r in data["rank"] if 0 < r < max(data["rank"]))
    data["rank"] = [r - 1 if r == kept else r for r in data["rank"]]


def all_kept_longer(data):
    data["rank"] = [r if r == max(data["rank"]) else 0 for r in data["rank"]]


CHANGES = {
    "a breakpoint": lambda d: d["breakpoints"].__setitem__(2, "1/3"),
    "a breakpoint left out": lambda d: d["breakpoints"].pop(),
    "an error": lambda d: d["vertices"][3].update(error="1/7"),
    "a cost": lambda d: d["vertices"][3].update(cost="7/2"),
    "a number of splits": lambda d: d["vertices"][3].update(splits=1),
    "where a corner begins": lambda d: d["vertices"][3].update(lambda_from="1/9"),
    "a corner left out": lambda d: d["vertices"].pop(),
    "when a split goes": swap_rank,
    "splits that are kept": all_kept_longer,
    "a price": lambda d: d["problem"]["task"]["costs"].update(node="1/50"),
    "a threshold": lambda d: d["problem"]["space"]["ensemble"]["threshold"].__setitem__(0, 1.0),
    "no ranks": lambda d: d.pop("rank"),
    "ranks of another length": lambda d: d["rank"].pop(),
    "text for ranks": lambda d: d.update(rank="all"),
}


@pytest.mark.slow
@each_row("what", CHANGES)
def test_whatever_is_altered_is_noticed(stored, tmp_path, what):
    data = copy.deepcopy(stored)
    CHANGES[what](data)
    with pytest.raises((mt.errors.VerificationError, mt.DataError)):
        checked(data, tmp_path)
