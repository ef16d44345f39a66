"""Methods that count or fail, for the tests of studies."""

from dataclasses import replace

import milp_trees as mt
from milp_trees.results.result import Limit


class Raises(mt.plugins.Method):
    """A method with a bug."""

    name = "raises"

    def search(self, problem, limits, start, progress):
        raise RuntimeError("a bug")


class Counts(mt.plugins.Method):
    """Counts its runs."""

    name = "counts"
    runs = 0

    def search(self, problem, limits, start, progress):
        Counts.runs += 1
        result = mt.registry.method("dp").run(problem, limits)
        return replace(
            result, method=self.name, limit=Limit.INTERRUPTED if limits.seed == 13 else None
        )
