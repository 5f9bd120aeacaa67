# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Random calls, right and wrong ones, from threads of several processes, at one index."""

import contextlib
import os
import random
import sys
import threading
import time
import traceback

import pytest
import simidx

CALLS = int(os.environ.get("SIMIDX_CALLS", 1000000 if os.environ.get("SIMIDX_LONG") else 8000))
PROCESSES, THREADS = 4, 8
ALLOWED = (simidx.Error, TypeError, ValueError, OverflowError, AttributeError)
WORDS = [f"w{i}" for i in range(300)]


class Shared:
    """The Index that the threads of a process share; one of them may exchange it."""

    def __init__(self, where):
        self.where = where
        self.index = simidx.Index(where)

    def exchange(self, rng):
        old, self.index = self.index, simidx.Index(self.where)
        for _ in range(rng.randrange(1, 3)):
            old.close()


def number(rng):
    """Mostly one of a few, so that documents are near to each other and are found."""
    what = rng.random()
    if what < 0.9:
        return (rng.getrandbits(9) << 55) | (1 << rng.randrange(8))
    return rng.choice([0, 2**64 - 1, rng.getrandbits(64)])


def wrong(rng, index):
    """A call that cannot be right."""
    rng.choice(
        [
            lambda: index.search("a text"),
            lambda: index.search(-1),
            lambda: index.search(1, radius=65),
            lambda: index.search_many([1, None]),
            lambda: index.search_many(memoryview(b"1234567")),
            lambda: index.search_many([[1]]),
            lambda: index.add([2**64]),
            lambda: index.add([1, 2], ids=[1]),
            lambda: index.add([1], times=[5]),
            lambda: index.add([1], labels="x"),
            lambda: index.add([1], labels=["x" * 70000]),
            lambda: index.get(),
            lambda: index.get(id=2**70),
            lambda: index.get(label=5),
            lambda: index.delete(),
            lambda: index.delete(labels=[None]),
            lambda: index.delete_older(5),
            lambda: index.pairs(radius=99),
            lambda: index.backup(index.path),
            lambda: simidx.Index(str(index.path) + "/nothing"),
            lambda: simidx.Index(5),
            lambda: simidx.fingerprints(["a"], extractor="none"),
            lambda: simidx.fingerprint(None),
            lambda: simidx.dedup(5),
            lambda: next(simidx.dedup_texts([5])),
            lambda: next(simidx.dedup_texts(["a"], index=index)),
            lambda: next(simidx.dedup_texts(["a"], against=[index])),
        ]
    )()


def right(rng, index):
    what = rng.randrange(100)
    if what < 40:
        for match in index.search(number(rng), radius=rng.randrange(5), limit=rng.randrange(4)):
            assert match.distance <= 4
    elif what < 60:
        found = index.search_many(
            [number(rng) for _ in range(rng.randrange(40))],
            radius=rng.randrange(4),
            threads=rng.randrange(4),
        )
        assert found.offsets[-1] == len(found.ids) == len(found.distances)
    elif what < 75:
        id = rng.randrange(3000)
        document = index.get(id=id)
        assert document is None or document.id == id
    elif what < 80:
        index.get(label=str(rng.randrange(300)))
    elif what < 85:
        assert len(index) == 0 or index.stats()["plan"] == "4x16"
    elif what < 88:
        for _, document in zip(range(rng.randrange(200)), index):
            assert document.id is not None
    elif what < 90:
        index.pairs(radius=rng.randrange(3), threads=1)
    elif what < 94:
        assert len(simidx.fingerprints([" ".join(rng.choices(WORDS, k=20))] * 3, threads=1)) == 3
    elif what < 95 and rng.random() < 0.1:
        texts = [" ".join(rng.choices(WORDS, k=3)) for _ in range(20)]
        assert next(simidx.dedup_texts(texts, threads=1))[0] == 0
    elif rng.random() < 0.1:  # what is stored waits for the disk
        change(rng, index)


def change(rng, index):
    fps = [number(rng) for _ in range(rng.randrange(5))]
    what = rng.randrange(5)
    if what == 0:
        index.add(fps)
    elif what == 1:
        index.add_if_new(fps, radius=1, labels=[str(rng.randrange(300)) for _ in fps])
    elif what == 2:
        index.replace(fps, ids=rng.sample(range(3000), len(fps)))
    elif what == 3:
        index.delete(ids=[rng.randrange(3000) for _ in range(5)])
    else:
        index.delete(labels=[str(rng.randrange(300))])


def work(shared, seed, calls, failures):
    rng = random.Random(seed)
    for _ in range(calls):
        what = rng.random()
        try:
            if what < 0.002:
                shared.exchange(rng)
            elif what < 0.1:
                with contextlib.suppress(*ALLOWED):
                    wrong(rng, shared.index)
            else:
                right(rng, shared.index)
        except (simidx.StateError, simidx.DuplicateError):
            pass  # another thread has closed it; an id or label is there
        except BaseException:
            failures.append(f"seed {seed}: {traceback.format_exc()}")
            return


def run_threads(where, seed, calls):
    shared = Shared(where)
    failures = []
    threads = [
        threading.Thread(target=work, args=(shared, seed + i, calls // THREADS, failures))
        for i in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared.index.close()
    return failures


def test_random_calls(where):
    seed = int(os.environ.get("SIMIDX_SEED", time.time_ns() % 2**31))
    print("SIMIDX_SEED =", seed)
    parent = simidx.Index(where, create=True)
    parent.add([number(random.Random(seed)) for _ in range(500)])
    children = []
    for i in range(PROCESSES):
        child = os.fork()
        if not child:
            code = 1
            try:
                with pytest.raises(simidx.StateError):
                    parent.search(1)
                failures = run_threads(where, seed + 100 * i, CALLS // PROCESSES)
                print(*failures, sep="\n", file=sys.stderr, flush=True)
                code = len(failures) > 0
            finally:
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [0] * PROCESSES
    assert parent.verify() == []
    parent.search_many([1, 2, 3])
