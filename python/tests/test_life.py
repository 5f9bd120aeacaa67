# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Closing, threads, fork() and Ctrl-C."""

import os
import random
import signal
import threading
import time

import arrow_rows
import pytest
import simidx


def test_a_closed_index_raises(where):
    index = simidx.Index(where, create=True)
    index.add([1, 2])
    documents = iter(index)
    next(documents)
    index.close()
    index.close()
    for call in (
        lambda: index.search(1),
        lambda: index.add([3]),
        lambda: len(index),
        lambda: index.pairs(),
        lambda: list(index),
        index.verify,
    ):
        with pytest.raises(simidx.StateError, match="closed"):
            call()
    assert next(documents).id == 1, "what was read ahead"
    with pytest.raises(simidx.StateError):
        next(documents)


def test_a_child_of_fork_opens_again(where):
    index = simidx.Index(where, create=True)
    index.add([5])
    child = os.fork()
    if not child:
        code = 1
        try:
            index.search(5)
        except simidx.StateError:
            with simidx.Index(where) as again:
                code = 0 if again.search(5) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert index.search(5)


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


def interrupt(call):
    """Whether Ctrl-C ends a call that would take long."""
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    timer.join()


def test_ctrl_c_stops_what_takes_long(where):
    rng = random.Random(1)
    with simidx.Index(where, create=True) as index:
        index.add([rng.getrandbits(64) for _ in range(100000)])
        queries = [rng.getrandbits(64) for _ in range(300000)]
        interrupt(lambda: index.search_many(queries, radius=20, threads=2))
        interrupt(lambda: index.pairs(radius=22))
        assert len(index) == 100000
    words = [f"w{i}" for i in range(3000)]
    texts = [" ".join(rng.choices(words, k=3000)) for _ in range(60)]
    interrupt(lambda: simidx.fingerprints(texts * 400))
    stream = arrow_rows.Producer([[("text", "U", texts * 40)]])
    interrupt(lambda: list(simidx.dedup(stream, threads=1)))
    interrupt(lambda: list(simidx.dedup(stream, threads=2)))
