"""`PrunedEnsembles`: all prunings of one ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.models.ensemble import Ensemble
from milp_trees.models.space import Space

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class PrunedEnsembles(Space):
    """Ensembles in which some splits of the given one are kept, each together with its parent.

    Parameters
    ----------
    ensemble : Ensemble
        From `mt.read_ensemble(forest)`.
    """

    name: ClassVar[str] = "pruned-ensembles"
    noun: ClassVar[str] = "pruned ensemble"
    claim: ClassVar[str] = "flow"

    ensemble: Ensemble

    def __post_init__(self) -> None:
        if not isinstance(self.ensemble, Ensemble):
            kind = type(self.ensemble).__name__
            raise DataError(
                f"PrunedEnsembles needs an Ensemble; got {kind}. Read a fitted model with mt.read_ensemble(model)."
            )

    def violations(self, predictor: Ensemble, dataset: Dataset, routes: Any = None) -> list[str]:
        return (
            []
            if self.ensemble.same_trees(predictor)
            else ["The predictor is no pruning of the problem's ensemble: its trees are others."]
        )

    def simplest(self, actions: tuple[Any, ...]) -> list[Ensemble]:
        return [self.ensemble.pruned(np.zeros(self.ensemble.n_nodes, dtype=bool))]

    def simplify(self, predictor: Ensemble, view: Any) -> Ensemble:
        return predictor

    def reordered(self, task: Any, seed: int) -> tuple[PrunedEnsembles, Any]:
        order = np.random.Generator(np.random.PCG64(seed)).permutation(self.ensemble.n_trees)
        weights = task.error_weights
        if weights is not None and weights.ndim == 2:
            task = replace(task, error_weights=weights[:, order])
        return PrunedEnsembles(_trees_in_order(self.ensemble, order)), task

    @classmethod
    def predictor(cls) -> type[Ensemble]:
        return Ensemble

    def read(self, stored: Mapping[str, Any]) -> Ensemble:
        if stored.get("kind") != "ensemble" or stored.get("trees_sha256") != self.ensemble.sha256:
            raise DataError("The stored predictor is no pruning of the problem's ensemble.")
        if stored.get("trees") != self.ensemble.n_trees:
            raise DataError(
                f"The stored predictor says that it has {stored.get('trees')!r} trees; the problem's ensemble has {self.ensemble.n_trees}."
            )
        keep = np.zeros(self.ensemble.n_nodes, dtype=bool)
        kept = stored["kept"]
        if (
            not isinstance(kept, list)
            or not all(type(h) is int and 0 <= h < len(keep) for h in kept)
            or len(set(kept)) != len(kept)
        ):
            raise DataError("The stored predictor keeps nodes that the ensemble does not have.")
        keep[kept] = True
        return self.ensemble.pruned(keep)

    def spec(self) -> dict[str, Any]:
        return {"name": self.name, "ensemble": self.ensemble.trees_json()}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> PrunedEnsembles:
        return cls(Ensemble.from_json(spec["ensemble"]))


def _trees_in_order(ensemble: Ensemble, order: np.ndarray) -> Ensemble:
    """The ensemble with its trees in another order."""
    nodes = np.concatenate([np.flatnonzero(ensemble.member == tree) for tree in order])
    place = np.empty(len(nodes), dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    moved: dict[str, Any] = {
        name: np.where((old := getattr(ensemble, name)[nodes]) >= 0, place[old], -1)
        for name in ("parent", "left", "right")
    }
    rank = np.argsort(order)
    moved |= {name: getattr(ensemble, name)[nodes] for name in ("column", "threshold", "value")}
    original = ensemble.original
    return replace(
        ensemble,
        **moved,
        member=rank[ensemble.member[nodes]],
        kept=ensemble.kept[nodes],
        original=nodes if original is None else original[nodes],
    )
