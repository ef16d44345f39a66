"""The environment of runs: plain data, one fingerprint per machine and software."""

import json
import sys

import pytest

from milp_trees.studies.running import environment as module
from milp_trees.studies.running.environment import (
    PARTS,
    differences,
    environment,
    fingerprint,
    mixed,
)


def test_an_environment_is_plain_and_names_what_can_change_a_time():
    found = environment()
    assert json.loads(json.dumps(found)) == found
    assert set(found) == {*PARTS, "command"}
    assert found["command"] == sys.argv
    assert found["versions"]["numpy"] == __import__("numpy").__version__
    assert found["versions"]["milp-trees"]
    assert "pytest" not in found["versions"]
    assert found["solvers"]["highs"] == found["versions"]["highspy"]
    assert 1 <= found["cores"] <= found["logical_cores"]
    assert found["memory_mb"] > 100


def test_a_fingerprint_is_that_of_machine_and_software_and_not_of_the_command():
    found = environment(["milp-trees", "study", "a.toml"])
    assert fingerprint(found) == fingerprint(environment(["another", "command"]))
    assert len(fingerprint(found)) == 16
    for part in PARTS:
        assert fingerprint({**found, part: "other"}) != fingerprint(found), part


def test_differences_are_said_in_words():
    one = {"machine": "a", "cores": 2, "versions": {"numpy": "2.1", "scipy": "1.1"}, "commit": None}
    two = {"machine": "b", "cores": 2, "versions": {"numpy": "2.2"}, "commit": "f00"}
    assert differences([one, two]) == [
        "machine a or b",
        "commit of milp-trees unknown or f00",
        "numpy 2.1 or 2.2",
        "scipy 1.1 or absent",
    ]
    assert differences([one, one]) == []


def test_a_study_of_several_machines_says_so():
    here = environment()
    assert mixed({}) == mixed({fingerprint(here): here}) == ""
    there = {**here, "machine": "another", "cores": 64}
    message = mixed({"a": here, "b": there})
    assert message.startswith(
        "The runs were made in 2 environments, whose times are never averaged."
    )
    assert f"machine {here['machine']} or another" in message
    assert f"cores {here['cores']} or 64" in message
    many = {**there, "versions": dict.fromkeys("abcdefghij", "1")}
    assert "more." in mixed({"a": here, "b": many})


@pytest.mark.parametrize(
    ("stated", "commit"),
    [
        ('{"url": "https://x", "vcs_info": {"vcs": "git", "commit_id": "f00"}}', "f00"),
        ('{"url": "file:///x", "dir_info": {}}', None),
        (None, None),
    ],
)
def test_the_commit_of_an_installed_package_is_read_from_its_metadata(
    stated, commit, monkeypatch, tmp_path
):
    class Installed:
        def read_text(self, name):
            return stated

    monkeypatch.setattr(module, "SOURCES", tmp_path)
    monkeypatch.setattr(module.metadata, "distribution", lambda name: Installed())
    assert module._commit() == commit
