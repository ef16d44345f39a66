"""Small programs about which solvers were wrong, solved right by every one that takes them."""

import numpy as np
import pytest
from scipy import sparse
from solver_params import solver_params

from milp_trees import Limits
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.runner import run
from milp_trees.mip.solver import Job
from milp_trees.results.result import Status
from milp_trees.testing.matrices import INFINITY
from milp_trees.testing.solver_checks import check_claims


def small(c, A, upper, row_upper, integer, start=None):
    """min c x with A x <= row_upper and 0 <= x <= upper, as a job."""
    A = np.atleast_2d(np.array(A, dtype=float))
    model = MatrixModel(
        "small",
        np.array(c, dtype=float),
        0.0,
        sparse.csr_matrix(A),
        np.full(len(A), -INFINITY),
        np.array(row_upper, dtype=float),
        np.zeros(len(c)),
        np.array(upper, dtype=float),
        np.array(integer, dtype=bool),
    )
    return Job(
        model, Limits(time=20, abs_gap=0.0), start=None if start is None else np.array(start)
    )


#: Programs about which solvers were wrong: HiGHS 1.16 with a start and presolve returned another
#: point than that of its objective; CBC 2.10, whose preprocessing leaves nothing, called -1 optimal
#: in the second and the third infeasible.
HARD = {
    "a start in another space": (
        small(
            [-3, 3, -2, -3],
            [[0, 1, 1, 2], [0, -3, 2, 3]],
            [1, 1, 3, 3],
            [4, 5],
            [1, 1, 0, 0],
            [0.0, 0.0, 0.0, 1.5],
        ),
        -8,
    ),
    "nothing left": (
        small(
            [0, -2, -1, 2, 0],
            [[-1.5, -0.1, -4.5, -0.1, 0.1], [0.1, 0, 0.1, -1.5, 0.2]],
            [3, 3, 1, 3, 2],
            [6, 1],
            [1, 0, 0, 1, 0],
        ),
        -7,
    ),
    "nothing left, called infeasible": (
        small([0, 2, -3, -3, 0], [[3, -1, -1, 2, 2]], [1, 1, 2, 3, 3], [7], [1, 0, 1, 0, 1]),
        -15,
    ),
}


@pytest.mark.parametrize("solver", solver_params("continuous"))
@pytest.mark.parametrize("name", HARD)
def test_programs_about_which_solvers_were_wrong(solver, name):
    job, optimum = HARD[name]
    answer = check_claims(job.model, run(solver, job))
    assert (answer.status, answer.objective) == (Status.OPTIMAL, pytest.approx(optimum))
    assert answer.bound == pytest.approx(optimum)
