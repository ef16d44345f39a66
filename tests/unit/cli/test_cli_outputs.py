"""No command writes over what it reads, or over what is no earlier output; files are written whole."""

import json
import os
import re
import shutil
import sqlite3

import pytest
import typer
from cli_cases import run

import milp_trees as mt
from milp_trees.cli import outputs
from milp_trees.cli.app import app
from milp_trees.cli.commands import load
from milp_trees.common.errors import DataError
from milp_trees.common.limits import LOG_HEAD

#: Options that name files to write; `verify` reads its --proof.
WRITTEN = {"--out", "--plot", "--log", "--proof", "--store", "--write-rules", "--proofs"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a table, a result, its proof, and a study."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        rows = "".join(
            f"{a},{s},{'ill' if a < 35 and s == 'y' else 'well'}\n"
            for a in range(20, 60, 4)
            for s in "yn"
        )
        (folder / "people.csv").write_text(f"age,smoker,health\n{rows}")
        problem = mt.Problem(mt.load("people.csv"), mt.Accuracy(), mt.Trees(max_depth=1))
        mt.compare([problem], ["cart"], store="study.db", reference=None).store.close()
        result = mt.solve(problem, "dp", proof="r.proof")
        (folder / "r.json").write_text(json.dumps(result.to_json()))
        (folder / "prices.txt").write_text("age 1\nsmoker 1\n")
        (folder / "spec.toml").write_text('[[problem]]\ndata = ["people.csv"]\n')
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A copy of it, which is the current folder."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


#: Every command with an option that names a file to write, with the inputs that it reads.
COMMANDS = {
    "solve people.csv --depth 1": ("people.csv",),
    "solve people.csv --depth 1 --feature-costs prices.txt": ("people.csv", "prices.txt"),
    "oblique-tree people.csv --depth 1 --method greedy-oblique": ("people.csv",),
    "compare people.csv --depth 1 --methods cart": ("people.csv",),
    "front people.csv --depth 1 --task equalised-odds-front": ("people.csv",),
    "near-best people.csv --depth 1": ("people.csv",),
    "size-path people.csv --depth 1": ("people.csv",),
    "gap r.json people.csv --depth 1": ("r.json", "people.csv"),
    "why-not people.csv --depth 1": ("people.csv",),
    "counterfactual r.json people.csv --row 0": ("r.json", "people.csv"),
    "rule-list people.csv": ("people.csv",),
    "antecedents people.csv": ("people.csv",),
    "prune people.csv": ("people.csv",),
    "look people.csv": ("people.csv",),
    "unimodular ip3 --data people.csv": ("people.csv",),
    "export-model people.csv --depth 1": ("people.csv",),
    "import-solution r.json people.csv": ("r.json", "people.csv"),
    "export r.json --to json": ("r.json", "people.csv"),
    "export r.json --to html": ("r.json", "r.proof"),
    "predict r.json people.csv": ("r.json", "people.csv"),
    "table study.db": ("study.db",),
    "table study.db --style csv": ("study.db", "people.csv"),
    "report study.db": ("study.db",),
    "plot study.db": ("study.db",),
    "study spec.toml": ("spec.toml", "people.csv"),
    "study --watch study.db": ("study.db",),
    "library build spec.toml": ("spec.toml", "people.csv"),
    "example people": ("people.csv",),
    "demo": ("people.csv",),
    "spo": ("people.csv",),
}
#: Files that these have to end in, so that a link with such a name leads to the input.
ENDINGS = {"--plot": ".png", "--write-rules": ".out", "plot": ".png", "export-model": ".mps"}


def _parameters():
    load([])
    tree = typer.main.get_command(app)
    found = {}
    for name, command in tree.commands.items():
        below = getattr(command, "commands", None)
        for sub, one in below.items() if below else ((None, command),):
            flags = {f for p in one.params for f in p.opts if p.param_type_name == "option"}
            found[name if sub is None else f"{name} {sub}"] = flags & WRITTEN
    found["verify"] -= {"--proof"}
    return {name: flags for name, flags in found.items() if flags}


OPTIONS = _parameters()


def name_of(line):
    words = line.split()
    return " ".join(words[:2]) if words[0] == "library" else words[0]


def test_every_command_that_writes_is_tried():
    assert set(OPTIONS) == {name_of(line) for line in COMMANDS}


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_does_not_replace_what_it_reads(line, here):
    """Also by a symbolic link or a hard link, whatever the option."""
    for flag in sorted(OPTIONS[name_of(line)]):
        ending = ENDINGS.get(flag) or ENDINGS.get(name_of(line) if flag == "--out" else "", "")
        for k, source in enumerate(COMMANDS[line]):
            names = [source] if not ending else []
            for kind, make in (("soft", os.symlink), ("hard", os.link)):
                names.append(f"{kind}{k}{flag}{ending}")
                make(here / source, here / names[-1])
            before = (here / source).read_bytes()
            for name in names:
                code = None
                try:
                    run(*line.split(), flag, name, code=1)
                except AssertionError as error:
                    code = str(error)
                assert (here / source).read_bytes() == before, (flag, name)
                assert (here / name).read_bytes() == before, (flag, name)
                assert code is None, (flag, name, code)


def test_a_file_that_is_no_output_of_ours_is_kept(here):
    """`--out` replaced anything that was there."""
    for kind in outputs.KINDS:
        if kind in ("rules", "store", "table"):
            continue
        for content in (
            b"a,b\n1,2\n",
            b'{"my": "settings"}',
            b"<html>mine</html>",
            b"\x89PNG mine",
        ):
            (here / "mine").write_bytes(content)
            with pytest.raises(DataError, match="no such output of milp-trees"):
                outputs.writable(**{kind: here / "mine"})
    (here / "mine").write_bytes(b" \n")  # nothing is lost
    outputs.writable(json=here / "mine")


def test_outputs_are_replaced_by_the_same_command(here, monkeypatch):
    """Each command knows the files that it has written itself."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    (here / "m").mkdir()
    for line in (
        "solve people.csv --depth 1 --method dp --out o.json --proof o.proof -q",
        "solve people.csv --depth 1 --method oct@highs --reference none --log o.log -q",
        "compare people.csv --depth 1 --methods cart,dp --plot o.png --out o.json -q",
        "size-path people.csv --depth 1 --plot o.svg --out size.json -q",
        "near-best people.csv --depth 1 --slack 1 --plot o.pdf --out near.json --proof near.proof -q",
        "gap r.json people.csv --depth 1 --out gap.json",
        "look people.csv --out look.json",
        "antecedents people.csv --write-rules o.out",
        "export-model people.csv --depth 1 --out m/model.mps.gz",
        "export-model people.csv --depth 1 --out m/other.lp",
        "predict r.json people.csv --out o.csv",
        "report study.db --out o.html",
        "plot study.db --out profile.svg",
        *(
            f"export r.json --to {to} -o model.{to}"
            for to in ("c", "dot", "html", "json", "python")
        ),
        *(f"export r.json --to {to} -o model.{to}" for to in ("pmml", "sql")),
        *(f"table study.db --style {s} --out table.{s}" for s in ("latex", "csv", "markdown")),
        "table study.db --by variant --style csv --out by.csv",
    ):
        for _ in range(2):
            run(*line.split(), code=0)
    assert (here / "o.log").read_text().startswith(LOG_HEAD)
    assert "Written by milp-trees table." in (here / "table.latex").read_text()


def test_links_and_permissions_of_an_output_stay(here):
    (here / "there").mkdir()
    run("look", "people.csv", "--out", "there/look.json", code=0)
    os.chmod(here / "there/look.json", 0o640)
    os.symlink("there/look.json", here / "link.json")
    run("look", "people.csv", "--out", "link.json", code=0)
    assert (here / "link.json").is_symlink()
    assert (here / "there/look.json").stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in (here / "there").iterdir()) == ["look.json"]


def test_a_pipe_is_written_to():
    assert re.search(r'"guessed"', run("look", "iris", "--out", "/dev/stdout", "--json").stdout)


def test_a_database_is_no_page(here):
    with sqlite3.connect(here / "other.html") as db:
        db.execute("CREATE TABLE a (b)")
    assert "not replaced" in run("report", "study.db", "--out", "other.html", code=1).stderr
