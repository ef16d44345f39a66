"""Conformance checks of formulations of prunings, for the space `PrunedEnsembles`.

    from milp_trees.pruning.testing.checks import check_pruning_formulation
    check_pruning_formulation(MyFormulation())

They correspond to those of `checks`. The oracle is the task's own value of every pruning, in
fractions; it uses no view and no solver adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from itertools import islice
from typing import Any

import numpy as np

from milp_trees.common.errors import MilpTreesError
from milp_trees.mip.formulation import Formulation
from milp_trees.models.ensemble import Ensemble
from milp_trees.problems.problem import Problem
from milp_trees.pruning.testing.examples import EXAMPLES
from milp_trees.pruning.testing.found_by_mutation import FOUND_PRUNINGS
from milp_trees.pruning.testing.random_prunings import all_prunings, random_problem
from milp_trees.pruning.view import NodeGains
from milp_trees.testing.checks import check_components_documented, check_sizes
from milp_trees.testing.model_text import model_text
from milp_trees.testing.solve import FEASIBLE, Point, built, minimise, without

Check = Callable[[Formulation, Problem], None]
#: How much a budget is made tighter: less than the costs of any two prunings differ by.
TIGHTER = Fraction(1, 10**12)


@cache
def example(name: str) -> Problem:
    """An example, made once."""
    return EXAMPLES[name]()


@cache
def random_examples(n: int = 12) -> dict[str, Problem]:
    """Random problems by name: with and without budgets, deep and shallow, and some with λ = 0."""
    out = {
        f"random-free-{seed}": random_problem(np.random.default_rng(seed), 2, 3, lam=0)
        for seed in range(n // 4)
    }
    for seed in range(n):
        rng = np.random.default_rng(seed)
        shape: dict[str, Any] = {
            "n_trees": 1 + seed % 3,
            "depth": 2 + (seed % 3 == 0),
            "n_rows": 3 + seed % 4,
        }
        out[f"random-{seed}"] = random_problem(rng, **shape, budget=seed % 4 == 3)
    return out


@cache
def found_examples() -> dict[str, Problem]:
    """Larger problems, on which planted faults are found."""
    return {name: make() for name, make in FOUND_PRUNINGS.items()}


#: Seeds of `deep_example` whose best pruning keeps at least four splits, some of them below two
#: others; with prices by row, groups, hierarchies, purchases for all rows, and a budget.
DEEP_SEEDS = (38, 196, 270, 302, 403, 433, 488)


def deep_example(seed: int) -> Problem:
    """One or two trees of four or five levels, five features, nine rows."""
    levels = 4 if seed % 3 else 5
    return random_problem(
        np.random.default_rng(5000 + seed),
        1 + seed % 2,
        levels,
        5,
        9,
        budget=seed % 4 == 3,
        lam="1/60",
    )


@cache
def default_pruning_problems(level: str = "quick") -> dict[str, Problem]:
    """All examples and random problems of a level by name.

    `thorough` has two hundred more random problems.
    """
    found = {
        **{name: example(name) for name in EXAMPLES},
        **random_examples(),
        **found_examples(),
        **{f"deep-{seed}": deep_example(seed) for seed in DEEP_SEEDS},
    }
    for s in range(200 if level == "thorough" else 0):
        found[f"more-{s}"] = random_problem(
            np.random.default_rng(1000 + s), 1 + s % 3, 2, 2 + s % 3, 2 + s % 5, budget=s % 3 == 0
        )
    return found


# -- the oracle ------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def scored(problem: Problem) -> list[tuple[Fraction, Ensemble]]:
    """Value and pruning, for every pruning within the budget.

    The value of the ensemble without splits is the largest that a solver could wrongly report.
    """
    task: Any = problem  # its methods have annotations for single trees
    found = [p for p in all_prunings(unpruned(problem)) if not task.violations(p)]
    return [(_exact(problem, p), p) for p in found]


def best_pruning(problem: Problem) -> tuple[Fraction, Ensemble] | None:
    """The smallest value and a pruning with this value; None if none is within the budget."""
    return min(scored(problem), key=lambda found: found[0], default=None)


def unpruned(problem: Problem) -> Ensemble:
    """The ensemble before pruning."""
    space: Any = problem.space
    ensemble: Ensemble = space.ensemble
    return ensemble


def _exact(problem: Problem, pruning: Any) -> Fraction:
    value = problem.value(pruning)
    return value.exact if value.exact is not None else Fraction(value.number)


def _same(view: NodeGains, Z: float, value: Fraction) -> bool:
    """Whether the objective of a model equals a value, up to the tolerances of solver and view."""
    expected = float(view.from_value(value))
    return abs(Z - expected) <= 2.0 * view.tolerance + min(0.4, 1e-6 * max(1.0, abs(expected)))


# -- checks ----------------------------------------------------------------------------------------


def check_repeatable(formulation: Formulation, problem: Problem) -> None:
    """Building twice gives the same model."""
    from milp_trees.mip.linear.matrix import compile_model

    once, again = (model_text(compile_model(formulation.build(problem))) for _ in range(2))
    _demand(once == again, formulation, problem, "two builds differ.")


def check_optimum(formulation: Formulation, problem: Problem) -> None:
    """The model's optimum, and the pruning that it decodes to, have the best pruning's value."""
    fault = optimum_fault(formulation, problem, minimise(built(formulation, problem).matrix))
    _demand(fault is None, formulation, problem, fault or "")


def optimum_fault(formulation: Formulation, problem: Problem, point: Point) -> str | None:
    """What is wrong with a claimed optimum, or None."""
    best, view, b = (
        best_pruning(problem),
        formulation.presolved_view(problem),
        built(formulation, problem),
    )
    if best is None:
        return (
            None
            if point.status == "infeasible"
            else f"no pruning keeps the budget, but the model is {point.status} with {point.objective}."
        )
    if point.x is None or point.objective is None or not _same(view, point.objective, best[0]):
        return f"expected {float(view.from_value(best[0])):.9g} units by {kept(best[1])}; the model is {point.status} with {point.objective}."
    b.matrix.load(point.x)
    pruning = formulation.decode(b.model)
    wrong = problem.violations(pruning)
    if wrong or not _same(view, point.objective, _exact(problem, pruning)):
        return f"the model claims {point.objective:.9g} units; {kept(pruning)} has {view.objective(pruning)} and breaks {wrong}."
    return None


def check_relaxation(formulation: Formulation, problem: Problem) -> None:
    """The relaxation is a bound.

    It is the optimum itself if the formulation claims so and there is no budget.
    """
    best, view = best_pruning(problem), formulation.presolved_view(problem)
    if best is None:
        return
    Z = minimise(built(formulation, problem).matrix, relax=True).objective
    if formulation.has_integral_relaxation(view, problem.space):
        _demand(
            Z is not None and _same(view, Z, best[0]),
            formulation,
            problem,
            f"the relaxation is {Z}, not the optimum {best[0]}.",
        )
    below = Z is not None and float(view.from_value(best[0])) + 2 * view.tolerance + 1e-5 >= Z
    _demand(below, formulation, problem, f"the relaxation is {Z}, above the optimum {best[0]}.")


def check_every_pruning(formulation: Formulation, problem: Problem) -> None:
    """Every pruning within the budget is a feasible point and decodes to itself.

    The point has the pruning's value. Other prunings violate a row.
    """
    b, view = built(formulation, problem), formulation.presolved_view(problem)
    values = dict.fromkeys(p.kept.tobytes() for p in all_prunings(unpruned(problem)))
    values.update({p.kept.tobytes(): value for value, p in scored(problem)})
    for pruning in all_prunings(unpruned(problem)):
        for v in b.matrix.columns:  # no value of a previous check may remain
            v.set_value(None, skip_validation=True)
        formulation.encode(pruning, b.model)
        x = b.matrix.values()
        value, feasible = values[pruning.kept.tobytes()], b.matrix.violation(x) <= FEASIBLE
        _demand(
            feasible == (value is not None),
            formulation,
            problem,
            f"{kept(pruning)} is encoded as {'a' if feasible else 'no'} feasible point.",
        )
        if value is not None:
            _demand(
                _same(view, b.matrix.objective(x), value),
                formulation,
                problem,
                f"{kept(pruning)} is encoded with {b.matrix.objective(x)}.",
            )
        back = formulation.decode(b.model)
        _demand(
            np.array_equal(back.kept, pruning.kept),
            formulation,
            problem,
            f"{kept(pruning)} is decoded as {kept(back)}.",
        )


def check_budget(formulation: Formulation, problem: Problem) -> None:
    """With a budget of exactly what a pruning costs it is a feasible point; with less it is none.

    A problem without a budget is left alone.
    """
    task: Any = problem.task
    if task.max_cost is None:
        return
    for pruning, cost in _costly(problem):
        for budget, fits in ((cost, True), (cost - TIGHTER, False)):
            if budget < 0:
                continue
            b = built(formulation, replace(problem, task=replace(task, max_cost=budget)))
            formulation.encode(pruning, b.model)
            feasible = b.matrix.violation(b.matrix.values()) <= FEASIBLE
            _demand(
                feasible == fits,
                formulation,
                problem,
                f"with a budget of {budget}, {kept(pruning)}, which costs {cost}, is encoded as {'a' if feasible else 'no'} feasible point.",
            )


def _costly(problem: Problem) -> list[tuple[Ensemble, Fraction]]:
    """The most expensive pruning and one of middle cost, with their costs."""
    task: Any = problem.task
    found = [
        (p, task.parts(p.routes(problem.dataset), problem.dataset)[1])
        for p in islice(all_prunings(unpruned(problem)), 64)
    ]
    found.sort(key=lambda pair: (pair[1], pair[0].kept.tobytes()))
    return [found[len(found) // 2], found[-1]]


#: All checks by name.
PRUNING_CHECKS: dict[str, Check] = {
    "components_documented": check_components_documented,
    "sizes": check_sizes,
    "repeatable": check_repeatable,
    "optimum": check_optimum,
    "relaxation": check_relaxation,
    "every_pruning": check_every_pruning,
    "budget": check_budget,
}


def check_pruning_formulation(
    formulation: Formulation, problems: Mapping[str, Problem] | None = None, *, level: str = "quick"
) -> dict[str, str]:
    """Run every check on every problem that the formulation takes."""
    problems = default_pruning_problems(level) if problems is None else problems
    skipped = {name: why for name, p in problems.items() if (why := formulation.unsupported(p))}
    if len(skipped) == len(problems):
        raise AssertionError(
            f"{formulation.label} takes none of the problems: {'; '.join(sorted(set(skipped.values())))}"
        )
    for name in problems.keys() - skipped.keys():
        for run in PRUNING_CHECKS.values():
            run(formulation, problems[name])
    return skipped


# -- deleting constraints --------------------------------------------------------------------------


def unnoticed_constraints(
    formulation: Formulation, problems: Mapping[str, Problem] | None = None
) -> list[str]:
    """Named constraints whose deletion no check of the optimum notices, on any problem."""
    silent: dict[str, bool] = {}
    for problem in (default_pruning_problems() if problems is None else problems).values():
        if formulation.unsupported(problem):
            continue
        b = built(formulation, problem)
        for label in dict.fromkeys(b.matrix.row_labels):
            if silent.setdefault(label, True):
                silent[label] = not _noticed(formulation, problem, without(b.matrix, label))
    return sorted(label for label, still in silent.items() if still)


def _noticed(formulation: Formulation, problem: Problem, matrix: Any) -> bool:
    try:
        return optimum_fault(formulation, problem, minimise(matrix)) is not None
    except MilpTreesError:  # the point is no pruning
        return True


# -- words -----------------------------------------------------------------------------------------


def kept(pruning: Ensemble) -> str:
    """The splits that a pruning keeps, as text."""
    return f"the pruning that keeps {np.flatnonzero(pruning.kept).tolist()}"


def _demand(holds: bool, formulation: Formulation, problem: Problem, claim: str) -> None:
    if not holds:
        name = problem.dataset.source.get("testing")
        where = name or f"{problem.task.spec()} on {unpruned(problem).trees_json()}"
        raise AssertionError(f"{formulation.label} on {where}: {claim}")
