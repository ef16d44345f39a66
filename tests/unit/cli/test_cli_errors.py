"""What goes wrong on the command line: sentences and exit codes."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from cli_cases import PLANTED, run
from row_tests import each_row

import milp_trees as mt
from milp_trees.results.result import Limit

# -- what goes wrong -----------------------------------------------------------------------------------------


@each_row(
    ("arguments", "code", "sentence"),
    [
        (["solve", "nowhere.csv"], 1, "There is no file nowhere.csv"),
        (["solve", "iriss"], 1, "Did you mean 'iris'"),
        (["solve", "iris", "--target", "taget"], 1, "Did you mean 'target'"),
        (["solve", PLANTED, "--method", "dpp"], 1, "no method called 'dpp'"),
        (["solve", PLANTED, "--method", "flow-oct"], 1, "name the solver too"),
        (["solve", PLANTED, "--method", "flow-oct@gurobi"], 1, "no solver called 'gurobi'"),
        (["solve", PLANTED, "--method", "flow-oct:speed=1@highs"], 1, "no option 'speed'"),
        (["solve", PLANTED, "--leaf-penalty", "-1"], 1, "must not be negative"),
        (["solve", PLANTED, "--leaf-penalty", "little"], 1, "must be a number"),
        (["solve", PLANTED, "--depth", "-1"], 1, "max_depth"),
        (["solve", PLANTED, "--time-limit", "0"], 1, "time_limit must be a positive number"),
        (["solve", PLANTED, "--test-size", "2"], 1, "test_size must lie between 0 and 1"),
        (["solve", PLANTED, "--binarize", "quantiles:3"], 1, "leave out binarizer"),
        (["solve", "iris", "--binarize", "halves"], 1, "no binarizer 'halves'"),
        (["solve", PLANTED, "--task", "acuracy"], 1, "Did you mean 'accuracy'"),
        (["solve", PLANTED, "--constraint", "parity"], 1, "no constraint 'parity'"),
        (["solve", PLANTED, "--capacity", "1"], 1, "ACTION=N"),
        (
            ["solve", PLANTED, "--task", "accuracy:class_weight=1=2"],
            1,
            "has no option 'class_weight'",
        ),
        (["solve", PLANTED, "--task", "cost-matrix"], 1, "needs matrix="),
        (["solve", PLANTED, "--task", "weighted:class_weight=x=2"], 1, "do not fit the classes"),
        (["solve", PLANTED, "--task", "policy-ipw"], 1, "name its column with --treatment"),
        (["solve", PLANTED, "--min-samples-leaf", "500"], 3, "fewer than a leaf must hold"),
        (
            ["solve", "planted:rows=500,tests=60", "--depth", "3", "--method", "enumerate"],
            1,
            "tiny problems",
        ),
        (["solve", PLANTED, "--option", "presolve=off"], 1, "takes no solver options"),
        (["compare", PLANTED, "--seeds", "one"], 1, "whole numbers"),
        (
            ["compare", PLANTED, "--methods", "dp", "--store", "/proc/nowhere/s.db"],
            1,
            "there is no folder /proc/nowhere",
        ),
        (["verify", "nowhere.json"], 1, "cannot be read"),
        (
            ["solve", PLANTED, "--out", "/proc/nowhere/r.json"],
            1,
            "there is no folder /proc/nowhere",
        ),
        (["front", PLANTED], 1, "no Pareto front of its own"),
        (["solve", PLANTED, "--depht", "3"], 2, "No such option"),
        (["export-model", PLANTED, "--depth", "30", "--out", "m.lp"], 1, "raise --max-nonzeros"),
        (["export-model", PLANTED, "--out", "/proc/nowhere/m.lp"], 1, "there is no folder"),
        (["solve", "iris", "--test-size", "0.999"], 1, "leaves no training row"),
        (["solve", PLANTED, "--reference", "pd"], 1, "no method called 'pd'"),
        (
            ["compare", PLANTED, "--methods", "dp", "--plot", "study.doc"],
            1,
            "ends in .png, .svg, .pdf",
        ),
        (
            ["compare", PLANTED, "--methods", "dp", "--plot", "/proc/nowhere/study.png"],
            1,
            "there is no folder",
        ),
        (
            ["solve", PLANTED, "--depth", "40", "--method", "flow-oct@highs"],
            1,
            "raise --max-nonzeros",
        ),
        (
            ["solve", PLANTED, "--method", "flow-oct@highs", "--max-nonzeros", "10"],
            1,
            "at most 10 are built",
        ),
        (
            ["solve", PLANTED, "--method", "flow-oct@highs", "--max-nonzeros", "0"],
            1,
            "max_nonzeros must be a whole number of at least 1",
        ),
    ],
)
def test_bad_input_gets_one_sentence_and_an_exit_code(arguments, code, sentence):
    found = run(*arguments, code=code)
    assert sentence in found.stderr
    assert "Traceback" not in found.stderr
    if code in (1, 3):
        assert found.stderr.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b,y\n1,0,no\n0,1,no\n", "one class only"),
        ("a,w,y\n1,-2,no\n0,1,yes\n", "must not be negative"),
        (
            "a,y\n" + "".join(f"{'oops' if i == 7 else i},{i % 2}\n" for i in range(30)),
            "numbers but for 1 of 30 entries, such as 'oops' in row 7",
        ),
    ],
)
def test_bad_data_get_one_sentence(tmp_path, text, sentence):
    path = tmp_path / "t.csv"
    path.write_text(text)
    extra = ["--weights", "w", "--task", "weighted"] if ",w," in text else []
    found = run("solve", path, *extra, code=1)
    assert sentence in found.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_a_full_disk_gets_one_sentence(table):
    assert "No space left" in run("solve", table, "--out", "/dev/full", code=1).stderr


def test_weights_that_a_task_would_ignore_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,w,y\n1,2,no\n0,1,yes\n")
    assert (
        "does not use --weights"
        in run("solve", tmp_path / "t.csv", "--weights", "w", code=1).stderr
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_an_answer_that_cannot_be_kept_is_still_shown(table):
    found = run("solve", table, "--out", "/dev/full", code=1)
    assert "smoker == yes" in found.stdout
    assert (
        json.loads(run("solve", table, "--json", "--out", "/dev/full", code=1).stdout)["objective"]
        == 0
    )


def test_an_interrupted_run_prints_the_best_so_far(table, monkeypatch):
    from milp_trees.engines.dp.method import DynamicProgramme

    whole = DynamicProgramme.search
    monkeypatch.setattr(
        DynamicProgramme,
        "search",
        lambda *a, **k: replace(
            whole(*a, **k), limit=Limit.INTERRUPTED, status=mt.plugins.Status.FEASIBLE
        ),
    )
    found = run("solve", table, "--json", code=130)
    assert json.loads(found.stdout)["predictor"]
    assert "best so far" in found.stderr
    assert json.loads(
        run(
            "compare",
            table,
            "--methods",
            "dp,enumerate",
            "--reference",
            "none",
            "--start",
            "none",
            "--json",
            code=130,
        ).stdout
    )


def test_methods_that_disagree_have_exit_code_4(table, monkeypatch):
    from milp_trees.engines.enumerate import Enumerator

    def worse(self, problem, limits, start, progress):
        tree = mt.Tree(mt.plugins.Leaf(0), problem.task.actions(problem.dataset))
        from milp_trees.methods.finish import Clock, finish

        return finish(
            problem,
            self.name,
            tree,
            bound=problem.value(tree).exact,
            claims_optimal=True,
            proved_by=self.name,
            clock=Clock(),
        )

    monkeypatch.setattr(Enumerator, "search", worse)
    assert "disagree" in run("compare", table, "--methods", "enumerate", code=4).stderr


def test_help_lists_the_exit_codes_and_is_fast():
    assert "130" in run("--help").stdout
    code = "import sys, milp_trees.cli.main; print([m for m in ('numba', 'pandas', 'sklearn', 'pyomo') if m in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


@pytest.mark.slow
def test_a_terminal_without_unicode_is_no_error(table):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "milp_trees", "compare", str(table), "--methods", "dp,cart"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "smoker == yes" in found.stdout


def test_the_version_is_printed():
    assert run("--version").stdout.strip() == mt.__version__


def test_new_rows_are_read_as_the_training_rows_were(tmp_path):
    """Categories and labels are texts in both files, whatever the cells of one of them look like;
    what a test cannot answer is refused.
    """
    train, out = tmp_path / "train.csv", tmp_path / "tree.json"
    train.write_text("town,flag,y\n" + "007,0,01\n1.50,1,1\nabroad,1,1\n" * 6)
    run("solve", train, "--depth", 2, "--out", out)

    def predicted(text, **options):
        (tmp_path / "new.csv").write_text(text)
        return run("predict", out, tmp_path / "new.csv", **options)

    found = predicted("town,flag,y\n007,0,01\n1.50,1,1\n")
    assert found.stdout.split() == ["row,prediction", "0,01", "1,1"]
    assert "2 of 2 rows" in found.stderr
    stored = json.loads(out.read_text())
    tree = mt.Tree(
        mt.plugins.Branch(mt.BinaryFeature("flag"), mt.plugins.Leaf(1), mt.plugins.Leaf(0)),
        ("01", "1"),
    ).to_json()
    for test, flag, sentence in (
        ({"column": "flag", "kind": "is", "value": None}, "2", "'flag' holds 2 in row 1"),
        ({"column": "flag", "kind": "<=", "value": 0.5}, "inf", "'flag' is infinite in row 1"),
        ({"column": "town", "kind": "==", "value": "007"}, "0", None),
    ):
        tree["root"]["test"] = test
        out.write_text(json.dumps({**stored, "predictor": tree}))
        found = predicted(f"town,flag\n007,1\n7,{flag}\n", code=1 if sentence else 0)
        assert sentence in found.stderr if sentence else found.stdout.split()[1:] == ["0,01", "1,1"]
