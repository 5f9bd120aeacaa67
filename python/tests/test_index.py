# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""An Index against what a loop over all documents finds."""

import copy
import pickle
import random
from array import array

import arrow_rows
import pytest
import simidx
from simidx import _tables

ALL = 2**64 - 1


def sets():
    rng = random.Random(3)
    random_fps = [rng.getrandbits(64) for _ in range(2000)]
    near = [fp ^ (1 << rng.randrange(64)) ^ (1 << rng.randrange(64)) for fp in random_fps[:300]]
    yield "random", random_fps + near
    yield "skewed", [rng.getrandbits(12) | 0xFFFF << 48 for _ in range(1500)]
    yield "edges", [0, ALL, 0xFFFF << 48, 1, ALL ^ 1, 0]
    yield "one", [12345] * 3000
    yield "none", []


@pytest.mark.parametrize(
    "name, fps", list(sets()), ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("radius", [0, 3, 8, 64])
def test_search_finds_what_a_loop_finds(where, name, fps, radius):
    rng = random.Random(radius)
    queries = [0, ALL, 12345] + rng.sample(fps, min(5, len(fps)))
    with simidx.Index(where, create=True) as index:
        ids = index.add(fps)
        assert list(ids) == list(range(len(fps)))
        for threads in (1, 3):
            found = index.search_many(queries, radius=radius, threads=threads)
            for i, query in enumerate(queries):
                want = sorted(
                    ((fp ^ query).bit_count(), id, fp)
                    for id, fp in enumerate(fps)
                    if (fp ^ query).bit_count() <= radius
                )
                got = [(m.distance, m.id, m.fingerprint) for m in found.of(i)]
                assert got == want
        assert index.search(0, radius=radius, limit=1) == found.of(0)[:1]


@pytest.mark.parametrize("plan", ["4x16", "3x22"])
def test_searches_and_pairs_are_those_of_numpy(where, plan):
    """Every column of what is found, against all distances."""
    numpy = pytest.importorskip("numpy", minversion="2")
    rng = numpy.random.default_rng(17)
    n = 6000
    fps = rng.integers(0, 2**63, n, numpy.uint64) * numpy.uint64(2)
    near = fps[: n // 2] ^ (numpy.uint64(1) << rng.integers(0, 64, n // 2, numpy.uint64))
    fps[n // 2 :] = near ^ (numpy.uint64(1) << rng.integers(0, 64, n // 2, numpy.uint64))
    queries = numpy.concatenate([fps[::29], rng.integers(0, 2**63, 50, numpy.uint64)])
    ids = rng.permutation(n).astype(numpy.uint64)
    with simidx.Index(where, create=True, plan=plan) as index:
        assert (numpy.asarray(index.add(fps, ids=ids)) == ids).all()
        distances = numpy.bitwise_count(queries[:, None] ^ fps)
        for radius in (0, 1, 3, 7, 12, 26):
            found = index.search_many(queries, radius=radius, threads=2)
            query, document = (distances <= radius).nonzero()
            bits = distances[query, document].astype(numpy.uint64)
            order = numpy.lexsort((ids[document], bits, query))
            query, document, bits = query[order], document[order], bits[order]
            counts = numpy.bincount(query, minlength=len(queries))
            assert (numpy.diff(found.offsets) == counts).all()
            assert (numpy.asarray(found.ids) == ids[document]).all()
            assert (numpy.asarray(found.fingerprints) == fps[document]).all()
            assert (numpy.asarray(found.bits) == bits).all()
            assert (numpy.asarray(found.distances) == bits).all()
        got = index.pairs(radius=4, threads=2)
        by_id = numpy.empty_like(fps)
        by_id[ids] = fps
        first, second = (numpy.bitwise_count(by_id[:, None] ^ by_id) <= 4).nonzero()
        want = {(a, b) for a, b in zip(first.tolist(), second.tolist()) if a < b}
        assert set(zip(got.first, got.second)) == want and len(got.first) == len(want)


def test_add_if_new_decides_as_a_loop_does(where):
    rng = random.Random(5)
    stored = {}
    with simidx.Index(where, create=True) as index:
        for _ in range(4):
            base = [rng.getrandbits(64) for _ in range(60)]
            rows = [fp ^ (1 << rng.randrange(64)) * rng.randrange(2) for fp in base * 3]
            decided = index.add_if_new(rows, radius=2)
            for i, fp in enumerate(rows):
                near = sorted(((fp ^ s).bit_count(), id) for id, s in stored.items())
                near = [n for n in near if n[0] <= 2]
                assert decided.is_new[i] == (not near)
                if near:
                    assert (decided.distances[i], decided.ids[i]) == near[0]
                else:
                    stored[decided.ids[i]] = fp
        assert len(index) == len(stored)


def test_numbers_come_from_buffers_arrays_and_lists(where):
    numpy = pytest.importorskip("numpy")
    fps = [1, 2**63, ALL]
    with simidx.Index(where, create=True) as index:
        for column in (
            fps,
            tuple(fps),
            array("Q", fps),
            numpy.array(fps, numpy.uint64),
            (fp for fp in fps),
        ):
            index.add(column)
        assert [d.fingerprint for d in index] == fps * 5
        found = index.search_many(numpy.array([ALL], numpy.uint64), radius=0)
        assert numpy.asarray(found.ids).tolist() == [2, 5, 8, 11, 14]
        for odd in (numpy.array([1.5]), numpy.array([[1]], numpy.uint64), array("H", [1])):
            with pytest.raises(simidx.ArgumentError, match="fingerprints: 64-bit integers"):
                index.add(odd)


def test_pyarrow_arrays_are_taken(where):
    pa = pytest.importorskip("pyarrow")
    with simidx.Index(where, create=True) as index:
        index.add(pa.array([7, 8, 9], pa.uint64()).slice(1), labels=pa.array(["a", None, "c"])[1:])
        assert [(d.fingerprint, d.label) for d in index] == [(8, None), (9, "c")]
        with pytest.raises(simidx.ArgumentError, match="without nulls"):
            index.add(pa.array([1, None], pa.uint64()))


def test_labels_ids_and_times(where):
    with simidx.Index(where, create=True, times=True) as index:
        assert list(index.add([1, 2], labels=["/a", b"\xff"], times=[100, 200])) == [0, 1]
        assert list(index.add([3], ids=[7])) == [7]
        assert index.get(label="/a") == (0, 1, "/a", 100)
        assert index.get(id=1) == (1, 2, b"\xff", 200)
        assert index.get(id=5) is None and index.get(label="/b") is None
        with pytest.raises(simidx.DuplicateError):
            index.add([4, 5], labels=["/new", "/a"])
        assert len(index) == 3, "a call is stored as a whole, or not at all"
        assert list(index.replace([9], labels=["/a"])) == [0]
        assert index.get(id=0).fingerprint == 9
        assert index.delete(labels=["/a", "/gone"]) == 1
        assert index.delete_older(201) == 1
        assert index.delete(ids=[7, 8]) == 1
        assert len(index) == 0
        with pytest.raises(simidx.ArgumentError, match="as many as the 2 rows"):
            index.add([1, 2], labels=["/a"])


def test_pairs_are_all_pairs(where):
    rng = random.Random(8)
    fps = [rng.getrandbits(10) * 0x10001 for _ in range(300)]
    with simidx.Index(where, create=True) as index:
        index.add(fps)
        got = index.pairs(radius=2)
        want = [
            (a, b, (fps[a] ^ fps[b]).bit_count())
            for a in range(300)
            for b in range(a + 1, 300)
            if (fps[a] ^ fps[b]).bit_count() <= 2
        ]
        assert sorted(zip(got.first, got.second, got.bits)) == want


def test_texts(where):
    bridge = " ".join(f"word{i} of the bridge" for i in range(60)) + " on Tuesday"
    ship = "Three ships from the north reached the harbour at noon with grain and timber."
    with simidx.Index(where, create=True, texts=True) as index:
        index.add([bridge, ship.encode()], labels=["/bridge", "/ship"])
        assert index.search(bridge.replace("Tuesday", "Monday"))[0].id == 0
        assert index.search_many([ship, "nothing like it at all"]).of(0)[0].id == 1
        decided = index.add_if_new(
            [bridge + " ", "Something else that nobody has said before now."]
        )
        assert list(decided.is_new) == [0, 1]
        assert index.search(simidx.fingerprint(bridge), radius=0)[0].id == 0
        with pytest.raises(simidx.MismatchError):
            index.add([5])
        with pytest.raises(simidx.ArgumentError, match="text 1 is None"):
            index.add(["one", None])
    with simidx.Index(where + "2", create=True) as index:
        with pytest.raises(simidx.ArgumentError, match="no texts"):
            index.add(["a text"])


def test_text_fingerprints_are_equal_for_all_doors():
    texts = ["", "one", "zwei drei", "四五六", "x" * 10000]
    want = [simidx.fingerprint(text) for text in texts]
    assert list(simidx.fingerprints(texts, threads=3)) == want
    pa = pytest.importorskip("pyarrow")
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        assert list(simidx.fingerprints(pa.array(texts, kind))) == want


def test_backup_and_verify(where):
    with simidx.Index(where, create=True) as index:
        index.add([1, 2, 3])
        index.backup(where + ".copy")
        assert index.verify() == []
    with simidx.Index(where + ".copy", read_only=True) as copy:
        assert [d.fingerprint for d in copy] == [1, 2, 3]
        with pytest.raises(simidx.StateError, match="read-only"):
            copy.add([4])
    with pytest.raises(simidx.NotFoundError, match="nowhere"):
        simidx.Index(where + ".nowhere")
    with pytest.raises(simidx.ArgumentError, match="plan"):
        simidx.Index(where + ".odd", create=True, plan="5x5")


@pytest.mark.parametrize("wrong", [-1, 2**32, 2**64, 1.5, "7", None])
def test_numbers_are_not_taken_for_others(where, wrong):
    with simidx.Index(where, create=True, times=True) as index:
        index.add([7], ids=[0], times=[5])
        calls = [
            lambda: index.delete_older(wrong),
            lambda: index.search(7, limit=wrong if wrong != 2**32 else -2),
            lambda: index.search_many([7], threads=wrong),
            lambda: index.pairs(threads=wrong),
            lambda: simidx.fingerprints(["a"], threads=wrong),
            lambda: simidx.Index(where + "x", create=True, bits=wrong),
        ]
        if wrong is not None:
            calls.append(lambda: index.search(7, radius=wrong))
            calls.append(lambda: index.add_if_new([7], radius=wrong))
            calls.append(lambda: index.get(id=wrong if wrong != 2**32 else -2))
        for call in calls:
            with pytest.raises(simidx.ArgumentError):
                call()
        assert [document.id for document in index] == [0]


def test_what_has_an_index_is_a_number(where):
    class Number:
        def __index__(self):
            return 7

    with simidx.Index(where, create=True) as index:
        index.add([Number()])
        assert index.get(id=Number()) is None
        assert [match.id for match in index.search(Number())] == [0]


def test_an_index_of_texts_says_when_it_is_closed(where):
    with simidx.Index(where, create=True, texts=True) as index:
        index.add(["one two three four five six seven"])
    for call in (lambda: index.add(["x"]), lambda: index.search("x")):
        with pytest.raises(simidx.StateError):
            call()
    for nothing in (lambda: simidx.fingerprint(None), lambda: simidx.fingerprints(None)):
        with pytest.raises(simidx.ArgumentError):
            nothing()


def test_what_is_no_column_is_refused_by_its_name(where):
    rows = arrow_rows.Producer([[("text", "u", ["a"])]])
    with simidx.Index(where, create=True, times=True) as index:
        index.add([1], labels=["/a"])
        for call, error, says in (
            (lambda: index.add(rows), simidx.ArgumentError, "one column is expected"),
            (lambda: index.search(5.0), TypeError, "texts are expected, not float"),
            (lambda: index.add([1], times=array("Q", [1])), simidx.ArgumentError, "^times: 32-bit"),
            (lambda: index.add([1], ids=array("d", [1])), simidx.ArgumentError, "^ids: 64-bit"),
            (lambda: index.delete(labels=["/a", None]), simidx.ArgumentError, "label 1 is None"),
        ):
            with pytest.raises(error, match=says):
                call()
        assert len(index) == 1
        rows = [("fp", "L", [2**63, 7]), ("label", "u", [None, None])]
        (batch,) = _tables.Stream(arrow_rows.Producer([rows]))
        index.add(batch.column("fp"), labels=batch.column("label"))
        assert [document.fingerprint for document in index] == [1, 2**63, 7]
        assert list(index.search_many([1], radius=0, threads=10**6).ids) == [0]
        for copying in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="open its path again"):
                copying(index)


def test_load_after_the_directory_of_the_process_has_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with simidx.Index("it", create=True) as index:
        index.add([1])
        (tmp_path / "sub").mkdir()
        monkeypatch.chdir(tmp_path / "sub")
        simidx.Index("it", create=True).close()
        assert index.load(arrow_rows.Producer([[("fp", "L", [2, 3])]])) == 2
        assert len(index) == 3
        with simidx.Index("it") as other:
            assert len(other) == 0
