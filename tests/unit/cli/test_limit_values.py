"""Numbers that limit or repeat runs are checked in one place, whoever gives them: what is no number
of its kind is refused with a sentence.
"""

from fractions import Fraction

import numpy as np
import pytest
from row_tests import each_row
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.errors import MilpTreesError
from milp_trees.common.limits import Limits

NAN, INF = float("nan"), float("inf")
NO_NUMBERS = [
    "5",
    "",
    True,
    False,
    [1],
    {},
    1j,
    NAN,
    INF,
    -INF,
    -1,
    np.float64("nan"),
    np.bool_(True),
]
#: Name in `Limits` → (name in the calls, further values that are refused).
FIELDS = {
    "time": ("time_limit", [1e10, 2**63, 1e300]),
    "memory_mb": ("memory_mb", [0]),
    "nodes": ("node_limit", [0, 1.5, Fraction(3, 2)]),
    "threads": ("threads", [0, 1.5, None, 2.0, 1025]),
    "seed": ("seed", [1.5, None, 2**31]),
    "nonzeros": ("max_nonzeros", [0, 1.5]),
}


@pytest.fixture(scope="module")
def problem():
    return mt.Problem(mt.load("planted:rows=20,tests=3,depth=1"), mt.Accuracy(), mt.Trees(1))


@each_row(
    "field, value",
    [(field, value) for field, (_, more) in FIELDS.items() for value in [*NO_NUMBERS, *more]],
)
def test_a_limit_that_is_no_number_of_its_kind_is_refused(problem, field, value):
    """By `Limits` itself, so by every path to a run."""
    name = FIELDS[field][0]
    with pytest.raises(mt.DataError, match=rf"^{name} must be .*; got .*\.$"):
        Limits(**{field: value})
    for call in (mt.solve, mt.compare) if field != "seed" else (mt.solve,):
        with pytest.raises(mt.DataError, match=f"^{name} must be "):
            call(problem, "cart", **{name: value})


@each_row("field", ["rel_gap", "abs_gap"])
@each_row("value", [*NO_NUMBERS, None])
def test_a_gap_that_is_no_number_is_refused(field, value):
    with pytest.raises(mt.DataError, match=f"^{field} must be a number that is not negative"):
        Limits(**{field: value})


def test_numbers_of_any_type_become_python_s_own():
    """So that 60 and 60.0 seconds are the same run."""
    limits = Limits(
        time=np.float32(2.0),
        memory_mb=np.int64(7),
        nodes=np.int32(3),
        threads=np.int8(2),
        seed=np.uint8(1),
        nonzeros=np.int64(9),
    )
    assert limits == Limits(time=2, memory_mb=7, nodes=3, threads=2, seed=1, nonzeros=9)
    assert [
        type(v) for v in (limits.time, limits.memory_mb, limits.nodes, limits.threads, limits.seed)
    ] == [float, int, int, int, int]
    assert type(Limits(time=60).time) is float
    assert Limits(time=None, memory_mb=None, nodes=None, nonzeros=None).time is None
    assert Limits(time=0.0).time == 0, "a run that has no time left stops at once"


@pytest.mark.parametrize("call", [mt.solve, mt.compare], ids=["solve", "compare"])
def test_no_seconds_at_all_are_refused(problem, call):
    with pytest.raises(mt.DataError, match="time_limit must be a positive number"):
        call(problem, "cart", time_limit=0)


@each_row(
    "call",
    [
        lambda p, **k: mt.near_best(p, slack=1, **k),
        lambda p, **k: mt.size_path(p, max_leaves=2, **k),
    ],
)
@each_row("limit", [{"time_limit": NAN}, {"time_limit": "5"}, {"memory_mb": True}])
def test_other_calls_check_their_limits_too(problem, call, limit):
    with pytest.raises(mt.DataError, match=f"^{next(iter(limit))} must be"):
        call(problem, **limit)


@each_row(
    "seeds",
    ["", "01", [], (), None, 3, b"1", ["1"], [1.5], [-1], [True], [NAN], [None], [2**31]],
)
def test_seeds_that_are_none_are_refused(problem, seeds):
    with pytest.raises(mt.DataError, match=r"^seeds? (is a list of|must be a) whole number"):
        mt.compare(problem, ["cart"], seeds=seeds)


def test_equal_seeds_are_one_row(problem):
    assert [
        row["seed"] for row in mt.compare(problem, ["cart"], seeds=[1, np.int64(1), 0]).rows
    ] == [1, 0]


@each_row(
    "asked",
    [
        {"methods": ""},
        {"methods": []},
        {"methods": ","},
        {"methods": [""]},
        {"methods": [3]},
        {"methods": [None]},
        {"methods": 3},
        {"formulations": ""},
        {"formulations": []},
        {"formulations": 3},
        {"solvers": ""},
        {"solvers": []},
        {"solvers": None},
        {"reference": 3},
        {"reference": ""},
        {"start": 3},
        {"start": ""},
        {"store": 3},
        {"methods": ["flow-oct@highs"], "options": "presolve=off"},
        {"methods": ["flow-oct@highs"], "options": [("presolve", "off")]},
    ],
)
def test_what_asks_for_nothing_or_for_no_name_is_refused(problem, asked):
    """`methods=''` compared everything; nothing is guessed."""
    with pytest.raises(MilpTreesError):
        mt.compare(
            problem,
            **{"methods": ["cart"], **asked}
            if not {"formulations", "solvers"} & set(asked)
            else asked,
        )


@each_row("problems", [[], 3, [3], "iris", None])
def test_problems_that_are_none_are_refused(problems):
    with pytest.raises(mt.DataError, match=r"[Pp]roblem"):
        mt.compare(problems, ["cart"])


#: The one sentence for all of them.
TIME = "time_limit must be a positive number of seconds, at most 10^9, or None for no limit; got"


@each_row(
    "options, sentence",
    [
        (["--time-limit", "nan"], TIME),
        (["--time-limit", "inf"], TIME),
        (["--time-limit", "-1"], TIME),
        (["--time-limit", "0"], TIME),
        (["--memory-limit", "0"], "memory_mb must be a positive number"),
        (["--threads", "0"], "threads must be a whole number of at least 1"),
        (["--max-nonzeros", "-5"], "max_nonzeros must be a whole number"),
        (["--methods", ""], "No method was named"),
        (["--methods", ","], "No method was named"),
        (["--seeds", ""], "--seeds takes whole numbers separated by commas; got ''"),
        (["--seeds", "1.5"], "--seeds takes whole numbers"),
        (["--seeds", "-1"], "seed must be a whole number from 0"),
        (["--formulations", ""], "No formulation or no solver was named"),
        (["--solvers", ""], "No formulation or no solver was named"),
    ],
)
def test_the_command_line_refuses_them_with_a_sentence(options, sentence):
    done = CliRunner().invoke(
        app,
        [
            "compare",
            "planted:rows=20,tests=3",
            "--depth",
            "1",
            *([] if options[0] in ("--formulations", "--solvers") else ["--methods", "cart"]),
            *options,
        ],
    )
    assert done.exit_code == 1, done.output
    assert sentence in done.output


@pytest.mark.parametrize("command", ["prune", "spo"])
def test_the_other_comparisons_refuse_an_empty_list_of_methods(command):
    """`prune --methods ''` took the default method."""

    requested = {
        "prune": ["prune", "iris", "--trees", "2", "--depth", "2", "--lambda", "0.1"],
        "spo": ["spo", "two-roads", "--rows", "20", "--test-rows", "5"],
    }[command]
    done = CliRunner().invoke(app, [*requested, "--methods", ""])
    assert done.exit_code == 1, done.output
    assert "No method was named" in done.output


@each_row(
    "limit",
    [
        {"time_limit": NAN},
        {"time_limit": 0},
        {"time_limit": 1e300},
        {"threads": 0},
        {"threads": 5000},
    ],
)
def test_the_same_limit_is_refused_in_the_same_sentence_wherever_it_is_given(problem, limit):
    """By a call, by an estimator and by the command line."""
    (name, value), message = *limit.items(), []
    with pytest.raises(mt.DataError) as call:
        mt.solve(problem, "cart", **limit)
    message.append(str(call.value))
    if name == "time_limit":
        with pytest.raises(mt.DataError) as fit:
            mt.OptimalTreeClassifier(**limit).fit([[0], [1]], [0, 1])
        message.append(str(fit.value))
    done = CliRunner().invoke(
        app,
        ["solve", "planted:rows=20,tests=3", "--depth", "1", f"--{name.replace('_', '-')}={value}"],
    )
    message.append(
        done.stderr.strip().removeprefix("Error: ").replace(f"{float(value)!r}", repr(value))
    )
    assert len(set(message)) == 1, message
