"""Random fitted models inside random optimisation models, to check the blocks of `mt.embed`.

A case has a small model (a tree, a rule list or an ensemble) over columns of every kind, a Pyomo
model with variables for these columns, a random linear objective and a random side constraint.
`check` solves a case and compares the block with the model's own prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.common.errors import InfeasibleConstraintException

import milp_trees as mt
from milp_trees.lists.rule_list import Rule
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.runner import run
from milp_trees.mip.solver import Job
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.predicted import Predicts

#: Kinds of models of `random_case`.
KINDS = ("tree", "rules", "numbers", "forest", "regressor", "boosted", "classes", "histogram")
OF_SKLEARN = KINDS[3:]
COLOURS = ("red", "green", "blue")
SIZES = ("s", "m", "l", "xl")


class NoAnswer(AssertionError):
    """A solver ended without a point that its model has, and not because there is none."""


@dataclass(eq=False)
class Case:
    """A model, a Pyomo model with variables for its columns, and these variables."""

    seed: int
    kind: str
    model: Any
    host: Any
    inputs: dict[str, Any]


def random_case(seed: int, depth: int = 8, kinds: tuple[str, ...] = KINDS) -> Case:
    """A random case: a kind of model, of a tree of at most so many levels."""
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(kinds))
    host = pyo.ConcreteModel()
    if kind in OF_SKLEARN:
        model, inputs = of_sklearn(rng, host, kind, depth)
    else:
        inputs, questions = columns(rng, host)
        actions = ("a", "b", "c")[: int(rng.integers(2, 4))]
        if kind == "rules":
            model = rule_list(rng, questions, actions)
        else:
            model = mt.Tree(
                node(rng, questions, int(rng.integers(0, depth + 1)), len(actions)), actions
            )
        if kind == "numbers":
            values = tuple(rng.normal(size=len(actions)).round(3).tolist())
            model = mt.Tree(model.root, values)
            model.__dict__["_predicts"] = Predicts("numbers", ("demand",))
    goal(rng, host)
    return Case(seed, kind, model, host, inputs)


def columns(rng: Any, host: Any) -> tuple[dict[str, Any], list[mt.BinaryFeature]]:
    """Variables for columns of every kind, and questions about them."""
    inputs: dict[str, Any] = {}
    asked: list[mt.BinaryFeature] = []
    scale = float(rng.choice([1.0, 1.0, 100.0, 1e4]))

    def missing(name: str) -> Any:
        host.add_component(name + "_missing", pyo.Var(domain=pyo.Binary))
        return host.component(name + "_missing")

    for name in ("real", "other"):
        host.add_component(name, pyo.Var(bounds=(-scale, scale)))
        values = rng.uniform(-1.1 * scale, 1.1 * scale, 4).round(int(rng.integers(0, 4))).tolist()
        absent = str(rng.choice(["", "", "yes", "no"]))
        variable = host.component(name)
        inputs[name] = (variable, missing(name)) if absent else variable
        asked += [mt.BinaryFeature(name, "<=", float(t), absent or None) for t in values]
        if absent:
            asked.append(mt.BinaryFeature(name, "missing"))
    host.whole = pyo.Var(domain=pyo.Integers, bounds=(-3, 9))
    inputs["whole"] = host.whole
    asked += [
        mt.BinaryFeature("whole", "<=", float(t)) for t in rng.choice([-2, 0.5, 3, 3.5, 8], 3)
    ]
    host.flag = pyo.Var(domain=pyo.Binary)
    inputs["flag"] = host.flag
    asked.append(mt.BinaryFeature("flag"))
    host.colour = pyo.Var(["red", "green", "grey"], domain=pyo.Binary)
    absent = str(rng.choice(["", "yes", "no"]))
    host.one_colour = pyo.Constraint(
        expr=sum(host.colour.values()) + (missing("colour") if absent else 0) == 1
    )
    given = {"red": host.colour["red"], "green": host.colour["green"], None: host.colour["grey"]}
    inputs["colour"] = (given, host.colour_missing) if absent else given
    asked += [mt.BinaryFeature("colour", "==", c, absent or None) for c in COLOURS]
    host.size = pyo.Var(domain=pyo.Integers, bounds=(0, 3))
    inputs["size"] = host.size
    asked += [mt.BinaryFeature("size", "<=", s, None, SIZES) for s in SIZES[:-1]]
    host.day = pyo.Var(domain=pyo.Integers if rng.integers(2) else pyo.Reals, bounds=(18600, 18800))
    inputs["day"] = host.day
    asked += [
        mt.BinaryFeature("day", "<=", t) for t in ("2021-01-05", "2021-02-03T12:00", "2021-04-30")
    ]
    return inputs, asked


def node(rng: Any, questions: list[mt.BinaryFeature], depth: int, actions: int) -> Any:
    """A random tree."""
    if depth == 0 or rng.random() < 0.1:
        return Leaf(int(rng.integers(actions)))
    test = questions[int(rng.integers(len(questions)))]
    sides = [node(rng, questions, depth - 1, actions) for _ in range(2)]
    return Branch(test, *sides)


def rule_list(rng: Any, questions: list[mt.BinaryFeature], actions: tuple[str, ...]) -> mt.RuleList:
    """A random rule list."""
    rules = []
    for _ in range(int(rng.integers(0, 6))):
        chosen = rng.choice(len(questions), int(rng.integers(1, 4)), replace=False)
        literals = [mt.Literal(questions[k], bool(rng.integers(2))) for k in chosen.tolist()]
        rules.append(Rule(mt.Antecedent(literals), int(rng.integers(len(actions)))))
    return mt.RuleList(rules, int(rng.integers(len(actions))), actions)


def of_sklearn(rng: Any, host: Any, kind: str, depth: int) -> tuple[Any, dict[str, Any]]:
    """A small ensemble of scikit-learn, with whole, real and 0/1 columns."""
    from sklearn import ensemble

    n = 60
    X = np.column_stack(
        [rng.normal(size=n), rng.normal(size=n) * 100, rng.integers(0, 9, n), rng.integers(0, 2, n)]
    )
    if rng.integers(2):
        X = X.round(1)
    host.x = pyo.Var(range(4))
    for j, (low, high) in enumerate([(-3, 3), (-300, 300), (-1, 10), (0, 1)]):
        host.x[j].setlb(low)
        host.x[j].setub(high)
    host.x[2].domain, host.x[3].domain = pyo.Integers, pyo.Binary
    y = X[:, 0] * (X[:, 2] - 4) + X[:, 1] / 50 + rng.normal(size=n)
    made = {
        "forest": ensemble.RandomForestClassifier,
        "regressor": ensemble.RandomForestRegressor,
        "boosted": ensemble.GradientBoostingRegressor,
        "classes": ensemble.GradientBoostingClassifier,
        "histogram": ensemble.HistGradientBoostingRegressor,
    }[kind]
    if kind in ("forest", "classes"):
        y = np.digitize(y, np.quantile(y, [0.5] if rng.integers(2) else [0.3, 0.7]))
    levels, trees = int(rng.integers(1, min(depth, 5) + 1)), int(rng.integers(1, 5))
    size = "max_iter" if kind == "histogram" else "n_estimators"
    model = made(max_depth=levels, random_state=0, **{size: trees})
    if kind == "histogram":
        model.set_params(min_samples_leaf=3)
    return model.fit(X, y), {f"x{j}": host.x[j] for j in range(4)}


def goal(rng: Any, host: Any) -> None:
    """A random objective, and a random constraint that keeps the middle of the bounds."""
    variables = list(host.component_data_objects(pyo.Var))
    weights = rng.integers(-3, 4, len(variables)).tolist()
    widths = [v.ub - v.lb for v in variables]
    host.cost = pyo.Expression(
        expr=sum(w * v / max(1, r) for w, v, r in zip(weights, variables, widths, strict=True))
    )
    pair = rng.choice(len(variables), min(3, len(variables)), replace=False).tolist()
    terms = [(float(rng.choice([-1, 1, 2])), variables[k]) for k in pair if widths[k] > 1]
    middle = sum(c * (v.lb + v.ub) / 2 for c, v in terms)
    spread = sum(abs(c) * (v.ub - v.lb) for c, v in terms)
    if terms:
        host.side = pyo.Constraint(
            expr=sum(c * v for c, v in terms) <= middle + float(rng.uniform(0.1, 0.5)) * spread
        )


@dataclass
class Checked:
    """What came of a case: its audit, and the objective."""

    case: Case
    audit: Any
    objective: float
    block: Any


def check(case: Case, formulation: str, solver: str, seconds: float = 60.0) -> Checked | None:
    """Solve a case with a random wish for its output; None if no point has that output."""
    host = case.host
    rng = np.random.default_rng(case.seed + 1)
    if host.component("tree") is not None:
        host.del_component("tree")
        host.del_component("wish")
        host.del_component("goal")
    host.tree = block = mt.embed(case.model, case.inputs, formulation)
    wish = 0.0
    if block.component("action") is not None:
        labels = list(block.action.index_set())
        wanted = labels[int(rng.integers(len(labels)))]
        host.wish = pyo.Constraint(expr=block.action[wanted] == 1)
    else:
        host.wish = pyo.Constraint(pyo.Any)
        wish = float(rng.choice([-1.0, 1.0])) * block.value
    host.goal = pyo.Objective(expr=host.cost + wish)
    try:
        matrix = compile_model(host)
    except InfeasibleConstraintException:  # no leaf has the action that is wished for
        return None
    answer = run(solver, Job(matrix, mt.Limits(time=seconds, rel_gap=0.0, abs_gap=0.0)))
    if answer.x is None:
        if answer.status.value == "infeasible":
            return None
        raise NoAnswer(f"{solver} gave no answer: {answer.message}")
    matrix.load(answer.x)
    objective = float(pyo.value(host.goal))
    return Checked(case, block.audit(), objective, block)
