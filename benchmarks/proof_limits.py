"""How many thresholds can a proof at depth 3 have? Seconds and memory of the stand-alone checker.

    python benchmarks/proof_limits.py 200 500 1000 2000

For every number a table of at least 1000 rows and four columns with so many midpoints is drawn,
solved by `dp-sorted` at depth 3, and its proof is checked in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import milp_trees as mt

CHECKERS = Path(__file__).parents[1] / "milp_trees" / "verification"
#: The checker's process measures itself (on Linux): `ru_maxrss` would count the parent's memory.
CHECK = """
import sys, time
began = time.perf_counter()
import check_proof
code = check_proof.main(sys.argv[1:])
status = open("/proc/self/status").read()
memory = int(status.split("VmHWM:")[1].split()[0]) // 1024
print(f"{time.perf_counter() - began:.2f} s, {memory} MB")
sys.exit(code)
"""


def measure(thresholds: int, folder: Path) -> None:
    r, levels = np.random.default_rng(thresholds), thresholds // 4 + 1
    n = max(1000, levels)
    X = np.array([r.permutation(np.arange(n) % levels) for _ in range(4)]).T
    y = (X[:, 0] > levels / 2) ^ (X[:, 1] > levels / 3) ^ (r.random(n) < 0.15)
    data, proof = folder / "data.csv", folder / "proof"
    rows = [",".join([*map(str, x), f"c{int(k)}"]) for x, k in zip(X, y, strict=True)]
    data.write_text("\n".join(["a,b,c,d,y", *rows]) + "\n")
    problem = mt.Problem(mt.load(data, binarizer="midpoints"), mt.Accuracy(), mt.Trees(3))
    mt.solve(problem, "dp-sorted", proof=proof)
    print(problem.dataset.n_features, "thresholds", flush=True)
    paths = {"PYTHONPATH": str(CHECKERS), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CHECK, str(proof), str(data)]
    subprocess.run(command, env={**os.environ, **paths}, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("thresholds", nargs="+", type=int)
    for given in parser.parse_args().thresholds:
        with tempfile.TemporaryDirectory() as place:
            measure(given, Path(place))


if __name__ == "__main__":
    main()
