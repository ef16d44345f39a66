"""Every number that a command takes, set to what nobody means: one sentence and an exit code, never
a traceback, never silence.
"""

import signal
from contextlib import contextmanager

import pytest
import typer.main
from row_tests import each_row
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app

COMMANDS = typer.main.get_command(app).commands
VALUES = ("nan", "-1", "0", "1.5", "", "1e99")

SOLVE = ["--reference", "none", "--method", "cart"]
#: Command → what a run needs beside the option; option → what it needs more.
NEEDS = {
    "solve": ["t.csv", *SOLVE],
    "compare": ["t.csv", "--methods", "cart", "--reference", "none"],
    "near-best": ["t.csv", "--slack", "0"],
    "size-path": ["t.csv"],
    "export-model": ["t.csv", "--formulation", "state-flow", "--out", "m.mps", "--no-solution"],
    "prune": ["t.csv", "--trees", "2"],
    "spo": ["--rows", "9", "--test-rows", "3", "--methods", "cart", "--grid", "2x2"],
    "unimodular": ["ip3", "--data", "t.csv"],
}
MORE = {
    "--task=f-beta:beta": ["--method", "dp"],
    "--task=precision:min_recall": ["--method", "dp"],
    "--task=partial-auc:theta": ["--method", "partial-trees"],
    "--max-disparity": [
        "--constraint",
        "statistical-parity",
        "--group",
        "b",
        "--method",
        "enumerate",
        "--depth",
        "1",
    ],
    "--held-out": ["--errors", "held-out"],
    "--min-weight-leaf": ["--weights", "w", "--task", "weighted", "--method", "dp"],
    "--split-seed": ["--test-size", "0.5"],
    "--node-cost": ["--lambda", "0.1"],
    "--leaf-cost": ["--lambda", "0.1"],
}
#: Options that take a number, with what they take of the values above.
NUMBERS = {
    "solve": {
        "--depth": "0",
        "--test-size": "",
        "--split-seed": "0",
        "--task=f-beta:beta": "1.5",
        "--task=precision:min_recall": "0",
        "--task=partial-auc:theta": "",
        "--leaf-penalty": "0 1.5",
        "--split-penalty": "0 1.5",
        "--max-disparity": "0",
        "--min-samples-leaf": "",
        "--leaves": "",
        "--min-weight-leaf": "0 1.5",
        "--time-limit": "1.5",
        "--memory-limit": "",
        "--max-nonzeros": "",
        "--threads": "",
        "--seed": "0",
    },
    "compare": {"--seeds": "0"},
    "near-best": {"--slack": "0 1.5 1e99", "--list": "0", "--sample": "0", "--seed": "0"},
    "export-model": {"--max-nonzeros": ""},
    "prune": {
        "--trees": "",
        "--depth": "",
        "--seed": "0",
        "--held-out": "",
        "--test-size": "",
        "--node-cost": "0 1.5",
        "--leaf-cost": "0 1.5",
        "--denominator": "",
        "--lambda": "0 1.5",
        "--budget": "0 1.5 1e99",
        "--time-limit": "1.5",
        "--threads": "",
    },
    "spo": {
        "--rows": "",
        "--test-rows": "0",
        "--degree": "1.5",
        "--noise": "0",
        "--grid": "",
        "--features": "",
        "--inner": "0 1.5 -1",
        "--outer": "0 1.5 -1",
        "--thresholds": "0",
        "--seed": "0",
        "--depth": "0",
        "--min-samples-leaf": "",
        "--split-penalty": "0 1.5 1e99",
        "--time-limit": "1.5",
    },
    "unimodular": {"--trees": "", "--depth": ""},
}
#: Taken without a word before the option has a use, or by what others promise (`--seeds ''` and NaN
#: among limits of Python).
ELSEWHERE = {("compare", "--seeds", ""), ("compare", "--seeds", "-1"), ("solve", "--seed", "-1")}
#: Options that mean the same for all commands, of one type, checked before a command begins:
#: `solve` stands for all.
OF_ALL = ("--time-limit", "--memory-limit", "--threads", "--max-nonzeros")
CASES = [(command, option) for command, options in NUMBERS.items() for option in options]


@contextmanager
def seconds(most):
    """Fail instead of hanging."""

    def stop(*_):
        raise TimeoutError(f"no answer within {most} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(most)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(
        f"{i % 3},{i % 2},{1 + i % 2},{'yes' if i % 5 < 2 else 'no'}\n" for i in range(12)
    )
    (tmp_path / "t.csv").write_text("a,b,w,y\n" + rows)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "option"), CASES)
def test_a_number_that_nobody_means_gets_one_sentence(folder, command, option):
    """What an option takes is listed; everything else is wrong input (1) or wrong usage (2), said
    on standard error at once.
    """
    takes = NUMBERS[command][option].split()
    for value in VALUES if command == "solve" else ("nan", "-1", "1e99", *takes[:1]):
        if (command, option, value) in ELSEWHERE:
            continue
        with seconds(60):
            found = CliRunner().invoke(
                app, [command, *NEEDS[command], *MORE.get(option, []), f"{option}={value}"]
            )
        message = f"{option}={value}: exit {found.exit_code}: {found.stderr[-300:]}"
        assert found.exception is None or isinstance(found.exception, SystemExit), (
            f"{message} {found.exception!r}"
        )
        assert "Traceback" not in found.stderr, message
        if value in takes:
            assert found.exit_code == 0, message
        else:
            assert found.exit_code in (1, 2) or (value, found.exit_code) == ("1e99", 3), message
            assert found.exit_code == 2 or found.stderr.splitlines()[-1].startswith("Error: "), (
                message
            )


def test_every_option_that_takes_a_number_is_in_the_table():
    """By its type; numbers that are written as text (fractions) are listed by hand."""
    shared = {max(o.opts, key=len) for o in COMMANDS["solve"].params}
    for command, options in NUMBERS.items():
        kinds = {
            max(o.opts, key=len): type(getattr(o, "type", None)).__name__
            for o in COMMANDS[command].params
        }
        numeric = {
            o for o, kind in kinds.items() if "int" in kind.lower() or "float" in kind.lower()
        }
        listed = set(options) | (shared if command != "solve" else set())
        missing = numeric - listed - {"--features", "--constraints", "--depth", *OF_ALL}
        assert not missing, (command, missing)


@each_row("text", ["1e999999999", "-1E+99999", "1/0", "nan", "inf", "x", ""])
def test_numbers_that_are_read_exactly_are_of_ordinary_size(text):
    """At once: 1e999999999 written out is minutes of work."""
    with seconds(5), pytest.raises(mt.DataError, match="beta must be"):
        mt.tasks.FBeta(beta=text)


def test_options_without_a_use_are_said_to_be_so(folder):
    """A favourable class or a disparity without a constraint would change nothing."""
    for option in "--favourable=yes", "--max-disparity=0.1":
        found = CliRunner().invoke(app, ["solve", "t.csv", *SOLVE, option])
        assert (found.exit_code, "give --constraint too" in found.stderr) == (1, True)


def test_weights_that_are_all_zero_and_groups_of_one_value_are_refused(tmp_path):
    """Nothing would count, and nothing would be compared."""
    path = tmp_path / "t.csv"
    path.write_text("a,w,y\n0,0,no\n1,0,yes\n")
    found = CliRunner().invoke(app, ["solve", str(path), "--weights", "w", "--task", "weighted"])
    assert (found.exit_code, "at least one must count" in found.stderr) == (1, True)
    found = CliRunner().invoke(
        app,
        [
            "solve",
            str(path),
            "--group",
            "w",
            "--constraint",
            "statistical-parity",
            "--method",
            "enumerate",
        ],
    )
    assert (found.exit_code, "all rows are of one group" in found.stderr) == (1, True)
