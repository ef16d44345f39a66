"""Parts of the rows, the tests that divide them, and counts of pairs of tests.

Counts are products of matrices of zeros and ones. In doubles they are exact up to 2⁵³ rows.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from milp_trees.tasks.count_views import TwoClasses

#: Bytes of pair counts that are kept.
MOST_BYTES = 2**27

#: Two arrays: of the positive rows and of the negative rows.
Classes = tuple[np.ndarray, np.ndarray]


class TangentPart:
    """The rows that reach a node.

    Parameters
    ----------
    classes : two uint8 arrays of shapes (positives, tests) and (negatives, tests)
        Answers of all rows to all tests.
    members : two bool arrays
        Which of the positive and of the negative rows reach the node.
    least : int
        Smallest number of rows in a leaf.
    """

    def __init__(self, classes: Classes, members: Classes, least: int) -> None:
        self.classes, self.members, self.least = classes, members, least
        self.p, self.q = (int(m.sum()) for m in members)

    @property
    def is_pure(self) -> bool:
        return not self.p or not self.q

    def answers(self, tests: np.ndarray | slice) -> Classes:
        """Answers of the part's rows to some tests."""
        ones, zeros = (c[m][:, tests] for c, m in zip(self.classes, self.members, strict=True))
        return ones, zeros

    @cached_property
    def tests(self) -> np.ndarray:
        """The tests that divide the part, each in another way, into large enough sides."""
        columns = np.concatenate(self.answers(slice(None)))
        true = columns.sum(axis=0, dtype=np.int64)
        enough = (true >= self.least) & (len(columns) - true >= self.least)
        patterns = np.packbits(columns[:, enough] != columns[0, enough], axis=0).T
        first: dict[bytes, int] = {}
        for f, pattern in zip(np.flatnonzero(enough).tolist(), patterns, strict=True):
            first.setdefault(pattern.tobytes(), f)
        return np.array(list(first.values()), dtype=np.int64)

    @cached_property
    def sides(self) -> Classes:
        """Positives and negatives for which each of the tests is true."""
        ones, zeros = (x.sum(axis=0, dtype=float) for x in self.answers(self.tests))
        return ones, zeros


class TangentRows:
    """All rows of a problem, and the parts of them that were met.

    Parameters
    ----------
    view : LeafCounts or PairCounts
    least : int
        Smallest number of rows in a leaf.
    """

    def __init__(self, view: TwoClasses, least: int) -> None:
        X, ones = np.asarray(view.errors.X, dtype=np.uint8), view.is_positive
        everything = (ones[ones], ~ones[~ones])
        #: The tests that are kept, as columns of the view; a part's tests are positions among them.
        self.columns = TangentPart((X[ones], X[~ones]), everything, least).tests
        X = X[:, self.columns]
        self.classes, self.least = (X[ones], X[~ones]), least
        self.true = [np.ascontiguousarray(c.T, dtype=bool) for c in self.classes]
        self.parts: dict[bytes, TangentPart] = {}
        self.counts: dict[TangentPart, np.ndarray] = {}
        self.bytes = 0
        self.every = self.part(everything)

    def part(self, members: Classes) -> TangentPart:
        """The part with some positive and some negative rows."""
        key = np.packbits(np.concatenate(members)).tobytes()
        found = self.parts.get(key)
        if found is None:
            found = self.parts[key] = TangentPart(self.classes, members, self.least)
        return found

    def divide(self, part: TangentPart, f: int) -> tuple[TangentPart, TangentPart]:
        """The rows of a part for which a test is false, and those for which it is true."""
        (ones, zeros), (of_ones, of_zeros) = part.members, (true[f] for true in self.true)
        return (
            self.part((ones & ~of_ones, zeros & ~of_zeros)),
            self.part((ones & of_ones, zeros & of_zeros)),
        )

    def pairs(self, part: TangentPart) -> np.ndarray:
        """Positives and negatives for which two of the part's tests are true, shape (2, T, T).

        Those that were made first are dropped once all take too much memory.
        """
        found = self.counts.get(part)
        if found is None:
            answers = (x.astype(float) for x in part.answers(part.tests))
            found = np.stack([x.T @ x for x in answers])
            self.counts[part] = found
            self.bytes += found.nbytes
            while self.bytes > MOST_BYTES and len(self.counts) > 1:
                self.bytes -= self.counts.pop(next(iter(self.counts))).nbytes
        return found
