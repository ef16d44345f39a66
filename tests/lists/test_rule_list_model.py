"""`RuleList`: routes, predictions, changes, and its forms as text, tables, pictures and a tree."""

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.data.antecedent import Antecedent, Literal
from milp_trees.models.export import to_sklearn
from milp_trees.plugins import Branch, Leaf

AGE, OLD = mt.BinaryFeature("age", "<=", 24.5), mt.BinaryFeature("age", "<=", 60.0)
MALE, ILL = mt.BinaryFeature("sex", "==", "male"), mt.BinaryFeature("ill")
YOUNG_MAN = Antecedent((Literal(AGE), Literal(MALE)))
RULES = mt.RuleList(
    (mt.Rule(YOUNG_MAN, 1), mt.Rule(ILL, 0), mt.Rule(Literal(OLD, False), 1)), 2, ("a", "b", "<c>")
)
TABLE = pd.DataFrame(
    {
        "age": [20, 20, 70, 70, 40, 40],
        "sex": ["male", "female", "male", "female", "male", "female"],
        "ill": [0, 1, 1, 0, 0, 1],
    }
)


def data(y=("b", "a", "a", "b", "<c>", "b")) -> mt.Dataset:
    features = (AGE, OLD, MALE, ILL)
    X = np.column_stack([t.evaluate(TABLE[t.column]) for t in features]).astype(np.uint8)
    return mt.Dataset(X, features, y=list(y))


def test_every_row_reaches_the_first_rule_that_holds():
    routes = RULES.routes(data())
    assert routes.leaf.tolist() == [0, 1, 1, 2, 3, 1]
    assert routes.action.tolist() == [1, 0, 0, 1, 2, 0]
    assert [len(p) for p in routes.paths] == [1, 2, 3, 3]
    assert routes.splits == RULES.splits
    assert routes.n_leaves == RULES.n_leaves == 4
    assert [*routes.nodes()] == [(0, 0), (1, 1), (2, 2), (3, 3), (2, 3), (1, 3), (0, 3)]
    assert RULES.length == RULES.depth == 3


def test_a_list_predicts_on_a_dataset_a_view_and_raw_columns():
    expected = ["b", "a", "a", "b", "<c>", "a"]
    space = mt.RuleLists(mt.Antecedents(max_literals=2, negations=True), max_length=3)
    view = mt.Problem(data(), mt.Accuracy(), space).view(mt.plugins.CostMatrix)
    for rows in (data(), view, TABLE, TABLE.to_dict("list")):
        assert RULES.predict(rows).tolist() == expected
    with pytest.raises(mt.DataError, match="The rule list tests the column 'ill', which the table"):
        RULES.predict(TABLE.drop(columns="ill"))
    with pytest.raises(mt.DataError, match=r"asks for 'age <= 24.5', which the data do not have"):
        RULES.predict(mt.Dataset([[1]], [ILL]))


def test_json_is_read_back_and_damage_is_refused():
    stored = json.loads(json.dumps(RULES.to_json()))
    assert mt.RuleList.from_json(stored) == RULES
    for damage in (
        lambda s: s["rules"][0].pop("antecedent"),
        lambda s: s["rules"][0].update(action=3),
        lambda s: s["default"].update(action="0"),
        lambda s: s.update(rules="x"),
        lambda s: s["rules"][0]["antecedent"]["literals"][0].update(holds="no"),
    ):
        other = json.loads(json.dumps(stored))
        damage(other)
        with pytest.raises((KeyError, TypeError, ValueError, mt.DataError)):
            mt.RuleList.from_json(other)
    with pytest.raises(mt.DataError, match="a number from 0 to 1"):
        mt.RuleList((mt.Rule(ILL, 2),), 0, (0, 1))


def test_constant_antecedents_disappear_and_only_the_last_rule_takes_a_complement():
    fewer = RULES.map_tests(lambda a: False if a == YOUNG_MAN else (a, False))
    assert fewer.splits == RULES.splits[1:]
    cut = RULES.map_tests(lambda a: True if a == Antecedent((ILL,)) else (a, False))
    assert (cut.splits, cut.default) == ((YOUNG_MAN,), 0)
    last = Antecedent((Literal(OLD, False),))
    turned = RULES.map_tests(lambda a: (Antecedent((OLD,)), True) if a == last else (a, False))
    assert (turned.predict(data()) == RULES.predict(data())).all()
    with pytest.raises(mt.DataError, match="is not the last one"):
        RULES.map_tests(lambda a: (a, True))


def test_rules_that_capture_nothing_are_removed_and_the_last_that_captures_all_is_the_default():
    some = data().subset([0, 1, 2, 5])
    simple = RULES.prune_empty(some)
    assert (simple.splits, simple.default) == ((YOUNG_MAN,), 0)
    assert (simple.predict(some) == RULES.predict(some)).all()


def test_text_table_and_pictures_say_the_same():
    assert str(RULES) == (
        "if age <= 24.5 and sex == male: b\nelse if ill: a\nelse if age > 60: b\nelse: <c>"
    )
    assert str(mt.RuleList((), 1, (0, 1))) == "1"
    frame = RULES.to_frame(data())
    assert frame["rows"].tolist() == [1, 3, 1, 1]
    assert frame["correct"].tolist() == [1, 2, 1, 1]
    assert frame["place"].tolist() == [1, 2, 3, 4]
    assert frame["share"].iloc[1] == 2 / 3
    assert list(RULES.to_frame()) == ["place", "word", "condition", "action"]
    html = RULES.to_html(data())
    assert "&lt;c&gt;" in html
    assert "<c>" not in html
    assert "2 (66.7 %)" in html
    assert html.count("<tr>") == 5
    assert "rows" not in RULES._repr_html_()
    for svg in (RULES.to_svg(), RULES.picture(data())):
        texts = [t.text for t in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
        assert texts[0] == "if age <= 24.5 and sex == male"
        assert texts[6] == "else"
    assert texts[3] == "a  (3 rows, 1 error)"
    no_classes = mt.Dataset(data().X, data().features)
    assert RULES.to_frame(no_classes)["rows"].tolist() == [1, 3, 1, 1]
    assert "1 row)" in RULES.picture(no_classes)


def test_the_tree_of_a_list_predicts_the_same():
    tree = RULES.to_tree()
    assert (tree.predict(TABLE) == RULES.predict(TABLE)).all()
    # `ill` follows after each of the two literals; where age <= 24.5 holds, age > 60 is not asked.
    assert [t.name for t in tree.splits] == [
        *("age <= 24.5", "ill", "age <= 60", "sex == male", "ill")
    ]
    model = to_sklearn(tree, TABLE[["age", "ill"]].assign(sex=TABLE["sex"]))
    assert model.get_n_leaves() == tree.n_leaves
    one_sided = mt.RuleList((mt.Rule(ILL, 1), mt.Rule(MALE, 0)), 1, (0, 1)).to_tree()
    assert one_sided.root == Branch(ILL, Branch(MALE, Leaf(1), Leaf(0)), Leaf(1))


def test_trees_of_random_lists_predict_the_same():
    rng = np.random.default_rng(4)
    features = [*(mt.BinaryFeature("x", "<=", t) for t in (1.5, 2.5, 3.5)), ILL]
    features += [mt.BinaryFeature("c", "==", k) for k in "uvw"]
    table = pd.DataFrame(
        {"x": rng.integers(0, 6, 60), "ill": rng.integers(0, 2, 60), "c": rng.choice([*"uvwz"], 60)}
    )
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rules = tuple(
            mt.Rule(
                Antecedent(
                    tuple(
                        Literal(features[j], bool(rng.integers(0, 2)))
                        for j in rng.choice(len(features), rng.integers(1, 4), replace=False)
                    )
                ),
                int(rng.integers(0, 3)),
            )
            for _ in range(rng.integers(0, 4))
        )
        one = mt.RuleList(rules, 0, (0, 1, 2))
        assert (one.to_tree().predict(table) == one.predict(table)).all(), seed


def test_a_tree_that_would_be_too_large_is_refused():
    pairs = [Antecedent((mt.BinaryFeature(f"a{k}"), mt.BinaryFeature(f"b{k}"))) for k in range(15)]
    long = mt.RuleList(tuple(mt.Rule(a, 0) for a in pairs), 1, (0, 1))
    with pytest.raises(mt.DataError, match=re.escape("more than 16384 leaves")):
        long.to_tree()


def test_what_is_defined_on_the_nodes_of_trees_refuses_a_list():
    with pytest.raises(mt.errors.NoView, match="a rule list has none"):
        _ = RULES.routes(data()).root


@each_row(
    "make, what",
    [
        (lambda f: mt.RuleList(5, 0, (0, 1)), "needs a sequence of rules"),
        (lambda f: mt.RuleList([1], 0, (0, 1)), "is a Rule"),
        (lambda f: mt.RuleList([mt.Rule(f, 1)], 0, "ab"), "needs a sequence of actions"),
        (lambda f: mt.RuleList([mt.Rule(f, "yes")], 0, ("no", "yes")), "has the action 'yes'"),
        (lambda f: mt.RuleList([mt.Rule(f, 1)], None, ("no", "yes")), "has the action None"),
        (lambda f: mt.Rule("a", 1), "is made of literals"),
    ],
)
def test_a_list_that_was_typed_wrongly_is_refused_with_a_sentence(make, what):
    with pytest.raises(mt.DataError, match=what):
        make(mt.BinaryFeature("a"))


@each_row("far", [0.0, 1e17, -1e17, 5e-324, 1.7e308])
def test_the_tree_of_a_list_keeps_thresholds_beside_each_other(far):
    """Numbers so large that one more is the same number have a next one all the same."""
    low, high = far, float(np.nextafter(far, np.inf))
    rules = mt.RuleList(
        (
            mt.Rule(mt.BinaryFeature("x", "<=", low), 1),
            mt.Rule(mt.BinaryFeature("x", "<=", high), 0),
        ),
        1,
        ("n", "y"),
    )
    frame = {"x": [low, high, float(np.nextafter(high, np.inf))]}
    assert rules.predict(frame).tolist() == ["y", "n", "y"]
    assert rules.to_tree().predict(frame).tolist() == ["y", "n", "y"]


def test_the_tree_of_a_list_answers_as_the_list_for_every_kind_of_question():
    """Also where dates are missing, and for ordered categories."""
    order, rng = ("a", "b", "c", "d"), np.random.default_rng(0)
    days = [f"2021-01-0{k}" for k in (1, 2, 3)]
    requested = [mt.BinaryFeature("d", "<=", day, m) for day in days for m in ("yes", "no")]
    requested += [mt.BinaryFeature("o", "<=", v, m, order) for v in "abc" for m in ("yes", "no")]
    requested += [mt.BinaryFeature("x", "<=", v, m) for v in (1.0, 2.0) for m in ("yes", "no")]
    requested += [mt.BinaryFeature("t", "==", v, m) for v in ("u", "v") for m in ("yes", "no")]
    requested += [mt.BinaryFeature("z", "is", None, m) for m in ("yes", "no")]
    requested += [mt.BinaryFeature(c, "missing") for c in "doxtz"]
    n = 40
    columns = {
        "d": [pd.Timestamp(f"2021-01-0{k}") for k in rng.integers(1, 6, n)],
        "o": rng.choice(list(order), n).tolist(),
        "x": rng.integers(0, 4, n).astype(float).tolist(),
        "t": rng.choice(list("uvw"), n).tolist(),
        "z": rng.integers(0, 2, n).tolist(),
    }
    rows = {c: [None if rng.random() < 0.3 else v for v in held] for c, held in columns.items()}
    for _ in range(30):
        rules = tuple(
            mt.Rule(
                mt.Antecedent(
                    tuple(mt.Literal(requested[k], bool(rng.random() < 0.5)) for k in chosen)
                ),
                int(rng.integers(3)),
            )
            for chosen in (rng.choice(len(requested), rng.integers(1, 3), False) for _ in range(6))
        )
        model = mt.RuleList(rules, 0, ("a", "b", "c"))
        assert model.to_tree().predict(rows).tolist() == model.predict(rows).tolist()
