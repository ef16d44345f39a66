"""Pictures of trees: readable text, well-formed SVG with original names, boxes that do not overlap."""

import itertools
import random
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from milp_trees import BinaryFeature, DataError, Dataset, Tree
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


def test_text_puts_no_before_yes_and_uses_original_names():
    """False goes left, so "no" comes first; labels are the original ones."""
    tree = Tree(Branch(TESTS[0], Leaf(1), Branch(TESTS[1], Leaf(0), Leaf(1))), ("low", "high"))
    expected = "age <= 37.5\n├─ no:  high\n└─ yes: smoker\n   ├─ no:  low\n   └─ yes: high"
    assert tree.to_text() == str(tree) == expected


def test_text_of_a_single_leaf_is_its_label():
    """A tree of depth 0 is one line."""
    assert draw.tree_text(Tree(Leaf(1), ("low", "high"))) == "high"


def test_text_shows_counts_by_class_and_by_leaf():
    """Counts by class say how many of a leaf's rows have its label; counts by leaf say how many
    rows there are.
    """
    tree = Tree(Branch(TESTS[1], Leaf(0), Leaf(1)), ("low", "high"))
    data = Dataset([[0], [0], [1]], features=[TESTS[1]], y=["low", "high", "high"])
    counts = draw.leaf_counts(tree, data)
    assert counts.tolist() == [[1, 1], [0, 1]]
    assert draw.tree_text(tree, counts) == "smoker\n├─ no:  low  (1 of 2)\n└─ yes: high  (1 of 1)"
    assert draw.leaf_counts(tree, data.with_(y=None)).tolist() == [2, 1]
    assert "low  (2 rows)" in draw.tree_text(tree, [2, 1])


def test_counts_of_the_wrong_shape_are_refused_with_the_remedy():
    """One count for a tree of two leaves is an error that names what gives the right ones."""
    with pytest.raises(DataError, match="leaf_counts"):
        draw.tree_svg(Tree(Branch(TESTS[1], Leaf(0), Leaf(1)), ("low", "high")), counts=[3])


@pytest.mark.parametrize("depth", range(7))
def test_svg_is_well_formed_and_complete_at_every_depth(depth):
    """Whatever the names hold, the picture is XML with one box and one tooltip per node, needs
    nothing from elsewhere, has no ids.
    """
    tree = random_tree(depth, seed=depth)
    svg = draw.tree_svg(tree, counts=np.ones((tree.n_leaves, len(ACTIONS)), dtype=int))
    assert len(titles(svg)) == 2 * tree.n_leaves - 1
    assert texts(svg).count("no") == texts(svg).count("yes") == len(tree.splits)
    assert svg.count("http") == 1  # the name space
    assert " id=" not in svg


@pytest.mark.parametrize("seed", range(6))
def test_boxes_of_a_level_never_overlap_and_parents_are_centred(seed):
    """Neighbours keep their distance at every level; a parent stands midway between its children."""
    tree = random_tree(5, seed=seed, p=0.7)
    root = draw._boxes(tree.root, tree, draw._notes(tree, None))
    left, right = draw._place(root)
    levels = {}
    for box in root.walk():
        levels.setdefault(box.level, []).append((box.x - box.width / 2, box.x + box.width / 2))
        assert left - 1e-9 <= box.x - box.width / 2
        assert box.x + box.width / 2 <= right + 1e-9
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
