"""Tables as people keep them: what they hold is found, what cannot be known is asked about, and what
only looks like a number or a date stays as it is.
"""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from messy_tables import CODES, messy, table, write
from row_tests import each_row

import milp_trees as mt
from milp_trees.data.problems import TableProblems
from milp_trees.data.read import read_table
from milp_trees.data.reading import Reading
from milp_trees.models.export import to_sklearn
from milp_trees.results.reload import reload

#: The kinds of `messy` whose values are numbers.
NUMBERS = ("whole", "number", "large", "percent", "money")


def test_random_messy_tables_hold_what_was_written(tmp_path):
    """Every value of every column, whatever separates, encodes and marks it; a column may only be
    asked about if its texts have two meanings.
    """
    path, requested, columns = tmp_path / "t.csv", 0, 0
    for seed in range(40):
        raw, truth = messy(seed)
        path.write_bytes(raw)
        found = read_table(path)
        assert list(found.frame.columns) == [name for name, _, _ in truth], seed
        problems = {p.column: p.what for p in found.problems}
        for name, kind, values in truth:
            columns += 1
            if name in problems:
                assert kind in ("large", "money"), (seed, name, kind, problems[name])
                assert "may stand before thousands" in problems[name]
                requested += 1
                continue
            held = found.frame[name]
            if kind in NUMBERS:
                wanted = np.array(values, dtype=float)
                assert np.array_equal(held.to_numpy(dtype=float), wanted, equal_nan=True), seed
            elif kind == "date":
                assert held.dtype.kind == "M", seed
                assert held.isna().tolist() == [v is None for v in values], seed
                assert held.dropna().tolist() == [v for v in values if v is not None], seed
            else:
                texts = [None if v is None else v for v in values]
                assert [None if v != v else v for v in held.tolist()] == texts, (seed, kind)
    assert requested < columns / 20


@each_row("kind", CODES)
def test_codes_stay_texts(kind, tmp_path):
    """Also if they are all the digits of a number, or almost a date."""
    import random

    r = random.Random(1)
    cells = ["007", *(CODES[kind](r) for _ in range(40))] if kind == "leading zeros" else None
    cells = cells or [CODES[kind](r) for _ in range(40)]
    found = read_table(write(tmp_path, table(("code", cells), ("x", range(0, 2 * len(cells), 2)))))
    assert found.frame["code"].tolist() == cells
    assert not found.problems


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1990 + i for i in range(30)], "i"),  # years are numbers, and no identifiers
        ([f"1.{i}" for i in range(30)], "f"),  # versions of two parts cannot be told from numbers
        ([20210100 + i % 28 for i in range(30)], "i"),
    ],
)
def test_whole_numbers_that_could_be_times_are_numbers(cells, kind, tmp_path):
    path = write(tmp_path, table(("year", cells), sep=","))
    assert read_table(path).frame["year"].dtype.kind == kind
    assert mt.load(path).n_features > 0


@each_row(
    ("text", "held"),
    [
        ("1,5;2,5;0\n2,5;3,5;1\n", [[1.5, 2.5], [2.5, 3.5], [0, 1]]),
        ("sep=;\na;y\n1;no\n", [[1], ["no"]]),
        ("a;b;y;\n1;2;no\n3;4;yes\n", [[1, 3], [2, 4], ["no", "yes"]]),
        ("a;b;y\n1;2;no;\n3;4;yes;\n", [[1, 3], [2, 4], ["no", "yes"]]),
        ("\n\na\ty\n\n1\tno\n\n", [[1], ["no"]]),
        ("first name\tlast\nJo Ann\tLee\n", [["Jo Ann"], ["Lee"]]),
        ("tags;y\na,b;no\nc,d;yes\n", [["a,b", "c,d"], ["no", "yes"]]),
        ("tags,y\na;b,no\nc;d,yes\n", [["a;b", "c;d"], ["no", "yes"]]),
        ('a,y\n"1,234",no\n"12,345,678",yes\n', [[1234, 12345678], ["no", "yes"]]),
        ("a;y\n−1,5;no\n(2,5);yes\n", [[-1.5, -2.5], ["no", "yes"]]),
        ("z,y\n01234,no\n80331,yes\n", [["01234", "80331"], ["no", "yes"]]),
        ("id;y\n4000 1234 5678 9012;no\n4000 1234 5678 9013;yes\n", None),
        ('a,y\n"12,34,567",no\n"1,00,000",yes\n', [["12,34,567", "1,00,000"], ["no", "yes"]]),
    ],
)
def test_tables_of_many_makes_are_read(text, held, tmp_path):
    """None of `held` stands for the cells as they are written."""
    found = read_table(write(tmp_path, text), alone=True)
    cells = [line.split(";") for line in text.splitlines()[1:]]
    assert [c.tolist() for _, c in found.frame.items()] == (
        [list(c) for c in zip(*cells, strict=True)] if held is None else held
    )


@each_row("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-8-sig", "cp1252"])
def test_encodings_are_found_or_asked_about(encoding, tmp_path):
    text = "größe;y\n1,5;Köln\n2,5;Bonn\n"
    assert read_table(write(tmp_path, text, encoding=encoding)).features == ["größe"]
    russian = write(tmp_path, "имя;y\nда;1\n", "r.csv", encoding="cp1251")
    with pytest.raises(mt.DataError, match="name its encoding with encoding="):
        read_table(russian)
    assert mt.look(russian, encoding="cp1251").columns.loc[0, "column"] == "имя"


@pytest.mark.parametrize(
    ("options", "first"),
    [({"dates": "day-first"}, "2021-04-03"), ({"dates": "month-first"}, "2021-03-04")],
)
def test_dates_that_their_column_leaves_open_are_asked_about(options, first, tmp_path):
    path = write(tmp_path, table(("day", ["03/04/2021", "05/06/2021", "01/02/2021"])))
    with pytest.raises(TableProblems, match=r"cannot be told apart; .*dates='day-first'"):
        mt.load(path)
    data = mt.load(path, **options)
    assert read_table(path).problems
    assert data.source["reading"]["dates"] == options["dates"]
    assert mt.look(path, **options).columns.loc[0, "examples"].startswith(first)


def test_a_mark_with_two_meanings_is_asked_about(tmp_path):
    """`1.234` between semicolons, where nothing else tells; a column that tells helps the others."""
    path = write(tmp_path, table(("a", ["1.234", "5.678", "9.012"])))
    with pytest.raises(TableProblems, match=r"may stand before thousands .*decimal='\.' or"):
        mt.load(path)
    assert read_table(path).problems
    for mark, value in ((",", 1234), (".", 1.234)):
        stated = mt.look(path, decimal=mark)
        assert stated.columns.loc[0, "examples"].split(", ")[0] == f"{value:g}"
    helped = write(tmp_path, table(("a", ["1.234", "5.678"]), ("b", ["0,5", "1,25"])))
    assert read_table(helped).frame["a"].tolist() == [1234, 5678]


def test_all_problems_come_in_one_report(tmp_path):
    """With a remedy for each column; what is ignored is left out and stated."""
    n = 40
    path = write(
        tmp_path,
        table(
            ("customer_id", range(7, 7 + n)),
            ("day", ["03/04/2021"] * n),
            ("mixed", ["12a", *(f"{i * i}" for i in range(1, n))]),
            ("price", ["$ 3", "4 €"] * (n // 2)),
            ("nothing", [""] * n),
            ("x", [i % 7 for i in range(n)]),
            ("x", [i % 5 for i in range(n)]),
        ),
    )
    with pytest.raises(TableProblems) as raised:
        mt.load(path)
    stated = {p.column: str(p) for p in raised.value.problems}
    assert list(stated) == ["customer_id", "day", "mixed", "price", "nothing", "x.2"]
    for column, words in {
        "customer_id": "it has this name and another whole number in every row",
        "day": "day and month cannot be told apart",
        "mixed": "but for 1 of 40 entries, such as '12a' in row 0",
        "price": "different units",
        "nothing": "holds no value",
        "x.2": "has the same name as an earlier one, 'x'",
    }.items():
        assert words in stated[column]
        assert f"--drop {column}." in stated[column]
    assert len(str(raised.value).splitlines()) == 1 + len(stated)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    data = mt.load(path, ignore_bad_columns=True)
    assert set(data.source["left_out"]) == set(stated)
    assert {f.column for f in data.features} == {"x"}
    assert reload(json.loads(json.dumps(data.source)))[0].sha256 == data.sha256
    assert {p.column for p in mt.look(path).problems} == set(stated)


@each_row(
    ("name", "cells", "why"),
    [
        ("", range(60), "counts the rows from 0"),
        ("anything", range(1, 61), "counts the rows from 1"),
        ("customer_id", [i * 37 % 101 for i in range(30)], "another whole number in every row"),
        ("orderID", [i * 37 % 101 for i in range(30)], "another whole number in every row"),
        ("name", [f"person {i}" for i in range(30)], "another text in every row, such"),
        ("cabin", [f"C{i}" if i < 25 else "" for i in range(90)], "in every row that has one"),
        ("who", [f"{i * 7919 % 104729:x}-af" for i in range(30)], "another text in every row"),
    ],
)
def test_identifiers_are_named_and_used_only_if_they_are_named(name, cells, why, tmp_path):
    path = write(tmp_path, table((name, cells), ("x", [i % 7 for i in range(len(cells))])))
    with pytest.raises(TableProblems, match=why):
        mt.load(path)
    called = name or "column 1"
    assert {f.column for f in mt.load(path, drop=[called]).features} == {"x"}
    meant = mt.load(path, features=["*", called])
    assert {f.column for f in meant.features} == {called, "x"}


@each_row(
    ("name", "cells"),
    [
        ("step", range(30)),
        ("age", range(20, 90)),
        ("paid", [i * 37 % 101 for i in range(30)]),
        ("width", [i * 37 % 101 for i in range(30)]),
        ("customer_id", [i % 9 for i in range(30)]),
        ("no", [i % 2 for i in range(30)]),
        ("id", [i * 0.37 for i in range(30)]),
    ],
)
def test_columns_named_like_identifiers_that_are_none_are_used(name, cells, tmp_path):
    path = write(tmp_path, table((name, cells), sep=","))
    assert mt.load(path).n_features > 0


def test_thresholds_of_dates_are_dates(tmp_path):
    """Days as days, times of day as times; each lies between its neighbours."""
    days = [f"2021-03-{d:02d}" for d in range(1, 29, 3)]
    times = [f"2021-03-01 {h:02d}:30" for h in range(len(days))]
    data = mt.load(write(tmp_path, table(("day", days), ("at", times))), binarizer="midpoints")
    names = [f.name for f in data.features]
    assert names[:2] == ["day <= 2021-03-02", "day <= 2021-03-05"]
    assert "at <= 2021-03-01T01:00" in names
    for feature, holds in zip(data.features, data.X.T, strict=True):
        cells = np.array(days if feature.column == "day" else times, dtype="datetime64[us]")
        assert (holds == (cells <= np.datetime64(feature.value))).all()
    assert data.threshold_note == ""
    with pytest.raises(TableProblems, match="holds dates, which ensembles cannot split on"):
        mt.load_numeric(data.source["path"])
    tree = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1)), "dp").predictor
    assert mt.Tree.from_json(json.loads(json.dumps(tree.to_json()))) == tree
    assert list(to_sklearn(tree, data).feature_names_in_) == [tree.splits[0].name]


def test_look_shows_everything_at_once(tmp_path):
    """As text of 80 columns, as HTML with other people's names escaped, and as plain data."""
    path = write(
        tmp_path,
        table(
            ("<b>Preis</b>", ["1.200,50 €", "3,10 €", "unknown"] * 10),
            ("am", [f"{d:02d}.05.2021" for d in range(1, 31)]),
            ("Größe", [f"{i % 7},5" for i in range(30)]),
        ),
        encoding="cp1252",
    )
    seen = mt.look(path)
    by = seen.columns.set_index("column")
    assert by["type"].tolist() == ["amount, €", "date", "number", "text"]
    assert by["role"].tolist() == ["feature"] * 3 + ["target"]
    assert by.loc["<b>Preis</b>", "missing"] == 10
    assert by.loc["Größe", "first features"].startswith("Größe <= 1")
    message = " ".join(seen.guessed)
    for words in ("semicolons", "a comma", "cp1252", "DD.MM.YYYY", "'unknown' stands for", "'y'"):
        assert words in message
    assert all(len(line) <= 80 for line in str(seen).splitlines()[1:])
    assert "<b>" not in seen._repr_html_()
    assert json.loads(json.dumps(seen.to_json()))["rows"] == 30
    assert mt.look(pd.DataFrame({"a": [1, 2, 3], "y": [0, 1, 0]})).columns["features"].tolist() == [
        2,
        0,
    ]


@each_row("written", ["{y}-{m:02d}", "{y}/{m}", "{m:02d}/{y}", "{m}-{y}"])
def test_a_month_and_a_year_are_its_first_day(written, tmp_path):
    months = [(2010 + k // 12, k % 12 + 1) for k in range(24)]
    cells = [written.format(y=y, m=m) for y, m in months]
    file = tmp_path / "months.csv"
    file.write_text("when,t\n" + "".join(f"{c},{k % 2}\n" for k, c in enumerate(cells)))
    read = read_table(file).frame["when"]
    assert list(read) == [pd.Timestamp(y, m, 1) for y, m in months]


@each_row("written", ["{y}-{k}", "{y}.{m:02d}", "{k}/{m}", "{big}-{m:02d}"])
def test_what_only_looks_like_a_month_and_a_year_is_no_date(written, tmp_path):
    """Seasons such as 2015-16, numbers with a point, codes with other numbers of four digits."""
    cells = [written.format(y=2010 + k, m=k % 12 + 1, k=k + 11, big=3000 + k) for k in range(24)]
    file = tmp_path / "codes.csv"
    file.write_text("when,t\n" + "".join(f"{c},{k % 2}\n" for k, c in enumerate(cells)))
    assert read_table(file).frame["when"].dtype.kind != "M"


def test_columns_with_different_marks_leave_no_open_one(tmp_path):
    """Between commas, too: `"1.234"` beside `"1,5"` is asked about, and a stated mark is for both."""
    text = 'a,b,y\n"1.234","1,5",no\n"5.678","2,5",yes\n'
    path = write(tmp_path, text)
    with pytest.raises(TableProblems, match=r"1\.234.*before thousands .*decimal='\.' or"):
        mt.load(path)
    found = read_table(path, reading=Reading(decimal=",")).frame
    assert found["a"].tolist() == [1234, 5678]
    assert found["b"].tolist() == [1.5, 2.5]
    clear = read_table(write(tmp_path, 'a,b,y\n1.5,"1,5",no\n2.25,"2,5",yes\n'))
    assert (clear.frame["a"].tolist(), clear.frame["b"].tolist()) == ([1.5, 2.25], [1.5, 2.5])
    assert not clear.problems


@each_row("sep", [";", "\t", "|", " "])
def test_an_open_mark_is_asked_about_between_all_separators(sep, tmp_path):
    rows = [("a", "b", "y"), ("1.234", "1", "no"), ("5.678", "2", "yes")]
    path = write(tmp_path, "".join(sep.join(row) + "\n" for row in rows))
    with pytest.raises(TableProblems, match=r"before thousands or before decimals"):
        mt.load(path)
    assert mt.load(path, decimal=".").n_features == 2


@each_row("sep", [",", "\t", " ", ";"])
@each_row("quote", ['"', ""])
def test_the_names_of_rows_that_r_writes_are_no_column(sep, quote, tmp_path):
    def line(*cells):
        return sep.join(c if c.isdecimal() else f"{quote}{c}{quote}" for c in cells) + "\n"

    rows = [line(f"r{k}", str(k * k), "no" if k < 3 else "yes") for k in range(1, 6)]
    path = write(tmp_path, line("size", "y") + "".join(rows))
    found = read_table(path)
    assert found.features == ["size"]
    assert (found.target, found.frame["size"].tolist()) == ("y", [1, 4, 9, 16, 25])
    assert any("as R writes tables" in one for one in mt.look(path).guessed)
    with pytest.raises(mt.DataError, match="no name of the row; name all columns"):
        read_table(write(tmp_path, line("size", "y") + rows[0] * 2))


@pytest.mark.parametrize("n", [3, 60])
def test_row_numbers_without_a_name_are_no_feature(n, tmp_path):
    frame = pd.DataFrame({"x": [k % 2 for k in range(n)], "y": [k % 3 for k in range(n)]})
    path = write(tmp_path, frame.to_csv())
    with pytest.raises(TableProblems, match="column 1"):
        mt.load(path)
    assert {f.column for f in mt.load(path, drop=["column 1"]).features} == {"x"}
    assert "column 1" in {f.column for f in mt.load(path, features=["column 1", "x"]).features}


def test_a_blank_line_in_a_file_of_one_column_is_asked_about(tmp_path):
    with pytest.raises(mt.DataError, match="may be a missing value or no row"):
        read_table(write(tmp_path, "a\n1\n\n2\n"), alone=True)
