# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Ctrl-C ends what takes long, wherever it is, and leaves the index intact.

Another thread sends the signal as soon as the main thread gives the interpreter up, which it does
within the call.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from array import array

import pytest
import simidx

N = 2_000_000
FRESH = 120_000  # a few less than are merged

BEGIN = """
import os, signal, sys, threading, time
from array import array
import simidx
where = sys.argv[1]
sys.setswitchinterval(1000)
gate = threading.Lock()
gate.acquire()
def press():
    gate.acquire()
    while True:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
threading.Thread(target=press, daemon=True).start()
press = gate.release
try:
"""
END = """
except KeyboardInterrupt:
    os._exit(7)
print("it has ended")
os._exit(1)
"""


def is_interrupted(where, code):
    """Whether a program ends by KeyboardInterrupt; it calls press() before what takes long."""
    indented = "".join(f"    {line}\n" for line in code.splitlines())
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + indented + END, where], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("", "")
    return done.returncode == 7


class Fingerprints:
    """One batch of an Arrow stream."""

    def __init__(self, fps):
        column = ("fp", "L", 0, (None, fps))
        self.batch = simidx._simidx.make_batch(len(fps), (column,))

    def __arrow_c_stream__(self, requested_schema=None):
        return simidx._simidx.export_stream(iter([self.batch]), self.batch)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """An index in which each call takes a while."""
    path = str(tmp_path_factory.mktemp("large") / "index")
    with simidx.Index(path, create=True) as index:
        index.load(Fingerprints(array("Q", os.urandom(8 * N))))
    return path


def is_intact(path, n=N):
    with simidx.Index(path) as index:
        return len(index) == n and index.verify() == [] and list(index.add([5])) == [n]


READS = {
    "verify": "index = simidx.Index(where)\npress()\nindex.verify()",
    "backup": "index = simidx.Index(where)\npress()\nindex.backup(where + '.copy')",
    "open": "press()\nsimidx.Index(where, untrusted=True)",
    "pairs": "index = simidx.Index(where)\npress()\nindex.pairs(radius=7)",
    "clusters": "index = simidx.Index(where)\npress()\nindex.clusters(radius=7)",
}


@pytest.mark.parametrize("name", READS)
def test_what_reads(large, name):
    assert is_interrupted(large, READS[name])
    assert os.listdir(os.path.dirname(large)) == ["index"], "no copy is left"


def test_load_while_it_builds(large, where):
    shutil.copytree(large, where)
    code = """
index = simidx.Index(where)
def batches():
    yield array("Q", range(1000)), None, None, None, None
    press()
index._index.load(batches(), where, 0, 0, 0, 0, None)
"""
    assert is_interrupted(where, code)
    assert is_intact(where)
    assert os.listdir(os.path.dirname(where)) == ["index"]


def test_the_merge_of_a_commit(large, where):
    shutil.copytree(large, where)
    with simidx.Index(where) as index:
        index.add(array("Q", os.urandom(8 * FRESH)))
        assert index.stats()["fresh_rows"] == FRESH
    code = "index = simidx.Index(where)\npress()\nindex.add(array('Q', range(10000)))"
    assert is_interrupted(where, code)
    with simidx.Index(where) as index:
        assert index.stats()["fresh_rows"] > 0, "it was not merged"
        n = len(index)
    assert n in (N + FRESH, N + FRESH + 10000), "it was stored whole, or the signal came before"
    assert is_intact(where, n)


def test_the_merge_of_a_deduplication(where):
    with simidx.Index(where, create=True, texts=True, _notes=True) as index:
        index.add([f"{i} is a number" for i in range(65000)])
    code = """
given = 0
flush = simidx._simidx.Dedup.flush
def press_and_flush(self, merge):
    if merge and given == 1000:
        press()
    flush(self, merge)
simidx._simidx.Dedup.flush = press_and_flush
try:
    for n, text in simidx.dedup_texts((f"{i} was another" for i in range(1000)), index=where):
        given += 1
finally:
    if given != 1000:
        print(given)
"""
    assert is_interrupted(where, code)
    with simidx.Index(where) as index:
        assert index.verify() == [] and len(index) >= 66000
        assert not list(simidx.dedup_texts(["7 was another"], index=index))


WAITS = {
    "add": "press()\nindex.add([1])",
    "add_if_new": "press()\nindex.add_if_new([1])",
    "delete": "press()\nindex.delete(ids=[0])",
    "delete_older": "press()\nindex.delete_older(7)",
    "load": "press()\nindex._index.load(iter([]), where, 0, 0, 0, 0, None)",
    "dedup": "press()\nlist(simidx.dedup_texts(['a'], index=where + '.texts'))",
    "the same Index": "wait(index)\npress()\nindex.add([1])",
    "the same process": "wait(index)\npress()\nother.add([1])",
    "close": "wait(index)\npress()\nindex.close()",
}


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_for_another_writer(where, name):
    with simidx.Index(where, create=True, times=True) as index:
        index.add([0])
    simidx.Index(where + ".texts", create=True, texts=True, _notes=True).close()
    code = """
index, other = simidx.Index(where), simidx.Index(where)
def wait(index):
    sys.setswitchinterval(0.005)
    threading.Thread(target=index.add, args=([2],), daemon=True).start()
    time.sleep(0.3)
"""
    locks = [open(path + "/write.lock", "r+b") for path in (where, where + ".texts")]
    for lock in locks:
        fcntl.flock(lock, fcntl.LOCK_EX)
    assert is_interrupted(where, code + WAITS[name])
    for lock in locks:
        lock.close()
    assert is_intact(where, 1)
