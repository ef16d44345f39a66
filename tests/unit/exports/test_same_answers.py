"""Every candidate question is true of the training rows, and everything answers it alike.

The truth is computed here from the single values of a column, by code of its own.
"""

import datetime
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from export_runners import NONE, RUNNERS
from row_tests import each_row

import milp_trees as mt
from milp_trees.exports._program import Program
from milp_trees.models.export import to_sklearn
from milp_trees.models.nodes import Branch, Leaf

BASE = [3, 1, 2, 1, 3, 2, 2, 1, 3, 0, 1, 2]
TEXTS = ["rgbx"[k] for k in BASE]
DAYS = pd.to_datetime("2021-01-01") + pd.to_timedelta(BASE, "D")
NUMBERS = ("int8", "uint64", "float16", "float32", "float64", "Int64", "Float32")
ARROW = ("int64[pyarrow]", "double[pyarrow]", "bool[pyarrow]", "string[pyarrow]")


def category(values, order=None, **given):
    return pd.Series(pd.Categorical(values, categories=order, **given))


def columns():
    """A column of every type; pyarrow is not always there."""
    out = {name: pd.Series(BASE).astype(name) for name in NUMBERS}
    out |= {f"0/1 {name}": pd.Series(BASE).mod(2).astype(name) for name in ("int64", "boolean")}
    out |= {
        "bool": pd.Series(BASE) > 1,
        "bool objects": (pd.Series(BASE) > 1).astype(object),
        "thirds": pd.Series(np.array(BASE, np.float32) / np.float32(3)),
        "decimals": pd.Series([Decimal(k) / 10 for k in BASE], dtype=object),
        "mixed numbers": pd.Series([float(k) if k % 2 else k for k in BASE], dtype=object),
        "texts": pd.Series(TEXTS, dtype=object),
        "string": pd.Series(TEXTS, dtype="string"),
        "texts and numbers": pd.Series([k if k % 2 else f"n{k}" for k in BASE], dtype=object),
        "category": category(TEXTS),
        "two categories": category(["ab"[k % 2] for k in BASE]),
        "categories of ints": category(BASE),
        "categories of floats": category([k / 2 for k in BASE]),
        "categories of bools": category([k > 1 for k in BASE]),
        "categories of days": category(DAYS),
        "categories of times": category(DAYS + pd.Timedelta("3h30min")),
        "categories of dates": category([d.date() for d in DAYS]),
        "categories of Int64": pd.Series(BASE, dtype="Int64").astype("category"),
        "nominal intervals": category(pd.cut(pd.Series(BASE), [-1, 0, 1, 4]).astype(object)),
        "intervals": pd.Series(pd.cut(pd.Series(BASE).astype(float), [-1, 0, 1, 2, 4])),
        "ordered": category(TEXTS, ["b", "r", "g", "never", "x"], ordered=True),
        "ordered ints": category(BASE, ordered=True),
        "ordered down": category(BASE, [3, 2, 1, 0], ordered=True),
        "ordered days": category(DAYS, ordered=True),
        "days": pd.Series(DAYS),
        "seconds": pd.Series(DAYS).astype("datetime64[s]"),
        "times": pd.Series(pd.to_datetime("2021-01-01 01:02:03.25") + pd.to_timedelta(BASE, "h")),
        "nanoseconds": pd.Series(DAYS).astype("datetime64[ns]") + pd.to_timedelta(BASE, "ns"),
    }
    try:
        import pyarrow as pa
    except ImportError:
        return out
    out |= {name: pd.Series(TEXTS if "str" in name else BASE).astype(name) for name in ARROW[:2]}
    out |= {
        "arrow texts": pd.Series(TEXTS, dtype="string[pyarrow]"),
        "arrow bool": pd.Series([k > 1 for k in BASE], dtype="bool[pyarrow]"),
        "arrow days": pd.Series([d.date() for d in DAYS], dtype=pd.ArrowDtype(pa.date32())),
        "arrow times": pd.Series(DAYS, dtype=pd.ArrowDtype(pa.timestamp("us"))),
        "arrow decimals": pd.Series(
            [Decimal(k) / 10 for k in BASE], dtype=pd.ArrowDtype(pa.decimal128(5, 2))
        ),
        "arrow dictionary": pd.Series(
            pd.arrays.ArrowExtensionArray(pa.array(TEXTS).dictionary_encode())
        ),
    }
    return out


COLUMNS = columns()


def values(column):
    """The single values of a column; None is missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        held = list(column.cat.categories)
        return [None if k < 0 else held[k] for k in column.cat.codes]
    return [None if v is None or v is pd.NA or v is pd.NaT or v != v else v for v in column]


def spelled(value):
    if isinstance(value, pd.Interval):
        ends = "(["[value.closed_left], ")]"[value.closed_right]
        return f"{ends[0]}{spelled(value.left)}, {spelled(value.right)}{ends[1]}"
    if isinstance(value, datetime.date):
        return value.isoformat().removesuffix("T00:00:00").removesuffix(":00")
    return f"{value:g}" if isinstance(value, (float, np.floating)) else str(value)


def true(feature, value):
    if feature.kind == "missing":
        return value is None
    if value is None:
        return feature.missing == "yes"
    if feature.kind == "==":
        return spelled(value) == feature.value
    if feature.order:
        return feature.order.index(spelled(value)) <= feature.order.index(feature.value)
    if isinstance(feature.value, str):
        return pd.Timestamp(value) <= pd.Timestamp(feature.value)
    return bool(value == 1) if feature.kind == "is" else float(value) <= feature.value


def with_gap(column):
    out = column.copy()
    out.iloc[2] = None
    return out


TABLES = {
    **COLUMNS,
    **{f"{name}, a gap": with_gap(c) for name, c in COLUMNS.items() if c.dtype != bool},
}


@each_row("name", TABLES)
def test_every_candidate_question_is_true_of_the_training_rows(name):
    """In the binarizer and by `predict`, in one table, row by row, as lists and as objects."""
    frame = pd.DataFrame({"c": TABLES[name]})
    binarizer = mt.Binarizer(kind="midpoints")
    data = binarizer.dataset(frame, [0, 1] * 6)
    held = values(frame["c"])
    assert data.n_features >= ("nano" not in name), name
    for f, feature in enumerate(data.features):
        expected = [true(feature, v) for v in held]
        assert 0 < sum(expected) < len(expected)
        tree = mt.Tree(Branch(feature, Leaf(0), Leaf(1)), (False, True))
        again = mt.Tree.from_json(json.loads(json.dumps(tree.to_json())))
        assert data.outcome(f).astype(bool).tolist() == expected, feature
        assert binarizer.transform(frame)[:, f].astype(bool).tolist() == expected
        assert tree.actions[1] is True
        assert tree.routes(data).action.astype(bool).tolist() == expected
        for rows in (frame, {"c": held}, frame.astype(object)):
            assert again.predict(rows).tolist() == expected, (feature, rows)
        assert [again.predict(frame.iloc[[i]])[0] for i in (0, 2, 9)] == [
            expected[i] for i in (0, 2, 9)
        ]
        to_sklearn(tree, frame, expected)  # checks its own predictions
    stored = json.loads(json.dumps(binarizer.to_json()))
    assert mt.Binarizer.from_json(stored).features == data.features
    few = binarizer.only(data.features[:1])
    assert few.features == data.features[:1]
    assert binarizer.covering(data.features).features == data.features


def as_texts(frame, model):
    """The rows as the formats want them: categories by their texts, numbers as floats."""
    out = {}
    for column in Program.of(model).columns:
        held = values(frame[column.name])
        if column.holds == "text":
            out[column.name] = pd.Series(
                [v if v is None else spelled(v) for v in held], dtype=object
            )
        elif column.holds == "date":
            out[column.name] = pd.Series(pd.to_datetime(held))
        else:
            numbers = column.holds in ("number", "yes-no")
            out[column.name] = pd.Series(
                [np.nan if v is None else float(v) if numbers else 1.0 for v in held]
            )
    return pd.DataFrame(out)


@each_row("form", RUNNERS)
def test_every_format_answers_the_training_rows_as_predict_does(form, tmp_path):
    """Random rule lists over all types; dates where the format has them."""
    frame = pd.DataFrame({f"{k} {name}": c for k, (name, c) in enumerate(TABLES.items())})
    rng = np.random.default_rng(0)
    dates = form in ("python", "duckdb")
    features = [
        f
        for f in mt.Binarizer(kind="midpoints", max_categories=20).fit(frame).features
        if dates or not f.dated
    ]
    requested = set()
    for k in range(3 if form == "c" else 6):
        (folder := tmp_path / str(k)).mkdir()
        order = rng.permutation(len(features))[:60]
        rules = tuple(
            mt.Rule(mt.Literal(features[f], bool(rng.random() < 0.5)), j % 3)
            if j % 2
            else mt.Rule(
                mt.Antecedent(
                    tuple(
                        mt.Literal(features[g], bool(rng.random() < 0.5)) for g in (f, order[j - 1])
                    )
                ),
                j % 3,
            )
            for j, f in enumerate(order.tolist())
        )
        requested |= {features[f].kind for f in order}
        model = mt.RuleList(rules[: 10 + 10 * k], 1, ("a", "b", "c"))
        rows = as_texts(frame, model)
        expected = model.predict(frame).tolist()
        assert RUNNERS[form](model, rows, folder) == expected
        assert model.to_tree().predict(frame).tolist() == expected if k == 0 else True
    assert requested == {"<=", "==", "is", "missing"}


def test_the_exported_function_spells_categories_itself():
    """Numbers, dates and intervals may be given to Python as they are."""
    for name in TABLES:
        frame = pd.DataFrame({"c": TABLES[name]})
        for feature in mt.Binarizer(kind="midpoints").fit(frame).features:
            model = mt.Tree(Branch(feature, Leaf(0), Leaf(1)), (False, True))
            space = {}
            exec(model.export("python"), space)
            held = values(frame["c"])
            found = [space["predict"]({"c": v}) for v in held]
            if name.startswith("intervals"):  # the text of a float is another one
                continue
            assert found == [true(feature, v) for v in held], (name, feature)


@each_row("form", RUNNERS)
def test_a_category_that_is_not_in_the_order_has_no_prediction(form, tmp_path):
    order = ("low", "middle", "high")
    feature = mt.BinaryFeature("c", "<=", "middle", "no", order)
    model = mt.Tree(Branch(feature, Leaf(0), Leaf(1)), ("n", "y"))
    frame = pd.DataFrame({"c": pd.Series(["low", "high", None, "huge"], dtype=object)})
    assert RUNNERS[form](model, frame, tmp_path) == ["y", "n", "n", NONE]
    assert model.predict(frame[:3]).tolist() == ["y", "n", "n"]
    with pytest.raises(mt.DataError, match="in row 3 that is not in the order"):
        model.predict(frame)


def test_ordered_categories_are_asked_by_their_order():
    """A tree of one question has no errors, which no question about one category gives."""
    sizes = ["xs", "s", "m", "l", "xl", "xxl"]
    rows = [sizes[k * 5 % 6] for k in range(60)]
    y = ["small" if sizes.index(s) < 3 else "large" for s in rows]
    frame = pd.DataFrame({"size": pd.Categorical(rows, categories=sizes, ordered=True)})
    result = mt.solve(
        mt.Problem(mt.Binarizer().dataset(frame, y), mt.Accuracy(), mt.Trees(1)), "dp"
    )
    assert (result.objective, result.predictor.splits[0].name) == (0, "size <= m")
    assert mt.OptimalTreeClassifier(max_depth=1).fit(frame, y).score(frame, y) == 1
    looked = mt.look(frame.assign(y=y)).columns.set_index("column")
    assert looked.loc["size", "type"] == "ordered category"
    assert looked.loc["size", "features"] == 5


@pytest.mark.parametrize("form", ["sqlite", "duckdb"])
def test_whole_numbers_beyond_2_to_the_53_are_rounded_in_sql_as_in_predict(form, tmp_path):
    whole = pd.DataFrame({"x": [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, -(2**53) - 1]})
    for at in (2.0**53, 2.0**53 + 2, -(2.0**53), 2.0**53 - 1):
        for missing in (None, "yes"):
            feature = mt.BinaryFeature("x", "<=", at, missing)
            model = mt.Tree(Branch(feature, Leaf(0), Leaf(1)), ("n", "y"))
            (folder := tmp_path / f"{at}{missing}").mkdir()
            assert RUNNERS[form](model, whole, folder) == model.predict(whole).tolist()


@each_row("form", RUNNERS)
def test_every_format_asks_for_sets_of_categories(form, tmp_path):
    """Missing values and categories that no training row had included, in trees and lists."""
    held = ["red", "blue", "it's", "a, b", 'say "x"', None]
    frame = pd.DataFrame({"c": pd.Series([*held, *held[:3], "red"], dtype=object)})
    tests = mt.Binarizer(category_sets=5).fit(frame).features
    sets = [t for t in tests if t.kind == "in"]
    assert len(sets) == 30
    rows = pd.DataFrame({"c": pd.Series([*held, "violet", "reds"], dtype=object)})
    rng = np.random.default_rng(0)
    for k in range(2 if form == "c" else 4):
        (folder := tmp_path / str(k)).mkdir()
        a, b, c, d = (sets[f] for f in rng.permutation(len(sets))[:4])
        if k % 2:
            rules = (
                mt.Rule(mt.Literal(a), 1),
                mt.Rule(mt.Antecedent((mt.Literal(b, False), mt.Literal(c))), 2),
            )
            model = mt.RuleList(rules, 0, ("a", "b", "c"))
        else:
            low, high = Branch(b, Leaf(0), Leaf(1)), Branch(c, Branch(d, Leaf(1), Leaf(2)), Leaf(0))
            model = mt.Tree(Branch(a, low, high), ("a", "b", "c"))
        assert RUNNERS[form](model, rows, folder) == model.predict(rows).tolist()
        assert (
            mt.Tree.from_json(
                json.loads(json.dumps(model.to_tree().to_json() if k % 2 else model.to_json()))
            )
            .predict(rows)
            .tolist()
            == model.predict(rows).tolist()
        )
