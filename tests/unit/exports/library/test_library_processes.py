"""Work among processes: all outcomes, an error ends the others, and Ctrl-C is the caller's."""

import contextlib
import operator
import time

import psutil
import pytest

from milp_trees.exports.library.processes import each


def none_is_left():
    """Whether all processes of multiprocessing that this one started end soon."""
    left = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            if any("spawn_main" in word for word in child.cmdline()):
                left.append(child)
    return not psutil.wait_procs(left, timeout=20)[1]


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
    assert none_is_left()


def test_a_caller_that_stops_ends_the_processes():
    """As Ctrl-C does, which is raised where the outcomes are taken."""
    outcomes = each(time.sleep, [0.0, 60.0], 2)
    assert next(outcomes) == (0.0, None)
    outcomes.close()
    assert none_is_left()
