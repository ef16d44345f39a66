"""Stored JSON is read strictly: whatever is no plain JSON gets one sentence, at once."""

import json
import os
import time

import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.results.strict_json import MOST_LEVELS, parse_json, read_json, refuse_newer

#: Texts that are refused, and a piece of the sentence.
REFUSED = {
    "NaN": ('{"a": NaN}', "holds NaN"),
    "Infinity": ('{"a": [Infinity]}', "holds Infinity"),
    "-Infinity": ('{"a": -Infinity}', "holds -Infinity"),
    "a float beyond all floats": ('{"a": 1e9999999}', "1e9999999, which is too large"),
    "a negative one": ('{"a": -1.5e400}', "too large"),
    "a long whole number": ('{"a": ' + "9" * 100_000 + "}", "of 100000 digits"),
    "a long fraction": ('{"a": 1.' + "9" * 100_000 + "e999}", "too large"),
    "nested lists": ("[" * 100_000 + "]" * 100_000, "levels of brackets"),
    "nested objects": ('{"a":' * 100_000 + "1" + "}" * 100_000, "levels of brackets"),
    "brackets that stay open": ("[" * 100_000, "levels of brackets"),
    "a few levels too many": (
        "[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1),
        "levels of brackets",
    ),
    "a name twice": ('{"a": 1, "b": {"x": 1, "x": 2}}', "names 'x' twice"),
    "half a surrogate pair": ('{"a": "\\ud800"}', "surrogate"),
    "empty": ("", "is empty"),
    "blank": (" \n", "is empty"),
    "cut": ('{"a": 1', "not JSON"),
    "two values": ("{} {}", "not JSON"),
    "a comma too many": ("[1,]", "not JSON"),
    "single quotes": ("{'a': 1}", "not JSON"),
}


@each_row("what", REFUSED)
@each_row("kind", [str, bytes])
def test_what_is_no_plain_json_gets_one_sentence_at_once(what, kind):
    text, sentence = REFUSED[what]
    began = time.process_time()
    with pytest.raises(mt.DataError, match=sentence) as refusal:
        parse_json(text if kind is str else text.encode(), "The text")
    assert time.process_time() - began < 1
    message = str(refusal.value)
    assert message.startswith("The text ")
    assert message.endswith("; write it again.")
    assert len(message) < 200
    assert "\n" not in message


def test_plain_json_is_read_as_the_standard_library_does():
    deep = [1]
    for _ in range(MOST_LEVELS - 1):
        deep = [deep]
    for value in (
        {"a": [1, -2.5, 1e300, None, True, "ü😀\u2028"], "b": {}},
        [],
        3,
        "x",
        10**900,
        deep,
    ):
        assert parse_json(json.dumps(value), "It") == value
        assert parse_json(json.dumps(value, ensure_ascii=False).encode(), "It") == value


def test_files_that_are_no_stored_json_get_one_sentence(tmp_path):
    file = tmp_path / "r.json"
    for content, sentence in (
        (b"\xff\xfe{\x00}\x00", "not text in UTF-8"),
        ('{"a": "ä"}'.encode("latin-1"), "not text in UTF-8"),
        (b"\x00", "not JSON"),
        (b"PK\x03\x04", "not JSON"),
    ):
        file.write_bytes(content)
        with pytest.raises(mt.DataError, match=sentence):
            read_json(file)
    for path, sentence in (
        (tmp_path, "Is a directory"),
        (tmp_path / "none.json", "No such file"),
        (os.devnull, "is a device"),
        ("/dev/zero", "is a device"),
    ):
        with pytest.raises(mt.DataError, match=sentence):
            read_json(path)
    file.write_bytes(b"\xef\xbb\xbf[1]")  # editors on Windows put this mark in front
    assert read_json(file) == [1]


@each_row("schema", [None, "1", 1.0, True, 0, -1, [1], 3, 10**30])
def test_a_layout_that_is_newer_or_none_is_refused(schema):
    with pytest.raises(
        mt.DataError,
        match="newer version" if type(schema) is int and schema > 2 else "reads layout",
    ):
        refuse_newer(schema, 2, "The store")
    refuse_newer(1, 2, "The store")
