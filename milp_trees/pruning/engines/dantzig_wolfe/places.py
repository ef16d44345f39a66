"""Where trees are priced: here one after the other, in threads (joblib), or on a Dask cluster.

Pricing gives the same prunings everywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import CancelledError
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import SolverFailure, SolverUnavailable
from milp_trees.common.limits import NEVER, Deadline, Stopped
from milp_trees.methods.cluster import connect
from milp_trees.pruning.engines.dantzig_wolfe.pricing import ForestPart, part

if TYPE_CHECKING:
    from milp_trees.pruning.engines.dantzig_wolfe.coupling import Coupled


class Place(ABC):
    """Trees in parts with about equal numbers of links, and where the parts are priced."""

    def __init__(self, problem: Coupled, parts: int) -> None:
        weight = np.cumsum(np.diff(problem.link_begin) + np.diff(problem.begin))
        cuts = np.searchsorted(weight, weight[-1] * np.arange(1, parts) / parts)
        edges = np.unique(np.concatenate([[0], cuts, [problem.n_trees]])).tolist()
        self.parts = [part(problem, a, b) for a, b in pairwise(edges)]
        self.links = [
            slice(int(problem.link_begin[a]), int(problem.link_begin[b]))
            for a, b in pairwise(edges)
        ]

    def price(
        self, duals: np.ndarray, shift: int, deadline: Deadline = NEVER
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best pruning of every tree; see `Part.price`."""
        answers = self._price([duals[links] for links in self.links], shift, deadline)
        return np.concatenate([a[0] for a in answers]), np.concatenate([a[1] for a in answers])

    @abstractmethod
    def _price(
        self, duals: list[np.ndarray], shift: int, deadline: Deadline
    ) -> list[tuple[np.ndarray, np.ndarray]]: ...

    def close(self) -> None:
        """Release threads or connections."""


class Threads(Place):
    """This process; the kernels run without Python's lock."""

    def __init__(self, problem: Coupled, jobs: int = 1) -> None:
        from joblib import Parallel

        super().__init__(problem, jobs)
        self._parallel = Parallel(n_jobs=jobs, prefer="threads") if jobs > 1 else None

    def _price(
        self, duals: list[np.ndarray], shift: int, deadline: Deadline
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        if self._parallel is None:
            return [p.price(d, shift) for p, d in zip(self.parts, duals)]
        from joblib import delayed

        answers: list[tuple[np.ndarray, np.ndarray]] = self._parallel(
            delayed(p.price)(d, shift) for p, d in zip(self.parts, duals)
        )
        return answers


class Cluster(Place):
    """A Dask cluster: the trees are sent once; then only duals are sent, and kept splits returned.

    Parameters
    ----------
    problem : Coupled
    client : distributed.Client or str
        A client, which is left open, or the address of a scheduler.

    Raises
    ------
    SolverUnavailable
        distributed is not installed, the address does not answer, or the cluster has no workers.
    """

    def __init__(self, problem: Coupled, client: Any) -> None:
        self._own = isinstance(client, str)
        self.client = connect(client, "Pricing on a cluster") if isinstance(client, str) else client
        try:
            threads = sum(self.client.nthreads().values())
            if not threads:
                raise SolverUnavailable(
                    f"The Dask cluster at {self.client.scheduler.address} has no workers; start some with: dask worker ADDRESS."
                )
            super().__init__(problem, threads)
            self._there = self.client.scatter(self.parts, hash=False)
        except BaseException:
            self.close()
            raise

    def _price(
        self, duals: list[np.ndarray], shift: int, deadline: Deadline
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        import distributed

        futures = [
            self.client.submit(price_part, p, d, shift, pure=False)
            for p, d in zip(self._there, duals)
        ]
        try:
            with self.client.as_current():
                distributed.wait(
                    futures,
                    timeout=deadline.left,
                )
            answers = self.client.gather(futures)
        except TimeoutError as late:
            raise Stopped from late
        except (distributed.KilledWorker, CancelledError, OSError) as lost:
            raise SolverFailure(
                f"The Dask cluster lost the trees it was to price ({type(lost).__name__}); run again, or price here with jobs=1."
            ) from lost
        finally:
            self.client.cancel(futures)
        return [
            (values, np.unpackbits(bits, count=p.begin[-1]).astype(bool))
            for (values, bits), p in zip(answers, self.parts)
        ]

    def close(self) -> None:
        self._there = []
        if self._own:
            self.client.close()


def price_part(part: ForestPart, duals: np.ndarray, shift: int) -> tuple[np.ndarray, np.ndarray]:
    """Price a part on a worker; the kept splits are returned as packed bits."""
    values, keep = part.price(duals, shift)
    return values, np.packbits(keep)
