"""Compile the search on a tiny problem, and the kernels for a kind of problem. Loads numba."""

from __future__ import annotations

from milp_trees.engines.dp.arrays import Instance, prepare
from milp_trees.engines.dp.buffers import kernels_of
from milp_trees.engines.dp.runs import DpSearch
from milp_trees.engines.kit.compile import compile_once, tiny_view
from milp_trees.models.space import Trees

_done: set[int] = set()


def compile_search(depth: int) -> None:
    """Compile the functions for trees of a depth, once per process.

    Depths up to two need a small part of the search. Kernels of other number types follow with
    their first instance.
    """
    tried = 2 if depth <= 2 else 4
    if tried in _done:
        return
    DpSearch(prepare(tiny_view(), Trees(tried))).solve()
    _done.add(tried)


def warm_up(instance: Instance) -> None:
    """Compile or load the kernels for an instance's kind, once per process."""

    def compile_all() -> None:
        compile_search(instance.depth)
        kernels_of(instance)

    compile_once("the exact search", compile_all, instance.depth <= 2, *instance.kernel_kind)
