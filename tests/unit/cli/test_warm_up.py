"""Compiling ahead: what is compiled is kept, and the second time nothing is."""

import json

import pytest

from milp_trees.common.errors import UnknownName
from milp_trees.testing.warm_up import compiled_methods, warm_up


@pytest.mark.slow
def test_what_was_compiled_ahead_is_only_read_afterwards(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (first,) = warm_up(["greedy-spo"])
    (second,) = warm_up(["greedy-spo"])
    assert first.compiling > 0
    assert second.compiling == 0
    assert first.problems == second.problems > 0


def test_every_engine_and_the_formulations_that_compile_are_known():
    assert {"dp", "dp-sorted", "partial-trees", "state-flow"} <= set(compiled_methods())


def test_an_unknown_name_is_refused_before_anything_runs():
    with pytest.raises(UnknownName, match=r"'flow-oct'; the methods that compile are .*dp"):
        next(warm_up(["flow-oct"]))


@pytest.mark.slow
def test_the_command_says_what_it_did():
    from typer.testing import CliRunner

    from milp_trees.cli.main import app

    message = CliRunner().invoke(app, ["warm-up", "ip3-closure", "--json"])
    assert message.exit_code == 0
    (row,) = json.loads(message.stdout)
    assert row["name"] == "ip3-closure"
    assert row["seconds"] >= row["compiling"] >= 0
    wrong = CliRunner().invoke(app, ["warm-up", "nothing"])
    assert wrong.exit_code == 1
