"""Code that is stopped at a time limit, and what is left behind: nothing."""

import contextlib
import gc
import subprocess
import sys
import threading
import time

import pytest

from milp_trees.common.limits import Stopped
from milp_trees.methods import deadline
from milp_trees.methods.deadline import within


def spin(seconds: float = 30.0) -> str:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return "done"


def test_work_that_ends_in_time_returns_its_result():
    assert within(20, lambda: spin(0.01)) == "done"
    assert within(None, lambda: 3) == 3


def test_work_that_does_not_end_is_left():
    began = time.perf_counter()
    with pytest.raises(Stopped):
        within(0.1, spin)
    assert time.perf_counter() - began < 5


def test_no_time_left_is_up_at_once():
    with pytest.raises(Stopped):
        within(0.0, lambda: pytest.fail("must not run"))


def test_nothing_is_raised_after_the_end():
    """Also where the work ends in the very moment in which its time does."""
    for _ in range(60):
        with contextlib.suppress(Stopped):
            assert within(0.003, lambda: spin(0.003)) == "done"
        spin(0.001)
    spin(0.3)


def test_its_own_errors_come_through():
    def fail():
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        within(20, fail)


def test_finally_blocks_run_and_except_exception_does_not_hold_it_up():
    seen = []

    def work():
        while True:
            try:
                spin()
            except Exception:
                seen.append("swallowed")
            finally:
                seen.append("left")

    with pytest.raises(Stopped):
        within(0.1, work)
    assert seen == ["left"]


def test_clean_up_that_takes_long_is_not_disturbed():
    seen = []

    def work():
        try:
            spin()
        finally:
            spin(0.5)
            seen.append("cleaned")

    with pytest.raises(Stopped):
        within(0.1, work)
    assert seen == ["cleaned"]


def test_exception_that_a_finaliser_swallows_is_raised_again():
    class Slow:
        def __del__(self):
            spin(0.3)

    def work():
        Slow()
        gc.collect()
        spin()

    began = time.perf_counter()
    with pytest.raises(Stopped):
        within(0.1, work)
    assert time.perf_counter() - began < 10


@pytest.mark.parametrize("inner, outer, says", [(0.1, 20, "inner"), (20, 0.1, "outer")])
def test_one_inside_another_knows_whose_time_is_up(inner, outer, says):
    def work():
        try:
            within(inner, spin)
        except Stopped:
            return "inner"

    try:
        assert within(outer, work) == says
    except Stopped:
        assert says == "outer"


def test_an_error_that_the_stop_causes_is_no_error():
    """Pyomo answers an exception in the middle of its work with one of its own."""

    def work():
        try:
            spin()
        finally:
            raise LookupError("left in the middle")

    with pytest.raises(Stopped):
        within(0.1, work)


def test_it_works_in_any_thread():
    found = []

    def work():
        try:
            within(0.1, spin)
        except Stopped:
            found.append("up")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20)
    assert found == ["up"]


@pytest.mark.parametrize("seconds", [20, 0.1])
def test_code_that_is_traced_goes_on_afterwards(seconds):
    """A debugger, a profiler and a measurement of coverage trace: Python must not be left looking
    for an exception that never comes.
    """
    program = f"""
import contextlib, sys, time
from milp_trees.methods import deadline
from milp_trees.methods.deadline import within
from milp_trees.common.limits import Stopped
def work():
    end = time.perf_counter() + 1
    while {seconds} < 1 and time.perf_counter() < end:
        pass
def after():
    return 3
sys.setprofile(lambda *_: None)
with contextlib.suppress(Stopped):
    within({seconds}, work)
after()
print("went on")
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert found.stdout == "went on\n", found.stderr


def test_a_finaliser_may_wake_the_timer_at_any_moment():
    """The exception of a stop may be freed by a collection of garbage anywhere, also where the
    timer is being ended.
    """
    timer = deadline._Timer(20)
    timer.start()
    timer.wake.put(None)
    last = timer.overtime()
    timer.end()
    del last
    assert timer.ended
    assert not timer.fired


# A thread that gets the exception as it starts ends with it; Python says so, and the timer fires
# again.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_end_of_the_outer_one_does_not_leave_the_inner_one_running():
    """Whichever comes in the middle of the other's end."""
    for _ in range(200):
        with contextlib.suppress(Stopped):
            within(0.006, lambda: (within(0.004, lambda: spin(0.004)), spin(0.004)))
        spin(0.001)
    spin(0.3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pyomo.core.base.param", "pyomo.repn.linear_template"])
def test_pyomo_is_silent_about_a_stop_also_where_it_makes_its_logger_as_it_speaks(name):
    program = f"""
import logging
import pyomo.environ
from milp_trees.mip.linear.matrix import pyomo_without
logging.root.manager.loggerDict.pop({name!r}, None)
with pyomo_without("Overtime"):
    logging.getLogger({name!r}).error("Error compiling: Overtime")
    logging.getLogger({name!r}).error("something else")
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert "Overtime" not in found.stdout + found.stderr
    assert "something else" in found.stdout + found.stderr


def test_no_exception_gets_lost_in_the_thread_of_another_timer(monkeypatch):
    """A thread that does not run yet has the number of its maker, and took what was meant for it."""
    lost = []
    monkeypatch.setattr("sys.unraisablehook", lost.append)
    for k in range(500):
        with contextlib.suppress(Stopped):
            within(1e-6 * (k % 100), lambda: [within(3.0, lambda: sum(range(500))) for _ in "ab"])
    assert not lost


@pytest.mark.parametrize(("patience", "waits"), [(30.0, True), (0.01, False)])
def test_a_timer_waits_for_a_thread_that_starts_but_not_for_long(patience, waits, monkeypatch):
    monkeypatch.setattr(deadline, "PATIENCE", patience)
    other = deadline._Timer(30.0)  # of this thread
    deadline._STARTING.add(other)
    runs = []
    thread = threading.Timer(0.2, lambda: runs.append(deadline._STARTING.discard(other)))
    thread.start()
    with pytest.raises(Stopped):
        within(0.01, spin)
    assert bool(runs) is waits
    thread.join()


def test_an_import_is_not_broken_off(tmp_path, monkeypatch):
    (tmp_path / "made_slowly.py").write_text("import time\ntime.sleep(0.4)\nwhole = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Stopped):
        within(0.1, lambda: (__import__("made_slowly"), spin()))
    assert sys.modules.pop("made_slowly").whole


def test_a_timer_looks_at_a_worker_that_collects_garbage_all_the_time():
    """CPython 3.11 hands out frames that have ended, if garbage is collected meanwhile. The worker's
    code is freed at once here, and its frames are many.
    """
    program = """
import gc, sys, threading, time
from milp_trees.methods import deadline
timer, ends, looks = deadline._Timer(60), time.perf_counter() + 2, []
class Cycle:
    def __init__(self):
        self.own = self
    def __del__(self):
        for _ in range(20):
            pass
def look():
    while time.perf_counter() < ends:
        looks.append(timer._imports())
sys.setswitchinterval(1e-6)
gc.set_threshold(20, 2, 2)
other = threading.Thread(target=look)
other.start()
while time.perf_counter() < ends:
    names = {"Cycle": Cycle}
    exec("def deep(k):\\n    cycle = Cycle()\\n    return k and deep(k - 1)", names)
    names["deep"](150)
other.join()
print("went on" if looks and not any(looks) else looks[:9])
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert found.stdout == "went on\n", found.stderr
