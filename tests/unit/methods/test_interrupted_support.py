"""Ctrl-C while a method finds out whether it takes a problem."""

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.methods.method import Method


class Enumerates(Method):
    """Needs long to know whether it takes a problem, and is interrupted then."""

    name = "enumerates"

    def unsupported(self, problem):
        raise KeyboardInterrupt

    def search(self, problem, limits, start, progress):
        raise AssertionError("no search after an interrupt")


def test_the_start_is_kept():
    problem = mt.Problem(
        mt.Dataset([[0], [1], [1]], y=["no", "yes", "yes"]), mt.Accuracy(), mt.Trees(1)
    )
    start = mt.solve(problem, "enumerate").tree
    result = Enumerates().run(problem, Limits(time=5), start)
    assert (result.limit, result.tree) == (mt.plugins.Limit.INTERRUPTED, start)
    assert result.status is mt.plugins.Status.FEASIBLE
    assert "The run was interrupted while the data" in result.message
