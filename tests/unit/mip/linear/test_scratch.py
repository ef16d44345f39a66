"""Temporary folders are removed: by their owner, by a solver process whose parent was killed, and
by the next start if everybody was.
"""

import os
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

from milp_trees.common import scratch
from milp_trees.mip.registry import registry

#: A process that solves what takes hours, with a solver that works through files; it says the
#: number of the solver's process.
SOLVING = textwrap.dedent(
    """
    import sys, threading
    import numpy as np
    from scipy import sparse
    from milp_trees.common.limits import Limits
    from milp_trees.mip import runner
    from milp_trees.mip.linear.matrix import MatrixModel
    from milp_trees.mip.solver import Job

    rng = np.random.default_rng(0)
    n, rows = 150, 20
    A = rng.integers(10, 1000, (rows, n)).astype(float)
    c = -np.round(A.mean(axis=0) + rng.integers(0, 500, n))
    sides = np.full(rows, -np.inf), np.round(A.sum(axis=1) / 2)
    model = MatrixModel("m", c, 0.0, sparse.csr_matrix(A), *sides, np.zeros(n), np.ones(n), np.ones(n, dtype=bool))
    runner.warm_up(sys.argv[1])
    print(runner._pool.idle[sys.argv[1]].process.pid, flush=True)
    answer = runner.run(sys.argv[1], Job(model, Limits(time=float(sys.argv[2]))))
    print(answer.limit, flush=True)
    """
)


def children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def launch(home, solver: str, limit: float) -> subprocess.Popen:
    environment = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(home))}
    return subprocess.Popen(
        [sys.executable, "-c", SOLVING, solver, str(limit)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def start(home, solver: str) -> tuple[subprocess.Popen, psutil.Process]:
    """The process, and the process of its solver, once the solver itself runs."""
    parent = launch(home, solver, 60)
    worker = psutil.Process(int(parent.stdout.readline()))
    end = time.perf_counter() + 60
    while not any("cbc" in p.name() for p in children(worker.pid)):
        assert parent.poll() is None
        assert time.perf_counter() < end
        time.sleep(0.05)
    return parent, worker


def files(home) -> list[str]:
    return sorted(p.name for p in home.rglob("*") if p.is_file())


@pytest.fixture(params=["cbc", "pulp"])
def solver(request):
    if not registry.solver(request.param).availability().found:
        pytest.skip(f"{request.param} is not here")
    return request.param


@pytest.mark.slow
def test_files_of_a_killed_process_are_removed_by_its_solver_process(tmp_path, solver):
    parent, worker = start(tmp_path, solver)
    family = [worker, *children(worker.pid)]
    assert files(tmp_path)
    assert all(p.name.startswith(scratch.PREFIX) for p in tmp_path.iterdir())
    parent.kill()
    parent.communicate()
    _, alive = psutil.wait_procs(family, timeout=30)
    assert not alive
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_files_of_processes_that_were_all_killed_are_removed_by_the_next_start(tmp_path, solver):
    parent, worker = start(tmp_path, solver)
    family = [worker, *children(worker.pid)]
    worker.suspend()
    parent.kill()
    for process in family:
        process.kill()
    parent.communicate()
    psutil.wait_procs(family, timeout=30)
    (left,) = tmp_path.iterdir()
    assert scratch.sweep(tmp_path) == [left]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_no_file_is_left_after_a_limit(tmp_path, solver):
    message, _ = launch(tmp_path, solver, 1).communicate(timeout=60)
    assert "TIME" in message
    assert not list(tmp_path.iterdir())


def test_folders_in_use_and_those_of_others_are_left_alone(tmp_path):
    """A number that was given to another process since counts as gone."""
    me = psutil.Process()
    mine = tmp_path / f"{scratch.PREFIX}{me.pid}-{int(me.create_time())}-a"
    before = tmp_path / f"{scratch.PREFIX}{me.pid}-{int(me.create_time()) - 1000}-b"
    elsewhere = tmp_path / "milp-trees-scratch-anothermachine-1-1-c"
    unknown = tmp_path / "milp-trees-model-abc"
    for path in (mine, before, elsewhere, unknown):
        path.mkdir()
    assert scratch.sweep(tmp_path) == [before]
    assert mine.exists()
    assert elsewhere.exists()
    assert unknown.exists()


def test_folder_lasts_as_long_as_its_block():
    with scratch.folder() as path:
        (path / "file").write_text("x")
    assert not path.exists()


def test_a_kept_model_is_removed_when_it_is_a_week_old(tmp_path, monkeypatch):
    """A message names its place, so it outlives the process; a link is never followed."""
    monkeypatch.setattr(scratch.tempfile, "gettempdir", lambda: str(tmp_path))
    young, old = scratch.kept(), scratch.kept()
    for folder in (young, old):
        (folder / "model.mps.gz").write_bytes(b"")
    other = tmp_path / "of-the-user"
    other.mkdir()
    link = tmp_path / f"{scratch.KEPT}link"
    link.symlink_to(other)
    then = time.time() - scratch.KEPT_DAYS * 86_400 - 60
    os.utime(old, (then, then))
    os.utime(link, (then, then), follow_symlinks=False)
    assert scratch.sweep(tmp_path) == [old]
    assert young.is_dir()
    assert other.is_dir()
    assert not old.exists()
