"""Every engine from an empty folder of kernels, with a time limit of one second.

    python benchmarks/cold_limits.py [NAME ...]

Compiling takes an engine 1 to 20 s, and none of it may count: the tiny problems below take
milliseconds once it is compiled, so whoever says "stopped by its time limit" was charged for it. A
line per engine, formulation that compiles, and course of several steps; exit code 1 if one was charged.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

LIMIT = 1.0

ENGINE = """
import json
import sys

from milp_trees.mip.registry import registry
from milp_trees.common.compiling.notices import compile_seconds
from milp_trees.common.limits import Limits
from milp_trees.testing.warm_up import problems_for

name, limit = sys.argv[1], float(sys.argv[2])
method, seen, charged, spent = registry.method(name), set(), [], 0.0
for problem in problems_for(name):
    kind = type(problem.question).__name__
    if kind in seen or method.unsupported(problem) is not None:
        continue
    seen.add(kind)
    result = method.run(problem, Limits(time=limit))
    spent = max(spent, result.seconds)
    if result.limit is not None or result.seconds > limit:
        charged.append(f"{kind}: {result.limit} after {result.seconds:.2f} s")
print(json.dumps([charged, sorted(seen), compile_seconds(), spent]))
"""

COURSE = """
import json
import sys

import milp_trees as mt
from milp_trees.common.compiling.notices import compile_seconds

limit, charged, spent = float(sys.argv[2]), [], 0.0
{text}
print(json.dumps([charged, ["{name}"], compile_seconds(), spent]))
"""

#: Courses of several steps that compile: they add to `charged` what a limit has stopped.
COURSES = {
    "solve over all thresholds": """
table = mt.example("people")
X, y = table.drop(columns="income"), table["income"]
model = mt.OptimalTreeClassifier(max_depth=2, time_limit=limit).fit(X, y)
spent = model.result_.seconds
if model.result_.limit is not None:
    charged.append(str(model.result_.limit))
""",
    "verify by file": """
import tempfile
problem = mt.Problem(mt.load("planted:rows=60,tests=6,depth=3,noise=0.1"), mt.Accuracy(), space=mt.Trees(3))
with tempfile.TemporaryDirectory() as folder:
    proof = folder + "/proof.cert"
    result = mt.solve(problem, time_limit=limit, proof=proof)
    found = mt.verify(result, time_limit=limit, proof=proof)
spent = result.seconds
if result.limit is not None or "Proved by file" not in str(found):
    charged.append(f"{result.limit}; {result.message} {found}")
""",
    "integer program with start": """
problem = mt.Problem(mt.load("planted:rows=60,tests=6,depth=2,noise=0.1"), mt.Accuracy(), space=mt.Trees(2))
result = mt.solve(problem, method="state-flow@highs", time_limit=limit)
spent = result.seconds
if result.limit is not None:
    charged.append(str(result.limit))
""",
}


def run(code: str, name: str) -> list:
    """The line of a process with an empty folder: what was charged, questions, seconds."""
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, "-c", code, name, str(LIMIT)],
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
            capture_output=True,
            text=True,
        )
    if ran.returncode:
        return [[f"failed: {(ran.stderr.strip().splitlines() or [''])[-1]}"], [], 0.0, 0.0]
    return json.loads(ran.stdout.strip().splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="engines, formulations or courses; default: all")
    wanted = parser.parse_args().names
    from milp_trees.mip.registry import registry

    codes = dict.fromkeys(registry.classes("methods"), ENGINE)
    codes |= {name: COURSE.format(text=text.strip(), name=name) for name, text in COURSES.items()}
    wrong = 0
    for name, code in codes.items():
        if wanted and name not in wanted:
            continue
        charged, questions, compiled, spent = run(code, name)
        wrong += bool(charged)
        message = "; ".join(charged) or "not charged"
        print(
            f"{name:30} compiled {compiled:5.1f} s, ran {spent:5.3f} s ({', '.join(questions)}): {message}",
            flush=True,
        )
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
