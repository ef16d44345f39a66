"""Which definitions and tests call which functions of the tasks, so that a fault is only run on
those that can see it.

A test that uses what an earlier one left in a cache is not found; such a fault then counts as
surviving, never as caught.
"""

from __future__ import annotations

import ast
import time
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from . import fault
from .mutants import ROOT
from .planting import _function, module_of


@dataclass
class Calls:
    """Functions, as `file:function`, by the label of what calls them; a label is a definition's
    number or a test's id.
    """

    of: dict[Any, frozenset[str]] = field(default_factory=dict)
    seconds: dict[Any, float] = field(default_factory=dict)
    #: Tests that fail without any fault, and so say nothing.
    broken: set[str] = field(default_factory=set)

    def callers(self, file: str, function: str) -> list[Any]:
        """Who calls a function or the function that it stands in, quick ones first."""
        parts = function.split(".")
        names = {f"{file}:{'.'.join(parts[:n])}" for n in (1, 2)}
        return sorted(
            (who for who, called in self.of.items() if names & called),
            key=lambda who: self.seconds[who],
        )

    @contextmanager
    def noting(self, who: Any) -> Iterator[None]:
        """What is called inside is called by `who`."""
        fault.called.clear()
        began = time.process_time()
        try:
            yield
        finally:
            self.of[who] = self.of.get(who, frozenset()) | frozenset(fault.called)
            self.seconds[who] = self.seconds.get(who, 0.0) + time.process_time() - began


def listen(files: Iterable[str]) -> None:
    """From now on every function of these files adds its name to `fault.called` when it is called."""
    for file in files:
        module, tree = module_of(file), ast.parse((ROOT / file).read_text())
        owners: list[tuple[str, ast.FunctionDef]] = []
        for node in tree.body:
            inside = node.body if isinstance(node, ast.ClassDef) else [node]
            head = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
            owners += [(f"{head}{f.name}", f) for f in inside if isinstance(f, ast.FunctionDef)]
        for name, node in owners:
            message = ast.parse(f"_fault.called.add({f'{file}:{name}'!r})").body
            node.body[:0] = message
        module.__dict__["_fault"] = fault
        code = compile(ast.fix_missing_locations(tree), str(ROOT / file), "exec", dont_inherit=True)
        for name, _ in owners:
            _exchange(module, name.split("."), code)


def _exchange(module: types.ModuleType, names: list[str], code: types.CodeType) -> None:
    for name in names:
        code = next(
            c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name
        )
    owner: Any = vars(module)[names[0]]
    try:
        _function(owner if len(names) == 1 else vars(owner)[names[1]]).__code__ = code
    except (ValueError, KeyError):  # an abstract or generated method
        return


class Listening:
    """A pytest plug-in that notes what every test calls; what is called while a file is collected
    is called by each of its tests.
    """

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.collected: dict[str, set[str]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: Any) -> Any:
        fault.called.clear()
        report = yield
        self.collected.setdefault(collector.path.name, set()).update(fault.called)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        with self.calls.noting(item.nodeid):
            found = yield
        self.calls.of[item.nodeid] |= self.collected.get(item.path.name, set())
        return found

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.calls.broken.add(report.nodeid)
