"""The package's own adapters: faults that they had, what they print, and what single ones refuse. What
every solver must keep is in `tests/conformance/test_solvers.py`.
"""

import gzip
from dataclasses import replace

import pytest
from solver_params import solver_params

from milp_trees import Limits
from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import LOG_HEAD
from milp_trees.mip.linear.files import write_model
from milp_trees.mip.registry import registry
from milp_trees.mip.runner import run
from milp_trees.mip.solver import Job
from milp_trees.results.result import Status
from milp_trees.testing.matrices import (
    CONTRADICTIONS,
    INFINITY,
    least_value,
    model,
    set_cover,
)
from milp_trees.testing.solver_abilities import Rows


def test_row_that_contradicts_itself_reaches_no_solver(monkeypatch):
    from milp_trees.mip import runner

    monkeypatch.setattr(runner, "_pool", None)
    answer = run("highs", Job(model([1, 2], **CONTRADICTIONS["range"]), Limits(time=20)))
    assert answer.message == "Row r0 of test is to be at least 2 and at most 1."


WRONG_VALUES = {
    "highs": ("presolve", "perhaps"),
    "cbc": ("cuts", "perhaps"),
    "scip": ("limits/solutions", "perhaps"),
    "cp-sat": ("linearization_level", "perhaps"),
    "pulp": ("solver", "perhaps"),
    "rc2": ("solver", "perhaps"),
}


@pytest.mark.parametrize("solver", solver_params(names=tuple(WRONG_VALUES)))
def test_wrong_value_of_an_option_is_an_error(solver):
    key, value = WRONG_VALUES[solver]
    answer = run(solver, Job(set_cover(0), Limits(time=20), options={key: value}))
    assert answer.status is Status.ERROR
    assert value in answer.message or key in answer.message


@pytest.mark.parametrize("solver", solver_params(names=tuple(WRONG_VALUES)))
def test_log_is_in_the_result_and_in_the_file(solver, tmp_path):
    file = tmp_path / "solver.log"
    answer = run(solver, Job(set_cover(1), Limits(time=20, log_file=str(file))))
    assert len(answer.log) > 100
    head, _, message = file.read_text().partition("\n")
    assert f"{head}\n" == LOG_HEAD
    assert message.strip()[:40] in answer.log


@pytest.mark.parametrize("solver", solver_params(names=("cbc", "cp-sat", "highs", "rc2", "scip")))
def test_a_feasible_start_is_always_seen_to_be_accepted(solver):
    """PuLP does not always say it."""
    m = set_cover(5)
    for point in (m.rounded(run(solver, Job(m, Limits(time=20))).x), m.upper):
        assert run(solver, Job(m, Limits(time=20), start=point)).start_accepted


@pytest.mark.parametrize("solver", solver_params(names=("cbc", "rc2", "scip")))
def test_a_solver_of_one_thread_says_so(solver):
    answer = run(solver, Job(set_cover(0), Limits(time=20, threads=2)))
    assert "threads" in registry.solver(solver).capabilities or "one thread" in answer.message


def test_lazy_rows_are_not_ignored():
    """A solver that cannot take them refuses."""
    lazy = Rows(set_cover(0).A, set_cover(0).row_lower)
    with pytest.raises(Unsupported, match="lazy"):
        run("highs", Job(set_cover(0), Limits(time=20), lazy=lazy))


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


@pytest.mark.parametrize("solver", solver_params(names=("cbc",)))
def test_cbc_refuses_options_that_change_its_claims(solver):
    answer = run(solver, Job(set_cover(0), Limits(time=20), options={"cutoff": 3}))
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
