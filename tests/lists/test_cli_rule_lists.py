"""Rule lists on the command line: the same problem wherever it is stated, and one sentence for errors."""

import json

import pytest
from cli_cases import PLANTED, run

import milp_trees as mt

#: Two rules with four rows each, and an optimal list of one rule.
RULES = "{a} 1 1 0 0 1 0 0 0\n{b} 0 1 1 0 0 0 0 1\n{a,b} 0 1 0 0 0 0 0 0\n"
LABELS = "{no} 0 0 1 1 0 1 1 1\n{yes} 1 1 0 0 1 0 0 0\n"


@pytest.fixture
def rules(tmp_path):
    """Rule files in which the label is the rule `a`."""
    (tmp_path / "x.out").write_text(RULES)
    (tmp_path / "x.label").write_text(LABELS)
    return tmp_path / "x.out"


def as_json(*arguments, code=0):
    return json.loads(run(*arguments, "--json", code=code).stdout)


def test_a_list_of_a_rule_file_is_proven_and_drawn(rules):
    text = run("rule-list", rules, "--length-penalty", "1/100").stdout
    assert "target    target (2 classes: no, yes)" in text
    assert "rules     3 antecedents of one feature" in text
    assert "if a: yes  (3 rows)\nelse: no  (5 rows)" in text
    data = as_json("rule-list", rules, "--length-penalty", "1/100")
    assert (data["status"], data["exact"], data["unit"]) == ("optimal", "1/100", "rate")
    assert data["agrees"] is not False


@pytest.mark.parametrize("command", ["rule-list", "solve"])
def test_options_state_the_same_problem_as_python(table, command):
    """Every option of rule lists, each with a value that is not its default."""
    options = {
        "--max-length": 2,
        "--min-samples-rule": 3,
        "--max-literals": 2,
        "--min-support": "1/10",
        "--max-support": "9/10",
        "--max-antecedents": 20,
        "--length-penalty": "1/50",
    }
    flags = [str(x) for pair in options.items() for x in pair] + ["--negations"]
    more = ["--rule-lists"] if command == "solve" else []
    data = as_json(command, table, *flags, *more)
    space = mt.RuleLists(mt.Antecedents(2, True, "1/10", "9/10", 20), 2, 3)
    problem = mt.Problem(mt.load(table), mt.Accuracy(split_penalty="1/50"), space)
    assert data["problem"]["space"] == space.spec()
    assert data["exact"] == mt.solve(problem).to_json()["exact"]


def test_methods_are_compared_with_the_best_bound_of_all(table):
    """The greedy list proves nothing; its gap is that to the bound of the enumerator."""
    arguments = ("rule-list", table, "--max-length", 2, "--methods", "greedy,enumerate-lists")
    greedy, exact = as_json(*arguments)
    assert exact["gap_to_best"] == 0
    assert greedy["gap"] is None
    loss = greedy["objective"] - exact["bound"]
    assert greedy["gap_to_best"] == pytest.approx(loss / greedy["objective"] if loss else 0)
    assert "gap\n" in run(*arguments).stdout.replace(" ", "")


def test_a_stored_list_is_verified_and_predicts(rules, tmp_path):
    stored = tmp_path / "r.json"
    run("rule-list", rules, "--max-length", 1, "--out", stored)
    assert "The data were read again" in run("verify", stored, "--require", "claimed").stdout
    found = run("predict", stored, rules)
    assert found.stdout.split() == [
        "row,prediction",
        *(
            f"{k},{label}"
            for k, label in enumerate(["yes", "yes", "no", "no", "yes", "no", "no", "no"])
        ),
    ]
    assert "8 of 8 rows" in found.stderr
    (tmp_path / "x.label").unlink()  # rows to predict need no labels
    assert run("predict", stored, rules).stdout.split()[1] == "0,yes"


def test_antecedents_are_counted_listed_and_written(table, tmp_path):
    out = tmp_path / "y.out"
    options = ("--max-literals", 2, "--min-support", 0.2)
    data = as_json("antecedents", table, *options, "--write-rules", out)
    mined = mt.Antecedents(2, min_support="0.2").of(mt.load(table))
    assert [a["name"] for a in data["antecedents"]] == [a.name for a in mined.antecedents]
    assert [a["rows"] for a in data["antecedents"]] == mined.X.sum(axis=0).tolist()
    assert (mt.load(out).X == mined.X).all()
    text = run("antecedents", table, *options, "--list", 2).stdout
    assert f"and {len(mined.antecedents) - 2} more" in text


def test_the_group_is_no_antecedent_unless_it_is_allowed(rules):
    without = as_json("antecedents", rules, "--group", "a")
    assert [a["name"] for a in without["antecedents"]] == ["b", "a,b"]
    allowed = as_json("antecedents", rules, "--group", "a", "--split-on-group")
    assert len(allowed["antecedents"]) == 3


def test_sizes_of_lists_are_counted_in_rules(table):
    text = run("size-path", table, "--rule-lists", "--max-length", 2).stdout
    heads = next(line for line in text.splitlines() if "errors" in line)
    assert heads.split()[:2] == ["rules", "errors"]
    assert "depth" not in heads


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["solve", "RULES", "--rule-lists", "--depth", "2"], 1, "--depth limits trees"),
        (["front", "RULES", "--rule-lists", "--leaves", "2"], 1, "--leaves limits"),
        (["solve", "RULES", "--max-length", "2"], 1, "--max-length is about rule lists"),
        (["export-model", "RULES", "--negations"], 1, "--negations is about rule lists"),
        (["rule-list", "RULES", "--depth", "2"], 2, "No such option"),
        (["rule-list", "RULES"], 1, "nothing limits the length of a list; give max_length"),
        (["rule-list", "RULES", "--length-penalty", "-1"], 1, "must not be negative"),
        (["rule-list", "RULES", "--length-penalty", "much"], 1, "must be a number such as 0.01"),
        (["rule-list", "RULES", "--max-length", "-1"], 1, "max_length must be a whole number"),
        (["rule-list", "RULES", "--max-literals", "0"], 1, "max_literals must be a whole number"),
        (["rule-list", "RULES", "--min-support", "2"], 1, "min_support must be a share"),
        (
            ["rule-list", "RULES", "--min-support", "0.9", "--max-length", "1"],
            1,
            "No antecedent is left",
        ),
        (["rule-list", "RULES", "--max-support", "x"], 1, "max_support must be a number"),
        (["rule-list", "RULES", "--min-samples-rule", "0"], 1, "min_samples_rule must be"),
        (["rule-list", "RULES", "--max-antecedents", "0"], 1, "most must be a whole number"),
        (["rule-list", "RULES", "--max-length", "1", "--node-limit", "0"], 1, "node_limit must be"),
        (
            ["rule-list", "RULES", "--label", "no.label", "--max-length", "1"],
            1,
            "There is no file no.label",
        ),
        (
            ["rule-list", "iris", "--label", "no.label", "--max-length", "1"],
            1,
            "--label belongs to a file of rules",
        ),
        (["rule-list", PLANTED, "--label", "no.label", "--max-length", "1"], 1, "leave out label"),
        (["rule-list", "no.out", "--max-length", "1"], 1, "There is no file no.out"),
        (["rule-list", "RULES", "--max-length", "1", "--method", "dp"], 1, "searches trees"),
        (
            ["rule-list", "RULES", "--method", "greedy", "--methods", "greedy"],
            1,
            "--method and --methods are both given",
        ),
        (["rule-list", "RULES", "--store", "s.db"], 1, "--store belongs to a comparison"),
        (["antecedents", "RULES", "--write-rules", "x.csv"], 1, "ends in .out"),
        (["rule-list", "RULES", "--max-length", "1", "--capacity", "yes=-1"], 1, "--capacity"),
        (
            [
                "rule-list",
                "RULES",
                "--max-length",
                "0",
                "--capacity",
                "yes=0",
                "--capacity",
                "no=0",
            ],
            3,
            "No rule list satisfies the constraints",
        ),
    ],
)
def test_bad_input_gets_one_sentence_and_an_exit_code(rules, arguments, code, sentence):
    found = run(*(rules if a == "RULES" else a for a in arguments), code=code)
    assert sentence in found.stderr
    assert "Traceback" not in found.stderr


def test_a_contradicting_minority_file_is_told_on_standard_error(rules, tmp_path):
    (tmp_path / "x.minor").write_text("{m} 1 0 0 0 0 0 0 0\n")
    found = run("rule-list", rules, "--max-length", 1)
    assert "Warning: " in found.stderr
    assert "x.minor marks 1 rows; computed from the rules and labels there are 0" in found.stderr


@pytest.mark.parametrize(("penalty", "value"), [("0.015", 0.3779734936), ("0.01", 0.3679734936)])
def test_pairs_mined_from_the_table_are_as_good_as_the_rule_file(data_folder, penalty, value):
    """The rules of COMPAS are pairs of features; values are those that CORELS proves."""
    folder = data_folder / "rulelist" / "corels"
    options = ("--length-penalty", penalty, "--method", "corels", "--reference", "none")
    given = as_json("rule-list", folder / "compas_train.out", *options)
    supports = ("--max-literals", 2, "--min-support", "0.005", "--max-support", "0.995")
    mined = as_json("rule-list", folder / "compas_train.csv", *options, *supports)
    assert given["objective"] == pytest.approx(value, abs=1e-9)
    assert given["status"] == mined["status"] == "optimal"
    assert given["exact"] == mined["exact"]
