"""Mangled tables are read, or refused in one sentence: never an exception of a library, whatever
the bytes.
"""

import csv
import gzip
import io
import random
import warnings

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import MilpTreesError
from milp_trees.data.numeric import load_numeric
from milp_trees.data.read import read_table

SEEDS = 400
WORDS = [
    b'"',
    b",",
    b"\n",
    b"\r",
    b"\r\n",
    b"\t",
    b" ",
    b";",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"nan",
    b"inf",
    b"-0",
    b"01",
    b"1e999",
    b"1_0",
]
WORDS += [
    b"99999999999999999999999",
    b"9007199254740993",
    b"True",
    b"?",
    b'""',
    b"'",
    b"\\",
    b"#",
    b"\xc3\xa9",
    b"2020-01-31",
    b"\x1f\x8b",
    b"1+2j",
]


def base(rng: random.Random) -> tuple[bytes, str, str]:
    """A small table that is well formed, with or without header, quotes, text, gaps; what separates
    its fields; and its text.
    """
    columns, rows, sep = (
        rng.randint(1, 4),
        rng.choice([0, 1, 4, 8, 12]),
        rng.choice([*"," * 6, " ", "\t", ";"]),
    )
    kinds = [rng.choice(["int", "float", "text", "bit", "id"]) for _ in range(columns)] + ["label"]
    make = {
        "int": lambda: str(rng.randint(-5, 5)),
        "float": lambda: f"{rng.gauss(0, 1):.3g}",
        "text": lambda: rng.choice(["red", "blue", "New York"]),
        "bit": lambda: rng.choice("01"),
        "id": lambda: str(2**53 + rng.randint(0, 9)),
        "label": lambda: rng.choice(["yes", "no"]),
    }
    out = io.StringIO()
    table = csv.writer(
        out,
        delimiter=sep,
        lineterminator=rng.choice(["\n", "\r\n", "\r"]),
        quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    )
    if rng.random() < 0.7:
        table.writerow(
            [
                rng.choice(["a", "b", "", "a b", "a\nb", "a,b", "1"])
                if rng.random() < 0.3
                else f"c{j}"
                for j in range(len(kinds))
            ]
        )
    for _ in range(rows):
        table.writerow(["" if rng.random() < 0.02 else make[kind]() for kind in kinds])
    encoding = rng.choice(["utf-8"] * 12 + ["utf-8-sig", "utf-16", "latin-1", "utf-32"])
    return out.getvalue().encode(encoding), sep, out.getvalue()


def mangled(seed: int) -> bytes:
    """A table with bytes changed, cut, doubled or inserted."""
    rng = random.Random(seed)
    data = bytearray(base(rng)[0])
    for _ in range(rng.choice([0, 1, 1, 1, 1, 2, 3, 20])):
        at = rng.randrange(len(data) + 1)
        change = rng.randrange(6)
        if change == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(7)
        elif change == 1:
            del data[at:]
        elif change == 2:
            data[at:at] = rng.choice(WORDS)
        elif change == 3:
            del data[at : at + rng.randint(1, 4)]
        elif change == 4:
            data[at:at] = data[max(0, at - 20) : at]
        else:
            data[at : at + 1] = rng.choice(WORDS)
    if rng.random() < 0.1:
        data = bytearray(gzip.compress(bytes(data), mtime=0))
        if rng.random() < 0.7:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(7)
    return bytes(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mangled")


@pytest.mark.slow
@each_row("part", range(4))
def test_a_mangled_table_is_read_or_refused_in_one_sentence(folder, part):
    """Bytes flipped, cut off, doubled, other encodings and separators, quotes that never end, empty
    and equal names.
    """
    path, read = folder / f"table{part}.csv", 0
    for seed in range(part, SEEDS, 4):
        path.write_bytes(mangled(seed))
        for reader in (
            read_table,
            lambda p: read_table(p, alone=True),
            lambda p: mt.load(p, binarizer="midpoints"),
            mt.load,
            load_numeric,
        ):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    reader(path)
                read += 1
            except MilpTreesError as error:
                for sentence in str(error).split("\n"):  # a line for each column
                    assert sentence.endswith("."), (seed, sentence)
            except Exception as error:
                raise AssertionError(
                    f"mangled({seed}): {type(error).__name__}: {error}\n{mangled(seed)!r}"
                ) from error
    assert read > 60


def test_a_table_that_is_read_holds_what_the_csv_module_reads(folder):
    """No row is lost and no field moved: every cell of a well-formed table is where Python's own
    reader finds it.
    """
    path, compared = folder / "whole.csv", 0
    for seed in range(200):
        rng = random.Random(10_000 + seed)
        raw, sep, cells = base(rng)
        path.write_bytes(raw)
        try:
            table = read_table(path, alone=True)
        except mt.DataError:
            continue
        rows = [r for r in csv.reader(io.StringIO(cells, newline=""), delimiter=sep) if r]
        rows = rows[1:] if table.header else rows
        assert table.frame.shape == (len(rows), len(rows[0])), seed
        for row, found in zip(rows, table.frame.to_numpy(dtype=object).tolist(), strict=True):
            for cell, value in zip(row, found, strict=True):
                same = (
                    cell == value
                    if isinstance(value, str)
                    else (
                        cell == ""
                        if value != value
                        else np.isclose(float(cell), float(value), rtol=0)
                    )
                )
                assert same, (seed, cell, value)
        compared += 1
    assert compared > 50
