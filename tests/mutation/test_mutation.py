"""The mutator changes what it says; a fixed sample of faults is caught; what is called equivalent
exists.
"""

import ast
import csv
import random
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from milp_trees.mip.registry import registry
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.testing.checks import best_pruning
from milp_trees.testing import brute_force

from . import fault, operators
from .__main__ import EVERY_FILE, RESULTS
from .equivalent import OPEN, TABLE, table
from .mutants import Mutant, find, mutants
from .planting import module_of, plant
from .results import read, sample
from .runner import fresh, in_child
from .suite import FILES, checks, problems
from .task_tests import examples, first_breach

#: Verdicts of faults that no check has caught.
LEFT = ("survived", "refused", "died", "timeout")
#: One fault of every operator and of every kind of condition, with a check that catches it; `python
#: -m tests.mutation --write-sample` makes it.
SAMPLE = Path(__file__).with_name("sample.csv")

TOY = """
class Toy:
    def declare(self, m, view, space):
        m.b = pyo.Var(m.branch, domain=pyo.Binary)

        @m.Constraint(m.rows, m.branch, doc="a row goes left only if the test is false")
        def left(m, i, v):
            return m.z[i, 2 * v] + m.p[v] <= sum(m.b[v, f] for f in m.false[i])

        if view.side:
            m.side = matrix_rows(range(3), -view.lower)


def shares(view) -> np.ndarray:
    return view.gain * 2.5
"""

#: Places of the toy with one of the variants that are expected there.
EXPECTED = {
    "toy.py:Toy.declare:domain:0:UnitInterval@always": ("pyo.Binary", "pyo.UnitInterval"),
    "toy.py:Toy.declare.left:skip:0:skip@node:v>=8": (
        "def left",
        "if _fault.since(v, 8): return pyo.Constraint.Skip",
    ),
    "toy.py:Toy.declare.left:sense:0:GtE@always": ("<= sum", ">= sum"),
    "toy.py:Toy.declare.left:sense:0:Eq@row:i>=30": (
        "<= sum",
        "== sum((m.b[v, f] for f in m.false[i])) if _fault.since(i, 30) else m.z",
    ),
    "toy.py:Toy.declare.left:term:0:left-only@level:size>=3": (
        "m.z[i, 2 * v] + m.p[v]",
        "m.z[i, 2 * v] if _fault.size('level', 3, m, view, space) else",
    ),
    "toy.py:Toy.declare.left:term:1:most@always": ("sum(", "sum(_fault.most("),
    "toy.py:Toy.declare.left:child:0:sibling@always": ("2 * v", "2 * v + 1"),
    "toy.py:Toy.declare.left:constant:0:-1@side-row:size>=5": (
        "2",
        "1 if _fault.size('side-row', 5, m, view, space) else 2",
    ),
    "toy.py:Toy.declare.left:index:2:1-1@test:f>=7": (
        "m.b[v, f]",
        "m.b[v, f - 1] if _fault.since(f, 7) else m.b[v, f]",
    ),
    "toy.py:Toy.declare.left:swap:0:true@always": ("m.false", "m.true"),
    "toy.py:Toy.declare:branch:0:negated@always": ("if view.side:", "if not view.side:"),
    "toy.py:Toy.declare:statement:1:dropped@always": ("m.side = ", "pass"),
    "toy.py:Toy.declare:span:0:0+1@always": ("range(3)", "range(3 + 1)"),
    "toy.py:Toy.declare:sign:0:removed@always": ("-view.lower", "view.lower"),
    "toy.py:shares:coefficient:0:left-only@always": ("view.gain * 2.5", "view.gain"),
    "toy.py:shares:constant:0:half@always": ("2.5", "1.25"),
    "toy.py:shares:result:0:wrong@action:result>=4": (
        "return view.gain",
        "return _fault.wrong(view.gain * 2.5, 'action', 4)",
    ),
}


@pytest.fixture(scope="module")
def toy():
    return {m.id: m for m in mutants("toy.py", TOY + "# true upper zeros")}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_mutant_changes_what_its_name_says(toy, name):
    """Before and after, and nothing else: with the old node put back the source is the old one."""
    before, after = EXPECTED[name]
    old, _, new = toy[name].change.partition(" -> ")
    assert before in old
    assert after in new
    assert ast.unparse(toy[name].planted()) != ast.unparse(ast.parse(TOY))
    back = Mutant(**{**toy[name].__dict__, "new": toy[name].old})
    assert ast.unparse(back.planted()) == ast.unparse(ast.parse(TOY))


def test_every_operator_has_an_example():
    assert {name.split(":")[2] for name in EXPECTED} == {
        *operators.EXPRESSIONS,
        *operators.STATEMENTS,
    }


def test_mutants_are_the_same_whenever_they_are_made(toy):
    again = [m.id for m in mutants("toy.py", TOY + "# true upper zeros")]
    assert again == list(toy)
    assert len(set(again)) == len(again)


def test_every_file_has_mutants_that_are_python():
    for file in FILES:
        found = list(islice(mutants(file), 100))
        for mutant in random.Random(0).sample(found, 3):
            compile(mutant.planted(), file, "exec")
        assert len({m.operator for m in found}) > 2, file


def test_a_sample_is_spread_over_functions_operators_and_conditions():
    found = sample(mutants("formulations/cut.py"), 12, 0)
    assert (
        found
        == sample(mutants("formulations/cut.py"), 12, 0)
        != sample(mutants("formulations/cut.py"), 12, 1)
    )
    assert min(len({m.operator for m in found}), len({m.kind for m in found})) > 6


def test_a_planted_fault_acts_everywhere_and_only_under_its_condition():
    """The function that others imported runs the fault; `hits` says whether it did."""

    def work():
        from milp_trees.formulations._tree_structure import ancestors

        file = "formulations/_tree_structure.py"
        before = ancestors(5), ancestors(9)
        (mutant,) = find([f"{file}:ancestors:constant:0:+1@node:v>=8"]).values()
        plant(mutant)
        return (
            before,
            (ancestors(5), fault.hits),
            (ancestors(9), fault.hits > 0),
            module_of(file).ancestors is ancestors,
        )

    assert in_child(work, 60) == (([2, 1], [4, 2, 1]), ([2, 1], 0), ([2, 1], True), True)


def test_wrong_results_are_wrong_from_there_on_only():
    costs = np.arange(12).reshape(4, 3)
    assert (fault.wrong(costs, "row", 2) - costs).tolist() == [
        [0, 0, 0],
        [0, 0, 0],
        [1, 1, 1],
        [0, 0, 0],
    ]
    assert (fault.wrong(costs, "action", 1) - costs).sum() == 4
    assert (fault.wrong(costs, "cost", 10) - costs).sum() == 2
    assert fault.wrong(costs, "row", 9) is costs
    assert fault.wrong([1, 2, 3], "item", 2) == [1, 2]
    assert fault.wrong((costs, 7), "row", 0)[1] == 7


def _sample():
    with SAMPLE.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def planted():
    """Mutants of the sample by id."""
    return find(row["id"] for row in _sample())


def test_the_sample_has_every_operator_and_every_condition(planted):
    """Rows whose fault is no longer in the sources do not count; `--write-sample` renews them."""
    there = [planted[row["id"]] for row in _sample() if row["id"] in planted]
    missing = {*operators.EXPRESSIONS, *operators.STATEMENTS} - {m.operator for m in there}
    assert not missing, (
        f"no fault of {sorted(missing)} is left in {SAMPLE.name}; renew it with `python -m tests.mutation --write-sample`"
    )
    kinds = Counter(m.kind for m in there)
    few = {
        "always",
        "node",
        "level",
        "row",
        "action",
        "test",
        "column",
        "threshold",
        "side-row",
        "min-leaf",
        "leaf-limit",
        "cost",
    } - set(kinds)
    assert not few, (
        f"no fault under the condition {sorted(few)} is left in {SAMPLE.name}; renew it with `python -m tests.mutation --write-sample`"
    )


@pytest.mark.parametrize("row", _sample(), ids=lambda row: row["id"])
def test_a_planted_fault_is_caught(planted, row):
    """By the check and on the problem that caught it when the sample was made."""
    mutant = planted.get(row["id"])
    if mutant is None:
        pytest.skip(
            "the function has changed since the sample was made; `python -m tests.mutation --write-sample` renews it"
        )
    requested = problems(row["formulation"])[
        row["problem"]
    ]  # made here, so that children have the problems and the oracle's answer already
    (best_pruning if isinstance(requested.space, PrunedEnsembles) else brute_force)(requested)

    def work():
        fresh()
        plant(mutant)
        checks(row["formulation"], row["problem"])[row["check"]]()

    with pytest.raises(RuntimeError, match="AssertionError"):
        in_child(work, 120)


@pytest.mark.parametrize(
    ("name", "task"),
    [
        (
            "milp_trees/tasks/constraints.py:GroupRates.rows:result:0:wrong@item:result>=4",
            "accuracy",
        ),
        (
            "milp_trees/tasks/classification.py:Accuracy.cost_table:constant:0:+1@action:size>=5",
            "accuracy",
        ),
        (
            "milp_trees/tasks/classification.py:WeightedError.row_losses:result:0:wrong@row:result>=60",
            "weighted",
        ),
    ],
    ids=["side-row", "class", "weight"],
)
def test_a_fault_in_a_task_is_caught_by_a_definition(name, task):
    """The fifth side row is missing, classes are wrong where there are five, the weight of the
    sixty-first row is wrong.
    """
    (mutant,) = find([name]).values()

    def work():
        plant(mutant)
        return first_breach(k for k, (made, _) in enumerate(examples()) if made == task)

    assert in_child(work, 120).get("verdict") == "caught"


def test_the_table_has_rows_of_every_file_and_of_no_other():
    """A new file is tried before it counts as guarded; rows of one that is gone are removed."""
    tried = {row["file"] for row in read(RESULTS).values()}
    there = {f for f in EVERY_FILE if next(mutants(f), None) is not None}
    assert not there - tried, (
        f"no fault was planted in {sorted(there - tried)}: `python -m tests.mutation --files {' '.join(sorted(there - tried))}`"
    )
    assert not tried - there, f"{RESULTS.name} has rows of {sorted(tried - there)}, which are gone"


def test_every_fault_that_survives_is_judged():
    """What no check catches changes nothing, with a reason, or it is open, with what is known."""
    same, still_open = ({row["id"] for row in rows} for rows in (table(), table(OPEN)))
    left = {r["id"] for r in read(RESULTS).values() if r["verdict"] in LEFT}
    assert not left - same - still_open, (
        f"judge {sorted(left - same - still_open)[:5]} in {TABLE.name}, or mend the checks"
    )
    assert not still_open - left, f"{sorted(still_open - left)[:5]} of {OPEN.name} is caught by now"


def test_every_formulation_has_problems_on_which_checks_run():
    for name in registry.classes("formulations"):
        found = problems(name)
        assert any(checks(name, one) for one in found), name


def test_what_is_called_equivalent_is_still_there():
    """Every row names a mutant of today's sources, with the change that was judged and a reason."""
    rows = table()
    found = find(row["id"] for row in rows)
    for row in rows:
        assert row["id"] in found, (
            f"{row['id']} is no longer there: judge it again and remove its row"
        )
        assert row["change"] == found[row["id"]].change, (
            f"{row['id']} is another change by now: {found[row['id']].change}"
        )
        assert len(row["reason"]) > 20
    assert len({row["id"] for row in rows}) == len(rows)
