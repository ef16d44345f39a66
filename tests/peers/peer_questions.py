"""Questions to peers: our problem for each, and what the peer's answer is worth in it.

`ask_peer.py` says what a question and an answer hold.
"""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import milp_trees as mt

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "benchmarks" / "peers"))
from environments import python_of  # noqa: E402

#: What `instances.json` holds, by name: the question, what the peer's tree is worth (`printed`), what
#: the peer says of it where that differs (`stated`), the optimum, and what cures the peer.
INSTANCES = {one.pop("name"): one for one in json.loads((HERE / "instances.json").read_text())}

__all__ = ["INSTANCES", "answers", "method_for", "problem_of", "python_of", "within", "worth"]


def problem_of(q: dict[str, Any]) -> mt.Problem:
    """The problem that a question states."""
    X = np.array([[int(c) for c in row] for row in q["rows"]])
    y = np.array([int(c) for c in q["labels"]])
    more: dict[str, Any] = {}
    if "tolerance" in q:  # the group is column 0, on which no tree splits
        more = {"groups": X[:, 0], "group_column": "0"}
        parity = mt.tasks.StatisticalParity(str(q["tolerance"]))
        task = mt.Accuracy(constraints=(parity,))
    elif "matrix" in q:
        task = mt.tasks.MisclassificationCosts(matrix=q["matrix"])
    else:
        task = mt.Accuracy(leaf_penalty=q["penalty"]) if "penalty" in q else mt.Accuracy()
    classes = tuple(range(len(q["matrix"]) if "matrix" in q else 2))
    data = mt.Dataset(X, y=y, classes=classes, **more)
    return mt.Problem(data, task, mt.Trees(q["depth"], min_samples_leaf=q.get("least", 1)))


def method_for(q: dict[str, Any]) -> str:
    """The method of ours that proves the optimum of a question."""
    return "lagrangian" if "tolerance" in q else "dp"


def answers(asked: str, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a peer says, in the environment that `benchmarks/peers/environments.py` made.

    `asked` is the peer, perhaps with the way in which it is asked: `"gosdt, its tree"`.
    """
    peer = asked.partition(",")[0]
    command = [str(python_of(peer)), str(HERE / "ask_peer.py"), asked]
    run = subprocess.run(
        command, input=json.dumps(questions), capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise RuntimeError(f"{peer} ended with {run.returncode}: {run.stderr[-2000:]}")
    found: list[dict[str, Any]] = json.loads(run.stdout)
    return found


def within(q: dict[str, Any], told: list[int]) -> bool:
    """Whether predictions keep the parity that is asked for."""
    if "tolerance" not in q:
        return True
    groups = [[p for p, row in zip(told, q["rows"], strict=True) if row[0] == g] for g in "01"]
    a, b = (Fraction(sum(told), len(told)) for told in groups)
    return abs(a - b) <= Fraction(str(q["tolerance"]))


def worth(q: dict[str, Any], answer: dict[str, Any]) -> Fraction:
    """The value of the tree with the peer's predictions: errors or costs, or errors per row plus
    the penalty of its leaves.
    """
    y, stated = [int(c) for c in q["labels"]], answer["predicted"]
    if "matrix" in q:
        return Fraction(sum(q["matrix"][a][b] for a, b in zip(y, stated, strict=True)))
    errors = sum(a != b for a, b in zip(y, stated, strict=True))
    if "penalty" not in q:
        return Fraction(errors)
    return Fraction(errors, len(y)) + Fraction(q["penalty"]) * answer["leaves"]
