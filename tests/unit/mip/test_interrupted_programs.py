"""PuLP's solvers are programs: an interrupt may come before they run, or end them at once."""

import subprocess
import sys
import time

import pytest

from milp_trees.common.limits import Limits
from milp_trees.mip.solver import Job
from milp_trees.results.result import Limit, Status
from milp_trees.testing.matrices import set_cover


@pytest.mark.filterwarnings("ignore:.*PuLP 4:DeprecationWarning")
@pytest.mark.parametrize("start", [False, True])
def test_a_program_that_an_interrupt_ends_is_an_interrupted_run(start, monkeypatch):
    """CBC hears Ctrl-C only once it has read its model; before that it is ended."""
    pulp = pytest.importorskip("pulp")
    from milp_trees.solvers.pulp_bridge import Run

    model = set_cover(0)
    ones = model.upper if start else None
    run = Run(Job(model, Limits(time=60), start=ones), lambda event: None, lambda: True)

    def solve(solver):
        time.sleep(0.2)  # the order to stop comes before the program is there
        deaf = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_DFL); time.sleep(30)"
        if subprocess.run([sys.executable, "-S", "-c", deaf]).returncode != 0:
            raise pulp.PulpSolverError("Pulp: Error while trying to execute")

    monkeypatch.setattr(run.problem, "solve", solve)
    began = time.perf_counter()
    answer = run.answer()
    assert time.perf_counter() - began < 20, "the program that came late was interrupted too"
    assert (answer.status, answer.limit, answer.x) == (Status.NO_SOLUTION, Limit.INTERRUPTED, None)
    assert "was interrupted and wrote no solution" in answer.message
