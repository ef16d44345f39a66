"""Every solver that is here: known optima, limits, starts, interrupts, logs, and no claim beyond
what is known.
"""

import functools
import gzip
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from solver_params import solver_params

from milp_trees import Limits
from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import LOG_HEAD
from milp_trees.linear.files import write_model
from milp_trees.linear.matrix import MatrixModel
from milp_trees.mip.registry import registry
from milp_trees.mip.runner import run
from milp_trees.mip.solver import Job
from milp_trees.results.result import Limit, Status
from milp_trees.testing.matrices import (
    CONTRADICTIONS,
    INFINITY,
    knapsacks,
    least_value,
    model,
    set_cover,
)
from milp_trees.testing.solver_checks import SOLVER_CHECKS, check_claims


class Rows:
    """Finds the rows of a matrix that a point violates."""

    def __init__(self, A, lower) -> None:
        self.A, self.lower = sparse.csr_matrix(A), lower

    def separate(self, x, integral):
        wrong = np.flatnonzero(self.A @ x < self.lower - 1e-6)
        return self.A[wrong], self.lower[wrong], np.full(len(wrong), INFINITY)


@pytest.fixture(params=solver_params())
def solver(request):
    return registry.solver(request.param)


def having(capability: str):
    """The decorator of a test that runs on the solvers with a capability."""
    return pytest.mark.parametrize("solver", solver_params(capability), indirect=True)


KEPT = [
    pytest.param(*there.values, claim, marks=there.marks)
    for claim, (_, capability) in SOLVER_CHECKS.items()
    for there in solver_params(*([capability] if capability else []))
]


@pytest.mark.parametrize(("solver", "claim"), KEPT, indirect=["solver"])
def test_a_solver_keeps_what_all_must(solver, claim):
    SOLVER_CHECKS[claim][0](solver.name)


@functools.cache
def good_point() -> np.ndarray:
    return run("highs", Job(knapsacks(60, 10), Limits(time=0.7))).x.round()


@pytest.mark.parametrize(
    "case", [c for c in CONTRADICTIONS if "integers" not in c and "integer_" not in c]
)
@having("lp")
def test_contradictory_relaxation_is_infeasible_on_every_solver(solver, case):
    answer = run(
        solver.name, Job(model([1, 2], **CONTRADICTIONS[case]), Limits(time=20), relax=True)
    )
    assert answer.status is Status.INFEASIBLE, answer.message


def test_row_that_contradicts_itself_reaches_no_solver(monkeypatch):
    from milp_trees.mip import runner

    monkeypatch.setattr(runner, "_pool", None)
    answer = run("highs", Job(model([1, 2], **CONTRADICTIONS["range"]), Limits(time=20)))
    assert answer.message == "Row r0 of test is to be at least 2 and at most 1."


def test_feasible_start_is_accepted_and_infeasible_is_not(solver):
    """Without a start nothing is said."""
    m = set_cover(5)
    best = run("highs", Job(m, Limits(time=20)))
    wanted = [
        (None, None),
        (m.rounded(best.x), True),
        (np.ones(m.n_variables), True),
        (np.zeros(m.n_variables), False),
    ]
    for start, accepted in wanted:
        answer = run(solver.name, Job(m, Limits(time=20), start=start))
        check_claims(m, answer)
        assert answer.objective == pytest.approx(best.objective)
        assert answer.start_accepted is accepted or (
            solver.name == "pulp" and answer.start_accepted is None
        )


def test_optimal_start_is_held_at_a_time_limit(solver):
    """The incumbent is never worse than an accepted start."""
    m = knapsacks(60, 10)
    start = good_point()
    answer = run(solver.name, Job(m, Limits(time=0.3), start=start))
    check_claims(m, answer)
    assert answer.start_accepted is True or solver.name == "pulp"
    if answer.start_accepted and answer.x is not None:
        assert answer.objective <= m.objective(start) + 1e-6
    assert answer.x is not None or answer.message


WRONG_VALUES = {
    "highs": ("presolve", "perhaps"),
    "cbc": ("cuts", "perhaps"),
    "scip": ("limits/solutions", "perhaps"),
    "cp-sat": ("linearization_level", "perhaps"),
    "pulp": ("solver", "perhaps"),
}


def test_wrong_value_of_an_option_is_an_error(solver):
    key, value = WRONG_VALUES[solver.name]
    answer = run(solver.name, Job(set_cover(0), Limits(time=20), options={key: value}))
    assert answer.status is Status.ERROR
    assert value in answer.message or key in answer.message


@having("root-bound")
def test_root_bound_lies_between_relaxation_and_optimum(solver):
    m = knapsacks(18, 3)
    relaxation = run(solver.name, Job(m, Limits(time=20), relax=True))
    answer = run(solver.name, Job(m, Limits(time=20)))
    assert answer.status is Status.OPTIMAL
    assert relaxation.bound - 1e-3 <= answer.root_bound <= answer.objective + 1e-6
    assert answer.nodes > 0


@having("root-bound")
def test_model_that_presolve_solves_has_a_root_bound(solver):
    answer = run(solver.name, Job(assignment(2), Limits(time=20)))
    check_claims(assignment(2), answer)
    assert answer.root_bound == pytest.approx(answer.objective, abs=1e-3)


def test_rows_found_on_the_way_give_the_same_optimum(solver):
    """Model with two of its rows, the others by a separator; a solver that cannot do it must not
    ignore them.
    """
    whole = set_cover(7, 18, 30)
    first = MatrixModel(
        "part",
        whole.c,
        whole.offset,
        whole.A[:2],
        whole.row_lower[:2],
        whole.row_upper[:2],
        whole.lower,
        whole.upper,
        whole.integer,
    )
    job = Job(
        first,
        Limits(time=20),
        start=np.ones(whole.n_variables),
        lazy=Rows(whole.A, whole.row_lower),
    )
    if "lazy" not in solver.capabilities:
        with pytest.raises(Unsupported, match="lazy"):
            run(solver.name, job)
        return
    answer = run(solver.name, job)
    check_claims(whole, answer)
    assert answer.status is Status.OPTIMAL
    assert answer.objective == pytest.approx(run("highs", Job(whole, Limits(time=20))).objective)
    assert answer.cuts > 0
    assert answer.start_accepted
    incomplete = run(
        solver.name, Job(first, Limits(time=20), start=np.zeros(whole.n_variables), lazy=job.lazy)
    )
    assert incomplete.start_accepted is False


def test_interrupt_keeps_the_incumbent(solver):
    m, began = knapsacks(), time.perf_counter()
    answer = run(
        solver.name, Job(m, Limits(time=30)), stop=lambda: time.perf_counter() - began > 0.6
    )
    check_claims(m, answer)
    assert (answer.status, answer.limit) == (Status.FEASIBLE, Limit.INTERRUPTED)
    assert answer.seconds < 6


def test_log_is_in_the_result_and_in_the_file(solver, tmp_path):
    file = tmp_path / "solver.log"
    answer = run(solver.name, Job(set_cover(1), Limits(time=20, log_file=str(file))))
    assert len(answer.log) > 100
    head, _, said = file.read_text().partition("\n")
    assert f"{head}\n" == LOG_HEAD
    assert said.strip()[:40] in answer.log


@having("seed")
def test_same_seed_same_search(solver):
    m = knapsacks(18, 3)
    first, second = (run(solver.name, Job(m, Limits(time=20, seed=3))) for _ in range(2))
    assert first.status is Status.OPTIMAL
    assert (first.nodes, first.root_bound, first.x.tolist()) == (
        second.nodes,
        second.root_bound,
        second.x.tolist(),
    )


@pytest.mark.slow
def test_two_threads_give_the_same_optimum(solver):
    m = knapsacks(18, 3)
    answer = run(solver.name, Job(m, Limits(time=20, threads=2)))
    check_claims(m, answer)
    assert answer.objective == pytest.approx(least_value(m))
    assert "threads" in solver.capabilities or "one thread" in answer.message


@pytest.mark.slow
def test_gap_allowed_is_no_more_than_claimed(solver):
    """With a wide gap the bound says how far the proof went."""
    m = knapsacks(18, 3)
    answer = run(solver.name, Job(m, Limits(time=20, rel_gap=0.05)))
    check_claims(m, answer)
    assert answer.status is Status.OPTIMAL
    assert answer.bound - 1e-6 <= least_value(m) <= answer.objective + 1e-6
    assert answer.objective - answer.bound <= 0.05 * abs(answer.bound) + 1


# -- single solvers ------------------------------------------------------------------------------------------------------


@pytest.fixture
def highs():
    return registry.solver("highs")


def assignment(n: int = 8) -> MatrixModel:
    """Its relaxation is integral."""
    rng = np.random.default_rng(1)
    A = np.zeros((2 * n, n * n))
    for i in range(n):
        A[i, i * n : (i + 1) * n] = 1
        A[n + i, i::n] = 1
    return model(rng.integers(1, 50, n * n), A, np.ones(2 * n), np.ones(2 * n), offset=7)


@pytest.mark.parametrize("suffix", [".mps", ".lp", ".mps.gz", ".lp.gz"])
def test_a_written_model_is_read_back_the_same(tmp_path, suffix):
    import highspy

    m = set_cover(3)
    m.row_labels = ["cover of rows[1,2]"] * m.n_rows
    path = write_model(m, tmp_path / f"model{suffix}")
    plain = tmp_path / f"plain{suffix.removesuffix('.gz')}"
    plain.write_bytes(
        gzip.decompress(path.read_bytes()) if suffix.endswith(".gz") else path.read_bytes()
    )
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.readModel(str(plain))
    h.run()
    assert h.getInfo().objective_function_value == pytest.approx(least_value(m))
    assert h.getLp().row_names_[0] == "cover_of_rows_1_2__0"


def test_unbounded_model_is_an_error():
    m = model([-1], [[1]], [0], [INFINITY], up=[INFINITY])
    for name in ("highs", "cbc", "scip", "pulp"):
        if registry.solver(name).availability().found:
            answer = run(name, Job(m, Limits(time=20)))
            assert answer.status is Status.ERROR
            assert "nbound" in answer.message


def test_cp_sat_says_what_it_cannot_take():
    cp_sat = registry.solver("cp-sat")
    assert cp_sat.unsupported(set_cover(0)) is None
    flows = model([1, 1], [[1, 1]], [1], [2], integer=[True, False])
    assert "1 continuous" in cp_sat.unsupported(flows)
    assert "fractional coefficients" in cp_sat.unsupported(model([1, 1], [[0.5, 1]], [1], [2]))
    assert "unbounded" in cp_sat.unsupported(model([1], [[1]], [1], [2], up=[INFINITY]))
    if cp_sat.availability().found:
        assert run("cp-sat", Job(flows, Limits())).status is Status.UNSUPPORTED


def test_cp_sat_takes_flows_that_are_declared_integral():
    """Bounds that only rows give are found: z <= x + y, and L >= 3x + 2z - 1 which the costs keep
    small.
    """
    pytest.importorskip("ortools", reason="OR-tools is not installed")
    m = model(
        [2, 2, -3, 1],
        [[-1, -1, 1, 0], [-3, 0, -2, 1]],
        [-INFINITY, -1],
        [0, INFINITY],
        up=[1, 1, INFINITY, INFINITY],
        integer=[True, True, False, False],
    )
    answer = run("cp-sat", Job(replace(m, implied_integer=True), Limits()))
    assert answer.status is Status.OPTIMAL
    assert answer.objective == pytest.approx(run("highs", Job(m, Limits())).objective)


@pytest.mark.filterwarnings("ignore:.*PuLP 4:DeprecationWarning")
def test_pulp_gets_the_whole_model():
    """Also through another of its solvers; and a range becomes two constraints."""
    pytest.importorskip("pulp")
    from milp_trees.solvers.pulp_bridge import to_pulp

    m = model(
        [1, -2], [[1, 1], [1, -1]], [3, -INFINITY], [7, 2], low=[-3, 0], up=[5, 9], offset=-1.25
    )
    problem = to_pulp(m)
    assert [v.name for v in problem.variables()] == ["x0", "x1"]
    assert sorted(problem.constraints) == ["r0_low", "r0_up", "r1"]
    assert {v.cat for v in problem.variables()} == {"Integer"}
    answer = run("pulp", Job(m, Limits(time=20), options={"solver": "HiGHS"}))
    assert (answer.status, answer.objective) == (Status.OPTIMAL, pytest.approx(-22.25))


@pytest.mark.parametrize("solver", solver_params(names=("cbc",)), indirect=True)
def test_cbc_refuses_options_that_change_its_claims(solver):
    answer = run(solver.name, Job(set_cover(0), Limits(time=20), options={"cutoff": 3}))
    assert answer.status is Status.ERROR
    assert "cutoff" in answer.message


def test_availability_imports_no_solver_library():
    """HiGHS and OR-tools exclude each other from a process."""
    import subprocess
    import sys

    code = """
import sys
from milp_trees.mip.registry import registry
for name in registry.classes("solvers"):
    registry.solver(name).availability()
print(sorted({m.split(".")[0] for m in sys.modules} & {"highspy", "ortools", "pulp", "pyscipopt", "pyomo", "numba", "pandas", "sklearn"}))
"""
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )
