"""Column generation on a Dask cluster."""

import os
import random
import signal

import pytest
from dantzig_wolfe_forests import random_view, solve

from milp_trees.common.errors import SolverFailure, SolverUnavailable
from milp_trees.common.limits import Limits
from milp_trees.pruning.engines.dantzig_wolfe.coupling import coupled
from milp_trees.pruning.engines.dantzig_wolfe.method import DantzigWolfe
from milp_trees.pruning.engines.dantzig_wolfe.places import Cluster
from milp_trees.pruning.engines.dantzig_wolfe.run import PricingRun

# -- on a cluster ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    """Two workers, each a process, on the loopback interface."""
    distributed = pytest.importorskip(
        "distributed", reason="dask and distributed are not installed"
    )
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=":0",
        worker_dashboard_address=":0",
        silence_logs=50,
    ) as started:
        yield started


@pytest.mark.slow
def test_two_workers_price_as_one_process_does(cluster, medium):
    """By address and by client; the trees are on both workers, and a client that was given stays
    open.
    """
    distributed = pytest.importorskip("distributed")
    here, sizes = solve(medium)
    by_address = solve(medium, DantzigWolfe(cluster=cluster.scheduler_address))
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        for there, more in (by_address, solve(medium, DantzigWolfe(cluster=client))):
            assert more["model_size"] == sizes["model_size"]
            assert (there.keep == here.keep).all()
            assert [p[1:] for p in there.trace] == [p[1:] for p in here.trace]
        place = Cluster(coupled(medium), client)
        assert len(place.parts) == 2
        assert (
            len({worker for workers in client.who_has(place._there).values() for worker in workers})
            == 2
        )
        place.close()
        assert client.status == "running"
    assert "client" in DantzigWolfe(cluster=client).label


@pytest.mark.slow
def test_a_worker_that_dies_is_named(medium):
    """The trees it held are lost; no answer is made up, and nothing waits for ever."""
    distributed = pytest.importorskip(
        "distributed", reason="dask and distributed are not installed"
    )
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=":0",
        silence_logs=50,
    ) as one:
        parts = coupled(medium)
        place = Cluster(parts, one.scheduler_address)
        killed = one.workers[0].process.process.pid

        def kill(point):
            if run.rounds == 2:
                os.kill(killed, signal.SIGKILL)

        run = PricingRun(medium, parts, place, Limits(time=30.0), kill)
        with pytest.raises(SolverFailure, match="The Dask cluster lost the trees"):
            DantzigWolfe().solve(run, Limits())
        place.close()


def test_a_cluster_that_is_not_there_is_named(monkeypatch):
    """Nobody at the address, a name that is no address, a cluster without workers."""
    distributed = pytest.importorskip(
        "distributed", reason="dask and distributed are not installed"
    )
    monkeypatch.setattr("milp_trees.methods.cluster.ANSWERS_WITHIN", 1)
    view = random_view(random.Random(0))
    with pytest.raises(
        SolverUnavailable, match=r"No Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"
    ):
        solve(view, DantzigWolfe(cluster="tcp://127.0.0.1:9"))
    empty = distributed.LocalCluster(
        n_workers=0, host="127.0.0.1", dashboard_address=":0", silence_logs=50
    )
    with empty, pytest.raises(SolverUnavailable, match="has no workers"):
        solve(view, DantzigWolfe(cluster=empty.scheduler_address))


@pytest.mark.slow
def test_without_distributed_one_sentence_says_what_to_install(monkeypatch):
    """The extra is named."""
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        SolverUnavailable, match=r"not installed; pip install 'milp-trees\[cluster\]'\."
    ):
        solve(random_view(random.Random(0)), DantzigWolfe(cluster="tcp://127.0.0.1:9"))
