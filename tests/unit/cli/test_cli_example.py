"""`milp-trees example`: it lists, writes one, several or all, and refuses in one sentence."""

import json

from cli_cases import run

from milp_trees.data.examples import EXAMPLES


def test_without_a_name_the_examples_are_listed():
    shown = run("example").stdout
    assert all(one.file in shown and one.title in shown for one in EXAMPLES.values())
    assert json.loads(run("example", "--json").stdout)[0]["name"] == "people.csv"


def test_files_are_written_under_their_names_or_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("example", "people.csv", "heart").stdout.startswith("wrote people.csv: ")
    run("example", "survey", "-o", "mine.csv")
    (tmp_path / "all").mkdir()
    paths = json.loads(run("example", "--all", "-o", "all", "--json").stdout)
    assert len(paths) == len(EXAMPLES)
    assert {p.name for p in tmp_path.glob("*.csv")} == {"people.csv", "heart.csv", "mine.csv"}
    assert {p.name for p in (tmp_path / "all").iterdir()} == {o.file for o in EXAMPLES.values()}


def test_refusals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "There is no example 'adults'" in run("example", "adults", code=1).stderr
    assert "need a folder" in run("example", "--all", "-o", "x.csv", code=1).stderr
