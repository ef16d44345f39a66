"""Model and solution files are read back as they were written, also by solvers themselves."""

import dataclasses

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.mip import runner
from milp_trees.mip.linear.files import file_model, write_model
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.linear.reading import read_model
from milp_trees.mip.linear.solutions import read_solution, write_solution
from milp_trees.mip.solver import Job
from milp_trees.results.result import Status
from milp_trees.solving.estimate import named_formulation
from milp_trees.testing import problem


@pytest.fixture(scope="module")
def model():
    """With side rows, continuous and integer columns, and a constant."""
    return compile_model(named_formulation("flow-oct").build(problem("capacity")))


@each_row("ending", [".mps", ".mps.gz", ".lp", ".lp.gz"])
def test_a_model_is_read_as_it_was_written(ending, model, tmp_path):
    path = write_model(model, tmp_path / f"m{ending}")
    wanted, found = file_model(model), read_model(path)
    assert found.rows == wanted.rows
    assert sorted(found.columns) == sorted(wanted.columns)
    order = [found.columns.index(name) for name in wanted.columns]  # LP files have another one
    assert ending.startswith(".lp") or order == list(range(len(order)))
    for part in ("c", "lower", "upper", "integer"):
        assert np.array_equal(getattr(found.model, part)[order], getattr(wanted.model, part)), part
    for part in ("row_lower", "row_upper"):
        assert np.array_equal(getattr(found.model, part), getattr(wanted.model, part)), part
    assert (found.model.A[:, order] != wanted.model.A).nnz == 0


@pytest.mark.parametrize("solver", ["highs", "scip", "cbc"])
def test_solvers_that_read_files_answer_about_the_file(solver, model, tmp_path):
    """Not about the arrays: the file of another model gives the optimum of that model."""
    if not mt.registry.solver(solver).availability().found:
        pytest.skip(f"{solver} is not installed")
    other = dataclasses.replace(model, c=model.c + 1.0)
    path = write_model(other, tmp_path / "m.mps")
    file = read_model(path)
    optimum = runner.run("highs", Job(other, Limits(time=60))).objective
    job = Job(file.model, Limits(time=60), file=str(path), names=tuple(file.columns))
    answer = runner.run(solver, job)
    assert answer.status is Status.OPTIMAL
    assert answer.objective == pytest.approx(optimum)
    assert file.model.violation(file.model.rounded(answer.x)) <= 1e-6


def test_a_file_is_not_given_to_a_solver_that_reads_none(model, tmp_path):
    with pytest.raises(mt.errors.Unsupported, match="cannot do 'files'"):
        runner.run("pulp", Job(model, Limits(), file=str(tmp_path / "m.mps")))


def test_a_solution_is_read_as_it_was_written(model, tmp_path):
    file = file_model(model)
    point = np.round(np.random.default_rng(0).random(len(file.columns)), 1)
    write_solution(file, point, tmp_path / "m.sol")
    stated, found = read_solution(tmp_path / "m.sol", file.columns)
    assert stated == file.model.objective(point)
    assert np.array_equal(found, point)


@each_row(
    ("text", "sentence"),
    [
        ("", "must begin with"),
        ("=obj= 1 2\n", "line 1: '1 2' is no number"),
        ("=obj= 1\na 1\n", "line 2: the model has no column 'a'"),
        ("=obj= 1\nx 1\nx 1\n", "line 3: 'x' has a value already"),
        ("=obj= 1\nx nan\n", "line 2: 'nan' is no number"),
    ],
)
def test_a_solution_file_that_is_not_understood_is_one_sentence(text, sentence, tmp_path):
    (tmp_path / "m.sol").write_text(text)
    with pytest.raises(mt.DataError, match=sentence):
        read_solution(tmp_path / "m.sol", ["x", "y"])


HEAD = "NAME\nROWS\n N obj\n L r\nCOLUMNS\n"
STRANGE = {
    "entry-twice.mps": (f"{HEAD} x obj 1 r 1\n x r 2\nRHS\n R r 3\nENDATA\n", "duplicate nonzero"),
    "unknown-row.mps": (f"{HEAD} x obj 1 r 1\n x q 2\nRHS\n R r 3\nENDATA\n", "warns"),
    "unknown-side.mps": (f"{HEAD} x obj 1 r 1\nRHS\n R q 3\nENDATA\n", '"q" in RHS'),
    "bound-twice.mps": (
        f"{HEAD} x obj 1 r 1\nRHS\n R r 3\nBOUNDS\n UP B x 4\n UP B x 2\nENDATA\n",
        "duplicate upper bound",
    ),
    "tiny.mps": (f"{HEAD} x obj 1 r 1e-12\nRHS\n R r 3\nENDATA\n", "tolerance"),
    "quadratic.mps": (f"{HEAD} x obj 1 r 1\nRHS\n R r 3\nQUADOBJ\n x x 2\nENDATA\n", "quadratic"),
    "tiny.lp": ("min\n obj: x + y\nst\n r: 1e-12 x + y >= 1\nend\n", "tolerance"),
    "quadratic.lp": ("min\n obj: x + [ x^2 ]/2\nst\n r: x + y >= 1\nend\n", "quadratic"),
    "semi.lp": (
        "min\n obj: x + y\nst\n r: x + y >= 1\nbounds\n 1 <= x <= 3\nsemi-continuous\n x\nend\n",
        "neither continuous nor integer",
    ),
}


@each_row("name", STRANGE)
def test_a_file_of_which_the_reader_leaves_something_out_is_refused(name, tmp_path):
    text, message = STRANGE[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(mt.DataError, match=message) as caught:
        read_model(tmp_path / name)
    assert name in str(caught.value)


@pytest.mark.parametrize("solver", ["highs"])
def test_a_coefficient_that_a_solver_would_leave_out_is_an_error(solver, model):
    A = model.A.copy()
    A.data[0] = 1e-12
    answer = runner.run(solver, Job(dataclasses.replace(model, A=A), Limits(time=60)))
    assert answer.status is Status.ERROR
    assert "as it is" in answer.message
    with pytest.raises(mt.errors.SolverFailure, match="as it is"):
        mt.decisions.LinearDecisions.from_arrays(at_most=([[1e-12, 1], [1, 1]], [1, 1]), upper=1)
