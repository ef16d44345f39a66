r"""`corels`: the published branch and bound for optimal rule lists, for all sums of action costs.

A *prefix* is the beginning of a list. Its extensions add one rule each; a queue says which prefix
is extended next, and bounds say which need not be (Angelino, Larus-Stone, Alabi, Seltzer, Rudin
2018, *Learning certifiably optimal rule lists for categorical data*).

**Notation.** The rows are classes of equal rows with summed costs. :math:`r_{ia}\ge0` is the regret
of action a in class i: its cost minus the cheapest one; :math:`w_i=\max_a r_{ia}`. For a set S of
classes :math:`r_a(S)`, :math:`w(S)` are sums, and :math:`r(S)=\min_a r_a(S)` is what a rule that
captures S costs. A rule with antecedent j has the price :math:`\lambda_j\ge0` (its split cost and
the cost of a leaf), :math:`\lambda=\min_j\lambda_j`. :math:`U(d)` are the classes that a prefix d
does not capture, and :math:`R^c` is the incumbent. Up to a constant, the objective of the list that
ends with d is :math:`b(d)+r(U(d))` with

.. math:: b(d)=\sum_{k}r(S_k)+\sum_k\lambda_{j_k},

the sums being over its rules, which capture :math:`S_1,S_2,\dots`. For misclassification and
classes of size 1 these are the published quantities.

**Bounds**, each with a switch; those in brackets are implied by others and cost nothing.

- `hierarchical`: every list that begins with d costs at least :math:`b(d)`; with
  :math:`b(d)\ge R^c` it is dropped.
- `look_ahead`: every longer one costs at least :math:`b(d)+\lambda`.
- `equivalent_points`: all rows of a class get one action. The cheapest costs of classes are part
  of the constant, so :math:`b` contains this bound; without the switch, what each row costs at
  least by itself takes their place in the classes of :math:`U(d)`.
- `length_bound`: a list with k rules costs at least the k smallest prices, at first and with every
  new incumbent. (Implied by `hierarchical`.)
- `support`: a rule that captures S with :math:`w(S)<\lambda_j` is in no optimal list: without it
  the rows of S cost at most :math:`w(S)` more.
- `correct_support`: the same with :math:`w(S)-r(S)<\lambda_j`. Proof: take the rule out of a list.
  Each class of S now gets some action, which costs at most :math:`w_i` instead of
  :math:`r_{ia}`, a being the action of the rule; later rules and the default rule capture the
  same classes as before and more. So the list costs at most :math:`w(S)-r(S)-\lambda_j<0` more,
  it is shorter, and its rules capture no fewer rows. For misclassification :math:`w(S)-r(S)` is the
  number of rows that the rule classifies correctly, less those of the minority of their class of
  equal rows; so this is the published bound, or a stronger one if rows are equal.
- `rejection`: :math:`w(S)` and :math:`w(S)-r(S)=\max_a\sum_S(w_i-r_{ia})` grow with S, so an
  antecedent that one of the two excludes after d is excluded after every longer prefix.
- `similar_support`: for prefixes d, D let :math:`\omega=w(U(d)\setminus U(D))`. The same rules after
  d cost at most :math:`\omega+b(d)-b(D)` more than after D; so D is dropped if
  :math:`b(D)>b(d)+\omega`. Here d is D without one of its rules, so all later rules capture at
  least as many rows after d. (`correct_support` is the case without the last rule. Pairs of
  extensions of one prefix were tried too; they excluded nothing on the measured data.)
- `map`: two prefixes with equal :math:`U` have equal completions (equivalent support); the one with
  the larger b is dropped, and if it has been extended already, all its extensions with it.
  `captured` finds all of them, `permutations` only those with the same antecedents. With
  `max_length` a prefix replaces another one only if it is not longer.
- Maximum support (the classes left by a rule support a further one) has no switch: where
  :math:`w(U)<\lambda_j` after the rule, b is larger than the cost of the list that stops before the
  rule and gives its action to all the rest. That list was the incumbent at best, so `hierarchical`
  drops the prefix.
- `collection`: prefixes that the incumbent excludes, and dominated ones, are removed from memory
  when it has to grow, and after an improvement that follows a doubling.

All arithmetic is in integers, and inequalities of exchange arguments are strict, so that no two of
them can exclude each other's lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.kit.compile import compile_once
from milp_trees.engines.kit.run import Run
from milp_trees.lists.engines.corels.switches import CorelsOptions
from milp_trees.lists.recover import cheapest_list
from milp_trees.lists.space import RuleLists
from milp_trees.methods.claims import Claims
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.results.result import Result
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


@register
@dataclass(frozen=True)
class Corels(CorelsOptions, Method):
    """Branch and bound over prefixes of rule lists.

    Parameters
    ----------
    policy : {"bound", "objective", "curiosity", "breadth", "depth", "stochastic"}
        Which prefix is extended next: one with the smallest lower bound, the best list so far, the
        smallest curiosity (cost per captured row), the shortest, the longest, or a random one. Ties
        go to the smaller bound.
    map : {"captured", "permutations", "none"}
        Which equivalent prefixes are found.
    seed : int, default=0
        Of the policy `stochastic`.
    hierarchical, look_ahead, length_bound, support, correct_support, rejection, equivalent_points, similar_support, collection : bool
        The bounds; see the module. The optimum does not depend on them.

    References
    ----------
    See the module.
    """

    name: ClassVar[str] = "corels"  # type: ignore[misc]
    title: ClassVar[str] = "Branch and bound over prefixes of rule lists (CORELS), compiled"
    space = RuleLists
    verification_rank: ClassVar[int] = 20
    default_rank: ClassVar[int | None] = 40
    reference_rank: ClassVar[int | None] = 20
    proves: ClassVar[bool] = True

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.view(CostMatrix)
        if (view.split_costs + view.leaf_cost < 0).any():
            return "corels takes rules that cost at least 0; some cost less."
        from milp_trees.lists.engines.corels.prepare import surely_fits

        if surely_fits(view):
            return None
        try:
            self._prepare(problem)
        except Unsupported as why:
            return str(why)
        return None

    def _prepare(self, problem: Problem) -> Any:
        """The reduced view, and the arrays of a search."""
        from milp_trees.lists.engines.corels.prepare import prepare

        view, space = problem.presolved_view(merge_rows=False), problem.space_as(RuleLists)
        return view, prepare(view, space.max_length, space.min_samples_rule, self)

    def warm_up(self) -> None:
        """Compile the kernels."""

        def work() -> None:
            from milp_trees.lists.engines.corels.run import search_tiny

            search_tiny()

        compile_once(self.name, work)

    def search(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None
    ) -> Result:
        from milp_trees.lists.engines.corels.run import PrefixSearch

        clock = Clock()
        with clock("prepare"):
            view, prepared = self._prepare(problem)
        run = Run(self.label, problem, limits, progress, clock)
        run.watch.has_answer()  # from the first moment on there is at least the list without rules

        def value(objective: int) -> float:
            return float(view.to_value(objective))

        with clock("solve"):
            search = PrefixSearch(prepared, limits, run.watch, value, self.collection)
            if start is not None:
                placed = problem.space_as(RuleLists).simplify(start, view)
                antecedents = [view.index[test] for test in placed.splits]
                given = view.objective(cheapest_list(view, antecedents)) - prepared.constant
                if given <= search.best:
                    search.offer(given, antecedents)

            def report(bound: int) -> None:
                run.note(value(prepared.constant + search.best), value(prepared.constant + bound))

            search.go(report)
            run.limit = search.limit
            best = cheapest_list(view, search.antecedents)
        return run.result(
            best,
            view.to_value(prepared.constant + search.bound),
            proven=search.bound == search.best,  # a run that is stopped may know it too
            model_size=search.sizes,
            nodes=search.sizes["prefixes"],
            history=search.moments.columns,
        )

    def prove(self, problem: Problem, result: Result, limits: Limits) -> Claims:
        from milp_trees.lists.engines.dp_lists.proofs import list_claims

        return list_claims(problem, result, limits)
