"""Which thresholds a run searches: all of them where a proof can be expected, else a chosen set.

A dataset whose thresholds are open (`Binarizer(kind="auto")`) has all of them. A method for which
all are more than `work.ENOUGH` seconds of expected work, and every formulation, gets a set that is
chosen with the target in view: the thresholds of the optimal tree over all thresholds (of the
largest depth at which it can be had), of the greedy tree and of scikit-learn's over all thresholds,
of boosted stumps (McTavish et al. 2022, "Fast sparse decision tree optimization via reference
ensembles"), and quantiles. So the best model of the set is never worse than these trees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from milp_trees.common.compiling import interruptible
from milp_trees.common.errors import DataError
from milp_trees.common.limits import NEVER, Deadline, Limit, Limits, Stopped
from milp_trees.data.rules import features_of, n_thresholds, rules_of
from milp_trees.methods.deadline import LATE, within
from milp_trees.methods.finish import Clock
from milp_trees.methods.threshold_sources import (
    GREEDY,
    Found,
    boosted,
    grown_over_all,
    optimal_tree,
    quantiles,
)
from milp_trees.methods.watch import sigint_scope
from milp_trees.methods.work import sizes_of
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import Best
from milp_trees.results.json import plain_number

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature, Dataset
    from milp_trees.methods.work import Searcher
    from milp_trees.tasks.base import Value

#: Largest shares of the time limit for the greedy trees over all thresholds, and for all of them.
GREEDY_SHARE, CHOOSING = 0.5, 0.25
#: Seconds that greedy trees may take under any time limit.
GREEDY_SECONDS = 0.2
#: Largest depth of the trees whose thresholds are taken for models that are no trees.
DEPTH = 4
#: Largest share of the free places that boosted stumps get; the rest is for quantiles.
BOOSTED_SHARE = 0.5
#: What a proof over a chosen set leaves open.
NOTE = "thresholds chosen from all of them, so another one may give a better tree"


@dataclass(frozen=True)
class Settled:
    """A problem whose thresholds are no longer open.

    Parameters
    ----------
    problem : Problem
    start : Tree or None
        The best tree over all thresholds that was found while choosing; it is in the space.
    grown : bool, default=False
        Whether the greedy trees over all thresholds were grown to their end, so that the set has
        their thresholds.
    limit : Limit or None
        What ended the choice, if anything did: the thresholds are still open then.
    """

    problem: Problem
    start: Any = None
    grown: bool = False
    limit: Limit | None = None


def is_open(problem: Problem) -> bool:
    """Whether a problem leaves open which thresholds are searched."""
    fixed = getattr(getattr(problem.space, "antecedents", None), "fixed", None)
    return problem.dataset.open_thresholds and fixed is None


def settled_within(
    problem: Problem,
    method: Searcher,
    limits: Limits,
    start: Any = None,
    clock: Clock | None = None,
) -> Settled:
    """The problem with the thresholds that a method gets, within the limits of its run."""
    if not is_open(problem):
        return Settled(problem)
    choice = Choice(
        getattr(start, "splits", ()),
        Deadline.after(limits.time and CHOOSING * limits.time),
        Deadline.after(limits.time and max(GREEDY_SHARE * limits.time, GREEDY_SECONDS)),
    )
    try:
        with (clock or Clock())("thresholds"), sigint_scope(), interruptible():
            return within(
                limits.time and max(limits.time, LATE),
                lambda: settled(problem, [method], choice),
            )
    except KeyboardInterrupt:
        limit = Limit.INTERRUPTED
    except Stopped as stopped:
        limit = stopped.limit
    best = choice.best(problem) if _for_trees(problem) is problem else None
    return Settled(problem, best, limit=limit)


@dataclass
class Choice:
    """How thresholds are chosen, and the trees over all of them that were found so far.

    Parameters
    ----------
    keep : iterable of BinaryFeature, optional
        Tests that are taken in any case, such as those of a start.
    deadline : Deadline, optional
        From this time on, no optimal tree over all thresholds is looked for.
    growing : Deadline, optional
        From this time on, greedy trees over all thresholds do not grow.
    """

    keep: Iterable[BinaryFeature] = ()
    deadline: Deadline = NEVER
    growing: Deadline = NEVER
    found: list[Found] = field(default_factory=list)

    def look(self, problem: Problem) -> bool:
        """Find trees over all thresholds; whether the greedy ones were grown to their end.

        They come first, so that they do not depend on the time that an optimal tree takes.
        """
        for one in grown_over_all(problem, self.growing):
            self.found.insert(0, one)
        grown = not self.growing.passed
        optimal = optimal_tree(problem, self.deadline)
        if optimal is not None:
            self.found.insert(0, optimal)
            if optimal.interrupted:  # the engine has taken the signal, which is meant for all
                raise KeyboardInterrupt
        return grown

    def best(self, problem: Problem) -> Any:
        """The best tree found that the problem allows; None if there is none."""
        best = best_of((one.tree for one in self.found), problem)
        return None if best is None else best[1]


def settled(problem: Problem, methods: Iterable[Searcher], choice: Choice | None = None) -> Settled:
    """The problem with the thresholds that all of some methods get."""
    if not is_open(problem):
        return Settled(problem)
    sizes = sizes_of(problem)
    most = min((method.most_tests(sizes) for method in methods), default=sizes.tests)
    if most >= sizes.tests or not n_thresholds(problem.dataset.features):
        return Settled(_with(problem, problem.dataset.with_(open_thresholds=False)))
    return choose(problem, most, choice)


def some_thresholds(problem: Problem, method: Searcher) -> Problem:
    """The problem with as many thresholds as a method gets, chosen in no time.

    It serves to find out whether the method takes such a problem.
    """
    most = method.most_tests(sizes_of(problem))
    requested = _for_trees(problem)
    kept = {t for t in problem.dataset.features if t.kind != "<="}
    _fill(kept, quantiles(requested), max(most, len(kept) + 1))
    return _with(problem, problem.dataset.choose(kept))


def choose(problem: Problem, most: int, choice: Choice | None = None) -> Settled:
    """The problem with about so many of its tests, chosen with its target in view."""
    choice = choice or Choice()
    requested = _for_trees(problem)
    grown, found = choice.look(requested), choice.found
    chosen = {t for t in problem.dataset.features if t.kind != "<="} | set(choice.keep)
    wanted = max(most, len(chosen) + 1)
    for one in found:
        chosen.update(one.tree.splits)
    names, free = [one.name for one in found], wanted - len(chosen)
    if free > 0 and not choice.deadline.passed:
        guessed = [t for t in boosted(requested) if t not in chosen]
        chosen.update(guessed[: max(1, int(BOOSTED_SHARE * free))])
        names += ["boosted stumps"] if guessed else []
    before = len(chosen)
    _fill(chosen, quantiles(requested), wanted)
    names += ["quantiles"] if len(chosen) > before else []
    same = requested is problem
    facts = {"from": names} | (_facts(found, problem, grown) if same else {})
    best = choice.best(problem) if same else None
    return Settled(_restricted(problem, chosen, facts), best, grown and same)


def _fill(chosen: set[BinaryFeature], tests: Iterable[BinaryFeature], most: int) -> None:
    """Add tests to a set until it has so many."""
    if len(chosen) >= most:
        return
    for test in tests:
        chosen.add(test)
        if len(chosen) >= most:
            return


def _for_trees(problem: Problem) -> Problem:
    """The problem of the best tree for the same task, which trees over all thresholds are for."""
    space: Any = problem.space
    if not isinstance(space, Trees):
        space = Trees(DEPTH, split_on_group=space.split_on_group)
    elif isinstance(problem.question, Best):
        return problem
    return Problem(problem.dataset, problem.task, space)


def _restricted(
    problem: Problem, chosen: Iterable[BinaryFeature], facts: Mapping[str, Any]
) -> Problem:
    """The problem with some of its tests; its data state how they were chosen."""
    data = problem.dataset.choose(chosen)
    counts = {**data.source.get("thresholds", {}), **facts}
    if counts["used"] == counts["of"]:
        return _with(problem, data.with_(source={**data.source, "thresholds": counts}))
    source = {**data.source, "thresholds": counts, "threshold_note": NOTE}
    if "binarizer" in source:
        source["binarizer"] = {**source["binarizer"], "threshold_note": NOTE}
    return _with(problem, data.with_(source=source))


def _with(problem: Problem, dataset: Dataset) -> Problem:
    """The problem with another dataset."""
    return Problem(dataset, problem.task, problem.space, problem.question)


def best_of(trees: Iterable[Any], problem: Problem) -> tuple[Value, Any] | None:
    """The best of some trees that the problem allows, with its value; None if it allows none."""
    best: tuple[Value, Any] | None = None
    for tree in trees:
        if not problem.violations(tree):
            value = problem.value(tree)
            if best is None or value.better_than(best[0]):
                best = value, tree
    return best


def _facts(found: list[Found], problem: Problem, grown: bool) -> dict[str, Any]:
    """What is known of all thresholds: the greedy tree's value, and the optimum with its prover.

    A greedy tree that was not grown to its end says nothing.
    """
    out: dict[str, Any] = {}
    for one in found:
        if one.result is not None and one.result.value is not None:
            out["optimum"] = number_of(one.result.value)
            out["proved_by"] = one.result.certificate.proved_by
        elif grown and one.name == GREEDY and not problem.violations(one.tree):
            out["greedy_tree"] = number_of(problem.value(one.tree))
    return out


def number_of(value: Value) -> float | int | None:
    """A value as a number of JSON; a whole number has no decimal point."""
    return plain_number(value.number, value.exact)


# -- chosen sets in files --------------------------------------------------------------------------


def chosen_json(problem: Problem, before: Problem) -> dict[str, Any] | None:
    """The chosen tests of a settled problem as plain values, for `with_chosen`.

    None if they are all tests of the problem before.
    """
    if problem.dataset.n_features == before.dataset.n_features:
        return None
    source = problem.dataset.source
    return {
        "columns": rules_of(problem.dataset.features),
        **{name: source[name] for name in ("thresholds", "threshold_note") if name in source},
    }


def with_chosen(problem: Problem, chosen: Mapping[str, Any] | None) -> Problem:
    """The problem with open thresholds settled as `chosen_json` described."""
    if chosen is None:
        return _with(problem, problem.dataset.with_(open_thresholds=False))
    tests = features_of(chosen["columns"])
    strange = [t for t in tests if t not in problem.dataset.index]
    if strange:
        raise DataError(
            f"The data have no test {strange[0].name!r}, which was chosen for them; they have changed, so plan again."
        )
    data = problem.dataset.choose(tests)
    more = {name: value for name, value in chosen.items() if name != "columns"}
    return _with(problem, data.with_(source={**data.source, **more}))


# -- sets that the user states ---------------------------------------------------------------------


def greedy_over_all(
    problem: Problem, deadline: Deadline = NEVER
) -> tuple[Problem, list[Found]] | None:
    """The greedy trees over all thresholds of a problem whose features are a choice of them."""
    data = problem.dataset
    if data.left_out or not isinstance(problem.space, Trees) or data.all_thresholds is None:
        return None
    if not isinstance(problem.question, Best):
        return None
    whole = _with(problem, data.complete)  # type: ignore[arg-type]
    grown = reversed(list(grown_over_all(whole, deadline)))  # our own first
    return whole, [one for one in grown if not whole.violations(one.tree)]
