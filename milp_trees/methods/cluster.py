"""The connection to a Dask cluster, for those who work on one."""

from __future__ import annotations

from typing import Any

from milp_trees.common.errors import SolverUnavailable

#: Seconds in which a scheduler has to answer.
ANSWERS_WITHIN = 10
INSTALL = "pip install 'milp-trees[cluster]'"


def connect(address: str, what: str) -> Any:
    """A client of the scheduler at an address."""
    try:
        from distributed import Client
    except ImportError as missing:
        raise SolverUnavailable(
            f"{what} needs dask and distributed, which are not installed; {INSTALL}."
        ) from missing
    try:
        return Client(address, timeout=ANSWERS_WITHIN, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SolverUnavailable(
            f"No Dask scheduler answers at {address!r} ({type(error).__name__}); give the address that `dask scheduler` prints, such as tcp://host:8786."
        ) from error
