"""How far any given predictor is from the best one: its value, a proven bound, and the gap."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.errors import DataError, SolverFailure
from milp_trees.limits import Limits
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.rule_list import Rule, RuleList
from milp_trees.models.tree import Tree
from milp_trees.problem import Problem
from milp_trees.questions import Best
from milp_trees.results.json import json_safe, plain_number, ratio_text
from milp_trees.results.result import Result, Status
from milp_trees.results.strict_json import read_json
from milp_trees.spaces.rule_lists import RuleLists
from milp_trees.spaces.trees import Trees
from milp_trees.study.predict import read_result
from milp_trees.study.solving import answer
from milp_trees.tasks.base import Value

if TYPE_CHECKING:
    from milp_trees.models.ensemble import Ensemble

#: Predictors by the name of their space, for sentences.
KINDS: dict[str, tuple[str, type]] = {
    Trees.name: ("tree", Tree),
    RuleLists.name: ("rule list", RuleList),
}


@dataclass(frozen=True, eq=False)
class Gap:
    """The gap between a predictor and the best one; `gap_of` makes it.

    Parameters
    ----------
    problem : Problem
    model : Tree, RuleList or Ensemble
    value : Value
        The predictor's value, recomputed on the data.
    violations : tuple of str
        A sentence per limit or constraint of the problem that the predictor violates.
    result : Result
        The answer of the method that proved the bound: its best predictor, and why it stopped.
    """

    problem: Problem
    model: Any
    value: Value
    violations: tuple[str, ...]
    result: Result

    @property
    def bound(self) -> float | None:
        """No predictor of the problem is better than this (natural units); None if none is known."""
        return self.result.bound

    @property
    def exact(self) -> Fraction | None:
        """`absolute` as a rational, if value and bound are exact."""
        bound, value = self.result.certificate.bound_exact, self.value.exact
        if bound is None or value is None:
            return None
        return value - bound if self.value.sense == "min" else bound - value

    @property
    def absolute(self) -> float | None:
        """How much better than the predictor a predictor of the problem can be, at most.

        It is 0 for an optimal one. A negative number means that the predictor is better than all
        that the problem allows; `violations` says what it violates.
        """
        if self.exact is not None:
            return float(self.exact)
        if self.bound is None:
            return None
        worse = self.value.number - self.bound
        return worse if self.value.sense == "min" else -worse

    @property
    def relative(self) -> float | None:
        """`absolute` as a share of the value; 0/0 is 0, and None stands for infinity."""
        if self.absolute is None:
            return None
        if not self.absolute:
            return 0.0
        return self.absolute / abs(self.value.number) if self.value.number else None

    @property
    def optimum(self) -> Value | None:
        """The best value, if it is proven."""
        return self.result.value if self.result.optimal else None

    @cached_property
    def optimal(self) -> bool:
        """Whether the predictor is allowed and proven to be the best."""
        scale = self.problem.scale
        if self.violations or self.bound is None:
            return False
        own = Fraction(self.value.number) if self.value.exact is None else self.value.exact
        bound = self.result.certificate.bound_exact
        left = scale.from_value(own) - scale.from_value(self.bound if bound is None else bound)
        return bool(left < max(scale.absolute_gap, scale.tolerance))

    def to_json(self) -> dict[str, Any]:
        """The object that `milp-trees gap --json` prints."""
        best, proof = self.result, self.result.certificate
        optimum = self.optimum
        plain: dict[str, Any] = json_safe(
            {
                "value": plain_number(self.value.number, self.value.exact),
                "exact": ratio_text(self.value.exact),
                "unit": self.value.unit,
                "sense": self.value.sense,
                "bound": plain_number(proof.bound, proof.bound_exact),
                "bound_exact": ratio_text(proof.bound_exact),
                "proved_by": proof.proved_by,
                "gap": plain_number(self.absolute, self.exact),
                "gap_exact": ratio_text(self.exact),
                "relative_gap": self.relative,
                "optimal": self.optimal,
                "optimum": None if optimum is None else plain_number(optimum.number, optimum.exact),
                "violations": list(self.violations),
                "model": self.model.to_json(),
                "best": None if best.predictor is None else best.predictor.to_json(),
                "status": best.status.value,
                "limit": None if best.limit is None else best.limit.value,
                "seconds": best.seconds,
                "problem": self.problem.spec(),
            }
        )
        return plain

    def to_text(self) -> str:
        """Value, bound, gap, and the best predictor, a line each."""
        best, lines = self.result, [f"value     {self.value}"]
        if self.bound is None:
            lines.append(f"bound     none is known: {best.message or best.status.value}")
        else:
            stopped = f", {best.limit.value} limit" if best.limit else ""
            proven = "the optimum" if best.optimal else f"no model is better{stopped}"
            lines.append(
                f"bound     {self.bound:.10g} {self.value.unit}, {proven}; proven by {best.certificate.proved_by}"
            )
            share = "" if self.relative is None else f" ({100 * self.relative:.4g} % of the value)"
            state = "; the model is optimal" if self.optimal else ""
            lines.append(f"gap       {self.absolute:.10g} {self.value.unit}{share}{state}")
        lines += [f"violates  {sentence}" for sentence in self.violations]
        if best.predictor is not None and not self.optimal:
            lines += ["", f"{best.value} by {best.method}:", best.predictor.to_text()]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        gap = "unknown gap" if self.absolute is None else f"gap {self.absolute:.10g}"
        return f"<{self.value}, bound {'unknown' if self.bound is None else f'{self.bound:.10g}'}, {gap}{', optimal' if self.optimal else ''}>"


def gap_between(
    model: Tree | RuleList | Ensemble | str,
    problem: Problem,
    method: str | Method | None,
    limits: Limits,
    progress: Progress | None = None,
) -> Gap:
    """The gap of a predictor; see `milp_trees.gap_of`.

    Parameters
    ----------
    model : Tree, RuleList, Ensemble or str
        A text is a rule list as `RuleList.to_text` writes it.
    problem : Problem
        Its question is ignored.
    method : str, Method or None
        None: the default method of the problem.
    limits : Limits
    progress : callable, optional
        Called with every `TracePoint`.

    Returns
    -------
    Gap

    Raises
    ------
    DataError
        The predictor is of another kind than those of the problem, or names features or actions
        that the data do not have.
    SolverFailure
        The method failed.
    """
    problem = replace(problem, question=Best())
    if isinstance(model, str):
        model = _from_text(model, problem)
    noun, kind = KINDS.get(problem.space.name, ("pruned ensemble", object))
    if not isinstance(model, kind):
        raise DataError(
            f"The problem is about models of the kind {noun}, and a {type(model).__name__} was given; state a problem with the space of the model, or give another model."
        )
    fitting = _with_actions(model, problem.task.actions(problem.dataset))
    value, candidate = problem.value(fitting), _of_candidates(fitting, problem)
    wrong = problem.violations(candidate)
    start = None if wrong else candidate
    result = answer(problem, method, limits, start=start, progress=progress)
    if result.status is Status.ERROR:
        raise SolverFailure(f"{result.method} failed: {result.message}")
    return Gap(problem, fitting, value, tuple(wrong), result)


def read_model(path: str | Path, problem: Problem) -> Any:
    """The predictor in a file, for `gap_between`.

    Parameters
    ----------
    path : str or Path
        A result that a command wrote with --out, or the JSON form of a predictor; or the text of a
        rule list.
    problem : Problem

    Raises
    ------
    DataError
        The file cannot be read, or holds no predictor of the problem's space.
    """
    remedy = (
        "give a result that was written with --out, a predictor's JSON, or the text of a rule list"
    )
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error}); {remedy}.") from None
    if text.lstrip()[:1] not in ("{", "["):
        return _from_text(text, problem)
    stored = read_json(path, remedy)
    if not isinstance(stored, dict) or "kind" not in stored:
        stored = read_result(path)["predictor"]
    try:
        return problem.space.read(stored)
    except (KeyError, TypeError, ValueError) as error:
        noun = KINDS.get(problem.space.name, ("pruned ensemble", None))[0]
        raise DataError(
            f"{path} holds no {noun}, which the problem is about, or a damaged one ({type(error).__name__}: {error}); {remedy}."
        ) from error


def _from_text(text: str, problem: Problem) -> RuleList:
    if not isinstance(problem.space, RuleLists):
        raise DataError(
            f"A text is read as a rule list, and the problem is about {problem.space.name}; give the model as JSON, or ask for rule lists (--rule-lists)."
        )
    data = problem.dataset
    known = problem.space.table(data).antecedents
    return RuleList.from_text(text, data, problem.task.actions(data), known)


def _of_candidates(model: Any, problem: Problem) -> Any:
    """The predictor with antecedents of the problem in place of equal ones.

    Of antecedents that hold on the same rows, the problem has one (`Antecedents`). A list that asks
    for another of them is the same model, if it has the same value.
    """
    if not isinstance(model, RuleList):
        return model
    table = problem.space.table(problem.dataset)  # type: ignore[attr-defined]

    def candidate(antecedent: Any) -> tuple[Any, bool]:
        if antecedent not in table.index:
            held = antecedent.evaluate(problem.dataset)[:, None]
            equal = np.flatnonzero((held == table.X).all(axis=0))
            antecedent = table.antecedents[equal[0]] if len(equal) else antecedent
        return antecedent, False

    mapped = model.map_tests(candidate)
    return mapped if problem.value(mapped) == problem.value(model) else model


def _with_actions(model: Any, actions: tuple[Any, ...]) -> Any:
    """The predictor with the actions of the task, which it may name in another order."""
    own = [str(a) for a in model.actions] if hasattr(model, "actions") else []
    known = [str(a) for a in actions]
    if own == known or not own:
        return model
    strange = [name for name in own if name not in known]
    if strange:
        raise DataError(
            f"The model chooses {', '.join(map(repr, strange))}; the actions of the problem are {', '.join(known)}."
        )
    to = [known.index(name) for name in own]
    if isinstance(model, RuleList):
        rules = tuple(Rule(rule.antecedent, to[rule.action]) for rule in model.rules)
        return RuleList(rules, to[model.default], actions)

    def moved(node: Node) -> Node:
        if isinstance(node, Leaf):
            return Leaf(to[node.action])
        return Branch(node.test, moved(node.left), moved(node.right))

    return Tree(moved(model.root), actions)
