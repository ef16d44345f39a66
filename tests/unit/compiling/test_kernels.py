"""Kernels call each other and are called from Python, in every order, with the same answers."""

import threading

import numpy as np
import pytest

from milp_trees.common.compiling import inside
from milp_trees.common.compiling.kernels import c_function, kernel
from milp_trees.common.errors import SolverUnavailable


@pytest.fixture(autouse=True)
def _empty_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(inside.config, "CACHE_DIR", str(tmp_path))


def _chain():
    """Three kernels, each calls the one above."""

    @kernel
    def square(x):
        return x * x

    @kernel
    def add_square(x, y):
        return square(x) + y

    @kernel(nogil=True)
    def total(values):
        out = 0
        for value in values:
            out = add_square(value, out)
        return out

    return square, add_square, total


def test_a_kernel_of_kernels_is_one_unit_on_disk(tmp_path):
    *_, total = _chain()
    assert total(np.arange(5)) == 30
    (file,) = (tmp_path / "kernels").glob("test_kernels.*")
    assert "total" in file.name


def test_a_part_can_be_called_from_python_afterwards():
    square, add_square, total = _chain()
    assert total(np.arange(4)) == 14
    assert (square(7), add_square(7, 1)) == (49, 50)
    assert total(np.arange(4)) == 14


def test_a_unit_can_be_a_part_of_another_one_afterwards():
    square, add_square, total = _chain()
    assert square(3) == 9
    assert add_square(3, 1) == 10
    assert total(np.arange(4)) == 14
    assert total(np.arange(4.0)) == 14.0


def test_a_unit_read_from_disk_can_be_a_part_of_another_one():
    for _ in range(2):
        square, _, total = _chain()
        assert square(np.int64(3)) == 9
        assert total(np.arange(4.0)) == 14.0


def test_errors_of_parts_reach_python():
    @kernel
    def part(x):
        if x < 0:
            raise ValueError("negative")
        return x

    @kernel
    def whole(x):
        return part(x) + 1

    assert whole(1) == 2
    with pytest.raises(ValueError, match="negative"):
        whole(-1)


def test_a_kernel_without_reference_counts_reads_and_writes_its_arrays():
    @kernel(allocates=False)
    def fill(row, value):
        for i in range(len(row)):
            row[i] = value

    @kernel(allocates=False, nogil=True)
    def fill_all(rows):
        for i in range(len(rows)):
            fill(rows[i], i)

    rows = np.zeros((3, 2), dtype=np.int64)
    for _ in range(100):
        fill_all(rows)
    assert rows.tolist() == [[0, 0], [1, 1], [2, 2]]


def test_threads_that_compile_the_same_kernels_get_the_same_answers():
    _, add_square, total = _chain()
    found = []
    calls = [lambda: total(np.arange(4)), lambda: add_square(3, 5)] * 2
    threads = [threading.Thread(target=lambda c=call: found.append(c())) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [14] * 4


def test_a_c_function_is_called_by_its_address():
    import ctypes

    made = c_function("int64(int64)", lambda x: 3 * x + 1)
    again = c_function("int64(int64)", lambda x: 3 * x + 1)
    for function in (made, again):
        assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(function.address)(5) == 16


def test_where_numba_may_not_compile_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(inside.config, "DISABLE_JIT", 1)
    square, _, _ = _chain()
    with pytest.raises(SolverUnavailable, match="NUMBA_DISABLE_JIT is set"):
        square(3)
    with pytest.raises(SolverUnavailable, match="NUMBA_DISABLE_JIT is set"):
        c_function("int64(int64)", lambda x: x)
