"""Optima on public data that pystreed proved too; the tables of the benchmarks keep both."""

from pathlib import Path

import pandas as pd
import pytest

import milp_trees as mt
from milp_trees.mip.registry import registry

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results"
#: Sets of the F1 table that both ways of solving take well under a second.
SMALL = ("audiology", "hepatitis", "tic-tac-toe", "vote")


def proven_by_pystreed(name, engine):
    table = pd.read_csv(RESULTS / name)
    return table[(table[engine] == "pystreed") & (table.status == "optimal")]


def test_policies_on_warfarin(data_folder):
    """Every split and estimate at depth 2 and 3, except where the peer's own tree is worse."""
    table = proven_by_pystreed("policies_times.csv", "engine_name")
    table = table[
        table.set.str.startswith("warfarin") & (table.depth <= 3) & ~table.worse.astype(bool)
    ]
    assert len(table) > 30
    for split, rows in table.groupby("set"):
        name = f"train_{split.removeprefix('warfarin ')}.csv"
        data, _ = mt.load_policy(data_folder / "policy" / "warfarin" / name)
        for row in rows.itertuples():
            task = registry.task(f"policy-{row.method.lower()}")()
            found = mt.solve(mt.Problem(data, task, mt.Trees(row.depth)), method="dp")
            where = f"{split}, {row.method}, depth {row.depth}"
            assert found.optimal, where
            assert found.value.number == pytest.approx(row.value, rel=1e-9), where


@pytest.mark.parametrize("method", ["dp", "pareto"])
def test_f1_by_steps_and_by_the_front(data_folder, method):
    table = proven_by_pystreed("engines.csv", "method")
    table = table[(table.section == "f1") & (table.depth == "3") & table.set.isin(SMALL)]
    assert sorted(table.set) == sorted(SMALL)
    for row in table.itertuples():
        data = mt.load(data_folder / "classification" / f"{row.set}.txt")
        found = mt.solve(mt.Problem(data, mt.tasks.F1(), mt.Trees(3)), method=method)
        assert found.optimal, row.set
        assert found.value.number == pytest.approx(row.value, rel=1e-12), row.set
