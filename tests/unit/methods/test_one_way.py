"""One way to run a method: whoever asks, a run visits each of its stages once."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.limits import Limits
from milp_trees.methods.method import Method
from milp_trees.mip.registry import registry
from milp_trees.problems.problem import Problem
from milp_trees.solving.attempt import attempt

ROOT = Path(__file__).parents[3]
DATA = "planted:rows=40,tests=4,depth=1"


def problem() -> mt.Problem:
    return mt.Problem(mt.load(DATA), mt.Accuracy(), mt.Trees(1))


@cache
def stored() -> dict:
    return mt.solve(problem(), "dp").to_json()


class Visits:
    """How often runs of some methods were at each stage, and the limits that they were given."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.limits: list[Limits] = []
        self.inside = 0


@pytest.fixture
def visits(monkeypatch):
    """Counts the stages of runs, of whatever method: also those that a run goes through inside
    another one, of which there must be none.
    """
    stored()
    seen, run = Visits(), Method.run

    def counted(method, *args, **more):
        assert not seen.inside, "a run is inside a run"
        seen.inside += 1
        seen.count["run"] += 1
        seen.limits.append(args[1] if len(args) > 1 else more["limits"])
        try:
            return run(method, *args, **more)
        finally:
            seen.inside -= 1

    def watched(owner, name):
        whole = getattr(owner, name)

        def visit(*args, **more):
            seen.count[name if seen.inside else f"{name}, choosing"] += 1
            return whole(*args, **more)

        monkeypatch.setattr(owner, name, visit)

    monkeypatch.setattr(Method, "run", counted)
    watched(Problem, "without_views")
    for label in ("dp", "enumerate", "near-best", "dp-sizes", "flow-oct@highs", "cart", "min-cut"):
        kind = type(registry.method(label))
        for stage in ("warm_up", "unsupported", "search", "_signed"):
            watched(kind, stage)
    for stage in ("unsupported", "assemble"):
        model = type(registry.formulation("flow-oct"))
        whole = getattr(model, stage)

        def visit(*args, whole=whole, stage=f"formulation.{stage}", **more):
            if seen.inside:
                seen.count[stage] += 1
            return whole(*args, **more)

        monkeypatch.setattr(model, stage, visit)
    return seen


STAGES = ("without_views", "warm_up", "unsupported", "search", "_signed")


def cli(*words):
    done = CliRunner().invoke(app, [*words])
    assert done.exit_code == 0, done.output


def fit(estimator):
    X = np.random.default_rng(0).integers(0, 2, (30, 3))
    estimator.fit(X, X[:, 0] ^ X[:, 1])


#: Who asks → what it asks, and how many runs that takes.
ASKED = {
    "solve": (lambda: mt.solve(problem(), "dp"), 1),
    "solve, chosen": (lambda: mt.solve(problem()), 1),
    "solve, judged": (lambda: mt.solve(problem(), "dp", reference="enumerate"), 2),
    "solve, begun by cart": (lambda: mt.solve(problem(), "dp", start="cart"), 2),
    "solve, a model": (
        lambda: mt.solve(problem(), "flow-oct@highs", start=None, reference=None),
        1,
    ),
    "solve, a model, begun and judged by the same": (
        lambda: mt.solve(problem(), "flow-oct@highs"),
        2,
    ),
    "compare": (
        lambda: mt.compare(problem(), ["dp", "flow-oct@highs"], start=None, reference=None),
        2,
    ),
    "compare, begun and judged by the same": (
        lambda: mt.compare(problem(), ["flow-oct@highs"], reference="dp", start="dp"),
        2,
    ),
    "attempt": (lambda: attempt(registry.method("dp"), problem(), Limits()), 1),
    "near_best": (lambda: mt.near_best(problem(), slack=1), 1),
    "sizes": (lambda: mt.size_path(problem(), max_leaves=3), 1),
    "sizes, one by one": (lambda: mt.size_path(problem(), max_leaves=2, method="enumerate"), 2),
    "verify": (lambda: mt.verify(stored()), 1),
    "an estimator": (lambda: fit(mt.OptimalTreeClassifier(max_depth=1)), 1),
    "a command": (lambda: cli("solve", DATA, "--depth", "1", "--reference", "none"), 1),
    "another command": (lambda: cli("near-best", DATA, "--depth", "1", "--slack", "1"), 1),
}


@pytest.mark.parametrize("who", ASKED)
def test_a_run_visits_each_stage_once(who, visits):
    requested, runs = ASKED[who]
    requested()
    assert visits.count["run"] == runs
    assert {stage: visits.count[stage] for stage in STAGES} == dict.fromkeys(STAGES, runs)
    models = visits.count["formulation.assemble"]
    assert visits.count["formulation.unsupported"] == models == ("model" in who or "compare" in who)
    assert all(isinstance(limits, Limits) for limits in visits.limits)


def test_a_choice_asks_the_method_that_it_takes_once(visits):
    """Before the run, on the problem itself."""
    for ask in (
        lambda: mt.solve(problem()),
        lambda: mt.near_best(problem(), slack=1),
        lambda: mt.size_path(problem(), max_leaves=3),
        lambda: cli("solve", DATA, "--depth", "1", "--reference", "none"),
    ):
        visits.count.clear()
        ask()
        assert visits.count["unsupported, choosing"] == visits.count["unsupported"] == 1


def test_a_step_of_a_ratio_is_no_run(visits):
    """Its linear problems are searched, and the method is asked about one of them only."""
    mt.solve(mt.Problem(mt.load(DATA), mt.tasks.F1(), mt.Trees(1)), "dp")
    assert (visits.count["run"], visits.count["unsupported"], visits.count["without_views"]) == (
        1,
        1,
        1,
    )


#: Who may say a limit by itself: the calls and estimators that users write them in, and their one
#: question each.
FACES = {
    "api.py",
    "common/limits.py",
    "data/grouped.py",
    "verification/check.py",
    "pruning/verification/curve.py",
    "counterfactuals/ask.py",
    "explanations/why_not.py",
}


def test_limits_are_handed_on_whole():
    """No function between the faces and a run takes two limits one by one."""
    names = {"time_limit", "memory_mb", "memory_limit", "node_limit", "max_nonzeros", "threads"}
    wrong = []
    for path in (ROOT / "milp_trees").rglob("*.py"):
        if str(path.relative_to(ROOT / "milp_trees")) in FACES:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node.args:
                args = [a.arg for a in [*node.args.args, *node.args.kwonlyargs]]
                of_estimator = (
                    "estimators" in path.parts and getattr(node, "name", "") == "__init__"
                )
                if len(names & set(args)) > 1 and not of_estimator:
                    wrong.append(
                        f"{path}:{node.lineno} takes {', '.join(sorted(names & set(args)))}"
                    )
    assert not wrong, "\n".join(wrong)


def test_only_runs_call_searches():
    """`search` is called by a run, by a step of a ratio, and by an engine, a fallback, a changed
    model or a rounding for a part of its own answer.
    """
    allowed = {"methods/method.py", "methods/greedy.py"}
    allowed |= {f"mip/{name}.py" for name in ("method", "built_method", "rounding")}
    wrong = []
    for path in (ROOT / "milp_trees").rglob("*.py"):
        name = str(path.relative_to(ROOT / "milp_trees"))
        if name in allowed or {"engines", "hypergraph", "testing", "data", "estimators"} & set(
            path.parts
        ):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "search"
                and getattr(node.func.value, "id", "") != "re"
            ):
                wrong.append(f"{path}:{node.lineno}")
    assert not wrong, "\n".join(wrong)
