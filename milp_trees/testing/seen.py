"""What definitions see of a task, a row and a tree: plain numbers and lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Spec = Mapping[str, Any]
#: The known parts of a row: `y`, `weight`, `group`, `factor`, `treatment`, `outcome`, `propensity`,
#: `values`, `label` (the class, of which `y` is the number), `targets` (numbers by name), `answers`
#: (by feature), `numbers` (numeric columns by name).
Row = Mapping[str, Any]


class Seen(NamedTuple):
    """The actions and leaves that a tree gives the rows.

    Parameters
    ----------
    said : list of int
        Action of every row.
    leaf : list of int
        Leaf of every row.
    leaves : int
        Number of leaves.
    columns : list of str
        Column of every split.
    actions : list
        Names of the actions.
    tests : list of str
        Test of every split, as text.
    below : list of sets of int
        The leaves below every split.
    paths : list of lists of (BinaryFeature, bool)
        The tests on the way to every leaf, with their answers.
    said_in : list of int
        Action of every leaf.
    asked : list of lists of str
        Columns of the tests on the path of every row, from the root.
    """

    said: Sequence[int]
    leaf: Sequence[int]
    leaves: int
    columns: Sequence[str]
    actions: Sequence[Any]
    tests: Sequence[str] = ()
    below: Sequence[set[int]] = ()
    paths: Sequence[Sequence[tuple[Any, bool]]] = ()
    said_in: Sequence[int] = ()
    asked: Sequence[Sequence[str]] = ()
