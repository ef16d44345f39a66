"""The whole curve of prunings of a forest against one minimum cut, against OR-tools, and against
one linear program of IP3 (Nan, Wang, Saligrama 2016).

    python benchmarks/pruning.py [--large] [--only "digits 10"] [--no-lp] [--out
    benchmarks/results/pruning.csv]

scikit-learn forests on all rows, errors counted on them, every feature costs 1 for a row. `cut` and
`lp` are at one price, where keeping all and keeping nothing are equally good. Every number is from
a process of its own: CPU seconds after warm-up from the arrays of `NodeGains` to the answer, the
graph or matrix included (the fastest of several where they are short), and megabytes beyond those
before. `lp` is IP3 as printed, made as a sparse matrix and solved by HiGHS's simplex, the fastest
of its methods for it. Reading the forest is a column of its own. `--large` is a forest with about
five million arcs, without the program.
"""

from __future__ import annotations

import argparse
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

METHODS = ("cut", "frontier", "ortools", "lp")
FORESTS = {
    "breast_cancer 10": ("breast_cancer", 10),
    "breast_cancer 40": ("breast_cancer", 40),
    "digits 10": ("digits", 10),
}
LARGE = {"synthetic 5000, 100 of depth 12": ("synthetic", 100)}


def view_of(name: str, trees: int) -> tuple[Any, float]:
    """View of a forest, and the CPU seconds of reading it."""
    from sklearn import datasets
    from sklearn.ensemble import RandomForestClassifier

    import milp_trees as mt
    from milp_trees.pruning.view import NodeGains

    depth = 12 if name == "synthetic" else None
    if depth:
        X, y = datasets.make_classification(5000, 40, n_informative=12, n_classes=3, random_state=0)
    else:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    forest = RandomForestClassifier(trees, max_depth=depth, random_state=0).fit(X, y)
    began = time.process_time()
    ensemble = mt.read_ensemble(forest)
    data = mt.Dataset(np.zeros((len(y), 0)), y=y, numeric=X, columns=ensemble.columns)
    view = mt.Problem(data, mt.pruning.PrunedError(0), mt.PrunedEnsembles(ensemble)).view(NodeGains)
    return view, time.process_time() - began


# -- methods, each from the view to the answer ---------------------------------------------------------------------


def price(view: Any) -> tuple[int, int]:
    """Errors per unit of cost at which keeping all and keeping nothing are equally good."""
    bought = np.zeros(view.n_purchases, dtype=bool)
    bought[view.need] = True
    return int(view.gain.sum()), int(view.price[bought].sum())


def cut(view: Any) -> dict[str, Any]:
    from milp_trees.pruning.engines.min_cut.closure import closure_of
    from milp_trees.pruning.engines.min_cut.push_relabel import min_cut

    p, q = price(view)
    closure = closure_of(view)
    weights = closure.weights(p, q)
    _, capacity = min_cut(closure, weights)
    return {
        "value": view.root_error - (int(np.maximum(weights, 0).sum()) - capacity) / q,
        "merged_arcs": closure.n_arcs,
    }


def ortools(view: Any) -> dict[str, Any]:
    from milp_trees.pruning.engines.min_cut.closure import closure_of
    from milp_trees.pruning.engines.min_cut.libraries import _network
    from milp_trees.pruning.engines.min_cut.ortools_child import maximum_flow

    p, q = price(view)
    closure = closure_of(view)
    weights = closure.weights(p, q)
    _, _, capacity = maximum_flow(
        *_network(closure, weights)
    )  # in this process, which has no highspy
    return {"value": view.root_error - (int(np.maximum(weights, 0).sum()) - capacity) / q}


def frontier(view: Any) -> dict[str, Any]:
    from milp_trees import prune_curve

    curve = prune_curve(view)
    p, q = price(view)
    best = min(
        float(v.error / view.error_unit) + p / q * float(v.cost / view.cost_unit)
        for v in curve.vertices
    )
    return {"value": best, "breakpoints": len(curve.breakpoints), "cuts": curve.sizes["cuts"]}


def lp(view: Any) -> dict[str, Any]:
    """Columns z (nodes), w (first uses), W (purchases); rows: paths of leaves, paths of first uses,
    w <= W.
    """
    import highspy
    from scipy import sparse

    p, q = price(view)
    M, E, P = view.n_nodes, len(view.need), view.n_purchases
    leaves = np.flatnonzero(~view.is_split)
    user = np.repeat(view.first, np.diff(view.start))
    ends = np.concatenate([leaves, user])
    rows, columns, at = [], [], np.arange(len(ends))
    node = ends
    while len(node):
        rows.append(at)
        columns.append(node)
        up = view.parent[node]
        at, node = at[up >= 0], up[up >= 0]
    uses = np.arange(E)
    rows += [len(leaves) + uses, len(ends) + uses, len(ends) + uses]
    columns += [M + uses, M + uses, M + E + view.need.astype(np.int64)]
    values = np.ones(sum(map(len, rows)))
    values[len(values) - E :] = -1
    A = sparse.csr_matrix(
        (values, (np.concatenate(rows), np.concatenate(columns))), shape=(len(ends) + E, M + E + P)
    )
    del rows, columns, values, at, node, user
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = A.shape
    model.col_cost_ = np.concatenate([view.error.astype(float), np.zeros(E), p / q * view.price])
    model.col_lower_, model.col_upper_ = np.zeros(A.shape[1]), np.ones(A.shape[1])
    model.row_lower_ = np.concatenate([np.ones(len(ends)), np.full(E, -highspy.kHighsInf)])
    model.row_upper_ = np.concatenate([np.ones(len(ends)), np.zeros(E)])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = (
        A.indptr,
        A.indices,
        A.data,
    )
    highs = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, "solver": "simplex"}.items():
        if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise SystemExit(f"HiGHS refuses the option {name}")
    sizes = {"lp_columns": A.shape[1], "lp_rows": A.shape[0], "lp_nonzeros": A.nnz}
    highs.passModel(model)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise SystemExit(f"HiGHS: {highs.modelStatusToString(highs.getModelStatus())}")
    return {"value": highs.getObjectiveValue(), **sizes}


def child(method: str, path: str) -> None:
    """Measure one method in this process."""
    from milp_trees.pruning.engines.min_cut.frontier import warm_up

    view = pickle.loads(Path(path).read_bytes())
    run = globals()[method]
    warm_up()
    run(tiny())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds: list[float] = []
    while not seconds or (sum(seconds) < 1 and len(seconds) < 10):
        began = time.process_time()
        found = run(view)
        seconds.append(time.process_time() - began)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {**found, "cpu": min(seconds), "memory": (after - before) / 1024, "runs": len(seconds)}
        )
    )


def tiny() -> Any:
    from milp_trees.pruning.testing.examples import EXAMPLES
    from milp_trees.pruning.view import NodeGains

    return EXAMPLES["two-items"]().view(NodeGains)


# -- the table ----------------------------------------------------------------------------------------------------


def measure(name: str, methods: tuple[str, ...]) -> list[dict[str, Any]]:
    """A row per method on one forest."""
    view, reading = view_of(*{**FORESTS, **LARGE}[name])
    sizes = {"forest": name, "splits": len(view.splits), "arcs": len(view.need), "read": reading}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "view.pickle"
        path.write_bytes(pickle.dumps(view))
        rows = []
        for method in methods:
            done = subprocess.run(
                [sys.executable, __file__, "--child", method, str(path)],
                capture_output=True,
                text=True,
            )
            lines = done.stderr.strip().splitlines() or [""]
            found = (
                json.loads(done.stdout.splitlines()[-1])
                if done.returncode == 0
                else {"failed": lines[-1][:200]}
            )
            rows.append({**sizes, "method": method, **found})
            print(
                "  ".join(
                    f"{k}={v:.5g}" if isinstance(v, float) else f"{k}={v}"
                    for k, v in rows[-1].items()
                ),
                flush=True,
            )
    return rows


def summary(table: pd.DataFrame) -> str:
    """Seconds, memory and the ratios that count, one line per forest."""
    cpu, memory = (
        table.pivot(index="forest", columns="method", values=v) for v in ("cpu", "memory")
    )
    out = pd.DataFrame({f"{m} s": cpu[m] for m in METHODS if m in cpu})
    out["frontier MB"] = memory["frontier"]
    out["frontier / cut"] = cpu["frontier"] / cpu["cut"]
    if "lp" in cpu:
        out["lp MB"], out["lp / frontier"] = memory["lp"], cpu["lp"] / cpu["frontier"]
    return out.to_string(float_format=lambda v: f"{v:.4g}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", default="", help="only forests whose name contains this")
    parser.add_argument("--no-lp", action="store_true")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results" / "pruning.csv"
    )
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(*args.child)
        return
    rows = []
    for name in {**FORESTS, **(LARGE if args.large else {})}:
        if args.only in name:
            rows += measure(name, METHODS[:-1] if args.no_lp or name in LARGE else METHODS)
    table = pd.DataFrame(rows)
    values = table.groupby("forest")["value"]
    if ((values.max() - values.min()) > 1e-6 * values.max().abs()).any():
        print("The methods disagree on a value; see the column value.")
    table.to_csv(args.out, index=False)
    print(f"\n{summary(table)}\n\nwritten to {args.out}")


if __name__ == "__main__":
    main()
