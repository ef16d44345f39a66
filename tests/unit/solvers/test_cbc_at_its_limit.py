"""CBC 2.10 says "Integer infeasible" when its time ends during preprocessing; that is not believed."""

import sys
from dataclasses import replace

import pytest

from milp_trees.common.limits import Limit, Limits
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry
from milp_trees.mip.solver import Job
from milp_trees.results.result import Status
from milp_trees.solving.estimate import named_formulation
from milp_trees.testing import problem

#: A program that answers like CBC: it calls every model infeasible, and then takes its time.
PROGRAM = """#!/bin/sh
echo "Welcome to the CBC MILP Solver"
echo "Version: 2.10.3"
[ "$1" = "-quit" ] && exit 0
echo "Pre-processing says infeasible or unbounded"
echo "Integer infeasible - objective value 11.77868852" > model.sol
sleep {seconds}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
@pytest.mark.parametrize(
    ("seconds", "limit", "said"),
    [
        (0.3, 0.3, (Status.NO_SOLUTION, Limit.TIME)),
        (0.0, 60.0, (Status.INFEASIBLE, None)),
        (0.0, None, (Status.INFEASIBLE, None)),
    ],
)
def test_infeasible_is_believed_only_before_the_time_has_ended(
    seconds, limit, said, tmp_path, monkeypatch
):
    program = tmp_path / "cbc"
    program.write_text(PROGRAM.format(seconds=seconds))
    program.chmod(0o755)
    solver = registry.solver("cbc")
    monkeypatch.setattr(sys.modules[type(solver).__module__], "executable", lambda: str(program))
    model = compile_model(named_formulation("state-flow").build(problem("xor")))
    job = Job(model, replace(Limits(), time=limit))
    answer = solver.solve(job, lambda event: None, lambda: False)
    assert (answer.status, answer.limit) == said
