"""Rows of a study for tests of a page in a browser: one real run, changed into many."""

import copy
import random

import milp_trees as mt
from milp_trees.studies import Study

#: A method and a problem whose names try to become markup, a script and a formula of LaTeX.
EVIL = "<img src=x onerror='window.ran=1'>"
EVIL_NAME = '</script><script>window.ran=2</script>, "50 %_x" & {y}'
METHODS = ["flow-oct@highs", "flow-oct@cbc", EVIL, "dp", "cart"]
LIMIT = 60.0


def template():
    """A row of a real run."""
    problem = mt.Problem(
        mt.load("planted:rows=40,tests=4,depth=1"), mt.Accuracy(), mt.Trees(max_depth=1)
    )
    return mt.compare(problem, ["cart"], reference=None).rows[0]


def trace(seconds, value, bound, draw):
    """Falling incumbents and rising bounds; the first incumbent comes late."""
    at = sorted(draw.uniform(0, seconds) for _ in range(5))
    worse = sorted((draw.randint(0, 9) for _ in range(4)), reverse=True)
    values = [None, *(value + w for w in worse)]
    bounds = sorted(draw.uniform(0, bound) for _ in range(5))
    return [[t, v, b] for t, v, b in zip(at, values, bounds, strict=True)]


def rows(first, machine="m1", slower=1.0, wrong=False):
    """Runs of 5 methods on 6 problems of 3 data sets with 2 seeds.

    Parameters
    ----------
    first : dict
        Row that all others are copied from.
    machine : str
    slower : float
        Factor of the times of flow-oct@highs.
    wrong : bool
        Whether a proven value is another one than otherwise.
    """
    draw, same = random.Random(7), {}
    for k in range(6):
        hard, best = draw.lognormvariate(0.5, 1.5), draw.randint(3, 40)
        name = EVIL_NAME if k == 0 else f"uci/data{k // 2}/depth={2 + k % 2}"
        for m, method in enumerate(METHODS):
            for seed in (0, 1):
                took = hard * (m + 1) * draw.lognormvariate(0, 0.6)
                if k in (2, 3):  # on this data set dp is as fast as flow-oct@highs
                    took = same.setdefault((k, seed, m % 3), took)
                took *= slower if m == 0 else 1.0
                value = best if draw.random() < 0.7 else best + draw.randint(1, 5)
                run = {
                    **{"name": name, "group": "uci", "kind": "trees", "data": f"data{k // 2}"},
                    **{"start": "none", "permutation": 0, "attempt": 1},
                    "crashes": [] if k or m or seed else ["killed by the signal 9"],
                    **{"environment": f"env-{machine}", "worker": f"{machine}/1", "load": 0.5},
                    "limits": {"time": LIMIT, "memory_mb": None, "threads": 1, "nodes": None},
                }
                row = copy.deepcopy(first) | {"method": method, "run": run, "bound_exact": None}
                other = best + 1 if wrong and k == 3 and method == "dp" else best
                yield k, seed, answered(row, method, took, other, value, draw)


def answered(row, method, took, best, value, draw):
    """The row with an answer: proven, stopped, of a heuristic, unsupported, or an error."""
    bound, status = best * draw.uniform(0.2, 0.9), "feasible"
    points = trace(min(took, LIMIT), best, bound, draw)
    if method == "cart":
        took, bound, points = 0.002 * took, None, []
    elif took < LIMIT:
        # A solver may stop at a bound that integrality alone makes tight.
        status, value, bound = "optimal", best, best - 0.25
    agrees = None if status == "feasible" else draw.random() > 0.05
    odd = draw.random()
    if method == EVIL and odd < 0.3:
        status, value, bound, agrees, points = "unsupported", None, None, None, []
    elif method == "flow-oct@cbc" and odd < 0.2:
        status, value, bound, agrees = "error", None, None, None
    exact = None if value is None else f"{value}/1"
    return row | {
        **{"status": status, "objective": value, "exact": exact, "bound": bound},
        **{"predictor": None if value is None else row["predictor"], "agrees": agrees},
        **{"limit": "time" if took >= LIMIT else None, "seconds": min(took, LIMIT)},
        **{"gap": None if None in (value, bound) else abs(value - bound) / value},
        **{"trace": points, "proved_by": None if bound is None else method},
    }


def study(first, *, machines=("m1",), **changes):
    """A study in memory with these rows, once for each machine."""
    made = Study()
    for machine in machines:
        for number, (k, seed, row) in enumerate(rows(first, machine, **changes)):
            made.store.append(
                row,
                **{"key": f"{machine}{number:08d}", "role": "run", "problem": f"problem{k}"},
                **{"seed": seed, "log": f"log of {machine} {number}"},
            )
    made.rows = list(made.store.rows())
    return made
