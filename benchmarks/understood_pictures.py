"""The pictures of docs/start/understood.md, from the problems of that page.

python benchmarks/understood_pictures.py
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pandas as pd

import milp_trees as mt
from milp_trees.studies.figures.over_time import plot_traces

FOLDER = Path(__file__).parents[1] / "docs" / "start" / "pictures"


def xor() -> dict[str, str]:
    """The greedy and the optimal tree for XOR with a third column that is right in most rows."""
    bits = [(a, b, k) for a in (0, 1) for b in (0, 1) for k in range(4)]
    rows = [(a, b, a ^ b if k < 3 else 1 - (a ^ b), a ^ b) for a, b, k in bits]
    data = mt.load(pd.DataFrame(rows, columns=["a", "b", "c", "odd"]))
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2))
    found = {"xor_greedy": mt.solve(problem, "cart"), "xor_optimal": mt.solve(problem)}
    return {name: result.tree.picture(data) + "\n" for name, result in found.items()}


def meeting() -> str:
    """Incumbent and bound over time for the breast cancer data at depth 3, over all thresholds."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    problem = mt.Problem(mt.load("breast-cancer"), mt.Accuracy(), mt.Trees(max_depth=3))
    study = mt.compare(problem, ["dp-sorted"], start=None, reference=None)
    style = {"svg.hashsalt": "milp-trees", "svg.fonttype": "none", "figure.dpi": 80}
    with matplotlib.rc_context(style):
        figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
        plot_traces(study.rows, axes)
        axes.set(xscale="linear", ylim=(-0.5, 24))
        out = io.StringIO()
        figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    for name, svg in {**xor(), "bound_meets_incumbent": meeting()}.items():
        (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
        print(FOLDER / f"{name}.svg")


if __name__ == "__main__":
    main()
