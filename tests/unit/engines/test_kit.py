"""The base of a run, and compiling ahead."""

import time

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.common.limits import Limit, Limits, Stopped
from milp_trees.engines.kit.compile import compile_once, tiny_problem
from milp_trees.engines.kit.run import Run, infeasible
from milp_trees.methods.finish import Clock
from milp_trees.methods.watch import Watch
from milp_trees.results.result import Status


def a_run(**limits):
    problem = tiny_problem(mt.Accuracy())
    return Run("an engine", problem, Limits(**limits), None, Clock(), fallback=False)


@pytest.mark.parametrize(
    ("error", "limit"),
    [
        (Stopped(Limit.NODES), Limit.NODES),
        (KeyboardInterrupt(), Limit.INTERRUPTED),
        (MemoryError(), Limit.MEMORY),
    ],
)
def test_what_ends_an_attempt_is_its_limit(error, limit):
    def work():
        raise error

    run = a_run(time=None)
    assert run.attempt(lambda: 7) == 7
    assert run.limit is None
    assert run.attempt(work) is None
    assert run.limit is limit


def test_limits_of_nodes_and_memory():
    run = a_run(nodes=3, memory_mb=10)
    run.check_nodes(2)
    with pytest.raises(Stopped, match="nodes"):
        run.check_nodes(3)
    assert run.memory(7) == 5 * 2**20
    assert a_run().memory(7) == 7


def test_a_run_without_a_limit_and_without_a_tree_is_infeasible():
    run = a_run()
    assert run.result(None, 0).status is Status.ERROR  # a leaf is feasible here
    run.limit = Limit.TIME
    stopped = run.result(None, 0)
    assert (stopped.status, stopped.limit) == (Status.NO_SOLUTION, Limit.TIME)
    none = mt.Problem(run.problem.dataset, mt.Accuracy(), mt.Trees(2, min_samples_leaf=41))
    assert infeasible("an engine", none, Clock()).status is Status.INFEASIBLE


def test_code_beside_a_run_has_its_own_stop_and_is_looked_at():
    stop, looks = np.zeros(1, dtype=np.uint8), []
    watch = Watch(Limits(time=0.3))

    def work(given):
        while not given[0]:
            time.sleep(0.01)

    with pytest.raises(Stopped):
        watch.beside(work, stop, lambda: looks.append(stop[0]))
    assert looks
    assert stop[0] == 0


def test_work_that_compiles_is_done_once_for_each_kind():
    done = []
    for kind in (1, 2, 1):
        compile_once("test", lambda kind=kind: done.append(kind), kind)
    assert done == [1, 2]
