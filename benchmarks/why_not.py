"""Planted conflicts at depth 3: is the smallest one found, and in how many times one solve?

    python benchmarks/why_not.py --problems 200

Each problem has two to four side constraints or limits on leaves, whose numbers are those of a random
tree, and at last a limit on the errors that is one error below the optimum under the others. So all
together conflict. Of the conflict that is found, every set with one member less, and every smaller set
of all constraints, is solved on its own: each must have a tree, and the conflict none. The time of
`explain` up to the conflict, and that of everything, are compared with that of the answer
"infeasible".
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.explanations.conflict import smallest_conflict
from milp_trees.explanations.demands import Demands
from milp_trees.explanations.explanation import begin, explain
from milp_trees.explanations.feasible import Feasibility
from milp_trees.solving.solve import answer

DEPTH = 3


def table(rng):
    """A random table whose labels and groups depend on its features."""
    n, F = int(rng.integers(100, 400)), int(rng.integers(6, 12))
    X = (rng.random((n, F)) < rng.uniform(0.2, 0.8, F)).astype(np.uint8)
    group = (X[:, 0] ^ (rng.random(n) < 0.3)).astype(int)
    y = ((X @ rng.normal(size=F) + 0.8 * group + rng.normal(size=n)) > 0.5).astype(int)
    y[:2], group[:2] = (0, 1), (0, 1)
    return mt.Dataset(X, y=y, groups=group)


def planted(seed):
    """A problem of which all constraints together conflict; None if they do not."""
    rng = np.random.default_rng(seed)
    data, T = table(rng), mt.tasks
    likely = mt.solve(
        mt.Problem(data.subset(rng.permutation(data.n_rows)[:60]), mt.Accuracy(), mt.Trees(2))
    ).predictor
    routes = likely.routes(data)
    rules = [
        T.StatisticalParity(0),
        T.EqualOpportunity(0),
        T.PredictiveEquality(0),
        T.Capacity(1, at_least=0),
        T.Capacity(1, at_most=0),
        T.ErrorRates(max_false_positive_rate=0),
    ]
    chosen = [rules[i] for i in rng.permutation(len(rules))[: int(rng.integers(1, 4))]]
    limits = []
    for rule in chosen:
        name = next(n for n in rule.limits if getattr(rule, n) is not None)
        needed = rule.needed_limit(routes, data, (0, 1)) * (
            1 if rng.random() < 0.5 else Fraction(1, 2)
        )
        whole = isinstance(getattr(rule, name), int)
        limits.append(replace(rule, **{name: int(needed) if whole else needed}))
    space = mt.Trees(DEPTH, min_samples_leaf=int(rng.choice([1, 5, 10])))
    best = mt.solve(mt.Problem(data, mt.Accuracy(constraints=limits), space), reference=None)
    if not best.optimal or not best.value.exact:
        return None
    limits.append(T.TaskValue(mt.Accuracy(), best.value.exact - 1))
    return mt.Problem(data, mt.Accuracy(constraints=limits), space)


def feasible(demands, kept, known=()):
    """Whether a tree keeps these demands: a known one, checked again, or solved with the task's costs."""
    kept, problem = set(kept), demands.keeping(kept)
    if any(not problem.violations(one.tree) for one in known):
        return True
    problem = demands.keeping(kept)
    if not problem.space.is_bounded:  # a deeper tree may keep what no tree of this depth keeps
        at = next(i for i, d in enumerate(demands.all) if d.name == "max_depth")
        for depth in range(DEPTH, DEPTH + 2):
            if answer(demands.keeping({*kept, at}, {at: depth}), None, Limits()).predictor:
                return True
        return False
    return answer(problem, None, Limits()).predictor is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    found, seed, ratios, whole, wrong, open_, sizes = 0, wanted.seed, [], [], 0, 0, []
    while found < wanted.problems:
        problem, seed = planted(seed), seed + 1
        if problem is None:
            continue
        found += 1
        began = time.perf_counter()
        result = answer(problem, None, Limits())
        one = time.perf_counter() - began
        began = time.perf_counter()
        ask = Feasibility(Demands(problem), Limits())
        conflict = smallest_conflict(ask, begin(ask, result))
        ratios.append((time.perf_counter() - began) / one)
        began = time.perf_counter()
        explain(problem, Limits(), result)
        whole.append((time.perf_counter() - began) / one)
        demands, members = Demands(problem), conflict.members
        sizes.append(len(members))
        smaller = [*combinations(members, len(members) - 1)]
        smaller += combinations(range(len(demands)), len(members) - 1)
        ok = not feasible(demands, members)
        if conflict.smallest:
            ok = ok and all(
                feasible(demands, kept, ask.witnesses) for kept in dict.fromkeys(smaller)
            )
        open_ += not conflict.smallest
        wrong += not ok
        if not ok or found % 10 == 0:
            mean, all_of_it = (float(np.exp(np.mean(np.log(r)))) for r in (ratios, whole))
            print(
                f"{found} problems (last seed {seed - 1}), {wrong} wrong, {open_} not proven smallest, conflicts of {min(sizes)} to {max(sizes)};"
                f" conflict {mean:.2f} x one solve ({one:.2f} s), everything {all_of_it:.2f} x, runs {ask.runs}",
                flush=True,
            )


if __name__ == "__main__":
    main()
