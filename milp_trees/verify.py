"""`verify`: does a result stand up to recomputation? Nothing the result says is believed that can be derived again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees._claims import as_fraction, check_claims
from milp_trees.data.dataset import Test
from milp_trees.dinkelbach import one_step
from milp_trees.errors import DataError, MilpTreesError, UnknownName, VerificationError
from milp_trees.models.ensemble import Ensemble
from milp_trees.problem import Problem
from milp_trees.registry import registry
from milp_trees.report import SCHEMA, result_from_json, result_json
from milp_trees.result import Result, Status
from milp_trees.solver import Limits
from milp_trees.space import Space, Trees
from milp_trees.space_pruned import PrunedEnsembles
from milp_trees.study.agreement import base_name, crosses, units
from milp_trees.tasks import from_spec

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.tree import Tree

#: Methods that may derive a bound again, in this order.
DERIVERS = ("dp", "dp-oracle", "enumerate", "enumerate-counts", "pareto", "min-cut", "enumerate-prunings", "ip3-closure@highs", "state-flow@highs")
#: A state-flow model with more columns than this is not built to check a result.
MOST_COLUMNS = 400_000
#: What a stored result must have.
NEEDED = """
method status limit objective unit sense exact bound bound_exact gap proved_by checked agrees seconds times sizes root_bound root_gap nodes
start scores message predictor trace options versions problem
"""


def verify(
    result: Result | Mapping[str, Any], dataset: Dataset | None = None, *, path: str | Path | None = None, time_limit: float = 60.0
) -> list[str]:
    """Recompute what a result claims.

    Parameters
    ----------
    result : Result or mapping
        A result, or the JSON object that was made from one.
    dataset : Dataset, optional
        The data, where the result does not say where they came from (or to save reading them).
    path : path, optional
        Where the data file is now.
    time_limit : float
        Seconds for deriving the bound with another method.

    Returns
    -------
    list of str
        A sentence per thing that was checked, and who claims what could not be.

    Raises
    ------
    VerificationError
        Something was altered or is wrong; the first such thing, in one sentence.
    """
    if isinstance(result, Result):
        return _recompute(result_json(result), result.problem, False, path) + _derive_again(result, time_limit)
    with _damage():
        data = _complete(result)
        problem = problem_of(data["problem"], dataset, path)
        checked = ["The data were read again and are those of the result.", *_recompute(data, problem, dataset is None, path)]
        read = result_from_json(data, problem)
    return checked + _derive_again(read, time_limit)


def _recompute(data: Mapping[str, Any], problem: Problem, of_file: bool, path: str | Path | None) -> list[str]:
    return _check_value(data, problem) + check_claims(data, problem) + _check_scores(data, problem, of_file, path)


@contextmanager
def _damage() -> Iterator[None]:
    """One sentence for a stored result whose fields are not of their kinds."""
    try:
        yield
    except MilpTreesError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise VerificationError(f"The result is damaged: {what}. Solve again.") from error


def verify_file(file: str | Path, **options: Any) -> list[str]:
    """`verify` for a file that `--out` or `--json` wrote; a list of results is checked one by one."""
    try:
        data = json.loads(Path(file).read_text())
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise DataError(f"{file} is not JSON; give a file that solve or compare wrote with --out or --json.") from None
    if isinstance(data, dict) and data.get("kind") == "pruning-curve":
        from milp_trees.verify_curve import verify_curve

        with _damage():
            return verify_curve(data, options.get("dataset"), options.get("path"))
    if not isinstance(data, list):
        return verify(data, **options)
    if not data:
        raise VerificationError(f"{file} holds no result.")
    return [f"{row['method']}: {line}" for row in data for line in verify(row, **options)]


def problem_of(spec: Mapping[str, Any], dataset: Dataset | None = None, path: str | Path | None = None) -> Problem:
    """The problem that a result's `problem` describes, its data read again.

    Raises
    ------
    VerificationError
        The data are not those the result was made from.
    """
    from milp_trees.data.load import reload

    data = spec["data"]
    if dataset is None:
        dataset, other = reload(data, path)
        if (data.get("split") or {}).get("part") == "test":
            assert other is not None
            dataset = other
        found = dataset.source.get("sha256")
        if found != data.get("sha256"):
            raise VerificationError(
                f"The data file {path or data['path']} has changed: its SHA-256 is {found}, the result was made from {data.get('sha256')}."
            )
    if dataset.sha256 != data["arrays_sha256"]:
        raise VerificationError("The data are not those of the result: tests, target or another array differ.")
    if spec["question"] != "best":
        raise VerificationError(f"The result's question is {spec['question']!r}; only 'best' can be verified.")
    return Problem(dataset, from_spec(spec["task"]), _space(spec["space"]))


def _space(spec: Mapping[str, Any]) -> Space:
    """The space that `space.spec()` described."""
    options = dict(spec)
    name = options.pop("name")
    if name == Trees.name:
        return Trees(**options)
    if name == PrunedEnsembles.name:
        return PrunedEnsembles(Ensemble.from_json(options["ensemble"]))
    raise VerificationError(f"The result's space is {name!r}; trees and pruned ensembles can be verified.")


# -- the value -----------------------------------------------------------------------------------------------


def _complete(data: Any) -> Mapping[str, Any]:
    needed = set(NEEDED.split())
    if not isinstance(data, Mapping):
        raise VerificationError("This is not a result: a JSON object is expected.")
    missing = sorted(needed - set(data))
    if missing:
        raise VerificationError(f"This is not a result of milp-trees, or it was cut: it has no {missing[0]!r}.")
    if data.get("schema") != SCHEMA:
        raise VerificationError(f"The result has the layout {data.get('schema')!r}; this version of milp-trees reads layout {SCHEMA}.")
    for name in ("method", "unit", "sense", "status", "message"):
        if not isinstance(data[name], str):
            raise VerificationError(f"The result is damaged: {name} must be text; it is {data[name]!r}.")
    if data["agrees"] not in (True, False, None):
        raise VerificationError(f"The result is damaged: agrees must be true, false or null; it is {data['agrees']!r}.")
    return data


def _check_value(data: Mapping[str, Any], problem: Problem) -> list[str]:
    """The predictor is one of this problem, feasible, and has the value that is claimed."""
    _same("unit", data["unit"], problem.task.unit)
    _same("sense", data["sense"], problem.task.sense)
    if data["predictor"] is None:
        for name in ("objective", "exact"):
            if data[name] is not None:
                raise VerificationError(f"The result states {name} {data[name]!r} but holds no predictor.")
        return []
    tree = _tree(data["predictor"], problem) if isinstance(problem.space, Trees) else problem.space.read(data["predictor"])
    wrong = problem.violations(tree)
    if wrong:
        raise VerificationError(f"The predictor is not feasible: {wrong[0]}")
    value = problem.value(tree)
    exact = None if data["exact"] is None else as_fraction(data["exact"], "exact")
    if value.exact is not None or exact is not None:
        _same("exact", data["exact"], None if value.exact is None else f"{value.exact.numerator}/{value.exact.denominator}")
    if data["objective"] is None or abs(float(data["objective"]) - value.number) > 1e-12 * max(1.0, abs(value.number)):
        raise VerificationError(f"The result states the objective {data['objective']!r}, but its predictor has {value.number!r} {value.unit}.")
    return [f"The predictor keeps every limit and side constraint, and its recomputed value is {value}."]


def _tree(stored: Mapping[str, Any], problem: Problem) -> Tree:
    """The stored tree; what it says twice (labels, names of tests) must say the same."""
    from milp_trees.models.tree import Tree

    try:
        tree = Tree.from_json(stored)
    except (KeyError, TypeError, ValueError):
        raise VerificationError("The predictor is damaged: a node is neither a leaf nor a test with two children.") from None
    strange = problem.task.strange_actions(tree.actions, problem.dataset)
    if strange:
        raise VerificationError(f"The predictor is for another problem: {strange}")
    actions = tree.actions

    def walk(node: Mapping[str, Any]) -> None:
        if "action" in node:
            k = int(node["action"])
            if not 0 <= k < len(actions) or node.get("label") != tree.actions[k]:
                raise VerificationError(f"A leaf of the predictor is labelled {node.get('label')!r}, but its action {k} is another.")
            return
        if node.get("name") != Test(**node["test"]).name:
            raise VerificationError(f"A node of the predictor is called {node.get('name')!r}, but it tests {Test(**node['test']).name!r}.")
        walk(node["false"])
        walk(node["true"])

    walk(stored["root"])
    known = set(problem.dataset.tests)
    unknown = [t for t in tree.splits if t not in known]
    if unknown:
        raise VerificationError(f"The predictor tests {unknown[0].name!r}, which is no test of the data.")
    return tree


# -- scores and bound -----------------------------------------------------------------------------------------


def _check_scores(data: Mapping[str, Any], problem: Problem, from_file: bool, path: str | Path | None) -> list[str]:
    """Train and test scores are those of the predictor."""
    own = problem.beside(problem.space.read(data["predictor"])) if data["predictor"] is not None else {}
    for name, value in own.items():
        _check_score(data, name, value)
    if set(data["scores"]) <= set(own) or not from_file or data["predictor"] is None:
        return [f"{', '.join(own)} were recomputed."] if own else []
    from milp_trees.data.load import reload
    from milp_trees.study.run import scores

    test = reload(data["problem"]["data"], path)[1]
    if test is None:
        raise VerificationError("The result states test scores, but its data were not split.")
    for name, value in scores(problem, problem.space.read(data["predictor"]), test).items():
        _check_score(data, name, value)
    return ["Train and test scores were recomputed."]


def _check_score(data: Mapping[str, Any], name: str, value: float) -> None:
    if name not in data["scores"] or abs(data["scores"][name] - value) > 1e-9 * max(1.0, abs(value)):
        raise VerificationError(f"The stated score {name} is {data['scores'].get(name)!r}; recomputed it is {value!r}.")


def _derive_again(result: Result, time_limit: float) -> list[str]:
    """Solve with a method that did not make the result; what it proves must not contradict."""
    if result.status is Status.UNSUPPORTED or (result.bound is None and result.value is None and result.status is not Status.INFEASIBLE):
        return [f"The result claims nothing: {result.status.value}. {result.message}".strip()]
    name = _deriver(result)
    claimed = f"The bound is claimed by {result.certificate.proved_by}"
    again = ""
    if name is None and result.method in registry.classes("methods") and registry.method(result.method).exact:
        name, again = result.method, " itself, run anew, as no other method here can"
    if name is None:
        return [f"{claimed}; no other method here can derive it again."] if result.certificate.proved_by else ["No bound is claimed."]
    try:
        other = registry.method(name).run(result.problem.fresh(), Limits(time=time_limit))
    except (DataError, UnknownName):
        raise
    except MilpTreesError as error:
        return [f"{claimed}; {name}{again} could not derive it again: {error}"]
    _contradiction(result, other, name)
    if not other.optimal and other.status is not Status.INFEASIBLE:
        return [f"{claimed}; {name}{again} did not finish within {time_limit:g} s, and nothing it found contradicts."]
    if other.status is Status.INFEASIBLE:
        return [f"{name} proves too that no tree satisfies the constraints."]
    verdict = "is optimal" if other.value is not None and result.value is not None and _equal(result, other) else "and its bound are possible"
    return [f"Derived again by {name}{again}: the optimum is {other.value}, so the result's value {verdict}."]


def _deriver(result: Result) -> str | None:
    """The first method that supports the problem and did not make the result; in the end the same formulation on another solver."""
    from milp_trees.study.estimate import named_formulation

    own, own_solver = base_name(result.method), result.method.partition("@")[2]
    solvers: dict[str, Any] = registry.classes("solvers")
    others = [s for s, c in solvers.items() if s != own_solver and "mip" in c.capabilities and c().availability().found]
    models = dict.fromkeys(("state-flow", own) if own_solver else ("state-flow",))
    for name in (*DERIVERS, *(f"{model}@{s}" for model in models for s in others)):
        formulation, _, solver = name.partition("@")
        group = "formulations" if solver else "methods"
        mine = formulation == own and solver == own_solver
        if mine or formulation not in registry.classes(group) or registry.method(name).unsupported(result.problem):
            continue
        if solver:
            model, asked = named_formulation(formulation), one_step(result.problem)
            if model.sizes(model.instance(asked), asked.space).variables > MOST_COLUMNS:
                continue
        return name
    return None


def _contradiction(result: Result, other: Result, name: str) -> None:
    scale = result.problem.scale
    mine = None if result.value is None else units(result.value, scale)
    theirs = None if other.value is None else units(other.value, scale)
    if result.status is Status.INFEASIBLE and theirs is not None:
        raise VerificationError(f"The result says that nothing is feasible, but {name} finds a tree of value {other.value}.")
    if other.status is Status.INFEASIBLE and mine is not None:
        raise VerificationError(f"{name} proves that nothing is feasible, but the result holds a tree.")
    if result.optimal and other.optimal and not _equal(result, other):
        raise VerificationError(f"The result calls {result.value} optimal; {name} proves {other.value}.")
    for what, stated in (("bound", result.certificate.bound_exact or result.bound), ("root bound", result.root_bound)):
        if stated is not None and crosses(scale.from_value(stated), theirs, scale):
            raise VerificationError(f"The {what} {float(stated):.12g} is wrong: {name} finds a tree of value {other.value}.")
    if other.bound is not None and crosses(scale.from_value(other.certificate.bound_exact or other.bound), mine, scale):
        raise VerificationError(f"{name} proves that no tree is better than {other.bound:.12g}, but the result has {result.value}.")


def _equal(result: Result, other: Result) -> bool:
    scale = result.problem.scale
    assert result.value is not None
    assert other.value is not None
    return abs(units(result.value, scale) - units(other.value, scale)) <= scale.tolerance


# -- small things --------------------------------------------------------------------------------------------


def _same(name: str, stated: Any, expected: Any) -> None:
    if stated != expected:
        raise VerificationError(f"The result states {name} {stated!r}; recomputed it is {expected!r}.")


__all__ = ["problem_of", "verify", "verify_file"]
