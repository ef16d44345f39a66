"""Shared by all tests: the public data sets, when they are there."""

import functools
import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# A shell without job control starts background commands with Ctrl-C ignored, and children inherit
# that: tests of interrupts need Python's own handler.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Pictures need no window.
os.environ.setdefault("MPLBACKEND", "Agg")

# Workers of Dask look at the frames of their running threads, which can crash CPython 3.11.
os.environ.setdefault("DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED", "False")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `-n`, a file's tests stay in one process: it compiles the kernels that they need once, and
    builds and solves the problems that they share once.
    """
    from xdist.scheduler import LoadFileScheduling

    # In the order of their names: those of tests/conformance, which take longest, come first.
    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log) if config.option.dist == "load" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that ask for the folder of the public data sets have the marker `data`."""
    for item in items:
        if "data_folder" in getattr(item, "fixturenames", ()):
            item.add_marker("data")


# What thousands of tests are made of stays until the end: the garbage collector need not look at it,
# neither while they are collected nor again and again later (a tenth of the time of tests that build
# models).
gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    if not session.config.option.collectonly:
        gc.collect()
    gc.freeze()
    gc.enable()


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not session.config.option.collectonly:
        gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def one_tree_of_commands() -> Iterator[None]:
    """The command line is built once, and not for every call of a `CliRunner`, which takes a tenth of a
    second.
    """
    import typer.testing

    with pytest.MonkeyPatch.context() as patch:
        built = functools.cache(typer.main.get_command)
        patch.setattr(typer.testing, "_get_command", built, raising=False)
        yield


@pytest.fixture(scope="module", autouse=True)
def no_interrupt_is_lost() -> None:
    """Hypothesis measures the garbage collector from a callback, and a Ctrl-C that arrives while the
    callback runs raises nothing. Tests of interrupts come after tests that left it there.
    """
    gc.callbacks[:] = [f for f in gc.callbacks if "hypothesis" not in str(f.__module__)]


@pytest.fixture(scope="module", autouse=True)
def no_plug_in_files_left() -> Iterator[None]:
    """Plug-ins of single files are gone after the tests that wrote them: others run every method."""
    yield
    for name in [name for name in sys.modules if name.startswith("plugin_file_")]:
        from milp_trees.common.registering import from_files, plugins

        plugins.forget_module(name)
        file = sys.modules.pop(name).__file__ or ""
        from_files._loaded.pop(Path(file).resolve(), None)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the public data sets, from the environment variable MILP_TREES_DATA.

    Nothing else reads the variable; a test that asks for this fixture is skipped without it.
    """
    given = os.environ.get("MILP_TREES_DATA")
    if not given:
        pytest.skip("MILP_TREES_DATA is not set: it names the folder of the public data sets")
    folder = Path(given)
    if not folder.is_dir():
        pytest.fail(f"MILP_TREES_DATA names {folder}, which is no folder")
    return folder


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A CSV file with original names: the label is (age <= 35 and smoker)."""
    rows = [
        (age, smoker, town)
        for age in range(20, 60, 4)
        for smoker in ("yes", "no")
        for town in ("a", "b", "c")
    ]
    lines = [
        f"{age},{smoker},{town},{'ill' if age <= 35 and smoker == 'yes' else 'well'}"
        for age, smoker, town in rows
    ]
    path = tmp_path / "people.csv"
    path.write_text("age,smoker,town,health\n" + "\n".join(lines) + "\n")
    return path
