"""How every format is run: from the exported text and a table to labels."""

import contextlib
import ctypes
import json
import shutil
import sqlite3
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest

NONE = object()  # no prediction


def plain(frame):
    """Rows as dicts with None for missing values."""
    columns = {
        str(c): [None if v is None or v != v else v for v in frame[c].tolist()] for c in frame
    }
    return [dict(zip(columns, values)) for values in zip(*columns.values())]


def python(model, frame, folder):
    space = {}
    exec(compile(model.export("python"), "exported.py", "exec"), space)
    out = []
    for row in plain(frame):
        try:
            out.append(space["predict"](row))
        except ValueError:
            out.append(NONE)
    return out


def _query(model):
    return model.export("sql").rstrip().rstrip(";") + ' ORDER BY t."number"'


def sqlite(model, frame, folder):
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        names = ", ".join('"' + c.replace('"', '""') + '"' for c in frame)
        base.execute(f"CREATE TABLE data (number, {names})")
        values = [(k, *row.values()) for k, row in enumerate(plain(frame))]
        base.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(values[0]))})", values)
        found = [row[-1] for row in base.execute(_query(model))]
    kind = {type(a) for a in model.actions}
    return [NONE if v is None else bool(v) if kind == {bool} else v for v in found]


def duckdb(model, frame, folder):
    engine = pytest.importorskip("duckdb")
    with contextlib.closing(engine.connect()) as base:
        data = frame.assign(number=np.arange(len(frame)))
        base.register("pandas_rows", data)
        base.execute("CREATE TABLE data AS SELECT * FROM pandas_rows")
        found = [row[-1] for row in base.execute(_query(model)).fetchall()]
    return [NONE if v is None else v for v in found]


def c(model, frame, folder):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    source, library = folder / "model.c", folder / "model.so"
    model.export("c", source)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    text = source.read_text("ascii")
    kinds = [
        ctypes.c_char_p if line.strip().startswith("const char *x") else ctypes.c_double
        for line in text.partition("typedef struct {")[2].partition("}")[0].strip().splitlines()
    ]
    names = _strings(loaded, "predict_columns")
    labels = _strings(loaded, "predict_labels")
    Row = type(
        "Row", (ctypes.Structure,), {"_fields_": [(f"x{j}", k) for j, k in enumerate(kinds)]}
    )
    known = {str(a): a for a in model.actions}
    out = []
    for row in plain(frame):
        values = [_c_value(row[name], kind) for name, kind in zip(names, kinds)]
        number = loaded.predict(ctypes.byref(Row(*values)))
        out.append(NONE if number < 0 else known[labels[number]])
    return out


def _c_value(value, kind):
    if kind is ctypes.c_char_p:
        return None if value is None else value.encode()
    return float("nan") if value is None else float(value)


def _strings(loaded, name):
    out, pointers = [], (ctypes.c_char_p * 1000).in_dll(loaded, name)
    while pointers[len(out)] is not None:
        out.append(pointers[len(out)].decode())
    return out


def onnx(model, frame, folder):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(model.export("onnx"), options)
    given = {}
    for one in session.get_inputs():
        values = frame[one.name]
        texts = one.type == "tensor(string)"
        given[one.name] = (
            values.where(values.notna(), "").to_numpy(object) if texts else values.to_numpy(float)
        )
    label, valid = session.run(None, given)
    return [v if ok else NONE for v, ok in zip(label.tolist(), valid.tolist())]


def pmml(model, frame, folder):
    """A small evaluator of PMML, by the words of its specification."""
    root = ET.fromstring(model.export("pmml"))
    space = {"p": root.tag[1:].partition("}")[0]}
    fields = {f.get("name"): f for f in root.iterfind("p:DataDictionary/p:DataField", space)}
    tree = root.find("p:TreeModel", space)
    treated = {f.get("name"): f for f in tree.iterfind("p:MiningSchema/p:MiningField", space)}
    target = next(n for n, f in treated.items() if f.get("usageType") == "target")
    read = {"string": str, "integer": int, "double": float, "boolean": lambda v: v == "true"}
    kind = read[fields[target].get("dataType")]
    assert tree.get("missingValueStrategy") == "none"
    allowed = {
        name: [
            v.get("value") if field.get("optype") == "ordinal" else float(v.get("value"))
            for v in field.iterfind("p:Value", space)
        ]
        for name, field in fields.items()
        if field.get("optype") in ("continuous", "ordinal")
    }
    below = {node: node.findall("p:Node", space) for node in tree.iter()}

    def value_of(row, name):
        """The value, None if it is missing; LookupError if there is no prediction."""
        value = row[name]
        if value is None:
            if treated[name].get("missingValueTreatment") == "returnInvalid":
                raise LookupError
            return None
        valid = allowed.get(name)
        strange = (valid and value not in valid) or value in (np.inf, -np.inf)
        if strange and treated[name].get("invalidValueTreatment") == "returnInvalid":
            raise LookupError
        return value

    def holds(predicate, row):
        tag = predicate.tag.partition("}")[2]
        if tag == "True":
            return True
        if tag == "CompoundPredicate":
            join = {"and": all, "or": any}[predicate.get("booleanOperator")]
            return join([holds(p, row) for p in predicate])
        value, operator = row[predicate.get("field")], predicate.get("operator")
        if operator in ("isMissing", "isNotMissing"):
            return (value is None) == (operator == "isMissing")
        if value is None:
            return False
        other = read[fields[predicate.get("field")].get("dataType")](predicate.get("value"))
        return {
            "equal": value == other,
            "notEqual": value != other,
            "lessOrEqual": value <= other if not isinstance(value, str) else None,
            "greaterThan": value > other if not isinstance(value, str) else None,
        }[operator]

    def walk(node, row):
        if not below.get(node):
            return kind(node.get("score"))
        return walk(next(n for n in below[node] if holds(n[0], row)), row)

    out = []
    for row in plain(frame):
        try:
            requested = {name: value_of(row, name) for name in treated if name != target}
            out.append(walk(tree.find("p:Node", space), requested))
        except LookupError:
            out.append(NONE)
    return out


def json_(model, frame, folder):
    """What the documented layout says, as a loop."""
    data = json.loads(model.export("json"))
    assert (data["format"], data["version"]) == ("milp-trees-model", 1)

    def holds(test, row):
        value = row[test["column"]]
        if test["kind"] == "missing":
            return value is None
        if value is None:
            if test["missing"] is None:
                raise LookupError
            return test["missing"] == "yes"
        if test["kind"] == "<=":
            return value <= test["value"]
        if test["kind"] == "in":
            return value in test["value"]
        return str(value) == test["value"] if test["kind"] == "==" else value == 1

    def label(row):
        if data["kind"] == "rule-list":
            for rule in data["rules"]:
                if all(holds(x, row) == x["holds"] for x in rule["if"]):
                    return data["labels"][rule["then"]]
            return data["labels"][data["default"]]
        node = data["nodes"][0]
        while "test" in node:
            node = data["nodes"][node["yes" if holds(node["test"], row) else "no"]]
        return data["labels"][node["label"]]

    out = []
    for row in plain(frame):
        bad = any(
            (row[c["name"]] is None and not c["may_be_missing"])
            or (c["holds"] == "number" and row[c["name"]] in (np.inf, -np.inf))
            or (c["holds"] == "yes-no" and row[c["name"]] not in (None, 0, 1))
            or ("order" in c and row[c["name"]] not in (None, *c["order"]))
            for c in data["columns"]
        )
        out.append(NONE if bad else label(row))
    return out


RUNNERS = {
    "python": python,
    "sqlite": sqlite,
    "duckdb": duckdb,
    "c": c,
    "onnx": onnx,
    "pmml": pmml,
    "json": json_,
}
