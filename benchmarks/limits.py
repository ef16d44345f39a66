"""How far runs go over their time limit, for every method, also on a machine that is loaded.

    MILP_TREES_DATA=… python benchmarks/limits.py [--methods state-flow@highs,path-cut@cbc]
    [--limits 1,5] [--load 5] [--out benchmarks/results/limits.csv]

Every method (each formulation with each solver that is there, and each engine) is given problems on
which it needs longer, in a process of its own. Its warm-up, that is imports, compilation and a
short run of the same problem, is done before the clock starts; the clock stops when `Method.run`
returns. The problems of engines are those of the tests (`LONG` in
tests/unit/engines/engine_limits_cases.py), each for the engine it is named after. Allowed is a tenth
of the limit, or half a second if that is more. `--load N` keeps N busy processes beside the run.
`load_average` is the system's, of the last minute, whoever caused it. Runs that end before the
limit are rows too; problems a method cannot take are left out. Without MILP_TREES_DATA the public
sets are left out. Rows are added to the file; the last line counts those beyond what is allowed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd

#: Seconds over the limit that are allowed, at least, and as a share of it.
ALLOWED = (0.5, 0.1)


def ionosphere(depth: int):
    import _data

    import milp_trees as mt

    return mt.Problem(_data.classification()["ionosphere"], mt.Accuracy(), mt.Trees(depth))


def planted(depth: int, rows: int = 1000, tests: int = 60):
    import milp_trees as mt

    return mt.Problem(
        mt.load(f"planted:rows={rows},tests={tests},depth={depth},noise=0.2"),
        mt.Accuracy(),
        mt.Trees(depth),
    )


def parity(depth: int):
    import milp_trees as mt

    data = mt.load("planted:rows=1000,tests=60,depth=5,noise=0.2")
    data = mt.Dataset(data.X, data.features, y=data.y, groups=data.X[:, 0].tolist())
    return mt.Problem(
        data, mt.Accuracy(constraints=(mt.tasks.StatisticalParity(0.01),)), mt.Trees(depth)
    )


def numeric(depth: int, rows: int = 300):
    import numpy as np

    import milp_trees as mt

    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 6))
    y = (X[:, 0] * X[:, 1] > 0) ^ (X[:, 2] > 0.5) ^ (rng.random(rows) < 0.1)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    return mt.Problem(
        mt.Binarizer(kind="midpoints").dataset(frame, y.astype(int)),
        mt.Accuracy(),
        mt.Trees(depth),
    )


def forest(trees: int, **more):
    import numpy as np
    from sklearn import datasets
    from sklearn.ensemble import RandomForestClassifier

    import milp_trees as mt

    X, y = datasets.make_classification(1000, 30, n_informative=10, n_classes=3, random_state=0)
    ensemble = mt.read_ensemble(
        RandomForestClassifier(trees, max_depth=12, random_state=0).fit(X, y)
    )
    data = mt.Dataset(np.zeros((len(y), 0)), y=y, numeric=X, columns=ensemble.columns)
    return mt.Problem(data, mt.pruning.PrunedError("0.001", **more), mt.PrunedEnsembles(ensemble))


def roads(depth: int):
    from milp_trees.decisions.generated import DecisionData
    from milp_trees.decisions.generated_problems import generated_problem

    return generated_problem(
        DecisionData("shortest-path", 500, 0, 6.0, 0.25, thresholds=50, seed=1), depth
    )[0]


#: What the names of engines' problems begin with.
ENGINE = "engine: "
PROBLEMS = {
    "ionosphere, depth 3": lambda: ionosphere(3),
    "ionosphere, depth 5": lambda: ionosphere(5),
    "planted, depth 3, small": lambda: planted(3, 300, 20),
    "planted, depth 4": lambda: planted(4),
    "planted, depth 5": lambda: planted(5),
    "parity, depth 3": lambda: parity(3),
    "numeric, depth 3, small": lambda: numeric(3, 60),
    "numeric, depth 3": lambda: numeric(3),
    "forest of 30": lambda: forest(30),
    "forest of 300": lambda: forest(300),
    "shortest paths, depth 4": lambda: roads(4),
}


def engine_problems() -> dict:
    """For every registered engine the problems of the tests on which it takes longer."""
    folder = Path(__file__).parents[1] / "tests" / "unit" / "engines"
    file = folder / "engine_limits_cases.py"
    spec = importlib.util.spec_from_file_location("engine_limits_cases", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.LONG


def problem_of(name: str):
    return PROBLEMS[name]() if name in PROBLEMS else engine_problems()[name.removeprefix(ENGINE)]()


def problems_for(method: str, problems: list[str]) -> list[str]:
    """Those of a list that are made for a method: the problems of the engine, or all for a
    formulation with a solver.
    """
    if "@" in method:
        return [p for p in problems if not p.startswith(ENGINE)]
    return [
        p
        for p in problems
        if p.startswith(ENGINE) and p.removeprefix(ENGINE).split(",")[0] == method.split(":")[0]
    ]


def one(problem: str, method: str, limit: float, start: str) -> dict:
    """One run in this process; what the program that measures prints."""
    import milp_trees as mt
    from milp_trees.common.compiling import run_clock
    from milp_trees.mip.registry import registry

    stated, chosen = problem_of(problem), registry.method(method)
    began = time.perf_counter()
    chosen.warm_up()
    if chosen.unsupported(stated) is None and "@" not in method:
        chosen.run(
            stated, mt.Limits(time=0.5)
        )  # loads and compiles what this kind of problem needs, which no limit is for
    warm = time.perf_counter() - began
    tree = registry.method(start).run(stated, mt.Limits(time=limit)).predictor if start else None
    began = run_clock()
    try:
        result = chosen.run(stated, mt.Limits(time=limit), start=tree)
    except mt.errors.Unsupported as why:
        return {
            "seconds": run_clock() - began,
            "warm_up": warm,
            "status": "unsupported",
            "message": str(why),
        }
    wall = (
        run_clock() - began
    )  # a kernel that is needed for the first time is loaded outside the limit
    return {
        "seconds": wall,
        "warm_up": warm,
        "status": result.status.value,
        "limit_hit": result.limit.value if result.limit else "",
        "said": result.seconds,
        "objective": result.objective,
        "bound": result.bound,
        "times": " ".join(f"{k}={v:.2f}" for k, v in result.times.items()),
        "message": result.message,
    }


def all_methods() -> list[str]:
    from milp_trees.mip.registry import registry

    present = [s for s in registry.classes("solvers") if registry.solver(s).availability().found]
    return [
        *registry.classes("methods"),
        *registry.methods(registry.classes("formulations"), present),
    ]


def measure(problem: str, method: str, limit: float, args: argparse.Namespace) -> dict:
    """One run in a process of its own."""
    call = [sys.executable, __file__, "--one", json.dumps([problem, method, limit, args.start])]
    try:
        found = subprocess.run(call, capture_output=True, text=True, timeout=10 * limit + 300)
    except subprocess.TimeoutExpired:
        found = None
    row = {
        "problem": problem,
        "method": method,
        "limit": limit,
        "load": args.load,
        "start": args.start,
    }
    if found is None or found.returncode:
        return {
            **row,
            "status": "failed",
            "message": "" if found is None else (found.stderr.strip().splitlines() or [""])[-1],
        }
    row |= {"load_average": os.getloadavg()[0], **json.loads(found.stdout.splitlines()[-1])}
    return {
        **row,
        "over": row["seconds"] - limit,
        "kept": row["seconds"] <= limit + max(ALLOWED[0], ALLOWED[1] * limit),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="", help="default: all")
    parser.add_argument("--problems", default="", help="separated by semicolons; default: all")
    parser.add_argument("--limits", default="1")
    parser.add_argument("--load", type=int, default=0, help="busy processes beside the run")
    parser.add_argument("--start", default="", help="a method that makes a start, for example cart")
    parser.add_argument("--out", default="benchmarks/results/limits.csv")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(*json.loads(args.one))))
        return
    problems = [p for p in args.problems.split(";") if p] or [
        *(p for p in PROBLEMS if "MILP_TREES_DATA" in os.environ or "ionosphere" not in p),
        *(ENGINE + case for case in engine_problems()),
    ]
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(args.load)]
    out, rows = Path(args.out), []
    try:
        for method in [m for m in args.methods.split(",") if m] or all_methods():
            for problem in problems_for(method, problems):
                for limit in map(float, args.limits.split(",")):
                    row = measure(problem, method, limit, args)
                    if row["status"] == "unsupported" and row.get("kept", True):
                        continue
                    print(
                        "  ".join(
                            f"{k}={v:.2f}" if isinstance(v, float) else f"{k}={v}"
                            for k, v in row.items()
                        ),
                        flush=True,
                    )
                    rows.append(row)
                    before = [pd.read_csv(out)] if out.exists() else []
                    pd.concat([*before, pd.DataFrame([row])]).round(3).to_csv(out, index=False)
    finally:
        for process in busy:
            process.kill()
    late = [r for r in rows if not r.get("kept")]
    print(
        f"{len(rows)} runs, {len(late)} beyond what is allowed or failed: {', '.join(sorted({r['method'] for r in late})) or 'none'}"
    )


if __name__ == "__main__":
    main()
