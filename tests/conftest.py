"""Shared by all tests: the public data sets, when they are there, and where compiled kernels are kept."""

import os
from pathlib import Path

import pytest

# Workers of pytest-xdist share the compiled kernels; a first run pays for them once.
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path.home() / ".cache" / "milp-trees" / "numba"))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the public data sets, from the environment variable MILP_TREES_DATA."""
    given = os.environ.get("MILP_TREES_DATA")
    if not given:
        pytest.skip("MILP_TREES_DATA is not set: it names the folder of the public data sets")
    folder = Path(given)
    if not folder.is_dir():
        pytest.fail(f"MILP_TREES_DATA names {folder}, which is no folder")
    return folder
