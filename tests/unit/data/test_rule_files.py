"""Rule files: read as they are, written as they were, and refused in a sentence with file and line."""

import gzip

import numpy as np
import pandas as pd
import pytest

import milp_trees as mt
from milp_trees.common.errors import DataError, DataWarning
from milp_trees.data.rule_files import minority
from milp_trees.results.restore import problem_of

RULES = "{sex:Male} 1 0 1 0\n{sex:Male,age:18-20} 0 0 1 0\n{a b} 1 1 0 0\n"
LABELS = "{no} 1 0 0 1\n{yes} 0 1 1 0\n"
MINOR = "{group_minority} 0 0 0 0\n"


@pytest.fixture
def files(tmp_path):
    """A function that writes x.out, x.label and perhaps x.minor, and gives the path of x.out."""

    def write(rules=RULES, labels=LABELS, minor=None):
        for ending, text in (("out", rules), ("label", labels), ("minor", minor)):
            if text is not None:
                (tmp_path / f"x.{ending}").write_bytes(text.encode())
        return tmp_path / "x.out"

    return write


def test_rules_and_labels_are_read(files):
    """Names lose their braces, classes keep the order of the file, conjunctions stay one column."""
    data = mt.load(files(labels="{yes} 0 1 1 0\n{no} 1 0 0 1\n"))
    assert [t.name for t in data.features] == ["sex:Male", "sex:Male,age:18-20", "a b"]
    assert data.X.T.tolist() == [[1, 0, 1, 0], [0, 0, 1, 0], [1, 1, 0, 0]]
    assert data.classes == ("yes", "no")
    assert data.y.tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize(
    "rules",
    [
        RULES.replace("\n", "\r\n"),
        "\ufeff" + RULES,
        RULES.replace("} ", "}\t").replace("1 0", "1   0"),
        "\n" + RULES.replace("\n", " \n\n"),
        RULES.replace("} ", "}"),
    ],
)
def test_spaces_and_ends_of_lines_do_not_matter(files, rules):
    data = mt.load(files(rules))
    assert (data.X == mt.load(files()).X).all()
    assert [t.name for t in data.features] == ["sex:Male", "sex:Male,age:18-20", "a b"]


def test_a_name_may_contain_braces(files):
    data = mt.load(files("{a{b} c}} 0 1 1 0\n"))
    assert [t.name for t in data.features] == ["a{b} c}"]


def test_a_table_may_be_called_out(tmp_path):
    (tmp_path / "x.out").write_text("a,y\n0,1\n1,0\n1,0\n")
    assert mt.load(tmp_path / "x.out").X.tolist() == [[0], [1], [1]]


def test_zipped_files_are_found(files, tmp_path):
    path = files()
    for ending in ("out", "label"):
        plain = tmp_path / f"x.{ending}"
        (tmp_path / f"x.{ending}.gz").write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    assert mt.load(path).sha256 == mt.load(f"{path}.gz").sha256


def test_a_column_of_rules_may_be_group_or_target(files):
    data = mt.load(files(), group="a b")
    assert data.group_column == "a b"
    assert mt.load(files(), target="a b").y.tolist() == [1, 1, 0, 0]


def test_labels_may_have_another_name(files, tmp_path):
    path = files()
    (tmp_path / "x.label").rename(tmp_path / "y.txt")
    with pytest.raises(DataError, match=r"There is no file .*x\.label .* label="):
        mt.load(path)
    data = mt.load(path, label=tmp_path / "y.txt")
    assert data.y.tolist() == [0, 1, 1, 0]
    assert problem_of(mt.Problem(data, mt.Accuracy(), mt.Trees(1)).spec()).dataset.y.tolist() == [
        0,
        1,
        1,
        0,
    ]


def test_what_is_written_is_read_again(tmp_path):
    """Any rules, labels of three classes too; files that were read are written byte by byte."""
    rng = np.random.default_rng(0)
    for k in range(20):
        n = int(rng.integers(3, 20))
        y = np.concatenate([[0, 1, 2], rng.integers(0, 3, n - 3)])
        data = mt.Dataset(rng.integers(0, 2, (n, 3)), y=y)
        written = mt.write_rules(data, tmp_path / f"{k}.out{'.gz' if k % 2 else ''}")
        again = mt.load(tmp_path / f"{k}.out")
        assert (again.X == data.X).all()
        assert (again.y == data.y).all()
        copies = mt.write_rules(again, tmp_path / f"copy.out{'.gz' if k % 2 else ''}")
        for one, other in zip(written, copies, strict=True):
            assert one.read_bytes() == other.read_bytes()


def test_antecedents_are_written_as_corels_reads_them(tmp_path):
    """A name ends at the first space in CORELS, and commas separate its literals."""
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "f"]})
    data = mt.Binarizer(kind="midpoints").dataset(frame, ["no way", "yes", "yes", "no way"])
    out, label, minor = mt.write_rules(data, tmp_path / "x.out", mt.Antecedents(2, True))
    lines = out.read_text().splitlines()
    assert "{age_>_25,age_<=_45} 0 1 1 0" in lines
    assert label.read_text() == "{no_way} 1 0 0 1\n{yes} 0 1 1 0\n"
    assert minor.read_text() == "{group_minority} 0 0 0 0\n"


def test_the_minority_is_counted_in_groups_of_equal_rows():
    X = np.array([[0], [0], [0], [1], [1]])
    assert minority(X, np.array([1, 0, 1, 0, 1])).tolist() == [0, 1, 0, 0, 1]


@pytest.mark.parametrize("marks", ["0 1 0 0 1", "0 1 0 1 0"])
def test_either_of_two_equal_classes_may_be_the_minority(files, recwarn, marks):
    mt.load(files("{a} 0 0 0 1 1\n", "{n} 0 1 0 1 0\n{y} 1 0 1 0 1\n", f"{{m}} {marks}\n"))
    assert not [w for w in recwarn if w.category is DataWarning]


@pytest.mark.parametrize("marks", ["0 0 0 0 1", "1 0 1 0 1", "0 1 0 1 1", "0 1 0 0 0"])
def test_a_minority_file_of_other_rows_is_told(files, marks):
    path = files("{a} 0 0 0 1 1\n", "{n} 0 1 0 1 0\n{y} 1 0 1 0 1\n", f"{{m}} {marks}\n")
    with pytest.warns(DataWarning, match=r"x\.minor marks . rows; .* there are 2, and row ."):
        mt.load(path)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("", r"x\.out is empty"),
        ("\n \n", r"x\.out is empty"),
        ("{a} 0 1 1 0\nb 0 1 1 0\n", r"x\.out line 2 begins with 'b 0 1 1 0'; .* braces"),
        ("{a} 0 1 1 0\n{b 0 1 1 0\n", r"x\.out line 2 has no closing brace"),
        ("{} 0 1 1 0\n", r"x\.out line 1 has no name"),
        ("{a} 0 1 1 0\n\n{b}\n", r"x\.out line 3 has a name but no values"),
        ("{a} 0 1 2 0\n", r"x\.out line 1 has '2' as its value number 3"),
        ("{a} 0 1 yes 0\n", r"x\.out line 1 has 'yes' as its value number 3"),
        ("{a} 0,1,1,0\n", r"x\.out line 1 has '0,1,1,0' as its value number 1"),
        ("{a} 0 1 1 0\n{b} 0 1 1\n", r"x\.out line 2 has 3 values and line 1 has 4"),
        ("{a} 0 1 1 0\n{b} 0 1 1 0\n{a} 1 1 1 0\n", r"the name 'a' twice, in lines 1 and 3"),
        ("{a} 0 1 1\n", r"x\.label has 4 values per line and .*x\.out has 3"),
        ("{target} 0 1 1 0\n", r"a rule that is called 'target'.*rename"),
        ("{a} 0 1 \0 0\n", r"x\.out is not UTF-8 text"),
    ],
)
def test_malformed_rules_are_refused(files, rules, said):
    with pytest.raises(DataError, match=said):
        mt.load(files(rules))


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("", r"x\.label is empty"),
        ("{no} 0 1 1 0\n", r"x\.label has one line, the label 'no'"),
        ("{no} 0 1 1 0\n{yes} 1 0 1 1\n", r"x\.label gives row 3 the labels 'no' and 'yes'"),
        ("{no} 0 1 1 0\n{yes} 1 0 0 0\n", r"x\.label gives row 4 no label"),
        ("{no} 1 1 1 1\n{yes} 0 0 0 0\n", r"x\.label gives all 4 rows the label 'no'"),
        ("no 0 1 1 0\nyes 1 0 0 1\n", r"x\.label line 1 begins with"),
    ],
)
def test_malformed_labels_are_refused(files, labels, said):
    with pytest.raises(DataError, match=said):
        mt.load(files(labels=labels))


@pytest.mark.parametrize("minor", ["{m} 0 0 0\n", "{a} 0 0 0 0\n{b} 0 0 0 0\n"])
def test_a_malformed_minority_file_is_refused(files, minor):
    with pytest.raises(
        DataError, match=r"x\.minor must have one line with a value for each of the 4 rows"
    ):
        mt.load(files(minor=minor))


def test_labels_for_other_data_are_refused(files, tmp_path):
    files()
    (tmp_path / "x.csv").write_text("a,y\n0,1\n1,0\n")
    for name in (tmp_path / "x.csv", "iris"):
        with pytest.raises(DataError, match=r"label= belongs to a file of rules"):
            mt.load(name, label=tmp_path / "x.label")


def test_what_cannot_be_written_is_refused(tmp_path):
    data = mt.Dataset([[0], [1]], y=[0, 1])
    with pytest.raises(DataError, match=r"ends in \.out"):
        mt.write_rules(data, tmp_path / "x.csv")
    with pytest.raises(DataError, match="cannot hold row weights"):
        mt.write_rules(data.with_(weights=[1, 2]), tmp_path / "x.out")
    with pytest.raises(DataError, match="needs `y`"):
        mt.write_rules(mt.Dataset([[0], [1]]), tmp_path / "x.out")
    with pytest.raises(DataError, match="cannot be written"):
        mt.write_rules(data, tmp_path / "no" / "x.out")
    names = [mt.BinaryFeature("a b"), mt.BinaryFeature("a_b")]
    with pytest.raises(DataError, match="both be written as 'a_b'"):
        mt.write_rules(mt.Dataset([[0, 1], [1, 1]], names, y=[0, 1]), tmp_path / "x.out")


def test_damaged_files_get_one_sentence_or_are_read(files, tmp_path):
    """Pieces of text at random places; what is read is written and read again."""
    pieces = ["{", "}", " ", "\n", "\t", "0", "1", "\0", "é", "{}", "1 0 1", "\u2028", "-1", "1.0"]
    read, message = 0, []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        texts = [RULES, LABELS, MINOR]
        which = int(rng.integers(3))
        at = int(rng.integers(len(texts[which])))
        texts[which] = texts[which][:at] + str(rng.choice(pieces)) + texts[which][at:]
        path = files(*texts)
        try:
            data = mt.load(path)
        except DataError as error:
            message.append(str(error))
            continue
        read += 1
        mt.write_rules(data, tmp_path / "again.out")
        again = mt.load(tmp_path / "again.out")
        assert (again.X == data.X).all()
        assert (again.y == data.y).all()
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in message)
    assert read > 5
    assert len(message) > 5


def test_public_files_are_written_as_they_were_read(data_folder, tmp_path):
    """COMPAS in the files of CORELS, byte by byte, and the minority of its 194 kinds of rows."""
    folder = data_folder / "rulelist" / "corels"
    data = mt.load(folder / "compas_train.out")
    out, label, minor = mt.write_rules(data, tmp_path / "x.out")
    assert out.read_bytes() == gzip.decompress((folder / "compas_train.out.gz").read_bytes())
    assert label.read_bytes() == (folder / "compas_train.label").read_bytes()
    assert minor.read_bytes() == (folder / "compas_train.minor").read_bytes()
