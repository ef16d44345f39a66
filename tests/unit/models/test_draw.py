"""Pictures of trees: readable text, well-formed SVG with original names, boxes that do not overlap."""

import itertools
import random
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from row_tests import each_row

from milp_trees import BinaryFeature, DataError, Dataset, Rule, RuleList, Tree
from milp_trees.exports.pages.tree_content import tree_nodes
from milp_trees.models import draw
from milp_trees.models.nodes import Branch, Leaf

SVG = "{http://www.w3.org/2000/svg}"
TESTS = (
    BinaryFeature("age", "<=", 37.5),
    BinaryFeature("smoker"),
    BinaryFeature("colour", "==", "red & <blue>"),
    BinaryFeature("a very long column name that nobody can remember", "<=", 1 / 3),
    BinaryFeature("naïve ☃ 列", "==", 'it\'s "quoted"\x00\n'),
)
ACTIONS = (
    "benign",
    "malignant",
    '<odd> & "label"',
    "a label that is longer than any box should ever be",
)


def random_tree(depth, seed, p=0.85):
    rng = random.Random(seed)

    def node(d):
        if d == 0 or (d < depth and rng.random() > p):
            return Leaf(rng.randrange(len(ACTIONS)))
        return Branch(rng.choice(TESTS), node(d - 1), node(d - 1))

    return Tree(node(depth), ACTIONS)


def texts(svg):
    return ["".join(t.itertext()) for t in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def titles(svg):
    return ["".join(t.itertext()) for t in ElementTree.fromstring(svg).iter(f"{SVG}title")]


def test_text_names_branches_by_their_conditions_and_uses_original_names():
    """The branch on which the test fails is first; labels are the original ones."""
    tree = Tree(Branch(TESTS[0], Leaf(1), Branch(TESTS[1], Leaf(0), Leaf(1))), ("low", "high"))
    expected = "├─ age > 37.5: high\n└─ age <= 37.5\n   ├─ not smoker: low\n   └─ smoker: high"
    assert tree.to_text() == str(tree) == expected


def test_text_of_a_single_leaf_is_its_label():
    """A tree of depth 0 is one line."""
    assert draw.tree_text(Tree(Leaf(1), ("low", "high"))) == "high"


def test_text_shows_counts_by_class_and_by_leaf():
    """Counts by class say how many of a leaf's rows have another label."""
    tree = Tree(Branch(TESTS[1], Leaf(0), Leaf(1)), ("low", "high"))
    data = Dataset([[0], [0], [1]], features=[TESTS[1]], y=["low", "high", "high"])
    counts = draw.leaf_counts(tree, data)
    assert counts.tolist() == [[1, 1], [0, 1]]
    text = "├─ not smoker: low  (2 rows, 1 error)\n└─ smoker: high  (1 row)"
    assert draw.tree_text(tree, counts) == text
    assert draw.leaf_counts(tree, data.with_(y=None)).tolist() == [2, 1]
    assert "low  (2 rows)" in draw.tree_text(tree, [2, 1])


def test_counts_of_the_wrong_shape_are_refused_with_the_remedy():
    """One count for a tree of two leaves is an error that names what gives the right ones."""
    with pytest.raises(DataError, match="leaf_counts"):
        draw.tree_svg(Tree(Branch(TESTS[1], Leaf(0), Leaf(1)), ("low", "high")), counts=[3])


@each_row("depth", range(7))
def test_svg_is_well_formed_and_complete_at_every_depth(depth):
    """Whatever the names hold, the picture is XML with a box per node and tooltips of nodes and edges, needs
    nothing from elsewhere, has no ids.
    """
    tree = random_tree(depth, seed=depth)
    svg = draw.tree_svg(tree, counts=np.ones((tree.n_leaves, len(ACTIONS)), dtype=int))
    assert len(titles(svg)) == 2 * tree.n_leaves - 1 + 2 * len(tree.splits)
    assert not {"yes", "no", "true", "false"} & set(texts(svg))
    assert svg.count("http") == 1  # the name space
    assert " id=" not in svg


@each_row("seed", range(6))
def test_boxes_of_a_level_never_overlap_and_parents_are_centred(seed):
    """Neighbours keep their distance at every level; a parent stands midway between its children."""
    tree = random_tree(5, seed=seed, p=0.7)
    root = draw.boxes_of(tree)
    left, right = draw.place(root)
    levels = {}
    for box in root.walk():
        half = max(box.width, box.label_width) / 2
        levels.setdefault(box.level, []).append((box.x - half, box.x + half))
        assert left - 1e-9 <= box.x - half
        assert box.x + half <= right + 1e-9
        if box.children:
            assert box.x == pytest.approx((box.children[0].x + box.children[1].x) / 2)
            assert box.children[0].x < box.children[1].x
    for spans in levels.values():
        spans.sort()
        assert all(a[1] + draw._GAP <= b[0] + 1e-6 for a, b in itertools.pairwise(spans))


def test_long_names_are_shortened_and_kept_in_the_tooltip():
    """Column and threshold get lines of their own; the tooltip has the whole name with all digits."""
    tree = Tree(Branch(TESTS[3], Leaf(0), Leaf(3)), ACTIONS)
    svg = draw.tree_svg(tree)
    assert max(map(len, texts(svg))) <= draw.MAX_CHARS
    assert "<= 0.333333" in texts(svg)
    assert TESTS[3].name in titles(svg)
    assert ACTIONS[3] in titles(svg)


def test_leaves_are_coloured_by_action():
    """Equal actions have equal colours and different actions different ones, far beyond the
    palette.
    """
    tree = Tree(Branch(TESTS[0], Leaf(1), Branch(TESTS[1], Leaf(0), Leaf(1))), ("low", "high"))
    svg = draw.tree_svg(tree)
    assert svg.count(draw.action_colour(1)) == 2
    assert svg.count(draw.action_colour(0)) == 1
    assert len({draw.action_colour(k) for k in range(40)}) == 40


@each_row(
    ("test", "branches"),
    [
        (BinaryFeature("age", "<=", 37.5), ("> 37.5", "<= 37.5")),
        (BinaryFeature("age", "<=", 37.5, "no"), ("> 37.5 or missing", "<= 37.5")),
        (BinaryFeature("age", "<=", 37.5, "yes"), ("> 37.5", "<= 37.5 or missing")),
        (BinaryFeature("smoker"), ("== 0", "== 1")),
        (BinaryFeature("colour", "==", "yes"), ("!= yes", "== yes")),
        (BinaryFeature("age", "missing"), ("not missing", "missing")),
        (BinaryFeature("size", "<=", "mid", None, ("low", "mid", "top")), ("> mid", "<= mid")),
    ],
)
def test_edges_of_every_picture_are_named_by_their_conditions(test, branches):
    """Classes called yes and no stand beside conditions, in SVG, DOT, matplotlib and the page."""
    tree = Tree(Branch(test, Leaf(0), Leaf(1)), ("no", "yes"))
    assert draw.edge_labels(test) == branches
    assert set(branches) <= set(texts(tree.to_svg()))
    assert all(f'[label="{name}"]' in tree.export("dot") for name in branches)
    assert set(branches) <= {t.get_text() for t in tree.plot().texts}
    assert tree_nodes(tree, None)[0]["edges"] == list(branches)
    assert tree.to_text() == f"├─ {test.negation}: no\n└─ {test.name}: yes"


def test_a_list_is_plotted_with_its_rules_and_rows():
    """A formula in a name is not read as one."""
    rules = RuleList((Rule(BinaryFeature("cost in $"), 1),), 0, ("$no$", "yes"))
    data = Dataset([[0], [0], [1]], rules.features, y=["$no$", "yes", "yes"])
    shown = [t.get_text() for t in rules.plot(dataset=data).texts]
    assert shown == [
        *("if cost in \\$", "yes  (1 row)", "else", "\\$no\\$  (2 rows, 1 error)"),
    ]
