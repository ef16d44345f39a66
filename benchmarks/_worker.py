"""The child process that holds one engine: reads jobs as JSON lines, answers in JSON lines. Runs in
the engine's own interpreter.

    python _worker.py pystreed

It needs numpy and the engine, nothing else (the engine `milp-trees` needs this package). Times
start when arrays are in memory and end when the engine returns: `call` and `cpu` are wall and
processor seconds of the whole call, `engine` is the part of the processor seconds that its
preparation and search take, without the checks of its Python face. Processor seconds, because other
jobs on the machine stretch wall time by any factor.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from contextlib import suppress
from fractions import Fraction
from importlib import metadata
from types import SimpleNamespace

import numpy as np

clock = {"engine": 0.0}


def timed(function):
    """The same function; its processor seconds are added to the engine's."""

    def call(*args, **kwargs):
        began = time.process_time()
        try:
            return function(*args, **kwargs)
        finally:
            clock["engine"] += time.process_time() - began

    return call


# -- one function per engine: loads it, returns fit(job, arrays) -> (optimal, function that makes the nested tree, further columns) --------


def milp_trees(method="dp"):
    import _jobs

    import milp_trees as mt

    def fit(job, arrays):
        stated = _jobs.problem(vars(job), arrays)
        began, cpu = time.perf_counter(), time.process_time()
        chosen = None if job.method == "default" else job.method or method
        result = mt.solve(stated, method=chosen, time_limit=job.time_limit, threads=job.threads)
        share = sum(result.times.get(stage, 0.0) for stage in ("prepare", "solve")) / (
            time.perf_counter() - began
        )
        clock["engine"] += min(1.0, share) * (time.process_time() - cpu)
        more = {
            "by": result.method,
            "seconds": result.seconds,
            "bound": result.bound,
            "sizes": dict(result.model_size),
        }
        return (
            result.optimal,
            lambda: (
                None if result.tree is None else _jobs.nested(result.tree, stated.dataset, job.task)
            ),
            more,
        )

    return fit


def pystreed():
    import pystreed as streed
    import pystreed.base as base
    from pystreed.data import CostSpecifier, FeatureCostSpecifier

    class Timed:
        """A solver whose `_solve` is timed."""

        def __init__(self, solver):
            self.solver = solver
            self._solve = timed(solver._solve)

        def __getattr__(self, name):
            return getattr(self.solver, name)

    initialise = base.initialize_streed_solver
    base.initialize_streed_solver = lambda *args: Timed(initialise(*args))
    labelled = {"accuracy": "accuracy", "f1": "f1-score", "balanced": "balanced-accuracy"}

    def fit(job, arrays):
        X, y = arrays["X"], arrays["y"]
        if job.depth is None:
            raise NotImplementedError("pystreed needs a depth limit")
        common = {
            "max_depth": job.depth,
            "min_leaf_node_size": job.min_leaf,
            "time_limit": job.time_limit,
            "random_seed": 1,
        }
        if job.leaves is not None:
            common["max_num_nodes"] = job.leaves - 1
        # A survival leaf without events gets half an event; it is scored with the best hazard.
        leaf = {"squared-error": float, "survival": lambda hazard: None}.get(job.task, int)
        if leaf is not int:
            model = of_numbers(streed, job, arrays, common)
        elif job.rule is not None:
            names = {
                "statistical-parity": "group-fairness",
                "equal-opportunity": "equality-of-opportunity",
            }
            sensitive = arrays["groups"]
            if job.rule not in names or job.group_column != "0" or len(np.unique(sensitive)) != 2:
                raise NotImplementedError(
                    "pystreed takes parity and opportunity for two groups in column 0"
                )
            model = streed.STreeDGroupFairnessClassifier(
                names[job.rule], discrimination_limit=float(Fraction(job.max_disparity)), **common
            ).fit(X, y)
        elif job.task == "cost-matrix":
            model = streed.STreeDCostSensitiveClassifier(**common)
            free = [FeatureCostSpecifier(0.0, 0.0, "x", j, j) for j in range(X.shape[1])]
            model.fit(X, y, CostSpecifier(job.matrix, free))
        elif job.task in ("instance-cost", "weights"):
            values = arrays.get("values")
            if values is None:
                values = arrays["weights"][:, None] * (y[:, None] != np.arange(y.max() + 1))
            model = streed.STreeDInstanceCostSensitiveClassifier(**common)
            model.fit(X, values.astype(float))
        elif job.task.startswith("policy-"):
            model = streed.STreeDPrescriptivePolicyGenerator(
                teacher_method=job.task.split("-")[1].upper(), **common
            )
            model.fit(X, np.column_stack([y, arrays["values"]]).astype(float))
        elif job.penalty != "0":
            model = streed.STreeDClassifier(
                "cost-complex-accuracy", cost_complexity=float(Fraction(job.penalty)), **common
            ).fit(X, y)
        else:
            model = streed.STreeDClassifier(labelled[job.task], **common).fit(X, y)

        def part(node):
            return (
                leaf(node.label)
                if node.is_leaf_node()
                else [int(node.feature), part(node.left_child), part(node.right_child)]
            )

        return bool(model.fit_result.is_optimal()), lambda: part(model.tree_), {}

    return fit


def of_numbers(streed, job, arrays, common):
    """A regression or survival tree of pystreed."""
    X = arrays["X"]
    if job.task == "squared-error":
        # Its task without a penalty, `regression`, takes about twice as long for the same tree.
        model = streed.STreeDRegressor(cost_complexity=float(Fraction(job.penalty)), **common)
        return model.fit(X, arrays["y"])
    seen = np.empty(len(X), dtype=[("event", bool), ("time", float)])
    seen["event"], seen["time"] = arrays["values"][:, 1] > 0, arrays["values"][:, 0]
    return survival_trees(streed)(**common).fit(X, seen)


def survival_trees(streed):
    """pystreed's class, which indexes a list by NumPy's booleans: NumPy 2 refuses that."""

    class Trees(streed.STreeDSurvivalAnalysis):
        def _compute_baseline_cumulative_hazard_function(self, events, times):
            return super()._compute_baseline_cumulative_hazard_function(
                events.astype(int).tolist(), times
            )

        def __init__(self, **given):
            super().__init__(**given)

    return Trees


def pydl85():
    import dl85Optimizer
    from pydl85 import DL85Classifier

    dl85Optimizer.solve = timed(dl85Optimizer.solve)

    def fit(job, arrays):
        if job.task != "accuracy" or job.penalty != "0" or job.leaves is not None:
            raise NotImplementedError("pydl8.5 is asked for accuracy only")
        model = DL85Classifier(
            max_depth=job.depth, min_sup=job.min_leaf, time_limit=max(1, round(job.time_limit))
        )
        model.fit(arrays["X"], arrays["y"])

        def part(node):  # its left child is where the feature is 1
            return (
                int(node["value"])
                if "value" in node
                else [int(node["feat"]), part(node["right"]), part(node["left"])]
            )

        return (
            not model.timeout_,
            lambda: None if model.base_tree_ is None else part(model.base_tree_),
            {},
        )

    return fit


def gosdt():
    import gosdt._classifier as source

    source.gosdt_fit, source.Dataset = timed(source.gosdt_fit), timed(source.Dataset)

    def fit(job, arrays):
        if job.task != "accuracy" or job.min_leaf != 1 or job.leaves is not None:
            raise NotImplementedError("gosdt is asked for accuracy with a penalty only")
        depth = {} if job.depth is None else {"depth_budget": job.depth}
        penalty = float(Fraction(job.penalty))
        model = source.GOSDTClassifier(
            regularization=penalty,
            allow_small_reg=True,
            time_limit=max(1, round(job.time_limit)),
            **depth,
        )
        model.fit(arrays["X"], arrays["y"])

        def part(node):
            if "prediction" in node:
                return int(model.classes_[node["prediction"]])
            return [int(node["feature"]), part(node["false"]), part(node["true"])]

        return (
            model.result_.status == source.Status.CONVERGED,
            lambda: part(json.loads(model.result_.model)[0]),
            {},
        )

    return fit


def odtlearn():
    import _estimators

    return _estimators.odtlearn()


def rollotree():
    import _estimators

    return _estimators.rollotree()


def numbers(name):
    """An engine of regression or survival trees."""

    def load():
        import _number_engines

        return getattr(_number_engines, name)()

    return load


ENGINES = {
    "milp-trees": (milp_trees, "milp-trees"),
    "milp-trees, sorted columns": (lambda: milp_trees("dp-sorted"), "milp-trees"),
    "milp-trees, front": (lambda: milp_trees("pareto"), "milp-trees"),
    "pystreed": (pystreed, "pystreed"),
    "pydl8.5": (pydl85, "pydl8.5"),
    "gosdt": (gosdt, "gosdt"),
    "odtlearn": (odtlearn, "odtlearn"),
    "rollotree": (rollotree, "rollotree"),
    "osrt": (numbers("osrt"), "osrt"),
    "osst": (numbers("osst"), "osst"),
    "scikit-learn": (numbers("greedy_regression"), "scikit-learn"),
    "scikit-survival": (numbers("greedy_survival"), "scikit-survival"),
}


# -- measuring ---------------------------------------------------------------------------------------------


def memory() -> dict[str, float]:
    """Resident megabytes of this process, now and at most since `forget_peak`."""
    with open("/proc/self/status") as lines:
        status = dict(line.split(":", 1) for line in lines)
    return {
        "now": int(status["VmRSS"].split()[0]) / 1024,
        "peak": int(status["VmHWM"].split()[0]) / 1024,
    }


def forget_peak() -> None:
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")


def small(job, arrays):
    """Some rows of every class and few tests: what compiles and loads everything before a clock
    starts.
    """
    if job.task in ("squared-error", "survival"):
        rows = np.arange(min(200, len(arrays["X"])))
    else:
        rows = np.sort(
            np.concatenate([np.flatnonzero(arrays["y"] == k)[:30] for k in np.unique(arrays["y"])])
        )
    few = {k: None if v is None else v[rows] for k, v in arrays.items()}
    few["X"] = np.ascontiguousarray(few["X"][:, :10])
    return SimpleNamespace(
        **{
            **vars(job),
            "tests": job.tests and job.tests[:10],
            "time_limit": min(20.0, job.time_limit),
        }
    ), few


def used() -> float:
    """Processor seconds of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measure(fit, job, arrays, inner_seconds=0.2, most=5):
    """Repeat a short call up to `most` times; long ones are run once."""
    walls, cpus, engines = [], [], []
    while not walls or (sum(walls) < inner_seconds and len(walls) < most):
        clock["engine"] = 0.0
        began, cpu = time.perf_counter(), used()
        optimal, tree, more = fit(job, arrays)
        walls.append(time.perf_counter() - began)
        cpus.append(used() - cpu)
        engines.append(clock["engine"])
    return {
        "optimal": optimal,
        "tree": tree(),
        "call": walls,
        "cpu": cpus,
        "engine": engines,
        **more,
    }


#: Arrays of a job.
NAMES = ("X", "y", "values", "weights", "groups", "factor")


def answer(fit, request):
    job = SimpleNamespace(**request["settings"])
    with np.load(request["arrays"]) as stored:
        arrays = {name: stored.get(name, None) for name in NAMES}
    if request["warm"]:
        with suppress(Exception):  # what fails on a part of the rows may work on all of them
            fit(*small(job, arrays))
    forget_peak()
    start = memory()["now"]
    measured = measure(fit, job, arrays, most=request.get("most", 5))
    return {"status": "done", **measured, "start_mb": start, "peak_mb": memory()["peak"]}


def main() -> None:
    reply = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # engines print; that goes to the log
    loader, package = ENGINES[sys.argv[1]]
    try:
        fit = loader()
    except ImportError as why:
        reply.write(
            json.dumps({"status": "missing", "message": f"{type(why).__name__}: {why}"}) + "\n"
        )
        return
    reply.write(json.dumps({"status": "ready", "version": metadata.version(package)}) + "\n")
    for line in sys.stdin:
        try:
            found = answer(fit, json.loads(line))
        except NotImplementedError as why:
            found = {"status": "unsupported", "message": str(why)}
        except Exception as failure:  # an engine's failure, whatever it is, is a row of the table
            found = {"status": "failed", "message": f"{type(failure).__name__}: {failure}"}
        reply.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
