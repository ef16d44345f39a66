"""`Gap`: the value of a predictor, a proven bound on all values, and the difference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from milp_trees.problems.problem import Problem
from milp_trees.results.json import json_safe, plain_number, ratio_text
from milp_trees.results.result import Result, bound_of
from milp_trees.tasks.base import Value
from milp_trees.tasks.comparing import meets


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
        """No predictor of the problem is better than this; None if no bound is known."""
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
        bound = bound_of(self.result)
        if self.violations or bound is None:
            return False
        return meets(bound, self.value, self.problem.scale)

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

    def _said(self, number: float | None) -> str:
        """A number of the task's values with its unit."""
        return str(replace(self.value, number=number or 0.0, exact=None))

    def to_text(self) -> str:
        """Value, bound, gap, and the best predictor, a line each."""
        best, lines = self.result, [f"value     {self.value}"]
        if self.bound is None:
            lines.append(f"bound     none is known: {best.message or best.status.value}")
        else:
            stopped = f", {best.limit.value} limit" if best.limit else ""
            proven = "the optimum" if best.optimal else f"no model is better{stopped}"
            lines.append(
                f"bound     {self._said(self.bound)}, {proven}; proven by {best.certificate.proved_by}"
            )
            share = "" if self.relative is None else f" ({100 * self.relative:.4g} % of the value)"
            state = "; the model is optimal" if self.optimal else ""
            lines.append(f"gap       {self._said(self.absolute)}{share}{state}")
        lines += [f"violates  {sentence}" for sentence in self.violations]
        if best.predictor is not None and not self.optimal:
            lines += ["", f"{best.value} by {best.method}:", best.predictor.to_text()]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        gap = "unknown gap" if self.absolute is None else f"gap {self.absolute:.10g}"
        return f"<{self.value}, bound {'unknown' if self.bound is None else f'{self.bound:.10g}'}, {gap}{', optimal' if self.optimal else ''}>"
