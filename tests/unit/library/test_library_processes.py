"""Work among processes: all outcomes, an error ends the others, and Ctrl-C is the caller's."""

import operator
import time

import psutil
import pytest

from milp_trees.library.processes import each


def own_processes():
    """Processes of multiprocessing that this one started, without its resource tracker."""
    children = psutil.Process().children(recursive=True)
    return [c for c in children if any("spawn_main" in word for word in c.cmdline())]


def test_every_item_has_its_outcome():
    assert dict(each(operator.mul, [1, 2, 3], 2, 10)) == {1: 10, 2: 20, 3: 30}
    assert dict(each(operator.neg, [4], 8)) == {4: -4}


def test_what_is_finished_is_kept_when_another_item_fails():
    """The sleeping process is ended, and not waited for."""
    kept, began = [], time.perf_counter()
    with pytest.raises(TypeError):
        kept.extend(each(time.sleep, [0.0, "wrong", 60.0], 2))
    assert kept in ([], [(0.0, None)])
    assert time.perf_counter() - began < 40
    gone, alive = psutil.wait_procs(own_processes(), timeout=20)
    assert not alive


def test_a_caller_that_stops_ends_the_processes():
    """As Ctrl-C does, which is raised where the outcomes are taken."""
    outcomes = each(time.sleep, [0.0, 60.0], 2)
    assert next(outcomes) == (0.0, None)
    outcomes.close()
    gone, alive = psutil.wait_procs(own_processes(), timeout=20)
    assert not alive
