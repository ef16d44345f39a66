"""Optimal survival trees beside pystreed, OSST and a greedy tree, in the same run.

    MILP_TREES_DATA=… python benchmarks/survival.py [--sections fit,test] [--sets gbsg2]
    [--depths 3] [--peers pystreed,scikit-survival] [--peer-python osst=peer/bin/python]

Sections, each a CSV file in `results`:

- `fit`: the ten sets at depths 3 and 4: the loss (half the deviance of the likelihood) and processor
  seconds of the whole call, every engine in a process of its own and warm, in turns. Losses are
  recomputed here, from the trees that come back, with the best hazard for the rows of each leaf:
  pystreed gives leaves without events half an event, and those of scikit-survival and OSST hold
  curves.
- `test`: a fifth of the rows is held back; concordance and integrated Brier score on them, means
  over splits. Ours and pystreed's curves are exp(-theta H0(t)) with the Nelson-Aalen baseline of the
  training rows; scikit-survival's are its own.

OSST wants libraries of its own: make an environment with `pip install osst` and name it with
`--peer-python`. A peer that is missing, fails or takes too long is a row that says so.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import _data
import _jobs
import _peers
import numpy as np
import pandas as pd
import regression

import milp_trees as mt

RESULTS = Path(__file__).parent / "results"
SECTIONS = ("fit", "test")
#: Peers that prove nothing about this loss.
GREEDY = ("scikit-survival", "osst")


def fit(args: argparse.Namespace) -> Iterator[dict]:
    """Every set, by depth: losses and seconds."""
    for depth in map(int, args.depths.split(",")):
        for name, (X, targets) in regression.chosen(_data.survival(), args).items():
            job = _jobs.Job(
                name,
                X,
                targets[:, 1],
                "survival",
                depth,
                time_limit=args.time_limit,
                values=targets,
            )
            found = _peers.interleaved(job, _peers.pythons(args), args.repeat)
            row: dict[str, Any] = {"set": name, "rows": len(X), "tests": X.shape[1], "depth": depth}
            ours = found[_peers.OURS]
            row |= {
                "loss": regression.exactly(ours.get("value")),
                "bound": regression.exactly(ours.get("bound")),
                "leaves": ours.get("leaves"),
                "status": ours["status"],
                "seconds": ours.get("cpu"),
            }
            for peer, theirs in found.items():
                if peer == _peers.OURS:
                    continue
                row |= {
                    f"{peer} loss": regression.exactly(theirs.get("value")),
                    f"{peer} status": theirs["status"],
                    f"{peer} seconds": theirs.get("cpu"),
                }
                if peer not in GREEDY and "cpu" in theirs and "cpu" in ours:
                    row[f"{peer} ratio"] = round(ours["cpu"] / theirs["cpu"], 4)
            row["note"] = "; ".join(
                f"{n}: {r['message']}" for n, r in found.items() if r.get("message")
            )
            yield row


# -- rows that were held back --------------------------------------------------------------------


def test(args: argparse.Namespace) -> Iterator[dict]:
    """Concordance and integrated Brier score on rows that were held back."""
    for depth in map(int, args.depths.split(",")):
        for name, (X, targets) in regression.chosen(_data.survival(), args).items():
            scores: dict[str, list[tuple[float, float]]] = {}
            for seed in range(args.splits):
                held = np.zeros(len(X), dtype=bool)
                order = np.random.default_rng(seed).permutation(len(X))
                held[order[: len(X) // 5]] = True
                # The Brier score weighs by the training rows' censoring, known up to their last time.
                held_back = held & (targets[:, 0] < targets[~held, 0].max())
                split = (X[~held], targets[~held], X[held_back], targets[held_back])
                for who, scored in measured(*split, depth, args).items():
                    scores.setdefault(who, []).append(scored)
            for who, found in scores.items():
                concordance, brier = np.mean(found, axis=0)
                yield {
                    "set": name,
                    "depth": depth,
                    "program": who,
                    "splits": len(found),
                    "concordance": round(float(concordance), 4),
                    "brier": round(float(brier), 4),
                }


def measured(
    X: np.ndarray, seen: np.ndarray, X_new: np.ndarray, new: np.ndarray, depth: int, args: Any
) -> dict[str, tuple[float, float]]:
    """(concordance, integrated Brier score) by program, of one split."""
    from sksurv.metrics import concordance_index_censored, integrated_brier_score

    grid = np.unique(np.quantile(new[new[:, 1] > 0, 0], np.linspace(0.05, 0.95, 50)))
    grid = grid[(grid >= new[:, 0].min()) & (grid < new[:, 0].max())]
    out = {}
    for who, (risk, curves) in predictions(X, seen, X_new, grid, depth, args).items():
        concordance = concordance_index_censored(new[:, 1] > 0, new[:, 0], risk)[0]
        brier = integrated_brier_score(structured(seen), structured(new), curves, grid)
        out[who] = (float(concordance), float(brier))
    return out


def predictions(
    X: np.ndarray, seen: np.ndarray, X_new: np.ndarray, grid: np.ndarray, depth: int, args: Any
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Risks and survival curves of new rows by program."""
    from milp_trees.tasks.survival import Survival, nelson_aalen

    times, hazard = nelson_aalen(seen[:, 0], seen[:, 1], None)
    times, hazard = np.asarray(times, dtype=float), np.asarray(hazard, dtype=float)
    at = np.searchsorted(times, grid, side="right")
    baseline = np.concatenate([[0.0], hazard])[at]
    data = mt.Dataset(X, targets=seen, target_names=("time", "event"))
    result = mt.solve(
        mt.Problem(data, Survival(), mt.Trees(depth)), "dp", time_limit=args.time_limit
    )
    assert result.tree is not None
    theta = np.array(result.tree.predict(mt.Dataset(X_new)), dtype=float)
    out = {"milp-trees": (theta, np.exp(-theta[:, None] * baseline))}
    peers = args.peers.split(",")
    if "pystreed" in peers:
        import pystreed
        from _worker import survival_trees

        model = survival_trees(pystreed)(max_depth=depth).fit(X.astype(int), structured(seen))
        hazards = model._solver._predict(
            model.fit_result, X_new.astype(np.intc), model._process_extra_data(X_new, None)
        )
        theta = np.asarray(hazards, dtype=float)
        out["pystreed"] = (theta, np.exp(-theta[:, None] * baseline))
    if "scikit-survival" in peers:
        from sksurv.tree import SurvivalTree

        grown = SurvivalTree(max_depth=depth, random_state=0).fit(X, structured(seen))
        curves = np.array([f(grid) for f in grown.predict_survival_function(X_new)])
        out["scikit-survival"] = (grown.predict(X_new), curves)
    return out


def structured(targets: np.ndarray) -> np.ndarray:
    """Times and events in the form that scikit-survival and pystreed take."""
    out = np.empty(len(targets), dtype=[("event", bool), ("time", float)])
    out["event"], out["time"] = targets[:, 1] > 0, targets[:, 0]
    return out


# -- the tables ----------------------------------------------------------------------------------


def means(table: pd.DataFrame) -> pd.DataFrame:
    """Mean scores by depth and program over the sets."""
    by = table.groupby(["depth", "program"], sort=False)[["concordance", "brier"]].mean().round(4)
    return by.reset_index()


MAKERS = {"fit": fit, "test": test}
KEYS = {"fit": ["set", "depth"], "test": ["set", "depth", "program"]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _peers.add_arguments(parser)
    parser.set_defaults(peers="pystreed,scikit-survival")
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--sets", default="all")
    parser.add_argument("--depths", default="3,4")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--time-limit", type=float, default=120)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for section in args.sections.split(","):
        rows, table = [], pd.DataFrame()
        for row in MAKERS[section](args):
            rows.append(row)
            shown = {k: v for k, v in row.items() if v not in (None, "")}
            print("  ".join(f"{k}={v}" for k, v in shown.items()), flush=True)
            table = regression.keep(rows, args.out / f"survival_{section}.csv", KEYS[section])
        if section == "test" and len(table):
            print(means(table).to_string(index=False))
        elif "pystreed loss" in table:
            print(regression.summary(table, "pystreed", "loss").to_string(index=False))


if __name__ == "__main__":
    main()
