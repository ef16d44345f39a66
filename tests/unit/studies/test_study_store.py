"""A study's file that is damaged, newer or something else: a sentence, never a traceback, and no
promise that is not known to hold.
"""

import json
import re
import sqlite3

import pytest
from store_cases import change

import milp_trees as mt
from milp_trees.common.errors import DamagedRowWarning
from milp_trees.solving.stored_model import read_result
from milp_trees.studies import StoreError, Study
from milp_trees.studies.rows import DamagedRow, NewerRow, read_row
from milp_trees.studies.store import Store
from milp_trees.verification.fields import LATER


@pytest.fixture
def problem(stored_problem):
    return stored_problem


@pytest.fixture
def path(study_file):
    return study_file


def edit(path, **changes):
    """Change fields of cart's stored row; a value of ... takes the field away."""
    with sqlite3.connect(path) as db:
        row = json.loads(
            db.execute("SELECT result FROM runs WHERE role = 'run' AND method = 'cart'").fetchone()[
                0
            ]
        )
        row = {k: v for k, v in {**row, **changes}.items() if v is not ...}
        db.execute(
            "UPDATE runs SET result = ? WHERE role = 'run' AND method = 'cart'", (json.dumps(row),)
        )
        db.execute("UPDATE hashes SET sha256 = ''")  # as in a file of an earlier version
    db.close()


def stored(path):
    (text,) = (
        sqlite3.connect(path)
        .execute("SELECT result FROM runs WHERE role = 'run' AND method = 'cart'")
        .fetchone()
    )
    return json.loads(text)


# -- rows ----------------------------------------------------------------------------------------------------


DAMAGE = {
    "cut JSON": '{"schema": 1, "method": "ca',
    "no JSON": "cart",
    "a list": "[1, 2]",
    "null": "null",
    "a number": 5,
    "bytes": b"\xff\xfe",
    "nested": "[" * 100_000,
    "empty": "",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_row_that_is_no_row_is_left_out_and_run_again(problem, path, what):
    """The rest of the study is there, and the same comparison mends it."""
    change(path, "UPDATE runs SET result = ? WHERE role = 'run' AND method = 'cart'", DAMAGE[what])
    with pytest.warns(
        DamagedRowWarning,
        match=r"Row \d+ of the study file .* is damaged \(.*\) and is left out; the same comparison runs it again",
    ):
        study = Study.open(path)
    assert [row["method"] for row in study.rows] == ["dp"]
    assert study.best.method == "dp"
    with pytest.warns(DamagedRowWarning):
        again = mt.compare(problem, ["cart", "dp"], store=path)
    assert [row["status"] for row in again.rows] == ["feasible", "optimal"]
    assert {row["method"] for row in Study.open(path).rows} == {"cart", "dp"}, (
        "without a word on the damaged row, which is replaced"
    )


@pytest.mark.parametrize(
    "field",
    sorted(
        set(
            mt.solve(
                mt.Problem(mt.Dataset([[0], [1]], y=[0, 1]), mt.Accuracy(), mt.Trees(1)),
                "cart",
            ).to_json()
        )
        - LATER
    ),
)
def test_a_row_without_one_of_its_fields_is_damaged(path, field):
    """The one without `predictor` was a traceback."""
    edit(path, **{field: ...})
    with pytest.warns(DamagedRowWarning, match=f"it has no '{field}'"):
        assert [row["method"] for row in Study.open(path).rows] == ["dp"]


@pytest.mark.parametrize("field", sorted(LATER))
def test_a_row_of_an_older_release_is_whole(path, field):
    """Fields that came later may be absent; nothing is left out and nothing warns."""
    edit(path, **{field: ...})
    assert [row["method"] for row in Study.open(path).rows] == ["cart", "dp"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("status", "splendid"),
        ("limit", "boredom"),
        ("objective", "few"),
        ("objective", None),
        ("seconds", "long"),
        ("seconds", None),
        ("exact", "1e9999999"),
        ("exact", "1/0"),
        ("bound_exact", 5),
        ("agrees", "yes"),
        ("sense", "up"),
        ("method", 3),
        ("unit", None),
        ("trace", [1]),
        ("trace", [[0, "a", None]]),
        ("times", []),
        ("sizes", "big"),
        ("sizes", {"rows": "many"}),
        ("start", None),
        ("scores", {"train": "good"}),
        ("predictor", 5),
        ("predictor", {"root": {}}),
        ("predictor", {"kind": "ensemble"}),
        ("problem", {}),
        ("problem", None),
        ("options", 1),
        ("versions", []),
        ("checked", "all"),
        ("message", None),
        ("schema", "new"),
        ("nodes", "x"),
        ("objective", float("nan")),
        ("bound", float("inf")),
        ("gap", -float("inf")),
    ],
)
def test_a_row_with_a_field_of_another_kind_is_damaged(path, field, value):
    edit(path, **{field: value})
    with pytest.warns(DamagedRowWarning):
        assert [row["method"] for row in Study.open(path).rows] == ["dp"]


def test_a_number_too_large_for_a_float_is_no_number(path):
    text = json.dumps(stored(path)).replace('"seconds": ', '"seconds": 1e9999999, "was": ')
    with pytest.raises(DamagedRow, match="the number 1e9999999, which is too large"):
        read_row(text)


@pytest.mark.parametrize("column", ["seed", "problem", "finished"])
def test_a_column_of_another_kind_is_damage(path, column):
    change(path, f"UPDATE runs SET {column} = X'00' WHERE method = 'cart'")
    with pytest.warns(DamagedRowWarning, match="columns are of other kinds"):
        assert [row["method"] for row in Study.open(path).rows] == ["dp"]


def test_a_tree_that_cannot_be_read_is_run_again(problem, path):
    """A row can be shown although its tree cannot be read."""
    tree = stored(path)["predictor"]
    edit(
        path,
        predictor={**tree, "root": {"test": {}, "false": {"action": 0}, "true": {"action": 0}}},
    )
    study = Study.open(path)
    with pytest.raises(StoreError, match=r"A row of cart in .* is damaged"):
        _ = study.results
    with pytest.warns(DamagedRowWarning, match="Row of cart"):
        again = mt.compare(problem, ["cart"], store=path)
    assert again.results[0].predictor.to_json() == tree


#: What is changed in cart's row → what is said of it.
LIES = {
    "an action that there is not": (
        lambda row: row["predictor"].update(root={"action": 9, "label": 0}),
        "a leaf has the action 9",
    ),
    "no tree": (
        lambda row: row.update(predictor=None),
        "its status is 'feasible', and it holds no tree",
    ),
    "another status": (
        lambda row: row.update(status="no solution"),
        "its status is 'no solution', and it holds a tree",
    ),
    "another tree": (
        lambda row: row["predictor"].update(root={"action": 0, "label": 0}),
        "its tree has the value",
    ),
    "another value": (lambda row: row.update(objective=0, exact="0/1"), "and it states 0 errors"),
    "a method that steers the terminal": (
        lambda row: row.update(method="ca\x1b[31mrt"),
        "method is",
    ),
}


@pytest.mark.parametrize("what", LIES)
def test_a_row_that_does_not_fit_itself_is_no_answer(problem, path, what):
    """A comparison took such a row for a finished run; one with a leaf of no action ended in a
    traceback.
    """
    lie, message = LIES[what]
    honest = stored(path)
    lie(row := json.loads(json.dumps(honest)))
    edit(path, **row)
    with pytest.warns(DamagedRowWarning, match=re.escape(message)):
        again = mt.compare(problem, ["cart"], store=path)
    assert again.rows[0]["predictor"] == honest["predictor"]
    assert (again.rows[0]["method"], again.rows[0]["objective"]) == ("cart", honest["objective"])


def test_predict_takes_no_tree_of_an_error(path, tmp_path):
    """Its value may be better than any that is allowed."""
    right, wrong = stored(path), {**stored(path), "status": "error", "objective": -1}
    for rows, found in (([wrong, right], right), ([wrong], None)):
        (tmp_path / "rows.json").write_text(json.dumps(rows))
        if found is not None:
            assert read_result(tmp_path / "rows.json") == found
            continue
        with pytest.raises(
            mt.DataError, match="holds no tree but those of runs that ended in an error"
        ):
            read_result(tmp_path / "rows.json")


def test_a_row_of_a_newer_version_is_refused(problem, path):
    """It is not damaged, and to run it again would be wrong."""
    edit(path, schema=99)
    for read in (lambda: Study.open(path), lambda: mt.compare(problem, ["cart"], store=path)):
        with pytest.raises(
            StoreError,
            match=r"Row \d+ of the study file .* is newer: it has the layout 99, .*; update milp-trees",
        ):
            read()
    with pytest.raises(NewerRow):
        read_row('{"schema": 2}')


def test_values_beyond_a_float_are_kept(tmp_path):
    """SQLite holds 64 bits; the row's JSON holds the number."""
    store = Store(tmp_path / "s.sqlite")
    store.append(
        {"method": "m", "status": "optimal", "objective": 10**400, "bound": 2**70},
        key="k",
        role="run",
        problem="p",
        seed=0,
    )
    assert len(store) == 1
