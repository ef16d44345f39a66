"""Help texts, wrong usage, and how much a command says."""

import json

import pytest
from cli_cases import PLANTED, run
from row_tests import each_row

from milp_trees.cli import help as headings
from milp_trees.cli import info
from milp_trees.cli.main import app
from milp_trees.cli.progress import longest
from milp_trees.results.tables import plain_table, reasons, summary


def sections(text):
    """The headings of a help text with the options below them."""
    found, heading = {}, ""
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            heading = line[:-1]
        elif line.startswith("  -"):
            found.setdefault(heading, []).append(line.split()[0].rstrip(","))
    return found


@each_row(
    ("command", "own"),
    [
        ("size-path", "--method"),
        ("near-best", "--slack"),
        ("estimate", "--formulations"),
        ("solve", "--target"),
    ],
)
def test_the_options_of_the_command_itself_come_first(command, own):
    found = sections(run(command, "--help").stdout)
    assert next(iter(found.values()))[0] == own
    usual = found["Usual options"]
    assert usual[:3] == ["--target", "--depth", "--leaves"]
    assert {"--task", "--leaf-penalty", "--min-samples-leaf"} <= set(usual)
    assert found["Output"][-1] == "--help"
    everything = sections(run(command, "--help-all").stdout)
    assert "--drop" in everything["Data"]
    assert "--capacity" in everything["Task"]
    assert "--sep" in everything["Reading"]
    assert everything["Usual options"] == usual


def test_the_help_text_of_solve_fits_on_a_screen_and_says_where_the_rest_is():
    text = run("solve", "--help").stdout
    assert len(text.splitlines()) <= 70
    assert "milp-trees solve --help-all shows" in " ".join(text.split()) or "--help-all" in text
    lists = sections(run("rule-list", "--help").stdout)["Usual options"]
    assert {"--max-length", "--negations", "--split-penalty"} <= set(lists)
    assert "--max-length" not in text


@each_row("command", ["solve", "prune", "size-path", "spo", "unimodular", "gap"])
def test_a_limit_of_depth_has_one_name_and_another_one_leads_to_it(command):
    assert "--depth " in run(command, "--help-all").stdout
    message = run(command, "--max-depth", "3", code=2).stderr
    assert "No such option: --max-depth. Did you mean --depth?" in message


def test_every_output_file_may_be_named_by_the_short_option():
    from typer.main import get_command

    def every(command):
        found = getattr(command, "commands", None)
        return [command] if found is None else [c for one in found.values() for c in every(one)]

    named = [p.opts for c in every(get_command(app)) for p in c.params if "--out" in p.opts]
    assert len(named) > 15
    assert named == [["--out", "-o"]] * len(named)


def test_no_line_of_a_list_is_cut_and_every_command_has_a_heading():
    text = run("--help").stdout
    assert "..." not in text.partition("\n")[2]
    assert "Other commands" not in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert [h for h in headings.COMMANDS[:-1] if f"\n{h}:\n" not in text] == []


@each_row(
    ("words", "said"),
    [
        (["solve"], "Missing argument 'data'. It is needed: A table (CSV"),
        (["solve", "iris", "wine"], "a value with spaces stands in quotes"),
        (["solve", "iris", "--depth", "two"], "It must be a whole number; got 'two'."),
        (["size-path", "iris", "--leaves", "0"], "It must be at least 1; got '0'."),
        (["--depth", "2", "solve", "iris"], "Options follow the command: milp-trees solve"),
        (["slove", "iris"], "Did you mean 'solve'"),
        (["solve", "iris", "--dpeth", "2"], "No such option: --dpeth. Did you mean --depth?"),
        (["solve", "iris", "--max-leaves", "2"], "Did you mean --leaves?"),
        (["size-path", "iris", "--max-leaf-nodes", "2"], "Did you mean --leaves?"),
        (["solve", "iris", "--solver", "highs"], "--method FORMULATION@SOLVER."),
        (["solve", "iris", "--methods", "dp"], "Did you mean --method, which takes one?"),
        (["solve", "iris", "--wxyz"], "milp-trees COMMAND --help-all lists all options"),
    ],
)
def test_wrong_usage_is_answered_with_what_to_do(words, said):
    assert said in " ".join(run(*words, code=2).stderr.split())


def test_near_best_asks_for_a_slack_by_its_options():
    for given in ([], ["--slack", "1", "--relative", "0.1"]):
        assert "for example --slack 1" in run("near-best", "iris", *given, code=1).stderr


def test_solve_says_what_a_user_wants_and_counts_only_when_asked():
    text = run("solve", PLANTED).stdout
    assert "errors in 60 rows (" in text
    assert "status    optimal: dp proved that no tree is better" in text
    assert "sizes" not in text
    assert "sizes" in run("solve", PLANTED, "-v").stdout
    assert "data      " in text
    assert "data      " not in run("solve", PLANTED, "-q").stdout


def test_compare_says_how_long_it_may_take_and_shows_no_caveat_in_every_line():
    found = run("compare", "iris", "--methods", "dp,state-flow@highs", "--time-limit", 30)
    assert "time      at most 2 min: 2 runs, the start, the reference" in found.stdout
    assert "left out" not in found.stderr
    assert found.stdout.count("of 119 thresholds (") == 1
    quiet = run("compare", PLANTED, "--methods", "dp", "-q")
    assert quiet.stderr == ""
    assert "time   " not in quiet.stdout


def test_the_longest_time_is_said_in_units_that_fit():
    assert longest(18, [], 60.0) == "time      at most 18 min: 18 runs, each of at most 60 s"
    assert longest(1, [], 5.0) == "time      at most 5 s: 1 run, each of at most 5 s"
    assert longest(500, [], 60.0).startswith("time      at most 8.3 h:")
    assert longest(2, ["the start"], None) == "time      no limit: 2 runs, the start"


def test_tables_say_who_proved_a_bound_and_fit_eighty_columns():
    row = json.loads(run("solve", "iris", "--json").stdout)
    name = "state-flow-reduced:reduce=off@highs"
    rows = [
        {**row, "method": name, "proved_by": "highs 1.15.1 after lagrangian", "start": {}},
        {**row, "proved_by": "the data (what every predictor costs at least)", "status": "error"},
        {**row, "method": "oct@highs", "status": "unsupported", "objective": None},
    ]
    text = plain_table(rows, width=80)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "data*" in text
    assert "1.15.1" not in text
    assert "unsupported" in text
    assert "…" not in text
    assert reasons(rows)[0].startswith("data*: the data give this bound before any search")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"status": "feasible", "limit": "time"}, "stopped by its time limit: dp found this tree"),
        ({"status": "infeasible", "objective": None}, "infeasible: dp proved that no tree"),
        ({"status": "no solution", "objective": None, "limit": "nodes"}, "dp found no tree"),
    ],
)
def test_the_status_is_said_in_words(changed, said):
    row = json.loads(run("solve", PLANTED, "--json").stdout)
    assert said in dict(summary({**row, **changed}))["status"]


def test_info_tells_versions_solvers_cores_and_folders(monkeypatch):
    monkeypatch.setenv(info.DATA_VARIABLE, "/some/where")
    found = json.loads(run("info", "--json").stdout)
    assert found["solvers"]["highs"]["found"] is True
    assert found["data"] == "/some/where"
    assert 1 <= found["cores"]["usable"] <= found["cores"]["logical"]
    text = run("info").stdout
    for word in ("numba", "cores", "cache", "/some/where", "solver      highs"):
        assert word in text


def test_links_in_the_list_of_formulations_stay_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = run("formulations").stdout
    assert "https://doi.org/10.1609/aaai.v33i01.33011624" in text


def test_a_shell_completes_commands_and_options(monkeypatch):
    """The answer of the shell's question while it completes a line."""
    from typer.testing import CliRunner

    def asked(line, number):
        words = {"COMP_WORDS": line, "COMP_CWORD": str(number)}
        env = {"_MILP_TREES_COMPLETE": "complete_bash", **words}
        return CliRunner().invoke(app, [], prog_name="milp-trees", env=env).stdout.split()

    assert "solve" in asked("milp-trees so", 1)
    assert asked("milp-trees solve --max-dis", 2) == ["--max-disparity"]
