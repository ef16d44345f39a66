"""How long it takes to get FlowOCT to HiGHS: our Pyomo model, highspy's own `addConstr` layer, and
raw arrays; same model, same run.

    python benchmarks/handover.py [--rows 1000] [--tests 60] [--depth 3] [--repeat 3]

The three models have the same variables, rows and nonzeros (checked). CPU seconds, best of the
repeats, interleaved. HiGHS holds the model at the end of each; nothing is solved.
"""

from __future__ import annotations

import argparse
import time

import highspy
import numpy as np

import milp_trees as mt
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry


def planted(rows: int, tests: int) -> mt.Dataset:
    rng = np.random.default_rng(0)
    return mt.Dataset(rng.integers(0, 2, (rows, tests)), y=rng.integers(0, 2, rows))


def by_pyomo(problem: mt.Problem) -> tuple[highspy.Highs, float]:
    """Build the package's formulation, compile it to a matrix, pass it to HiGHS."""
    began = time.process_time()
    model = compile_model(registry.formulation("flow-oct").build(problem))
    return pass_arrays(model), time.process_time() - began


def pass_arrays(model) -> highspy.Highs:
    h = silent()
    A = model.A.tocsc()
    h.passModel(
        model.n_variables,
        model.n_rows,
        A.nnz,
        1,
        1,
        model.offset,
        model.c,
        model.lower,
        model.upper,
        model.row_lower,
        model.row_upper,
        A.indptr[:-1].astype(np.int32),
        A.indices.astype(np.int32),
        A.data,
        model.integer.astype(np.int32),
    )
    return h


def by_highspy(problem: mt.Problem) -> tuple[highspy.Highs, float]:
    """The same model through highspy's modelling layer, one `addConstr` per row."""
    view, D = problem.presolved_view(), problem.trees.max_depth
    best, weight = view.labels
    X, n, F, K = view.X, view.n_rows, view.n_features, view.n_actions
    began = time.process_time()
    h = silent()
    branch, nodes = range(1, 2**D), range(1, 2 ** (D + 1))
    b = {(v, f): h.addBinary() for v in branch for f in range(F)}
    p = {v: h.addBinary() for v in nodes}
    w = {(v, k): h.addVariable(lb=0, ub=1) for v in nodes for k in range(K)}
    z = {(i, v): h.addVariable(lb=0) for i in range(n) for v in nodes}
    s = {(i, v): h.addVariable(lb=0) for i in range(n) for v in nodes}
    for v in nodes:
        above = [p[v >> k] for k in range(1, v.bit_length())]
        tests = [b[v, f] for f in range(F)] if v < 2**D else []
        h.addConstr(h.qsum([*tests, p[v], *above]) == 1)
        h.addConstr(h.qsum([w[v, k] for k in range(K)]) == p[v])
    for i in range(n):
        false, true = np.flatnonzero(X[i] == 0).tolist(), np.flatnonzero(X[i] == 1).tolist()
        for v in nodes:
            if v < 2**D:
                h.addConstr(z[i, v] == z[i, 2 * v] + z[i, 2 * v + 1] + s[i, v])
                h.addConstr(z[i, 2 * v] <= h.qsum([b[v, f] for f in false]))
                h.addConstr(z[i, 2 * v + 1] <= h.qsum([b[v, f] for f in true]))
            else:
                h.addConstr(z[i, v] == s[i, v])
            h.addConstr(s[i, v] <= w[v, int(best[i])])
    h.changeObjectiveSense(highspy.ObjSense.kMinimize)
    for i in range(n):
        h.changeColCost(z[i, 1].index, -float(weight[i]))
    return h, time.process_time() - began


def by_arrays(problem: mt.Problem) -> tuple[highspy.Highs, float]:
    """The matrix that was compiled before, handed over again: what no modelling layer at all would
    cost at least.
    """
    model = compile_model(registry.formulation("flow-oct").build(problem))
    began = time.process_time()
    return pass_arrays(model), time.process_time() - began


def silent() -> highspy.Highs:
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    return h


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--tests", type=int, default=60)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    dataset = planted(args.rows, args.tests)
    ways = {
        "milp-trees (Pyomo, templates, one matrix)": by_pyomo,
        "highspy addConstr": by_highspy,
        "arrays alone": by_arrays,
    }
    best: dict[str, float] = {}
    shapes = {}
    for _ in range(args.repeat):
        for name, build in ways.items():
            problem = mt.Problem(dataset, mt.Accuracy(), mt.Trees(args.depth))
            problem.presolved_view()
            h, seconds = build(problem)
            best[name] = min(seconds, best.get(name, np.inf))
            shapes[name] = (h.getNumCol(), h.getNumRow(), h.getNumNz())
    assert len(set(shapes.values())) == 1, shapes
    print(
        f"FlowOCT, {args.rows} rows, {args.tests} tests, depth {args.depth}: columns, rows, nonzeros = {next(iter(shapes.values()))}"
    )
    for name, seconds in best.items():
        print(
            f"{name:45s} {seconds:7.3f} s   {seconds / best['highspy addConstr']:6.2f} × addConstr"
        )


if __name__ == "__main__":
    main()
