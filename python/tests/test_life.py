# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Closing, threads, fork() and Ctrl-C."""

import contextlib
import gc
import os
import random
import signal
import threading
import time
import traceback
from array import array

import arrow_rows
import pytest
import simidx
from simidx import _errors, _simidx, _tables

CALLS = {
    "search": lambda index: index.search(1),
    "search_many": lambda index: index.search_many([1, 2]),
    "get": lambda index: index.get(id=1),
    "len": len,
    "list": list,
    "pairs": lambda index: index.pairs(),
    "clusters": lambda index: index.clusters(),
    "load": lambda index: index.load(arrow_rows.Producer([[("fp", "l", [1])]])),
    "stats": lambda index: index.stats(),
    "verify": lambda index: index.verify(),
    "backup": lambda index: index.backup(index.path + ".copy"),
    "add": lambda index: index.add([3]),
    "add_if_new": lambda index: index.add_if_new([3]),
    "replace": lambda index: index.replace([3], ids=[0]),
    "delete": lambda index: index.delete(ids=[0]),
    "delete_older": lambda index: index.delete_older(1),
}


def test_all_calls_are_here():
    public = {name for name in vars(simidx.Index) if not name.startswith("_")}
    assert public - {"close"} <= set(CALLS)


def test_each_code_has_a_class():
    codes = {value for name, value in vars(_simidx).items() if name.startswith("SIMIDX_E_")}
    assert codes - {_simidx.SIMIDX_E_NOMEM} == set(_errors.BY_CODE)
    assert {c.__name__ for c in _errors.BY_CODE.values()} <= set(simidx.__all__)


def test_a_closed_index_raises(where):
    index = simidx.Index(where, create=True)
    index.add([1, 2])
    documents = iter(index)
    next(documents)
    index.close()
    index.close()
    for call in CALLS.values():
        with pytest.raises(simidx.StateError, match="closed"):
            call(index)
    assert next(documents).id == 1, "what was read ahead"
    with pytest.raises(simidx.StateError):
        next(documents)
    with pytest.raises(simidx.Error, match="closed"):
        simidx.dedup_texts(["a"], index=index)
    with pytest.raises(simidx.Error, match="closed"):
        simidx.dedup_texts(["a"], against=[index])


def in_a_child(code):
    """Whether a function ends well in a forked process."""
    child = os.fork()
    if not child:
        status = 1
        try:
            code()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_child_of_fork_opens_again(where):
    index = simidx.Index(where, create=True)
    index.add([5])
    documents = iter(index)
    texts = simidx.Index(where + ".texts", create=True, texts=True)
    result = simidx.dedup(arrow_rows.Producer([[("text", "u", ["a b c d e f"])]] * 3), index=texts)

    def use():
        texts.close()  # what uses it is its parent's
        for call in CALLS.values():
            with pytest.raises(simidx.StateError, match="fork"):
                call(index)
        for iterator in (documents, result):
            with pytest.raises(simidx.Error, match="fork"):
                next(iterator)
        with pytest.raises(simidx.Error, match="fork"):
            simidx.dedup_texts(["a"], against=[texts])
        with simidx.Index(where) as again:
            assert again.search(5) and again.add([6])
        index.close()
        gc.collect()

    assert in_a_child(use)
    assert [document.fingerprint for document in documents] == [5, 6]
    assert len(index.search(5)) == 2
    assert sum(map(len, result)) == 1
    texts.close()
    index.close()
    assert in_a_child(index.close)


def test_threads_share_an_index(where):
    """Random calls from several threads; each writes fingerprints of its own."""
    index = simidx.Index(where, create=True)
    failures = []

    def work(number):
        rng = random.Random(number)
        mine = []
        try:
            for _ in range(150):
                what = rng.randrange(5)
                fp = number << 56 | rng.getrandbits(40)
                if what == 0:
                    mine.append((index.add([fp])[0], fp))
                elif what == 1 and mine:
                    id, fp = rng.choice(mine)
                    assert index.get(id=id).fingerprint == fp
                elif what == 2 and mine:
                    id, fp = rng.choice(mine)
                    assert id in [m.id for m in index.search(fp, radius=0)]
                elif what == 3 and mine:
                    found = index.search_many([fp for _, fp in mine], radius=0, threads=2)
                    assert all(id in [m.id for m in found.of(i)] for i, (id, _) in enumerate(mine))
                else:
                    assert len(index) >= len(mine)
        except BaseException as error:  # pytest sees none of another thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    index.close()


def test_close_waits_for_other_threads(where):
    index = simidx.Index(where, create=True)
    index.add(list(range(1, 2000)))
    seen = []

    def work():
        try:
            while True:
                seen.append(len(index.search_many(list(range(50)), radius=4).ids))
        except simidx.StateError:
            pass

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    while len(seen) < 6:
        time.sleep(0.001)
    index.close()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1


@contextlib.contextmanager
def in_use(index):
    """A thread is in a call of the index: it waits for a load by another object, until the end."""
    (batch,) = _tables.Stream(arrow_rows.Producer([[("text", "u", ["one two three"])]]))
    begun, may_end = threading.Event(), threading.Event()

    def batches():
        yield batch
        begun.set()
        may_end.wait()

    class Slow:
        def __arrow_c_stream__(self, requested_schema=None):
            return _simidx.export_stream(batches(), batch)

    def load():
        with simidx.Index(index.path) as other:
            other.load(Slow())

    def add():
        with contextlib.suppress(simidx.Error):  # the index is another one then
            index.add(["four five six"])

    threads = [threading.Thread(target=target) for target in (load, add)]
    threads[0].start()
    begun.wait()
    threads[1].start()
    time.sleep(0.2)
    try:
        yield
    finally:
        may_end.set()
        for thread in threads:
            thread.join()


def test_a_deduplication_cannot_begin_while_another_thread_closes(where):
    """close() waits for a call, and what begins meanwhile may not use what it then closes."""
    index = simidx.Index(where, create=True, texts=True)
    close = threading.Thread(target=index.close)
    with in_use(index):
        close.start()
        time.sleep(0.2)
        with pytest.raises(simidx.StateError):
            _simidx.Dedup(index._index, [], 0.8, 0, 1, 0, None)
        assert close.is_alive()
    close.join()


def test_a_close_that_is_given_up_leaves_that_of_another_thread(where):
    """It goes on waiting, so nothing may begin that would use what it then closes."""
    index = simidx.Index(where, create=True, texts=True)
    another = simidx.Index(where + "2", create=True, texts=True)
    close = threading.Thread(target=index.close)
    with in_use(index):
        close.start()
        time.sleep(0.2)
        interrupt(index.close)
        for own, others in ((index, []), (another, [index])):
            with pytest.raises(simidx.Error, match="closed"):
                _simidx.Dedup(own._index, [i._index for i in others], 0.8, 0, 1, 0, None)
        assert close.is_alive()
    close.join()


def test_a_signal_handler_that_closes_what_its_call_uses(where):
    """It is told so: waiting for the call would be for ever."""

    class HandledError(Exception):
        pass

    def use():
        watch = threading.Timer(60, os._exit, (3,))
        watch.daemon = True
        watch.start()
        index = simidx.Index(where, create=True)
        index.add(range(2000))

        def handler(_signal, _frame):
            with pytest.raises(simidx.StateError, match="signal handler"):
                index.close()
            raise HandledError

        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(HandledError):
            while True:
                index.search_many(list(range(2000)) * 200, radius=20, threads=1)
        assert len(index) == 2000
        index.close()

    assert in_a_child(use)


def interrupt(call, seconds=0.3):
    """Whether Ctrl-C ends a call that would take longer."""
    # A shell in the background has it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        timer.join()


class Ready:
    """Batches of another producer. They are made before, so that Ctrl-C does not hit that one."""

    def __init__(self, producer):
        self.stream = _tables.Stream(producer)
        self.batches = list(self.stream)

    def __arrow_c_stream__(self, requested_schema=None):
        return _simidx.export_stream(iter(self.batches), self.stream.capsule)


def test_ctrl_c_stops_what_takes_long(where):
    rng = random.Random(1)
    fps = array("Q", [rng.getrandbits(64) for _ in range(100000)])
    with simidx.Index(where, create=True, times=True) as index:
        index.add(fps)
        interrupt(lambda: index.search_many(fps * 3, radius=20, threads=2))
        interrupt(lambda: index.search_many(fps * 3, radius=20, threads=1))
        interrupt(lambda: index.pairs(radius=22))
        # Soon, as what was changed stays from the merge at the end on.
        many, ids = fps * 40, array("Q", range(10**6, 10**6 + 4 * 10**6))
        interrupt(lambda: index.add(many), 0.1)
        interrupt(lambda: index.add_if_new(many, radius=20))
        interrupt(lambda: index.delete(ids=ids), 0.1)
        assert len(index) == 100000
        assert index.verify() == []


def test_ctrl_c_stops_what_takes_long_with_texts(where):
    rng = random.Random(2)
    words = [f"w{i}" for i in range(3000)]
    texts = [" ".join(rng.choices(words, k=3000)) for _ in range(60)]
    interrupt(lambda: simidx.fingerprints(texts * 400))
    with simidx.Index(where, create=True, texts=True) as index:
        interrupt(lambda: index.add(texts * 200))
        interrupt(lambda: index.search_many(texts * 200))
        assert len(index) == 0
    stream = Ready(arrow_rows.Producer([[("text", "U", texts * 40)]]))
    interrupt(lambda: list(simidx.dedup(stream, threads=1)))
    interrupt(lambda: list(simidx.dedup(stream, threads=2)))
    interrupt(lambda: list(simidx.dedup_texts(texts * 40)))
