"""Every solver that is here: known optima, limits, starts, interrupts, logs, and no claim beyond
what is known.
"""

import functools
import gzip
import itertools
import math
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from solver_params import solver_params

from milp_trees import Limits
from milp_trees.by_name import registry
from milp_trees.errors import Unsupported
from milp_trees.linear.files import write_model
from milp_trees.linear.matrix import MatrixModel
from milp_trees.mip.runner import run
from milp_trees.mip.solver import Answer, Job
from milp_trees.results.result import Limit, Status

INFINITY = float("inf")


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


def model(
    c, A, lower, upper, *, low=None, up=None, integer=None, offset=0.0, name="test"
) -> MatrixModel:
    n = len(c)
    low = np.zeros(n) if low is None else np.array(low, dtype=float)
    up = np.ones(n) if up is None else np.array(up, dtype=float)
    integer = np.ones(n, dtype=bool) if integer is None else np.array(integer, dtype=bool)
    A, lower, upper = (
        sparse.csr_matrix(np.atleast_2d(A).astype(float)),
        np.array(lower, dtype=float),
        np.array(upper, dtype=float),
    )
    return MatrixModel(name, np.array(c, dtype=float), offset, A, lower, upper, low, up, integer)


def set_cover(seed: int, n: int = 12, rows: int = 15) -> MatrixModel:
    rng = np.random.default_rng(seed)
    A = rng.random((rows, n)) < 0.25
    A[np.arange(rows), rng.integers(0, n, rows)] = True
    return model(rng.integers(1, 20, n), A, np.ones(rows), np.full(rows, INFINITY), offset=2.5)


def knapsacks(n: int = 150, rows: int = 20) -> MatrixModel:
    """Several knapsacks at once: points are found at once, proving takes hours."""
    rng = np.random.default_rng(0)
    A = rng.integers(10, 1000, (rows, n))
    c = -np.round(A.mean(axis=0) + rng.integers(0, 500, n))
    return model(c, A, np.full(rows, -INFINITY), np.round(A.sum(axis=1) / 2))


def market_split(n: int = 50, rows: int = 6) -> MatrixModel:
    """Equations that hardly any point fulfils: there is no incumbent for a long time."""
    rng = np.random.default_rng(0)
    A = rng.integers(0, 100, (rows, n))
    side = A.sum(axis=1) // 2
    return model(rng.integers(1, 9, n), A, side, side)


def brute_force(m: MatrixModel) -> float:
    points = np.array(list(itertools.product((0.0, 1.0), repeat=m.n_variables)))
    activity = points @ m.A.toarray().T
    feasible = ((activity >= m.row_lower) & (activity <= m.row_upper)).all(axis=1)
    return float((points @ m.c + m.offset)[feasible].min())


@functools.cache
def good_point() -> np.ndarray:
    return run("highs", Job(knapsacks(60, 10), Limits(time=0.7))).x.round()


def check_claims(m: MatrixModel, answer: Answer) -> None:
    """What holds for every answer to a minimisation."""
    assert answer.status is not Status.ERROR, answer.message
    assert (answer.x is not None) == (answer.status in (Status.OPTIMAL, Status.FEASIBLE))
    if answer.x is not None:
        assert m.violation(answer.x) <= 1e-5
        assert answer.objective == pytest.approx(m.objective(answer.x))
        assert answer.bound is None or answer.bound <= answer.objective + 1e-6
    bounds = [e.bound for e in answer.events if e.bound is not None]
    assert bounds == sorted(bounds)
    assert answer.bound is None or all(b <= answer.bound + 1e-6 * abs(b) for b in bounds)
    assert answer.version


@pytest.mark.parametrize("seed", range(2))
def test_optimum_of_a_set_cover_is_found_and_proven(solver, seed):
    m = set_cover(seed)
    answer = run(solver.name, Job(m, Limits(time=20)))
    check_claims(m, answer)
    assert answer.status is Status.OPTIMAL
    assert answer.limit is None
    assert answer.objective == pytest.approx(brute_force(m))
    # The absolute gap allowed is 0.999: the bound rounds up to the optimum.
    assert math.ceil(answer.bound - 2.5 - 1e-6) + 2.5 == pytest.approx(answer.objective)


def test_bounds_ranges_free_rows_and_general_integers_arrive(solver):
    """min -x - 2y over x in [-3, 5], y in [0, 9], 3 <= x + y <= 7, x - y <= 2: x = -2, y = 9."""
    m = model(
        [-1, -2, 0], [[1, 1, 0], [1, -1, 0], [1, 1, 1]], [3, -INFINITY, -INFINITY], [7, 2, INFINITY],
        low=[-3, 0, 4], up=[5, 9, 4], offset=-1.25,
    )  # fmt: skip
    answer = run(solver.name, Job(m, Limits(time=20, abs_gap=0.0)))
    check_claims(m, answer)
    assert answer.status is Status.OPTIMAL
    assert answer.x.round().tolist() == [-2, 9, 4]
    assert answer.objective == pytest.approx(-17.25)
    assert answer.bound == pytest.approx(-17.25)


@having("continuous")
def test_continuous_and_free_variables_arrive(solver):
    """min t with t >= x - 0.5, t >= 0.5 - x for a binary x: a half; u is free and equals -t."""
    m = model(
        [0, 1, 0],
        [[-1, 1, 0], [1, 1, 0], [0, 1, 1]],
        [-0.5, 0.5, 0],
        [INFINITY, INFINITY, 0],
        low=[0, 0, -INFINITY],
        up=[1, INFINITY, INFINITY],
        integer=[True, False, False],
    )
    answer = run(solver.name, Job(m, Limits(time=20, abs_gap=0.0)))
    assert answer.status is Status.OPTIMAL
    assert answer.x[1:] == pytest.approx([0.5, -0.5])


def test_infeasible_model_is_infeasible(solver):
    """Its relaxation is feasible."""
    m = model([1, 1, 1], [[2, 2, 2]], [3], [3])
    answer = run(solver.name, Job(m, Limits(time=20)))
    check_claims(m, answer)
    assert answer.status is Status.INFEASIBLE


CONTRADICTIONS = {
    "range": {"A": [[1, 1]], "lower": [2], "upper": [1]},
    "range_of_general_integers": {"A": [[1, 1]], "lower": [7], "upper": [3], "up": [9, 9]},
    "bounds_of_a_variable": {
        "A": [[1, 1]],
        "lower": [0],
        "upper": [2],
        "low": [1, 0],
        "up": [0, 1],
    },
    "row_without_variables": {"A": [[0, 0]], "lower": [1], "upper": [2]},
    "two_rows": {"A": [[1, 1], [1, 1]], "lower": [2, -INFINITY], "upper": [INFINITY, 1]},
    "row_and_bounds": {"A": [[1, 1]], "lower": [3], "upper": [INFINITY]},
    "row_and_bounds_from_above": {"A": [[1, 1]], "lower": [-INFINITY], "upper": [-1]},
    "equation_and_integers": {"A": [[2, 2]], "lower": [1], "upper": [1]},
    "no_integers_between_sides": {"A": [[1, 1]], "lower": [0.2], "upper": [0.8]},
    "no_integer_between_bounds": {
        "A": [[1, 1]],
        "lower": [0],
        "upper": [2],
        "low": [0.2, 0],
        "up": [0.8, 1],
    },
}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_contradictory_model_is_infeasible_on_every_solver(solver, case):
    m = model([1, 2], **CONTRADICTIONS[case])
    answer = run(solver.name, Job(m, Limits(time=20)))
    assert answer.status is Status.INFEASIBLE, answer.message
    assert (answer.x, answer.objective, answer.limit) == (None, None, None)


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


def test_time_limit_with_an_incumbent(solver):
    m = knapsacks()
    answer = run(solver.name, Job(m, Limits(time=0.6)))
    check_claims(m, answer)
    assert (answer.status, answer.limit) == (Status.FEASIBLE, Limit.TIME)
    assert answer.seconds < 4
    if "trace" in solver.capabilities:
        assert answer.bound < answer.objective
        assert answer.events
        assert min(e.incumbent for e in answer.events if e.incumbent is not None) == pytest.approx(
            answer.objective
        )


def test_time_limit_without_an_incumbent(solver):
    m = market_split()
    answer = run(solver.name, Job(m, Limits(time=0.5)))
    check_claims(m, answer)
    assert (answer.status, answer.limit) == (Status.NO_SOLUTION, Limit.TIME)
    assert answer.x is None
    assert answer.objective is None


@having("nodes")
def test_node_limit(solver):
    m = knapsacks()
    answer = run(solver.name, Job(m, Limits(time=20, nodes=3)))
    check_claims(m, answer)
    assert answer.limit is Limit.NODES
    assert 0 < answer.nodes <= 50


@pytest.mark.slow
def test_memory_limit(solver):
    m = knapsacks()
    answer = run(solver.name, Job(m, Limits(time=20, memory_mb=20)))
    check_claims(m, answer)
    assert answer.limit is Limit.MEMORY
    assert answer.status in (Status.FEASIBLE, Status.NO_SOLUTION)


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


def test_unknown_option_is_an_error_that_names_it(solver):
    answer = run(solver.name, Job(set_cover(0), Limits(time=20), options={"no_such_option": 1}))
    assert answer.status is Status.ERROR
    assert "no_such_option" in answer.message


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


def test_relaxation_of_a_model(solver):
    """A triangle of edges: half of each vertex covers them."""
    m = model([1, 1, 1], [[1, 1, 0], [0, 1, 1], [1, 0, 1]], [1, 1, 1], [INFINITY] * 3, offset=1)
    job = Job(m, Limits(time=20), relax=True)
    if "lp" not in solver.capabilities:
        with pytest.raises(Unsupported, match=solver.name):
            run(solver.name, job)
        return
    answer = run(solver.name, job)
    assert answer.status is Status.OPTIMAL
    assert answer.x == pytest.approx([0.5] * 3)
    assert answer.objective == pytest.approx(2.5)
    assert answer.bound == pytest.approx(2.5)
    assert run(solver.name, Job(m.relaxed(), Limits(time=20))).objective == pytest.approx(2.5)


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
    assert file.read_text().strip()[:40] in answer.log


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
    assert answer.objective == pytest.approx(brute_force(m))
    assert "threads" in solver.capabilities or "one thread" in answer.message


@pytest.mark.slow
def test_gap_allowed_is_no_more_than_claimed(solver):
    """With a wide gap the bound says how far the proof went."""
    m = knapsacks(18, 3)
    answer = run(solver.name, Job(m, Limits(time=20, rel_gap=0.05)))
    check_claims(m, answer)
    assert answer.status is Status.OPTIMAL
    assert answer.bound - 1e-6 <= brute_force(m) <= answer.objective + 1e-6
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


@pytest.mark.parametrize("options", [{}, {"solver": "ipm"}, {"solver": "simplex"}])
def test_highs_answers_from_an_integral_relaxation(options):
    m = assignment()
    answer = run("highs", Job(m, Limits(time=20), options={"as_lp_first": True, **options}))
    check_claims(m, answer)
    assert (answer.status, answer.nodes) == (Status.OPTIMAL, 0)
    assert answer.objective == pytest.approx(run("highs", Job(m, Limits(time=20))).objective)
    assert answer.bound == answer.root_bound == pytest.approx(answer.objective)


def test_highs_goes_on_from_a_fractional_relaxation():
    m = knapsacks(18, 3)
    answer = run("highs", Job(m, Limits(time=20), options={"as_lp_first": True, "solver": "ipm"}))
    check_claims(m, answer)
    assert (answer.status, answer.objective) == (Status.OPTIMAL, pytest.approx(brute_force(m)))
    infeasible = model([1, 1, 1], [[2, 2, 2]], [7], [7])
    assert (
        run("highs", Job(infeasible, Limits(time=20), options={"as_lp_first": True})).status
        is Status.INFEASIBLE
    )


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
    assert h.getInfo().objective_function_value == pytest.approx(brute_force(m))
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
from milp_trees.by_name import registry
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
