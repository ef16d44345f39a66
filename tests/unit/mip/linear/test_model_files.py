"""Model files that every reader takes in the same way: names, bounds, digits, empty parts,
comments.
"""

import gzip
import shutil

import numpy as np
import pytest
from model_readers import INFEASIBLE, READERS, UNREADABLE, ortools, present, refuses
from row_tests import each_row
from scipy import sparse

from milp_trees import DataError
from milp_trees.mip.linear.files import CONSTANT, file_model, write_model
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.linear.names import LONGEST, safe_names

INF = float("inf")


@pytest.fixture(scope="module", autouse=True)
def _end():
    yield
    ortools.close()


def model(c, rows, lower, upper, low=None, up=None, integer=None, offset=0.0):
    n = len(c)
    A = sparse.csr_matrix(np.array(rows, dtype=float).reshape(len(lower), n))
    bounds = [
        np.array(given if given is not None else default, dtype=float)
        for given, default in ((low, [0] * n), (up, [1] * n))
    ]
    whole = np.array([True] * n if integer is None else integer, dtype=bool)
    return MatrixModel(
        "a model",
        np.array(c, dtype=float),
        offset,
        A,
        np.array(lower, dtype=float),
        np.array(upper, dtype=float),
        *bounds,
        whole,
    )


def knapsack(n=3):
    """At most two of n items that are worth 1, 2, …, n: the optimum is -(2n - 1)."""
    return model([-(j + 1) for j in range(n)], [[1] * n], [-INF], [2])


BIG = 2.0**53 - 1

CASES = {
    "binary": (knapsack(), -5),
    "long": (model([-(j % 7) - 1 for j in range(1000)], [[1] * 1000], [-INF], [100]), -700),
    "bounds": (
        model(
            [1, 1, -1, 1, -1, 1, 0, -1, 1],
            [[1, 1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0, 0]],
            [-3, -7.5],
            [INF, INF],
            low=[-INF, -2, 0, -INF, -5, 2, 0, 0, 3],
            up=[INF, 4, 3.5, 10, -1.5, 2, INF, 2.5, INF],
            integer=[0, 0, 0, 1, 1, 0, 1, 1, 0],
        ),
        -3 - 3.5 - 7 + 2 + 2 - 2 + 3,
    ),
    "two-sided rows": (model([1, 2], [[1, 1], [2, 1]], [1, -2], [2, 1], up=[5, 5]), 2),
    "free, empty and equal rows": (
        model(
            [1, 1], [[1, 1], [0, 0], [1, -1]], [-INF, -INF, 0], [INF, 5, 0], low=[1, 0], up=[5, 5]
        ),
        2,
    ),
    "constant": (model([1, 1], [[1, 1]], [1], [INF], offset=2.5), 3.5),
    "constant below zero": (model([1, 1], [[1, 1]], [1], [INF], offset=-1e6), -999999),
    "constant alone": (model([], [], [], [], offset=7.0), 7),
    "nothing": (model([], [], [], []), 0),
    "no rows": (model([-1, 2], [], [], [], up=[3, 3]), -3),
    "no costs": (model([0, 0], [[1, 1]], [1], [1]), 0),
    "a column that is nowhere": (model([1, 0], [[1, 0]], [1], [INF]), 1),
    "infeasible": (model([1, 1], [[1, 1], [1, 1]], [2, -INF], [INF, 1]), INFEASIBLE),
    "two sides that exclude each other": (model([1, 1], [[1, 1]], [2], [1]), INFEASIBLE),
    "an empty row that cannot hold": (model([1], [[0]], [1], [INF]), INFEASIBLE),
    "digits": (
        model([BIG, 1 / 3], [[1, 0], [0, 3]], [1, 1], [INF, INF], integer=[1, 0]),
        BIG + 1 / 9,
    ),
}

#: Optimum that a reader gives for "digits" if it keeps all of them; GLPK prints nine.
CLOSE = {"glpk": 1e-8}


def agrees(reader, found, expected):
    if isinstance(expected, str) or isinstance(found, str):
        return found == expected
    return found == pytest.approx(expected, rel=CLOSE.get(reader, 1e-15), abs=1e-9)


@pytest.mark.slow
@each_row("suffix", [".mps", ".lp"])
@each_row("name", CASES)
def test_every_reader_finds_the_same_optimum(name, suffix, tmp_path):
    """What readers disagree about (sections, constants, sides, empty parts, digits) is not in the
    files.
    """
    given, expected = CASES[name]
    path = write_model(given, tmp_path / f"model{suffix}")
    wrong = {}
    for reader in present():
        if refuses(reader, path) is None and not agrees(
            reader, found := READERS[reader](path), expected
        ):
            wrong[reader] = found
    assert not wrong, f"expected {expected}, got {wrong}:\n{path.read_text()[:2000]}"


WORDS = [
    "e1",
    "E",
    "e_4",
    "inf",
    "Infinity",
    "nan",
    "st",
    "s.t.",
    "subject",
    "free",
    "bin",
    "gen",
    "end",
    "Bounds",
    "max",
    "min",
    "integer",
    "sos1",
]
STRANGE = [
    "1a",
    ".5x",
    "obj",
    "rhs",
    "MARKER",
    "é",
    "",
    "b[1,2]",
    "b_1_2",
    "b[1,2]__2",
    "x" * 300,
    "x" * 300 + "y",
    "a <= 3",
    'say "b"',
    "\\back",
    "*",
]


@pytest.mark.parametrize("suffix", [".mps", ".lp"])
def test_words_of_the_formats_and_strange_names_are_read_as_names(suffix, tmp_path):
    """As names of columns and rows alike; `st` alone makes CBC find another optimum."""
    names = WORDS + STRANGE
    given = knapsack(len(names))

    class Named:
        def __init__(self, name):
            self.name = name

    given.columns = [Named(name) for name in names]
    given.A = sparse.csr_matrix(np.ones((len(names), len(names))))
    given.row_lower, given.row_upper = np.full(len(names), -INF), np.full(len(names), 2.0)
    given.row_labels, given.row_indices = names, [None] * len(names)
    path = write_model(given, tmp_path / f"model{suffix}")
    found = {reader: READERS[reader](path) for reader in present() if refuses(reader, path) is None}
    assert set(found.values()) == {-(2 * len(names) - 1)}, found


def test_names_are_safe_different_and_stable():
    names = safe_names(WORDS + STRANGE, "x")
    assert len(set(names)) == len(names)
    assert all(len(name) <= LONGEST + 10 and name.isascii() and name[0].isalpha() for name in names)
    assert safe_names(WORDS + STRANGE, "x") == names
    assert safe_names(["b[1,2]", "w", "b[1,2]", "b[1,2]"], "x") == [
        "b_1_2",
        "w",
        "b_1_2__2",
        "b_1_2__3",
    ]
    assert safe_names(["a", "a__2", "a"], "x") == ["a", "a__2", "a__3"]


COMMENTS = [
    "End",
    "Subject To",
    "st",
    "",
    "max: 3 x0",
    "Bounds\nGenerals",
    "ROWS",
    "ENDATA",
    "café <= 3",
    "a \\ b * c",
    "word " * 60,
    "y" * 500,
    "'\"; := <",
]


@pytest.mark.parametrize("suffix", [".mps", ".lp"])
def test_comments_are_taken_for_nothing_else(suffix, tmp_path):
    """Whatever stands in them, for names of tests come from the data."""
    path = write_model(knapsack(), tmp_path / f"model{suffix}", COMMENTS)
    text = path.read_text()
    assert "caf\\xe9 <= 3" in text
    assert {line[0] for line in text.splitlines()[: len(COMMENTS)]} == {
        "*" if suffix == ".mps" else "\\"
    }
    found = {reader: READERS[reader](path) for reader in present() if refuses(reader, path) is None}
    assert set(found.values()) == {-5}, found


@each_row("reader", ["cbc", "pulp", "cp-sat"])
@each_row("suffix", [".mps.gz", ".mps", ".lp"])
def test_what_a_solver_cannot_read_is_what_its_adapter_says(reader, suffix, tmp_path):
    """A statement that no longer holds (for a newer PuLP, say) is to be taken back."""
    if reader not in present():
        pytest.skip(f"{reader} is not installed")
    if reader == "cbc" and shutil.which("cbc"):
        pytest.skip("the statement is about the CBC in PuLP's wheel, and there is another on PATH")
    path = write_model(knapsack(), tmp_path / f"model{suffix}")
    found = READERS[reader](path)
    assert found == (UNREADABLE if refuses(reader, path) else -5)


def test_the_same_model_gives_the_same_bytes(tmp_path):
    """A gzipped file holds no time and no name."""
    for suffix in (".mps", ".lp", ".mps.gz", ".lp.gz"):
        one, other = (
            write_model(CASES["bounds"][0], tmp_path / f"{name}{suffix}", COMMENTS).read_bytes()
            for name in ("one", "other")
        )
        assert one == other
    assert (
        gzip.decompress((tmp_path / "one.mps.gz").read_bytes())
        == (tmp_path / "one.mps").read_bytes()
    )


def test_a_constant_is_a_column_fixed_at_one_and_rows_know_where_they_come_from():
    file = file_model(
        model([1, 1], [[1, 1], [1, 0], [0, 1]], [0, -INF, 1], [1, INF, 1], offset=2.5)
    )
    assert (file.columns, file.rows) == (["x0", "x1", CONSTANT], ["r0_low", "r0_up", "r2"])
    assert file.source.tolist() == [0, 0, 2]
    assert file.point(np.array([0.0, 1.0])).tolist() == [0, 1, 1]
    assert file.model.objective(file.point(np.array([0.0, 1.0]))) == 3.5


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"ends in .mps, .lp, .mps.gz or .lp.gz; got 'm.txt'"):
        write_model(knapsack(), tmp_path / "m.txt")
