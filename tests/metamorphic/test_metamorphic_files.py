"""Every command that reads a table: in files of every kind, and with its table in another order.

`MILP_TREES_METAMORPHIC=thorough` tries every command with every file.
"""

import zlib
from functools import cache

import click
import numpy as np
import pytest
import typer
from known_faults import reference
from meta_files import COMMANDS, FILES, NO_ROW, REFUSED, first_difference, people, run, worth
from meta_rows import SEEDS, THOROUGH

import milp_trees as mt
from milp_trees.cli import commands
from milp_trees.cli.app import app
from milp_trees.common.errors import MilpTreesError

#: Numbers of single precision are other numbers where halves do not do.
ROUNDED = "narrow.parquet"
#: Commands whose answer depends on the order of rows: they draw rows, or list them.
IN_ORDER = ("prune", "predict", "look", "antecedents", "estimate", "export-model")


def chosen(command, name, every=14):
    """Whether a pair is tried without the switch."""
    return THOROUGH or zlib.crc32(f"{command} {name}".encode()) % every == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def answer(folder):
    """What a command says about a table of a kind in the plain file; the result that others read."""

    @cache
    def result_of(seed, thousandths):
        path = folder / f"{seed}{thousandths}.csv"
        FILES["plain.csv"](people(seed, thousandths=thousandths), path)
        (folder / f"out{seed}{thousandths}").mkdir(exist_ok=True)
        first = run("solve", path, folder / f"out{seed}{thousandths}", None)
        assert not isinstance(first, str), first
        return path, folder / f"out{seed}{thousandths}" / "r.json"

    @cache
    def said(command, seed, thousandths):
        path, result = result_of(seed, thousandths)
        found = run(command, path, folder, result)
        assert not isinstance(found, str), found
        return found, result

    return said


def test_every_command_that_reads_a_table_has_a_row():
    commands.load([])
    group = typer.main.get_command(app)
    reading = {
        name
        for name, command in group.commands.items()
        if {"data", "new", "spec"}
        & {p.name for p in command.params if isinstance(p, click.Argument)}
        or isinstance(command, click.Group)
    }
    assert set(COMMANDS) <= set(group.commands)
    assert reading - set(COMMANDS) <= set(NO_ROW), reading - set(COMMANDS)


@pytest.mark.parametrize("name", FILES)
def test_a_table_is_the_same_in_every_kind_of_file(name, folder, answer):
    tried = [command for command in COMMANDS if chosen(command, name)]
    found = {}
    for command in tried:
        for seed in SEEDS:
            for thousandths in (
                (False,) if name == ROUNDED else (False, True) if THOROUGH else (True,)
            ):
                path = folder / name
                FILES[name](people(seed, thousandths=thousandths), path)
                expected, result = answer(command, seed, thousandths)
                why = first_difference(expected, run(command, path, folder, result))
                if why:
                    found[command] = why
    reference("file", name, tried, found)


@pytest.mark.parametrize("name", REFUSED)
def test_what_looks_like_a_fault_of_the_table_is_refused_by_every_command(name, folder, answer):
    """It is taken where columns are named: by `predict`, by those that the model asks for."""
    write, words = REFUSED[name]
    write(people(0), folder / name)
    for command in filter(lambda c: chosen(c, name), COMMANDS):
        expected, result = answer(command, 0, False)
        message = run(command, folder / name, folder, result)
        if command == "predict" or "--features" in COMMANDS[command]:
            assert first_difference(expected, message) is None
        elif command == "look":  # it lists all problems of a table
            assert any(words in str(problem) for problem in message["problems"])
        else:
            assert isinstance(message, str)
            assert words in message, f"{command}: {message}"
    with pytest.raises(MilpTreesError, match=words):
        mt.load(folder / name, target="y")


def _renamed(frame):
    return frame.rename(columns={"a": 'z, "a" <= 1', "b": "über", "y": "target"}), "target"


def _renamed_classes(frame):
    return frame.assign(y=frame["y"].map({"yes": "a; b", "no": 'z "'})), "y"


#: Tables that are worth the same, and the name of their target.
CHANGED = {
    "rows in another order": lambda f: (f.sample(frac=1, random_state=1), "y"),
    "columns in another order": lambda f: (f[list(f)[::-1]], "y"),
    "columns under other names": _renamed,
    "classes under other names": _renamed_classes,
    "numbers times powers of two": lambda f: (f.assign(a=f["a"] * 1024, b=f["b"] / 256), "y"),
    "a column that is constant": lambda f: (f.assign(same="x"), "y"),
    "categories in the other order": lambda f: (
        f.assign(d=f["d"].map({"über": "z", "voilà": "k", "wood": "a"})),
        "y",
    ),
}


@pytest.mark.parametrize("relation", CHANGED)
def test_a_changed_table_is_worth_the_same(relation, folder, answer):
    relations = [c for c in COMMANDS if c not in IN_ORDER and c != "gap"]
    tried, found = [c for c in relations if chosen(c, relation, 8)], {}
    for command in tried:
        # F1 is that of the last class, so other names would be another problem.
        if command == "front" and relation == "classes under other names":
            continue
        for seed in SEEDS:
            frame, target = CHANGED[relation](people(seed))
            path = folder / "changed.csv"
            FILES["plain.csv"](frame, path)
            expected, _ = answer(command, seed, False)
            message = run(command, path, folder, None, "--target", target)
            if why := first_difference(worth(expected), worth(message)):
                found[command] = why
    reference("command", relation, tried, found)


def test_rows_are_worth_what_their_weights_are(folder):
    """A column of weights against repeated rows."""
    for seed in SEEDS:
        frame = people(seed)
        FILES["plain.csv"](frame, folder / "weighed.csv")
        again = frame.loc[np.repeat(frame.index, frame["w"])].drop(columns="w")
        FILES["plain.csv"](again, folder / "again.csv")
        weighed = ["--weights", "w", "--task", "weighted"]
        for command in ("solve", "rule-list", "size-path") if THOROUGH else ("solve",):
            one = run(command, folder / "weighed.csv", folder, None, *weighed)
            two = run(command, folder / "again.csv", folder, None)
            why = first_difference(worth(one), worth(two))
            assert why is None, f"{command}, seed {seed}: {why}"


@pytest.mark.parametrize("name", FILES)
def test_new_rows_are_read_as_the_training_rows(name, folder, answer):
    """A row alone, some columns only, columns in another order, one more column."""
    if not chosen("predict", name + " in parts", 8):
        return
    expected, result = answer("predict", 0, name != ROUNDED)
    frame = people(0, thousandths=name != ROUNDED)
    new, message, found = folder / f"new {name}", expected["predictions"], {}
    changes = {
        "a row alone": (frame.iloc[[3]], message[3:4]),
        "the last rows": (frame.iloc[20:], message[20:]),
        "columns in another order": (frame[list(frame)[::-1]], message),
        "no target": (frame.drop(columns=["y", "w"]), message),
        "one more column": (frame.assign(more="x"), message),
    }
    for change, (rows, answers) in changes.items():
        FILES[name](rows, new)
        got = run("predict", new, folder, result)
        if why := first_difference({"predictions": answers}, got):
            found[change] = why
    reference("predicted", name, changes, found)


@pytest.mark.parametrize("name", FILES)
def test_a_loaded_table_is_the_same(name, folder):
    """`mt.load` makes the same features and rows of it."""
    if not chosen("load", name, 4):
        return
    frame, found = people(0), {}
    FILES[name](frame, folder / name)
    FILES["plain.csv"](frame, folder / "load.csv")
    there = mt.load(folder / "load.csv", target="y")
    try:
        here = mt.load(folder / name, target="y")
        if here.features != there.features or not (here.X == there.X).all():
            found["load"] = "other features"
    except MilpTreesError as refusal:
        found["load"] = str(refusal)
    reference("loaded", name, ["load"], found)
