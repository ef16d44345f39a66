"""The generated example tables: the same bytes everywhere, never written over another file."""

import hashlib

import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError, UnknownName
from milp_trees.data.examples import EXAMPLES, example_named

#: The first digits of the SHA-256 of every file. Numbers in the documentation are about these.
DIGESTS = {
    "people.csv": "02ee2c902145",
    "new.csv": "410aabe49c14",
    "messy.csv": "3a96c7cdb897",
    "hiring.csv": "c2c2ec5a97a3",
    "trial.csv": "d7ff58278370",
    "heart.csv": "98f3c9ca0930",
    "prices.txt": "4fa209e61797",
    "costs.txt": "b126cd946c37",
    "routes.csv": "6f924753f6e2",
    "survey.csv": "74907995a778",
}


def test_the_files_have_the_same_bytes_on_every_machine():
    """Numbers that pages print are about these files; a change here changes them."""
    made = {
        one.file: hashlib.sha256(one.text.encode()).hexdigest()[:12] for one in EXAMPLES.values()
    }
    assert made == DIGESTS


@each_row("name", [n for n, one in EXAMPLES.items() if one.file.endswith(".csv")])
def test_every_table_is_read_by_its_short_name_and_by_that_of_its_file(name, tmp_path):
    frame = mt.example(name, tmp_path / "copy.csv")
    assert frame.equals(mt.example(f"{name}.csv"))
    assert frame.shape[0] >= 20
    assert (tmp_path / "copy.csv").read_text("utf-8") == EXAMPLES[name].text


def test_a_file_with_other_contents_is_not_written_over(tmp_path):
    target = tmp_path / "people.csv"
    example_named("people").write(target)
    example_named("people").write(target)
    target.write_text("mine")
    with pytest.raises(DataError, match="other contents"):
        example_named("people").write(target)
    with pytest.raises(DataError, match="other contents"):
        example_named("people").write(tmp_path)
    assert target.read_text() == "mine"


def test_what_cannot_be_given_is_one_sentence(tmp_path):
    with pytest.raises(UnknownName, match=r"there are people\.csv, new\.csv"):
        mt.example("persons")
    with pytest.raises(DataError, match="no table"):
        mt.example("prices")
    with pytest.raises(DataError, match="cannot be written"):
        mt.example("people", tmp_path / "nowhere" / "people.csv")


def test_the_planted_rules_are_in_the_tables():
    """In people.csv gains make the income high, and no marriage makes it low, but for noise."""
    frame = mt.example("people")
    high = frame["income"].eq("high")
    assert high[frame["gains"] > 0].mean() > 0.9
    assert high[(frame["married"] == "no") & (frame["gains"] == 0)].mean() < 0.1
