"""The folder of a study: claims, heartbeats, files of rows, batches."""

import os
import threading

import pytest

from milp_trees.studies import processes_seen
from milp_trees.studies.running import heartbeats as heartbeats
from milp_trees.studies.running.batches import batches
from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.heartbeats import Heartbeats
from milp_trees.studies.running.leases import Acquired, Finished, Held, Leases
from milp_trees.studies.running.row_files import Appender, Rows


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "s.db.runs")


def elsewhere(folder, monkeypatch, name):
    """A process that believes that it is on another machine."""
    with monkeypatch.context() as there:
        there.setenv(processes_seen.VARIABLE, name)
        return Heartbeats(folder, "worker")


def test_of_many_threads_one_gets_a_claim(folder):
    claims = [Leases(folder, Heartbeats(folder, "worker")) for _ in range(8)]
    found = []
    threads = [threading.Thread(target=lambda c=c: found.append(c.take("k"))) for c in claims]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(type(f).__name__ for f in found) == ["Acquired"] + ["Held"] * 7


@pytest.mark.parametrize("links", [True, False])
def test_a_claim_of_a_process_that_left_without_a_row_is_a_crash(folder, monkeypatch, links):
    if not links:

        def refused(*_):
            raise OSError("no second names here")

        monkeypatch.setattr(os, "link", refused)
    first, second = (Leases(folder, Heartbeats(folder, "worker")) for _ in range(2))
    assert first.take("k") == Acquired(1)
    assert second.take("k") == Held(first.me.name)
    first.me.leave()
    third = Leases(folder, Heartbeats(folder, "worker"))
    taken = third.take("k")
    assert taken.attempt == 2
    assert f"process {os.getpid()}" in taken.crashes[0]
    assert second.take("k") == Held(third.me.name)


def test_a_row_that_was_written_is_never_made_again(folder):
    """Also if somebody says that the attempt failed: the process was killed just after its row."""
    first = Leases(folder, Heartbeats(folder, "worker"))
    first.take("k")
    Appender(folder / f"rows/{first.me.name}.jsonl").append({"key": "k", "attempt": 1})
    first.me.leave()
    second = Leases(folder, Heartbeats(folder, "worker"))
    second.give_up("k", 1, "killed")
    assert second.take("k") == Finished(1)
    assert second.take("k", 2) == Acquired(2), "an error is made again when a study is continued"


def test_what_was_given_up_in_order_is_no_crash(folder):
    first, second = (Leases(folder, Heartbeats(folder, "worker")) for _ in range(2))
    first.take("k")
    first.give_up("k", 1, "")
    assert second.take("k") == Acquired(2, ())
    second.give_up("k", 2, "it used too much memory")
    assert first.take("k") == Acquired(3, ("it used too much memory",))


def test_another_machine_is_judged_by_its_heartbeat(folder, monkeypatch):
    far = elsewhere(folder, monkeypatch, "far")
    claims = Leases(folder, Heartbeats(folder, "worker"))
    there = Leases(folder, far)
    assert there.take("k") == Acquired(1)
    assert claims.take("k") == Held(far.name)
    old = far.file.stat().st_mtime - 2 * heartbeats.STALE
    os.utime(far.file, (old, old))
    later = Leases(folder, Heartbeats(folder, "worker"))
    assert later.take("k").attempt == 2


def test_a_number_of_a_process_that_is_used_again_is_another_process(folder):
    me = Heartbeats(folder, "worker")
    folder.write(f"workers/{me.name}.json", {**me.about, "created": me.about["created"] - 100})
    assert not Heartbeats(folder, "worker").sees(me.name)


def test_a_torn_last_line_is_not_read(folder):
    path = folder / "rows/w.jsonl"
    Appender(path).append({"key": "a", "attempt": 1})
    with open(path, "ab") as file:
        file.write(b'{"key": "b", "atte')
    rows = Rows(path)
    assert [row["key"] for row in rows.read()] == ["a"]
    assert rows.read() == []
    with open(path, "ab") as file:
        file.write(b'mpt": 1}\n')
    assert [row["key"] for row in rows.read()] == ["b"]


def test_batches_keep_the_order_and_differ_by_at_most_a_run():
    class Run:
        def __init__(self, number, estimate):
            self.number, self.estimate = number, estimate

    runs = [Run(i, estimate) for i, estimate in enumerate([5, 1, 1, 1, 9, 0.5, 0.5, 2, 4, 4, 3, 3])]
    cut = batches(runs, 4)
    assert [n for batch in cut for n in batch] == list(range(12))
    seconds = [sum(runs[n].estimate for n in batch) for batch in cut]
    assert len(cut) == 4
    assert max(seconds) <= sum(seconds) / 4 + 9
    assert batches(runs[:2], 8) == [[0], [1]]
    assert batches([], 3) == []
