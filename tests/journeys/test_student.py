"""Optimal trees, understood: the page for students, section by section."""

import gzip
import json
from pathlib import Path

import journey_pages

PAGE = "docs/start/understood.md"


def test_greedy_trees_miss_the_exclusive_or(done):
    assert done(1).printed.startswith("8 errors, greedy\n0 errors, optimal\n")


def test_greedy_and_optimal_on_the_wines(done):
    found = done(2)
    greedy, optimal = found.names["greedy"], found.names["optimal"]
    assert (greedy.value.number, optimal.value.number, optimal.bound) == (14, 6, 6)
    assert optimal.optimal
    assert found.printed.endswith("6 errors\n6 errors\n")


def test_incumbent_and_bound_of_a_stopped_search(done):
    names = done(3).names
    stopped, proved = names["stopped"], names["proved"]
    assert stopped.status.value == "feasible"
    assert stopped.bound <= proved.value.number <= stopped.value.number
    assert (proved.value.number, proved.bound) == (12, 12)
    assert proved.optimal


def test_a_proof_file_says_what_the_page_says(done, tmp_path):
    found = done(4)
    with gzip.open(tmp_path / "xor.proof", "rt") as lines:
        statement, *claims = map(json.loads, lines)
    assert statement["data"]["X"] == ["00", "01", "10", "11"]
    assert (statement["depth"], statement["bound"]) == (1, 2)
    assert claims[-1][:3] == [2, 1, []]
    assert "proved: 2" in found.printed


def test_choose_the_size(done):
    assert 2 <= done(5).names["model"].get_n_leaves() <= 5


def test_the_pictures_are_drawn_by_the_gallery():
    text = (journey_pages.ROOT / PAGE).read_text(encoding="utf-8")
    for name in ("greedy_tree", "greedy_tree_optimal", "gap_over_time"):
        assert f"../gallery/{name}.svg" in text
        assert Path(journey_pages.ROOT / "docs" / "gallery" / f"{name}.py").exists()
