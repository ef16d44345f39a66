"""Files of compiled code: found by what they were made from, and never trusted further than that."""

import hashlib
import os
import subprocess
import sys
import time
import types
import typing

import platformdirs
import pytest

from milp_trees.common.compiling import inside, store
from milp_trees.common.compiling.kernels import kernel


@pytest.fixture
def files(monkeypatch, tmp_path):
    """The files that were written to an empty folder, oldest first."""
    monkeypatch.setattr(inside.config, "CACHE_DIR", str(tmp_path))
    kernels = (tmp_path / "kernels").glob
    return lambda: sorted(kernels("test_store.*"), key=lambda p: p.stat().st_mtime_ns)


def _triple(factor=3):
    """A new kernel object of the same code, as in a new process."""

    @kernel
    def inner(x):
        return factor * x

    @kernel
    def triple(x):
        return inner(x)

    return triple


def test_the_same_code_is_read_and_other_code_is_compiled(files):
    first, again, other = _triple(), _triple(), _triple(4)
    assert (first(2), again(2), other(2)) == (6, 6, 8)
    assert [list(k.stats.cache_hits.values()) for k in (first, again, other)] == [[], [1], []]
    assert len(files()) == 2


def test_code_that_was_read_can_be_part_of_code_that_is_compiled(files):
    """Its form in LLVM's language is read then, and is not only what Python calls."""

    def made():
        @kernel
        def below(x):
            return 5 * x

        return below

    made()(2)
    read = made()
    assert read(2) == 10
    assert list(read.stats.cache_hits.values()) == [1]

    @kernel
    def above(x):
        return read(x) + 1

    assert above(2) == 11


def test_the_functions_that_count_references_are_read_from_their_file(files, monkeypatch, tmp_path):
    """numba compiles them in every process. A damaged file is written again."""
    context = inside.cpu_target.target_context
    compiled, create = [], inside.create_nrt_module

    def provide():
        monkeypatch.setattr(inside, "rtsys", types.SimpleNamespace(_init=False))
        store._provide_references(context)
        assert inside.rtsys._init
        assert inside.rtsys._library.get_pointer_to_function("NRT_incref")

    monkeypatch.setattr(
        inside, "create_nrt_module", lambda given: compiled.append(given) or create(given)
    )
    provide()
    provide()
    assert compiled == [context]
    (file,) = (tmp_path / "kernels").glob("numba.references-*")
    file.write_bytes(b"xyz")
    provide()
    provide()
    assert compiled == [context] * 2


def test_a_constant_of_a_module_is_part_of_the_code(files):
    def made(constant):
        scope = {"kernel": kernel, "CONSTANT": constant, "__name__": __name__}
        exec("def f(x): return x + CONSTANT", scope)
        return kernel(scope["f"])

    assert (made(1)(1), made(2)(1), made(1)(1)) == (2, 3, 2)
    assert len(files()) == 2


def test_other_types_of_arguments_have_files_of_their_own(files):
    triple = _triple()
    assert (triple(2), triple(2.5)) == (6, 7.5)
    assert len(files()) == 2


@pytest.mark.parametrize("damage", [b"", b"xyz", None], ids=["empty", "short", "one byte"])
def test_a_damaged_file_is_written_again(files, damage):
    _triple()(2)
    (file,) = files()
    right = file.read_bytes()
    broken = bytearray(right)
    broken[len(broken) // 2] ^= 1
    file.write_bytes(bytes(broken) if damage is None else damage)
    assert _triple()(2) == 6
    reader = _triple()
    assert reader(2) == 6
    assert sum(reader.stats.cache_hits.values()) == 1


def test_a_file_that_names_what_no_longer_exists_is_written_again(files):
    _triple()(2)
    (file,) = files()
    payload = b"cmilp_trees\ngone\n."  # a pickle of something that is not there
    file.write_bytes(hashlib.sha256(payload).digest() + payload)
    assert _triple()(2) == 6
    reader = _triple()
    reader(2)
    assert sum(reader.stats.cache_hits.values()) == 1


def test_a_folder_that_cannot_be_written_to_costs_time_and_nothing_else(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(inside.config, "CACHE_DIR", str(tmp_path / "file"))
    assert _triple()(2) == 6


def test_a_file_that_cannot_be_finished_leaves_nothing(files, monkeypatch):
    def full(part, path):
        raise OSError("no space left")

    monkeypatch.setattr(store.os, "replace", full)
    assert _triple()(2) == 6
    assert files() == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of files are those of POSIX")
def test_files_of_a_shared_folder_can_be_read_by_others(files):
    """What one user has compiled another one reads, as far as the first one's umask allows."""
    before = os.umask(0o022)
    try:
        _triple()(2)
    finally:
        os.umask(before)
    (file,) = files()
    assert file.stat().st_mode & 0o777 == 0o644


def test_another_version_of_numpy_has_files_of_its_own(files, monkeypatch):
    """Types that numba infers depend on it."""
    _triple()(2)
    monkeypatch.setattr(store.np, "__version__", "0")
    assert _triple()(2) == 6
    assert len(files()) == 2


def test_without_a_given_folder_it_is_the_users(monkeypatch):
    monkeypatch.setattr(inside.config, "CACHE_DIR", "")
    assert store.folder() == platformdirs.user_cache_path("milp-trees") / "kernels"


def test_files_that_nobody_reads_are_deleted_with_the_next_one(files):
    _triple(5)(2)
    (old,) = files()
    long_ago = time.time() - 61 * 86400
    os.utime(old, (long_ago, long_ago))
    _triple(6)(2)
    assert old not in files()


def test_a_read_is_noted(files):
    _triple()(2)
    (file,) = files()
    week_ago = time.time() - 7 * 86400
    os.utime(file, (week_ago, week_ago))
    _triple()(2)
    assert time.time() - file.stat().st_mtime < 3600


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import planted
print(planted.value(20), sum(planted.value.stats.cache_hits.values()))
"""
PLANTED = """
from milp_trees.common.compiling.kernels import kernel

@kernel
def below(x):
    return x + {constant}

@kernel
def value(x):
    return 2 * below(x)
"""


def _process(folder, cache):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_another_installation_reads_the_files_and_a_changed_one_does_not(tmp_path):
    """What an installation is: the same files in another place."""
    for place, constant in (("one", 1), ("two", 1), ("three", 2)):
        (tmp_path / place).mkdir()
        (tmp_path / place / "planted.py").write_text(PLANTED.format(constant=constant))
    message = [
        _process(tmp_path / place, tmp_path / "cache").communicate()[0].split()
        for place in ("one", "two", "three")
    ]
    assert message == [["42", "0"], ["42", "1"], ["44", "0"]]


@pytest.mark.slow
def test_two_processes_at_once_do_not_disturb_each_other(tmp_path):
    (tmp_path / "planted.py").write_text(PLANTED.format(constant=1))
    running = [_process(tmp_path, tmp_path / "cache") for _ in range(2)]
    assert {process.communicate()[0].split()[0] for process in running} == {"42"}
    assert _process(tmp_path, tmp_path / "cache").communicate()[0].split() == ["42", "1"]


def test_the_library_of_python_is_known_by_its_version(monkeypatch):
    """A constant of a kernel may reach `typing`, whose file differs by a patch or is in an archive."""

    def function(x, kind=typing.Any, module=typing):
        return x

    before = list(store._parts(function))
    monkeypatch.setattr(typing, "__file__", "/not/there/typing.py")
    assert list(store._parts(function)) == before


_NAMESAKES = """
import sys

from milp_trees.common.compiling.kernels import kernel

steps = "".join(
    f"    x = (x * {3 + i} + c) % {1009 + 2 * i} if x % {2 + i} else x // 2 + c\\n" for i in range(60)
)


def made(c):
    names = {"__name__": "some", "c": c}
    exec(f"def part(x):\\n{steps}    return x", names)
    part = names["part"]
    inner = kernel(part)

    def unit(x):
        return inner(x) * 3 + inner(x + 1)

    return kernel(unit), lambda x: part(x) * 3 + part(x + 1)


for c in map(int, sys.argv[1:]):
    compiled, plain = made(c)
    assert compiled(50) == plain(50), (c, compiled(50), plain(50))
"""


def test_code_of_another_process_keeps_its_own_parts(tmp_path):
    """Both processes give their first function the same name, and they are different functions."""
    for constants in (["1"], ["2", "1"]):
        subprocess.run(
            [sys.executable, "-c", _NAMESAKES, *constants],
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        )
