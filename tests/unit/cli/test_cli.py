"""The command line: what it prints, its exit codes, and one sentence for whatever is wrong."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from cli_cases import PLANTED, run

import milp_trees as mt


def as_json(*arguments, code=0):
    return json.loads(run(*arguments, "--json", code=code).stdout)


# -- answers -------------------------------------------------------------------------------------------------


def test_solve_prints_one_object(table):
    data = as_json("solve", table, "--depth", 2)
    assert (data["method"], data["objective"], data["status"], data["unit"]) == (
        "dp",
        0,
        "optimal",
        "errors",
    )
    assert data["agrees"] is None  # of an engine that judges others
    assert data["problem"]["data"]["path"] == str(table)


def test_solve_draws_the_tree_with_original_names_and_says_which_columns_it_took(table):
    text = run("solve", table, "--depth", 2).stdout
    assert "age <= 34" in text
    assert "smoker == yes" in text
    assert "target    health (2 classes: ill, well)" in text
    assert "features  3 columns as 13 tests: age, smoker, town" in text


def test_with_json_standard_output_is_json_alone(table):
    found = run("solve", table, "--json")
    assert json.loads(found.stdout)
    assert "target    health" in found.stderr


def test_compare_prints_a_list_and_a_table(table, tmp_path):
    rows = as_json("compare", table, "--methods", "dp,enumerate", "--store", tmp_path / "s.db")
    assert [(row["method"], row["agrees"]) for row in rows] == [("dp", True), ("enumerate", True)]
    text = run(
        "compare",
        table,
        "--methods",
        "dp,enumerate",
        "--store",
        tmp_path / "s.db",
        "--plot",
        tmp_path / "p.png",
    ).stdout
    assert "0 errors by" in text
    assert (tmp_path / "p.png").stat().st_size > 1000


def test_one_method_is_an_object_also_in_compare(table):
    assert as_json("compare", table, "--methods", "dp")["method"] == "dp"


def test_test_scores_are_given_where_rows_are_left_out(table):
    data = as_json("solve", table, "--test-size", 0.25)
    assert data["scores"]["test_rows"] == 15
    assert data["scores"]["train_accuracy"] == 1
    assert "test accuracy" in run("solve", table, "--test-size", 0.25).stdout


def test_a_result_travels_to_verify_and_predict(table, tmp_path):
    stored = tmp_path / "r.json"
    run("solve", table, "--out", stored)
    assert "Verdict: derived again by " in run("verify", stored).stdout
    assert as_json("verify", stored)["verdict"] == "derived"
    found = run("predict", stored, table)
    assert found.stdout.splitlines()[:2] == ["row,prediction", "0,ill"]
    assert "60 of 60 rows" in found.stderr
    assert as_json("predict", stored, table)["predictions"].count("ill") == 12


def test_predict_takes_files_without_header_with_and_without_target(tmp_path):
    train, new = tmp_path / "t.txt", tmp_path / "n.txt"
    train.write_text("1 0 1\n0 1 0\n1 0 0\n0 1 1\n")
    new.write_text("0 0\n1 1\n")
    run("solve", train, "--depth", 1, "--out", tmp_path / "r.json")
    assert as_json("predict", tmp_path / "r.json", new)["predictions"] == [1, 0]
    assert as_json("predict", tmp_path / "r.json", train)["predictions"] == [1, 0, 1, 0]
    new.write_text("0 0 1 1\n")
    assert "the training data had 3" in run("predict", tmp_path / "r.json", new, code=1).stderr


def test_predict_takes_one_column_and_quotes_labels_with_commas(tmp_path):
    (tmp_path / "t.csv").write_text('a,b,y\n1,5,"no, never"\n2,6,yes\n1,5,"no, never"\n2,5,yes\n')
    run("solve", tmp_path / "t.csv", "--depth", 1, "--out", tmp_path / "r.json")
    (tmp_path / "new.csv").write_text("a\n2\n1\n")
    assert (
        run("predict", tmp_path / "r.json", tmp_path / "new.csv").stdout
        == 'row,prediction\n0,yes\n1,"no, never"\n'
    )
    (tmp_path / "text.csv").write_text("a\n2\ntwo\n")
    assert (
        "the column 'a' holds numbers but for 1 of 2 entries, such as 'two' in row 1"
        in run("predict", tmp_path / "r.json", tmp_path / "text.csv", code=1).stderr
    )
    (tmp_path / "gap.csv").write_text("a,b\n2,1\n,1\n")
    assert (
        "missing value in row 1"
        in run("predict", tmp_path / "r.json", tmp_path / "gap.csv", code=1).stderr
    )


def test_a_damaged_result_gets_one_sentence(table, tmp_path):
    file = tmp_path / "r.json"
    good = as_json("solve", table, "--depth", 1)
    new = json.dumps
    for text, sentence in (
        ("[]", "holds no result"),
        ("{", "is not JSON"),
        ('{"a": 1}', "is not a result of milp-trees"),
        ("3", "is not a result of milp-trees"),
        (new({**good, "schema": 99}), "which a newer version"),
    ):
        file.write_text(text)
        for command in (
            ("verify", file),
            ("predict", file, table),
        ):  # what is not read has one code
            assert sentence in run(*command, code=1).stderr
    for change in (
        {"method": None},
        {"trace": 5},
        {"problem": {}},
        {"limit": "x"},
        {"gap": "x"},
        {"agrees": "maybe"},
        {"predictor": {}},
    ):
        file.write_text(new({**good, **change}))
        assert run("verify", file, code=4).stderr.startswith("Error: "), change
    for tree in (
        {},
        [],
        "x",
        {**good["predictor"], "actions": ["only"]},
        {**good["predictor"], "root": {"oops": 1}},
    ):
        file.write_text(new({**good, "predictor": tree}))
        assert "damaged" in run("predict", file, table, code=1).stderr


def test_an_altered_result_has_exit_code_4(table, tmp_path):
    stored = tmp_path / "r.json"
    data = as_json("solve", table)
    data["objective"] = 1
    stored.write_text(json.dumps(data))
    assert "states the objective 1" in run("verify", stored, code=4).stderr


def test_estimate_lists_every_formulation_of_trees(table):
    rows = as_json("estimate", table)
    assert {row["formulation"] for row in rows} == set(
        mt.registry.formulations_for(mt.Problem(mt.load(str(table)), mt.Accuracy(), mt.Trees(2)))
    )
    assert "time class" in run("estimate", table, "--formulations", "flow-oct").stdout


def test_export_writes_model_and_solution(tmp_path):
    for name in ("m.mps.gz", "m.lp"):
        data = as_json(
            "export-model", PLANTED, "--formulation", "flow-oct", "--out", tmp_path / name
        )
        about = json.loads(Path(data["description"]).read_text())
        assert (
            about["objective"]["offset"],
            about["objective"]["scale"],
            about["solution"]["objective"],
        ) == ("0", "1", data["objective"])
        assert Path(data["model"]).stat().st_size > 100
        assert data["objective"] == data["value"]
        assert (tmp_path / "m.sol").read_text().startswith(f"=obj= {data['objective']:g}\n")
    assert any("reads no LP files" in note for note in data["notes"])
    message = run(
        "export-model", PLANTED, "--formulation", "flow-oct", "--out", tmp_path / "m.mps.gz"
    ).stdout
    assert f"description {tmp_path / 'm.json'}" in message
    assert (
        "notes       CBC: the CBC in PuLP's wheel reads no gzipped files; write .mps for it"
        in message
    )
    assert (
        "notes"
        not in run(
            "export-model", PLANTED, "--formulation", "flow-oct", "--out", tmp_path / "m.mps"
        ).stdout
    )
    assert (
        "rows are found while it is solved"
        in run(
            "export-model",
            PLANTED,
            "--formulation",
            "benders-oct",
            "--out",
            tmp_path / "b.mps",
            code=1,
        ).stderr
    )
    assert (
        "ends in .mps" in run("export-model", PLANTED, "--out", tmp_path / "m.txt", code=1).stderr
    )


def test_exported_solution_is_the_optimum_of_the_exported_model(tmp_path):
    import highspy

    data = as_json(
        "export-model", PLANTED, "--formulation", "flow-oct", "--out", tmp_path / "m.mps.gz"
    )
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.readModel(data["model"])
    values = dict(line.split() for line in Path(data["solution"]).read_text().splitlines()[1:])
    lp = h.getLp()
    assert set(values) <= set(lp.col_names_)
    x = [float(values.get(name, 0)) for name in lp.col_names_]
    assert sum(c * v for c, v in zip(lp.col_cost_, x, strict=True)) + lp.offset_ == pytest.approx(
        data["objective"]
    )
    h.run()
    assert h.getInfo().objective_function_value == pytest.approx(data["objective"])


def test_lists_of_what_there_is():
    assert {row["name"] for row in as_json("solvers")} >= {"highs"}
    assert {row["name"] for row in as_json("formulations")} >= {"flow-oct"}
    assert {row["name"] for row in as_json("methods")} >= {"dp", "enumerate"}
    for command in ("solvers", "formulations", "methods"):
        assert run(command).stdout


def test_every_kind_of_task_can_be_stated(tmp_path):
    costs, prices = tmp_path / "costs.txt", tmp_path / "prices.txt"
    costs.write_text("0 5\n1 0\nAttribute cost\n")
    prices.write_text("0 0.01\n1 0.02\n")
    assert as_json("solve", PLANTED, "--task", "weighted:class_weight=0=1;1=2.5")["unit"] == "cost"
    assert as_json("solve", PLANTED, "--task", "balanced-accuracy")["sense"] == "max"
    assert as_json("solve", PLANTED, "--task", f"cost-matrix:matrix={costs}")["unit"] == "cost"
    assert (
        as_json("solve", PLANTED, "--leaf-penalty", "1/200", "--feature-costs", prices)["unit"]
        == "rate"
    )
    assert as_json("solve", PLANTED, "--leaves", 2)["problem"]["space"]["max_leaf_nodes"] == 2
    policy = "athey-imbens:rows=60,bins=3"
    for task in ("policy-ipw", "policy-dm", "policy-dr"):
        assert as_json("solve", policy, "--task", task)["unit"] == "reward"


def test_constraints_need_their_group_and_are_kept(tmp_path):
    path = tmp_path / "fair.txt"
    data = mt.load("planted:rows=40,tests=4,depth=2,noise=0.1,seed=3")
    path.write_text(
        "\n".join(
            " ".join(map(str, [y, *x]))
            for y, x in zip(data.y.tolist(), data.X.tolist(), strict=True)
        )
        + "\n"
    )
    fair = ["--constraint", "statistical-parity", "--max-disparity", "0.2"]
    assert "--group" in run("solve", path, *fair, code=1).stderr
    found = as_json("solve", path, *fair, "--group", 0, "--method", "enumerate")
    assert found["problem"]["task"]["constraints"][0]["name"] == "statistical-parity"
    assert all(test.column != "0" for test in mt.Tree.from_json(found["predictor"]).splits)
    assert as_json("solve", path, "--capacity", "1=5", "--method", "enumerate")["objective"] >= 0
    (tmp_path / "r.json").write_text(json.dumps(found))
    assert "Verdict: derived again by " in run("verify", tmp_path / "r.json").stdout


# -- the commands that a reader tries first ------------------------------------------------------------------


def test_published_values_come_out(data_folder):
    found = as_json(
        "solve",
        data_folder / "classification/anneal.txt",
        "--depth",
        3,
        "--method",
        "dp",
        "--reference",
        "none",
    )
    assert (found["objective"], found["status"]) == (112, "optimal")
    fair = ["--constraint", "statistical-parity", "--group", 0, "--max-disparity", "0.01"]
    found = as_json(
        "solve",
        data_folder / "fairness/ricci-binarized.csv",
        "--depth",
        2,
        *fair,
        "--method",
        "state-flow@highs",
    )
    assert (found["objective"], found["status"], found["agrees"]) == (47, "optimal", True)


def test_path_lists_the_best_tree_of_every_size(tmp_path):
    """Table, JSON and picture hold the same sizes, each proven; the largest is what solve finds
    with as many leaves.
    """
    out, picture = tmp_path / "path.json", tmp_path / "path.svg"
    text = run(
        "size-path", PLANTED, "--depth", 3, "--leaves", 5, "--out", out, "--plot", picture
    ).stdout
    data = json.loads(out.read_text())
    assert data["proven"]
    assert picture.read_text().startswith("<?xml")
    for row in data["sizes"]:
        assert row["proven"]
        assert row["bound"] == row["exact"]
        assert f"{row['leaves']}" in text
    alone = as_json("solve", PLANTED, "--depth", 3, "--leaves", 5, "--method", "enumerate")
    assert alone["objective"] == data["sizes"][-1]["value"]
    best_for = next(row for row in data["sizes"] if row["on_hull"] and row["penalty_to"])
    penalised = as_json(
        "solve",
        PLANTED,
        "--depth",
        3,
        "--leaf-penalty",
        best_for["penalty_to"],
        "--method",
        "enumerate",
    )
    assert Fraction(best_for["exact"]) / 60 + Fraction(best_for["penalty_to"]) * best_for[
        "leaves"
    ] == Fraction(penalised["exact"])


def test_path_by_a_run_per_size_and_what_it_refuses():
    """A method that answers one size at a time gives the same values; wrong options get a sentence."""
    at_once, one_by_one = (
        as_json("size-path", PLANTED, "--leaves", 3, "--method", m)
        for m in ("dp-sizes", "enumerate")
    )
    assert [r["value"] for r in at_once["sizes"]] == [r["value"] for r in one_by_one["sizes"]]
    assert at_once["penalties"] == one_by_one["penalties"]
    assert (
        as_json("size-path", PLANTED, "--task", "auc", "--leaves", 3)["method"] == "partial-trees"
    )
    assert (
        "views it offers: LeafCounts"
        in run(
            "size-path", PLANTED, "--task", "auc", "--leaves", 3, "--method", "dp-sizes", code=1
        ).stderr
    )
    assert "No tree" in run("size-path", PLANTED, "--min-samples-leaf", 100, code=3).stderr
    assert "picture" in run("size-path", PLANTED, "--plot", "path.txt", code=1).stderr
    run("size-path", PLANTED, "--leaves", 0, code=2)


def test_a_ratio_has_no_one_model_to_export(tmp_path):
    """It is solved in steps; the sentence says so."""
    assert (
        "solved in steps"
        in run("export-model", PLANTED, "--task", "f1", "--out", tmp_path / "f1.mps", code=1).stderr
    )
