"""The parts of a page's data: thinned traces, cut logs, packed columns, short descriptions."""

import json
import random

import pytest
from page_cases import rows_of

from milp_trees.exports.pages.downsample import cut, thin, without_folders
from milp_trees.exports.pages.headline import natural
from milp_trees.exports.pages.packing import Shared, columns, packed, unpacked
from milp_trees.exports.pages.problems import data_names
from milp_trees.exports.pages.single_file import fill
from milp_trees.studies.problem_groups import brief


def integral(trace, end, best):
    """Area between best and incumbent, relative to best; 1 while there is no incumbent."""
    total, before, gap = 0.0, 0.0, 1.0
    for seconds, incumbent, _ in trace:
        total += gap * (seconds - before)
        before = seconds
        if incumbent is not None:
            gap = min(1.0, abs(incumbent - best) / max(abs(incumbent), abs(best)))
    return total + gap * (end - before)


def random_trace(rng, length):
    """Incumbents that fall and bounds that rise, with moments without news."""
    seconds, incumbent, bound, out = 0.0, 1000.0, 0.0, []
    for _ in range(length):
        seconds += rng.expovariate(1)
        incumbent -= rng.choice([0, 0, rng.random(), 0.1 * (incumbent - 100)])
        bound += rng.choice([0, rng.random()])
        out.append(
            [seconds, rng.choice([None, incumbent]) if out else None, rng.choice([None, bound])]
        )
    return [*out, [seconds + 1, incumbent, bound]]


@pytest.mark.parametrize("most", [40, 100])
def test_a_thinned_trace_has_about_the_same_integral(most):
    rng = random.Random(most)
    for _ in range(40):
        trace = random_trace(rng, rng.randint(2, 400))
        few = thin(trace, most)
        assert len(few) <= most
        assert few[0][0] == pytest.approx(trace[0][0], rel=1e-5)
        assert few[-1] == pytest.approx(trace[-1], rel=1e-5)
        end, best = trace[-1][0], trace[-1][1]
        assert integral(few, end, best) == pytest.approx(integral(trace, end, best), abs=0.01 * end)


def test_a_short_trace_keeps_every_change_and_a_wild_one_is_spread_evenly():
    assert thin([[0, 5, 0], [1, None, 0], [2, 4, None], [3, None, None]], 10) == [
        [0, 5, 0],
        [2, 4, 0],
        [3, 4, 0],
    ]
    wild = [[t, (-1) ** t * 1e6, None] for t in range(1000)]
    few = thin(wild, 12)
    assert len(few) == 12
    assert (few[0][0], few[-1][0]) == (0, 999)
    assert thin([], 5) == []


def test_a_log_keeps_whole_lines_of_its_beginning_and_end():
    log = "\n".join(f"line {k}" for k in range(1000))
    short = cut(log, 400)
    assert len(short) < 460
    assert short.startswith("line 0\nline 1\n")
    assert short.endswith("\nline 999")
    message = next(line for line in short.splitlines() if "left out" in line)
    assert int(message.split()[1]) == len(log) - len(short.replace(f"\n{message}\n", ""))
    assert cut(log, len(log)) == log
    assert "left out" in cut(log, 0)


def test_a_log_names_no_folders_of_the_machine():
    log = "command line - /home/me/.venv/cbc /tmp/x-1/model.mps -sec 2\nread C:\\Users\\me\\model.mps, 3/4 of 5 ms/op"
    short = "command line - cbc model.mps -sec 2\nread model.mps, 3/4 of 5 ms/op"
    assert without_folders(log) == short


def test_data_have_the_shortest_names_that_tell_them_apart():
    names = {
        "/home/ann/fold1/train.csv": "fold1/train.csv",
        "/home/ann/fold2/train.csv": "fold2/train.csv",
        "/home/ann/fold2/test.csv": "test.csv",
        "train.csv": "train.csv",
        "a/b/x.csv": "a/b/x.csv",
        "c/b/x.csv": "c/b/x.csv",
        "/d/b/x.csv": "d/b/x.csv",
        "iris": "iris",
        "planted:rows=9,noise=0.2": "planted:rows=9,noise=0.2",
        "": "",
    }
    assert data_names(names) == names
    assert data_names(["/home/ann/iris.csv", "/home/ann/iris.csv"]) == {
        "/home/ann/iris.csv": "iris.csv"
    }


def test_numbers_in_names_are_sorted_as_numbers():
    found = sorted(["iris", "gen:seed=10", "gen:seed=2", "gen:seed=1"], key=natural)
    assert found == ["gen:seed=1", "gen:seed=2", "gen:seed=10", "iris"]


def test_packed_rows_come_back_with_their_kinds():
    rows = [
        {"a": 1, "b": True, "c": None, "d": "x", "e": [k], "f": 1.0 if k % 2 else 1, "g": k}
        for k in range(5)
    ] + [{"a": 1, "b": True, "d": None, "e": None, "f": None, "g": 0.5}]
    back = rows_of(unpacked(packed(columns(rows))))
    names = dict.fromkeys("abdefgc")
    expected = [{name: row.get(name) for name in names} for row in rows]
    assert [{name: row[name] for name in names} for row in back] == expected
    assert json.dumps([row["f"] for row in back]) == json.dumps([row["f"] for row in rows])


def test_equal_values_are_shared_and_long_parts_of_descriptions_are_not_shown():
    shared = Shared()
    assert [shared.number(v) for v in ({"a": 1}, "x", {"a": 1}, "x", {"a": 2})] == [0, 1, 0, 1, 2]
    assert brief({"costs": [[0] * 50], "name": "n" * 400, "few": [1, {"k": None}]}) == {
        "costs": ["50 values"],
        "name": "n" * 300 + "…",
        "few": [1, {"k": None}],
    }


def test_a_part_of_a_page_is_never_read_as_a_template():
    assert fill("<{{a}}|{{b}}>", {"a": "{{b}}", "b": "\\1"}) == "<{{b}}|\\1>"
