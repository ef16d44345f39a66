"""Killing any process of a study at any moment loses no finished row and repeats none.

`MILP_TREES_KILLS=50 python -m pytest -m "" tests/unit/running/test_kills.py` kills 50 times, with
processes and with two Dask workers on the loopback interface.
"""

import os

import pytest
from killing import Killing

from milp_trees.studies.running.cores import here

KILLS = int(os.environ.get("MILP_TREES_KILLS", "2"))


@pytest.mark.timeout(120 + 20 * KILLS)
@pytest.mark.parametrize("where", [pytest.param("processes", marks=pytest.mark.slow), "dask"])
def test_a_study_that_is_killed_again_and_again_ends_with_every_row_once(tmp_path, where):
    if where == "dask":
        pytest.importorskip("distributed", reason="dask and distributed are not installed")
    jobs = min(2, len(here())) if where == "processes" else None
    kills = KILLS if where == "dask" or "MILP_TREES_KILLS" in os.environ else 1
    study = Killing(tmp_path / "k", 2 + kills, seed=kills, executor=where, jobs=jobs)
    try:
        if where == "dask":
            study.dask()
        study.finish(kills)
        study.check()
        assert sum(study.killed.values()) == kills, study.killed
    finally:
        study.close()
