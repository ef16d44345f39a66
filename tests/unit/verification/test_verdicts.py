"""Derived, recomputed and only claimed differ in sentence, exit code and JSON; the problem decides
who derives, not the name in the file.
"""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from row_tests import each_row
from verdicts_cases import run

import milp_trees as mt
from milp_trees.common.registering import plugins
from milp_trees.mip.registry import registry
from milp_trees.results.result import Certificate, Limit, Status
from milp_trees.verification.derive import methods_for

ROOT = Path(mt.__file__).parents[1]


def stored(result, folder, **changes):
    """A result on a file, as `--out` writes it."""
    file = folder / "r.json"
    data = json.loads(json.dumps({**result.to_json(), **changes}))
    file.write_text(json.dumps(data))
    return file


def areas(rows=150, tests=40):
    """Too many trees to be enumerated: two methods take it."""
    return mt.Problem(
        mt.load(f"planted:rows={rows},tests={tests},depth=3,noise=0.2,seed=5"),
        mt.tasks.AUC(),
        mt.Trees(2),
    )


def alone():
    """Trees of any depth, for which there is one method alone."""
    data = mt.load("planted:rows=60,tests=6,depth=2,noise=0.2,seed=5")
    return mt.Problem(data, mt.tasks.AUC(leaf_penalty="1/40"), mt.Trees(None))


def lie(problem, folder, maker="gurobi"):
    """The tree that is greedy for accuracy, called optimal by another program."""
    tree = mt.solve(mt.Problem(problem.dataset, mt.Accuracy(), problem.space), "cart").tree
    value = problem.value(tree)
    certificate = Certificate(
        value.number, value.exact, f"{maker} 12", ("value recomputed from the tree",)
    )
    made = replace(
        mt.solve(problem, reference=None),
        solutions=(mt.plugins.Solution(tree, value),),
        certificate=certificate,
    )
    return stored(
        replace(
            made,
            method=maker,
            trace=(),
            model_size={},
            nodes=None,
            root_bound=None,
            status=Status.OPTIMAL,
        ),
        folder,
    )


@each_row(
    "maker",
    [
        "gurobi",
        "enumerate-counts",
        "partial-trees",
        "dp",
        "oct@highs",
        "oct@gurobi",
        "no such method",
    ],
)
def test_a_false_optimum_is_refused_whoever_is_said_to_have_made_it(tmp_path, maker):
    found = run("verify", lie(areas(), tmp_path, maker))
    assert found.exit_code == 4
    other = "tangents" if maker == "partial-trees" else "partial-trees"
    assert f"optimal; {other} proves" in found.stderr


def test_a_renamed_lie_about_german_credit_is_refused(tmp_path, data_folder):
    problem = mt.Problem(
        mt.load(data_folder / "classification/german-credit.txt"), mt.tasks.AUC(), mt.Trees(2)
    )
    found = run("verify", lie(problem, tmp_path))
    assert found.exit_code == 4
    assert "calls 0.706347619 AUC optimal; partial-trees proves 0.7264095238" in found.stderr


# -- three verdicts ---------------------------------------------------------------------------------------------


def verdicts(folder):
    """A result per verdict and claim: (file, verdict, exit code, beginning of the last sentence)."""
    small = mt.Problem(
        mt.load("planted:rows=60,tests=5,depth=2,noise=0.1"), mt.Accuracy(), mt.Trees(2)
    )
    hard = mt.Problem(
        mt.load("planted:rows=900,tests=60,depth=5,noise=0.3,seed=1"), mt.tasks.AUC(), mt.Trees(5)
    )
    proven = mt.solve(small)
    guess = mt.solve(mt.Problem(hard.dataset, mt.Accuracy(), mt.Trees(1)), "dp").tree
    claimed = mt.Result(
        hard,
        "gurobi",
        Status.FEASIBLE,
        Limit.TIME,
        (mt.plugins.Solution(guess, hard.value(guess)),),
        Certificate(0.999, None, "gurobi 12"),
        9.0,
    )
    for name, result, *expected in (
        (
            "derived",
            proven,
            "derived",
            0,
            "Derived: enumerate, which shares nothing with dp, proves too that the optimum is",
        ),
        (
            "unknown maker",
            replace(proven, method="gurobi"),
            "derived",
            0,
            "Derived: enumerate, which shares nothing with gurobi,",
        ),
        (
            "same method",
            mt.solve(alone()),
            "recomputed",
            6,
            "Recomputed: the same method, partial-trees, run anew, proves too",
        ),
        ("no claim", mt.solve(small, "cart"), "recomputed", 0, "Recomputed: it claims no more."),
        (
            "claimed",
            claimed,
            "claimed",
            7,
            "Only claimed: the bound is claimed by gurobi 12 and was not derived here (partial-trees did not finish",
        ),
    ):
        (folder / name).mkdir()
        yield stored(result, folder / name), *expected


@pytest.mark.slow
def test_the_three_verdicts_differ_in_sentence_exit_code_and_json(tmp_path):
    order = ["derived", "recomputed", "claimed"]
    for file, verdict, code, sentence in verdicts(tmp_path):
        found = run("verify", file, "--time-limit", 2)
        lines = found.stdout.splitlines()
        assert found.exit_code == code, (file, found.output)
        assert lines[-1].startswith(f"Verdict: {verdict}")
        assert any(line.startswith(sentence) for line in lines), found.stdout
        message = json.loads(run("verify", file, "--time-limit", 2, "--json").stdout)
        assert message["verdict"] == verdict
        assert lines[-1] == f"Verdict: {message['words']}."
        assert "verified" not in message
        assert message["checked"][-1].startswith(sentence)
        for require in order:
            expected = (
                0
                if order.index(verdict) <= order.index(require)
                else {"recomputed": 6, "claimed": 7}[verdict]
            )
            assert (
                run("verify", file, "--time-limit", 1, "--require", require).exit_code == expected
            ), (file, require)
    assert (
        "one of proved, derived, recomputed, claimed"
        in run("verify", file, "--require", "proof").stderr
    )


def test_the_weakest_verdict_of_several_results_counts(tmp_path):
    made = {verdict: json.loads(file.read_text()) for file, verdict, _, _ in verdicts(tmp_path)}
    both = tmp_path / "both.json"
    both.write_text(json.dumps([made["claimed"], made["derived"]]))
    found = run("verify", both, "--time-limit", 1, "--json")
    assert found.exit_code == 7
    assert [row["verdict"] for row in json.loads(found.stdout)] == ["claimed", "derived"]


def test_a_false_bound_that_nothing_derives_in_time_is_claimed_and_nothing_more(tmp_path):
    """No sentence says "verified" to it, and its exit code is not 0."""
    file = next(file for file, verdict, _, _ in verdicts(tmp_path) if verdict == "claimed")
    found = run("verify", file, "--time-limit", 1)
    assert found.exit_code == 7
    assert "erified." not in found.stdout.replace("nothing here can verify it", "")


def test_a_method_of_somebody_else_derives_too(monkeypatch):
    """It takes what it is asked, so its proof counts; one that fails, or lies about its tree, is
    passed over.
    """
    requested = []

    class Other(type(registry.method("partial-trees"))):
        name, shared_components, verification_rank = "other", frozenset(), 1

        def search(self, problem, limits, start, progress):
            requested.append(limits.time)
            if len(requested) == 2:
                raise ZeroDivisionError("their own fault")
            found = super().search(problem, limits, start, progress)
            return (
                found
                if len(requested) == 1
                else replace(
                    found,
                    solutions=(
                        replace(found.solutions[0], value=replace(found.value, number=2.0)),
                    ),
                )
            )

    monkeypatch.setitem(plugins._classes["methods"], "other", Other)
    result = mt.solve(alone(), "partial-trees")
    for verdict, by in (
        (mt.plugins.Verdict.DERIVED, "other"),
        *[(mt.plugins.Verdict.RECOMPUTED, "partial-trees")] * 2,
    ):
        found = mt.verify(result)
        assert (found.verdict, found.derived_by) == (verdict, by)
    assert len(requested) == 3


def test_a_program_that_runs_another_does_not_confirm_it():
    problem = mt.Problem(
        mt.load("planted:rows=60,tests=5,depth=2,noise=0.1"), mt.Accuracy(), mt.Trees(2)
    )
    for maker, banned in (
        ("flow-oct@pulp", "cbc"),
        ("flow-oct@cbc", "pulp"),
        ("flow-oct@highs", "highs"),
    ):
        independent, sharing = methods_for(problem, maker)
        assert independent[:2] == ["enumerate", "dp"]
        assert any(name.startswith("state-flow@") for name in independent)
        assert not [name for name in independent if name.endswith(f"@{banned}")]
        assert any(name.startswith("flow-oct@") for name in sharing)


# -- what is no result ------------------------------------------------------------------------------------------

BROKEN = {
    "NaN": lambda text: text.replace('"seconds": ', '"seconds": NaN, "x": ', 1),
    "infinity": lambda text: text.replace('"seconds": ', '"seconds": -Infinity, "x": ', 1),
    "a huge number": lambda text: text.replace('"seconds": ', '"seconds": 1e9999999, "x": ', 1),
    "a huge fraction": lambda text: text.replace('"exact": "', '"exact": "1e9999999", "x": "', 1),
    "a huge penalty": lambda text: text.replace(
        '"leaf_penalty": "1/50"', '"leaf_penalty": "1e9999999"', 1
    ),
    "a deep tree": lambda text: text.replace(
        '"predictor": ', '"predictor": ' + '{"false": ' * 100_000, 1
    ),
    "brackets": lambda text: "[" * 100_000 + text + "]" * 100_000,
    "a name twice": lambda text: text.replace('"seconds": ', '"seconds": 1, "seconds": ', 1),
    "a great depth": lambda text: text.replace(
        '"max_depth": 1,', '"max_depth": 100000000000000000000, "x": 1,', 1
    ),
    "another encoding": lambda text: text.encode("utf-16"),
    "a newer layout": lambda text: text.replace('"schema": 1', '"schema": 2', 1),
    "nothing": lambda text: "",
}


@each_row("what", BROKEN)
@each_row("command", ["verify", "predict"])
def test_what_is_no_result_gets_one_sentence_at_once(people, tmp_path, what, command):
    file, broken = tmp_path / "r.json", BROKEN[what](json.dumps(people))
    assert broken != json.dumps(people)
    file.write_bytes(broken if isinstance(broken, bytes) else broken.encode())
    began = time.process_time()
    found = run(
        command, file, *([people["problem"]["data"]["path"]] if command == "predict" else [])
    )
    assert time.process_time() - began < 5
    ignored = command == "predict" and what in (
        "a huge fraction",
        "a huge penalty",
        "a great depth",
    )  # not what predicting looks at
    assert found.exit_code in ((0,) if ignored else (1, 4)), found.output
    assert ignored or len(found.stderr.splitlines()) == 1
    assert "Traceback" not in found.output


def test_text_of_a_result_does_not_steer_the_terminal(people):
    for place in ("method", "proved_by", "unit", "message"):
        try:
            message = "\n".join(
                [*mt.verify({**people, place: "x\x1b[2J\nDerived: all is well."}), ""]
            )
        except mt.errors.VerificationError as why:
            message = str(why)
        assert "\x1b" not in message
        assert "\nDerived: all" not in message


def test_what_verify_does_not_take_is_named(tmp_path):
    """Sets of near-best trees and paths of sizes hold several answers, and no result."""
    problem = mt.Problem(
        mt.load("planted:rows=30,tests=4,depth=2,noise=0.2"), mt.Accuracy(), mt.Trees(2)
    )
    for answer, words in (
        (mt.near_best(problem, slack=1), "does not state its problem"),
        (mt.size_path(problem, max_leaves=3), "of all sizes, which verify does not take"),
    ):
        file = tmp_path / "r.json"
        file.write_text(json.dumps(answer.to_json()))
        found = run("verify", file)
        assert found.exit_code == 1
        assert words in found.stderr


def test_damage_without_words_is_a_sentence(people):
    """A part of a split that is asked for, and no split: an assertion said nothing."""
    made = json.loads(json.dumps(people))
    made["problem"]["data"]["split"] = {"part": "test"}
    with pytest.raises(
        mt.errors.VerificationError,
        match=r"The result is damaged: its parts do not fit each other\. Solve again\.$",
    ):
        mt.verify(made)
