"""Rule lists as text: what is written is read back, and a slip is one sentence."""

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt

FEATURES = [
    mt.BinaryFeature("age", "<=", 37.5),
    mt.BinaryFeature("color", "==", "red and blue"),
    mt.BinaryFeature("sex:Male,priors:>3"),
    mt.BinaryFeature("not here"),
    mt.BinaryFeature("smoker"),
]
CLASSES = ("no", "yes: certainly", "then again")


def data():
    X = np.random.default_rng(0).integers(0, 2, (12, len(FEATURES))).astype(np.uint8)
    return mt.Dataset(X, FEATURES, y=[CLASSES[i % 3] for i in range(12)])


def test_what_is_written_is_read_back():
    """Random lists; names hold colons, commas, `and`, `not` and `then`."""
    rng, rows = np.random.default_rng(1), data()
    for _ in range(300):
        rules = []
        for _ in range(rng.integers(0, 4)):
            chosen = rng.choice(len(FEATURES), rng.integers(1, 4), replace=False)
            literals = tuple(mt.Literal(FEATURES[j], bool(rng.integers(0, 2))) for j in chosen)
            rules.append(mt.Rule(mt.Antecedent(literals), int(rng.integers(0, 3))))
        written = mt.RuleList(tuple(rules), int(rng.integers(0, 3)), rows.classes)
        assert mt.RuleList.from_text(written.to_text(), rows) == written


def test_people_write_it_in_other_ways_too():
    text = "\n IF  smoker and age <= 37.5 THEN no \n\n Elif not smoker then  no\nELSE then then again\n"
    other = mt.RuleList.from_text(text, data())
    assert other.leaf_actions == (0, 0, 1)
    assert other.splits[0].name == "age <= 37.5 and smoker"
    assert other.splits[1].name == "not smoker"
    assert other.actions[other.default] == "then again"


def test_a_condition_with_the_name_of_an_antecedent_is_that_one():
    """`age > 37.5` may be a feature of its own, or the opposite of one."""
    features = [mt.BinaryFeature("a"), mt.BinaryFeature("not a")]
    rows = mt.Dataset([[0, 1], [1, 0]], features, y=[0, 1])
    opposite = mt.Antecedent((mt.Literal(features[0], False),))
    text = "if not a: 0\nelse: 1"
    assert mt.RuleList.from_text(text, rows).splits[0].features == (features[1],)
    assert mt.RuleList.from_text(text, rows, antecedents=[opposite]).splits == (opposite,)


@each_row(
    ("text", "sentence"),
    [
        ("", "holds no rule list; write a line 'if FEATURE: ACTION'"),
        ("if smokes: no\nelse: no", "unknown feature 'smokes'. Did you mean 'smoker'"),
        ("if smoker and agee <= 37.5: no\nelse: no", "unknown feature 'agee <= 37.5'. Did you mean 'age <= 37.5'"),
        ("if smoker: nope\nelse: no", "unknown action 'nope'. Did you mean 'no'?"),
        ("if smoker: zzz\nelse: no", "unknown action 'zzz'. Known: 'no', "),
        ("if smoker\nelse: no", "names no action; write 'FEATURE: ACTION'"),
        ("if smoker: no\nif age <= 37.5: no\nelse: no", "a further rule begins with 'else if'"),
        ("else if smoker: no\nelse: no", "the first rule begins with 'if'"),
        ("if smoker: no", "must be the default rule, as in 'else: ACTION'"),
        ("if smoker: no\nelse if age <= 37.5: no", "must be the default rule"),
        ("if smoker: no\nelse: never", "Line 2 of the rule list, 'else: never', has the unknown action"),
        ("perhaps", "unknown action 'perhaps'"),
    ],
)  # fmt: skip
def test_a_slip_is_one_sentence(text, sentence):
    with pytest.raises(mt.DataError) as message:
        mt.RuleList.from_text(text, data())
    assert sentence in str(message.value)


def test_what_can_be_read_in_two_ways_is_refused():
    features = [mt.BinaryFeature(name) for name in ("a", "b", "a and b")]
    rows = mt.Dataset([[0, 1, 0], [1, 1, 1]], features, y=[0, 1])
    with pytest.raises(mt.DataError, match="can be read in 2 ways"):
        mt.RuleList.from_text("if a and b: 0\nelse: 1", rows)


def test_a_name_of_two_literals_is_refused_unless_they_hold_on_the_same_rows():
    """`not a` is a feature of its own here, and the opposite of another one."""
    features = [mt.BinaryFeature("a"), mt.BinaryFeature("not a")]
    rows = mt.Dataset([[0, 1], [1, 1], [1, 0]], features, y=[0, 1, 1])
    both = [mt.Antecedent((mt.Literal(features[0], False),)), mt.Antecedent((features[1],))]
    for known in ((), both):
        with pytest.raises(mt.DataError, match="can be read in 2 ways"):
            mt.RuleList.from_text("if not a: 0\nelse: 1", rows, antecedents=known)


def test_a_name_may_begin_or_end_with_and():
    features = [mt.BinaryFeature(name) for name in ("b and", "c", "and")]
    rows = mt.Dataset([[0, 1, 0], [1, 1, 1]], features, y=[0, 1])
    for names in ((0, 1), (0, 2), (1, 2), (0, 1, 2)):
        written = mt.RuleList((mt.Rule(mt.Antecedent([features[j] for j in names]), 0),), 1, (0, 1))
        assert mt.RuleList.from_text(written.to_text(), rows) == written


def test_without_classes_the_actions_are_asked_for():
    rows = mt.Dataset([[0], [1]], values=[[0, 1], [1, 0]])
    with pytest.raises(mt.DataError, match="give the names of the actions"):
        mt.RuleList.from_text("else: 0", rows)
    assert mt.RuleList.from_text("else: 1", rows, (0, 1)).default == 1


def test_a_printed_list_is_read_back_with_the_rows_that_it_shows():
    """The text of a result shows rows and errors; an action may be called like that, too."""
    rows = mt.Dataset([[0], [0], [1], [1]], [mt.BinaryFeature("a")], y=["b", "no", "no", "no"])
    for classes in (("b", "no"), ("b", "no (2 rows)")):
        data = mt.Dataset(rows.X, rows.features, y=np.array(classes)[rows.y])
        for written in (mt.RuleList((mt.Rule(data.features[0], 1),), 0, classes).on(data),):
            assert "(2 rows, 1 error)" in written.to_text()
            assert mt.RuleList.from_text(written.to_text(), data) == written
            bare = mt.RuleList(written.rules, 0, classes)
            assert mt.RuleList.from_text(bare.to_text(), data) == written
