"""Mutants are planted in the running process: the code of a function is exchanged."""

from __future__ import annotations

import contextlib
import importlib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import fault
from .mutants import ROOT, Mutant


def module_of(file: str) -> types.ModuleType:
    """The module that a file is imported as."""
    path = Path(file)
    parts = (path.parent if path.stem == "__init__" else path.with_suffix("")).parts
    name = ".".join(parts if parts[0] == "milp_trees" else ("milp_trees", *parts))
    return importlib.import_module(name)


class Planted:
    """A fault in this process: everybody who imported the function runs it, until it is lifted."""

    def __init__(self, function: types.FunctionType, faulty: types.CodeType) -> None:
        self.function, self.true, self.faulty = function, function.__code__, faulty
        function.__code__ = faulty

    @contextlib.contextmanager
    def lifted(self) -> Iterator[None]:
        """The true function, for a while."""
        self.function.__code__ = self.true
        try:
            yield
        finally:
            self.function.__code__ = self.faulty


def plant(mutant: Mutant) -> Planted:
    """Exchange the code of the mutant's function in this process.

    Raises
    ------
    SyntaxError, ValueError
        The mutant is no Python, or does not fit in the place of the old function.
    """
    module = module_of(mutant.file)
    code = compile(mutant.planted(), str(ROOT / mutant.file), "exec", dont_inherit=True)
    outer = mutant.function.split(".")
    is_method = isinstance(getattr(module, outer[0], None), type)
    names = outer[:2] if is_method else outer[:1]
    for name in names:
        code = next(
            c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name
        )
    found = vars(getattr(module, names[0]))[names[1]] if is_method else getattr(module, names[0])
    module.__dict__["_fault"] = fault
    return Planted(_function(found), code)


def _function(found: Any) -> types.FunctionType:
    """The plain function in a property, a class method or a cache."""
    for inner in ("fget", "func", "__func__", "__wrapped__", "py_func"):
        while not isinstance(found, types.FunctionType) and getattr(found, inner, None) is not None:
            found = getattr(found, inner)
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    if not isinstance(found, types.FunctionType):
        raise ValueError(f"{found!r} holds no function.")
    return found
