"""The README and the tutorial run from top to bottom as they are printed."""

import re

import journey_pages
import pytest

from milp_trees.data.examples import EXAMPLES


def test_the_tutorial_runs_in_an_empty_folder(tmp_path, monkeypatch):
    done = journey_pages.do_all("docs/start/tutorial.md", tmp_path, monkeypatch)
    assert "derived" in done.printed
    assert done.names["model"].status_ == "optimal"
    assert "SELECT" in (tmp_path / "left.sql").read_text()


def commands_of_the_readme():
    """The commands of the table of questions."""
    text = (journey_pages.ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^\| .* \| `(milp-trees [^`]+)` \|$", text, re.MULTILINE)


def test_the_first_screen_of_the_readme_works_as_printed(tmp_path, monkeypatch):
    """Its short commands, in an empty folder; the two long lines are what continuous integration runs."""
    monkeypatch.chdir(tmp_path)
    text = (journey_pages.ROOT / "README.md").read_text(encoding="utf-8").split("## ")[0]
    short = re.findall(r"^milp-trees .*$", text, re.MULTILINE)
    done = journey_pages.Done()
    for line in short:
        journey_pages.command(line, done)
    assert len(short) == 2
    assert "60 errors" in done.printed


def test_every_command_of_the_readme_s_table_answers(tmp_path, monkeypatch):
    """In the folder that `milp-trees example --all` fills, after `solve … --out result.json`."""
    monkeypatch.chdir(tmp_path)
    done = journey_pages.Done()
    journey_pages.command("milp-trees example --all", done)
    requested = commands_of_the_readme()
    journey_pages.command("milp-trees solve people.csv --depth 2 --out result.json", done)
    for line in requested:
        journey_pages.command(line, done)
    assert len(requested) >= 12


def test_the_drawn_tree_is_the_one_of_the_readme_s_command():
    """`python benchmarks/readme_picture.py` writes it."""
    import runpy

    made = runpy.run_path(str(journey_pages.ROOT / "benchmarks" / "readme_picture.py"))
    svg, result = made["drawn"]()
    assert made["PICTURE"].read_text(encoding="utf-8") == svg
    assert (result.value.number, result.bound) == (60, 60)
    readme = (journey_pages.ROOT / "README.md").read_text(encoding="utf-8")
    assert "fewer than 60 errors" in readme


@pytest.mark.parametrize(
    "page", sorted((journey_pages.ROOT / "docs").rglob("*.md")), ids=lambda p: p.stem
)
def test_every_file_that_a_command_reads_can_be_made(page):
    """It is an example table, is written on the same page, or is in the repository."""
    text = page.read_text(encoding="utf-8")
    commands = re.findall(r"^(?:.*&& )?milp-trees (.+)$", text, re.MULTILINE)
    examples = {one.file for one in EXAMPLES.values()}
    written = set(
        re.findall(
            r"(?:--out|-o|--store|--write-rules|--plot|>|store=|to_csv\()[ \"]*([\w./-]+)", text
        )
    )
    # An exported model has its description, and may have a solution, beside it.
    models = [
        re.sub(r"\.(mps|lp)$", "", file) for file in written if file.endswith((".mps", ".lp"))
    ]
    written |= {f"{model}{ending}" for model in models for ending in (".json", ".sol")}
    named = set(re.findall(r"^# ([\w.]+\.toml)$", text, re.MULTILINE))
    for line in commands:
        for file in re.findall(r"(?<![\w./=-])([\w./-]+\.(?:csv|txt|out|toml|json))\b", line):
            there = file in examples | written | named | FETCHED | WRITTEN_ELSEWHERE
            assert there or (journey_pages.ROOT / file).exists(), f"{page.name}: {file} in {line}"


#: Public files, which docs/start/data.md says how to fetch.
FETCHED = {
    "compas_train.out",
    "adult-binarized.csv",
    "german-credit-binarized.csv",
    "train_rf_dt_0.06_0_1.csv",
}
#: Results that an earlier command of any page writes with `--out`.
WRITTEN_ELSEWHERE = {"result.json", "typed.txt", "moved/people.csv"}
