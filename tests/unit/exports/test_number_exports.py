"""Exports of trees whose leaves predict numbers: the same doubles, in every format."""

import ctypes
import json
import re
import shutil
import sqlite3
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from export_cases import rows, tree
from export_runners import NONE, RUNNERS, _c_value, _query, _strings, plain

import milp_trees as mt
from milp_trees.common.errors import Unsupported
from milp_trees.models.nodes import Branch, Leaf

F = mt.BinaryFeature
#: Doubles whose shortest text has one digit, many, an exponent, and no fraction.
NUMBERS = (0.1, 1 / 3, -2.5e-300, 1e22, 7.0, 125.43889585547291)
PAIRS = ((0.1, -1 / 3), (1e22, 7.0), (0.25, 5e-324))


def predicting(model, kind, names):
    """The tree as one that predicts numbers."""
    return mt.Tree.from_json({**model.to_json(), "predicts": {"kind": kind, "names": names}})


def numbers(seed=1):
    return predicting(tree(seed, depth=4, labels=NUMBERS, missing=False), "numbers", ["y"])


def pairs(seed=2, kind="numbers"):
    model = tree(seed, depth=3, labels=tuple(map(str, PAIRS)), missing=False)
    return predicting(model.with_actions([0, 1, 2], PAIRS), kind, ["a", "b"])


@pytest.fixture(scope="module")
def frame():
    return rows(500, seed=3, missing=False)


def compiled(model, folder):
    """The library of the C export."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    source, library = folder / "model.c", folder / "model.so"
    model.export("c", source)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)), source.read_text("ascii")


def c_rows(loaded, text, frame):
    """The rows of a table as structs."""
    members = text.partition("typedef struct {")[2].partition("}")[0].strip().splitlines()
    kinds = [
        ctypes.c_char_p if line.strip().startswith("const char *x") else ctypes.c_double
        for line in members
    ]
    fields = [(f"x{j}", k) for j, k in enumerate(kinds)]
    Row = type("Row", (ctypes.Structure,), {"_fields_": fields})
    names = _strings(loaded, "predict_columns")
    return [Row(*(_c_value(row[n], k) for n, k in zip(names, kinds))) for row in plain(frame)]


def test_c_returns_the_double(frame, tmp_path):
    model = numbers()
    loaded, text = compiled(model, tmp_path)
    loaded.predict.restype = ctypes.c_double
    found = [loaded.predict(ctypes.byref(row)) for row in c_rows(loaded, text, frame)]
    assert found == model.predict(frame).tolist()
    assert len(set(found)) > 3
    assert _strings(loaded, "predict_outputs") == ["y"]


def test_c_returns_nan_without_a_needed_value(tmp_path):
    root = Branch(F("x", "<=", 0.5), Leaf(0), Leaf(1))
    model = predicting(mt.Tree(root, (0.1, 0.2)), "numbers", ["y"])
    loaded, text = compiled(model, tmp_path)
    loaded.predict.restype = ctypes.c_double
    rows = c_rows(loaded, text, pd.DataFrame({"x": [0.0, np.nan]}))
    found = [loaded.predict(ctypes.byref(row)) for row in rows]
    assert found[0] == 0.2
    assert np.isnan(found[1])


def test_c_returns_a_pointer_to_several_numbers(frame, tmp_path):
    model = pairs()
    loaded, text = compiled(model, tmp_path)
    loaded.predict.restype = ctypes.POINTER(ctypes.c_double)
    found = [loaded.predict(ctypes.byref(row))[:2] for row in c_rows(loaded, text, frame)]
    assert found == model.predict(frame).tolist()
    assert _strings(loaded, "predict_outputs") == ["a", "b"]


@pytest.mark.parametrize("form", ["python", "sqlite", "duckdb", "onnx", "pmml", "json"])
def test_other_formats_give_the_double(form, frame, tmp_path):
    model = numbers()
    found = RUNNERS[form](model, frame, tmp_path)
    assert NONE not in found
    assert found == model.predict(frame).tolist()
    assert {type(v) for v in found} == {float}


@pytest.mark.parametrize("form", ["python", "onnx", "json"])
def test_several_numbers_are_given_together(form, frame, tmp_path):
    model = pairs()
    found = RUNNERS[form](model, frame, tmp_path)
    assert list(map(list, found)) == model.predict(frame).tolist()


def test_sql_has_a_column_for_each_of_several_numbers(frame):
    model = pairs()
    base = sqlite3.connect(":memory:")
    names = ", ".join('"' + c.replace('"', '""') + '"' for c in frame)
    base.execute(f"CREATE TABLE data (number, {names})")
    values = [(k, *row.values()) for k, row in enumerate(plain(frame))]
    base.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(values[0]))})", values)
    found = base.execute(_query(model))
    assert [d[0] for d in found.description][-2:] == ["prediction_a", "prediction_b"]
    assert [list(row[-2:]) for row in found] == model.predict(frame).tolist()


def test_pmml_states_a_regression_or_probabilities():
    text = numbers().export("pmml")
    assert 'functionName="regression"' in text
    assert 'name="prediction" optype="continuous" dataType="double"' in text
    with pytest.raises(Unsupported, match="one target"):
        pairs().export("pmml")
    root = ET.fromstring(pairs(kind="probabilities").export("pmml"))
    leaves = [e for e in root.iter() if e.tag.endswith("Node") and e.get("score")]
    for leaf in leaves:
        shares = {
            s.get("value"): float(s.get("probability"))
            for s in leaf
            if s.tag.endswith("ScoreDistribution")
        }
        assert tuple(shares.values()) in PAIRS
        assert leaf.get("score") == max(shares, key=shares.get)


def test_json_says_what_is_predicted():
    data = json.loads(numbers().export("json"))
    assert data["predicts"] == {"kind": "numbers", "names": ["y"]}
    assert tuple(data["labels"]) == NUMBERS
    assert "predicts" not in json.loads(tree(1).export("json"))


def test_pictures_in_dot_show_rounded_numbers():
    text = numbers().export("dot")
    assert '"125.4"' in text
    assert "125.43889585547291" not in text
    assert len(set(re.findall(r"fillcolor=\"(#\w+)\"", text))) > 2  # leaves differ in colour


def test_a_result_is_exported_as_its_stored_form(tmp_path):
    data = mt.Dataset([[0], [0], [1], [1]], y=[0.1, 0.2, 1.5, 2.25])
    result = mt.solve(mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(max_depth=1)))
    stored = json.loads(json.dumps(result.to_json()))
    again = mt.Tree.from_json(stored["predictor"])
    for form in ("c", "sql", "python", "pmml", "json", "dot"):
        assert again.export(form) == result.export(form)
    assert "double predict" in result.export("c")
