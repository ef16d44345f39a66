"""What a result, a SPEC and `predict` keep of how a table was read, and columns of many categories."""

import json

import numpy as np
import pandas as pd
import pytest
from messy_tables import table, write
from row_tests import each_row

import milp_trees as mt
from milp_trees.cli.reading import described
from milp_trees.data.load import load_split
from milp_trees.data.problems import TableProblems
from milp_trees.exports.pages.certificate import Checks, certificate
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.results.reload import reload
from milp_trees.results.tables import reasons, summary
from milp_trees.solving.predict import predict_file
from milp_trees.studies.planning.reading import read_plan
from milp_trees.studies.planning.recipes import build_problem


def test_a_result_reads_other_files_as_its_own(tmp_path):
    """Decimal commas, dates, percent and money of a new file are read as those of the training rows;
    another form of a column is refused, and another separator is found.
    """
    days = [f"{d:02d}.{m:02d}.2021" for m in (1, 5, 9) for d in range(1, 25, 2)]
    late = ["yes" if day[3:5] == "09" else "no" for day in days]
    rate = [f"{i % 10},5 %" for i in range(len(days))]
    lines = ["day;rate;late", *(";".join(row) for row in zip(days, rate, late, strict=True))]
    path = write(tmp_path, "\n".join(lines) + "\n", encoding="cp1252")
    data = mt.load(path, binarizer="quantiles:3")
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1)), "dp")
    stored = json.loads(json.dumps(result.to_json()))
    assert result.predictor.splits[0].name.startswith("day <= 2021-")
    assert mt.verify(stored).verdict.value == "derived"
    (tmp_path / "r.json").write_text(json.dumps(stored))
    new = write(tmp_path, "rate\tday\n1,5 %\t01.02.2021\n2,5 %\t03.10.2021\n", "new.csv")
    assert predict_file(tmp_path / "r.json", new)[0] == ["no", "yes"]
    other = write(tmp_path, "rate,day\n1,2021-02-01\n2,2021-10-03\n", "iso.csv")
    with pytest.raises(
        mt.DataError, match=r"'day' holds dates written DD\.MM\.YYYY but for 2 of 2"
    ):
        predict_file(tmp_path / "r.json", other)


@pytest.mark.parametrize("how", ["target", "hash"])
def test_many_categories_are_refused_or_grouped(how, tmp_path):
    """A stored result reads and predicts by the same groups; `verify` computes them again."""
    n = 600
    rows = [
        ("shop " + str(i * 37 % 150), i % 11, "yes" if i * 37 % 150 < 50 else "no")
        for i in range(n)
    ]
    text = "shop,x,y\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    path = write(tmp_path, text)
    with pytest.raises(TableProblems, match=r"150 different texts .*categories='target'"):
        mt.load(path)
    train, test = load_split(path, categories=how, max_categories=20, test_size=0.25)
    result = mt.solve(mt.Problem(train, mt.Accuracy(), mt.Trees(max_depth=1)), "dp")
    stored = json.loads(json.dumps(result.to_json()))
    assert mt.verify(stored).verdict.value == "derived"
    again, others = reload(stored["problem"]["data"])
    assert (again.sha256, others.sha256) == (train.sha256, test.sha256)
    assert "may give a better tree" in train.threshold_note
    (tmp_path / "r.json").write_text(json.dumps(stored))
    new = write(tmp_path, "x,shop\n1,shop 3\n1,never seen\n", "new.csv")
    labels = predict_file(tmp_path / "r.json", new)[0]
    if how == "target":
        assert result.predictor.splits[0].column == "share of yes by shop"
        assert labels[0] == "yes"
        shares = stored["problem"]["data"]["categories"]["shop"]["shares"]
        shares["shop 3"] = [0.001]
        with pytest.raises(mt.errors.VerificationError, match=r"shares\.shop 3"):
            mt.verify(stored)
    else:
        held = {f.column for f in train.features}
        assert held == {"hash of shop", "x"}
        assert sum(f.column == "hash of shop" for f in train.features) <= 20


def test_the_label_of_a_row_has_no_part_in_its_share(tmp_path):
    """Changing one label changes shares of rows of other folds only; a value that occurs once gets
    the share of the rows of other folds.
    """
    from milp_trees.data.categories import shares

    draw = np.random.default_rng(1)
    texts = pd.Series([f"c{k}" for k in draw.integers(0, 30, 200)])
    texts[17] = "once"
    y, train = draw.integers(0, 2, 200), np.arange(200)
    _, before = shares(texts, y, train)
    for row in (3, 17, 90):
        changed = y.copy()
        changed[row] = 1 - changed[row]
        _, after = shares(texts, changed, train)
        assert (before[row] == after[row]).all()
    assert abs(before[17, 0] - y.mean()) < 0.05


def test_options_of_reading_are_checked_and_read_from_specs(tmp_path):
    path = write(tmp_path, table(("a", ["1,5", "2,5", "3,5"] * 4), ("b", [1, 2, 3] * 4)))
    for options, sentence in (
        ({"sep": "ab"}, "sep is one character"),
        ({"decimal": "x"}, "decimal is one of"),
        ({"encoding": "nonsense"}, "no encoding 'nonsense'"),
        ({"categories": "some"}, "categories is one of"),
        ({"max_categories": 0}, "max_categories must be"),
        ({"ignore_bad_columns": 1}, "must be True or False"),
    ):
        with pytest.raises(mt.DataError, match=sentence):
            mt.load(path, **options)
    plain = mt.load(path)
    stated = mt.load(path, sep="semicolon", decimal=",", encoding="latin-1")
    assert (plain.X == stated.X).all()
    text = mt.load(path, text="a")
    assert next(f.name for f in text.features if f.column == "a") == "a == 1,5"


def test_a_spec_states_how_tables_are_read(tmp_path):
    """By the same keys; a value that is not allowed is an error with its place."""
    path = write(
        tmp_path, table(("a", ["1,5", "2,5"] * 20), ("name", [f"n{i}" for i in range(40)]))
    )
    data = {"file": str(path), "sep": ";", "ignore_bad_columns": True, "text": ["a"]}
    spec = {
        "problems": [{"name": "p", "data": data, "space": {"max_depth": 1}}],
        "methods": [{"labels": "dp"}],
    }
    plan = read_plan(spec)
    assert len(plan.runs) == 1
    built, _ = build_problem("trees", plan.problems[0].recipe, tmp_path)
    assert [f.name for f in built.dataset.features] == ["a == 2,5"]
    assert list(built.dataset.source["left_out"]) == ["name"]
    data["sep"] = "??"
    with pytest.raises(mt.DataError, match=r"problems\[0\].*sep is one character"):
        read_plan(spec)


def test_look_does_not_deny_the_feature_of_a_column_that_is_there_or_missing(tmp_path):
    path = tmp_path / "remarks.csv"
    path.write_text("age,remark,y\n1,call,no\n2,,yes\n3,,yes\n4,call,no\n", encoding="utf-8")
    seen = mt.look(path)
    assert seen.columns.set_index("column").loc["remark", "features"] == 1
    assert not any("remark" in sentence for sentence in seen.guessed)


def _stored(tmp_path, text):
    result = mt.solve(
        mt.Problem(mt.load(write(tmp_path, text)), mt.Accuracy(), mt.Trees(max_depth=1)), "dp"
    )
    (tmp_path / "r.json").write_text(json.dumps(result.to_json()))
    return tmp_path / "r.json"


def test_what_is_stated_for_another_file_counts_for_its_columns(tmp_path):
    """A stated decimal mark and order of day and month win over those of the training rows."""
    amounts = [f"{i},25 €" for i in range(1, 31)]
    late = ["yes" if i > 15 else "no" for i in range(1, 31)]
    pairs = zip(amounts, late, strict=True)
    stored = _stored(tmp_path, "paid;late\n" + "\n".join(map(";".join, pairs)) + "\n")
    new = write(tmp_path, "paid;n\n2.125 €;1\n30.125 €;2\n", "new.csv")
    assert predict_file(stored, new, decimal=".")[0] == ["no", "yes"]
    assert predict_file(stored, new)[0] == ["yes", "yes"]  # 2125 and 30125

    days = [f"{d:02d}/{m:02d}/2021" for m in (1, 9) for d in range(1, 29)]
    pairs = zip(days, ["no"] * 28 + ["yes"] * 28, strict=True)
    stored = _stored(tmp_path, "day,late\n" + "\n".join(map(",".join, pairs)) + "\n")
    new = write(tmp_path, "day\n01/09/2021\n09/01/2021\n", "days.csv")
    assert predict_file(stored, new)[0] == ["yes", "no"]
    assert predict_file(stored, new, dates="month-first")[0] == ["no", "yes"]


@pytest.mark.parametrize("how", ["target", "hash"])
def test_every_text_about_a_result_says_what_groups_may_lose(how, tmp_path):
    rows = [(f"c{i % 40}", "yes" if i % 40 < 20 else "no") for i in range(200)]
    path = write(tmp_path, "city,bought\n" + "\n".join(map(",".join, rows)) + "\n")
    data = mt.load(path, max_categories=10, categories=how)
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1)), "dp")
    assert "the values of city" in dict(summary(result.to_json()))["tests"]
    assert any("the values of city" in line for line in reasons([result.to_json()]))
    assert "the values of city" in dict(certificate(result.to_json(), Checks())[1])["tests"]


def predicted(folder, feature, source, text, labels=("no", "yes")):
    """Predictions of a stump for a file, by a stored result on a source of data."""
    model = mt.Tree(Branch(feature, Leaf(0), Leaf(1)), labels)
    row = {"status": "optimal", "objective": 0, "sense": "min", "predictor": model.to_json()}
    row |= {"problem": {"data": json.loads(json.dumps(dict(source)))}}
    (folder / "r.json").write_text(json.dumps(mt.solve(small()).to_json() | row))
    return predict_file(folder / "r.json", write(folder, text, "new.csv"))[0]


def small():
    return mt.Problem(mt.Dataset([[0], [1]], y=[0, 1]), mt.Accuracy(), mt.Trees(max_depth=1))


@each_row(
    ("cells", "new"),
    [
        (["1.234", "900", "8.234", "2"], "a\n1.234\n8.234\n"),  # thousands, alone in a file
        (["1 234", "900", "8 234", "2"], "a\n1 234\n8 234\n"),  # spaces in a file of one column
        (["1,5 %", "2,5 %", "9,5 %", "3,5 %"], "a\n1,5 %\n9,5 %\n"),
        (["x y", "x y", "u v", "x y"], "a\nx y\nu v\n"),
        (["True", "False", "", "False"], "a;b\nTrue;1\nFalse;2\n"),
        (["1.5", "2.5", "9.5", "3.5"], "a;b\n1.5;1,2\n9.5;1,3\n"),  # the mark of training holds
    ],
)
def test_predict_reads_a_column_as_training_did(cells, new, tmp_path):
    cells, lines = cells * 3, ["a;b;y"]
    if cells[0] == "1.234":
        cells[0] = "1.234.567"
    lines += [f"{c};{k % 7};{'no' if k % 2 else 'yes'}" for k, c in enumerate(cells)]
    data = mt.load(write(tmp_path, "\n".join(lines) + "\n"))
    for feature in [f for f in data.features if f.column == "a"]:
        at = [
            cells.index(c)
            for c in (line.split(";")[0] for line in new.split("\n")[1:-1])
            if c in cells
        ]
        expected = [("no", "yes")[data.outcome(data.index[feature])[k]] for k in at]
        assert predicted(tmp_path, feature, data.source, new)[-len(at) :] == expected, feature


def test_predict_takes_no_open_mark_beside_another(tmp_path):
    data = mt.load(write(tmp_path, "a;y\n1.5;no\n2.5;yes\n3.25;no\n"))
    feature = data.features[0]
    whole = mt.load(write(tmp_path, "a;y\n1;no\n2;yes\n3;no\n"))
    cases = [(data, "a;b\n1.234;1,5\n"), (data, 'a,b\n"1.234","1,5"\n')]
    for trained, text in [*cases, (whole, "a;b\n1.234;1\n5.678;2\n")]:
        with pytest.raises(mt.DataError, match=r"before thousands or before decimals.*decimal="):
            predicted(tmp_path, feature, trained.source, text)


def test_predict_refuses_two_columns_of_one_name(tmp_path):
    data = mt.load(write(tmp_path, "a,b,y\n1,1,no\n2,1,yes\n3,2,no\n"))
    feature = data.features[0]
    assert predicted(tmp_path, feature, data.source, "a,b,b\n1,5,6\n") == ["yes"]
    with pytest.raises(mt.DataError, match="two columns called 'a'"):
        predicted(tmp_path, feature, data.source, "a,b,a\n1,5,6\n")
    with pytest.raises(mt.DataError, match="two columns called 'y'"):
        predicted(tmp_path, feature, data.source, "a,y,y\n1,no,no\n")
    twice = write(tmp_path, "a,a,y\n1,1,no\n2,1,yes\n3,2,no\n")
    data = mt.load(twice, drop=["a.2"])
    assert predicted(tmp_path, data.features[0], data.source, twice.read_text()) == [
        "yes",
        "no",
        "no",
    ]


@pytest.mark.parametrize(
    "cells", [["2021-01-01", "", "2021-03-01"], ["1.5", "", "2"], ["u", "", "v"]]
)
def test_predict_takes_a_file_in_which_a_tested_column_is_empty(cells, tmp_path):
    lines = "".join(f"{c},{k},{'yes' if c else 'no'}\n" for k, c in enumerate(cells * 4))
    data = mt.load(write(tmp_path, f"a,b,y\n{lines}"))
    for feature in [f for f in data.features if f.column == "a"]:
        message = "yes" if feature.missing == "yes" or feature.kind == "missing" else "no"
        assert predicted(tmp_path, feature, data.source, "a,b\n,1\n,2\n") == [message, message]
    complete = mt.load(write(tmp_path, "a,y\n1,no\n2,yes\n3,no\n"))
    with pytest.raises(mt.DataError, match="'a' has a missing value in row 0"):
        predicted(tmp_path, complete.features[0], complete.source, "a,b\n,1\n,2\n")


def test_a_column_of_which_only_gaps_are_asked_is_read_as_what_it_is(tmp_path):
    data = mt.load(write(tmp_path, "a,y\nred,no\n,yes\nblue,no\n"))
    feature = next(f for f in data.features if f.kind == "missing")
    assert predicted(tmp_path, feature, data.source, "a,b\nred,1\n,1\n") == ["no", "yes"]


def test_what_goes_without_saying_is_stored_and_not_said(tmp_path):
    data = mt.load(write(tmp_path, "a,y\n1.5,no\n2.5,yes\n"))
    assert data.source["reading"] == {"decimal": ".", "guessed": ["decimal"]}
    assert described(data.source) == []
    other = mt.load(write(tmp_path, "a;y\n1,5;no\n2,5;yes\n"))
    assert described(other.source) == ["read as   sep ;, decimal , (sep, decimal guessed)"]
