"""`Executor`: starts workers somewhere and says how many are alive."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.folder import Folder


@dataclass
class Order:
    """What the front end asks of an executor.

    Parameters
    ----------
    folder : Folder
    front : str
        Name of the front end.
    place : str
        The folder of the SPEC on this machine.
    jobs : int, optional
        Largest number of workers at a time; the executor's own default if None.
    cores : int
        Cores of a run.
    address : str, optional
        Where a cluster answers.
    options : mapping
        Further settings of an executor, by its own names.
    """

    folder: Folder
    front: str
    place: str
    jobs: int | None = None
    cores: int = 1
    address: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    round: int = 0

    def arguments(self, most: int | None = None) -> list[str]:
        """The arguments of `python -m milp_trees.studies.running.worker`."""
        given = [str(self.folder.path), "--front", self.front, "--round", str(self.round)]
        given += ["--place", self.place]
        return given if most is None else [*given, "--most", str(most)]


class Executor(ABC):
    """Starts workers.

    Parameters
    ----------
    order : Order

    Attributes
    ----------
    detached : bool
        Whether its workers go on when the front end ends.
    own_process : bool
        Whether each worker has a process of its own.
    takes_options : bool
        Whether it has settings of its own.
    """

    detached = False
    own_process = True
    takes_options = False

    def __init__(self, order: Order) -> None:
        if order.options and not self.takes_options:
            raise StudyError(
                f"This executor has no option {next(iter(order.options))!r}; only slurm takes options, those of submitit."
            )
        self.order = order

    @property
    def slots(self) -> int:
        """Largest number of workers at a time."""
        return self.order.jobs or 1

    @abstractmethod
    def start(self, workers: int) -> None:
        """Start some workers more."""

    @abstractmethod
    def alive(self) -> int:
        """The number of workers that run, or wait to be run."""

    @abstractmethod
    def kill(self) -> None:
        """End all workers now."""

    def failure(self) -> str | None:
        """A sentence of a worker that could not work at all; None if there is none."""
        return None

    def close(self) -> None:
        """Release what the executor holds, after its workers have ended."""
