"""Every format predicts what the model predicts, or refuses with the reason."""

import json
import re
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from export_cases import AGE, COLOUR, LABELS, SMOKER, THRESHOLDS, rows, rules, tree
from export_runners import NONE, RUNNERS
from row_tests import each_row
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.errors import DataError, UnknownName, Unsupported
from milp_trees.common.registering.labels import declared
from milp_trees.models.nodes import Branch, Leaf

F = mt.BinaryFeature
STUMP = mt.Tree(Branch(F("age", "<=", 37.5), Leaf(0), Leaf(1)), ("old", "young"))


@pytest.fixture(scope="module")
def table():
    return rows(10_000)


@each_row("form", RUNNERS)
def test_ten_thousand_rows_are_predicted_alike(form, table, tmp_path):
    for name, model in (("tree", tree(3)), ("rules", rules(5, labels=(0, 1, 7)))):
        (folder := tmp_path / name).mkdir()
        expected = model.predict(table).tolist()
        assert len(set(expected)) == 3
        assert RUNNERS[form](model, table, folder) == expected


@each_row("form", RUNNERS)
def test_random_models_with_labels_of_every_type(form, table, tmp_path):
    frame = rows(80, seed=1)
    for seed, labels in enumerate([(True, False), (0.5, 0.1, -3.0), LABELS, (3, -1)]):
        for make in (tree, rules):
            (folder := tmp_path / f"{seed}{make.__name__}").mkdir()
            model = (
                make(10 + seed, depth=4, labels=labels) if make is tree else make(seed, 6, labels)
            )
            expected = model.predict(frame).tolist()
            found = RUNNERS[form](model, frame, folder)
            assert found == expected
            assert list(map(type, found)) == list(map(type, expected))


@each_row("form", RUNNERS)
def test_a_row_without_a_needed_value_has_no_prediction(form, tmp_path):
    root = Branch(F(SMOKER), Branch(F(COLOUR, "==", "red"), Leaf(0), Leaf(1)), Leaf(2))
    model = mt.Tree(Branch(F(AGE, "<=", 0.1), root, Leaf(2)), LABELS)
    rows = [(0.5, "red", 0.0), (np.nan, "red", 0.0), (0.0, "red", np.nan), (0.0, "red", 2.0)]
    if form != "onnx":  # a text cannot be missing there
        rows.append((0.0, None, 1.0))
    if form not in ("sqlite", "duckdb"):  # infinite numbers are not written in standard SQL
        rows.append((np.inf, "red", 1.0))
    frame = pd.DataFrame(rows, columns=[AGE, COLOUR, SMOKER])
    assert RUNNERS[form](model, frame, tmp_path) == [LABELS[1], *[NONE] * (len(rows) - 1)]
    for k in range(1, len(rows)):
        with pytest.raises(DataError):
            model.predict(frame.iloc[[k]])


@each_row("form", sorted(set(RUNNERS) - {"onnx"}))
def test_a_single_leaf(form, tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    assert RUNNERS[form](mt.Tree(Leaf(1), ("a", "b")), frame, tmp_path) == ["b", "b"]


@each_row("form", RUNNERS)
def test_long_lists_and_deep_trees(form, tmp_path):
    long = mt.RuleList(
        tuple(mt.Rule(F("x", "<=", float(k)), k % 3) for k in range(200)), 2, (4, 5, 6)
    )
    deep = Leaf(0)
    for k in range(60):
        deep = Branch(F("x", "<=", float(200 - k)), Leaf(k % 3), deep)
    frame = pd.DataFrame({"x": np.arange(-1, 202, dtype=float)})
    for name, model in (("long", long), ("deep", mt.Tree(deep, (4, 5, 6)))):
        (folder := tmp_path / name).mkdir()
        assert RUNNERS[form](model, frame, folder) == model.predict(frame).tolist()


def test_scikit_learns_reader_of_pmml_agrees(tmp_path, table):
    pmml = pytest.importorskip("sklearn_pmml_model.tree")
    root = Branch(
        F("colour", "==", "red"),
        Branch(F("age", "<=", 37.5), Leaf(0), Branch(F("smoker"), Leaf(1), Leaf(2))),
        Branch(F("age", "<=", 3.0), Leaf(2), Leaf(0)),
    )
    model = mt.Tree(root, ("a", "b", "c"))
    colours = np.where(table[COLOUR] == "red", "red", "blue").astype(object)
    frame = pd.DataFrame({"colour": colours, "age": table[AGE], "smoker": table[SMOKER].fillna(0)})
    frame = frame[frame["age"].abs() < 1e6].round({"age": 3})  # it reads single precision
    theirs = pmml.PMMLTreeClassifier(str(model.export("pmml", tmp_path / "t.pmml")))
    coded = frame.assign(colour=frame["colour"] != "red")  # categories by their number: red is 0
    coded = coded[["colour", "age", "smoker"]].to_numpy(float)
    assert theirs.predict(coded).tolist() == model.predict(frame).tolist()


def test_graphviz_text_has_a_node_per_question_and_leaf():
    text = tree(3).export("dot")
    assert len(re.findall(r"^  n\d+ \[label=", text, re.M)) == 2 * tree(3).n_leaves - 1
    assert rules(5).export("dot").count(" -> ") == 2 * rules(5).length


def test_names_of_other_people_stay_texts():
    evil = "\"; import os; '''\n*/ #define x \\ ]]></script><script>alert(1)</script> -- ?>"
    model = mt.Tree(Branch(F(evil, "==", evil), Leaf(0), Leaf(1)), (evil, "b"))
    for form in ("c", "python"):
        assert "import os" not in re.sub(r'"[^"\n]*"|\'(\\.|[^\'\n\\])*\'', "", model.export(form))
    assert "<script>" not in model.export("pmml")
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data (x)")
    # A column that is not there is an error, and never a text in double quotes.
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        base.execute(model.export("sql"))
    assert all(ord(c) < 128 for form in ("c", "python") for c in model.export(form))


@each_row(
    "model, form, words",
    [
        (mt.Tree(Branch(F("x", "==", "a\0"), Leaf(0), Leaf(1)), ("a", "b")), "c", "character"),
        (mt.Tree(Branch(F("\ud800"), Leaf(0), Leaf(1)), ("a", "b")), "sql", "character"),
        (mt.Tree(Branch(F("\x07"), Leaf(0), Leaf(1)), ("a", "b")), "pmml", "character"),
        (mt.Tree(Leaf(0), ("a",)), "onnx", "asks for none"),
        (
            mt.Tree(
                Branch(F("x", "==", "a"), Branch(F("x"), Leaf(0), Leaf(1)), Leaf(1)), ("a", "b")
            ),
            "json",
            "asked as text and as yes-no",
        ),
    ],
)
def test_what_a_format_cannot_express_is_refused(model, form, words):
    with pytest.raises(Unsupported, match=words):
        model.export(form)


def test_an_empty_text_beside_missing_ones_is_refused_where_they_are_the_same():
    model = mt.Tree(Branch(F("x", "==", "", "no"), Leaf(0), Leaf(1)), ("a", "b"))
    with pytest.raises(Unsupported, match="empty text"):
        model.export("onnx")


@pytest.mark.parametrize("how", ["target", "hash"])
def test_columns_that_the_table_of_the_user_does_not_have_are_refused(how, tmp_path):
    lines = [f"c{i % 40},{'yes' if i % 40 < 20 else 'no'}" for i in range(200)]
    path = tmp_path / "cities.csv"
    path.write_text("city,bought\n" + "\n".join(lines) + "\n")
    data = mt.load(path, max_categories=10, categories=how)
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1)), "dp")
    stored = tmp_path / "r.json"
    stored.write_text(json.dumps(result.to_json()))
    for form in ("c", "sql", "python", "onnx", "pmml", "json"):
        with pytest.raises(Unsupported, match=r"of yes by city|hash of city"):
            result.export(form)
        message = CliRunner().invoke(
            app, ["export", str(stored), "--to", form, "-o", str(tmp_path / "out")]
        )
        assert message.exit_code != 0
        assert "was made from 'city'" in message.output
    for form in ("dot", "html"):  # drawings predict nothing
        assert "city" in result.export(form)
    plain = mt.solve(mt.Problem(mt.load("iris"), mt.Accuracy(), mt.Trees(max_depth=1)), "dp")
    assert plain.export("c") == plain.tree.export("c")


def test_wrong_names_and_options():
    with pytest.raises(UnknownName, match=r"no export called 'sqll'\. Did you mean 'sql'"):
        STUMP.export("sqll")
    with pytest.raises(UnknownName, match="no option 'tabel'"):
        STUMP.export("sql", tabel="x")
    with pytest.raises(DataError, match="C function cannot be called"):
        STUMP.export("c:function=int")
    with pytest.raises(DataError, match="Python function cannot be called"):
        STUMP.export("python", function="predict(); import os")
    with pytest.raises(DataError, match="cannot be written"):
        STUMP.export("c", "no such folder/x.c")
    assert 'FROM "peo""ple" AS t' in STUMP.export("sql", table='peo"ple')
    assert 'FROM "people"' in STUMP.export("sql:table=people")
    assert "def decide(row)" in STUMP.export("python:function=decide")


def test_a_result_exports_its_model_and_says_if_it_has_none(tmp_path):
    problem = mt.Problem(
        mt.Dataset([[0], [1]], y=["no", "yes"]), mt.Accuracy(), mt.Trees(max_depth=1)
    )
    result = mt.solve(problem)
    assert result.export("c") == result.tree.export("c")
    assert json.loads(result.export("json", tmp_path / "m.json").read_text())["kind"] == "tree"
    few = mt.Problem(problem.dataset, mt.Accuracy(), mt.Trees(max_depth=1, min_samples_leaf=5))
    with pytest.raises(DataError, match="holds no model"):
        mt.solve(few).export("c")


def test_single_precision_would_have_been_wrong():
    """The rows hold values that a comparison in single precision sends another way."""
    values = rows(10_000)[AGE].to_numpy()
    with np.errstate(over="ignore"):
        wrong = [(values <= t) != (values.astype(np.float32) <= np.float32(t)) for t in THRESHOLDS]
    assert sum(w.any() for w in wrong) >= 4


def test_dates_are_compared_as_times(tmp_path):
    requested = [F("d", "<=", "2021-03-05"), F("d", "<=", "2021-03-05T12:30")]
    model = mt.Tree(
        Branch(requested[0], Branch(requested[1], Leaf(0), Leaf(1)), Leaf(2)), ("a", "b", "c")
    )
    texts = ["2021-03-05", "2021-03-04 23:59:59", "2021-03-05 00:00:01", "2021-03-05 12:30:00"]
    times = pd.to_datetime(pd.Series([*texts, "2021-03-05 12:30:01", "0999-01-01"]), format="mixed")
    frame = pd.DataFrame({"d": times})
    expected = model.predict(frame).tolist()
    assert expected == ["c", "c", "b", "b", "a", "c"]
    for form in ("python", "duckdb"):
        assert RUNNERS[form](model, frame, tmp_path) == expected
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data (d TEXT)")
    base.executemany("INSERT INTO data VALUES (?)", [(str(t),) for t in times])
    assert [row[-1] for row in base.execute(model.export("sql:dates=text"))] == expected
    assert 'value="2021-03-05T12:30:00"' in model.export("pmml")
    for form in ("c", "onnx"):
        with pytest.raises(Unsupported, match="has no dates"):
            model.export(form)


def test_shap_and_dtreeviz_explain_the_same_predictions():
    shap = pytest.importorskip("shap")
    dtreeviz = pytest.importorskip("dtreeviz")
    from milp_trees.models.export import to_sklearn

    names = [f"x{j}" for j in range(4)]
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(10_000, 4)).round(2), columns=names)
    root = Branch(
        F("x0", "<=", 0.105),
        Branch(F("x1", "<=", -0.315), Leaf(0), Leaf(2)),
        Branch(F("x2", "<=", 1.005), Leaf(1), Leaf(0)),
    )
    model = mt.Tree(root, (0, 1, 2))
    expected = model.predict(frame)
    theirs = to_sklearn(model, frame, expected)
    explainer = shap.TreeExplainer(theirs)
    total = explainer.shap_values(frame).sum(axis=1) + explainer.expected_value
    assert (total.argmax(axis=1) == expected).all()
    drawn = dtreeviz.model(theirs, frame, expected, names, "class", ["a", "b", "c"])
    walked = [int(drawn.shadow_tree.predict(row)) for row in frame[:200].to_numpy()]
    assert walked == expected[:200].tolist()


def test_every_format_is_in_the_guide():
    page = (Path(__file__).parents[3] / "docs/guide/exports.md").read_text("utf-8")
    formats = {
        n: c
        for n, c in mt.registry.classes("exports").items()
        if c.__module__.startswith("milp_trees.")
    }
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.M)) == set(formats)
    for name, form in formats.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert all(f"`{option}" in row for option in declared(form)), name
