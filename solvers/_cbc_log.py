"""The log of CBC: incumbents, bounds and the result, line by line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from ._common import Trace, finite

#: An objective of this size means that CBC has no solution, even if its status is another one.
NOTHING = 1e49
_NUMBER = r"(-?\d[\d.]*(?:e[+-]?\d+)?)"
_FOUND = re.compile(rf"Integer solution of {_NUMBER} found")
_PROGRESS = re.compile(
    rf"After (\d+) nodes, \d+ on tree, {_NUMBER} best solution, best possible {_NUMBER}"
)
_ROOT = re.compile(
    rf"(?:At root node, \d+ cuts|Cuts at root node) changed objective from {_NUMBER} to {_NUMBER}"
)
_CONTINUOUS = re.compile(rf"Continuous objective value is {_NUMBER}")
_START = re.compile(rf"MIPStart provided solution with cost {_NUMBER}")
_LOWER = re.compile(rf"^Lower bound:\s+{_NUMBER}")
_NODES = re.compile(r"^Enumerated nodes:\s+(\d+)")
_REFUSED = re.compile(
    r"No match for|Multiple matches for|Possible options for|valid range is|is illegal for"
    r"|read with [1-9]\d* errors"
)
#: What CBC 2.10 prints if its preprocessing leaves nothing to solve. Its answer is then often wrong:
#: a feasible model is called infeasible, or a point optimal that is not.
PREPROCESSED_AWAY = re.compile(
    r"processed model has 0 rows, 0 columns|Pre-processing says infeasible or unbounded"
)
#: The sentence about it.
AWAY = "CBC's preprocessing left nothing to solve, after which its answers may be wrong, so it was solved without preprocessing."


@dataclass
class Said:
    """What the log contains so far.

    Parameters
    ----------
    offset : float
        Constant of the objective, which is not in CBC's file.
    trace : Trace
        Receives every incumbent and bound.
    on_start : callable
        Is called with the value of a start that the log reports.
    """

    offset: float
    trace: Trace
    on_start: Callable[[float], None]
    root: float | None = None
    continuous: float | None = None
    bound: float | None = None
    nodes: int | None = None
    start: float | None = None
    start_refused: bool = False
    result: str = ""
    refused: str = ""
    preprocessed_away: bool = False

    def take(self, line: str) -> None:
        """Read one line."""
        self.preprocessed_away |= PREPROCESSED_AWAY.search(line) is not None
        if m := _FOUND.search(line):
            self.trace.record(float(m[1]) + self.offset, None)
        elif m := _PROGRESS.search(line):
            self.nodes, self.bound = int(m[1]), self._lowered(float(m[3]), _unit(m[3], 8))
            value = float(m[2])
            self.trace.record(
                None if abs(value) >= NOTHING else value + self.offset, self.bound, self.nodes
            )
        elif m := _ROOT.search(line):
            # For a model that preprocessing has emptied, CBC prints the lowest possible number.
            if self.root is None and (root := finite(float(m[2]))) is not None:
                self.root = self._lowered(root, _unit(m[2], 8 if "At root" in line else 6))
        elif m := _CONTINUOUS.search(line):
            self.continuous = self._lowered(float(m[1]), _unit(m[1], 6))
            self.trace.record(None, self.continuous)
        elif m := _START.search(line):
            self.start = float(m[1]) + self.offset
            self.on_start(self.start)
        elif "mipstart values could not be used" in line:
            self.start_refused = True
        elif m := _LOWER.search(line):
            self.bound = self._lowered(float(m[1]), 1e-3)
        elif m := _NODES.search(line):
            self.nodes = int(m[1])
        elif line.startswith("Result - "):
            self.result = line[9:].strip()
        elif _REFUSED.search(line) and not self.result and not self.refused:
            self.refused = line.strip("<> ")

    def _lowered(self, value: float, unit: float) -> float:
        """A printed bound, minus what rounding to the printed digits may have added."""
        return float(value - 0.5 * unit + self.offset)


def _unit(text: str, significant: int) -> float:
    """The unit of the last one of the given number of significant digits."""
    value = abs(float(text))
    return float(10.0 ** (math.floor(math.log10(value)) + 1 - significant)) if value else 0.0
