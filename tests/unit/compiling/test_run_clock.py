"""Time limits and seconds of runs are readings of one clock, which stands still during compilation."""

import gc
import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from milp_trees.common.compiling import compiling, run_clock, under_way
from milp_trees.common.compiling import notices as telling
from milp_trees.common.limits import Limits
from milp_trees.common.registering.families import families
from milp_trees.mip.registry import registry
from milp_trees.testing.warm_up import problems_for

ROOT = Path(__file__).parents[3]
#: What the clock jumps ahead whenever compiled code is read or made, and a limit that no machine
#: reaches otherwise.
AGES, LIMIT = 1e6, 1000.0
#: Files that read the clock of the machine: threads that wait for each other, and processes.
OF_THE_MACHINE = {
    "milp_trees/methods/deadline.py": "time.perf_counter() + PATIENCE|time.perf_counter() > given_up",
    "milp_trees/mip/runner.py": ".*",
    "milp_trees/mip/worker.py": ".*",
}


@pytest.fixture
def ages(monkeypatch):
    """Nothing is compiled or loaded in this process yet, and each time takes a million seconds."""
    from milp_trees.common.compiling.kernels import Kernel
    from milp_trees.common.compiling.store import Store

    passed, waits = [0.0], []
    clock = SimpleNamespace(perf_counter=lambda: time.perf_counter() + passed[0])
    monkeypatch.setattr(telling, "time", clock)
    monkeypatch.setattr(
        telling.Uncharged, "state", telling.Uncharged.state
    )  # what jumped comes back
    load = Store.load_overload

    def slow(store, sig, target_context):
        passed[0] += AGES
        waits.append(sig)
        return load(store, sig, target_context)

    monkeypatch.setattr(Store, "load_overload", slow)

    def forget():
        """Forget the machine code of every kernel, and that any was made."""
        waits.clear()
        for thing in gc.get_objects():
            if type(thing) is Kernel:
                thing._reset_overloads()
        for name, module in list(sys.modules.items()):
            if name.startswith("milp_trees.") and ".engines." in name:
                for field in ("_warm", "_done"):
                    if isinstance(found := vars(module).get(field), (set, dict)):
                        found.clear()

    return SimpleNamespace(forget=forget, waits=waits)


@pytest.mark.parametrize("name", sorted(registry.classes("methods")))
def test_no_engine_is_charged_for_compilation(ages, name):
    """Wherever its kernels are compiled: before the run, in its preparation, or in its search."""
    method, seen = registry.method(name), set()
    for problem in problems_for(name):
        if type(problem.question) in seen or method.unsupported(problem) is not None:
            continue
        seen.add(type(problem.question))
        ages.forget()
        result = method.run(problem, Limits(time=LIMIT))
        assert result.limit is None, f"{name} is charged for {len(ages.waits)} kernels"
        assert max([result.seconds, *result.times.values()]) < AGES
        assert max([point.seconds for point in result.trace], default=0.0) < AGES
    assert seen


def test_the_clock_of_runs_stands_still_while_something_is_compiled():
    before = run_clock()
    with compiling("nothing"):
        began = run_clock()
        time.sleep(0.01)
        assert run_clock() == began
    assert run_clock() > before


def test_the_clock_goes_on_where_the_end_of_a_block_is_lost():
    """An exception from outside may come before the block has begun, or keep it from its end."""
    block = telling.Uncharged()
    block.__enter__()
    assert under_way()
    del block
    assert not under_way()
    began = run_clock()
    time.sleep(0.001)
    assert run_clock() > began


def test_blocks_inside_each_other_count_once():
    spent = time.perf_counter() - run_clock()
    began = time.perf_counter()
    with compiling("a"), compiling("b"):
        time.sleep(0.001)
    assert time.perf_counter() - run_clock() - spent <= time.perf_counter() - began


def test_what_limits_and_times_runs_reads_no_other_clock():
    """A reading of another clock, compared with one of this, is wrong by the time of compilation."""
    rooms = [
        "common/limits.py",
        "methods",
        "engines",
        *(family.package.removeprefix("milp_trees.") for family in families().values()),
        "tasks",
        "mip",
        "verification",
        "problems",
    ]
    files = [ROOT / "formulations", *(ROOT / "milp_trees" / room for room in rooms)]
    paths = [p for f in files for p in ([f] if f.suffix == ".py" else sorted(f.rglob("*.py")))]
    assert len(paths) > 100
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        for line in path.read_text("utf-8").splitlines():
            if re.search(r"\b(perf_counter|monotonic)\(\)", line):
                allowed = OF_THE_MACHINE.get(name, "nothing")
                assert any(
                    re.search(a.replace("()", r"\(\)").replace("+", r"\+"), line)
                    for a in allowed.split("|")
                ), f"{name}: {line.strip()}"
